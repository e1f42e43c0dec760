"""state → exactly what one agent is shown: its prompt, and the files it may read. Nothing else reaches it.

The order: documents that all agents of the step read, then the agent's own, then role, task, what the person said, and
the form last. What comes first is the same for all of them, and providers cache it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.definition.workflow import Agent, Step
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.events import LeftOut, Read, RemarkAdded
from reconvene.core.facts.ids import parse_task, remark_id
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.state import RunState
from reconvene.core.shown import conversation, drafts, on_record, scope
from reconvene.core.shown.settled_agents import settled_agent
from reconvene.errors import Bug, UserError
from reconvene.language.late_patterns import late
from reconvene.language.plain_text import quoted, quoted_lines
from reconvene.prompts import commented, documents, expected, marks
from reconvene.prompts.documents import Documents
from reconvene.prompts.marks import Section
from reconvene.prompts.names import is_plain, named

_BLANK_LINES = late(r"\n(?:[ \t]*\n){2,}")
_CHANGED = "(What begins with “+” the person wrote. What is “removed” was there before. “…” is what they left alone.)"
_EXAMPLE = "one that would pass, about another matter"


TOLD = ("ground", "tests", "change", "merge")  # surveys that are told something, where others look for words


class Shown(Struct, frozen=True):
    agent: Agent
    prompt: str
    files: dict[str, str]  # path → digest
    writes: tuple[str, ...]
    schema: object
    remarks: tuple[dict[str, str], ...]
    mark: str
    system: str = marks.RULES  # the same for all agents of all runs
    left_out: tuple[LeftOut, ...] = ()  # what does not fit
    shared: int = 0  # characters at its beginning that all agents of the step are shown; 0 = it is alone
    instructions: str = ""  # of the prompt, what a survey was asked to look for
    works_in: str = ""  # where it works: project, project.read, or "" for a private folder
    latest: str = ""  # what the person said since it last worked, once more and alone: for the end of a longer message


def shown(
    state: RunState, book: Book, task_name: str, project: Mapping[str, str] | None = None, window: int = 0
) -> Shown:
    """`project`: what the task's reads of the person's project were found to hold, by their words. `window`: tokens
    that prompt and reply may have together, 0 = not known."""
    serial, _, agent_name = parse_task(task_name)
    round_ = state.world.top.round
    if round_ is None or round_.open is None or agent_name not in round_.open.tasks:
        raise Bug(f"{task_name} is not open")
    step_at = _found(round_.open, project or {})
    task = step_at.tasks[agent_name]
    agent = settled_agent(state, book, agent_name)
    step = book.phase(state.world.top.phase).steps[step_at.index]
    agent = replace(agent, gates=(*agent.gates, *step.gates)) if step.gates else agent
    writes = scope.writes(state, book, step)
    schema = step.schema if step.schema is not None else agent.schema
    sections = (
        *(_talk if step_at.talk else _work)(state, book, agent, step, step_at),
        *_retry(book, task),
        Section("form", expected.form(state, book, agent, step, writes, schema)),
        Section("example", expected.example(agent, schema, book.text(task.example) if task.example else ""), _EXAMPLE),
    )
    made = _made(book, agent, step, step_at, sections, _seed(state, book, serial, step_at), window)
    return Shown(
        agent=agent,
        prompt=made.prompt,
        files={
            read.name: read.ref.digest
            for read in (*step_at.reads, *task.own)
            if read.kind == "file" and read.ref is not None
        },
        writes=("*",) if step.place == "project" else writes,
        schema=schema,
        remarks=_views(state, book, step_at),
        mark=made.mark,
        left_out=made.left_out,
        shared=made.shared if len(step_at.order) > 1 else 0,
        instructions=_instructions(state, book, agent, step) if agent.kind == "survey" else "",
        works_in=step.place,
        latest=_latest(state, book, step_at, agent_name, made.mark),
    )


class _Made(Struct, frozen=True):
    prompt: str
    mark: str
    left_out: tuple[LeftOut, ...]
    shared: int


def _made(
    book: Book, agent: Agent, step: Step, at: StepAt, sections: Sequence[Section], seed: str, window: int
) -> _Made:
    inline = _inline(agent, step)
    shared = documents.of(book, at.reads, inline=inline, what="shared")
    own = documents.of(book, at.tasks[agent.name].own, inline=inline, what="own")
    page = documents.page(shared, own, _room(agent, sections, window))
    left_out = (*documents.cuts(shared, page), *documents.cuts(own, page))
    words = (own.small, "\n".join([text for one in sections for text in (one.name, one.text) if text]).lower())
    again = any(one.kind == "rejected" and marks.has_tags(one.text) for one in sections)
    mark = _mark(book, seed, shared, words, at.tasks[agent.name].attempt - 1 if again else 0)
    parts = (
        marks.first_line(mark),
        documents.told(book, shared, mark, page, "shared"),
        documents.told(book, own, mark, page, "own"),
        marks.all_tagged((*_left_out(left_out), *sections), mark) + "\n",  # here, where it copies little
    )
    prompt = "\n\n".join(filter(None, parts))
    return _Made(prompt, mark, left_out, len(parts[0]) + 2 + len(parts[1]) if parts[1] else 0)


def _mark(book: Book, seed: str, shared: Documents, others: Sequence[str], seen: int) -> str:
    """What all agents of a step are shown is looked through once for all of them. `seen`: marks that it knows."""
    if not shared.every:
        return marks.chosen(seed, others, seen)
    mark = book.made_of("mark", (seed, shared.every), lambda: marks.chosen(seed, (shared.small,)))
    if not seen and not any(mark in text for text in others):
        return mark
    return marks.chosen(seed, (shared.small, *others), seen)


def _room(agent: Agent, sections: Sequence[Section], window: int) -> int | None:
    if not window:
        return None
    reply = agent.options.get("max_tokens")
    fixed = documents.tokens(marks.RULES) + sum(documents.tokens(one.name + one.text) for one in sections)
    return documents.room(window, fixed, reply if isinstance(reply, int) else 0)


def _left_out(left_out: tuple[LeftOut, ...]) -> tuple[Section, ...]:
    if not left_out:
        return ()
    lines = "\n".join(f"- {documents.said(one)}" for one in left_out)
    said = f"Not all documents fit. What you do not see:\n\n{lines}\n\nSay so where your answer depends on it."
    return (Section("left-out", said),)


def _seed(state: RunState, book: Book, serial: int, at: StepAt) -> str:
    """The same for all agents and attempts of a step, and of all that they are shown."""
    reads = (at.reads, *(at.tasks[name].own for name in at.order))
    place = (state.run, state.started, serial, at.index, at.remarks, at.talk)
    if len(at.order) == 1:
        return _seed_of(place, reads)
    return book.made_of("seed of the mark", (place, reads), lambda: _seed_of(place, reads))


def _seed_of(place: tuple[object, ...], reads: Sequence[tuple[Read, ...]]) -> str:
    every = [f"{read.name}\n{read.ref.digest if read.ref else read.note}" for each in reads for read in each]
    return marks.seed(repr(place), *every)


def _found(step: StepAt, project: Mapping[str, str]) -> StepAt:
    if not project:
        return step
    return replace(step, reads=tuple(replace(read, note=project.get(read.name, read.note)) for read in step.reads))


def _inline(agent: Agent, step: Step) -> bool:
    """Whether files are part of the prompt: in a private folder a command finds them there."""
    return agent.kind != "command" or bool(step.place)


def _work(state: RunState, book: Book, agent: Agent, step: Step, at: StepAt) -> tuple[Section, ...]:
    """For work, and for the first word in a conversation."""
    return (
        Section("role", _role(state, book, agent, step)),
        Section("task", _task(state, book, agent, step)),
        Section("answers", _drafts(state, book)),
        Section("commented", commented.lines(state, book, on_record.standing(state, at.remarks))),
        Section("person", _all_said(state, book, agent.name, at)),
    )


def _talk(state: RunState, book: Book, agent: Agent, step: Step, at: StepAt) -> tuple[Section, ...]:
    """For another word in a conversation: who you are, what to do now, the talk, the answers, and last what the person
    said last."""
    told = conversation.remarks_in(state, at)
    elsewhere = [number for number in on_record.standing(state, at.remarks) if number not in told]
    before = at.tasks[agent.name].seen_before
    return (
        Section("role", _role(state, book, agent, step)),
        Section("task", _task(state, book, agent, step, "Revise what you presented.")),
        Section("person", _said(state, book, elsewhere, before, "What the person said elsewhere")),
        Section("person", _superseded(state, agent.name)),
        Section("conversation", conversation.log(state, book, at)),
        Section("answers", drafts.so_far(state, book)),
        Section("commented", commented.lines(state, book, on_record.standing(state, at.remarks))),
        Section("person", _comment(state, book, at)),
    )


def _views(state: RunState, book: Book, at: StepAt) -> tuple[dict[str, str], ...]:
    return tuple(on_record.remark_views(state, book, at.remarks)) if at.remarks else ()


def _role(state: RunState, book: Book, agent: Agent, step: Step) -> str:
    if agent.prompt:
        text = _filled(state, book, agent, agent.prompt)
    else:
        text = f"You are {agent.name}" + ("." if _asked(state, step) else f", working {_where(state, book)}.")
    return "\n\n".join([text.strip(), *([f"Your remit: {agent.remit}"] if agent.remit else [])]).strip()


def _task(state: RunState, book: Book, agent: Agent, step: Step, otherwise: str = "") -> str:
    text = _asked(state, step)
    told = _filled(state, book, agent, text).strip() if text else ""
    if not text and otherwise:
        told = f"You work {_where(state, book)}. {otherwise}"
    return "\n\n".join(part for part in (told, *_about_item(state)) if part)


def _where(state: RunState, book: Book) -> str:
    phase = state.world.top.phase
    return f"in the phase {book.phase(phase).title or phase!r} of {book.workflow.name!r}"


def _comment(state: RunState, book: Book, at: StepAt) -> str:
    latest = [state.record.talk[number].number for number in conversation.latest(state, at)]
    if not latest:
        return ""
    lines = _lines(state, book)
    said = "\n".join(lines[number - 1] for number in latest)
    return f"## What the person says now\n\n{said}"


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
            hint="mend the prompt in the workflow, and go on with it: reconvene upgrade RUN --to WORKFLOW",
        )

    return _BLANK_LINES.sub("\n\n", scope.render(text, state, book, refuse))  # branches of a template leave them


def _instructions(state: RunState, book: Book, agent: Agent, step: Step) -> str:
    texts = [_filled(state, book, agent, text) for text in (agent.prompt, _asked(state, step)) if text]
    if agent.survey in TOLD:
        return "\n\n".join(texts)
    if not texts:
        frame = state.world.top
        title = book.phase(frame.phase).title or frame.phase
        texts = [f"You are {agent.name}, working in the phase {title!r} of {book.workflow.name!r}."]
    if agent.remit:
        texts.append(f"Your remit: {agent.remit}")
    return "\n\n".join([*texts, *_about_item(state)]).strip()


def _all_said(state: RunState, book: Book, agent: str, at: StepAt) -> str:
    if not at.remarks:
        return ""
    before = at.tasks[agent].seen_before
    key = ("said", at.remarks, before, len(state.record.withdrawn))
    numbers = on_record.standing(state, at.remarks)
    gone = _superseded(state, agent)
    said = book.shared(state.record.remarks, key, lambda: _said(state, book, numbers, before))
    return "\n\n".join(part for part in (said, gone) if part)


def _superseded(state: RunState, agent: str) -> str:
    """What the agent was shown earlier, and does not hold any more. Its words are not said again."""
    record = state.record
    lines = [
        f"- [{remark_id(number)}] {_became(record.replaced.get(number, ''))}: it does not hold any more."
        for number in sorted(record.retracted)
        if agent in record.retracted[number]
    ]
    return "\n".join(["### Taken back since you were shown it\n", *lines]) if lines else ""


def _became(instead: str) -> str:
    return f"was replaced by [{instead}]" if instead else "was taken back"


def _said(state: RunState, book: Book, numbers: Sequence[int], before: int, title: str = "What the person said") -> str:
    """These remarks, in order. `before`: how many there were when the agent last worked."""
    if not numbers:
        return ""
    lines = _lines(state, book)
    fresh = [number for number in numbers if number > before]
    changed = [
        f"- was {remark.was}, is {remark.now} [{remark.id}]: {remark.text}"
        for remark in map(state.record.remarks.__getitem__, fresh)
        if remark.was and remark.now and not remark.diff  # of an edit, what was there may be an agent's words
    ]
    parts = [f"## {title}"]
    if changed:
        parts.append("### Changed since you last worked\n\n" + "\n".join(changed))
    if fresh:
        parts.append("### New since you last worked\n\n" + "\n".join(lines[number - 1] for number in fresh))
    if len(fresh) < len(numbers):
        old = numbers[: len(numbers) - len(fresh)]
        parts.append("### Earlier\n\n" + "\n".join([lines[number - 1] for number in old]))
    return "\n\n".join(parts)


def _latest(state: RunState, book: Book, at: StepAt, agent: str, mark: str) -> str:
    fresh = [number for number in on_record.standing(state, at.remarks) if number > at.tasks[agent].seen_before]
    if not fresh:
        return ""
    lines = _lines(state, book)
    said = "\n".join(lines[number - 1] for number in fresh)
    return marks.tagged(Section("person", f"## What the person said last\n\n{said}"), mark)


def _lines(state: RunState, book: Book) -> list[str]:
    """All remarks, a line each."""
    return book.told(state.record, "line", partial(_remark, book))


def _remark(book: Book, remark: RemarkAdded) -> str:
    kind = remark.kind.capitalize() + (f" to {remark.target}" if remark.target else "")
    kind += f" on {named(remark.anchor.path)}" if remark.anchor is not None else ""
    where = f"{remark.phase} round {remark.n}" if remark.n else remark.phase or "start"
    where = f"in {remark.origin}" if remark.origin else where
    who = f"{remark.by}, " if remark.by else ""
    text = remark.text.replace("\n", "\n  ")
    if remark.diff and not is_plain(remark.text):  # names of files, which an agent may have chosen
        text = quoted(remark.text)
    line = f"- [{remark.id}] **{kind}:** {text} ({who}{where}, {remark.at[:16].replace('T', ' ')})"
    if remark.diff:
        rows = "\n".join(f"  > {row}" for row in _of_the_person(book.text(remark.diff)))
        line += f"\n\n  {_CHANGED}\n{rows}\n"
    return line


def _of_the_person(diff: str) -> Iterator[str]:
    """A diff without the lines around what changed: they are an agent's, and this is where the person speaks."""
    last = ""
    for number, row in enumerate(diff.removesuffix("\n").split("\n")):
        mark = row[:1] if number > 1 else ""  # the first two rows name the file
        if mark == " ":
            rows = ["…"] if last != "…" else []
        elif mark in ("-", "+"):
            before = "- (removed) " if mark == "-" else "+"
            rows = [before + part for part in row[1:].splitlines() or [""]]
        else:
            rows = row.splitlines()
        yield from rows
        last = rows[-1] if rows else last


