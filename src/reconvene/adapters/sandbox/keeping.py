"""One program in its sandbox, or with a keeper alone: made ready before an attempt, taken away after it."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from reconvene.adapters.sandbox import bubblewrap, hiding, landlock, levels, logins, places, private_home, remains
from reconvene.adapters.sandbox.about import INSTALL
from reconvene.adapters.sandbox.levels import Level
from reconvene.adapters.sandbox.nearby import Nearby, without_sockets
from reconvene.adapters.sandbox.places import Places, remove
from reconvene.adapters.sandbox.socket_filter import filter_for
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.sandbox_ports import Kept, Left, Start

_PLAN, _FILTER = "plan", "filter"
_MOST_SHOWN = 200  # characters of a command line
_OF_SOCKETS = {"docker": "with docker, which is no sandbox", "own": "with sockets of its own"}


class Keeping:
    """What `Sandboxes` says."""

    def __init__(
        self, root: str, environ: Mapping[str, str], ours: Callable[[], Iterable[str]], usual: str, home: str
    ) -> None:
        self._places = Places(root)
        self._environ = environ
        self._ours = ours
        self._usual = usual
        self._home = home
        self._nearby = Nearby()

    def scratch(self) -> str:
        return self._places.own()

    def close(self) -> None:
        self._places.close()

    def of(self, run: str) -> list[Left]:
        found = self._places.sweep(remains.home_key(self._home), run) if self._home else self._places.sweep()
        return [left for path in found if (left := self._left(path, run)) is not None]

    def _left(self, path: str, run: str) -> Left | None:
        noted, pids = remains.noted(path), remains.alive([path])
        if noted is None or not pids or (noted.home, noted.run) != (remains.home_key(self._home), run):
            return None
        return Left(path, noted.task, noted.attempt, remains.leader(path) or min(pids), noted.command, noted.began)

    def is_alive(self, left: Left) -> bool:
        return bool(remains.alive([left.key]))

    def end(self, left: Iterable[Left]) -> None:
        places.end({one.key for one in left})

    def end_own(self) -> None:
        self._places.end_own()

    @contextmanager
    def keep(self, start: Start) -> Iterator[Kept]:
        level = self._level(start)
        argv = _found(start)
        folder = self._places.new()
        try:
            remains.note(folder, self._noted(start))
            start = start._replace(env={**start.env, remains.MARK: folder})
            if level is None or level.name == "none":
                kept = self._kept(start, argv, folder, "off" if level is None else "none")
                yield kept._replace(started=partial(remains.note_started, folder))
            else:
                kept = self._confined(level, start, argv, folder)
                renewed = logins.found(kept.env.get("HOME", ""), start.copies, start.logins)
                try:
                    yield kept._replace(started=partial(remains.note_started, folder))
                finally:
                    logins.take_over(renewed)
                    for handle in kept.handles:
                        os.close(handle)
        finally:
            if os.path.exists(os.path.join(folder, _PLAN)):  # its keeper was killed
                remains.end([folder], at_once=True)
            remove(folder)

    def _noted(self, start: Start) -> remains.Attempt:
        env, agent = start.env, start.agent
        number = env.get("RECONVENE_ATTEMPT", "")
        return remains.Attempt(
            remains.home_key(self._home) if self._home else "",
            env.get("RECONVENE_RUN", ""),
            env.get("RECONVENE_TASK", ""),
            int(number) if number.isdecimal() else 0,
            agent.name,
            shlex.join(start.argv)[:_MOST_SHOWN],
            time.time(),
            agent.effects,
        )

    def _empty(self) -> str:
        """A folder with nothing in it, which nobody can write to from inside a sandbox."""
        path = os.path.join(self._places.own(), "empty")
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def _level(self, start: Start) -> Level | None:
        """None: nothing is asked for."""
        wanted = self._usual if start.agent.sandbox == "auto" else start.agent.sandbox
        if wanted == "off":
            if start.read_only:
                raise _not_read_only(start, "the sandbox is off")
            return None
        level = levels.find(self._environ)
        if start.read_only and level.name == "none":
            raise _not_read_only(start, "; ".join(level.lacks))
        if wanted == "strict" and level.name == "none":
            raise AgentError(
                f"{start.agent.name} may only work in a sandbox, and there is none here: {'; '.join(level.lacks)}.",
                hint=INSTALL,
                retryable=False,
            )
        if wanted == "strict" and level.name == "landlock" and not _closes(level, start.agent):
            problem = f"{start.agent.name} may only work in a sandbox, and the one here leaves Unix sockets open."
            raise AgentError(problem, hint=INSTALL, retryable=False)
        return level

    def _kept(
        self,
        start: Start,
        argv: tuple[str, ...],
        folder: str,
        level: str,
        rules: Sequence[str] = (),
        closed: bytes = b"",
    ) -> Kept:
        """With a keeper, where there can be one."""
        if not levels.has_keeper():
            return Kept(argv, start.env, level)
        plan = os.path.join(folder, _PLAN)
        levels.write_plan(plan, rules, closed, stays=start.agent.effects)
        return Kept(levels.keeper(plan, argv), start.env, level, "keeper")

    def _confined(self, level: Level, start: Start, argv: tuple[str, ...], folder: str) -> Kept:
        agent, ground = start.agent, start.ground
        if start.alone and not level.nests:
            argv = start.alone
        ours = hiding.real(self._ours())
        private = [*hiding.private(self._environ), *ground.hidden]
        private += hiding.behind(private, self._environ)
        hidden = frozenset(hiding.real([*private, *ours]))
        found = self._nearby.found(self._around(ground.hidden), hidden)
        hidden |= found.homes
        wanted = hiding.real([*hiding.needed(argv, start.env, hidden), *hiding.sockets(agent.sockets, self._environ)])
        readable = [path for path in wanted if not any(hiding.within(path, other) for other in ours)]
        readable += hiding.real([*ground.readable, *([start.folder] if start.read_only else [])])
        home, temporary = os.path.join(folder, "home"), os.path.join(folder, "tmp")
        os.mkdir(temporary, 0o700)
        env = dict(start.env)
        if person := hiding.own(start.env):
            private_home.make(home, person, hidden, start.copies)
            env |= {name: os.path.join(home, below) for name, below in start.moved.items() if name in env}
            env["HOME"] = home
        own = [] if start.read_only else [start.folder]
        writable = hiding.real([*own, *ground.writable, *([home] if person else [])])
        devices = hiding.devices(agent.devices)
        told = _told(level, start) + (", without its own" if argv != start.argv else "")
        if level.name == "bubblewrap":
            env["TMPDIR"] = "/tmp"
            closed, shown = without_sockets(found.sockets, hidden, readable, writable)
            handle = _opened(folder, filter_for(all_kinds=False)) if _closes(level, agent) else -1
            walls = bubblewrap.Walls(closed, shown, writable, devices, temporary, self._empty(), agent.network, handle)
            base = [word for word in level.bubblewrap if not (agent.effects and word == levels.WITH_PARENT)]
            line = bubblewrap.command(base, walls, start.folder, argv)
            return Kept(line, env, told, "sandbox", handles=walls.handles)
        env["TMPDIR"] = temporary
        rules = landlock.plan(
            level.abi,
            landlock.Allowed(hidden, tuple(readable), (*writable, temporary), tuple(devices), agent.network),
        )
        steps = filter_for(all_kinds=not agent.network) if _closes(level, agent) else b""
        return self._kept(start._replace(env=env), argv, folder, told, rules, steps)

    def _around(self, hidden: Iterable[str]) -> Iterator[str]:
        """Where else homes may be: in the person's own folder, and beside the folders that are worked in."""
        if person := hiding.own(self._environ):
            yield person
        places = [*hidden, *([os.path.dirname(self._home)] if self._home else [])]
        for above in {os.path.dirname(os.path.realpath(place)) for place in places}:
            if above != "/" and not (person and hiding.within(above, person)):
                yield above


