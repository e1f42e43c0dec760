"""What the log says of a run in facts and figures: phase, progress, cost, tools, changes, trouble. Asks no model."""

from __future__ import annotations

from collections import Counter

from reconvene.app import record as on_record
from reconvene.app.line_diff import diff_summary, unified_diff
from reconvene.companion.recognised import Question
from reconvene.companion.run_record import PhaseAt, RunRecord, Trouble
from reconvene.companion.told import Told, event, short
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.language.counting import counted

_MOST_LINES = 40  # of a diff
_MOST_ROWS = 20
_ENDED = ("completed", "failed", "aborted")
_PUT = {"waiting": "waits", "running": "is at work", "paused": "is paused", "queued": "waits in the queue"}


def phase(record: RunRecord, question: Question) -> Told:
    shown = record.shown
    at = record.phases[-1] if record.phases else None
    facts: dict[str, object] = {"status": shown.status, "phase": shown.phase, "round": shown.round}
    if at is None:
        return Told(f"It has entered no phase yet; it {_stands(record)}.", facts)
    facts |= {"number": at.number, "title": at.title}
    if shown.status in _ENDED:
        ended = record.last(e.RunEnded)
        return Told(
            f"It is in none any more: the run {_ended(shown.status)}{event(ended)}. The last one was {at.named}."
            f"{event(at.first)}",
            facts,
        )
    lines = [f"It is in {at.named}, round {shown.round or 1}{event(record.last(e.RoundStarted, e.PhaseEntered))}."]
    lines += [f"It {_stands(record)}{event(_where_it_stands(record))}."]
    return Told("\n".join(lines), facts)


def _stands(record: RunRecord) -> str:
    shown = record.shown
    if shown.checkpoint is not None:
        asked = shown.checkpoint.question or shown.checkpoint.prompt
        return f"waits for a person: {short(asked, 200)}"
    if shown.provider is not None:
        return f"waits for {shown.provider.model}: {short(shown.provider.why, 200)}"
    if shown.status in _ENDED:
        return _ended(shown.status)
    nobody = ", but no process is at work on it" if shown.status == "running" and shown.driven is False else ""
    return f"{_PUT.get(shown.status, f'is {shown.status}')}{nobody}"


def _ended(status: str) -> str:
    return {"completed": "is complete", "failed": "failed", "aborted": "was aborted"}.get(status, f"is {status}")


def _where_it_stands(record: RunRecord) -> int:
    if record.shown.checkpoint is not None:
        return record.last(e.CheckpointOpened)
    return record.last(e.RunEnded, e.ProviderAwaited, e.Paused, e.StepStarted, e.RoundStarted)


def progress(record: RunRecord, question: Question) -> Told:
    shown = record.shown
    items = on_record.todo_list(record.scope.engine, record.run)
    done = sum(one.done for one in shown.todo)
    lines = [f"{record.run} {_stands(record)}{event(_where_it_stands(record))}."]
    if record.phases:
        at = record.phases[-1]
        ended = shown.status in _ENDED
        is_in = f"Its last phase was {at.named}" if ended else f"It is in {at.named}, round {shown.round or 1}"
        lines.append(f"{is_in}{event(at.first)}.")
    lines += [f"- [{'x' if one.done else ' '}] {short(one.what)}" for one in shown.todo]
    lines += _todo_lines(items, shown.status in _ENDED)
    for task in shown.tasks:
        lines.append(f"- {task.agent}: {task.status}, attempt {task.attempt}")
    made = f"{counted(shown.usage.calls, 'agent call')} in {counted(shown.usage.rounds, 'round')}"
    lines.append(f"{made}.")
    facts: dict[str, object] = {
        "status": shown.status,
        "phase": shown.phase,
        "round": shown.round,
        "steps_done": done,
        "steps": len(shown.todo),
        "items_done": sum(one.done > 0 for one in items),
        "items_under_way": [one.key for one in items if one.begun and not one.done],
        "items_open": [one.key for one in items if not one.begun],
        "items": len(items),
        "calls": shown.usage.calls,
        "rounds": shown.usage.rounds,
    }
    return Told("\n".join(lines), facts)


