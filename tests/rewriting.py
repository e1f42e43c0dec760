"""A plan as a person comments on it, rewritten by chance, with the truth of which line is which.

Each line knows what it is (`of`): a line that was moved, renumbered or reworded a little is still itself; a copy, a
line with other words and a new line are something else.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

_WORDS = (
    "load check compare write report figures contracts table year total sum budget risk source data clean merge split "
    "draft review result page chart owner date cost limit phase goal scope test list item note plan step method error"
).split()
_SMALL = ("the", "of", "and", "to", "for", "with", "in", "each")
_ODD = ("---", "```", "- [ ]", "}", "OK", "## Notes")  # lines that stand anywhere


class Line(NamedTuple):
    text: str
    of: frozenset[int]
    copy_of: frozenset[int] = frozenset()


class Plan:
    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._made = 0
        self.lines: list[Line] = []
        for number in range(1, chance.randint(2, 4) + 1):
            self._add(f"## {number}. {self._sentence(2).title()}")
            self._add("")
            if chance.random() < 0.6:
                for _ in range(chance.randint(1, 4)):
                    self._add(self._sentence())
                self._add("")
            mark = chance.choice(("{}. ", "- ", "* ", "{}) "))
            for item in range(1, chance.randint(2, 6) + 1):
                self._add(mark.format(item) + self._sentence())
            if chance.random() < 0.3:
                self._add(chance.choice(_ODD))
            self._add("")

    @property
    def text(self) -> str:
        return "".join(f"{line.text}\n" for line in self.lines)

    def words(self) -> list[int]:
        """Where lines with something in them stand, from 0."""
        return [at for at, line in enumerate(self.lines) if line.text.strip()]

    # --- changes ---

    def rewrite(self, near: frozenset[int], most: int = 7, *, copies: bool = True) -> None:
        """A few changes at once, every other one close to the lines that are `near`. `copies`: also of lines that look
        the same, or nearly the same, afterwards."""
        changes = [change for change in _CHANGES if copies or change not in (Plan._copy, Plan._twin)]
        for _ in range(self._chance.randint(1, most)):
            at = self._somewhere(near)
            if at is not None:
                self._chance.choice(changes)(self, at)

    def _somewhere(self, near: frozenset[int]) -> int | None:
        close = [at for at, line in enumerate(self.lines) if line.of & near]
        if close and self._chance.random() < 0.5:
            at = self._chance.choice(close) + self._chance.randint(-3, 3)
            return min(max(at, 0), len(self.lines) - 1)
        return self._chance.randrange(len(self.lines)) if self.lines else None

    def _reword(self, at: int) -> None:
        words = self.lines[at].text.split(" ")
        if len(words) >= 6:
            words[self._chance.randrange(2, len(words))] = self._chance.choice(_WORDS)
            self._put(at, " ".join(words), self.lines[at].of)

    def _add_words(self, at: int) -> None:
        if len(self.lines[at].text.split()) >= 4:
            self._put(at, f"{self.lines[at].text} {self._sentence(2)}", self.lines[at].of)

    def _replace(self, at: int) -> None:
        if self.lines[at].text.strip():
            self._put(at, self._sentence(), self._new())

    def _delete(self, at: int) -> None:
        del self.lines[at : at + self._chance.choice((1, 1, 1, 2, 3))]

    def _move(self, at: int) -> None:
        size = self._chance.choice((1, 1, 2, 3, 5))
        block = self.lines[at : at + size]
        del self.lines[at : at + size]
        to = self._chance.randint(0, len(self.lines))
        self.lines[to:to] = block

    def _copy(self, at: int) -> None:
        block = [
            Line(line.text, self._new(), line.of | line.copy_of)
            for line in self.lines[at : at + self._chance.choice((1, 1, 2, 3))]
        ]
        to = self._chance.randint(0, len(self.lines))
        if any(to == here or to == here + 1 for here in range(at, at + len(block))) and self._chance.random() < 0.5:
            to = len(self.lines)
        self.lines[to:to] = block

    def _insert(self, at: int) -> None:
        self.lines.insert(at, Line(self._sentence(), self._new()))

    def _insert_odd(self, at: int) -> None:
        self.lines.insert(at, Line(self._chance.choice(_ODD), self._new()))

    def _twin(self, at: int) -> None:
        """A line that is nearly the same, somewhere else."""
        words = self.lines[at].text.split(" ")
        if len(words) < 5:
            return
        words[-1] = self._chance.choice([word for word in _WORDS if word != words[-1]])
        to = self._chance.randint(0, len(self.lines))
        if not at - 3 <= to <= at + 4:
            self.lines.insert(to, Line(" ".join(words), self._new()))

    def _renumber(self, at: int) -> None:
        start = self._chance.randint(2, 9)
        for index, line in enumerate(self.lines):
            head, dot, rest = line.text.partition(". ")
            if dot and head.isdigit():
                self._put(index, f"{int(head) + start}. {rest}", line.of)

    def _mark_anew(self, at: int) -> None:
        for index, line in enumerate(self.lines):
            if line.text.startswith(("- ", "* ")):
                self._put(index, f"+ {line.text[2:]}", line.of)

    def _head_anew(self, at: int) -> None:
        heads = [index for index, line in enumerate(self.lines) if line.text.startswith("## ")]
        if heads:
            self._put(self._chance.choice(heads), f"## {self._sentence(3)}", self._new())

    def _break_anew(self, at: int) -> None:
        """Two lines of a paragraph become one, or one becomes two."""
        if at + 1 < len(self.lines) and all(_is_plain(line.text) for line in self.lines[at : at + 2]):
            one, two = self.lines[at : at + 2]
            self.lines[at : at + 2] = [Line(f"{one.text} {two.text}", one.of | two.of, one.copy_of | two.copy_of)]
        elif _is_plain(self.lines[at].text):
            words = self.lines[at].text.split(" ")
            half = len(words) // 2
            halves = (" ".join(words[:half]), " ".join(words[half:]))
            self.lines[at : at + 1] = [self.lines[at]._replace(text=text) for text in halves]

    def _space(self, at: int) -> None:
        self.lines.insert(at, Line("", self._new()))

    # --- parts ---

    def _add(self, text: str) -> None:
        self.lines.append(Line(text, self._new()))

    def _put(self, at: int, text: str, of: frozenset[int]) -> None:
        copy_of = self.lines[at].copy_of if of == self.lines[at].of else frozenset[int]()
        self.lines[at] = Line(text, of, copy_of)

    def _new(self) -> frozenset[int]:
        self._made += 1
        return frozenset((self._made,))

    def _sentence(self, words: int = 0) -> str:
        chosen = [self._chance.choice(_WORDS) for _ in range(words or self._chance.randint(3, 7))]
        joined = [part for word in chosen for part in (word, self._chance.choice(("", *_SMALL))) if part]
        return " ".join(joined).capitalize()


def _is_plain(text: str) -> bool:
    return bool(text.strip()) and text[0].isalpha() and len(text.split()) >= 4


_CHANGES = (
    Plan._reword,
    Plan._reword,
    Plan._reword,
    Plan._add_words,
    Plan._replace,
    Plan._delete,
    Plan._delete,
    Plan._move,
    Plan._move,
    Plan._copy,
    Plan._copy,
    Plan._insert,
    Plan._insert_odd,
    Plan._twin,
    Plan._renumber,
    Plan._mark_anew,
    Plan._head_anew,
    Plan._break_anew,
    Plan._space,
)
