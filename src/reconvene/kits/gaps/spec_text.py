"""The specification as a text that lives: what must be worked into it, what must come out, and whether it is.

What the texts say is found out elsewhere; here it meets the gaps and decisions. It must not know files.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from reconvene.core.extensions import Objection
from reconvene.kits.gaps.likeness import digest
from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.names_and_figures import marks, words
from reconvene.kits.gaps.records import Book, Decision, Gap, Worked, is_open
from reconvene.kits.gaps.worked_in import (
    LIMITATIONS,
    Need,
    Proof,
    difference,
    invented,
    is_shortened,
    proofs,
    still_held,
    unlisted,
)  # fmt: skip

_LABEL = re.compile(r"^(?:[ABC]: (?:the engineer's way|the reviewer's way|a middle ground)|[ABC]:\s*)", re.IGNORECASE)
_NO_CONTENT = ("have it answered", "hold to the decision", "let the proposal stand")
_DIFF = 60_000  # characters of a difference that are kept


class Texts(NamedTuple):
    """`draft`: as it was given; `now`: as it stands; `said`: what the person said; `final`: this is to be the end."""

    draft: str
    now: str
    said: str = ""
    final: bool = False


class Due(Struct, frozen=True):
    """Something to work in, or to take out."""

    id: str
    title: str
    text: str
    where: str = ""


class SpecCheck(Struct, frozen=True):
    """The last look at the whole text. `ok`: all that was resolved and decided is in it, and nothing else is wrong."""

    ok: bool
    changed: bool  # it is not the draft any more
    map: tuple[Proof, ...]
    missing: tuple[Due, ...]  # resolved or decided, and nowhere in the text
    left_in: tuple[Due, ...]  # open again or dropped, and still in the text
    unlisted: tuple[str, ...]  # not under Known Limitations
    shortened: str
    why: str  # all that is wrong, in a line; "" = nothing
    diff: str
    text: str


def needs_of(book: Book) -> list[Need]:
    """Every resolved gap that was proposed here, and every decision about one that says something of its own."""
    found = []
    for gap in book.gaps.values():
        if gap.state == "resolved" and gap.proposal is not None and (gap.proposal.marks or gap.proposal.words):
            found.append(Need(gap.id, gap.title, gap.proposal.marks, gap.proposal.words))
    solved = {need.id for need in found}
    return found + [need for one in book.decisions if one.gap in solved and (need := _need(one))]


def _need(decision: Decision) -> Need | None:
    ruling = decision.due or decision.obeyed is not None or decision.followed is not None
    said = _LABEL.sub("", decision.decision).strip()
    if not ruling or decision.followed is False or said in _NO_CONTENT:
        return None
    own, stems = marks(said), words(said)
    return Need(decision.id, f"{decision.gap}: {said}", own, stems) if own or len(stems) >= 2 else None


def look(book: Book, texts: Texts) -> None:
    """Notes with each gap and decision where it stands in the text."""
    needs = needs_of(book)
    told = {proof.id: proof for proof in proofs(texts.draft, texts.now, needs)}
    by_id = {need.id: need for need in needs}
    for gap in list(book.gaps.values()):
        if proof := told.get(gap.id):
            need = by_id[gap.id]
            worked = Worked(proof.lines, proof.held or need.marks, need.words) if proof.ok else None
            book.gaps[gap.id] = replace(gap, worked=worked)
        elif gap.worked is not None and not _still(gap, texts, needs):
            book.gaps[gap.id] = replace(gap, worked=None)
    for at, decision in enumerate(book.decisions):
        if proof := told.get(decision.id):
            book.decisions[at] = replace(decision, worked=proof.lines if proof.ok else "")
    book.spec = asdict(_checked(book, texts, list(told.values()))) if texts.final else None
    if texts.final and book.looked and book.looked != digest(texts.now):
        book.looked = ""  # it was another text


def _still(gap: Gap, texts: Texts, needs: list[Need]) -> list[int]:
    if gap.worked is None:
        return []
    return still_held(texts.draft, texts.now, Need(gap.id, gap.title, gap.worked.marks, gap.worked.words), needs)


def to_work_in(book: Book) -> list[Due]:
    due = [
        Due(gap.id, gap.title, gap.proposal.quote, gap.proposal.where)
        for gap in book.gaps.values()
        if gap.state == "resolved" and gap.proposal is not None and gap.worked is None
        and (gap.proposal.marks or gap.proposal.words)
    ]  # fmt: skip
    wanted = {need.id for need in needs_of(book)}
    return due + [Due(one.id, one.title, one.decision) for one in book.decisions if one.id in wanted and not one.worked]


def to_take_out(book: Book) -> list[Due]:
    return [
        Due(gap.id, gap.title, ", ".join(gap.worked.marks[:8]), gap.worked.lines)
        for gap in book.gaps.values()
        if gap.worked is not None and gap.state not in ("resolved", "merged", "split")
    ]


def limitations(book: Book) -> list[str]:
    """Gaps that a reader of the specification must know of."""
    return [gap.id for gap in book.gaps.values() if gap.state in ("accepted", "deferred") or is_open(gap)]


def _checked(book: Book, texts: Texts, told: list[Proof]) -> SpecCheck:
    missing = tuple(one for one in to_work_in(book))
    left_in = tuple(to_take_out(book))
    names = tuple(unlisted(texts.now, limitations(book)))
    shortened = is_shortened(texts.draft, texts.now)
    changed = texts.now.strip() != texts.draft.strip()
    wrong = [f"not worked in: {', '.join(one.id for one in missing)}"] if missing else []
    wrong += [f"still in it: {', '.join(one.id for one in left_in)}"] if left_in else []
    wrong += [f"not under {LIMITATIONS}: {', '.join(names)}"] if names else []
    wrong += [shortened.rstrip(".")] if shortened else []
    diff = difference(texts.draft, texts.now)
    kept = diff if len(diff) <= _DIFF else diff[:_DIFF] + "\n… (the rest is in the file)"
    why = "; ".join(wrong)
    return SpecCheck(not wrong, changed, tuple(told), missing, left_in, names, shortened, why, kept, texts.now)


def wrong_with_spec(book: Book, texts: Texts, before: str) -> Objection | None:
    """What is wrong with a text that somebody worked things into. `before`: as it stood when they began."""
    needs = needs_of(book)
    told = proofs(texts.draft, texts.now, needs)
    missing = [proof for proof in told if not proof.ok]
    if missing and texts.now.strip() == before.strip():
        names = ", ".join(proof.id for proof in missing)
        return Objection("UNCHANGED", f"the specification came back as it was, and {names} must be worked into it.")
    if missing:
        said = "; ".join(_missed(proof) for proof in missing[:8])
        why = f"no changed line holds the names and figures of {said}. Work each in where it belongs, in full."
        return Objection("NOT_WORKED_IN", why)
    if short := is_shortened(texts.draft, texts.now):
        return Objection("SHORTENED", f"{short} Give the whole document, every section of it.")
    gone = [
        (gap, lines)
        for gap in book.gaps.values()
        if gap.state not in ("resolved", "merged", "split") and (lines := _still(gap, texts, needs))
    ]
    if gone:
        names = ", ".join(f"{gap.id} (line {lines[0]})" for gap, lines in gone)
        return Objection(
            "NOT_TAKEN_OUT", f"{names}: not resolved any more, and its rules still stand there. Take them out."
        )
    if made_up := invented(before, texts.now, _sources(book, texts)):
        said = ", ".join(clip(one, 90) for one in made_up[:8])
        return Objection(
            "INVENTED", f"nobody proposed or decided this: {said}. Work in what was approved, and nothing else."
        )
    if texts.final and (left_out := unlisted(texts.now, limitations(book))):
        why = f"under “## {LIMITATIONS}” a line is missing for {', '.join(left_out)}."
        return Objection("LIMITATIONS_MISSING", why)
    return None


def _missed(proof: Proof) -> str:
    marks_ = f" ({', '.join(proof.missing[:6])})" if proof.missing else ""
    return f"{proof.id} “{clip(proof.title, 60)}”{marks_}"


def _sources(book: Book, texts: Texts) -> list[str]:
    """All that somebody said: the draft, proposals, decisions, issues, the gaps themselves, the person's remarks."""
    found = [texts.draft, texts.said]
    for gap in book.gaps.values():
        found += [gap.title, gap.detail, gap.note]
        if gap.proposal is not None:
            found += [
                gap.proposal.quote,
                " ".join(gap.proposal.marks),
                " ".join((*gap.proposal.words, *gap.proposal.earlier)),
            ]
    found += [f"{one.title} {one.decision} {one.rationale}" for one in book.decisions]
    return [*found, *(f"{one.title} {one.text}" for one in book.issues.values())]
