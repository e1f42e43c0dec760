"""What stands beside a checkpoint, in lines: what remarks weigh, what is still open, another round, the stop meter.

Works on the JSON shapes of `app.review`; computes and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from reconvene.doors.cli.text import clean, one_line

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.ledger import Entry

_MOST_METER = 24
_MOST_OPEN = 8
_MOST_CHANGED = 4
_MARKS = {"major": "▲", "minor": "·"}


class RemarkShape(TypedDict, total=False):
    id: str
    kind: str
    text: str
    target: str
    by: str
    was: str
    now: str
    level: str
    reason: str


class RouteShape(TypedDict):
    agent: str
    rule: str
    why: str


class PreviewShape(TypedDict, total=False):
    option: str
    agents: list[RouteShape]
    line: str


class MeterShape(TypedDict, total=False):
    lines: list[str]


class ReviewShape(TypedDict, total=False):
    remarks: list[RemarkShape]
    open: list[RemarkShape]
    preview: PreviewShape
    meter: MeterShape


class Section(NamedTuple):
    title: str
    lines: tuple[str, ...]


def look(engine: Engine, run: str) -> ReviewShape:
    """`app.review.review`, by its shape."""
    from reconvene.app.review import review

    return cast(ReviewShape, review(engine, run))


def sections(review: ReviewShape, run: str, *, brief: bool = False) -> list[Section]:
    """All but the remarks made here: those are shown where they were said. Brief: only what remarks change."""
    here = {remark.get("id") for remark in review.get("remarks", [])}
    earlier = [remark for remark in review.get("open", []) if remark.get("id") not in here]
    found: list[Section] = []
    if earlier and not brief:
        found.append(Section("not answered by anybody yet", (*_some(earlier), f"all of them: reconvene ledger {run}")))
    meter = review.get("meter")
    if meter and not brief:
        lines = [clean(line) for line in meter.get("lines", [])]
        more = len(lines) - _MOST_METER
        cut = [f"  … {more} more lines: reconvene show {run}"] if more > 0 else []
        found.append(Section("would another round change anything?", (*lines[:_MOST_METER], *cut)))
    if preview := review.get("preview"):
        found.append(Section("another round", (preview_line(preview),)))
    return found


def _some(remarks: Sequence[RemarkShape]) -> list[str]:
    lines = [f"{remark['id']} {remark['kind']}: {one_line(remark['text'], 160)}" for remark in remarks[:_MOST_OPEN]]
    more = len(remarks) - _MOST_OPEN
    return [*lines, *([f"… and {more} more"] if more > 0 else [])]


def preview_line(preview: PreviewShape) -> str:
    """`One more round: economist (remit: it speaks of debt), contrarian (always): about 3 min, 8 agent calls`"""
    reasons: dict[str, list[str]] = {}
    for route in preview.get("agents", []):
        reasons.setdefault(because(route), []).append(one_line(route["agent"]))
    who = ", ".join(f"{', '.join(agents)} ({reason})" for reason, agents in reasons.items())
    return f"{one_line(preview.get('option', ''))}: {who}{': ' * bool(who)}{one_line(preview.get('line', ''))}"


def because(route: RouteShape) -> str:
    """Why an agent would run: the rule, and the words that fired it."""
    return route["rule"] if route["rule"] == "always" else one_line(f"{route['rule']}: {route['why']}")


def reasons(review: ReviewShape) -> dict[str, str]:
    """Agent → why it would run again."""
    return {route["agent"]: because(route) for route in review.get("preview", {}).get("agents", [])}


def weighed(remark: RemarkShape) -> str:
    """`▲ FB-002 strategic shift, major: the board's decision …`"""
    weight = weight_of(remark)
    mark = _MARKS.get(remark.get("level", ""), "·")
    return f"{mark} {remark.get('id', '')} {remark.get('kind', '')}{', ' * bool(weight)}{weight}"


def weight_of(remark: RemarkShape) -> str:
    """`major: the board's decision …`"""
    level, reason = remark.get("level") or "", remark.get("reason") or ""
    return f"{level}{': ' * bool(level and reason)}{one_line(reason)}"


def said(kind: str, text: str, target: str = "", was: str = "", now: str = "") -> str:
    """A remark in a line: what it is, for whom, its words, and the values it changes."""
    values = f"   [{one_line(was) or '?'} → {one_line(now) or '?'}]" if was or now else ""
    return f"{kind}{f' to {one_line(target)}' if target else ''}: {one_line(text, 300)}{values}"


def said_in(remark: RemarkShape) -> str:
    return said(
        remark.get("kind", ""),
        remark.get("text", ""),
        remark.get("target", ""),
        remark.get("was", ""),
        remark.get("now", ""),
    )


def todo_lines(rows: Sequence[Mapping[str, object]]) -> list[str]:
    return [f"[{'x' if row.get('done') else ' '}] {one_line(row.get('what', ''))}" for row in rows]


def changed_lines(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """What another round changed, agent by agent; those who say the same together."""
    agents: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        agents.setdefault((row["was"], row["is"]), []).append(one_line(row["agent"]))
    told = list(agents.items())
    lines = ["What changed since the round before:"] if told else []
    for (was, now), names in told[:_MOST_CHANGED]:
        lines += [f"  {', '.join(names)}", *([f"    was: {one_line(was)}"] if was else [])]
        lines += [f"    is:  {one_line(now) or '(no longer said)'}"]
    more = [name for _, names in told[_MOST_CHANGED:] for name in names]
    return [*lines, *([f"  also changed: {', '.join(more)}"] if more else [])]


def became_of(engine: Engine, run: str, command: str) -> list[str]:
    """For the end of a run: what became of each remark; nothing where nobody said anything."""
    from reconvene.app.review import ledger

    entries = list(ledger(engine, run))
    lines = ["What became of what was said:"] if entries else []
    for entry in entries[:_MOST_OPEN]:
        lines += [f"  {'○' if entry.open else '✓'} {entry.id} {entry.kind}: {one_line(entry.text, 160)}", _fate(entry)]
    more = len(entries) - _MOST_OPEN
    return [*lines, *([f"  … and {more} more: {command}"] if more > 0 else [])]


def _fate(entry: Entry) -> str:
    took = [answer.how for answer in entry.standing.values()]
    paths = list(dict.fromkeys(one_line(place.path) for place in entry.reflected))
    agents, tasks = len(entry.delivered.agents), len(entry.delivered)
    parts = [f"delivered to {agents} agent{'s' * (agents != 1)} in {tasks} task{'s' * (tasks != 1)}"]
    parts += [f"{how} by {took.count(how)}" for how in dict.fromkeys(took)]
    parts += [f"reflected in {', '.join(paths[:2])}{f' and {len(paths) - 2} more' * (len(paths) > 2)}"] if paths else []
    return f"    {'; '.join(parts)}"


def never_answered(engine: Engine, run: str, command: str) -> str:
    """For the end of a run: which remarks nobody took up; nothing where there are none."""
    from reconvene.app.review import ledger

    left = ledger(engine, run).open_remarks()
    if not left:
        return ""
    count = "1 remark was" if len(left) == 1 else f"{len(left)} remarks were"
    named = "; ".join(f"{entry.id} {one_line(entry.text, 60)}" for entry in left[:3])
    return f"{count} never answered: {named}{'; …' * (len(left) > 3)}; see: {command}"
