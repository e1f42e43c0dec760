"""What this kit brings: a tracker that follows gaps through the rounds of an engineer and a reviewer."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from reconvene.core.extensions import Kit, Objection, Seen, View
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.working.tracking import kept
from reconvene.kits.gaps import lives, tracker
from reconvene.kits.gaps.asked_once import one_meaning, rated
from reconvene.kits.gaps.records import opened
from reconvene.kits.gaps.view import schema


class GapTracker:
    expressions: Mapping[str, str] = {
        **dict.fromkeys(("given", "spec", "identity", "patience", "rulings", "said", "final"), ""),
        **dict.fromkeys(("stall", "explosion"), "2"),
    }
    outputs = ("found", "proposals", "review", "worked")
    documents = ("text",)

    def schema(self) -> object:
        return schema()

    def track(self, before: object, seen: Seen) -> object:
        return tracker.track(before, _sources(seen), _config(seen))

    def objection(self, before: object, role: str, text: str, seen: Seen) -> Objection | None:
        sources = _sources(seen)
        # Worked out here, not read: before its first step closes, a round has not taken in the list that it was given.
        value = tracker.track(before, sources, tracker.Config())
        return tracker.wrong_with(value, role, text, sources, _config(seen))

    def facts(self, value: object, round: int) -> Mapping[str, object]:
        return msgspec.structs.asdict(lives.facts_of(opened(value), round))

    def settle(self, value: object, round: int, by: str, at: str) -> object:
        return tracker.settle(value, round, by, at)


def _sources(seen: Seen) -> tracker.Sources:
    listed, spec = seen.given.get("given"), seen.given.get("spec")
    return tracker.Sources(
        round=seen.round if "proposals" in seen.outputs else 0,
        spec=spec if isinstance(spec, str) else "",
        given=listed if isinstance(listed, str) else None,
        found=seen.outputs.get("found"),
        proposals=seen.outputs.get("proposals"),
        review=seen.outputs.get("review"),
        closed=seen.closed,
        proposals_file=seen.files.get("proposals", ""),
        review_file=seen.files.get("review", ""),
        text=text if isinstance(text := seen.given.get("text"), str) else None,
        said=said if isinstance(said := seen.given.get("said"), str) else "",
        final=seen.given.get("final") is True,
    )


def _config(seen: Seen) -> tracker.Config:
    return tracker.Config(
        stall=_number(seen, "stall", 2),
        explosion=_number(seen, "explosion", 2),
        identity=seen.given.get("identity") is not False,
        patience=_number(seen, "patience", 1),
        rulings=seen.given.get("rulings") is True,
    )


def _number(seen: Seen, key: str, otherwise: int) -> int:
    found = seen.given.get(key)
    return int(found) if isinstance(found, int | float) and not isinstance(found, bool) else otherwise


class GapRow(msgspec.Struct, frozen=True):
    """A gap, as the view lists it."""

    gap: str
    severity: str
    blocking: bool
    state: str
    round: int  # in which it was raised
    raised_by: str
    place: str
    title: str


def gap_rows(state: RunState, book: Book) -> list[GapRow]:
    return [
        GapRow(gap.id, gap.severity, gap.blocking, gap.state, gap.raised_in, gap.raised_by, at.where, gap.title)
        for at in kept(state, book, "gaps")
        for gap in opened(at.value).gaps.values()
    ]


KIT = Kit(
    "gaps",
    tracker=GapTracker(),
    gates={"one_meaning": one_meaning, "rated": rated},
    asks={
        "one_meaning": "if it approves a gap and raises a HIGH or CRITICAL issue on it;",
        "rated": "if it opens a gap and does not say how grave it is;",
    },
    views={"gaps": View("every gap that the run follows", gap_rows)},
)
