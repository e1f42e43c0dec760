"""Whether a specification holds what was resolved and decided: for each, the lines that changed and hold its names and
figures. Also what was lost of the draft, and what nobody proposed.

A pure look at texts. It must not know rounds, states or who wrote what.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.gap_ids import gaps_in
from reconvene.kits.gaps.likeness import normal
from reconvene.kits.gaps.names_and_figures import holds, marks, plain_text, spans, words

LIMITATIONS = "Known Limitations"
_SHARE = 0.4  # of the names and figures that are new must be found
_WORDS = 0.3  # of the words, where there are too few of those
_KEPT = 0.5  # of a line's words must still be there, or it counts as lost
_LOST = 0.2  # of the draft's lines may go: more is a shorter specification
_SUPPORT = 0.34  # of an added paragraph's words must be somebody's


class Need(NamedTuple):
    """Something that the text must hold: its names and figures, and its words."""

    id: str
    title: str
    marks: tuple[str, ...]
    words: tuple[str, ...]


class Proof(Struct, frozen=True):
    """Where it stands. `held`: what was found of its names and figures; `missing`: what was not."""

    id: str
    title: str
    ok: bool
    lines: str
    held: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def proofs(draft: str, text: str, needs: Sequence[Need]) -> list[Proof]:
    changed = changed_lines(draft, text)
    before, stems = plain_text(draft), set(words(draft))
    return [_proof(need, changed, before, stems, needs) for need in needs]


def changed_lines(draft: str, text: str) -> dict[int, str]:
    """Lines that say something which the draft does not say, however it was wrapped, as plain text by number."""
    whole, before = [], " ".join(normal(line.text) for line in md.read(draft))
    for line in md.read(text):
        said = normal(line.text)
        if said and f" {said} " not in f" {before} ":
            whole.append((line.number, plain_text(line.text)))
    return dict(whole)


def _others(need: Need, needs: Sequence[Need]) -> frozenset[str]:
    return frozenset(mark for one in needs if one.id != need.id for mark in one.marks)


def _proof(need: Need, changed: dict[int, str], before: str, stems: set[str], needs: Sequence[Need]) -> Proof:
    others = _others(need, needs)
    fresh = [mark for mark in need.marks if not holds(before, mark)]
    by_word = len(fresh) < 2
    found = {mark: [at for at, line in changed.items() if holds(line, mark)] for mark in fresh}
    held = [mark for mark, at in found.items() if at]
    numbers = {at for ats in found.values() for at in ats}
    own = [mark for mark in fresh if mark not in others]
    ok = len(held) >= max(1, round(len(fresh) * _SHARE)) and (not own or any(mark in held for mark in own))
    if by_word:
        new = [word for word in need.words if word not in stems] or list(need.words)
        said = {at: set(words(line)) for at, line in changed.items()}
        there = [word for word in new if any(word in line for line in said.values())]
        numbers |= {at for at, line in said.items() if len(line & set(new)) >= min(2, len(new))}
        enough = len(there) >= max(1, min(len(new), max(2, round(len(new) * _WORDS))))
        rest = {word for one in needs if one.id != need.id for word in one.words}
        mine = [word for word in new if word not in rest]  # what no other says: one line is not a proof of two rules
        ok = (
            bool(numbers) and enough and (not fresh or bool(held)) and (not mine or any(word in there for word in mine))
        )
    missing = tuple(mark for mark in fresh if mark not in held)
    return Proof(need.id, need.title, ok, spans(numbers) if ok else "", tuple(held), missing)


def still_held(draft: str, text: str, gone: Need, needs: Sequence[Need]) -> list[int]:
    """The lines that still hold what is to be taken out: its own names and figures, and nobody else's."""
    others, before = _others(gone, needs), plain_text(draft)
    own = [mark for mark in gone.marks if mark not in others and not holds(before, mark)]
    changed = changed_lines(draft, text)
    if own:
        return [at for at, line in changed.items() if any(holds(line, mark) for mark in own)]
    rest = {word for one in needs for word in one.words} | set(words(draft))
    new = {word for word in gone.words if word not in rest}
    return [at for at, line in changed.items() if len(new & set(words(line))) >= max(2, len(new) // 2)] if new else []


# --- what was lost, what was made up ---


def lost(draft: str, text: str) -> tuple[list[str], float]:
    """Headings of the draft that are gone, and the share of its lines whose words are gone."""
    heads = [normal(part.title) for part in md.sections(md.read(text))]
    gone = []
    for part in md.sections(md.read(draft)):
        name = normal(part.title)
        near = difflib.get_close_matches(name, heads, n=1, cutoff=0.6) if name not in heads else [name]
        if name and not near and not any(name in one or one in name for one in heads if one):
            gone.append(part.title)
    there = set(words(text))
    lines = [set(words(line.text)) for line in md.read(draft)]
    full = [line for line in lines if len(line) >= 3]
    missed = [line for line in full if len(line & there) < len(line) * _KEPT]
    # Words alone are kept by chance in a long text: so is the length that the draft had.
    short = len(normal(text)) < len(normal(draft)) * 0.8
    return gone, max(len(missed) / len(full) if full else 0.0, 0.5 if short else 0.0)


def is_shortened(draft: str, text: str) -> str:
    """Why the text counts as shortened, for whoever wrote it; "" where it does not."""
    gone, share = lost(draft, text)
    if gone:
        return f"sections of the specification are gone: {', '.join(gone[:5])}."
    return f"{share:.0%} of what the specification said is gone." if share > _LOST else ""


def invented(before: str, text: str, sources: Iterable[str]) -> list[str]:
    """Names and figures, or whole paragraphs, that stand neither in the text before nor in anybody's words."""
    source = plain_text("\n".join((before, *sources)))
    known = set(words("\n".join((before, *sources)) if len(source) < 400_000 else source))
    body = _without_limitations(text)
    added = changed_lines(before, body)
    raw = {line.number: line.text for line in md.read(body)}
    found: dict[str, None] = {}
    for at in added:
        for mark in marks(raw[at]):
            if not holds(source, mark):
                found[mark] = None
    for at, line in added.items():
        said = words(line)
        if len(said) >= 8 and sum(word in known for word in said) < len(said) * _SUPPORT:
            found[f"line {at}: “{md.clip(raw[at], 80)}”"] = None
    return list(found)


def _without_limitations(text: str) -> str:
    """Known limitations are told in the words of gaps, with their ids."""
    lines = md.read(text)
    skip = {
        line.number for part in md.sections(lines) if normal(part.title) == normal(LIMITATIONS) for line in part.lines
    }
    return "\n".join("" if line.number in skip else line.text for line in lines)


def unlisted(text: str, names: Sequence[str]) -> list[str]:
    """Of these gaps, those that do not stand under Known Limitations."""
    lines = md.read(text)
    parts = [part for part in md.sections(lines) if normal(part.title) == normal(LIMITATIONS)]
    said = set(gaps_in("\n".join(line.text for part in parts for line in part.lines)))
    return [name for name in names if name not in said] if parts else list(names)


def difference(draft: str, text: str) -> str:
    """A unified diff against the draft."""
    told = difflib.unified_diff(
        draft.splitlines(), text.splitlines(), "the draft", "the specification", lineterm="", n=2
    )
    return "\n".join(re.sub(r"[\x00-\x08\x0b-\x1f]", "", line) for line in told)
