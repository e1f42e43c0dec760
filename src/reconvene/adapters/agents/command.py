"""An agent that is a command: prompt on stdin, a private folder to work in, stdout as its output.

It sees an allow-listed environment and nothing of the workspace but copies of what its step may read.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import time
from collections.abc import Mapping

from reconvene.adapters.agents import attempt_folder as folder
from reconvene.adapters.agents import process
from reconvene.adapters.agents.as_answer import Interpreted, ReplyError, Taken, interpret, parse_value
from reconvene.adapters.agents.secrets import redact, redact_text
from reconvene.adapters.agents.thinking import without_thinking
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Listener, Progress

_ALLOWED = ("PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL")


async def run(
    assignment: Assignment, listener: Listener, scratch: str, environ: Mapping[str, str], *, as_model: bool = False
) -> Answer:
    """One attempt. `as_model`: the command stands in for a model, so files may come as blocks inside its reply."""
    if assignment.folder:  # kept, filled and read back by whoever lends it
        return await _work(assignment, listener, assignment.folder, environ, as_model)
    # made and removed without a pause in between, so that no cancellation can leave the folder behind
    root = folder.make(scratch, assignment)
    try:
        return await _work(assignment, listener, root, environ, as_model)
    finally:
        folder.clear(root)


async def _work(
    assignment: Assignment, listener: Listener, root: str, environ: Mapping[str, str], as_model: bool
) -> Answer:
    agent = assignment.agent
    if not agent.command:
        raise AgentError(f"Agent {agent.name!r} has no command.", retryable=False, hint="Give it `command: [...]`.")
    env = _environment(assignment, root, environ)
    request = redact(_request(assignment, env), environ)
    began = time.monotonic()
    try:
        outcome = await process.run(
            agent.command,
            assignment.prompt.encode("utf-8", "replace"),
            root,
            env,
            agent.timeout,
            lambda data: _tell(assignment, listener, data),
        )
    except TimeoutError:
        raise AgentError(
            f"{_name(assignment)} did not end within {agent.timeout:g} s and was stopped.",
            hint="Raise the agent's `timeout`, or find out what it waits for.",
        ) from None
    except OSError as error:
        raise _not_started(assignment, error) from error
    except ValueError as error:  # a NUL byte in an argument
        raise AgentError(f"{_name(assignment)} cannot be started: {error}.", retryable=False) from error
    usage = Usage(requests=1, seconds=round(time.monotonic() - began, 3))
    reply = redact(outcome.stdout, environ)
    try:
        _check_outcome(assignment, outcome, environ)
        lent = bool(assignment.folder)
        taken = Taken({}, ()) if lent else await asyncio.to_thread(folder.collect, root, assignment)
        read = _read(assignment, outcome.stdout.decode("utf-8", "replace"), taken, as_model)
    except AgentError as error:
        raise ReplyError(
            error.message,
            hint=error.hint,
            outcome=error.outcome,
            retryable=error.retryable,
            said=redact_text(error.said, environ),
            usage=usage,
            request=request,
            reply=reply,
        ) from error
    return Answer(read.text, read.value, read.has_value, read.files, read.ignored, usage, request, reply)


def _environment(assignment: Assignment, root: str, environ: Mapping[str, str]) -> dict[str, str]:
    names = {*_ALLOWED, *assignment.agent.env}
    env = {name: value for name, value in environ.items() if name in names or name.startswith("LC_")}
    return env | {
        "RECONVENE_RUN": assignment.run,
        "RECONVENE_TASK": assignment.task,
        "RECONVENE_ATTEMPT": str(assignment.attempt),
        "RECONVENE_WORKDIR": root,
    }


def _request(assignment: Assignment, env: Mapping[str, str]) -> bytes:
    document = {
        "command": list(assignment.agent.command),
        "environment": sorted(env),
        "files": sorted(assignment.files),
        "stdin": assignment.prompt,
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _tell(assignment: Assignment, listener: Listener, data: bytes) -> None:
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    if lines:
        listener(Progress(assignment.run, assignment.task, assignment.agent.name, "output", lines[-1].strip()[:200]))


def _not_started(assignment: Assignment, error: OSError) -> AgentError:
    program = assignment.agent.command[0]
    match error:
        case FileNotFoundError():
            problem = "there is no such program"
        case PermissionError():
            problem = "it may not be executed"
        case _:
            # too many processes, no memory, an argument list too long: another moment may do
            return AgentError(f"{_name(assignment)} cannot be started: {error.strerror or error}.")
    hint = f"Install {os.path.basename(program)!r} or put it on PATH, or correct `command:` of this agent."
    if "/" in program and not program.startswith("/"):
        hint = "A command starts in a private folder: give the program's full path, or its bare name on PATH."
    return AgentError(f"{_name(assignment)} cannot be started: {problem}.", hint=hint, retryable=False)


def _check_outcome(assignment: Assignment, outcome: process.Outcome, environ: Mapping[str, str]) -> None:
    if outcome.flooded:
        limit = process.MAX_OUTPUT // (1024 * 1024)
        raise AgentError(
            f"{_name(assignment)} wrote more than {limit} MB to its output and was stopped.",
            hint="Let it write large results to files instead.",
        )
    if outcome.code == 0:
        return
    how = f"exit code {outcome.code}" if outcome.code > 0 else f"signal {_signal_name(-outcome.code)}"
    said = redact_text(outcome.stderr_tail.decode("utf-8", "replace").strip(), environ)
    raise AgentError(f"{_name(assignment)} failed with {how}" + (f": {said}" if said else "."))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _read(assignment: Assignment, text: str, taken: Taken, as_model: bool) -> Interpreted:
    if as_model:
        # Files it wrote into its folder count; where it could not write, they come in the reply.
        said = without_thinking(text).text
        spoken = interpret(assignment._replace(writes=()) if taken.files else assignment, said)
        return spoken._replace(files=spoken.files | taken.files, ignored=spoken.ignored + taken.ignored)
    if assignment.schema is None:
        return Interpreted(text, None, False, taken.files, taken.ignored)
    return Interpreted(text, parse_value(assignment.schema, text), True, taken.files, taken.ignored)


def _name(assignment: Assignment) -> str:
    shown = shlex.join(assignment.agent.command)
    return f"The command of {assignment.agent.name!r} ({shown if len(shown) <= 80 else shown[:77] + '…'})"
