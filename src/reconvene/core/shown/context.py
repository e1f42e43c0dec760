"""state → exactly what one agent is shown: its prompt, and the files it may read. Nothing else reaches it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.definition.workflow import Agent, Step
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.events import Read, RemarkAdded
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.state import RunState
from reconvene.core.shown import conversation, drafts, on_record, scope
from reconvene.core.shown.settled_agents import settled_agent
from reconvene.errors import Bug, UserError

_AUTHORITY = (
    "This is authoritative: where it differs from anything else, it counts. Cite a remark by its id in brackets where "
    "you act on it, and say why where you do not."
)
_MOST_INLINE = 60_000  # characters of one document that go into a prompt


class Shown(Struct, frozen=True):
    agent: Agent
    prompt: str
    files: dict[str, str]  # path → digest
    writes: tuple[str, ...]
    schema: object
    remarks: tuple[dict[str, str], ...]
    instructions: str = ""  # of the prompt, what a survey was asked to look for
    works_in: str = ""  # where it works: project, project.read, or "" for a private folder


def shown(state: RunState, book: Book, task_name: str, project: Mapping[str, str] | None = None) -> Shown:
    """`project`: what the task's reads of the person's project were found to hold, by their words."""
    _, _, agent_name = parse_task(task_name)
    round_ = state.world.top.round
    if round_ is None or round_.open is None or agent_name not in round_.open.tasks:
        raise Bug(f"{task_name} is not open")
    step_at = _found(round_.open, project or {})
    task = step_at.tasks[agent_name]
    agent = settled_agent(state, book, agent_name)
    step = book.phase(state.world.top.phase).steps[step_at.index]
    reads = (*step_at.reads, *task.own)
    writes = scope.writes(state, book, step)
    parts = (
        *(_talk if step_at.talk else _work)(state, book, agent, step, step_at),
        _in_project(step, agent) or _expected(writes, agent),
        _retry(book, task),
    )
    return Shown(
        agent=replace(agent, gates=(*agent.gates, *step.gates)) if step.gates else agent,
        prompt="\n\n".join(part for part in parts if part) + "\n",
        files={read.name: read.ref.digest for read in reads if read.kind == "file" and read.ref is not None},
        writes=("*",) if step.place == "project" else writes,
        schema=step.schema if step.schema is not None else agent.schema,
        remarks=_views(state, book, step_at),
        instructions=_instructions(state, book, agent, step) if agent.kind == "survey" else "",
        works_in=step.place,
    )


def _found(step: StepAt, project: Mapping[str, str]) -> StepAt:
    if not project:
        return step
    return replace(step, reads=tuple(replace(read, note=project.get(read.name, read.note)) for read in step.reads))


def _inline(agent: Agent, step: Step) -> bool:
    """Whether files are part of the prompt: in a private folder a command finds them there."""
    return agent.kind != "command" or bool(step.place)


def _work(state: RunState, book: Book, agent: Agent, step: Step, at: StepAt) -> tuple[str, ...]:
    """For work, and for the first word in a conversation."""
    reads = (*at.reads, *at.tasks[agent.name].own)
    return (
        _instructions(state, book, agent, step),
        _documents(book, reads, inline=_inline(agent, step)),
        _all_said(state, book, agent.name, at),
        _drafts(state, book),
    )


def _talk(state: RunState, book: Book, agent: Agent, step: Step, at: StepAt) -> tuple[str, ...]:
    """For another word in a conversation: what is known, what was asked for, what to do now, the talk, the answers, and
    last what the person said last."""
    reads = (*at.reads, *at.tasks[agent.name].own)
    inputs = tuple(read for read in reads if read.kind == "input")
    known = tuple(read for read in reads if read.kind != "input")
    inline = _inline(agent, step)
    told = conversation.remarks_in(state, at)
    elsewhere = [number for number in on_record.standing(state, at.remarks) if number not in told]
    before = at.tasks[agent.name].seen_before
    return (
        _role(state, book, agent),
        _documents(book, known, inline=inline),
        _documents(book, inputs, inline=inline, title="What you were given"),
        _task(state, book, agent, step),
        _said(state, book, elsewhere, before, "What the person said elsewhere"),
        conversation.log(state, book, at),
        drafts.so_far(state, book),
        _comment(state, book, at),
    )


def _views(state: RunState, book: Book, at: StepAt) -> tuple[dict[str, str], ...]:
    return tuple(on_record.remark_views(state, book, at.remarks))


def _role(state: RunState, book: Book, agent: Agent) -> str:
    texts = [_filled(state, book, agent, agent.prompt)] if agent.prompt else [f"You are {agent.name}."]
    return "\n\n".join([*texts, *([f"Your remit: {agent.remit}"] if agent.remit else [])]).strip()


def _task(state: RunState, book: Book, agent: Agent, step: Step) -> str:
    frame = state.world.top
    text = _asked(state, step)
    title = book.phase(frame.phase).title or frame.phase
    told = _filled(state, book, agent, text) if text else f"You are in the phase {title!r}. Revise what you presented."
    return "\n\n".join(["## What to do now", told.strip(), *_about_item(state)])


def _comment(state: RunState, book: Book, at: StepAt) -> str:
    latest = [state.record.talk[number].number for number in conversation.latest(state, at)]
    if not latest:
        return ""
    lines = _lines(state, book)
    said = "\n".join(lines[number - 1] for number in latest)
    return f"## What the person says now\n\n{_AUTHORITY}\n\n{said}"


def _asked(state: RunState, step: Step) -> str:
    round_ = state.world.top.round
    return step.revise if step.revise and round_ is not None and round_.n > 1 else step.prompt


def _about_item(state: RunState) -> list[str]:
    item = next((frame for frame in reversed(state.world.cursor) if frame.item is not None), None)
    return [f"This is about item {item.item.key!r} of {item.phase}."] if item is not None and item.item else []


def _filled(state: RunState, book: Book, agent: Agent, text: str) -> str:
    def refuse(message: str) -> None:
        raise UserError(
            f"the prompt of {agent.name} cannot be filled in: {message}",
            hint="mend the prompt in the workflow and start a new run; this one keeps the prompt it began with",
        )

    return scope.render(text, state, book, refuse)


def _instructions(state: RunState, book: Book, agent: Agent, step: Step) -> str:
    texts = [_filled(state, book, agent, text) for text in (agent.prompt, _asked(state, step)) if text]
    if not texts:
        frame = state.world.top
        title = book.phase(frame.phase).title or frame.phase
        texts = [f"You are {agent.name}, working in the phase {title!r} of {book.workflow.name!r}."]
    if agent.remit:
        texts.append(f"Your remit: {agent.remit}")
    return "\n\n".join([*texts, *_about_item(state)]).strip()


def _documents(book: Book, reads: tuple[Read, ...], *, inline: bool, title: str = "What you may read") -> str:
    """The agents of a step mostly read the same: put together once for all of them."""
    return book.made_of(title, (reads, inline), lambda: _put_together(book, reads, inline, title))


def _put_together(book: Book, reads: tuple[Read, ...], inline: bool, title: str) -> str:
    lines: list[str] = []
    for read in reads:
        if read.kind == "project":
            lines.append(f"### {read.name}\n{read.note}")
        elif read.ref is None:
            lines.append(f"### {read.name}\n({read.note})")
        elif read.kind == "file" and not inline:
            lines.append(f"### {read.name}\n(in your working directory)")
        else:
            lines.append(f"### {read.name}\n{_content(book, read)}")
    return f"## {title}\n\n" + "\n\n".join(lines) if lines else ""


def _content(book: Book, read: Read) -> str:
    assert read.ref is not None
    if read.kind == "input":
        found = book.object(read.ref.digest).get(read.name.partition(".")[2])
        text = found if isinstance(found, str) else to_json(found).decode()
    elif read.kind == "output" and read.name.endswith(".summary"):
        text = summary_of(book, read)
    elif read.kind == "output":
        loaded = book.load(read.ref)
        full = loaded.get("full") if isinstance(loaded, dict) else None
        text = full if isinstance(full, str) else book.text(read.ref.digest)
    elif b"\x00" in book.read(read.ref.digest)[:8000]:
        text = f"(binary, {read.ref.size} bytes)"
    else:
        text = book.text(read.ref.digest)
    if len(text) > _MOST_INLINE:
        text = text[:_MOST_INLINE] + f"\n[{len(text) - _MOST_INLINE} more characters]"
    return text.rstrip("\n")


def summary_of(book: Book, read: Read) -> str:
    """The agent's own summary: its `summary` field, its "## Summary" section, or its first paragraph."""
    assert read.ref is not None
    loaded = book.load(read.ref)
    if isinstance(loaded, dict) and isinstance(loaded.get("summary"), str):
        return str(loaded["summary"])
    return summary_in(book.text(read.ref.digest))


