"""Perform one effect: build what the agent is shown, let it work, turn what came of it into a command."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reconvene.app import as_sent, project_work
from reconvene.app.discretion import Discretion
from reconvene.app.turns import again
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.commands import Command, DeferCalls, Opened, RecordAttempt
from reconvene.core.facts.events import DiffSince, FileOut, Ref, Usage
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import RunState
from reconvene.core.run.plan import RunTask
from reconvene.errors import AgentError, ReconveneError, UserError
from reconvene.ports import AgentRunner, Answer, Assignment, Listener, Progress, ProjectDone, Projects, ProjectWork
from reconvene.prompts.context import TOLD, Shown, shown
from reconvene.prompts.documents import said
from reconvene.secrets import Secrets
from reconvene.tool_ports import CallsWait

if TYPE_CHECKING:
    from reconvene.app.asked_gates import Judged

_NO_SECRETS = Secrets({})
_NONE = Discretion()


class Done(Struct, frozen=True):
    """An effect's result, on its way to the run's mailbox."""

    command: Command
    blobs: dict[str, bytes]
    wait: float = 0.0  # how long the next attempt should hold back


class Fault(Struct, frozen=True):
    """The provider failed, and the attempt is not over. `answer`: digest of what the agent gave before that."""

    error: AgentError
    model: str
    blobs: dict[str, bytes]
    answer: str = ""


def assignment(
    state: RunState, book: Book, effect: RunTask, projects: Projects | None = None, window: int = 0
) -> Assignment:
    """`window`: how many tokens its agent can take, 0 = not known."""
    work = _project_work(state, book)
    view = shown(state, book, effect.task, _looked_up(state, book, work, projects), window)
    agent = view.agent
    if agent.kind == "recorded":
        agent = replace(agent, options={**agent.options, "recording": book.workflow.recordings.get(agent.recorded)})
    frame = state.world.top
    sent_back, since = again(state, agent.name, view.mark, view.latest)
    return Assignment(
        run=state.run,
        task=effect.task,
        attempt=effect.attempt,
        agent=agent,
        prompt=view.prompt,
        files={path: book.read(digest) for path, digest in view.files.items()},
        writes=view.writes,
        schema=view.schema,
        round=frame.round.n if frame.round else 1,
        phase=frame.phase,
        remarks=view.remarks,
        project=_for_task(work, view, agent.kind),
        system=view.system,
        mark=view.mark,
        latest=view.latest,
        left_out=view.left_out,
        shared=view.shared,
        bound=agent.name in state.record.bindings,
        again=sent_back,
        since=since,
        looks_into=work if any(tool.name == "project" for tool in agent.tools) else None,
    )


def _project_work(state: RunState, book: Book) -> ProjectWork | None:
    known = state.record.project
    path = known.path if known is not None else project_work.project_path(state, book)
    if not path:
        return None
    return ProjectWork(
        path=path,
        branch=known.branch if known is not None else "",
        base=known.base if known is not None else "",
        head=state.world.head,
        since=project_work.beginnings(state),
        title=project_work.work_title(state, book),
    )


def _looked_up(state: RunState, book: Book, work: ProjectWork | None, projects: Projects | None) -> dict[str, str]:
    """What the open step reads of the project's own files. A commit names its content, so this may be done again."""
    step = state.world.top.round.open if state.world.top.round else None
    wanted = step is not None and any(read.name == "project.files" for read in step.reads)
    names = project_work.named_files(state, book) if wanted else ()
    if work is None or projects is None or not names:
        return {}
    return {"project.files": projects.files(work, names)}


def _for_task(work: ProjectWork | None, view: Shown, kind: str) -> ProjectWork | None:
    """Only those who work in the project, or look through it, are led there; who has tools looks with these."""
    if (not view.works_in and kind != "survey") or (view.works_in == "project.read" and view.agent.tools):
        return None
    if work is None:
        raise UserError(
            f"{view.agent.name} works in a project, and this run was given none",
            hint="start a new run with --input project=FOLDER",
        )
    remarks = [] if view.agent.survey in TOLD else [remark["text"] for remark in view.remarks]
    return work._replace(place=view.works_in, words=" ".join([view.instructions, *remarks]))


