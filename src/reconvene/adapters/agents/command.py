"""An agent that is a command: prompt on stdin, a private folder to work in, stdout as its output.

It sees an allow-listed environment and nothing of the workspace but copies of what its step may read. A bare name of a
known program (`presets`) stands for that program's way of working unattended, and its output is read accordingly.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import shlex
import signal
import time
from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.adapters.agents import asking, preset_output, presets, stream_ends
from reconvene.adapters.agents.as_answer import Interpreted, ReplyError, interpret, parse_value, spoken
from reconvene.adapters.shared import attempt_folder as folder
from reconvene.adapters.shared import process
from reconvene.adapters.shared.file_names import Taken
from reconvene.adapters.shared.started_environment import environment
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError, Outcome
from reconvene.ports import Answer, Assignment, Listener, Progress
from reconvene.sandbox_ports import Kept, Sandbox, Start
from reconvene.secrets import redact, redact_text


class _Job(NamedTuple):
    """One attempt as it is run. `preset`: its output is read as that program's."""

    assignment: Assignment
    argv: tuple[str, ...]
    root: str
    env: dict[str, str]
    known: presets.Preset | None
    preset: presets.Preset | None
    as_model: bool


async def run(
    assignment: Assignment,
    listener: Listener,
    sandbox: Sandbox,
    environ: Mapping[str, str],
    *,
    as_model: bool = False,
) -> Answer:
    """One attempt. `as_model`: the command stands in for a model, so files may come as blocks inside its reply."""
    known = presets.program(assignment.agent.command)
    if assignment.folder:  # kept, filled and read back by whoever lends it
        return await _kept(sandbox, _job(assignment, assignment.folder, environ, as_model), listener, environ)
    if known is not None:
        assignment = _without_steering(assignment, known, listener)
    # made and removed without a pause in between, so that no cancellation can leave the folder behind
    root = folder.make(sandbox.scratch(), assignment)
    try:
        return await _kept(sandbox, _job(assignment, root, environ, as_model), listener, environ)
    finally:
        folder.clear(root)


async def _kept(sandbox: Sandbox, job: _Job, listener: Listener, environ: Mapping[str, str]) -> Answer:
    """The job in its sandbox, which is made and removed without a pause, too."""
    agent, level = job.assignment.agent, ""
    if not agent.command:
        raise AgentError(f"Agent {agent.name!r} has no command.", retryable=False, hint="Give it `command: [...]`.")
    try:
        with sandbox.keep(_start(job, environ)) as kept:
            level = kept.level
            answer = await _work(job, kept, listener, environ)
            return answer._replace(sandbox=level)
    except OSError as error:
        failed = _not_started(job.assignment, error)
        failed.sandbox = level
        raise failed from error
    except AgentError as error:
        error.sandbox = level
        raise


def _start(job: _Job, environ: Mapping[str, str]) -> Start:
    ground = job.assignment.ground
    ground = ground._replace(hidden=(*ground.hidden, *presets.all_folders(environ)))
    copies = presets.copies(job.argv, environ)
    alone = job.preset.alone(job.argv) if job.preset is not None else ()
    given = (ground, copies, presets.MOVED, presets.LOGINS, alone)
    return Start(job.assignment.agent, job.argv, job.env, job.root, *given)


def _without_steering(assignment: Assignment, known: presets.Preset, listener: Listener) -> Assignment:
    files = presets.without_steering(known, assignment.files)
    if left := sorted(set(assignment.files) - set(files)):
        said = f"{known.program} was not given {', '.join(left)}: it could start programs"
        listener(Progress(assignment.run, assignment.task, assignment.agent.name, "warning", said))
    return assignment._replace(files=files)


def _job(assignment: Assignment, root: str, environ: Mapping[str, str], as_model: bool) -> _Job:
    agent = assignment.agent
    named, known = presets.preset(agent.command), presets.program(agent.command)
    names = (*agent.env, *(presets.allowed(known, environ) if known else ()))
    env, argv = environment(assignment, root, environ, names), agent.command
    if named is not None:
        writes = _may_write(assignment)
        argv = named.command(writes=writes, files=_texts(assignment))
        env |= named.variables(writes=writes)
        # what it writes into its folder needs no words about blocks
        spoken = assignment._replace(writes=()) if writes and named.write else assignment
        prompt = assignment.prompt if as_model else asking.compose(spoken, with_schema=True)
        assignment = assignment._replace(prompt=prompt)
    return _Job(assignment, argv, root, env, known, named, as_model or named is not None)


def _may_write(assignment: Assignment) -> bool:
    """Where its step says so: with `writes`, or as work in a project."""
    if assignment.folder:
        return assignment.project is not None and assignment.project.place == "project"
    return bool(assignment.writes)


def _texts(assignment: Assignment) -> list[str]:
    return [] if assignment.folder else sorted(path for path, data in assignment.files.items() if _is_text(data))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


