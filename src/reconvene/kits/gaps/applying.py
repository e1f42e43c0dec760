"""What the outputs of a round do to the gaps: the engineer proposes, splits and raises, the reviewer judges and rates.

Verdicts come from the reviewer's words alone: a gap without one stays as it was. It must not know how outputs are
written, nor who converges.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from reconvene.kits.gaps.conflicts import disobeyed
from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_ids import ANY_ID, GAP, Counter, canonical
from reconvene.kits.gaps.gap_states import Ledger, Origin
from reconvene.kits.gaps.markdown import at_lines, clip
from reconvene.kits.gaps.names_and_figures import marks, words
from reconvene.kits.gaps.outputs import OF_ALL, Judged, Proposals, Resolution, Review
from reconvene.kits.gaps.records import Book, Check, Decision, Gap, Issue, Proposal, Reading, is_open
from reconvene.kits.gaps.review_places import About
from reconvene.kits.gaps.verdicts import APPROVALS, strictest
from reconvene.kits.gaps.vocabulary import GRAVE

_GUESSES = 40  # a text full of unknown ids is not worth more guesses at what was meant
_EARLIER = 300  # words and figures of earlier proposals that are kept
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
    where = at_lines(file, resolution.lines)
    said = resolution.solution
    old = gap.proposal
    earlier = tuple(dict.fromkeys((*old.earlier, *old.marks, *old.words)))[-_EARLIER:] if old is not None else ()
    proposal = Proposal(ledger.round, resolution.digest, where, resolution.quote, marks(said), words(said), earlier)
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


def in_force(book: Book, round: int) -> list[Decision]:
    """Decisions that a proposal of this round must follow: rulings, and answers to what the engineer asked."""
    found = []
    for decision in book.decisions:
        gap = book.gaps.get(decision.gap)
        ruling = decision.due or decision.obeyed is not None
        if ruling and gap is not None and is_open(gap) and gap.proposal is not None and gap.proposal.round == round:
            found.append(decision)
    return found


# --- the review ---


def about_gaps(book: Book, round: int) -> About:
    """What a reader of the review should know: every gap, and those that were proposed in this round."""
    under = [gap.id for gap in book.open() if gap.proposal is not None and gap.proposal.round == round]
    return About(tuple((gap.id, gap.title) for gap in book.gaps.values()), tuple(under))


def judge(ledger: Ledger, output: Review) -> list[str]:
    """Takes the review in; gives the ids that were sent back in it."""
    book = ledger.book
    book.verdict = output.overall
    book.checks = [Check(text, done) for text, done in output.checks]
    raise_found(ledger, list(output.new), Origin(REVIEWER, output.file))
    _rate(ledger, output)
    by_gap: dict[str, list[Judged]] = {}
    for judged in output.verdicts:
        gap = ledger.find(judged.gap)
        if gap is None:
            not_known(ledger, judged.gap, "", "its verdict counts for nothing")
        else:
            by_gap.setdefault(gap.id, []).append(judged)
    for one in output.differs:
        said = f"the text says {one.text or 'nothing'}, its JSON block {one.block or 'nothing'}"
        ledger.notice("FORMS_DIFFER", f"{clip(one.what, 60)}: {said}.", "")
    _obeys(ledger, output)
    _contradictions(ledger, output, by_gap)
    sent_back = [name for name, judged in by_gap.items() if _verdict(ledger, book.gaps[name], judged, output.file)]
    if output.overall == "APPROVE" and sent_back:
        names = ", ".join(sent_back)
        ledger.notice("CONTRADICTION", f"The review says APPROVE and sends back {names}: they stay open.")
    _take_issues(ledger, output)
    return sent_back


def _rate(ledger: Ledger, output: Review) -> None:
    """Severities that the reviewer puts right: said to the person, who may have accepted or forced otherwise."""
    for rated in output.rated:
        gap = ledger.find(rated.gap)
        if gap is None:
            not_known(ledger, rated.gap, "", "its severity stays as it is")
        elif is_open(gap) and gap.severity != rated.severity:
            ledger.rate(gap, rated.severity, REVIEWER, rated.why)
            because = f": {rated.why}" if rated.why else ""
            told = f"The reviewer rates {gap.id} {rated.severity}, not {gap.severity}{because}."
            ledger.notice("RATED", told, gap.id)


def _obeys(ledger: Ledger, output: Review) -> None:
    """What the reviewer says of each ruling: one that the proposal does not follow is a conflict again, at once."""
    book = ledger.book
    for said in output.rulings:
        for at, decision in enumerate(book.decisions):
            gap = book.gaps.get(decision.gap)
            if (
                said.id not in (decision.id, decision.issue)
                or decision not in in_force(book, ledger.round)
                or gap is None
            ):
                continue
            book.decisions[at] = replace(decision, followed=said.followed)
            name = decision.issue or decision.id
            if said.followed:
                book.conflicts.pop(name, None)
            else:
                where = at_lines(output.file, str(said.line) if said.line else "")
                book.conflicts[name] = disobeyed(gap, decision, said.why, where, ledger.round)


def _contradictions(ledger: Ledger, output: Review, by_gap: dict[str, list[Judged]]) -> None:
    """An approval beside a new HIGH or CRITICAL issue, or beside a ruling that is not followed, on the same gap: the
    reviewer was asked once. If both stand still, a person says which is meant. No verdict is made up."""
    for gap, why in [*_graves(ledger, output), *_disobeyed(ledger)]:
        judged = by_gap.get(gap, [])
        if judged and all(one.verdict in APPROVALS for one in judged):
            by_gap[gap] = [one._replace(doubt=one.doubt or why) for one in judged]
            ledger.notice("CONTRADICTION", f"{gap} is approved, and {why}: it stays open until you say which.", gap)


def _graves(ledger: Ledger, output: Review) -> list[tuple[str, str]]:
    fresh = f"ISSUE-R{ledger.round}-"
    found = []
    for issue in output.issues:
        gap = ledger.find(issue.gap) if issue.gap and issue.severity in GRAVE and issue.state == "open" else None
        if gap is not None and (not issue.id or issue.id.startswith(fresh)):
            found.append((gap.id, f"a {issue.severity} issue is raised on it"))
    return found


def _disobeyed(ledger: Ledger) -> list[tuple[str, str]]:
    told = "the proposal is said not to follow a ruling"
    return [(one.gap, told) for one in ledger.book.conflicts.values() if one.kind == "disobeyed"]


def approves_all(output: Review) -> bool:
    """Nothing found, the checks listed, APPROVE: the seed's own form, which names no gap and means all of the round."""
    grave = any(issue.severity in GRAVE for issue in output.issues)
    checked = any(done for _, done in output.checks) and all(done for _, done in output.checks)
    own = any(one.quote != OF_ALL for one in output.verdicts)
    return output.overall == "APPROVE" and checked and not (own or output.new or grave)


