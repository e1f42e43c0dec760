r"""Agents from a recording: the offline demo, and tests. No model is asked, yet what a person says changes the answer.

A recording is a list of entries, or `{facts: …, entries: […]}` where the facts are shared by all entries. The first
entry that matches answers:

```yaml
facts:                                   # figures, settled in this order
  revenue: {find: 'revenue\D*\$?([\d.,]+ ?(?:m|bn|million|billion))', as: millions, default: 850}
  debt:    {find: 'debt\D*\$?(\d+)', as: number, default: 2700}
  ebitda:  {calc: "facts.revenue * 0.25"}            # a JavaScript expression over facts, round, phase, agent
  leverage: {calc: "facts.debt / facts.ebitda"}
entries:
  - when: {phase: draft, round: 1}       # also agent, attempt; remark, prompt (regular expressions); round: 2 | 2+
    says: |                              # a template: facts, phase, round, agent, attempt, remarks, files (names)
      Leverage is {{ facts.leverage | round(1) }}x{% if facts.leverage > 3 %}, too high{% endif %}.
    files: {plan.md: "# Plan for {{ facts.revenue }}"}
    value: {risk: "{{ 'high' if facts.leverage > 3 else 'low' }}", leverage: {calc: "facts.leverage"}}
    seconds: 2                           # pretended work, times RECONVENE_DEMO_SPEED (0 = none; 1 unless set)
    usage: {input_tokens: 1200, output_tokens: 300}
  - fails: "The archive does not answer."             # this attempt fails
```

An agent with tools may make calls before it answers. They are really made: what they give is `results.NAME`.

```yaml
  - when: {agent: analyst}
    calls:                               # one turn after the other; a list is one turn of several calls
      - {query_source: {source: shop.db, query: "select count(*) as n from orders"}, as: orders}
      - {write_file: {path: report.md, text: "{{ facts.n }} orders"}}
    facts: {n: {find: '(\d+)', in: results.orders, as: number}}
    says: "Done: {{ facts.n }} orders."
```

The keys of `when` may also stand beside `says`. `find` looks at the delivered remarks (`in: remarks`), at the prompt
(`in: prompt`) or at a file that was given (`in: plan.md`); the last match wins, and figures that a remark denies ("not
$850M", "from 850 to 900") do not count. `as`: text (the default), number, millions. Strings inside `value` are
templates; `{calc: …}` inside it stays a number. The engine hands the parsed recording over in `options["recording"]`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from reconvene.adapters.agents.as_answer import from_result
from reconvene.adapters.agents.stated_figures import last_stated, millions_in, number_in
from reconvene.adapters.shared.file_names import only_literal
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError, ReconveneError
from reconvene.ports import Answer, Assignment, Listener, Progress

_CONDITIONS = ("agent", "phase", "round", "attempt", "remark", "prompt")
_STEPS = 20  # how often pretended work reports progress


class _Recording(NamedTuple):
    facts: Mapping[str, object]
    entries: list[Mapping[str, object]]


class Played(NamedTuple):
    """What is answered in one attempt. `entry`: of the recording."""

    recording: _Recording
    entry: Mapping[str, object]


def found(assignment: Assignment) -> Played:
    recording = _parse(assignment)
    return Played(recording, _choose(recording.entries, assignment))


async def run(assignment: Assignment, listener: Listener, environ: Mapping[str, str]) -> Answer:
    return await answered(found(assignment), assignment, listener, environ)


async def answered(
    played: Played,
    assignment: Assignment,
    listener: Listener,
    environ: Mapping[str, str],
    results: Mapping[str, str] | None = None,
) -> Answer:
    """`results`: what calls gave, by name."""
    began = time.monotonic()
    entry = played.entry
    try:
        result = _perform(played.recording, entry, assignment, results or {})
    except AgentError:
        raise
    except (ReconveneError, ValueError, TypeError, re.error) as error:
        raise bad(assignment, str(error)) from error
    tokens = _usage(entry)
    await _pretend(entry, assignment, listener, environ, tokens)
    if fails := entry.get("fails"):
        raise AgentError(str(fails))
    usage = Usage(
        model="recorded",
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        requests=1,
        seconds=round(time.monotonic() - began, 3),
    )
    return from_result(assignment, result, usage, recorded=True)


def _parse(assignment: Assignment) -> _Recording:
    raw = assignment.agent.options.get("recording")
    if raw is None:
        raise AgentError(f"There is no recording {assignment.agent.recorded!r}.", retryable=False)
    facts: object = {}
    if isinstance(raw, Mapping):
        facts, raw = raw.get("facts") or {}, raw.get("entries")
    if not isinstance(raw, list | tuple) or not isinstance(facts, Mapping):
        raise bad(assignment, "it should be a list of entries, or have `facts` and `entries`")
    entries = [entry for entry in raw if isinstance(entry, Mapping)]
    if len(entries) != len(raw):
        raise bad(assignment, "every entry should be a mapping")
    return _Recording(facts, entries)


def bad(assignment: Assignment, problem: str) -> AgentError:
    name = assignment.agent.recorded or assignment.agent.name
    return AgentError(f"The recording {name!r} cannot be played: {problem}.", retryable=False)


# --- which entry answers


def _choose(entries: list[Mapping[str, object]], assignment: Assignment) -> Mapping[str, object]:
    for entry in entries:
        if _fits(entry, assignment):
            return entry
    texts = [remark.get("text", "") for remark in assignment.remarks]
    said = f", with the remarks {texts}" if texts else ""
    raise AgentError(
        f"The recording {assignment.agent.recorded!r} has no answer for {assignment.agent.name!r} in phase "
        f"{assignment.phase!r}, round {assignment.round}, attempt {assignment.attempt}{said}.",
        hint="Add an entry without conditions at its end, to answer whatever else is asked.",
        retryable=False,
    )


def _fits(entry: Mapping[str, object], assignment: Assignment) -> bool:
    conditions = {name: entry[name] for name in _CONDITIONS if name in entry}
    when = entry.get("when")
    if isinstance(when, Mapping):
        conditions |= {str(name): wanted for name, wanted in when.items()}
    return all(_holds(name, wanted, assignment) for name, wanted in conditions.items())


def _holds(name: str, wanted: object, assignment: Assignment) -> bool:
    match name:
        case "agent":
            return _one_of(wanted, assignment.agent.name)
        case "phase":
            return _one_of(wanted, assignment.phase)
        case "round":
            return _counted(wanted, assignment.round)
        case "attempt":
            return _counted(wanted, assignment.attempt)
        case "remark":
            return _any_matches(str(wanted), _texts("remarks", assignment), assignment)
        case "prompt":
            return _any_matches(str(wanted), [_task_first(assignment)], assignment)
        case _:
            raise bad(assignment, f"`when` does not know {name!r} (it knows {', '.join(_CONDITIONS)})")


def _one_of(wanted: object, actual: str) -> bool:
    return actual in wanted if isinstance(wanted, list | tuple) else wanted == actual


def _counted(wanted: object, actual: int) -> bool:
    if isinstance(wanted, list | tuple):
        return any(_counted(one, actual) for one in wanted)
    text = str(wanted).strip()
    if text.endswith("+"):
        return text[:-1].isdigit() and actual >= int(text[:-1])
    return text == str(actual)


def _any_matches(pattern: str, texts: list[str], assignment: Assignment) -> bool:
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise bad(assignment, f"{pattern!r} is not a regular expression: {error}") from None
    return any(compiled.search(text) for text in texts)


# --- what it answers


def arguments(played: Played, assignment: Assignment, results: Mapping[str, str], given: object) -> object:
    """Of a call, with its templates filled in."""
    try:
        return _rendered_within(given, _scope(played.recording, played.entry, assignment, results))
    except (ReconveneError, ValueError, TypeError, re.error) as error:
        raise bad(assignment, str(error)) from error


def _scope(
    recording: _Recording, entry: Mapping[str, object], assignment: Assignment, results: Mapping[str, str]
) -> dict[str, object]:
    scope: dict[str, object] = {
        "phase": assignment.phase,
        "round": assignment.round,
        "attempt": assignment.attempt,
        "agent": assignment.agent.name,
        "remarks": [dict(remark) for remark in assignment.remarks],
        "files": sorted(assignment.files),
        "results": dict(results),
        "facts": {},
    }
    assignment = assignment._replace(
        files={**assignment.files, **{f"results.{name}": text.encode() for name, text in results.items()}}
    )
    own = entry.get("facts") or {}
    if not isinstance(own, Mapping):
        raise bad(assignment, "`facts` should be a mapping")
    facts: dict[str, object] = {}
    for name, spec in {**recording.facts, **own}.items():
        facts[str(name)] = _fact(spec, assignment, scope)
        scope["facts"] = dict(facts)
    return scope


def _perform(
    recording: _Recording, entry: Mapping[str, object], assignment: Assignment, results: Mapping[str, str]
) -> dict[str, object]:
    scope = _scope(recording, entry, assignment, results)
    result: dict[str, object] = {"text": _rendered(entry.get("says", ""), scope)}
    files = entry.get("files") or {}
    if not isinstance(files, Mapping):
        raise bad(assignment, "`files` should be a mapping of path to text")
    result["files"] = {str(path): _rendered(text, scope) for path, text in files.items()} or _spoken(assignment, result)
    if "value" in entry:
        result["value"] = _rendered_within(entry["value"], scope)
    return result


def _spoken(assignment: Assignment, result: Mapping[str, object]) -> dict[str, str]:
    """As with a model: where one file is asked for and none is given, what it says is that file."""
    single, text = only_literal(assignment.writes), str(result["text"])
    return {single: text} if single and text.strip() else {}


def _fact(spec: object, assignment: Assignment, scope: Mapping[str, object]) -> object:
    if not isinstance(spec, Mapping):
        return spec
    if "calc" in spec:
        return _calculated(str(spec["calc"]), scope)
    found = last_stated(str(spec.get("find", "")), _texts(str(spec.get("in", "remarks")), assignment))
    if found is None:
        return spec.get("default")
    match spec.get("as", "text"):
        case "number":
            value: object = number_in(found)
        case "millions":
            value = millions_in(found)
        case _:
            value = found.strip()
    return spec.get("default") if value is None else value


def _texts(where: str, assignment: Assignment) -> list[str]:
    match where:
        case "remarks":
            return [remark.get("text", "") for remark in assignment.remarks]
        case "prompt":
            return [_task_first(assignment)]
        case _:
            return [assignment.files.get(where, b"").decode("utf-8", "replace")]


def _task_first(assignment: Assignment) -> str:
    """The prompt as recordings know it: role and task, and the documents after them."""
    before, role, after = assignment.prompt.partition(f"<role-{assignment.mark}>")
    return f"{role}{after}\n{before}" if role and assignment.mark else assignment.prompt


def _calculated(source: str, scope: Mapping[str, object]) -> object:
    from reconvene.language.expressions import evaluate

    return evaluate(source, dict(scope))


def _rendered(template: object, scope: Mapping[str, object]) -> str:
    from reconvene.language.templates import render

    return render(str(template), dict(scope))


def _rendered_within(value: object, scope: Mapping[str, object]) -> object:
    match value:
        case str():
            return _rendered(value, scope)
        case Mapping() if set(value) == {"calc"}:
            return _calculated(str(value["calc"]), scope)
        case Mapping():
            return {str(key): _rendered_within(item, scope) for key, item in value.items()}
        case list() | tuple():
            return [_rendered_within(item, scope) for item in value]
        case _:
            return value


# --- as if somebody worked


def _usage(entry: Mapping[str, object]) -> tuple[int, int]:
    usage = entry.get("usage")
    if not isinstance(usage, Mapping):
        return 0, 0
    return _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


async def _pretend(
    entry: Mapping[str, object],
    assignment: Assignment,
    listener: Listener,
    environ: Mapping[str, str],
    tokens: tuple[int, int],
) -> None:
    seconds = _number(entry.get("seconds", 0)) * _number(environ.get("RECONVENE_DEMO_SPEED", "1"))
    seconds = min(seconds, assignment.agent.timeout)
    if seconds > 0:
        for step in range(1, _STEPS + 1):
            await asyncio.sleep(seconds / _STEPS)
            _tell(assignment, listener, tokens[1] * step // _STEPS)
    else:
        _tell(assignment, listener, tokens[1])


def _tell(assignment: Assignment, listener: Listener, tokens: int) -> None:
    if tokens:
        listener(Progress(assignment.run, assignment.task, assignment.agent.name, "tokens", tokens=tokens))


def _number(value: object) -> float:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return 1.0
