"""Before a run: what its agents are done by, and what of it is not there. Looks only: nobody is asked, nothing starts.

Three sorts of lacks. Of the file: no machine could do it. Of the machine: a library, a key, a program, a module is not
there. And notes, where it may work all the same. `check`, `run`, `resume`, `decide` and `doctor` use this one list.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from reconvene.adapters.agents.model_names import wrong_address, wrong_key, wrong_with
from reconvene.core.definition.run_inputs import settled
from reconvene.core.definition.workflow import Agent, Workflow, every_phase
from reconvene.errors import UserError
from reconvene.language.late_patterns import late
from reconvene.secrets import too_short
from reconvene.wire.reach import Reach

if TYPE_CHECKING:
    from reconvene.adapters.agents.auto import Picked

Level = Literal["file", "machine", "note"]
Fixed = Mapping[str, Mapping[str, object]]  # the settings and inputs of a run, as far as they are known

_OPENAI = ("openai", "openai-chat", "openai-responses")
_LOCAL = ("lmstudio", "llamacpp", "vllm")  # servers of one's own
# provider → the variables that may hold its key; those not here need none, or find it in ways of their own
_KEYS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_OPENAI, ("OPENAI_API_KEY",)),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "cohere": ("CO_API_KEY",),
}
_PLAIN_LINE = late(r"[\w./+@:, '\"=-]+")  # a line for the shell that is one command and nothing more
_NOT_SIMPLE = late(r"[\n#`]|<<|\$'")
_SCRIPT = late(r"[^/-][^/]*\.(py|sh|bash|js|mjs|ts|rb|pl|php|R|jl)")
_BUILT_IN = frozenset(
    ("alias", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "printf", "pwd", "read", "return",
     "set", "shift", "test", "trap", "true", "type", "umask", "unset", "wait")
)  # fmt: skip


class Lack(Struct, frozen=True):
    """One thing that is not there, for whom, and what to type or write."""

    level: Level
    who: tuple[str, ...]
    line: int  # in the workflow's file; 0 = none of it
    problem: str
    hint: str
    why: str = ""  # why this one was taken, where the workflow leaves it open

    @property
    def whom(self) -> str:
        """`agent writer`, `agents writer, editor`, `the check of plan`."""
        agents = [name for name in self.who if " " not in name and not name.isupper()]
        others = [name for name in self.who if name not in agents]
        told = [f"agent{'s' * (len(agents) > 1)} {', '.join(agents)}"] if agents else []
        return ", ".join([*told, *others, *([self.why] if self.why else [])])


class Way(Struct, frozen=True):
    """What one or several agents are done by: a model, a command, a Python function."""

    kind: Literal["model", "command", "python"]
    name: str  # as people know it
    agent: Agent  # one of them
    who: tuple[str, ...]
    line: int
    beside: str = ""  # the folder of the workflow's file
    why: str = ""  # why this one was taken, where the workflow leaves it open

    @property
    def url(self) -> str:
        return str(self.agent.options.get("base_url") or "")


def ways(
    workflow: Workflow,
    reach: Reach,
    fixed: Fixed,
    environ: Mapping[str, str],
    helping: Iterable[tuple[str, str]] = (),
    beside: str = "",
) -> tuple[list[Way], list[Lack]]:
    """Each distinct way once, with everybody that shares it; and what is known to be wrong with agents that have none.

    `fixed`: the run's settings and inputs, as far as they are known. `helping`: models that gates or remarks are read
    by, with the variable that names each.
    """
    found: dict[object, Way] = {}
    lacks: list[Lack] = []
    workers = [(name, workflow.agents[name]) for name in reach.agents]
    lines = {phase.id: phase.line for phase in every_phase(workflow)}
    workers += [
        (
            f"the check of {phase}",
            Agent("check", "command", command=script, line=lines.get(phase, 0), sandbox=workflow.sandbox),
        )
        for phase, script in reach.scripts.items()
    ]
    workers += [(variable, Agent(variable, model=model)) for variable, model in helping if model]
    picked: list[Picked | None] = []  # looked for once, where it is wanted
    for who, written in workers:
        agent, why = _settled(written, fixed), ""
        if agent is not None and agent.kind == "model" and agent.model == "auto" and not agent.options.get("base_url"):
            if not picked:
                from reconvene.adapters.agents.auto import pick

                picked.append(pick(environ))
            why = picked[0].why if picked[0] else ""
            agent = _as_picked(agent, picked[0])
            if agent is None:
                lacks.append(_nothing_found(who))
        if agent is not None and agent.kind in ("model", "command", "python"):
            key = _key(agent)
            before = found.get(key) or Way(agent.kind, _name(agent), agent, (), agent.line, beside, why)
            found[key] = replace(before, who=(*before.who, who))
    return list(found.values()), _merged(lacks)


def _settled(agent: Agent, fixed: Fixed) -> Agent | None:
    """None where its command depends on what is not known yet."""
    try:
        return settled(agent, fixed.get("settings", {}), fixed.get("inputs", {}))
    except UserError:
        return None


def _as_picked(agent: Agent, picked: Picked | None) -> Agent | None:
    if picked is None:
        return None
    if picked.kind == "command":
        return replace(agent, kind="command", command=picked.command)
    return replace(agent, model=picked.model)


def _nothing_found(who: str) -> Lack:
    """Of no line in the file: what is missing is on the machine alone."""
    from reconvene.adapters.agents.auto import PROGRAMS

    *most, last = PROGRAMS
    problem = (
        "no model was found on this machine: no provider's key is set, no Ollama is running, and none of "
        f"{', '.join(most)} and {last} is installed"
    )
    keys = "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GOOGLE_API_KEY)"
    hint = f"any one is enough: {keys}; ollama serve; install {', '.join(most)} or {last}"
    return Lack("machine", (who,), 0, problem, hint)


def _merged(lacks: list[Lack]) -> list[Lack]:
    """The same lack of several agents as one."""
    found: dict[tuple[str, str], Lack] = {}
    for one in lacks:
        key = (one.problem, one.hint)
        found[key] = replace(found[key], who=(*found[key].who, *one.who)) if key in found else one
    return list(found.values())


def _key(agent: Agent) -> object:
    match agent.kind:
        case "command":
            return (agent.command, agent.sandbox, agent.network, agent.sockets)
        case "python":
            return agent.python
    return (agent.model, agent.options.get("base_url"), agent.options.get("api_key_env"))


def _name(agent: Agent) -> str:
    match agent.kind:
        case "command":
            line = agent.command[2] if agent.command[:2] == ("sh", "-c") and len(agent.command) == 3 else ""
            return line or shlex.join(agent.command)
        case "python":
            return agent.python
    url = agent.options.get("base_url")
    return f"{agent.model} at {url}" if url else agent.model


def lacks(way: Way, environ: Mapping[str, str]) -> list[Lack]:
    found = {"model": _model, "command": _command, "python": _python}[way.kind](way, environ)
    named = [Lack(level, way.who, way.line, problem, hint, way.why) for level, problem, hint in found]
    return [*named, *(_not_blanked(way, name) for name in too_short(environ, way.agent.env))]


def _not_blanked(way: Way, name: str) -> Lack:
    problem = f"the value of {name} is too short, or too plain a word, to be blanked: what the agent writes may show it"
    return Lack("note", way.who, way.line, problem, "a longer value, with letters and digits, is blanked")


def unpriced(ways: Iterable[Way], *, limited: bool, loops: Collection[str] = ()) -> list[Lack]:
    """Models that a limit of cost does not bound. `limited`: the workflow has one for its runs; `loops`: these agents
    have one for each attempt."""
    found: list[Lack] = []
    for way in ways:
        loop = any(name in loops for name in way.who)
        if way.kind != "model" or not (limited or loop):
            continue
        from reconvene.adapters.agents.prices import expected

        if expected(way.agent.model, 1000, 1000, way.url) is None:
            what = " and ".join(["limits.cost"] * limited + ["loop.cost"] * loop)
            bounds = "limits: {calls: …}" if limited else "loop: {tokens: …}"
            problem = f"no price is known for {way.name}, so {what} {'do' if limited and loop else 'does'} not bound it"
            hint = f"its tokens are counted; {bounds} bounds it as well"
            found.append(Lack("note", way.who, way.line, problem, hint))
    return found


_Found = Iterator[tuple[Level, str, str]]


# --- models ---


def _model(way: Way, environ: Mapping[str, str]) -> _Found:
    model, url = way.agent.model, way.url
    provider = model.partition(":")[0]
    if (wrong := wrong_with(model, url)) is not None:
        yield "file", wrong.problem, wrong.hint
        return
    from reconvene.adapters.agents import libraries

    if lacks := libraries.missing(model, url):
        yield "machine", f"the library for {way.name} is not installed", f"install it: {libraries.install_line(lacks)}"
        return
    yield from _wrong_address(way, provider, environ)
    yield from _no_key(way, provider, environ)
    if provider == "ollama" and not url:
        yield from _ollama(model.partition(":")[2], environ)


def _wrong_address(way: Way, provider: str, environ: Mapping[str, str]) -> _Found:
    """An address that could never be reached; Ollama's own variable may do without http://."""
    name = "base_url" if way.url else "OPENAI_BASE_URL" if provider in _OPENAI else f"{provider.upper()}_BASE_URL"
    known = way.url or (environ.get(name, "") if provider in (*_OPENAI, *_LOCAL) else "")
    if (wrong := wrong_address(name, known)) is not None:
        yield "file" if way.url else "machine", wrong.problem, wrong.hint


