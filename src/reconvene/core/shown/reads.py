"""A step's read-set: which files, values and outputs its tasks are shown. Settled when the step starts."""

from __future__ import annotations

from collections.abc import Iterator

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import OUTPUT_FORMS, Step
from reconvene.core.extensions import Pick
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Read, Ref
from reconvene.core.facts.round import OutputAt
from reconvene.core.facts.state import RunState
from reconvene.core.paths import matches
from reconvene.core.shown import scope
from reconvene.core.shown.conversation import WORD

PROJECT_WORDS = ("project.diff", "project.files", "project.branch")
_OWN = ("own", "next")


def shared(state: RunState, book: Book, step: Step) -> tuple[Read, ...]:
    """What every task of the step is shown. No `reads` at all = everything the run has produced."""
    names = step.reads if step.reads is not None else ("files", "values")
    if WORD in names and not any(name.startswith("inputs.") for name in names):
        names = (*names, *_described(state, book))
    return tuple(read for name in names if not _is_own(book, name) for read in _resolve(state, book, name))


def _is_own(book: Book, name: str) -> bool:
    """Whether each agent is shown something else under this word: its own output, another's, those a kit picks."""
    which, _, form = name.partition(".")
    return form in OUTPUT_FORMS and which not in ("all", "round") and (which in _OWN or _pick(book, which) is not None)


def _pick(book: Book, word: str) -> Pick | None:
    return kit_finder.pick(book.workflow.kits, word)


def _described(state: RunState, book: Book) -> tuple[str, ...]:
    """Whoever talks with the person knows what they asked for: the texts that the run was given."""
    inputs = book.object(state.inputs)
    return tuple(
        f"inputs.{name}" for name, spec in book.workflow.inputs.items() if spec.type == "text" and inputs.get(name)
    )


def own(state: RunState, book: Book, step: Step, agent: str, *, without_kits: bool = False) -> tuple[Read, ...]:
    """What only this agent is shown, of this phase: its own last output, those nearest to it, or the next agent's.
    `without_kits`: nothing is shown that a kit would have to pick."""
    found: list[Read] = []
    for name in step.reads or ():
        which, _, form = name.partition(".")
        if _is_own(book, name) and not (without_kits and which not in _OWN):
            outputs = _for(state, book, step, which, agent)
            found += [_output(output, form) for output in outputs]
            if not outputs:
                found.append(Read(f"{agent}.{form}", "output", None, "your first round in this phase"))
    return tuple(found)


def _for(state: RunState, book: Book, step: Step, which: str, agent: str) -> list[OutputAt]:
    frame = state.world.top
    mine = state.world.outputs.get(f"{frame.phase}/{agent}")
    if which == "own":
        return [mine] if mine is not None else []
    latest = {output.agent: output for output in frame.outputs}
    circle = [name for name in step.agents or tuple(latest) if name in latest or name == agent]
    if which == "next":
        after = circle[(circle.index(agent) + 1) % len(circle)] if agent in circle else agent
        return [latest[after]] if after != agent else []
    others = [latest[name] for name in circle if name != agent]
    pick = _pick(book, which)
    if pick is None:
        return []
    texts = {output.agent: book.text(output.output.digest) for output in others}
    chosen = pick(book.text(mine.output.digest) if mine is not None else "", texts)
    return [output for output in others if output.agent in chosen]


def _output(output: OutputAt, form: str) -> Read:
    return Read(f"{output.agent}.{form}", "output", output.value or output.output)


def _resolve(state: RunState, book: Book, name: str) -> Iterator[Read]:
    frame = state.world.top
    if name == "files":
        for_people = [spec.for_people for spec in book.workflow.files if spec.for_people]
        for path in sorted(state.world.files):
            if not any(matches(path, pattern) for pattern in for_people):
                yield _file(state, path)
    elif name == "values":
        for value_name in book.workflow.names:
            yield from _value(state, book, value_name, quiet=True)
    elif name == WORD:
        return  # settled beside the reads: see `conversation`
    elif name in ("all.full", "all.summary"):
        for output in frame.outputs:
            yield _output(output, name.partition(".")[2])
    elif name in ("round.full", "round.summary"):
        if frame.round is not None:
            for output in frame.round.outputs:
                yield _output(output, name.partition(".")[2])
            for agent in frame.round.missing:
                yield Read(f"{agent}.full", "output", None, f"{agent} gave no output this round")
    elif name in PROJECT_WORDS:
        yield _of_project(state, book, name)
    elif name.startswith("inputs."):
        yield from _input(state, book, name)
    elif name in book.workflow.names:
        yield from _value(state, book, name)
    else:
        yield _file(state, name)


def _file(state: RunState, path: str) -> Read:
    version = state.world.files.get(path)
    if version is None:
        return Read(path, "file", None, "not produced" + _why_not(state))
    return Read(path, "file", Ref(version.digest, "bytes", version.size))


def _why_not(state: RunState) -> str:
    skipped = ", ".join(sorted(state.world.skipped))
    return f": phases skipped so far: {skipped}" if skipped else " yet"


def _value(state: RunState, book: Book, name: str, *, quiet: bool = False) -> Iterator[Read]:
    value = scope.value_at(state, book, name)
    if value is None:
        if not quiet:
            yield Read(name, "value", None, "not produced" + _why_not(state))
    elif value.parts is not None:
        for agent in sorted(value.parts):
            yield Read(f"{name}.{agent}", "value", value.parts[agent])
    else:
        yield Read(name, "value", value.ref)


def _input(state: RunState, book: Book, name: str) -> Iterator[Read]:
    key = name.partition(".")[2]
    if book.object(state.inputs).get(key) is None:
        yield Read(name, "input", None, "not given")
    else:
        yield Read(name, "input", Ref(state.inputs, "json"))


# --- the person's project: commits are names here; whatever looks at a disk or runs git lives in an adapter ---


def _of_project(state: RunState, book: Book, word: str) -> Read:
    """What one of PROJECT_WORDS stands for in the step that begins."""
    project = state.record.project
    match word:
        case "project.diff":
            items = [frame.item.head for frame in state.world.cursor if frame.item is not None]
            since = items[-1] if items else ""
            if since == state.world.head or since not in state.world.diffs:
                return Read(word, "project", None, "no changes")
            return Read(word, "value", state.world.diffs[since])
        case "project.branch" if project is not None and project.branch:
            at = state.world.head or project.base
            return Read(word, "project", None, f"{project.branch}, at {at[:12] or 'no commit yet'}")
        case "project.branch":
            return Read(word, "project", None, "not begun")
        case _:
            return Read(word, "project", None, "no files are named")