def _todo_lines(items: list[on_record.Listed], ended: bool) -> list[str]:
    if not items:
        return []
    begun = "begun, not done" if ended else "under way"
    rows = [
        f"- {'done' if one.done else begun if one.begun else 'open'}: {one.key}, {short(one.title, 200)}"
        f"{event(one.done or one.begun)}"
        for one in sorted(items, key=lambda one: bool(one.done))
    ]
    lines = [f"To-dos: {sum(one.done > 0 for one in items)} of {len(items)} done.", *rows[:_MOST_ROWS]]
    return [*lines, f"… and {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else lines


def cost(record: RunRecord, question: Question) -> Told:
    state = record.scope.engine.load(record.run)
    used, own = record.shown.usage, state.record.companion
    last = record.last(e.AttemptEnded, e.ModelTurned, e.LateOutputArchived)
    total = used.input_tokens + used.output_tokens
    parts = f"{used.input_tokens:,} in, {used.output_tokens:,} out"
    lines = [f"{total:,} tokens: {parts}, in {counted(used.calls, 'agent call')}{event(last)}."]
    unpriced = sum(one.unpriced for one in state.record.spent.values())
    known = f"${used.cost:.4f}" if used.cost else "nothing that is known"
    more = f"; of {counted(unpriced, 'request')} the price is not known" if unpriced else ""
    lines.append(f"That cost {known}{more}.")
    for agent, spent in sorted(state.record.spent.items()):
        lines.append(f"- {agent}: {counted(spent.calls, 'request')}, ${spent.cost:.4f}")
    if talk := own.input_tokens + own.output_tokens:
        last = record.last(e.CompanionSaid)
        lines.append(f"This conversation took {talk:,} tokens beside that, ${own.cost:.4f}{event(last)}.")
    facts: dict[str, object] = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost": used.cost,
        "calls": used.calls,
        "unpriced": unpriced,
        "companion_tokens": own.input_tokens + own.output_tokens,
        "companion_cost": round(own.cost, 6),
    }
    return Told("\n".join(lines), facts)


def tools(record: RunRecord, question: Question) -> Told:
    made: Counter[tuple[str, str]] = Counter()
    outcomes: dict[tuple[str, str], Counter[str]] = {}
    seen: dict[tuple[str, str], int] = {}
    for seq, one in record.events:
        if isinstance(one, e.CallEnded):
            key = (parse_task(one.task)[2], one.tool)
            made[key] += 1
            outcomes.setdefault(key, Counter())[one.outcome] += 1
            seen[key] = seq
    if not made:
        return Told("No agent has used a tool.", {"calls": 0, "tools": {}})
    different = len({tool for _, tool in made})
    lines = [f"{counted(made.total(), 'call')} of {counted(different, 'tool')}:"]
    for (agent, tool), number in sorted(made.items(), key=lambda row: (row[0][0], -row[1], row[0][1])):
        other = {name: times for name, times in outcomes[agent, tool].items() if name != "done"}
        told = f" ({', '.join(f'{times} {name}' for name, times in sorted(other.items()))})" if other else ""
        times = "once" if number == 1 else f"{number} times"
        lines.append(f"- {agent}: {tool}, {times}{told}{event(seen[agent, tool])}")
    by_tool: Counter[str] = Counter()
    for (_, tool), number in made.items():
        by_tool[tool] += number
    return Told("\n".join(lines), {"calls": made.total(), "tools": dict(sorted(by_tool.items()))})


def changes(record: RunRecord, question: Question) -> Told:
    found = record.phases
    if not found:
        return Told("The run has entered no phase yet, so nothing has changed.", {"files": []})
    numbers = question.numbers or ((len(found) - 1, len(found)) if len(found) > 1 else (1,))
    if missing := [number for number in numbers if not 1 <= number <= len(found)]:
        there = "; ".join(one.named for one in found[:_MOST_ROWS])
        return Told(f"The run has not come to phase {missing[0]}. It went through {there}.", {"files": []})
    new = found[max(numbers) - 1]
    old = found[min(numbers) - 1] if len(numbers) > 1 else None
    return _difference(record, old, new)