def _drafts(state: RunState, book: Book) -> str:
    """Answers given so far at this checkpoint, and not yet final."""
    so_far = drafts.here(state, book)
    if not so_far:
        return ""
    return "## Answers so far\n\n" + "\n".join(
        f"- {key}: {to_json(value).decode()}" for key, value in sorted(so_far.items())
    )


def _retry(book: Book, task: TaskAt) -> tuple[Section, ...]:
    why = task.reason or task.told
    if not why:
        return ()
    if task.rejected is None:
        told = f"Your last attempt failed. What was said of it:\n\n{quoted_lines(why)}\n\nPlease try again."
        return (Section("attempt", told),)
    said = book.text(task.rejected.digest).strip()
    diff = book.text(task.rejected_diff.digest) if task.rejected_diff is not None else ""
    since = f"An attempt after that failed: {quoted(task.told)}\n\n" if task.reason and task.told else ""
    then = f"What you wrote then is above. {since}Do it again, with that put right."
    return (
        Section("rejected", said[: documents.MOST_INLINE] or "(nothing)", shown=_share(said)),
        Section("taken-back", diff[: documents.MOST_INLINE], "what you changed in the project then", _share(diff)),
        Section("attempt", f"Your last attempt was sent back: {why}\n\n{then}"),
    )


def _share(text: str) -> str:
    most = documents.MOST_INLINE
    return f"the first {most} of {len(text)} characters" if len(text) > most else ""