async def run_task(
    runner: AgentRunner,
    work: Assignment,
    listener: Listener,
    judge_model: str = "",
    projects: Projects | None = None,
    answered: _Answered | None = None,
    discretion: Discretion = _NONE,
    secrets: Secrets = _NO_SECRETS,
) -> Done | Fault:
    """Never raises but for cancellation of the whole process: every end of an attempt becomes a command.

    `answered`: what the agent gave already, where only its gates are still to be asked.
    """
    clock = asyncio.get_running_loop().time
    started = clock()
    task, attempt = work.task, work.attempt
    listener = blanking = secrets.of_listener(listener)
    work = _blanked(work, secrets) if secrets else work
    detail = "its gate is asked again" if answered else f"attempt {attempt}" if attempt > 1 else ""
    listener(Progress(work.run, task, work.agent.name, "started", detail))
    if work.left_out:
        listener(Progress(work.run, task, work.agent.name, "warning", _not_shown(work)))
    done = answered
    try:
        if done is None:
            try:
                answer = await _worked(runner, work, listener, projects)
            finally:
                blanking.end()
            answer = discretion.hold_back(work.run, secrets, answer)
            done = _answered(work, answer, clock() - started)
        done = await _judged(work, done, judge_model, runner, listener)
    except asyncio.CancelledError:
        listener(Progress(work.run, task, work.agent.name, "failed", "cancelled"))
        return Done(RecordAttempt(task, attempt, cancelled=True, begun=answered is None, why="cancelled"), {})
    except CallsWait:
        listener(Progress(work.run, task, work.agent.name, "waiting", "it waits for a person to decide on its calls"))
        return Done(DeferCalls(task, attempt), {})
    except AgentError as error:
        error = secrets.of_error(error)
        if error.of_provider:
            return _fault(work, error, done, judge_model)
        listener(Progress(work.run, task, work.agent.name, "failed", error.message))
        return _failed(work, error, clock() - started)
    except ReconveneError as error:
        listener(Progress(work.run, task, work.agent.name, "failed", error.message))
        return _failed(work, AgentError(error.message, hint=error.hint, retryable=False), clock() - started)
    except Exception as error:  # an adapter that breaks is a failed attempt, not a lost run
        message = f"{type(error).__name__}: {error}"
        listener(Progress(work.run, task, work.agent.name, "failed", message))
        return _failed(work, AgentError(message, retryable=False), clock() - started)
    return Done(done.command, done.blobs)  # the gates say whether it is done


def _blanked(work: Assignment, secrets: Secrets) -> Assignment:
    prompt = secrets.blank_text(work.prompt)
    if prompt == work.prompt:
        return work
    return work._replace(prompt=prompt, shared=len(secrets.blank_text(work.prompt[: work.shared])))


async def _worked(runner: AgentRunner, work: Assignment, listener: Listener, projects: Projects | None) -> Answer:
    if work.project is not None and projects is not None:
        return await projects.run(runner, work, listener)
    return _with_file_as_text(work, await runner.run(work, listener))


def _fault(work: Assignment, error: AgentError, done: _Answered | None, judge_model: str) -> Fault:
    """What the agent gave before its gate could not be asked goes along: it is not asked again."""
    usage: Usage | None = getattr(error, "usage", None)
    asked = work.agent.model if work.agent.kind == "model" else work.agent.python or " ".join(work.agent.command[:1])
    model = (usage.model if usage else "") or (judge_model if done else asked) or work.agent.kind
    if done is None:
        return Fault(error, model, {})
    kept = msgspec.json.encode(done.command)
    return Fault(error, model, {**done.blobs, digest_of(kept): kept}, digest_of(kept))


def answered_before(state: RunState, book: Book, effect: RunTask) -> _Answered | None:
    """What the agent gave in an attempt whose gates could not be asked; None where it has to be asked (again)."""
    round_ = state.world.top.round
    task = round_.open.tasks.get(effect.agent) if round_ is not None and round_.open is not None else None
    if task is None or not task.answer:
        return None
    try:
        command = msgspec.json.decode(book.read(task.answer), type=RecordAttempt)
    except msgspec.DecodeError:  # as another release wrote it
        return None
    command = replace(command, attempt=effect.attempt)
    return _Answered(command, {command.output.digest: book.read(command.output.digest)} if command.output else {})


def _text_of(done: _Answered) -> str:
    output = done.command.output
    return done.blobs[output.digest].decode("utf-8", "replace") if output is not None else ""


def _not_shown(work: Assignment) -> str:
    first, more = said(work.left_out[0]), len(work.left_out) - 1
    return f"not all documents fit: {first}" + (f", and {more} more" if more else "")