def _verdict(ledger: Ledger, gap: Gap, judged: list[Judged], file: str) -> bool:
    """One gap's verdict taken in. True when it was sent back. An approval that may be read otherwise is none yet."""
    verdict = strictest([one.verdict for one in judged])
    note = clip(" ".join(dict.fromkeys(one.note for one in judged if one.note)), 600)
    if len({one.verdict in APPROVALS for one in judged}) > 1:
        ledger.notice("TWO_VERDICTS", f"{gap.id} has two verdicts in one review; the stricter one counts.", gap.id)
    doubtful = next((one for one in judged if one.doubt), None)
    if doubtful is not None and is_open(gap) and gap.proposal is not None:
        where = at_lines(file, str(doubtful.line) if doubtful.line else "")
        said = f"{gap.id}: I read it as “{verdict}” ({doubtful.doubt}). {where}: {clip(doubtful.quote, 120)}"
        ledger.book.readings.append(
            Reading(f"READ-{gap.id}", gap.id, said, verdict, doubtful.doubt, where, doubtful.quote, recommended=verdict)
        )
    if verdict not in APPROVALS:
        return _send_back(ledger, gap, verdict, note)
    if doubtful is None:
        _approve(ledger, gap, note)
    return False


def _approve(ledger: Ledger, gap: Gap, note: str) -> None:
    if gap.proposal is None:
        if is_open(gap):
            told = f"{gap.id} was approved without a proposal: it stays open."
            ledger.notice("NOTHING_PROPOSED", told, gap.id)
    elif gap.question and is_open(gap):
        told = f"{gap.id} was approved, but waits for your decision: {gap.question}"
        ledger.notice("NEEDS_DECISION", told, gap.id)
    elif is_open(gap) or (gap.state in ("deferred", "accepted") and gap.proposal.round == ledger.round):
        ledger.move(replace(gap, note=note, question="", rejections=0), "resolved", REVIEWER, note)


def _send_back(ledger: Ledger, gap: Gap, verdict: str, note: str) -> bool:
    if gap.proposal is None or gap.state in ("accepted", "deferred", "merged"):
        return False  # nothing to send back, or a person has spoken
    gap = replace(gap, note=note, rejections=gap.rejections + 1)
    match gap.state:
        case "resolved":
            ledger.move(gap, "open", REVIEWER, f"reopened: {verdict}. {note}")
        case "split":
            ledger.move(gap, "needs revision", REVIEWER, f"reopened: the split was sent back. {note}")
        case _:
            ledger.move(gap, "needs revision", REVIEWER, f"{verdict}. {note}" if note else verdict)
    return True


def _take_issues(ledger: Ledger, output: Review) -> None:
    book, raised = ledger.book, output.issues
    counter = Counter([*book.issues, *(one.id for one in raised)])
    seen: set[str] = set()
    for one in raised:
        if one.state == "resolved":
            known = book.issues.get(one.id)
            if known is not None and known.state in ("open", "answered", "disputed"):
                book.issues[one.id] = replace(
                    known, state="closed", answer=known.answer or "the reviewer says it is settled"
                )
            continue
        name = one.id or counter.next(f"ISSUE-R{ledger.round}")
        gap = ledger.find(one.gap) if one.gap else None
        if one.gap and gap is None:
            not_known(ledger, one.gap, "", f"{name} belongs to no gap")
        if not one.gap and one.severity in GRAVE and name not in book.issues:
            told = f"{name} ({one.severity}) names no gap: it is shown to the engineer, no more."
            ledger.notice("NO_GAP_NAMED", told)
        if name in seen:
            fresh = counter.next(f"ISSUE-R{ledger.round}")
            ledger.notice("DUPLICATE_ISSUE", f"{name} is used twice; the second one is kept as {fresh}.")
            name = fresh
        seen.add(name)
        before = book.issues.get(name)
        if before is not None and before.state in ("decided", "waived", "false alarm"):
            continue  # a person has spoken
        before = before or Issue(name, "", "MEDIUM", "", "", "", 0)
        disputed = before.state == "disputed"  # said again, against a standing answer
        book.issues[name] = Issue(
            id=name,
            state="disputed" if disputed else "open",
            answer=before.answer if disputed else "",
            gap=gap.id if gap else before.gap,
            severity=one.severity or before.severity,
            title=one.title or before.title,
            text=one.text or before.text,
            where=at_lines(output.file, one.lines),
            round=ledger.round,
            digest=gap.proposal.digest if gap and gap.proposal else "",
        )
