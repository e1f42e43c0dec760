"""`workflows`, `check`, `schema`, `doctor`: finding one's way. Touches no run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import Call, answer, binds, command, note, put, put_json, put_table, say
from reconvene.doors.cli.text import clean
from reconvene.errors import ReconveneError, UserError, WorkflowError
from reconvene.home import SERVERS, is_there
from reconvene.language.counting import counted

if TYPE_CHECKING:
    from reconvene.app.sizes import Size
    from reconvene.doors.cli.readiness import Looked

_PROBLEM = ("file", "line", "column", "message", "hint")


@command()
def workflows(call: Call) -> int:
    """The workflows that come with the package; `reconvene run NAME` starts one."""
    from reconvene.wire.packaged import packaged
    from reconvene.wire.workflow_file import load_workflow

    found = []
    for name, path in packaged().items():
        loaded = load_workflow(path)
        needs = [key for key, spec in loaded.inputs.items() if spec.required]
        found.append(
            {"name": name, "description": loaded.description, "inputs": list(loaded.inputs), "required": needs}
        )
    if call.as_json:
        put_json(found)
        return 0
    put_table([(row["name"], row["description"]) for row in found], ("NAME", "WHAT IT IS"))
    return 0


@command("""
Examples:
  reconvene check two-step.yaml
  reconvene check scenario-planning --sizes --model ollama:qwen3
""")
@click.argument("file", metavar="FILE")
@binds
@click.option("--here", is_flag=True, help="Exit code 1 where this machine lacks something that an agent needs.")
@click.option("--sizes", is_flag=True, help="How many tokens each agent will get, against what its model can take.")
def check(call: Call, file: str, here: bool, sizes: bool) -> int:
    """Check a workflow FILE: every problem at once, with its line and the nearest valid spelling.

    Of a valid one it also says what this machine lacks: libraries, keys, programs, Python functions. That does not make
    the file wrong: the exit code stays 0 without --here. Agents are those that a run would have: as the settings files
    and --model or --agent say.
    """
    from reconvene.doors.cli.named_workflow import file_of
    from reconvene.doors.cli.readiness import here_json, look, put_here
    from reconvene.wire.workflow_file import workflow_warnings

    try:
        looked = look(call, file)
    except WorkflowError as error:
        if not call.as_json:
            raise
        put_json({"ok": False, "problems": [{name: getattr(one, name) for name in _PROBLEM} for one in error.problems]})
        return error.exit_code
    loaded = looked.workflow
    if sizes:
        return _sizes(call, looked)
    counts = f"{counted(len(loaded.phases), 'phase')}, {counted(len(loaded.agents), 'agent')}"
    told = f"{clean(file)} is a valid workflow ({loaded.name}: {counts})"
    warned = workflow_warnings(file_of(file))
    rows = [{name: getattr(one, name) for name in _PROBLEM} for one in warned]
    told_json = {"ok": True, "name": loaded.name, "problems": [], "warnings": rows, "here": here_json(looked)}
    answer(call, told_json, told)
    if not call.as_json:
        for one in warned:
            say(f"\nwarning: {one.file}:{one.line}: {one.message}\n      {one.hint}")
        put_here(looked)
    return 1 if here and not looked.ready else 0


def _sizes(call: Call, looked: Looked) -> int:
    from msgspec.structs import asdict

    from reconvene.app.sizes import ASSUMED

    found = looked.found.sizes
    if call.as_json:
        rows = [{**asdict(one), "expected": one.expected, "fits": one.fits} for one in found]
        put_json({"ok": True, "name": looked.workflow.name, "sizes": rows, "assumed": ASSUMED})
        return 0
    put_table([_size_row(one) for one in found], ("PHASE", "AGENT", "TOLD", "READS", "TOKENS", "WINDOW"))
    put(
        f"\n{ASSUMED}\nA quarter of a window is for the reply. Where documents do not fit, the largest are summed up or"
    )
    put("left out first; the agent is told, and so are you.")
    for model in sorted({one.model for one in found if one.model and not one.window}):
        put(f"How many tokens {model} takes is not known: options: {{window: 32000}} says it.")
    return 0


def _size_row(one: Size) -> tuple[str, ...]:
    window = f"{one.window:,} ({one.model})" if one.window and one.model else f"{one.window:,}"
    if not one.window:
        window = f"not known ({one.model})" if one.model else "not a model"
    counts = (f"{one.instructions:,}", f"{one.documents:,}", f"{one.expected:,}")
    return (one.phase, one.agent, *counts, window if one.fits else f"✗ {window}: too small")


@command()
def schema(call: Call) -> int:
    """The JSON Schema of workflow files, for completion in editors."""
    import json

    from reconvene.wire.schema import json_schema

    sys.stdout.write(json.dumps(json_schema(), indent=None if call.as_json else 2) + "\n")
    return 0


@command("""
Examples:
  reconvene doctor
  reconvene doctor two-step.yaml         # does each of its agents answer?
  reconvene doctor brainstorm --model ollama:qwen3 --agent coder=codex
