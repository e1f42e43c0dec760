"""`shell`: a program in the sandbox, in the attempt's folder. All that it started is gone when the call returns."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.adapters.shared import process
from reconvene.adapters.shared.started_environment import environment
from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.attempt_tree import MEGABYTE, AttemptTree, Changed
from reconvene.adapters.tools.offered import (
    Arguments,
    Brought,
    Entry,
    Offered,
    ToolFailed,
    in_thread,
    number,
    takes,
    text,
    whole,
    word,
)
from reconvene.errors import AgentError
from reconvene.ports import Assignment
from reconvene.sandbox_ports import Ground, Kept, Sandbox, Start
from reconvene.tool_ports import ToolInfo, ToolResult

NAME = "run_command"
_SECONDS = 120
LONGEST = 600
MOST_WRITTEN = 64 * MEGABYTE  # bytes of output, after which a program is ended
_MOST_NAMED = 50  # files
_BOTH = 'exec sh -c "$1" 2>&1'  # errors and output in the order in which they are written


class Programs(NamedTuple):
    """How programs are started for one attempt. `hidden`: what they must not see beside what nobody's program does."""

    assignment: Assignment
    sandbox: Sandbox
    environ: Mapping[str, str]
    hidden: Callable[[], Iterable[str]]

    def start(
        self,
        argv: tuple[str, ...],
        folder: str,
        names: Iterable[str] = (),
        *,
        network: bool = True,
        read_only: bool = False,
    ) -> Start:
        """`names`: variables that it may see beside the usual ones."""
        # whoever acts on the world is asked about by the call, not by the program: it ends with the engine
        agent = replace(self.assignment.agent, effects=False, network=self.assignment.agent.network and network)
        env = environment(self.assignment, folder, self.environ, names)
        return Start(agent, argv, env, folder, Ground(hidden=tuple(self.hidden())), read_only=read_only)


def brought(entry: Entry, programs: Programs, tree: AttemptTree, turn: asyncio.Lock) -> Brought:
    shell = _Shell(programs, tree, turn, entry.options)
    if shell.read_only and (why := shell.why_not()):
        return Brought(left_out={NAME: why})
    may = "may only read it" if shell.read_only else "may change it"
    about = (
        f"Runs a command line with `sh` in your folder, in a sandbox: it {may}. Shows the exit code, and what was "
        f"written: the beginning and the end where it is long. Everything that it starts is ended with it. Nobody can "
        f"answer questions that it asks."
    )
    schema = takes(
        "command",
        command=text("The command line.", "wc -l *.md", least=1, most=20_000),
        timeout=whole(f"Seconds after which it is ended; {_SECONDS} if you leave it out.", 60, most=shell.longest),
    )
    info = ToolInfo(NAME, "shell", about, schema, effects=True, writes=not shell.read_only)
    return Brought((Offered(info, shell.run),))


class _Output(process.Child):
    """Gathers what is written, in any amount; `over` when it has ended, or wrote too much."""

    def __init__(self) -> None:
        super().__init__()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ends = cutting.Ends()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.ends.add(data)
        if self.ends.size > MOST_WRITTEN:
            process.settle(self.over)

    def process_exited(self) -> None:
        super().process_exited()
        process.settle(self.over)


class _Ran(NamedTuple):
    code: int
    output: cutting.Ends
    late: bool
    flooded: bool


class _Shell:
    def __init__(
        self, programs: Programs, tree: AttemptTree, turn: asyncio.Lock, options: Mapping[str, object]
    ) -> None:
        self._programs = programs
        self._tree = tree
        self._turn = turn
        self._network = options.get("network", True) is not False
        self.read_only = bool(options.get("read"))
        given = options.get("timeout", LONGEST)
        self.longest = max(1, int(given)) if isinstance(given, int | float) else LONGEST

    def why_not(self) -> str:
        """Why nothing keeps a program from writing into the folder; "" where something does."""
        try:
            with self._programs.sandbox.keep(self._start("true")):
                return ""
        except AgentError as error:
            return error.message

    def _start(self, command: str) -> Start:
        names = self._programs.assignment.agent.env
        argv = ("sh", "-c", _BOTH, "sh", command)
        return self._programs.start(argv, self._tree.root, names, network=self._network, read_only=self.read_only)

    async def run(self, arguments: Arguments) -> ToolResult:
        seconds = min(number(arguments, "timeout", min(_SECONDS, self.longest)), self.longest)
        async with self._turn:
            try:
                with self._programs.sandbox.keep(self._start(word(arguments, "command"))) as kept:
                    ran = await self._ran(kept, seconds)
            except AgentError as error:
                raise ToolFailed(error.message) from error
            except (OSError, ValueError) as error:
                raise ToolFailed(
                    f"The command cannot be started: {getattr(error, 'strerror', '') or error}."
                ) from error
            changed = await in_thread(self._tree.changes)
        return _told(ran, changed, kept.level, seconds)

    async def _ran(self, kept: Kept, seconds: float) -> _Ran:
        late = False
        work = process.started(_Output, kept.argv, self._tree.root, kept.env, kept.stand_in, kept.started, kept.handles)
        async with work as (transport, output):
            if (pipe := transport.get_pipe_transport(0)) is not None:
                pipe.close()
            try:
                async with asyncio.timeout(seconds):
                    await asyncio.shield(output.over)
            except TimeoutError:
                late = True
        code = process.exit_code(transport, kept.stand_in)
        return _Ran(code, output.ends, late, output.ends.size > MOST_WRITTEN)


def _told(ran: _Ran, changed: Changed, level: str, seconds: float) -> ToolResult:
    how = f"exit code {ran.code}" if ran.code >= 0 else f"ended by {_signal(-ran.code)}"
    if ran.late:
        how = f"not done within {seconds:g} s: it was ended, with all that it started"
    elif ran.flooded:
        how = f"it wrote more than {MOST_WRITTEN // MEGABYTE} MB and was ended; let it write into a file"
    output = cutting.printable(ran.output.text()).rstrip()
    parts = [f"[{how}]", output or "[it wrote nothing]"]
    parts += [f"[changed: {_names(changed.files)}]"] if changed.files else []
    parts += [f"[removed: {_names(changed.removed)}]"] if changed.removed else []
    parts += [f"[not kept: {_names(changed.ignored)}]"] if changed.ignored else []
    failed = ran.late or ran.flooded
    return ToolResult("\n".join(parts), failed, changed.files, changed.removed, sandbox=level)


def _names(paths: Iterable[str]) -> str:
    names = list(paths)
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
