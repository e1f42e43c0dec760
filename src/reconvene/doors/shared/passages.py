"""Whose words they are: a text of a checkpoint in passages, each the workflow's (or the engine's) or of agents.

What agents wrote stands behind a bar wherever a person reads it, so that no line of theirs passes for one of the
engine's. A paragraph that holds any of their words is theirs as a whole: a table has the workflow's head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.doors.shared.harmless import clean, one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Checkpoint
    from reconvene.core.facts.events import Stretch

BAR = "│"


class Passage(Struct, frozen=True):
    text: str
    theirs: bool


def barred(text: str) -> str:
    return "\n".join(f"{BAR} {line}".rstrip() for line in text.split("\n"))


def passages(text: str, filled: Sequence[Stretch] | None) -> list[Passage]:
    """`filled`: the lines that may hold words of agents; None = nobody knows, so all of them may."""
    lines = [clean(line) for line in text.split("\n")]
    theirs = [filled is None or any(each.first <= at < each.end for each in filled) for at in range(len(lines))]
    found: list[tuple[list[str], bool]] = []
    for paragraph, whose in _paragraphs(lines, theirs):
        if found and found[-1][1] == whose:
            found[-1][0].extend(["", *paragraph])
        else:
            found.append((paragraph, whose))
    return [Passage("\n".join(lines), whose) for lines, whose in found]


def _paragraphs(lines: Sequence[str], theirs: Sequence[bool]) -> list[tuple[list[str], bool]]:
    found: list[tuple[list[str], bool]] = []
    begun: list[int] = []
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            begun.append(at)
        elif begun:
            found.append(([lines[one] for one in begun], any(theirs[one] for one in begun)))
            begun = []
    return found


def to_read(checkpoint: Checkpoint) -> list[Passage]:
    """The prompt without the question, where that stands at its end or is its first line: it is shown apart."""
    found = passages(checkpoint.prompt, checkpoint.filled.prompt if checkpoint.filled is not None else None)
    question = clean(checkpoint.question).strip()
    if not found or not question:
        return found
    last = found[-1]
    if one_line(last.text) == one_line(question):
        return found[:-1]
    if last.text.endswith(question):
        rest = [*found[:-1], Passage(last.text.removesuffix(question).rstrip(), last.theirs)]
    else:
        first = found[0]
        rest = [Passage(first.text.removeprefix(question + "\n").lstrip("\n"), first.theirs), *found[1:]]
    return [one for one in rest if one.text]


def wanted(checkpoint: Checkpoint) -> list[Passage]:
    """The workflow's words for "what do you say?"."""
    return passages(checkpoint.feedback, checkpoint.filled.feedback if checkpoint.filled is not None else None)


def question_line(checkpoint: Checkpoint) -> str:
    """What is asked, in a line; behind a bar where agents have a word in it."""
    line = one_line(checkpoint.question)
    return barred(line) if checkpoint.filled is None or checkpoint.filled.question else line
