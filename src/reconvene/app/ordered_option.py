"""Which option of the open checkpoint somebody means who tells the engine what to do: "one more round", "skip"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.core.definition.workflow import Again, Continue

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.definition.workflow import Option

PAUSE = "pause"  # no option: the run stays where it is
_OPT_OUT = "opt_out"
_SKIP = "skip"


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
    meant = next((option.label for option in offered if _does(option, order)), "")
    if meant:
        return meant, f"understood as: {' '.join(meant.split())}"
    return "", f"“{order}” is not possible here; choose among these"


def _does(option: Option, order: str) -> bool:
    match order:
        case "another round":
            return isinstance(option.then, Again) and not option.undo
        case "skip":
            return option.alias == _SKIP
        case "proceed":
            return isinstance(option.then, Continue) and option.alias not in (_SKIP, _OPT_OUT)
    return False
