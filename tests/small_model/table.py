"""The table of a trial: a row per workflow, from its events. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tests.small_model.trial import WITHOUT, Trial

HEAD = (
    "workflow", "tasks", "first try", "retries", "missing", "without", "faults", "schema", "tokens in", "tokens out",
    "minutes", "end",
)  # fmt: skip


class Used(NamedTuple):
    """How a model used its tools."""

    turns: int
    calls: int
    fitting: int  # such a tool is there, and takes such arguments
    done: int
    failed: int  # the tool refused, or could not
    asked: int  # a person was


class Row(NamedTuple):
    workflow: str
    tasks: int  # that a model was asked for
    first: int  # accepted at the first try
    retries: int  # further attempts
    missing: int  # tasks that gave nothing
    without: int  # stops answered "Go on without it"
    faults: int  # of the provider
    held: str  # replies to a request with a schema that fit it, of all
    tokens_in: int
    tokens_out: int
    minutes: float
    end: str
    reasons: Counter[str]  # why attempts were sent back or failed
    used: Used  # of tools


def row(trial: Trial, exchanges: Iterable[dict[str, object]]) -> Row:
    ended = [one for one in trial.events if one.get("type") == "AttemptEnded" and _asked_a_model(one)]
    held, schemas = _held(exchanges)
    return Row(
        workflow=trial.workflow,
        tasks=len({one["task"] for one in ended}),
        first=sum(one.get("verdict") == "accepted" and one.get("attempt") == 1 for one in ended),
        retries=sum(one.get("then") == "retry" for one in ended),
        missing=sum(one.get("then") in ("missing", "ask") for one in ended),
        without=sum(_is_without(one) for one in trial.events),
        faults=sum(one.get("type") == "ProviderFailed" for one in trial.events),
        held=f"{held} of {schemas}" if schemas else "–",
        tokens_in=sum(_usage(one, "input_tokens") for one in ended),
        tokens_out=sum(_usage(one, "output_tokens") for one in ended),
        minutes=_minutes(trial.events),
        end=_end(trial),
        reasons=Counter(_reason(one) for one in ended if one.get("verdict") != "accepted"),
        used=used(trial.events),
    )


def used(events: Iterable[dict[str, object]]) -> Used:
    events = list(events)
    turns = [one for one in events if one.get("type") == "ModelTurned"]
    calls = [call for turn in turns for call in turn.get("calls") or ()]  # type: ignore[attr-defined]
    outcomes = Counter(str(one.get("outcome") or "done") for one in events if one.get("type") == "CallEnded")
    fitting = sum(bool(call.get("schema")) for call in calls)
    asked = sum(bool(call.get("why")) for call in calls)
    return Used(len(turns), len(calls), fitting, outcomes["done"], outcomes["failed"], asked)


def _is_without(event: dict[str, object]) -> bool:
    return event.get("type") == "DecisionRecorded" and event.get("option") == WITHOUT and bool(event.get("attention"))


def _end(trial: Trial) -> str:
    ended = next((one for one in reversed(trial.events) if one.get("type") == "RunEnded"), {})
    outcome = ended.get("outcome") or trial.outcome
    same = "" if outcome in ("", trial.status) else f", {outcome}"
    return f"{trial.status or 'nowhere'}{same} (exit code {trial.exit_code}){' TROUBLE' if trial.trouble else ''}"


def _asked_a_model(event: dict[str, object]) -> bool:
    usage = event.get("usage")
    return isinstance(usage, dict) and bool(usage.get("model"))


def _usage(event: dict[str, object], name: str) -> int:
    usage = event.get("usage")
    return int(usage.get(name, 0)) if isinstance(usage, dict) else 0


def _minutes(events: list[dict[str, object]]) -> float:
    """From its first event to its last: a run that was interrupted counts as long as it lay."""
    if not events:
        return 0.0
    first, last = (datetime.fromisoformat(str(events[at]["at"])) for at in (0, -1))
    return (last - first).total_seconds() / 60


def _reason(event: dict[str, object]) -> str:
    why = " ".join(str(event.get("why") or "").split())
    return str(event.get("code") or "") or why[:70]


def _held(exchanges: Iterable[dict[str, object]]) -> tuple[int, int]:
    """Of the whole replies to requests with a schema, those that fit it, and all."""
    import jsonschema

    fits = asked = 0
    for one in exchanges:
        if one.get("held_by") != "schema" or not one.get("finish"):
            continue
        asked += 1
        try:
            jsonschema.validate(json.loads(str(one["text"])), one["schema"])
            fits += 1
        except (ValueError, jsonschema.ValidationError):
            pass
    return fits, asked


def drawn(rows: Iterable[Row]) -> str:
    """In Markdown, with the reasons below."""
    rows = list(rows)
    lines = [f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    for one in rows:
        cells = [*one[:10], f"{one.minutes:.1f}", one.end]
        lines.append(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in cells)} |")
    for one in rows:
        if one.used.turns:
            turns, calls, fitting, done, failed, asked = one.used
            said = f"{turns} turns with tools, {calls} calls: {fitting} fit their schema, {done} done, {failed} failed"
            lines += ["", f"{one.workflow}: {said}, {asked} asked a person"]
        lines += ["", f"{one.workflow}: why attempts were not taken"] if one.reasons else []
        lines += [f"- {count} × {reason}" for reason, count in one.reasons.most_common()]
    return "\n".join(lines) + "\n"
