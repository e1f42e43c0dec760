"""A review in two forms, Markdown and a JSON block at its end: held together, and where the two differ.

The Markdown is what people read, so its reading stands; where the block says otherwise, nothing is certain. It must not
know how either is read.
"""

from __future__ import annotations

from reconvene.kits.gaps.gap_ids import canonical
from reconvene.kits.gaps.outputs import OF_ALL, Differs, Judged, Raised, Review
from reconvene.kits.gaps.verdicts import APPROVALS, strictest


def held_together(read: Review, block: Review, text: str, *, lists_gaps: bool) -> Review:
    """`lists_gaps`: the block has a list of new gaps, be it an empty one."""
    differs: list[Differs] = []
    verdicts = _verdicts(read, block, differs)
    issues = _issues(read, block, differs)
    known = {canonical(one.id) for one in read.new if one.id}
    titles = {one.title.casefold() for one in read.new}
    more = [
        one for one in block.new if (canonical(one.id) not in known if one.id else one.title.casefold() not in titles)
    ]
    differs += [
        Differs(one.id or one.title, "", "a new gap") for one in more if one.id and one.id not in text.split("```")[0]
    ]
    if lists_gaps:
        told = {canonical(one.id) for one in block.new}
        differs += [Differs(one.id, "a new gap", "") for one in read.new if one.id and canonical(one.id) not in told]
    checks = read.checks or block.checks
    overall = read.overall if read.overall != "NONE" else block.overall
    if block.overall not in ("NONE", overall):
        differs.append(Differs("overall", read.overall, block.overall))
        overall = "REVISE"
    asked = {one.id for one in read.rulings}
    rulings = (*read.rulings, *(one for one in block.rulings if one.id not in asked))
    return read._replace(
        verdicts=tuple(verdicts), issues=tuple(issues), new=(*read.new, *more), checks=checks, overall=overall,
        rulings=rulings, differs=tuple(differs), rated=read.rated or block.rated,
    )  # fmt: skip


def _verdicts(read: Review, block: Review, differs: list[Differs]) -> list[Judged]:
    said = {canonical(one.gap): one for one in block.verdicts}
    made = []
    mine: dict[str, list[Judged]] = {}
    for one in read.verdicts:
        if one.quote == OF_ALL and canonical(one.gap) in said:
            continue  # said of all at once: the block is more particular
        mine.setdefault(canonical(one.gap), []).append(one)
    for key, judged in mine.items():
        other = said.get(key)
        verdict = strictest([one.verdict for one in judged])
        if other is None:
            made += judged
        elif (verdict in APPROVALS) == (other.verdict in APPROVALS):
            certain = all(one.line == 0 or one.doubt for one in judged) and not any(
                one.verdict not in APPROVALS for one in judged
            )
            made += [one._replace(doubt="") for one in judged] if certain or verdict == other.verdict else judged
            if "rejected" in (verdict, other.verdict) and verdict != other.verdict:
                differs.append(Differs(judged[0].gap, verdict, other.verdict))
        else:
            differs.append(Differs(judged[0].gap, verdict, other.verdict))
            told = f"the text says {verdict}, its JSON block {other.verdict}"
            made += [one._replace(doubt=told) for one in judged]
    return made + [one for key, one in said.items() if key not in mine]


def _issues(read: Review, block: Review, differs: list[Differs]) -> list[Raised]:
    said = {one.id: one for one in block.issues if one.id}
    made = []
    for one in read.issues:
        other = said.get(one.id) if one.id else None
        if other is not None:
            if one.severity and other.severity and one.severity != other.severity:
                differs.append(Differs(one.id, f"severity {one.severity}", f"severity {other.severity}"))
            if one.state != other.state:
                differs.append(Differs(one.id, one.state, other.state))
            one = one._replace(severity=one.severity or other.severity, gap=one.gap or other.gap)
        made.append(one)
    mine = {one.id for one in read.issues if one.id}
    more = [one for one in block.issues if one.id not in mine] if mine or not read.issues else []
    if read.issues and not mine:
        more = []
    differs += [Differs(one.id, "", f"an issue ({one.state})") for one in more if one.id and mine]
    if said:
        differs += [
            Differs(one.id, f"an issue ({one.state})", "") for one in read.issues if one.id and one.id not in said
        ]
    return made + more
