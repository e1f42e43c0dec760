"""The composition root: which adapter stands behind which port. The only module that knows them all."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from reconvene.errors import ReconveneError, UserError
from reconvene.home import SERVERS, STORE, file_name, make, require_ours
from reconvene.notify_wiring import LiveRoutes
from reconvene.sandboxing import kept_in, sandbox_for
from reconvene.settings import (
    FEEDBACK_MODEL_VARIABLE,
    GATE_MODEL_VARIABLE,
    feedback_model,
    gate_model,
    largest_edit,
    own_folder,
    provider_wait,
    search_model,
    system_user,
)
from reconvene.surroundings import LazyProjects, Machine, SystemClock, from_files, keeping, limit_from_files
from reconvene.trust import Offer, is_accepted, make_own, note_place, offer, own_id, refusal, require_plain

if TYPE_CHECKING:
    from reconvene.adapters.agents import Agents
    from reconvene.adapters.agents.preflight import Lack, Way
    from reconvene.adapters.showings import ShownFiles
    from reconvene.adapters.sqlite import SqliteLog
    from reconvene.app.engine import Engine
    from reconvene.app.model_reader import Heard
    from reconvene.app.sizes import Size
    from reconvene.app.trial_calls import Trial
    from reconvene.core.definition.workflow import Agent, Workflow
    from reconvene.ports import AgentRunner, EventLog, History, Workspace
    from reconvene.search_ports import SearchIndex
    from reconvene.shelf_ports import Aside


T = TypeVar("T")
_USUAL_WINDOW = 4_096  # tokens; what servers of one's own take where nobody has told them otherwise


def showings(home: str | os.PathLike[str]) -> ShownFiles:
    """ports.Showings of a home."""
    from reconvene.adapters.showings import ShownFiles

    return ShownFiles(os.path.join(os.path.abspath(home), "shown"), file_name)


def open_log(home: str | os.PathLike[str]) -> SqliteLog:
    """The log alone: enough for the inbox, and cheap to import."""
    from reconvene.adapters import sqlite  # here: not every system has the locks that it needs

    return sqlite.SqliteLog(os.path.join(os.path.abspath(home), STORE))


def open_index(home: str | os.PathLike[str], *, foreign: bool = False) -> SearchIndex:
    """What finds passages of the runs of a home. `foreign`: as in `open_engine`."""
    from reconvene.search_wiring import opened

    return opened(os.path.abspath(home), search_model() or from_files("search_model"), foreign=foreign)


def listen(text: str, agents: tuple[str, ...], model: str, kits: tuple[str, ...] = ()) -> Heard:
    """What a person typed, read by this model; by rules where it fails."""
    from reconvene.app.model_reader import hear
    from reconvene.secrets import redact_text

    return with_agents(lambda runner: hear(redact_text(text, os.environ), agents, runner, model, kits))


def with_agents(ask: Callable[[Agents], Coroutine[None, None, T]]) -> T:
    """What is asked of models outside any run."""
    import asyncio

    from reconvene.adapters.agents import Agents

    async def once() -> T:
        runner = Agents(sandbox_for(list, dict(os.environ)), dict(os.environ))
        try:
            return await ask(runner)
        finally:
            await runner.close()

    return asyncio.run(once())


def tidy_worktrees(home: str | os.PathLike[str]) -> tuple[list[str], list[str]]:
    """Take away the worktrees of runs that have ended or are unknown: (those, the ones whose worktrees stay)."""
    from reconvene.adapters.project import GitProjects

    projects = GitProjects(os.path.abspath(home), dict(os.environ))
    runs = projects.kept()
    if not runs:
        return [], []
    log = open_log(home)
    try:
        rows = {run: log.index_row(run) for run in runs}
    finally:
        log.close()
    over = [run for run, row in rows.items() if row is None or row.status in ("completed", "failed", "aborted")]
    for run in over:
        projects.close(run)
    return over, [run for run in runs if run not in over]


class Preflight(NamedTuple):
    """What the agents that a run may come to are done by, and what of it is not there."""

    ways: list[Way]
    lacks: list[Lack]
    sizes: list[Size]  # how much each agent is expected to get, against what its model can take
    kept_in: tuple[str, ...] = ()  # what keeps whom in, to be said once
    tight: tuple[Lack, ...] = ()  # of the lacks, those of windows

    def only(self, *levels: str) -> list[Lack]:
        return [lack for lack in self.lacks if lack.level in levels]


def preflight(
    workflow: Workflow,
    inputs: Mapping[str, object],
    chosen: Mapping[str, object],
    *,
    beside: str = "",
    agents: Collection[str] | None = None,
) -> Preflight:
    """Looks through this machine; nothing is asked or started. `inputs` and `chosen` settings: as far as given.

    `beside`: the folder of the workflow's file. `agents`: only these, whose turn it is, and only what they lack.
    """
    from reconvene.adapters.agents import preflight as looking
    from reconvene.app import run_values
    from reconvene.app.views.projections import asking_gates
    from reconvene.core.definition.run_inputs import nested
    from reconvene.wire.reach import Reach, reachable

    environ = dict(os.environ)
    given = {name: inputs.get(name, spec.default) for name, spec in workflow.inputs.items()} | dict(inputs)
    try:
        settled = run_values.settings(workflow, chosen, given, Machine(environ))
        fixed = {"settings": nested(settled), "inputs": given}
    except ReconveneError:  # they depend on inputs that are not there yet
        fixed = {}
    if agents is not None:
        reach = Reach(tuple(name for name in workflow.agents if name in agents), {})
        ways, lacks = looking.ways(workflow, reach, fixed, environ, beside=beside)
        lacks += [lack for way in ways for lack in looking.lacks(way, environ)]
        return Preflight(ways, [*lacks, *kept_in(ways, environ)[1]], [])
    whole = all(not spec.required or given.get(name) is not None for name, spec in workflow.inputs.items())
    reach = reachable(workflow, fixed if fixed and whole else None)
    helping = [(FEEDBACK_MODEL_VARIABLE, feedback_model() or from_files("feedback_model"))]
    if asking_gates(workflow):
        helping.append((GATE_MODEL_VARIABLE, gate_model() or from_files("gate_model")))
    ways, lacks = looking.ways(workflow, reach, fixed, environ, helping, beside)
    lacks += [lack for way in ways for lack in looking.lacks(way, environ)]
    if not any(lack.level != "note" for lack in lacks):
        limited = bool(workflow.limits.cost or workflow.limits.costs)
        loops = [name for name, agent in workflow.agents.items() if agent.loop is not None and agent.loop.cost]
        lacks += looking.unpriced(ways, limited=limited, loops=loops)
    found, (kept, unkept) = _sizes(workflow, given, ways, reach.agents), kept_in(ways, environ)
    lacks, tight = sorted([*lacks, *unkept], key=lambda lack: lack.line), tuple(_tight(found, ways))
    return Preflight(ways, [*lacks, *tight], found, kept, tight)


def _sizes(workflow: Workflow, given: Mapping[str, object], ways: list[Way], agents: Collection[str]) -> list[Size]:
    from reconvene.adapters.agents.windows import window_of
    from reconvene.app.sizes import sizes

    asked = {name: way.agent.model for way in ways if way.kind == "model" for name in way.who}
    return [
        one
        for one in sizes(workflow, given, lambda agent: window_of(agent, asked.get(agent.name, "")), asked)
        if one.agent in agents
    ]


def _tight(sizes: list[Size], ways: list[Way]) -> Iterator[Lack]:
    """Where a prompt is not expected to fit, and where nobody knows."""
    from reconvene.adapters.agents.preflight import Lack

    for one in (one for one in sizes if not one.fits):
        problem = (
            f"{one.phase}: about {one.expected:,} tokens are expected, and {one.model or one.agent} takes "
            f"{one.window:,}, of which {one.window - one.room:,} are for the reply"
        )
        hint = f"what does not fit is summed up or left out, and said; another model: --model {one.agent}=PROVIDER:NAME"
        yield Lack("note", (one.agent,), 0, problem, hint)
    for way in (way for way in ways if way.kind == "model"):
        most = max((one for one in sizes if one.agent in way.who and not one.window), key=_expected, default=None)
        if most is not None and most.expected > _USUAL_WINDOW:
            needs = f"{most.phase} is expected to need {most.expected:,}"
            problem = f"how many tokens {way.name} takes is not known; {needs}"
            hint = "options: {window: 32000} of the agent says it, and documents are then cut to fit"
            yield Lack("note", way.who, 0, problem, hint)


def _expected(one: Size) -> int:
    return one.expected


def require_ready(workflow: Workflow, found: Preflight, *, check: str, also: str = "") -> None:
    """UserError where an agent cannot work here, with all that is missing and what to type. `check`: the command that
    looks again; `also`: what else could be done."""
    lacks = found.only("file", "machine")
    if not lacks:
        return
    lines = [f"{located(workflow, lack)}{lack.problem} ({lack.whom})" for lack in lacks]
    if len(lacks) == 1:
        raise UserError(lines[0], hint="\n".join(filter(None, [lacks[0].hint, also])))
    shown = [f"{line}\n  {lack.hint}" for line, lack in zip(lines, lacks, strict=True)]
    message = "\n".join(["agents of this workflow cannot work here; nothing was started", *shown])
    raise UserError(message, hint="\n".join(filter(None, [check, also])))


def try_agents(agents: Sequence[Agent]) -> list[Trial]:
    """One tiny real call to each of these, in a folder that is gone afterwards."""
    import asyncio

    from reconvene.adapters.agents import Agents
    from reconvene.app.trial_calls import try_all

    async def once() -> list[Trial]:
        environ = dict(os.environ)
        runner = Agents(sandbox_for(list, environ), environ)
        try:
            return await try_all(runner, agents)
        finally:
            await runner.close()

    return asyncio.run(once())


def located(workflow: Workflow, lack: Lack) -> str:
    return f"{workflow.file}:{lack.line}: " if workflow.file and lack.line else ""


def offer_of_run(log: EventLog, home: str, run: str) -> Offer:
    """What driving this run would start."""
    from reconvene.app import index
    from reconvene.app.session import book_for, state_of
    from reconvene.app.views.what_runs import what_runs

    state = state_of(log, run)
    home = os.path.abspath(home)
    lines = what_runs(state, book_for(log, state.workflow, run), home)
    where = "imported into" if index.is_imported(log, run) else "in"
    return offer(f"a run of {state.name} {where} the home {home}", lines, state.workflow)


def require_accepted(log: EventLog, home: str, run: str) -> None:
    offered = offer_of_run(log, home, run)
    if not is_accepted(offered):
        raise refusal(offered)


def require_models(agents: Iterable[Agent]) -> None:
    """UserError where one of them would ask a model that cannot be named so, or not be asked for want of a library."""
    from reconvene.adapters.agents import libraries
    from reconvene.adapters.agents.model_names import wrong_with

    for agent in agents:
        if agent.kind != "model":
            continue
        url = str(agent.options.get("base_url") or "")
        if (wrong := wrong_with(agent.model, url)) is not None:
            raise UserError(f"{wrong.problem} (agent {agent.name})", hint=wrong.hint)
        if lacks := libraries.missing(agent.model, url):
            raise UserError(
                f"the library for {agent.model} is not installed (agent {agent.name})",
                hint=f"install it: {libraries.install_line(lacks)}",
            )


def new_project(home: str | os.PathLike[str], name: str, files: Mapping[str, str]) -> str:
    """The path of a new git repository below the home that holds these files: what a recording works on."""
    from reconvene.adapters.project.repository import plant

    folder = _new_folder(home, name)
    plant(folder, files, os.environ)
    return folder


def new_databases(home: str | os.PathLike[str], name: str, scripts: Mapping[str, str]) -> list[str]:
    """The paths of new SQLite files below the home, each made by its script: what a recording asks."""
    import sqlite3
    from contextlib import closing

    folder = _new_folder(home, name)
    for file, script in scripts.items():
        with closing(sqlite3.connect(os.path.join(folder, file))) as database:
            database.executescript(script)
    return [os.path.join(folder, file) for file in scripts]


def _new_folder(home: str | os.PathLike[str], name: str) -> str:
    """One that was not there, for what a recording works on."""
    below, number = os.path.join(os.path.abspath(home), "recorded"), 1
    make(os.path.abspath(home))
    os.makedirs(below, exist_ok=True)
    while True:
        folder = os.path.join(below, f"{name}-{number}")
        try:
            os.mkdir(folder)
        except FileExistsError:
            number += 1
            continue
        return os.path.realpath(folder)


def _keep_guest() -> None:
    """What a workflow says may not hold this process up: the rest is done by one that can be killed."""
    from reconvene.adapters.guest import LateHelper
    from reconvene.language import guest

    if guest.here() is None:
        guest.lodge(LateHelper())


def open_engine(
    home: str | os.PathLike[str],
    *,
    runner: AgentRunner | None = None,
    say: Callable[[str], None] | None = None,
    foreign: bool = False,
) -> Engine:
    """`foreign`: this home was not made by the person. Its runs can be read; what they accepted can be driven."""
    from reconvene.adapters.keys import OwnKey
    from reconvene.app.backoff import within
    from reconvene.app.discretion import Discretion
    from reconvene.app.engine import Engine
    from reconvene.app.run_folders import RunFolders
    from reconvene.people_wiring import acting, person

    _keep_guest()
    root = os.path.abspath(home)
    if foreign:
        require_plain(root)
    if runner is None:
        from reconvene.adapters.agents import Agents
        from reconvene.tool_wiring import LateToolboxes

        environ = dict(os.environ)
        sandbox = sandbox_for(lambda: [root, *run_folders()], environ, root)
        toolboxes = LateToolboxes(sandbox, environ, lambda: [root, *run_folders()])
        runner = Agents(sandbox, environ, say, os.path.join(root, SERVERS), toolboxes)

    def workspace_for(run: str, folder: str) -> Workspace:
        from reconvene.adapters.workspace import FolderWorkspace
        from reconvene.app import index
        from reconvene.app.new_runs import require_own_folder

        if log.head(run) and (foreign or index.is_imported(log, run)):
            require_accepted(log, root, run)
        manifest = os.path.join(root, "manifests", f"{file_name(run)}.json")

        def check() -> None:
            require_own_folder(folder, root)
            require_ours(folder, root)

        return FolderWorkspace(folder, manifest, check, largest_edit(limit_from_files))

    def aside_for() -> Aside:
        from reconvene.adapters.workspace.held_files import HeldFiles

        return HeldFiles(os.path.join(root, "held"))

    def history_for() -> History:
        from reconvene.adapters.git import GitHistory
        from reconvene.adapters.keys.noted_heads import NotedHeads

        heads = NotedHeads(os.path.join(own_folder(), "heads"), own_id(root))
        return GitHistory(os.path.join(root, "history.git"), heads)

    environ, judge = dict(os.environ), gate_model() or from_files("gate_model")
    projects, machine = LazyProjects(root, environ), Machine(environ)
    if not os.path.lexists(os.path.join(root, STORE)):
        make(root)
        make_own(root)
    else:
        note_place(root)
    log, clock = open_log(root), SystemClock()
    log.routes = LiveRoutes(root)
    run_folders = RunFolders(log)
    patience = within(provider_wait(limit_from_files))
    discreet = Discretion(environ, aside_for)
    who, actor = OwnKey(own_folder(), system_user(), say), acting(root)
    return Engine(
        *(log, clock, runner, workspace_for, history_for, root, judge, projects, machine, patience, discreet, who),
        actor=actor,
        person=partial(person, root),
        keeping=keeping(root),
    )
