"""What a workflow finds on this machine: for `check` a look, for `doctor WORKFLOW` one tiny real call each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reconvene.doors.cli.common import Call, put, put_json, put_table, say
from reconvene.doors.cli.text import command_line, one_line
from reconvene.errors import Problem, WorkflowError

if TYPE_CHECKING:
    from reconvene.adapters.agents.preflight import Lack, Way
    from reconvene.app.trial_calls import Trial
    from reconvene.core.definition.workflow import Workflow
    from reconvene.wiring import Preflight

_MARKS = {"file": "✗", "machine": "✗", "note": "–"}


class Looked(NamedTuple):
    workflow: Workflow
    found: Preflight
    words: tuple[str, ...]  # the workflow and who its agents are, as it was typed

    @property
    def ready(self) -> bool:
        return not self.found.only("file", "machine")


def look(call: Call, named: str, *, to_start: bool = False) -> Looked:
    """With the agents that the command line and the settings files found here name, as a run would have them.
    WorkflowError where the file itself is wrong, be it that no machine could do what it says. `to_start`: what the
    settings files name is accepted first."""
    from reconvene.core.definition.bindings import bound
    from reconvene.doors.cli import typed_bindings
    from reconvene.doors.cli.named_workflow import file_of, load
    from reconvene.wiring import preflight

    loaded = load(named)
    beside = Path(file_of(named)).resolve().parent
    loaded = bound(loaded, typed_bindings.for_a_look(call, loaded, str(beside), to_start=to_start))
    found = preflight(loaded, {}, {}, beside=str(beside))
    who = [*(("--model", each) for each in call.models), *(("--agent", each) for each in call.agents)]
    words = (named, *(word for pair in who for word in pair))
    wrong = [lack for lack in found.only("file") if lack.line]
    if wrong:
        problems = [Problem(loaded.file, lack.line, f"{lack.whom}: {lack.problem}", lack.hint) for lack in wrong]
        raise WorkflowError(problems, hint=f"correct this, then look again: {command_line('check', *words)}")
    return Looked(loaded, found, words)


def here_json(looked: Looked) -> dict[str, object]:
    return {
        "ok": looked.ready,
        "ways": [{"kind": way.kind, "name": way.name, "agents": list(way.who)} for way in looked.found.ways],
        "lacks": [_lack_json(lack) for lack in looked.found.lacks],
    }


def _lack_json(lack: Lack) -> dict[str, object]:
    return {
        "level": lack.level,
        "agents": list(lack.who),
        "line": lack.line,
        "problem": lack.problem,
        "hint": lack.hint,
    }


def put_here(looked: Looked) -> None:
    """Each way that agents work by, and under it what it lacks."""
    if not looked.found.ways and not looked.found.lacks:
        return
    put("\non this machine")
    for line in _here(looked):
        say(line)
    if looked.ready:
        put(f"\none tiny real call to each: {command_line('doctor', *looked.words)}")
    else:
        put("\nthe file is right; a run starts here once this is there")


def _here(looked: Looked) -> Iterator[str]:
    from reconvene.wiring import located

    lacking = {who for lack in looked.found.lacks for who in lack.who}
    for way in looked.found.ways:
        if not lacking & set(way.who):
            yield f"  ✓ {one_line(way.name, 60)} ({', '.join(way.who)}{f': {way.why}' if way.why else ''})"
    for lack in looked.found.lacks:
        yield f"  {_MARKS[lack.level]} {located(looked.workflow, lack)}{lack.problem} ({lack.whom})"
        yield f"      {lack.hint}"


# --- doctor WORKFLOW ---


class _Row(NamedTuple):
    way: Way
    trial: Trial | None  # None = it is not called
    problem: str = ""  # why it cannot work, or why it is not called
    hint: str = ""
    failed: bool = False


def try_out(call: Call, named: str) -> int:
    """One call to each model and program that agents of this workflow are done by; 1 where one of them fails."""
    from reconvene.wiring import try_agents

    looked = look(call, named, to_start=True)
    rows = [_before(looked, way) for way in looked.found.ways]
    lost = [lack for lack in looked.found.lacks if not any(set(lack.who) & set(way.who) for way in looked.found.ways)]
    called = [row.way for row in rows if not row.problem]
    if not call.as_json and looked.found.ways:
        _announce(named, called)
    elif not call.as_json and not lost:
        put(f"there is nothing to call: no agent of {named} is a model, a program or a function")
    trials = iter(try_agents([way.agent for way in called]))
    done = [row if row.problem else _after(row, next(trials)) for row in rows]
    failed = [row for row in done if row.failed]
    if call.as_json:
        rest = [{"what": lack.problem, "agents": list(lack.who), "ok": False, "hint": lack.hint} for lack in lost]
        put_json({"ok": not failed and not lost, "workflow": looked.workflow.name, "calls": [*map(_json, done), *rest]})
    else:
        _put(done, lost)
        if failed or lost:
            put(f"\nlook again: {command_line('doctor', *looked.words)}")
    return 1 if failed or lost else 0


def _before(looked: Looked, way: Way) -> _Row:
    for lack in looked.found.only("file", "machine"):
        if set(lack.who) & set(way.who):
            return _Row(way, None, lack.problem, lack.hint, failed=True)
    if way.kind == "python":
        return _Row(way, None, "it is there; a function is not called to try it out")
    if way.agent.effects:
        return _Row(way, None, "it has effects, so it is not called to try it out")
    return _Row(way, None)


def _after(row: _Row, trial: Trial) -> _Row:
    if trial.ok:
        return row._replace(trial=trial)
    hint = trial.hint or "run it by hand, or choose another: `model:` or `command:` of the agent"
    return row._replace(trial=trial, problem=trial.problem, hint=hint, failed=True)


def _announce(named: str, called: list[Way]) -> None:
    """What is about to happen and what it may cost, before it does."""
    if not called:
        put(f"no agent of {named} can be called")
        return
    from reconvene.adapters.agents.prices import expected
    from reconvene.app.trial_calls import SECONDS, TOKENS
    from reconvene.core.working.spending import dollars

    models = [way for way in called if way.kind == "model"]
    prices = [expected(way.agent.model, 40, TOKENS, way.url) for way in models]
    known = sum(price for price in prices if price is not None)
    parts = [f"at most about {dollars(known)}"] if known else []
    unknown = [way.name for way, price in zip(models, prices, strict=True) if price is None]
    parts += [f"no price is known for {', '.join(unknown)}"] if unknown else []
    programs = [way.name for way in called if way.kind == "command"]
    parts += ["a program costs what its own account says"] if programs else []
    count = "1 real call that asks" if len(called) == 1 else f"{len(called)} real calls that ask"
    say(f"{count} for the word OK: at most {SECONDS:g} s, and {TOKENS} tokens of a model; {'; '.join(parts)}")
    put()


def _put(rows: list[_Row], lost: list[Lack]) -> None:
    cells = [_cells(row) for row in rows]
    if cells:
        put_table(cells, ("", "WHAT", "AGENTS", "SECONDS", "TOKENS", "COST"), [list(_below(row)) for row in rows])
    for lack in lost:
        say(f"✗ {lack.problem} ({lack.whom})\n      {lack.hint}")


def _cells(row: _Row) -> tuple[str, ...]:
    from reconvene.core.working.spending import dollars

    mark = "✗" if row.failed else "✓" if row.trial else "–"
    name, who, trial = one_line(row.way.name, 40), ", ".join(row.way.who), row.trial
    if trial is None:
        return (mark, name, who, "", "", "")
    tokens = str(trial.tokens) if trial.tokens else ""
    cost = dollars(trial.cost) if trial.cost else "not known" if trial.tokens else ""
    return (mark, name, who, f"{trial.seconds:.1f}", tokens, cost)


def _below(row: _Row) -> Iterator[str]:
    if row.problem:
        yield f"      {row.problem}"
        if row.hint:
            yield f"      {row.hint}"
    elif row.trial is not None and row.trial.reply.strip(".!“”\"'").upper() != "OK":
        yield f"      it replied: {row.trial.reply}"


def _json(row: _Row) -> dict[str, object]:
    trial = row.trial
    return {
        "what": row.way.name,
        "kind": row.way.kind,
        "agents": list(row.way.who),
        "ok": not row.failed,
        "called": trial is not None,
        "seconds": trial.seconds if trial else 0.0,
        "tokens": trial.tokens if trial else 0,
        "cost": trial.cost if trial else 0.0,
        "reply": trial.reply if trial else "",
        "problem": row.problem,
        "hint": row.hint,
    }