def _failed(work: Assignment, error: AgentError, seconds: float) -> Done:
    sent = as_sent.kept(work.system, getattr(error, "request", b"") or work.whole.encode())
    reply: bytes = getattr(error, "reply", b"")
    usage: Usage = getattr(error, "usage", None) or Usage()
    said = error.said.encode("utf-8", errors="replace")
    blobs = {**sent.contents, **{digest_of(data): data for data in (reply, said) if data}}
    why = error.message + (f" ({error.hint})" if error.hint else "")
    command = RecordAttempt(
        work.task,
        work.attempt,
        failed=True,
        retryable=error.retryable,
        why=why,
        told=error.for_agents,
        output=Ref(digest_of(said), "text", len(said)) if said else None,
        prompt=sent.prompt,
        asked=sent.asked,
        rules=sent.rules,
        reply=digest_of(reply) if reply else "",
        usage=replace(usage, seconds=usage.seconds or round(seconds, 3)),
        sandbox=error.sandbox,
        begun=bool(error.sandbox) or work.agent.kind == "python",
        left_out=work.left_out,
    )
    return Done(command, blobs, error.wait)


def _with_file_as_text(work: Assignment, answer: Answer) -> Answer:
    """Where a step writes one file and promises no JSON, that file is the output, whatever else the agent said."""
    if work.schema is not None or len(work.writes) != 1 or work.writes[0] not in answer.files:
        return answer
    return answer._replace(text=answer.files[work.writes[0]].decode("utf-8", "replace"))


class _Answered(Struct, frozen=True):
    """What the agent gave, before its gates are asked."""

    command: RecordAttempt
    blobs: dict[str, bytes]


def _answered(work: Assignment, answer: Answer, seconds: float) -> _Answered:
    sent = as_sent.kept(work.system, answer.request or work.whole.encode())
    blobs = dict(sent.contents)

    def keep(data: bytes) -> str:
        digest = digest_of(data)
        blobs[digest] = data
        return digest

    text = answer.text.encode("utf-8", errors="replace")
    value = answer.value if answer.has_value else _as_json(answer.text)
    value_ref = None
    if value is not None:
        encoded = to_json(value)
        value_ref = Ref(keep(encoded), "json", len(encoded))
    cost = answer.usage.cost
    usage = replace(
        answer.usage,
        seconds=answer.usage.seconds or round(seconds, 3),
        cost=cost if math.isfinite(cost) else 0.0,
    )
    command = RecordAttempt(
        work.task,
        work.attempt,
        output=Ref(keep(text), "text", len(text)),
        value=value_ref,
        files=tuple(FileOut(path, keep(data), len(data)) for path, data in sorted(answer.files.items())),
        ignored=answer.ignored,
        usage=usage,
        prompt=sent.prompt,
        asked=sent.asked,
        rules=sent.rules,
        reply=keep(answer.reply) if answer.reply else "",
        recorded=answer.recorded,
        sandbox=answer.sandbox,
        left_out=work.left_out,
    )
    if answer.project is not None:
        command = _in_project(command, answer.project, keep)
    return _Answered(command, blobs)


async def _judged(work: Assignment, done: _Answered, model: str, runner: AgentRunner, listener: Listener) -> _Answered:
    """With what the gates that ask a model say of it."""
    if not any(gate.ask for gate in work.agent.gates) or (not model and done.command.recorded):
        return done
    from reconvene.app.asked_gates import judge

    judged = await judge(work, _text_of(done), model, runner, listener)
    return replace(done, command=_with_judgement(done.command, judged))


def _with_judgement(command: RecordAttempt, judged: Judged) -> RecordAttempt:
    usage, more = command.usage, judged.usage
    cost = usage.cost + more.cost
    spent = replace(
        usage,
        cost=cost if math.isfinite(cost) else 0.0,
        input_tokens=usage.input_tokens + more.input_tokens,
        output_tokens=usage.output_tokens + more.output_tokens,
        requests=usage.requests + more.requests,
    )
    return replace(command, usage=spent, objections=judged.objections, unasked=judged.unasked)


def _in_project(command: RecordAttempt, done: ProjectDone, keep: Callable[[bytes], str]) -> RecordAttempt:
    def kept(diff: str) -> Ref:
        data = diff.encode("utf-8", errors="replace")
        return Ref(keep(data), "text", len(data))

    return replace(
        command,
        opened=Opened(done.path, done.branch, done.base, done.uncommitted),
        commit=done.commit,
        diff=kept(done.diff) if done.diff else None,
        diffs=tuple(DiffSince(since, kept(diff)) for since, diff in done.since),
        changed=done.changed,
    )


def _as_json(text: str) -> object:
    """An output that is a JSON object or list is a value; anything else stays text."""
    stripped = text.strip()
    if not stripped or stripped[0] not in "{[":
        return None
    try:
        return msgspec.json.decode(stripped)
    except msgspec.DecodeError:
        return None
