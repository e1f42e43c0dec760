"""What every page of a run has in common: its parts, the words for how it stands, and how a long text is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reconvene.app import index
from reconvene.core.working import tracking
from reconvene.core.working.spending import dollars
from reconvene.doors.http.acts import require_run
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.web.drawing import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from reconvene.app.engine import Engine
    from reconvene.doors.http.callers import Caller

TAGS = {
    "running": "hot", "waiting": "warn", "paused": "warn", "completed": "is", "failed": "was", "aborted": "was",
}  # fmt: skip
STATUSES = ("", "waiting", "running", "queued", "paused", "completed", "failed", "aborted")
_PARTS = (
    ("", "Overview"), ("files", "Files"), ("work", "Prompts and replies"), ("talk", "Talk"), ("ledger", "Ledger"),
    ("gaps", "Gaps"), ("calls", "Tool calls"), ("comments", "Comments"), ("events", "Events"),
    ("compare", "Compare"),
    ("companion", "Companion"),
)  # fmt: skip
LONGEST = 40_000  # characters of a text that a page shows as it is


class Around(NamedTuple):
    """What stands around every page of one run."""

    name: str
    workflow: str
    standing: str  # its status
    parts: tuple[tuple[str, str], ...]


def around(engine: Engine, run: str) -> Around:
    """`run` is a whole id. Missing where there is none."""
    require_run(engine, run)
    row = index.one(engine.log, run)
    assert row is not None
    followed = set(tracking.tracked(engine.session(run).book).values())
    parts = tuple(one for one in _PARTS if one[0] != "gaps" or "gaps" in followed)
    return Around(run, row.workflow, row.status, parts)


def drawn(asks: Request, template: str, frame: Around, part: str, *, status: int = 200, **values: object) -> Response:
    own: dict[str, object] = {"run": frame.name, "workflow": frame.workflow, "parts": frame.parts}
    return page(asks, template, status=status, part=part, tags=TAGS, dollars=dollars, **own, **values)


def caller_of(asks: Request) -> Caller:
    caller: Caller = asks.scope["caller"]
    return caller


class Text(NamedTuple):
    """As much of a text as a page shows. `left`: characters that are not there."""

    text: str
    left: int = 0


def bounded(text: str, most: int = LONGEST) -> Text:
    return Text(text[:most], max(0, len(text) - most))


def number(asks: Request, name: str, least: int = 0) -> int:
    """A whole number of the address, 0 where it is not there. What is none is refused: another page than was asked for
    would be taken for it."""
    said = asks.query_params.get(name, "")
    if not said:
        return 0
    if not (said.isascii() and said.isdecimal() and len(said) < 10 and int(said) >= least):
        raise WrongField(name, f"{name}={said[:40]} in the address is no whole number from {least} on.")
    return int(said)