""")
@click.argument("workflow", required=False)
@binds
@click.option("--forget", is_flag=True, help="Ask servers of your own anew whether they take a JSON schema.")
@click.option("--sweep", is_flag=True, help="Remove what processes that ended left in the home, and nobody needs.")
def doctor(call: Call, workflow: str | None, forget: bool, sweep: bool) -> int:
    """What this machine offers: Python, SQLite, where state lives, and what can play an agent; and whether what is in
    the home fits together, as `verify` finds it. Exit code 1 where it does not.

    Removes worktrees of projects that ended runs have left behind; their branches stay. With WORKFLOW: one tiny real
    call to each model and program that its agents are done by, with seconds, tokens and cost; exit code 1 where one of
    them fails. Agents that have effects, and Python functions, are not called.
    """
    if workflow is None and (call.models or call.agents):
        raise UserError("--model and --agent are for a workflow", hint="name it: reconvene doctor WORKFLOW --model …")
    if forget:
        _forget_servers(call)
    if workflow is not None:
        from reconvene.doors.cli.readiness import try_out

        return try_out(call, workflow)
    from reconvene.adapters.agents.auto import describe

    python = ("python", True, ".".join(map(str, sys.version_info[:3])))  # an older one does not come this far
    own = _in_home(call, sweep=sweep)
    rows = [python, _sqlite(), _home(call), *own, _git(), *_worktrees(call), *_sandbox()]
    rows += [*describe(os.environ), *_servers(call)]
    code = 0 if all(ok for _, ok, _ in own) else 1
    if call.as_json:
        put_json([{"what": what, "ok": ok, "detail": detail} for what, ok, detail in rows])
        return code
    wide = max(len(what) for what, _, _ in rows)
    for what, ok, detail in rows:
        put(f"{'✓' if ok else '✗' if (what, ok, detail) in own else '–'} {what.ljust(wide)}  {detail}")
    return code


Row = tuple[str, bool, str]


def _sqlite() -> Row:
    import sqlite3

    fine = sqlite3.sqlite_version_info >= (3, 51, 3)
    advice = "" if fine else " (before 3.51.3 a rare fault can meet several writing processes; one at a time is safe)"
    return "sqlite", fine, sqlite3.sqlite_version + advice


def _home(call: Call) -> Row:
    home = Path(call.home).resolve()
    near = next(folder for folder in (home, *home.parents) if folder.exists())
    fine = near.is_dir() and os.access(near, os.W_OK)
    return "state", fine, f"{home}" + ("" if fine else ": cannot be written; choose another with --home DIR")


def _in_home(call: Call, *, sweep: bool) -> list[Row]:
    try:
        there = is_there(call.place)
    except ReconveneError as error:
        return [("runs", False, f"{error.message} {error.hint}")]
    if not there:
        return []
    from reconvene.doors.cli.home_health import home_rows

    return home_rows(call, sweep=sweep)


def _servers(call: Call) -> list[Row]:
    """Which servers of one's own take a JSON schema, as far as that is known."""
    from reconvene.adapters.agents.schema_support import kept

    known = kept(os.path.join(call.home, SERVERS))
    told = {True: "takes a JSON schema", False: "takes no JSON schema and is asked in words"}
    return [(f"{one.model}", one.takes, f"{told[one.takes]} at {one.address} ({one.day})") for one in known]


def _forget_servers(call: Call) -> None:
    from reconvene.adapters.agents.schema_support import forget

    there = forget(os.path.join(call.home, SERVERS))
    note("what servers can do is forgotten, and asked anew" if there else "nothing was known of servers of your own")


def _git() -> Row:
    try:
        import pygit2
    except ImportError as error:
        return "history", False, f"the git library cannot be loaded: {error}"
    return "history", True, f"libgit2 {pygit2.LIBGIT2_VERSION}"


def _sandbox() -> list[Row]:
    from reconvene.adapters.sandbox.about import TRUSTED, here
    from reconvene.settings import usual_sandbox

    return [("sandbox", *here(os.environ, usual_sandbox())), ("functions", True, TRUSTED)]


def _worktrees(call: Call) -> list[Row]:
    """The worktrees of agents, those of ended runs taken away."""
    import shutil

    from reconvene.trust import is_foreign

    program = shutil.which("git")
    rows = [("git", program is not None, program or "not installed: agents cannot change a project of yours")]
    if is_there(call.place) and not is_foreign(call.place):
        from reconvene.wiring import tidy_worktrees

        removed, used = tidy_worktrees(call.home)
        if removed or used:
            told = [f"removed those of {', '.join(removed)}"] if removed else []
            told += [f"in use by {', '.join(used)}"] if used else []
            rows.append(("worktrees", True, "; ".join(told)))
    return rows
