"""What the engineer's output does to the gaps: it proposes, splits, raises new ones and takes up decisions.

It must not know how outputs are written, nor who converges.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_ids import ANY_ID, GAP, canonical
from reconvene.kits.gaps.gap_states import Ledger, Origin
from reconvene.kits.gaps.markdown import at_lines, clip
from reconvene.kits.gaps.outputs import Proposals, Resolution
from reconvene.kits.gaps.records import Book, Decision, Gap, Proposal, is_open

_GUESSES = 40  # a text full of unknown ids is not worth more guesses at what was meant
ENGINEER = "engineer"
REVIEWER = "reviewer"
_RULED = re.compile(
    r"\b(?:decision|decided|ruling|ruled|option [a-c]|as (?:the )?(?:user|person|owner))", re.IGNORECASE
)


def propose(ledger: Ledger, output: Proposals) -> list[str]:
    """Takes the proposals in; gives the ids whose criticised section came back unchanged."""
    file = output.file
    for resolution in output.resolutions:
        source = _meant(ledger, resolution)
        origin = Origin(ENGINEER, file, source=source.id if source else "")
        raise_found(ledger, list(resolution.new), origin)
    raise_found(ledger, list(output.new), Origin(ENGINEER, file))
    for owner, name in output.named_new:
        source = ledger.find(owner)
        if ledger.find(name) is None:
            ledger.raise_one(Found(name, ""), Origin(ENGINEER, file, source=source.id if source else ""))
    unchanged = []
    seen: set[str] = set()
    criticised = {issue.gap for issue in ledger.book.issues.values() if issue.state in ("open", "disputed")}
    for resolution in output.resolutions:
        gap = _meant(ledger, resolution)
        if gap is None:
            not_known(ledger, resolution.gap or resolution.title, resolution.title, "its section counts for nothing")
        elif gap.id in seen:
            ledger.notice("DUPLICATE_GAP", f"{gap.id} has two sections; the first one counts.", gap.id)
        else:
            seen.add(gap.id)
            unchanged += [gap.id] if _solve(ledger, gap, resolution, file, gap.id in criticised) else []
    _obeyed(ledger, output)
    return unchanged


def raise_found(ledger: Ledger, found: list[Found], origin: Origin) -> None:
    """Parts of an existing gap split it, wherever they are listed."""
    parts: dict[str, list[Found]] = {}
    for one in found:
        parent = ledger.find(one.parent) if one.parent else None
        if parent is not None and is_open(parent):
            parts.setdefault(parent.id, []).append(one)
    for name, children in parts.items():
        ledger.split(ledger.book.gaps[name], children, origin)
    taken = {one for children in parts.values() for one in children}
    ledger.raise_all([one for one in found if one not in taken], origin)


def _meant(ledger: Ledger, resolution: Resolution) -> Gap | None:
    return ledger.find(resolution.gap) if resolution.gap else ledger.titled(resolution.title)


def not_known(ledger: Ledger, name: str, title: str, so: str) -> None:
    told = sum(one.code == "UNKNOWN_GAP" for one in ledger.book.errors)
    near = ledger.unknown(name, title) if told < _GUESSES else ""
    if not near and ANY_ID.fullmatch(name) and not GAP.match(name):
        return  # "SHA-256 - APPROVED" judges something else
    meant = f"; {near} was probably meant" if near else ""
    ledger.notice("UNKNOWN_GAP", f"{clip(name, 60)} is not a known gap{meant}: {so}.", near)


def _solve(ledger: Ledger, gap: Gap, resolution: Resolution, file: str, criticised: bool) -> bool:
    """One solution taken in. True when the section was criticised (by an issue, or sent back) and is as it was."""
    proposal = Proposal(ledger.round, resolution.digest, at_lines(file, resolution.lines), resolution.quote)
    criticised = criticised or gap.state == "needs revision"
    same = gap.proposal is not None and gap.proposal.digest == proposal.digest and gap.proposal.round < ledger.round
    gap = replace(
        gap,
        proposal=proposal,
        confidence=resolution.confidence or gap.confidence,
        blocked_by=resolution.blocked_by or gap.blocked_by,
        question=resolution.question,
    )
    ledger.put(gap)
    if not is_open(gap):
        return False
    if resolution.parts and ledger.split(gap, list(resolution.parts), Origin(ENGINEER, file)):
        return False
    if resolution.question:
        ledger.move(gap, gap.state, ENGINEER, f"waits for a person: {resolution.question}")
        return False
    ledger.move(gap, "proposed", ENGINEER, "the section is unchanged" if same else "")
    return criticised and same


def taken_up(output: Proposals) -> Callable[[Decision], bool]:
    """Whether the output takes a decision up: it names the issue, or speaks of a decision where it deals with the gap.
    To dispute it is neither. What is asked of the output is found out once, for all decisions."""
    disputed = {answer.issue for answer in output.answers if answer.position == "DISAGREE"}
    solved = {canonical(one.gap) for one in output.resolutions if _RULED.search(one.body)}
    ruled = [line.upper() for line in output.said.split("\n") if _RULED.search(line)]

    def is_taken_up(decision: Decision) -> bool:
        if decision.issue in disputed:
            return decision.decision.startswith(("A:", "have it answered"))
        if decision.issue and decision.issue in output.issues:
            return True
        if re.search(rf"(?<![\w-]){re.escape(decision.id)}(?!\d)", output.said, re.IGNORECASE):
            return True
        if not decision.gap:
            return not decision.issue
        return canonical(decision.gap) in solved or any(decision.gap in line for line in ruled)

    return is_taken_up


def _obeyed(ledger: Ledger, output: Proposals) -> None:
    due = [(at, decision) for at, decision in enumerate(ledger.book.decisions) if decision.due]
    is_taken_up = taken_up(output)
    for at, decision in due:
        done = is_taken_up(decision)
        ledger.book.decisions[at] = replace(decision, due=not done, obeyed=done)
        if not done:
            told = f"The decision on {decision.issue or decision.gap} was not taken up."
            ledger.notice("DECISION_IGNORED", told, decision.gap)


def release(book: Book) -> None:
    """A decision about a gap that has been settled since need not be taken up any more."""
    for at, decision in enumerate(book.decisions):
        gap = book.gaps.get(decision.gap)
        if decision.due and gap is not None and not is_open(gap) and not gap.into:
            book.decisions[at] = replace(decision, due=False)
