"""What the sandbox is on this machine, in words: for `doctor`, for a start, and where it is not what was asked for.

Nothing is kept in here.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from reconvene.core.definition.workflow import Agent

if TYPE_CHECKING:
    from reconvene.adapters.sandbox.levels import Level

INSTALL = "install bubblewrap: apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap"
_MOST_WORDS = 100
TRUSTED = "Python functions share the engine's process: they are trusted"


class Asked(NamedTuple):
    """What one or several agents are done by."""

    agent: Agent
    who: tuple[str, ...]
    kind: str
    line: int = 0


class Unkept(NamedTuple):
    level: Literal["machine", "note"]
    who: tuple[str, ...]
    line: int
    problem: str
    hint: str


class Told(NamedTuple):
    lines: tuple[str, ...]
    lacks: tuple[Unkept, ...]


def here(environ: Mapping[str, str], usual: str) -> tuple[bool, str]:
    if usual == "off":
        return False, "off (RECONVENE_SANDBOX): commands may read and change whatever you may"
    from reconvene.adapters.sandbox import levels

    level = levels.find(environ)
    why = f"; {'; '.join(level.lacks)} ({INSTALL})" if level.lacks else ""
    return level.name == "bubblewrap" or (level.name == "landlock" and level.filters), f"{level.told}{_but(level)}{why}"


def told(asked: Sequence[Asked], environ: Mapping[str, str], usual: str, ours: Sequence[str] = ()) -> Told:
    """For those that are commands or functions, or have a shell; `usual`: what auto means here; `ours`: what is hidden
    beside all that is private."""
    programs = [one for one in asked if one.kind in ("command", "shell")]
    off = [one for one in programs if _wanted(one, usual) == "off"]
    kept = [one for one in programs if one not in off]
    lines = [f"sandbox: off for {_names(off)}"] if off else []
    lacks: list[Unkept] = []
    if kept:
        from reconvene.adapters.sandbox import levels

        level = levels.find(environ)
        lines.insert(0, _line(level, kept))
        lacks = [lack for one in kept for lack in _lacks(one, level, usual)]
        if level.name != "none":
            lacks += [lack for one in kept if one.kind == "command" for lack in _hidden(one, environ, ours)]
    lacks += [_open_network(one) for one in off if not one.agent.network]
    docker = [one for one in programs if "docker" in one.agent.sockets]
    lines += [f"sandbox: {_names(docker)} may use docker: that is no sandbox"] if docker else []
    functions = [one for one in asked if one.kind == "python"]
    lines += [f"sandbox: none for {_names(functions)}: {TRUSTED}"] if functions else []
    lacks += [_in_process(one) for one in functions if _wanted(one, usual) == "strict"]
    return Told(tuple(lines), tuple(lacks))


def _but(level: Level) -> str:
    """What a level does not keep from anybody, and what it costs."""
    if level.name != "landlock":
        return ""
    if not level.filters:
        return ": sockets stay open (ssh-agent, docker, tmux: whoever answers there acts as you)"
    return ": programs see the names of processes, and can make no Unix sockets (`sockets: [own]` lets them)"


def _line(level: Level, kept: Sequence[Asked]) -> str:
    if level.name != "none":
        return f"sandbox: {level.told} for {_names(kept)}{_but(level)}"
    why = "; ".join(level.lacks)
    return f"! no sandbox: {_names(kept)} may read and change whatever you may ({why}; {INSTALL})"


def _lacks(one: Asked, level: Level, usual: str) -> Iterable[Unkept]:
    strict = _wanted(one, usual) == "strict"
    if strict and level.name == "none":
        problem = f"`sandbox: strict`, and there is no sandbox here: {'; '.join(level.lacks)}"
        yield Unkept("machine", one.who, one.line, problem, INSTALL)
        return
    kind: Literal["machine", "note"] = "machine" if strict else "note"
    closes = level.name == "bubblewrap" or (level.filters and not one.agent.sockets)
    if not one.agent.network and not closes:
        held = "only TCP is closed" if level.abi >= 4 else "the network stays open"
        yield Unkept(kind, one.who, one.line, f"`network: false` needs bubblewrap; {held} here", INSTALL)
    if level.name == "landlock" and not closes:
        why = "where `sockets` names one, all are open" if one.agent.sockets else "this machine has no filter for them"
        problem = f"without bubblewrap whoever answers at a Unix socket (ssh-agent, docker, tmux) is reached: {why}"
        yield Unkept(kind, one.who, one.line, problem, INSTALL)


def _open_network(one: Asked) -> Unkept:
    problem = "`network: false` closes nothing where the sandbox is off: the network stays open"
    return Unkept("note", one.who, one.line, problem, "remove `sandbox: off`, or RECONVENE_SANDBOX=off")


def _in_process(one: Asked) -> Unkept:
    problem = "`sandbox: strict`, and a Python function shares the engine's process: nothing keeps it in"
    hint = "let a command call the function; or, if you trust it, write sandbox: off for this agent"
    return Unkept("machine", one.who, one.line, problem, hint)


def _hidden(one: Asked, environ: Mapping[str, str], ours: Sequence[str]) -> Iterable[Unkept]:
    """Files that a command line names and that it will not find. What stands in a line for the shell is not looked at
    when the sandbox is made."""
    from reconvene.adapters.sandbox import hiding

    argv = one.agent.command
    line = argv[2] if argv[:2] == ("sh", "-c") and len(argv) == 3 else ""
    try:
        words = shlex.split(line) if line else list(argv)
    except ValueError:
        return
    named = [word for word in words[:_MOST_WORDS] if os.path.isabs(word) and os.path.isfile(word)]
    if not named:
        return
    own = hiding.real(ours)
    hidden = frozenset(hiding.real([*hiding.private(environ), *own]))
    shown = hiding.real(hiding.needed(argv, {"PATH": environ.get("PATH", "")}, hidden))
    shown = [path for path in shown if not any(hiding.within(path, other) for other in own)]
    plain = len(words) == 2 and words[1] in named
    for word in named:
        path = os.path.realpath(word)
        if any(hiding.within(path, each) for each in hidden) and not any(hiding.within(path, each) for each in shown):
            how = "name it as a word of its own: command: " + json.dumps(words, ensure_ascii=False)
            how = how if plain and line and not any(hiding.within(path, each) for each in own) else "lay it elsewhere"
            hint = f"{how}; or write sandbox: off"
            yield Unkept("machine" if plain else "note", one.who, one.line, f"the sandbox hides {word}", hint)


def _wanted(one: Asked, usual: str) -> str:
    return usual if one.agent.sandbox == "auto" else one.agent.sandbox


def _names(asked: Iterable[Asked]) -> str:
    return ", ".join(name for one in asked for name in one.who)