def summary_in(text: str) -> str:
    section = re.search(r"^#{1,4}\s*Summary\s*$(.*?)(?=^#{1,4}\s|\Z)", text, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    if section and section[1].strip():
        return section[1].strip()
    paragraphs = [
        part.strip() for part in re.split(r"\n\s*\n", text) if part.strip() and not part.lstrip().startswith("#")
    ]
    return (paragraphs[0] if paragraphs else text.strip())[:2000]


def _all_said(state: RunState, book: Book, agent: str, at: StepAt) -> str:
    before = at.tasks[agent].seen_before
    key = ("said", at.remarks, before)
    numbers = on_record.standing(state, at.remarks)
    return book.shared(state.record.remarks, key, lambda: _said(state, book, numbers, before))


def _said(state: RunState, book: Book, numbers: Sequence[int], before: int, title: str = "What the person said") -> str:
    """These remarks, in order. `before`: how many there were when the agent last worked."""
    if not numbers:
        return ""
    lines = _lines(state, book)
    fresh = [number for number in numbers if number > before]
    changed = [
        f"- was {remark.was}, is {remark.now} [{remark.id}]: {remark.text}"
        for remark in map(state.record.remarks.__getitem__, fresh)
        if remark.was and remark.now
    ]
    parts = [f"## {title}\n\n{_AUTHORITY}"]
    if changed:
        parts.append("### Changed since you last worked\n\n" + "\n".join(changed))
    if fresh:
        parts.append("### New since you last worked\n\n" + "\n".join(lines[number - 1] for number in fresh))
    if len(fresh) < len(numbers):
        old = numbers[: len(numbers) - len(fresh)]
        parts.append("### Earlier\n\n" + "\n".join([lines[number - 1] for number in old]))
    return "\n\n".join(parts)


def _lines(state: RunState, book: Book) -> list[str]:
    """All remarks, a line each."""
    return book.told(state.record, "line", partial(_remark, book))


def _remark(book: Book, remark: RemarkAdded) -> str:
    kind = remark.kind.capitalize() + (f" to {remark.target}" if remark.target else "")
    where = f"{remark.phase} round {remark.n}" if remark.n else remark.phase or "start"
    where = f"in {remark.origin}" if remark.origin else where
    who = f"{remark.by}, " if remark.by else ""
    text = remark.text.replace("\n", "\n  ")
    line = f"- [{remark.id}] **{kind}:** {text} ({who}{where}, {remark.at[:16].replace('T', ' ')})"
    if remark.diff:
        diff = "\n".join("  " + row for row in book.text(remark.diff).splitlines())
        line += f"\n\n{diff}\n"
    return line


def _drafts(state: RunState, book: Book) -> str:
    """Answers given so far at this checkpoint, and not yet final."""
    so_far = drafts.here(state, book)
    if not so_far:
        return ""
    return "## Answers so far\n\n" + "\n".join(
        f"- {key}: {to_json(value).decode()}" for key, value in sorted(so_far.items())
    )


_IN_PROJECT = {
    "project": "Your working directory is a worktree of the project, on a branch of its own. Change the files there; "
    "whatever you change is committed for you when you are done.",
    "project.read": "Your working directory is a worktree of the project. You may run things there; whatever you "
    "change in it is thrown away.",
}
_AS_BLOCKS = (
    "Change the project by handing over whole files, each in its own block,\n\n"
    '<file path="folder/name">\ncontent\n</file>\n\nwith paths from the project\'s folder. Files that you do not '
    "name stay as they are. Everything outside such blocks is your answer itself."
)


def _in_project(step: Step, agent: Agent) -> str:
    if step.place and agent.kind != "model":
        return f"## Where you work\n\n{_IN_PROJECT[step.place]}"
    return f"## What to write\n\n{_AS_BLOCKS}" if step.place == "project" else ""


def _expected(writes: tuple[str, ...], agent: Agent) -> str:
    if not writes:
        return ""
    names = ", ".join(writes)
    one = len(writes) == 1 and not set(writes[0]) & set("*?[")
    if agent.kind == "model" and not one:
        return (
            f"## What to write\n\nWrite these files: {names}. Put each into its own block, "
            '<file path="name">…</file>, and keep anything else short.'
        )
    if agent.kind == "model":
        return f"## What to write\n\nAnswer with the whole content of {names}, and nothing else."
    return f"## What to write\n\nWrite these files into your working directory: {names}."


def _retry(book: Book, task: TaskAt) -> str:
    why = task.reason or task.told
    if not why:
        return ""
    if task.rejected is None:
        return f"## Your last attempt failed\n\n{why}\n\nPlease try again."
    since = f"An attempt after that failed: {task.told}\n\n" if task.reason and task.told else ""
    example = f"An example of what is expected:\n\n{book.text(task.example)}\n\n" if task.example else ""
    return (
        f"## Your last attempt was sent back\n\n{why}\n\n{example}What you wrote then:\n\n"
        f"{book.text(task.rejected.digest)[:_MOST_INLINE].strip() or '(nothing)'}\n\n{_taken_back(book, task)}"
        f"{since}Please do it again, with that put right."
    )


def _taken_back(book: Book, task: TaskAt) -> str:
    if task.rejected_diff is None:
        return ""
    diff = book.text(task.rejected_diff.digest)[:_MOST_INLINE]
    return f"What you changed in the project then, and what has been taken back since:\n\n{diff}\n\n"
