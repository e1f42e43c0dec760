"""What stands beside a checkpoint, in lines: what remarks weigh, what is open, another round, the talk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.app.views.read_model import LATEST
from reconvene.app.views.who import told as by_whom
from reconvene.doors.shared.harmless import clean, one_line

if TYPE_CHECKING:
    from reconvene.app.views.beside import OpenRemark, Preview, Review, Route
    from reconvene.app.views.ledger import Entry, Ledger
    from reconvene.app.views.read_model import Checkpoint, Remark, Said

_MOST_METER = 24
_MOST_OPEN = 8
_MOST_CHANGED = 4
_LONGEST_SAID = 400  # characters of one entry of the talk; the log has them all
_MARKS = {"major": "▲", "minor": "·"}


class Section(Struct, frozen=True):
    title: str
    lines: tuple[str, ...]


def sections(review: Review, *, ledger: str, whole: str, brief: bool = False) -> list[Section]:
    """All but the remarks made here and comments on files, which are shown elsewhere. Brief: only what remarks change.

    `ledger` and `whole`: where a door shows every remark, and what is cut here."""
    here = {remark.id for remark in review.remarks}
    earlier = [remark for remark in review.open if remark.id not in here and not remark.lines]
    found: list[Section] = []
    if earlier and not brief:
        found.append(Section("still open", (*_some(earlier), f"all of them: {ledger}")))
    if review.meter and not brief:
        lines = [clean(line) for line in review.meter.lines]
        more = len(lines) - _MOST_METER
        cut = [f"  … {more} more lines: {whole}"] if more > 0 else []
        found.append(Section("would another round change anything?", (*lines[:_MOST_METER], *cut)))
    if review.preview:
        found.append(Section("another round", (preview_line(review.preview),)))
    return found


def _some(remarks: Sequence[OpenRemark]) -> list[str]:
    lines = [f"{remark.id} {_state(remark)}: {one_line(remark.text, 160)}" for remark in remarks[:_MOST_OPEN]]
    more = len(remarks) - _MOST_OPEN
    return [*lines, *([f"… and {more} more"] if more > 0 else [])]


def _state(remark: OpenRemark) -> str:
    return f"{remark.kind}, {remark.status}" if remark.status == "claimed" else remark.kind


def preview_line(preview: Preview) -> str:
    """`One more round: economist (remit: it speaks of debt), contrarian (always): about 3 min, 8 agent calls`"""
    reasons: dict[str, list[str]] = {}
    for route in preview.agents:
        reasons.setdefault(because(route), []).append(one_line(route.agent))
    who = ", ".join(f"{', '.join(agents)} ({reason})" for reason, agents in reasons.items())
    return f"{one_line(preview.option)}: {who}{': ' * bool(who)}{one_line(preview.line)}"


def because(route: Route) -> str:
    """Why an agent would run: the rule, and the words that fired it."""
    return route.rule if route.rule == "always" else one_line(f"{route.rule}: {route.why}")


def reasons(review: Review | None) -> dict[str, str]:
    """Agent → why it would run again."""
    return {route.agent: because(route) for route in review.preview.agents} if review and review.preview else {}


def weighed(remark: Remark) -> str:
    """`▲ FB-002 strategic shift, major: the board's decision …`"""
    weight = weight_of(remark)
    mark = _MARKS.get(remark.level, "·")
    return f"{mark} {remark.id} {remark.kind}{', ' * bool(weight)}{weight}"


def weight_of(remark: Remark) -> str:
    """`major: the board's decision …`"""
    return f"{remark.level}{': ' * bool(remark.level and remark.reason)}{one_line(remark.reason)}"


def changed_lines(point: Checkpoint) -> list[str]:
    """What another round changed, agent by agent; those who say the same together."""
    changed = point.changed
    agents: dict[tuple[str, str], list[str]] = {}
    also: dict[tuple[str, str], list[str]] = {}
    because: dict[tuple[str, str], list[str]] = {}
    for one in changed:
        if one.was or one.now:
            because.setdefault((one.was, one.now), []).extend(one.because)
            agents.setdefault((one.was, one.now), []).append(one_line(one.agent))
            also.setdefault((one.was, one.now), []).extend(one.also)
    told = list(agents.items())
    since = "the try you took back" if point.since_try else "the round before"
    lines = [f"What changed since {since}:"] if changed else []
    for (was, now), names in told[:_MOST_CHANGED]:
        caused = ", ".join(dict.fromkeys(because[was, now]))
        lines += [
            f"  {', '.join(names)}" + (f", because of {caused}" if caused else ""),
            *([f"    was: {one_line(was)}"] if was else []),
        ]
        lines += [f"    is:  {one_line(now) or '(no longer said)'}"]
        lines += [f"    also {one_line(part)}" for part in dict.fromkeys(also[was, now])]
    if point.unmoved:
        heard = ", ".join(point.unmoved)
        said = f"  As far as can be seen, nobody changed what they say because of {heard}."
        lines = [*(lines or ["What changed:"]), said]
    more = [name for _, names in told[_MOST_CHANGED:] for name in names]
    more += [f"{one_line(one.agent)} ({', '.join(one.also)})" for one in changed if not one.was and not one.now]
    return [*lines, *([f"  also changed: {one_line(', '.join(more))}"] if more else [])]


def became_of(ledger: Ledger, command: str) -> list[str]:
    """For the end of a run: what became of each remark; nothing where nobody said anything."""
    lines = ["What became of what was said:"] if ledger.entries else []
    for entry in ledger.entries[:_MOST_OPEN]:
        lines += [f"  {'○' if entry.open else '✓'} {entry.id} {entry.kind}: {one_line(entry.text, 160)}", _fate(entry)]
    more = len(ledger) - _MOST_OPEN
    return [*lines, *([f"  … and {more} more: {command}"] if more > 0 else [])]


def _fate(entry: Entry) -> str:
    from reconvene.app.views.remark_lives import fate

    agents, tasks = len(entry.delivered.agents), entry.delivered.tasks
    to = f"delivered to {agents} agent{'s' * (agents != 1)} in {tasks} task{'s' * (tasks != 1)}"
    if entry.status in ("captured", "delivered"):
        return f"    {to}"
    return f"    {to}; {entry.status} {one_line(fate(entry))}".rstrip()


def never_answered(ledger: Ledger, command: str) -> str:
    """For the end of a run: which remarks are still open; nothing where there are none."""
    left = ledger.open_remarks()
    if not left:
        return ""
    count = "1 remark is" if len(left) == 1 else f"{len(left)} remarks are"
    named = "; ".join(f"{entry.id} {one_line(entry.text, 60)}" for entry in left[:3])
    return f"{count} still open: {named}{'; …' * (len(left) > 3)}; see: {command}"


# --- the talk between agents and the person ---


def talk_line(row: Said) -> str:
    """`ann: question 2 makes no sense`, `brainstormer presented: 4 items`, `ann chose “Discuss”`"""
    text = one_line("; ".join(row.text.split("\n")) if row.kind == "answer" else row.text, _LONGEST_SAID)
    who = one_line(by_whom(row.who, row.user) or "the person")
    match row.kind:
        case "remark":
            return f"{who}: {text} [{row.id}]"
        case "output":
            return f"{who} presented: {text}"
        case "answer" if who == "reconvene":
            return f"set aside: {text}"
        case "answer":
            return f"{who} answered: {text}"
        case "decision":
            return f"{who} chose “{text}”" + (f" ({from_where(row.source)})" if row.source else "")
    return f"{who} {text}"


def from_where(source: str) -> str:
    """What decided instead of somebody who saw it: `from a file, answers.yaml:3`."""
    return f"with {source}" if source == LATEST else f"from a file, {one_line(source)}"


def talk_lines(rows: Sequence[Said]) -> list[str]:
    """The talk in lines. That somebody who spoke then chose to discuss goes without saying."""

    def told(row: Said, before: Said | None) -> bool:
        same = before and (row.who, row.round) == (before.who, before.round)
        return bool(row.source) or not (same and before and (before.kind, row.kind) == ("remark", "decision"))

    return [talk_line(row) for row, before in zip(rows, [None, *rows]) if told(row, before)]


def talk_before(rows: Sequence[Said]) -> Sequence[Said]:
    """What was said before what is presented now: that is shown anyway, and what was said about it beside it."""
    last = max((at for at, row in enumerate(rows) if row.kind == "output"), default=0)
    return rows[:last]
