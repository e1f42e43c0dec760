"""What needs the person at a checkpoint before they decide: one line and one way on each, what matters first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.doors.shared.asked_of import answered, differ
from reconvene.doors.shared.harmless import one_line
from reconvene.doors.web.worded import plural

if TYPE_CHECKING:
    from reconvene.app.views.beside import Review
    from reconvene.app.views.read_model import Checkpoint, Run

_LONGEST = 76
_FEW = 2  # questions that are told one by one


class Need(Struct, frozen=True):
    """`mark`: ! went wrong, ? is asked, ~ is not settled. `to`: where on the page it is dealt with. `quoted`: words
    that may be an agent's or a person's."""

    kind: str
    mark: str
    text: str
    act: str
    to: str
    quoted: str = ""


def needs(run: Run, point: Checkpoint, review: Review | None) -> list[Need]:
    return [
        *_troubles(point),
        *_found(run),
        *_apart(point),
        *_fields(point),
        *_missing(run, point),
        *_open(point, review),
        *_torn(review),
    ]


def _troubles(point: Checkpoint) -> Iterator[Need]:
    """Of a checkpoint of the engine's own: a line for each thing that only a person can settle."""
    if not point.attention:
        return
    for line in point.prompt.split("\n"):
        if line.startswith("- "):
            is_call = line.startswith("- call")
            yield Need("trouble", "!", one_line(line[2:], _LONGEST), "Look", "calls" if is_call else "to-read")


def _found(run: Run) -> Iterator[Need]:
    if run.found:
        names = ", ".join(run.found[:3])
        what = f"Changed while agents worked, by nobody on record: {names}. Your decision takes it as your edit."
        yield Need("found", "!", one_line(what, 160), "See", "documents")


def _apart(point: Checkpoint) -> Iterator[Need]:
    """Several people must choose the same, and have not."""
    if differ(point):
        told = [f"{one.by or one.user} {one.option}{answered(one)}" for one in point.approvals if one.counts]
        yield Need("torn", "!", "They chose differently:", "See", "votes", one_line(", ".join(told), _LONGEST))


def _fields(point: Checkpoint) -> Iterator[Need]:
    answers = point.answers or {}
    left = [one for one in point.fields if answers.get(one.id) in (None, "", []) and not one.follows]
    if len(left) > _FEW:
        told = f"{plural(len(left), 'question')} without an answer. First:"
        yield Need("field", "?", told, "Answer", "questions", one_line(left[0].prompt or left[0].id, _LONGEST - 26))
        return
    for one in left:
        yield Need("field", "?", "", "Answer", f"field-{one.id}", one_line(one.prompt or one.id, _LONGEST))


def _missing(run: Run, point: Checkpoint) -> Iterator[Need]:
    for agent in dict.fromkeys(point.missing):
        yield Need("missing", "!", f"{agent} gave nothing in this round.", "See", "findings")
    texts = [("unasked", "!", one.text) for one in run.unasked] + [("unshown", "!", one.text) for one in run.unshown]
    texts += [("passed", "~", one.text) for one in run.passed_over]
    yield from (Need(kind, mark, one_line(text, _LONGEST), "See", "findings") for kind, mark, text in texts)
    for written in point.outputs:
        for why in written.not_taken[:1]:
            yield Need("not taken", "!", one_line(f"Not taken of {written.agent}: {why}", _LONGEST), "See", "findings")
    for why in point.not_taken[:1]:
        more = f" (and {len(point.not_taken) - 1} more)" if len(point.not_taken) > 1 else ""
        yield Need("not taken", "!", one_line(f"Not taken from the folder: {why}{more}", _LONGEST), "See", "findings")


def _open(point: Checkpoint, review: Review | None) -> Iterator[Need]:
    if point.comments:
        first = point.comments[0]
        count = plural(len(point.comments), "comment")
        text = f"{count} on files still open: {first.id} on {first.file}"
        yield Need("comment", "~", one_line(text, _LONGEST), "See", "ledger")
    here = {one.id for one in review.remarks} if review else set()
    left = [one for one in review.open if one.id not in here and not one.lines] if review else []
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        yield Need("remark", "~", f"Still open: {left[0].id}{more}:", "See", "ledger", one_line(left[0].text, 80))


def _torn(review: Review | None) -> Iterator[Need]:
    torn = [one for one in review.meter.items if one.verdict == "disagreement"] if review and review.meter else []
    wide = sorted(torn, key=lambda one: one.now.low - one.now.high)
    if wide:
        named = ", ".join(f"{one.item} {one.now.low:g} to {one.now.high:g}" for one in wide[:3])
        text = f"{plural(len(wide), 'disagreement stands', 'disagreements stand')}:"
        yield Need("torn", "~", text, "See", "map", one_line(named, _LONGEST))
