"""Answers to a checkpoint's fields before they are final: kept by field id at their spot, carried from set to set.

The same id keeps its answer, in the next round as in a later entry of the phase. A field that says it `replaces`
another drops that one's answer, and so does one whose answer no longer fits; the field then carries a note that says
so. Where a question is asked in other words, its answer stays, and the note holds the words that it was given to. An
answer that was given `under` something else is none. The log keeps every draft ever saved. What an answer becomes when
the checkpoint is left is for `deciding` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from reconvene.core.definition.field_types import fits
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.commands import Answers
from reconvene.core.facts.state import Asked, RunState
from reconvene.language.plain_text import quoted

ENGINE = "reconvene"  # who sets an answer aside that no longer counts


def here(state: RunState, book: Book) -> Answers:
    """Answers so far at the spot in front, by field id."""
    return book.object(state.record.drafts.get(state.world.spot, ""))


def carry(
    state: RunState, book: Book, address: str, fields: tuple[e.FieldAsked, ...]
) -> tuple[tuple[e.FieldAsked, ...], Answers]:
    """The fields of a set about to be asked, with notes; and the answers so far that still stand."""
    before = state.record.asked.get(state.world.spot)
    kept = dict(here(state, book))
    old = {field.id: field for field in before.fields} if before else {}
    unders = {field.under for field in fields}
    for field in old.values():
        if field.under not in unders and (field.under or field.id in {each.id for each in fields}):
            kept.pop(field.id, None)
    fields = tuple(_reworded(field, old, kept, settled=before is not None and before.settled) for field in fields)
    noted = tuple(_noted(field, old, kept, {field.id for field in fields}) for field in fields)
    if before is not None and before.place != address:
        for field in noted:
            if field.type == "confirm":  # what was confirmed is not what is asked now
                kept.pop(field.id, None)
    return noted, kept


def _noted(field: e.FieldAsked, old: Mapping[str, e.FieldAsked], kept: Answers, asked: set[str]) -> e.FieldAsked:
    notes = [note for name in field.replaces if (note := _replaced(field, name, old, kept, asked))]
    answer = kept.get(field.id)
    if answer is not None and not fits(field, answer):
        del kept[field.id]
        notes.append(f"your answer was “{told(answer)}”, which is not among the answers any more")
    if not notes and field.id in old and field.id not in kept and field.under == old[field.id].under:
        notes = [old[field.id].note] if old[field.id].note and not old[field.id].worded else []
    if field.worded and field.id in kept:
        notes.append(f"you answered “{told(kept[field.id])}” when it was asked as “{field.worded}”: still right?")
    return replace(field, note="; ".join(notes))


def _reworded(field: e.FieldAsked, old: Mapping[str, e.FieldAsked], kept: Answers, *, settled: bool) -> e.FieldAsked:
    """With the words that its answer was given to, where it is asked in others now. Whoever left the checkpoint has
    seen both, and means the answer."""
    before, answer = old.get(field.id), kept.get(field.id)
    if before is None or answer is None or field.id in field.replaces:
        return field
    unchanged = before.worded and before.stands == answer and not settled
    words = before.worded if unchanged else before.prompt
    return replace(field, worded=words, stands=answer) if words != field.prompt else field


def _replaced(field: e.FieldAsked, name: str, old: Mapping[str, e.FieldAsked], kept: Answers, asked: set[str]) -> str:
    """What to say about the field whose place this one takes; its answer, if it had one, is dropped."""
    if name == field.id:
        if name not in old or old[name].prompt == field.prompt:
            return ""  # asked so before: an answer given since then is an answer to this
    elif name in asked:
        return ""
    question = old[name].prompt if name in old else name
    if name in kept:
        return f"replaces “{question}”, your answer was “{told(kept.pop(name))}”"
    return f"replaces “{question}”" if name in old else ""


def told(answer: object) -> str:
    return answer if isinstance(answer, str) else to_json(answer).decode()


# --- for agents ---


def so_far(state: RunState, book: Book) -> str:
    """Answers and choices, those of earlier steps first. Empty where there are none."""
    record, spot = state.record, state.world.spot
    spots = [name for name in record.threads if name != spot and is_around(record.threads[name].around, spot)]
    parts: list[str] = []
    for name in sorted(spots, key=lambda each: record.threads[each].last):
        lines = list(_answers(book, record.asked.get(name), record.drafts.get(name, "")))
        chosen = record.threads[name].chosen
        lines += [f"- chosen: {chosen}"] if chosen else []
        parts += [f"### {name}\n\n" + "\n".join(lines)] if lines else []
    lines = list(_answers(book, record.asked.get(spot), record.drafts.get(spot, "")))
    parts += [f"### {spot} (not final yet)\n\n" + "\n".join(lines)] if lines else []
    return "## Answers and choices so far\n\n" + "\n\n".join(parts) if parts else ""


def is_around(around: str, spot: str) -> bool:
    """Whether something with these phases (and items) around it belongs to the pass that the spot is in."""
    return not around or spot == around or spot.startswith(around + "/")


def _answers(book: Book, asked: Asked | None, digest: str) -> Iterable[str]:
    drafts = book.object(digest)
    fields = asked.fields if asked else ()
    for field in fields:
        answer = drafts.get(field.id)
        if answer is None and asked and asked.settled:
            answer = field.blank if field.blank is not None else field.default
        text = _indented(answer) if answer is not None else "(not answered)"
        yield f"- {_named(field.id)} {quoted(field.prompt or field.id)} → {text}"
    known = {field.id for field in fields}
    for name in sorted(drafts):
        if name not in known:
            question = quoted(asked.questions.get(name, "")) if asked else ""
            yield f"- {_named(name)} {question} → {_indented(drafts[name])} (no longer asked)"


def _named(field: str) -> str:
    """Items of a list are named by agents: what is no plain name is quoted like all that they say."""
    return f"[{field}]" if re.fullmatch(r"[\w.-]{1,60}", field) else quoted(field)


def _indented(answer: object) -> str:
    return told(answer).replace("\n", "\n  ")


def plain_question(text: str) -> str:
    """On one line, and without the arrow that an answer comes after: agents write questions."""
    return " ".join(text.replace("→", "->").split())