def _no_key(way: Way, provider: str, environ: Mapping[str, str]) -> _Found:
    own = str(way.agent.options.get("api_key_env") or "")
    names = (own,) if own else _KEYS.get(provider, ())
    for name in names:
        if (wrong := wrong_key(name, environ.get(name, ""))) is not None:
            yield "machine", wrong.problem, wrong.hint
            return
    if not names or any(environ.get(name) for name in names):
        return
    from urllib.parse import urlsplit  # most decisions need none

    foreign = urlsplit(environ.get("OPENAI_BASE_URL", "")).hostname not in (None, "api.openai.com")
    elsewhere = bool(way.url) or (provider in _OPENAI and foreign)
    if elsewhere and provider not in ("anthropic", "google"):
        if own:
            yield "note", f"{own} is not set; {way.name} is asked without a key", f"export {own}=…"
        return
    told = " or ".join(names)
    yield "machine", f"there is no key for {way.name}: {told} is not set", f"export {names[0]}=…"


def _ollama(name: str, environ: Mapping[str, str]) -> _Found:
    """A server that is slow, or starts later, may serve the model all the same."""
    from reconvene.adapters.agents import auto

    url = auto.ollama_url(environ)
    there = auto.probe_ollama(url)
    if there is None:
        yield "note", f"nobody answers at {url}, where Ollama should be", "start it: ollama serve"
    elif name not in there and f"{name}:latest" not in there:
        yield "note", f"Ollama at {url} does not have the model {name!r}", f"ollama pull {name}"


