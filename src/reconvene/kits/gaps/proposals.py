"""The engineer's output: solutions per gap, new gaps, splits, answers to issues. Knows not which gaps there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.found import Found, id_first, with_blocker
from reconvene.kits.gaps.gap_ids import GAP, ISSUE, gaps_in, issue_named, issues_in
from reconvene.kits.gaps.json_outputs import as_json, proposals_of
from reconvene.kits.gaps.likeness import digest
from reconvene.kits.gaps.lists import listed_below
from reconvene.kits.gaps.outputs import EMPTY, PARSED, Answer, Proposals, Resolution, answer_of, first_of
from reconvene.kits.gaps.records import TEXT, TITLE

_RESOLUTION = re.compile(
    r"(?:gap )?(?:resolutions?|proposals?|solutions?|fix)(?: (?:for|of|to))?\s*[:—–-]\s*|resolving ", re.IGNORECASE
)
_NEW = re.compile(r"(?:new|further|additional) gaps?\b", re.IGNORECASE)
_SPLIT = re.compile(r"(?:proposed )?(?:split(?: into\b.*)?|sub-?gaps?)[: ]*$", re.IGNORECASE)
_RESPONSE = re.compile(r"(?:response|reply|answer|re)\b[^\w]*(?:to\b)?[^\w]*", re.IGNORECASE)
_KEYS = {
    "gap", "confidence", "status", "resolution status", "blocked by", "blocked on", "waiting for", "waits for",
    "depends on", "needs decision", "user decision needed", "decision needed", "question", "reviewer concern",
    "concern", "engineer position", "position", "rationale", "reason", "alternative view", "alternative",
    "middle ground", "request", "new gaps introduced", "new gaps", "split into", "split", "proposed solution",
    "solution", "examples", "trade-offs",
}  # fmt: skip


@lru_cache(maxsize=PARSED)
def proposals_in(text: str, round: int) -> Proposals:
    """Read once: a round asks up to six times, for the gates, after each step and at its close."""
    if isinstance(value := as_json(text), Mapping):
        return proposals_of(value, text, round)
    lines = md.read(text)
    parts = md.sections(lines)
    said = md.prose(lines)
    listing = [part for part in parts if _NEW.match(part.title)]
    lists = [(part.start, part.end) for part in listing]
    found = list(_resolutions(parts, lists))
    inside = md.within([(part.start + 1, part.end) for part, _ in found], [part.start for part in listing])
    loose = [part for part in listing if part.start not in inside]
    return Proposals(
        tuple(resolution for _, resolution in found),
        tuple(_answers(parts, round)),
        tuple(new for part in loose for new in listed_below(part.lines)),
        tuple(_closing_table(lines, lists)),
        frozenset(issues_in(said, round - 1)),
        said,
    )


def _resolutions(parts: list[md.Section], lists: list[tuple[int, int]]) -> Iterator[tuple[md.Section, Resolution]]:
    heads = list(_solutions(parts, lists))
    for (part, names, title), following in zip(heads, [*heads[1:], None]):
        ends = min(part.end, following[0].start - 1) if following else part.end
        cut = md.trimmed(part._replace(end=ends, lines=part.lines[: ends - part.start]))
        for name in names:
            yield cut, _resolution(cut, name, title)


def _solutions(parts: list[md.Section], lists: list[tuple[int, int]]) -> Iterator[tuple[md.Section, list[str], str]]:
    """Sections that deal with a gap. Inside one, only a heading that says "Gap Resolution" begins another."""
    last = 0
    listed = md.within(lists, [part.start for part in parts])
    for part in parts:
        if part.start in listed:
            continue
        marked = _RESOLUTION.match(part.title)
        name, title = id_first(part.title[marked.end() :] if marked else part.title)
        if not marked and (part.start <= last or not GAP.match(name)):  # "UTF-8: why" is no id of a gap
            continue
        last = max(last, part.end)
        several = marked and title.startswith(("and ", ", ", "& "))
        yield (part, [name, *gaps_in(title)], "") if several else (part, [name], title)


def _resolution(part: md.Section, name: str, title: str) -> Resolution:
    inner = md.sections(list(part.lines))
    known = fields(part.lines)
    new = [one for below in inner if _NEW.match(below.title) for one in listed_below(below.lines)]
    if not new and (said := first_of(known, "new gaps introduced", "new gaps")):
        new = listed_below(md.read(said))
    split = [one for below in inner if _SPLIT.match(below.title) for one in listed_below(below.lines)]
    if not split and (said := first_of(known, "split into", "split")):
        split = _split_inline(said)
    blocker = first_of(known, "blocked by", "blocked on", "waiting for", "waits for")
    blocked = Found("", "") if EMPTY.match(blocker) else with_blocker(Found("", ""), blocker)
    question = first_of(known, "user decision needed", "decision needed", "needs decision")
    if not question and (status := first_of(known, "status", "resolution status")):
        question = status if re.search(r"blocked|waiting", status, re.IGNORECASE) else ""
    solution = next((below for below in inner if below.title.lower().startswith("proposed")), None)
    return Resolution(
        name,
        md.clip(title or known.get("gap", ""), TITLE),
        part.filled,
        digest("\n".join(line.text for line in part.lines)),
        md.clip(md.bare(md.prose(solution.lines if solution else part.lines)), TEXT),
        "".join(re.findall(r"^\W*(\w{1,20})", md.bare(known.get("confidence", "")).upper())),
        blocked.question or ("" if EMPTY.match(question) else md.clip(question, TITLE)),
        blocked.blocked_by,
        tuple(new),
        tuple(split),
        md.prose(part.lines),
        md.prose(solution.lines if solution else _rules(part, inner)),
    )


def _rules(part: md.Section, inner: list[md.Section]) -> list[md.Line]:
    """A section without the parts that are no rules: examples, trade-offs, new gaps, and its fields."""
    aside = [one for one in inner if re.match(r"examples?|trade|new gaps|split|pros|cons", one.title, re.IGNORECASE)]
    skip = md.within([(one.start, one.end) for one in aside], [line.number for line in part.lines])
    return [line for line in part.lines if line.number not in skip and not md.field(line.text)]


def _split_inline(said: str) -> list[Found]:
    listed = listed_below(md.read(said))
    ids = gaps_in(said)
    return [Found(name, "") for name in ids] if len(ids) > len(listed) else listed


def fields(lines: Iterable[md.Line]) -> dict[str, str]:
    """`**Key:** value` and `### Key` of a section, values running on to the next key; examples left out."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in lines:
        if line.code:
            continue
        head = md.heading(line)
        pair = md.field(line.text)
        if head:
            key = head[1].lower().strip(": ")
            current = key if key in _KEYS and key not in found else "\0"
        elif pair and pair[0] in _KEYS and pair[0] not in found:
            current = pair[0]
            found[current] = [pair[1].removeprefix("**").strip()]
            continue
        elif pair and line.text.lstrip().startswith("**"):
            current = "\0"  # a field that is none of ours ends the one before
        if not head and current and current != "\0" and line.text.strip().strip("-"):
            found.setdefault(current, []).append(line.text)
    return {key: "\n".join(part for part in said if part).strip() for key, said in found.items()}


def _answers(parts: Sequence[md.Section], round: int) -> Iterator[Answer]:
    for part in parts:
        lead = _RESPONSE.match(part.title)
        match = ISSUE.match(part.title, lead.end() if lead else 0) or ISSUE.match(part.title)
        if match:
            said = md.trimmed(part)
            issue = issue_named(match, round - 1)
            yield answer_of(issue, fields(said.lines), md.prose(said.lines), said.filled)


def _closing_table(lines: list[md.Line], lists: list[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    told = list(md.rows(lines))
    listed = md.within(lists, [row.line for row in told])
    for row in told:
        column = next((key for key in row.cells if "new" in key and "gap" in key), "")
        owner, _ = id_first(md.bare(row.first))
        if column and owner and row.line not in listed:
            for name in gaps_in(row.cells[column]):
                yield owner, name
