"""What happened in a run, in the order that counts: what agents wrote, what people said, changed and decided, its end.

A pure fold of the log. Two runs that went the same way have the same story, whenever and by whomever they were driven:
agents that worked at the same time stand in the order of their step, and times, ids and attempts do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from msgspec import Struct

from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task

Kind = Literal["wrote", "said", "edited", "decided", "undone", "ended"]

VERBS: dict[Kind, str] = {
    "wrote": "wrote",
    "said": "said",
    "edited": "edited",
    "decided": "decided",
    "undone": "took back",
    "ended": "ended",
}


class Happened(Struct, frozen=True):
    """`what`: the words, the option, the path; of an output its digest, which `words` are read from later."""

    seq: int
    kind: Kind
    what: str
    phase: str = ""
    round: int = 0
    who: str = ""  # the agent, or the person
    words: str = ""  # as it is told

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """What makes two the same. Who said or decided it does not."""
        return self.kind, self.what, self.phase, self.round, self.who if self.kind == "wrote" else ""


def story(events: Iterable[tuple[int, e.AnyEvent]]) -> Iterator[Happened]:
    phase, n = "", 0
    order: dict[str, int] = {}
    wrote: dict[str, Happened] = {}  # of the open step, by agent
    for seq, event in events:
        match event:
            case e.RoundStarted():
                phase, n = event.phase, event.n
            case e.StepStarted():
                order = {start.agent: at for at, start in enumerate(event.tasks)}
                wrote = {}
            case e.AttemptEnded(verdict="accepted", output=e.Ref(digest=digest)):
                agent = parse_task(event.task)[2]
                wrote[agent] = Happened(seq, "wrote", digest, phase, n, agent)
            case e.StepClosed():
                yield from sorted(wrote.values(), key=lambda one: order.get(one.who, 0))
                wrote = {}
            case e.RemarkAdded() if event.kind != "edit":
                yield Happened(seq, "said", event.text, phase, n, event.by, event.text)
            case e.FilesEdited():
                for file in event.files:
                    yield Happened(seq, "edited", f"{file.path} {file.digest}", phase, n, event.by, file.path)
            case e.DecisionRecorded():
                yield Happened(seq, "decided", event.option, event.phase, n, event.by, event.option)
            case e.RoundUndone():
                yield Happened(seq, "undone", "", event.phase, event.n, event.by, f"round {event.n} undone")
            case e.RunEnded():
                yield Happened(seq, "ended", event.outcome or event.status, phase, n, event.by, event.status)


def first_difference(one: Sequence[Happened], other: Sequence[Happened]) -> tuple[Happened | None, Happened | None]:
    """What happened where the two part; None where one of them has nothing more. (None, None) = they do not part."""
    for left, right in zip_longest(one, other):
        if left is None or right is None or left.key != right.key:
            return left, right
    return None, None


def lasted(minutes: float) -> str:
    if minutes < 2:
        return f"{minutes * 60:.0f} s"
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
