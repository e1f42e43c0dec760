"""The gap tracker's place in a run: what it is shown, when it speaks, what it requires of an output.

After every step and at the close of a round it works out its value anew, from what it was when the round began and what
the round has brought so far; so an undone round takes its gaps with it. What the gaps mean is `core.gaps`' business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from reconvene.core import events as e
from reconvene.core import scope
from reconvene.core.book import Book
from reconvene.core.state import OutputAt, RoundAt
from reconvene.core.turn import Turn
from reconvene.core.workflow import Phase, Step, Track

if TYPE_CHECKING:
    from reconvene.core.gaps.tracker import Sources

_Role = Literal["found", "proposals", "review"]


def update(turn: Turn, *, closed: bool = False) -> None:
    track, round_ = turn.phase.track, turn.frame.round
    if track is None or round_ is None:
        return
    from reconvene.core.gaps import tracker

    key = _key(turn, track)
    config = tracker.Config(_number(turn, track.stall, 2), _number(turn, track.explosion, 2))
    sources = _sources(turn, track, round_, closed=closed)
    ref = turn.keep(tracker.track(_before(turn, key, round_), sources, config))
    now = turn.state.world.values.get(key)
    if now is None or now.ref is None or now.ref.digest != ref.digest:
        turn.emit(e.ValuesSet(at=turn.now, values=(e.ValueWrite(key, ref, "reconvene"),)))


def wrong_with(turn: Turn, step: Step, text: str) -> str:
    """What the tracker objects to in this output of the step; "" where it is not one it follows."""
    track, round_ = turn.phase.track, turn.frame.round
    role = _role(track, step) if track is not None else None
    if track is None or role is None or round_ is None:
        return ""
    from reconvene.core.gaps import tracker

    sources = _sources(turn, track, round_, closed=False)
    # Worked out here, not read: before its first step closes, a round has not taken in the list that it was given.
    value = tracker.track(_before(turn, _key(turn, track), round_), sources, tracker.Config())
    return tracker.wrong_with(value, role, text, sources)


def _before(turn: Turn, key: str, round_: RoundAt) -> object:
    """The value as the round met it."""
    mark = turn.state.marks.get(round_.serial)
    return scope.load_value(turn.book, mark.values.get(key)) if mark is not None else None


def settled(turn: Turn, name: str, value: object, by: str) -> object:
    """A value that a decision has just written: where the tracker keeps it, its orders are carried out at once."""
    if name not in tracked(turn.book):
        return value
    from reconvene.core.gaps import tracker

    round_ = turn.frame.round
    return tracker.settle(value, round_.n if round_ else turn.frame.n, by, turn.now)


def tracked(book: Book) -> tuple[str, ...]:
    """The values that the tracker keeps."""
    return tuple(dict.fromkeys(node.phase.track.into for node in book.nodes.values() if node.phase.track is not None))


def _key(turn: Turn, track: Track) -> str:
    return scope.value_key(turn.state.world.cursor, turn.book.workflow.names.get(track.into, ""), track.into)


def _role(track: Track, step: Step) -> _Role | None:
    roles: tuple[tuple[_Role, str], ...] = (
        ("found", track.found),
        ("proposals", track.proposals),
        ("review", track.review),
    )
    return next((role for role, name in roles if name and name == step.output), None)


def _sources(turn: Turn, track: Track, round_: RoundAt, *, closed: bool) -> Sources:
    from reconvene.core.gaps.tracker import Sources

    return Sources(
        round=round_.n if track.proposals else 0,
        spec=_text(turn, track.spec) or "",
        given=_text(turn, track.given),
        found=_output(turn, turn.phase, round_, track.found),
        proposals=_output(turn, turn.phase, round_, track.proposals),
        review=_output(turn, turn.phase, round_, track.review),
        closed=closed,
        proposals_file=_file(turn.phase, round_, track.proposals),
        review_file=_file(turn.phase, round_, track.review),
    )


def _outputs(phase: Phase, round_: RoundAt, name: str) -> list[OutputAt]:
    steps = {index for index, step in enumerate(phase.steps) if name and step.output == name}
    return [output for output in round_.outputs if output.step in steps]


def _output(turn: Turn, phase: Phase, round_: RoundAt, name: str) -> str | None:
    texts = [turn.book.text(output.output.digest) for output in _outputs(phase, round_, name)]
    return "\n\n".join(texts) if texts else None


def _file(phase: Phase, round_: RoundAt, name: str) -> str:
    """Where people find that output: the one file it is, if it is one."""
    files = [file.path for output in _outputs(phase, round_, name) for file in output.files]
    return files[0] if len(files) == 1 else ""


def _text(turn: Turn, source: str) -> str | None:
    found = turn.value(source, f"track of {turn.frame.phase}") if source else None
    return found if isinstance(found, str) else None


def _number(turn: Turn, source: str, default: int) -> int:
    if source.isdecimal():
        return int(source)
    found = turn.value(source, f"track of {turn.frame.phase}")
    return int(found) if isinstance(found, int | float) else default
