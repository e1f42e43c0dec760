"""Where a tracker speaks in a run: after every step and at the close of a round, and about the outputs it follows.

It works its value out anew each time, from what it was when the round began and what the round has brought so far; so
an undone round takes its part with it. What the value means is the kit's business.
"""

from __future__ import annotations

from msgspec import Struct

from reconvene.core.definition.workflow import Phase, Step, Track
from reconvene.core.extensions import Objection, Seen
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.round import OutputAt, RoundAt
from reconvene.core.facts.state import RunState
from reconvene.core.kit_finder import packaged, tracker
from reconvene.core.shown import scope
from reconvene.core.working.transaction import Transaction
from reconvene.errors import KitFailed


def update(tx: Transaction, *, closed: bool = False) -> bool:
    """False where the tracker failed: a person must say how to go on. Without it the round leaves its value alone."""
    track, round_ = tx.phase.track, tx.frame.round
    if track is None or round_ is None:
        return True
    where = f"round {round_.serial}, tracker of {track.kit}"
    if tx.left_out(where):
        return True
    key = _key(tx, track)
    seen = _seen(tx, track, round_, closed=closed)
    try:
        ref = tx.keep(_checked(tx.book, track.kit, tracker(track.kit).track(_before(tx, key, round_), seen)))
    except KitFailed as error:
        tx.kit_failed(error, where)
        return False
    now = tx.state.world.values.get(key)
    if now is None or now.ref is None or now.ref.digest != ref.digest:
        tx.emit(e.ValuesSet(at=tx.now, values=(e.ValueWrite(key, ref, "reconvene"),)))
    return True


def _checked(book: Book, kit: str, value: object) -> object:
    """Held against the tracker's own schema, where it has one: expressions were checked with it."""
    if not packaged(kit) and (schema := tracker(kit).schema()) and (problems := book.validate(schema, value)):
        raise KitFailed(kit, "tracker", f"its value is not as its schema says: {'; '.join(problems[:3])}")
    return value


def objection(tx: Transaction, step: Step, text: str) -> Objection | None:
    """What the tracker objects to in this output of the step; None where it is not one it follows."""
    track, round_ = tx.phase.track, tx.frame.round
    if track is None or round_ is None:
        return None
    role = next((role for role, name in track.outputs.items() if name == step.output), "")
    if not role:
        return None
    before = _before(tx, _key(tx, track), round_)
    return tracker(track.kit).objection(before, role, text, _seen(tx, track, round_, closed=False))


def settled(tx: Transaction, name: str, value: object, by: str) -> object:
    """A value that a decision has just written: where a tracker keeps it, what it asks for is done at once."""
    kit = tracked(tx.book).get(name)
    if kit is None:
        return value
    round_ = tx.frame.round
    made = tracker(kit).settle(value, round_.n if round_ else tx.frame.n, by, tx.now)
    return _checked(tx.book, kit, made)


def tracked(book: Book) -> dict[str, str]:
    """The values that trackers keep, and of which kit each is."""
    tracks = [node.phase.track for node in book.nodes.values() if node.phase.track is not None]
    return {track.into: track.kit for track in tracks}


class Kept(Struct, frozen=True):
    """A value that a tracker keeps in a run."""

    where: str  # "gaps", or "batches[b2]:gaps" where each item has its own
    value: object


def kept(state: RunState, book: Book, kit: str) -> list[Kept]:
    """What the run follows with this kit, wherever it has written something yet."""
    names = [name for name, owner in tracked(book).items() if owner == kit]
    found = sorted((key.rpartition(":"), value) for key, value in state.world.values.items())
    return [
        Kept(f"{where}:{name}" if where else name, scope.load_value(book, value))
        for (where, _, name), value in found
        if name in names
    ]


def _before(tx: Transaction, key: str, round_: RoundAt) -> object:
    """The value as the round met it."""
    mark = tx.state.marks.get(round_.serial)
    return scope.load_value(tx.book, mark.values.get(key)) if mark is not None else None


def _key(tx: Transaction, track: Track) -> str:
    return scope.value_key(tx.state.world.cursor, tx.book.workflow.names.get(track.into, ""), track.into)


def _seen(tx: Transaction, track: Track, round_: RoundAt, *, closed: bool) -> Seen:
    where = f"track of {tx.frame.phase}"
    return Seen(
        round=round_.n,
        given={key: tx.value(source, where) for key, source in track.given.items() if source}
        | {key: _document(tx, path) for key, path in track.documents.items()},
        outputs={key: _text(tx, round_, name) for key, name in track.outputs.items()},
        files={key: _file(tx.phase, round_, name) for key, name in track.outputs.items()},
        closed=closed,
    )


def _document(tx: Transaction, path: str) -> str | None:
    """The text of a file as it stands, whoever wrote it last."""
    file = tx.state.world.files.get(path)
    return tx.book.text(file.digest) if file is not None and file.digest else None


def _outputs(phase: Phase, round_: RoundAt, name: str) -> list[OutputAt]:
    steps = {index for index, step in enumerate(phase.steps) if step.output == name}
    return [output for output in round_.outputs if output.step in steps]


def _text(tx: Transaction, round_: RoundAt, name: str) -> str | None:
    texts = [tx.book.text(output.output.digest) for output in _outputs(tx.phase, round_, name)]
    return "\n\n".join(texts) if texts else None


def _file(phase: Phase, round_: RoundAt, name: str) -> str:
    """Where people find that output: the one file it is, if it is one."""
    files = [file.path for output in _outputs(phase, round_, name) for file in output.files]
    return files[0] if len(files) == 1 else ""