async def _work(job: _Job, kept: Kept, listener: Listener, environ: Mapping[str, str]) -> Answer:
    assignment, agent = job.assignment, job.assignment.agent
    request = redact(_request(job), environ)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    began = time.monotonic()
    late = False
    try:
        outcome = await process.run(
            kept.argv,
            assignment.prompt.encode("utf-8", "replace"),
            job.root,
            kept.env,
            agent.timeout,
            lambda data: _tell(job, listener, decoder.decode(data)),
            kept.stand_in,
            kept.started,
            kept.handles,
        )
    except process.TookTooLong as error:
        outcome, late = error.so_far, True
    except ValueError as error:  # a NUL byte in an argument
        raise AgentError(f"{_name(assignment)} cannot be started: {error}.", retryable=False) from error
    printed = _printed(job, outcome)
    usage = Usage(
        model=printed.model,
        input_tokens=printed.input_tokens,
        output_tokens=printed.output_tokens,
        requests=1,
        cost=printed.cost,
        seconds=round(time.monotonic() - began, 3),
    )
    reply = redact(outcome.stdout, environ)
    try:
        _check_outcome(job, outcome, printed, environ, late=late)
        lent = bool(assignment.folder)
        taken = Taken({}, ()) if lent else await asyncio.to_thread(folder.collect, job.root, assignment)
        read = _read(assignment, printed.text, taken, job.as_model)
    except AgentError as error:
        raise ReplyError(
            error.message,
            hint=error.hint,
            outcome=error.outcome,
            retryable=error.retryable,
            said=redact_text(error.said, environ),
            for_agents=error.for_agents,
            usage=usage,
            request=request,
            reply=reply,
        ) from error
    return Answer(read.text, read.value, read.has_value, read.files, read.ignored, usage, request, reply)


def _printed(job: _Job, outcome: process.Outcome) -> preset_output.Printed:
    stdout = outcome.stdout.decode("utf-8", "replace")
    if job.preset is None:
        return preset_output.Printed(stdout)
    return preset_output.read(job.preset.reader, stdout, outcome.stderr_tail.decode("utf-8", "replace"))


def _request(job: _Job) -> bytes:
    document = {
        "command": list(job.argv),
        "environment": sorted(job.env),
        "files": sorted(job.assignment.files),
        "stdin": job.assignment.prompt,
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _tell(job: _Job, listener: Listener, text: str) -> None:
    work = job.assignment
    here = (work.run, work.task, work.agent.name)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if job.preset is not None:  # it reports what it does in a form of its own
        lines = [told for line in lines if (told := preset_output.progress(line))]
        text = "".join(f"{line}\n" for line in lines)
    if lines:
        listener(Progress(*here, "output", lines[-1][:200]))
    if text:
        listener(Progress(*here, "text", text))


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


def _check_outcome(
    job: _Job, outcome: process.Outcome, printed: preset_output.Printed, environ: Mapping[str, str], *, late: bool
) -> None:
    name, agent = _name(job.assignment), job.assignment.agent
    if outcome.flooded:
        limit = process.MAX_OUTPUT // (1024 * 1024)
        raise AgentError(
            f"{name} wrote more than {limit} MB to its output and was stopped.",
            hint="Let it write large results to files instead.",
        )
    if outcome.code == 0 and not late and not printed.error:
        return
    said = stream_ends.end(printed.error.encode("utf-8", "replace"), environ)
    said = said or stream_ends.both(outcome.stdout, outcome.stderr_tail, environ)
    if late:
        raise AgentError(
            f"{name} did not end within {agent.timeout:g} s and was stopped." + _last_said(said),
            hint="Raise the agent's `timeout`, or find out what it waits for.",
        )
    how = f"failed with {_how(outcome.code)}" if outcome.code else "failed"
    kind: Outcome = "other"
    hint = ""
    if job.known is not None:
        kind = preset_output.outcome(printed._replace(error=said), job.known.no_login)
        if kind == "authentication":
            hint = f"Not logged in, or the key was not accepted: {job.known.login}."
    # what a provider's trouble is about concerns the person, not the agent that tries again
    told = "" if kind == "other" else "The program could not use its model."
    raise AgentError(f"{name} {how}" + (f": {said}" if said else "."), hint=hint, outcome=kind, for_agents=told)


def _last_said(said: str) -> str:
    return f" It said last: {said}" if said else ""


def _how(code: int) -> str:
    return f"exit code {code}" if code > 0 else f"signal {_signal_name(-code)}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _read(assignment: Assignment, text: str, taken: Taken, as_model: bool) -> Interpreted:
    said = spoken(text, besides=bool(taken.files))
    if as_model:
        # Files it wrote into its folder count; where it could not write, they come in the reply.
        read = interpret(assignment._replace(writes=()) if taken.files else assignment, said)
        return replace(read, files=read.files | taken.files, ignored=read.ignored + taken.ignored)
    if assignment.schema is None:
        return Interpreted(said, None, False, taken.files, taken.ignored)
    return Interpreted(said, parse_value(assignment.schema, said), True, taken.files, taken.ignored)


def _name(assignment: Assignment) -> str:
    command = assignment.agent.command
    shown = command[2] if command[:2] == ("sh", "-c") and len(command) == 3 else shlex.join(command)
    return f"The command of {assignment.agent.name!r} ({shown if len(shown) <= 80 else shown[:77] + '…'})"
