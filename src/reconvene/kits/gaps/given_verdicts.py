"""The verdicts of one review while it is read: which of several counts, and what one on the whole says of each gap.

What is called final goes before what stands in a place of its own, that before a sentence, that before a mood, which is
never certain. It must not know how words are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconvene.kits.gaps import cues
from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.outputs import OF_ALL, Judged
from reconvene.kits.gaps.records import TEXT
from reconvene.kits.gaps.review_places import About
from reconvene.kits.gaps.verdicts import APPROVALS, Opinion, decided, overall
from reconvene.kits.gaps.vocabulary import Overall

FINAL, FORM, SENTENCE, MOOD = range(4)  # how a verdict was said: the lower counts before the higher


class Given:
    """Gathers them while somebody walks down a review."""

    def __init__(self, lines: Sequence[md.Line], round: int, about: About) -> None:
        self.covers: Opinion | None = None  # said of all at once
        self._lines = lines
        self._round = round
        self._about = about
        self._whole: list[Overall] = []
        self._said: dict[str, list[tuple[int, Opinion, int]]] = {}  # gap → (how, what, line)
        self._prose: dict[str, list[str]] = {}
        self._first: dict[str, int] = {}

    @property
    def overall(self) -> Overall:
        return decided(self._whole)

    def say(self, gaps: Iterable[str], found: Opinion, line: int, how: int) -> None:
        for gap in gaps:
            self._said.setdefault(gap, []).append((how, found, line))

    def note(self, gap: str, said: str) -> None:
        """More words to the verdict that was read last."""
        told = self._said.get(gap)
        if told:
            how, found, line = told[-1]
            told[-1] = (how, found._replace(note=md.clip(f"{found.note} {md.bare(said)}", TEXT)), line)

    def prose(self, gap: str, said: str, line: int) -> None:
        """What is said about a gap: its mood counts where no verdict is given."""
        self._prose.setdefault(gap, []).append(said)
        self._first.setdefault(gap, line)

    def on_all(self, said: Overall) -> None:
        self._whole.append(said)

    def cover(self, found: Opinion) -> None:
        self.covers = found if self.covers is None or found.verdict not in APPROVALS else self.covers
        self._whole.append(overall(found.verdict))

    def judged(self, checks: Iterable[tuple[str, bool]]) -> list[Judged]:
        self._moods()
        made = []
        for gap, said in self._said.items():
            how = min(one[0] for one in said)
            both = {found.verdict in APPROVALS for level, found, _ in said if level == how}
            for level, found, line in said:
                if level == how:
                    quote = md.clip(self._lines[line - 1].text, 200) if line else ""
                    doubt = found.doubt or ("two verdicts are given" if len(both) > 1 else "")
                    made.append(Judged(gap, found.verdict, md.clip(found.note, TEXT), line, doubt, quote))
        self._cover(made, failed=any(not done for _, done in checks))
        if self.covers is not None:
            have = {one.gap for one in made}
            rest = [gap for gap in self._about.under if gap not in have]
            made += [Judged(gap, self.covers.verdict, "", 0, self.covers.doubt, OF_ALL) for gap in rest]
        return made

    def _moods(self) -> None:
        if self.covers is not None or (not self._said and self.overall != "NONE"):
            return  # one verdict, and it is on all of them
        for gap in self._about.under:
            if gap not in self._said and (found := cues.mood(" ".join(self._prose.get(gap, ())), self._round)):
                self.say((gap,), found, self._first.get(gap, 0), MOOD)

    def _cover(self, made: list[Judged], *, failed: bool) -> None:
        """An overall verdict is one on every gap that has none of its own: plainly so where none has."""
        said = self.overall
        if self.covers is not None or said == "NONE" or (made and said == "REVISE"):
            return
        doubt = "the verdict is on the whole, and names no gap" if made or failed or said == "REVISE" else ""
        self.covers = Opinion("approved" if said == "APPROVE" else "needs revision", doubt)