def _not_read_only(start: Start, why: str) -> AgentError:
    problem = f"A program of {start.agent.name} may only read, and nothing here keeps it from writing: {why}."
    return AgentError(problem, hint=INSTALL, retryable=False)


def _closes(level: Level, agent: Agent) -> bool:
    """Whether a program is kept from making sockets of this machine. Under bubblewrap those of others are hidden, and
    it may make its own, unless it is to reach nothing."""
    return level.filters and not agent.sockets and (level.name == "landlock" or not agent.network)


def _opened(folder: str, data: bytes) -> int:
    path = os.path.join(folder, _FILTER)
    with open(path, "wb") as file:
        file.write(data)
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _told(level: Level, start: Start) -> str:
    """As it is recorded: `bubblewrap, no network`."""
    agent, name = start.agent, level.name
    closed = "no network" if name == "bubblewrap" or _closes(level, agent) else "no TCP"
    parts = [name, *([] if agent.network else [closed])]
    parts += ["read only"] if start.read_only else []
    parts += [f"with {each}" for each in agent.devices]
    parts += [_OF_SOCKETS.get(each, f"with {each}") for each in agent.sockets]
    if name == "landlock" and not _closes(level, agent):
        parts.append("all sockets open")
    return ", ".join(parts)


def _found(start: Start) -> tuple[str, ...]:
    """The command with its program's full path. OSError where it is not there, as if it had been started."""
    program = start.argv[0]
    if "/" in program:
        path = os.path.join(start.folder, program)
        if not os.path.exists(path):
            raise FileNotFoundError(program)
        if os.path.isdir(path) or not os.access(path, os.X_OK):
            raise PermissionError(program)
        return start.argv
    path = shutil.which(program, path=start.env.get("PATH", os.defpath)) or ""
    if not path:
        raise FileNotFoundError(program)
    return start.argv
