"""Which option of the open checkpoint somebody means who tells the engine what to do: "one more round", "skip"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Again, Continue

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.definition.workflow import Option

PAUSE = "pause"  # no option: the run stays where it is
NO_ROUND = "no more rounds"  # what "proceed" is where the words refuse another round
_OPT_OUT = "opt_out"
_SKIP = "skip"


def ordered(kits: tuple[str, ...], text: str) -> str:
    """What a text tells the engine to do here; "" if nothing."""
    reader = kit_finder.reader(kits)
    order = reader.order(text)
    return NO_ROUND if order == "proceed" and reader.refuses_round(text) else order


def option_meant(engine: Engine, run: str, order: str) -> tuple[str, str]:
    """The label of the option that does it here, and a line that says so. The label is "" where none does, or none may
    be taken; the line then says that, and is "" where nothing was ordered."""
    if not order or order == PAUSE:
        return "", ""
    session = engine.session(run)
    point = session.state.world.open
    definition = session.book.phase(session.state.world.top.phase).checkpoint if point and not point.attention else None
    offered = [
        definition.options[one.index]
        for one in (point.options if point is not None and definition is not None else ())
        if definition is not None and one.index >= 0 and one.available
    ]
    wanted = (order, "proceed") if order == NO_ROUND and not any(_does(one, order) for one in offered) else (order,)
    meant = next((option.label for option in offered if any(_does(option, one) for one in wanted)), "")
    if meant:
        return meant, f"understood as: {' '.join(meant.split())}"
    return "", f"“{order}” is not possible here; choose among these"


def _does(option: Option, order: str) -> bool:
    match order:
        case "another round":
            return isinstance(option.then, Again) and not option.undo
        case "no more rounds":
            return option.alias == _OPT_OUT
        case "skip":
            return option.alias == _SKIP
        case "proceed":
            return isinstance(option.then, Continue) and option.alias not in (_SKIP, _OPT_OUT)
    return False
