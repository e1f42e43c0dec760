"""What a review does to the gaps: verdicts, severities put right, issues, new gaps.

Verdicts come from the reviewer's words alone: a gap without one stays as it was. It must not know how reviews are
written, nor who converges.
"""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.kits.gaps.gap_ids import Counter
from reconvene.kits.gaps.gap_states import Ledger, Origin
from reconvene.kits.gaps.markdown import at_lines, clip
from reconvene.kits.gaps.outputs import Judged, Review
from reconvene.kits.gaps.proposing import REVIEWER, not_known, raise_found
from reconvene.kits.gaps.records import Check, Gap, Issue, is_open
from reconvene.kits.gaps.verdicts import APPROVALS, strictest
from reconvene.kits.gaps.vocabulary import GRAVE


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
    if approves_all(output):
        for gap in list(book.gaps.values()):
            if gap.state == "proposed" and gap.proposal is not None and gap.proposal.round == ledger.round:
                by_gap[gap.id] = [Judged(gap.id, "approved", "", 0)]
    _doubt(ledger, output, by_gap)
    sent_back = [name for name, judged in by_gap.items() if _verdict(ledger, book.gaps[name], judged)]
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


def _doubt(ledger: Ledger, output: Review, by_gap: dict[str, list[Judged]]) -> None:
    """An approval beside a new HIGH or CRITICAL issue on the same gap is none: the issue would be lost with it."""
    fresh = f"ISSUE-R{ledger.round}-"
    for issue in output.issues:
        gap = ledger.find(issue.gap) if issue.gap and issue.severity in GRAVE else None
        if gap is None or gap.id not in by_gap or (issue.id and not issue.id.startswith(fresh)):
            continue
        if all(one.verdict in APPROVALS for one in by_gap[gap.id]):
            by_gap[gap.id] = [Judged(gap.id, "needs revision", issue.title, 0)]
            told = f"{gap.id} is approved, and a {issue.severity} issue is raised on it: it stays open."
            ledger.notice("CONTRADICTION", told, gap.id)


def approves_all(output: Review) -> bool:
    """Nothing found, the checks listed, APPROVE: the seed's own form, which names no gap and means all of the round."""
    grave = any(issue.severity in GRAVE for issue in output.issues)
    checked = any(done for _, done in output.checks) and all(done for _, done in output.checks)
    return output.overall == "APPROVE" and checked and not (output.verdicts or output.new or grave)


def _verdict(ledger: Ledger, gap: Gap, judged: list[Judged]) -> bool:
    """One gap's verdict taken in. True when it was sent back."""
    verdict = strictest([one.verdict for one in judged])
    note = clip(" ".join(dict.fromkeys(one.note for one in judged if one.note)), 600)
    if len({one.verdict in APPROVALS for one in judged}) > 1:
        ledger.notice("TWO_VERDICTS", f"{gap.id} has two verdicts in one review; the stricter one counts.", gap.id)
    if verdict in APPROVALS:
        _approve(ledger, gap, note)
        return False
    return _send_back(ledger, gap, verdict, note)


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