# --- commands ---


def _command(way: Way, environ: Mapping[str, str]) -> _Found:
    words = _words(way.agent.command)
    if why := _unclosed(way.agent.command):
        yield "file", f"the command line {_name(way.agent)!r} is not whole: {why}", "close the quote, or write a list"
        return
    if not words:
        return
    from shutil import which

    program = words[0]
    if "/" in program:
        yield from _at_path(program, way.beside)
    elif which(program, path=environ.get("PATH", "")) is None:
        blocked = _not_executable(program, environ)
        if blocked:
            yield "machine", f"{blocked} may not be executed", f"chmod +x {shlex.quote(blocked)}"
        else:
            beside = os.path.join(way.beside, program) if way.beside else ""
            hint = f"install {program}, or put it on PATH; command -v {program} then says where it is"
            if beside and os.path.isfile(beside):
                hint = f"it lies beside the workflow, which is not on PATH: write its full path, {beside}"
            yield "machine", f"there is no program {program!r} on PATH", hint
    yield from _scripts(words, way.beside)


def _words(command: tuple[str, ...]) -> tuple[str, ...]:
    """Of a line for the shell only where it is one plain command; what else shells can do is not followed."""
    if command[:2] != ("sh", "-c") or len(command) != 3:
        return command
    try:
        words = shlex.split(command[2]) if _PLAIN_LINE.fullmatch(command[2]) else []
    except ValueError:
        words = []
    plain = words and words[0] not in _BUILT_IN and "=" not in words[0]
    return tuple(words) if plain else command


