"""A checkpoint at a glance: where the run is, what is asked, what each option leads to, what the agents wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconvene.doors.shared.harmless import clean, one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Checkpoint, Item, Option, Written

_MOST_WRITTEN = 12


def items_line(items: Sequence[Item]) -> str:
    """`item 2 of 5: New API`; the innermost last."""
    return ", ".join(f"item {one.number} of {one.of}: {one_line(one.title, 60)}" for one in items)


def text_of(checkpoint: Checkpoint) -> str:
    """The prompt without the question, where that stands at its end and is shown apart; "" where it is all there is."""
    prompt, question = clean(checkpoint.prompt).strip(), clean(checkpoint.question).strip()
    if one_line(prompt) == one_line(question):
        return ""
    return prompt.removesuffix(question).rstrip() if question else prompt


def aside(option: Option) -> str:
    """What follows from an option, and what it wants: `one more round of Views; with your words`"""
    parts = [one_line(option.leads)] if option.leads else []
    parts += ["with your words"] if option.remark == "required" else []
    parts += [f"asks for {', '.join(one_line(field.id) for field in option.fields)}"] if option.fields else []
    return "; ".join(parts)


def written_lines(checkpoint: Checkpoint) -> list[str]:
    """Who wrote what, by first lines; and who gave nothing."""
    written = checkpoint.outputs
    lines = [
        f"{one_line(one.agent)} ({one.characters:,} characters): {one_line(' / '.join(one.lines), 200)}"
        for one in written[:_MOST_WRITTEN]
    ]
    more = len(written) - _MOST_WRITTEN
    lines += [f"… and {more} more"] if more > 0 else []
    lines += [f"{one_line(agent)}: nothing" for agent in dict.fromkeys(checkpoint.missing)]
    return [*lines, *_not_taken(written)]


def _not_taken(written: Sequence[Written]) -> list[str]:
    """What agents wrote and nobody got: never passed over in silence. Of each agent what is named first comes first:
    what is kept aside for the person, and how many there are in all."""
    named = [(at, one.agent, why) for one in written for at, why in enumerate(one.not_taken)]
    found = [f"not taken of {one_line(agent)}: {one_line(why, 200)}" for _, agent, why in sorted(named, key=_place)]
    more = len(found) - _MOST_WRITTEN
    return [*found[:_MOST_WRITTEN], *([f"… and {more} more lines of this kind"] if more > 0 else [])]


def _place(named: tuple[int, str, str]) -> int:
    return named[0]