def _difference(record: RunRecord, old: PhaseAt | None, new: PhaseAt) -> Told:
    before = old.files if old else {}
    rows, shown = [], list[str]()
    for path in sorted({*before, *new.files}):
        if before.get(path) == new.files.get(path):
            continue
        diff = unified_diff(path, _bytes(record, before.get(path)), _bytes(record, new.files.get(path)))
        rows.append({"path": path, "change": diff_summary(diff), "is_new": path not in before})
        shown += diff.split("\n")[:-1]
    start = f"From the end of {old.named}{event(old.last)} to" if old else "From the beginning to"
    where = "now: it is not closed" if not new.last else f"the end of {new.named}"
    head = f"{start} {where}{event(new.last or new.first)}, {counted(len(rows), 'file')} changed."
    lines = [head, *(f"- {row['path']}: {row['change']}{' (new)' * bool(row['is_new'])}" for row in rows)]
    if shown:
        rest = [f"… {len(shown) - _MOST_LINES} more lines"] if len(shown) > _MOST_LINES else []
        lines += ["```diff", *shown[:_MOST_LINES], *rest, "```"]
    between = (old.last if old else 0, new.last)
    facts: dict[str, object] = {"files": rows, "from_event": between[0], "to_event": between[1]}
    return Told("\n".join(lines), facts)


def graph(record: RunRecord, question: Question) -> Told:
    """The recorded calls that write to graphs; where the run has no graph, the files."""
    made = on_record.graph_changes(record.scope.engine, record.run)
    facts: dict[str, object] = {"graph_changes": [one.seq for one in made]}
    if not made:
        if on_record.graph_sources(record.scope.engine, record.run):
            return Told("No agent has changed a graph.", facts)
        files = changes(record, question)
        return Told(f"The run has no graph. Of its files:\n{files.text}", facts | files.facts)
    done = [one for one in made if one.outcome == "done"]
    not_made = f", and {len(made) - len(done)} that did not come about" if len(done) < len(made) else ""
    lines = [f"{counted(len(done), 'change')} of graphs{not_made}:"]
    for one in made[-_MOST_ROWS:]:
        figures = ", ".join(f"{key.replace('_', ' ')}: {number}" for key, number in one.counts.items())
        result = figures or short(one.result, 120)
        todo = f", for {one.todo!r}" if one.todo else ""
        lines.append(
            f"- {one.agent} in {one.source}{todo}, {one.outcome}: {short(one.statement)} ({result}){event(one.seq)}"
        )
    if len(made) > _MOST_ROWS:
        lines.append(f"… and {len(made) - _MOST_ROWS} before them")
    return Told("\n".join(lines), facts)


def _bytes(record: RunRecord, digest: str | None) -> bytes | None:
    return record.read(digest) if digest else None


def failure(record: RunRecord, question: Question) -> Told:
    shown = record.shown
    ended = record.last(e.RunEnded)
    facts: dict[str, object] = {"status": shown.status, "why": shown.why, "events": _numbers(record.trouble)}
    if shown.status in ("failed", "aborted"):
        why = f": {short(shown.why)}" if shown.why else ""
        before = [one for one in record.trouble if one.event < ended]
        lines = [f"The run {_ended(shown.status)}{why}{event(ended)}."]
        lines += ["Before that:", *_rows(before)] if before else ["Nothing else went wrong before that."]
        return Told("\n".join([*lines, *_said(record)]), facts)
    lines = [f"It has not failed: it {_stands(record)}{event(_where_it_stands(record))}."]
    lines += ["What did not go as it should:", *_rows(record.trouble)] if record.trouble else []
    return Told("\n".join(lines), facts)


def trouble(record: RunRecord, question: Question) -> Told:
    found, facts = record.trouble, {"events": _numbers(record.trouble)}
    if not found:
        told = f"Nothing went wrong that the record tells of; {record.run} {_stands(record)}."
        said = _said(record)
        return Told("\n".join([told, *said]), dict(facts))
    lines = [f"It first went wrong at event {found[0].event}:", *_rows(found), *_said(record)]
    return Told("\n".join(lines), dict(facts))


def _said(record: RunRecord) -> list[str]:
    """What people corrected, which is trouble that no rule finds."""
    rows = [
        f"- {one.id} by {one.by or 'a person'}: {short(one.text, 200)}{event(seq)}"
        for seq, one in record.events
        if isinstance(one, e.RemarkAdded) and not one.diff
    ]
    return ["What people said about it:", *rows[-_MOST_ROWS:]] if rows else []


def _rows(found: list[Trouble]) -> list[str]:
    rows = [f"- {f'{one.who}: ' if one.who else ''}{one.what}{event(one.event)}" for one in found[:_MOST_ROWS]]
    return [*rows, f"… and {len(found) - _MOST_ROWS} more"] if len(found) > _MOST_ROWS else rows


def _numbers(found: list[Trouble]) -> list[int]:
    return [one.event for one in found]