def _unclosed(command: tuple[str, ...]) -> str:
    """What is wrong with the quotes of a line for the shell, where it is one simple line."""
    if command[:2] != ("sh", "-c") or len(command) != 3 or _NOT_SIMPLE.search(command[2]):
        return ""
    try:
        shlex.split(command[2])
    except ValueError as error:
        return str(error).lower()
    return ""


def _at_path(program: str, beside: str) -> _Found:
    path = os.path.expanduser(program) if program.startswith("~") else program
    if not os.path.isabs(path):
        full = os.path.abspath(os.path.join(beside or ".", path))
        there = f"write its full path: {full}" if os.path.exists(full) else "write its full path"
        yield "file", f"{program} is not found: a command starts in a private folder, not beside the workflow", there
    elif os.path.isdir(path):
        yield "machine", f"{program} is a folder, not a program", "name the program in it"
    elif not os.path.exists(path):
        yield "machine", f"there is no program {program}", "check the path, or correct `command:`"
    elif not os.access(path, os.X_OK):
        yield "machine", f"{program} may not be executed", f"chmod +x {shlex.quote(path)}"


def _not_executable(program: str, environ: Mapping[str, str]) -> str:
    """A file of this name on PATH that lacks only the permission."""
    paths = (os.path.join(folder, program) for folder in environ.get("PATH", "").split(os.pathsep) if folder)
    return next((path for path in paths if os.path.isfile(path)), "")


def _scripts(words: tuple[str, ...], beside: str) -> _Found:
    """`python3 score.py`: the script is looked for in the agent's own folder."""
    first = words[1] if len(words) > 1 else ""
    if os.path.isabs(first) and _SCRIPT.fullmatch(os.path.basename(first)) and not os.path.exists(first):
        yield "machine", f"there is no file {first}", "check the path, or correct `command:`"
    for word in words[1:3]:
        path = os.path.join(beside, word) if beside else ""
        if _SCRIPT.fullmatch(word) and path and os.path.isfile(path):
            problem = f"{word} lies beside the workflow, and a command starts in a private folder"
            yield "note", problem, f"write its full path: {path}"


# --- functions ---


def _python(way: Way, environ: Mapping[str, str]) -> _Found:
    from reconvene.adapters.agents.function_finder import missing_function

    lack = missing_function(way.agent.python, [way.agent.beside] if way.agent.beside else [])
    if lack is None:
        return
    module = way.agent.python.partition(":")[0]
    if lack.hint:
        hint = lack.hint
    elif lack.near:
        hint = f"did you mean {module}:{lack.near}?"
    elif lack.file:
        hint = f"define it in {lack.file}"
    else:
        hint = f"put {module.partition('.')[0]}.py beside the workflow, or install it beside reconvene"
    yield "machine", lack.problem, hint
