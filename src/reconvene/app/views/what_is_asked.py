"""What a checkpoint asks, in one sentence: the workflow's own question, or what its prompt or its trouble comes to."""

from __future__ import annotations

import re

from reconvene.core.facts import events as e
from reconvene.language.late_patterns import late

_CALL = late(r"call\d+: ")
_LONGEST_TROUBLE = 100


def asked(point: e.CheckpointOpened) -> str:
    """What is to be decided, in one sentence."""
    if point.question:
        return point.question
    if point.attention:
        return trouble_in(point.prompt)
    return question_in(point.prompt, point.filled.prompt if point.filled is not None else ())


def trouble_in(prompt: str) -> str:
    """What is wrong, in short, and the question that follows: of a checkpoint of the engine's own."""
    first = next((line[2:] for line in prompt.split("\n") if line.startswith("- ")), "")
    if _CALL.match(first):
        return "Shall these calls be made?" if "\n- call2: " in prompt else "Shall this call be made?"
    short = re.split(r"[.:;]\s", first, maxsplit=1)[0].rstrip(".")
    return f"{short[:1].upper()}{short[1:_LONGEST_TROUBLE]}. How shall it go on?" if short else "How shall it go on?"


def question_in(prompt: str, filled: tuple[e.Stretch, ...] = ()) -> str:
    """What a prompt asks, where the workflow has no question of its own: its last sentence, or its first line.

    What agents wrote (`filled`: in these lines) is not the workflow's question."""
    words = [" ".join(line.strip(" *_#>").split()) for line in prompt.split("\n")]
    lines = [line for at, line in enumerate(words) if line and not any(each.first <= at < each.end for each in filled)]
    if not lines:
        return "What now?"
    for line in (lines[-1], lines[0]):
        if line.endswith("?"):
            return _last_sentence(line)
    return lines[0]


def _last_sentence(line: str) -> str:
    """Of a line whose words have one space between them."""
    ends = (at for at in range(len(line) - 1, 0, -1) if line[at] == " " and line[at - 1] in ".!?:")
    return line[next(ends, -1) + 1 :]
