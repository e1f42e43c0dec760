"""How the demo tells a run: in full, in two lines, or not at all; and what it says before and after.

Words only: what is played, and with which decisions, is `demo.py`'s business.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import Call, put
from reconvene.doors.cli.progress import Silent, Written
from reconvene.doors.cli.text import clean, one_line, wrapped

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.ledger import Entry
    from reconvene.app.views.model import Checkpoint
    from reconvene.core.facts.state import RunState
    from reconvene.doors.cli.progress import Watcher
    from reconvene.doors.cli.story import Story
    from reconvene.ports import Progress
    from reconvene.wire.answers import Answer

_MEMO = "memo.md"  # the one file that shows what a run came to, where there is one
_MANY = 8  # so many files in a folder are counted, not named


class Mute:
    """For scripts: nothing is told on the way."""

    def __init__(self, name: str) -> None:
        self._name = name

    def watch(self) -> Watcher:
        return Silent()

    def start(self, engine: Engine, run: str) -> None:
        pass

    def stop(self, engine: Engine, run: str, checkpoint: Checkpoint, *, first: bool) -> None:
        pass

    def said(self, engine: Engine, run: str) -> None:
        """Remarks are on record, and nothing is decided yet."""

    def answer(self, answer: Answer) -> None:
        pass

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        pass


class Brief(Mute):
    """Two lines when it is over."""

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        state = engine.load(run)
        put(f"{self._name.ljust(22)} {' → '.join([*(one_line(answer.option) for answer in taken), state.status])}")
        put(f"{' ' * 22} {_in_short(state)}")


class Told(Mute):
    """The story of a long run, from its log."""

    _story: Story

    def watch(self) -> Watcher:
        return _Following(self._story)

    def start(self, engine: Engine, run: str) -> None:
        from reconvene.doors.cli.story import Story

        self._story = Story(engine, run, _put_now)
        _put_now(wrapped(opening(engine, run)))

    def stop(self, engine: Engine, run: str, checkpoint: Checkpoint, *, first: bool) -> None:
        self._story.catch_up()

    def said(self, engine: Engine, run: str) -> None:
        from reconvene.app import queries
        from reconvene.app.review import review

        self._story.catch_up()
        point, found = queries.summary(engine, run).checkpoint, review(engine, run)
        if point and found and found.preview and any(option.recommend for option in point.options):
            self._story.tell_advice(found.preview)

    def answer(self, answer: Answer) -> None:
        self._story.catch_up()

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        self._story.catch_up()
        closing(call, engine, run)


def _put_now(text: str) -> None:
    """Through a pipe as well, a story is told while it happens."""
    put(text)
    sys.stdout.flush()


class _Following(Silent):
    """Tells what is new in the log whenever somebody starts."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def __call__(self, progress: Progress) -> None:
        super().__call__(progress)
        if progress.what == "started":
            self._story.catch_up()


class Full(Mute):
    """Everything: who works, what is asked, what is said, what that changed."""

    def watch(self) -> Watcher:
        return Written(put)

    def start(self, engine: Engine, run: str) -> None:
        put(wrapped(opening(engine, run)) + "\n")

    def stop(self, engine: Engine, run: str, checkpoint: Checkpoint, *, first: bool) -> None:
        from reconvene.app import queries
        from reconvene.doors.cli.session import describe

        changed = "" if first else _part(queries.diff(engine, run), _MEMO)
        if changed:
            put(f"\nWhat that changed in {_MEMO}:\n\n{changed.rstrip()}")
        for line in _positions(engine, run):
            put(line)
        put("\n── A checkpoint: the run waits for a person, no process has to ──\n")
        put(wrapped(describe(checkpoint)))

    def answer(self, answer: Answer) -> None:
        put(f"\n▸ The person chooses: {one_line(answer.option)}")
        for name, value in answer.fields.items():
            put(f"  {one_line(name)}: {one_line(value if isinstance(value, str) else json.dumps(value))}")
        for remark in answer.remarks:
            put(f"  {remark.kind}: {one_line(remark.text)}")
        put()

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        from reconvene.app import queries

        if _MEMO in engine.load(run).world.files:
            put(f"\n{_MEMO}, in the end:\n\n{queries.file(engine, run, _MEMO).decode().rstrip()}")
        if said := queries.closing(engine, run):
            put(f"\n{clean(said)}")
        put()
        tell_files(call, engine, run)


# --- before and after -------------------------------------------------------------------------------------------------


def opening(engine: Engine, run: str) -> str:
    """What the run was given and who works on it, in its own words."""
    from reconvene.core.shown.context import summary_in
    from reconvene.core.shown.scope import context

    session = engine.session(run)
    workflow = session.book.workflow
    given = context(session.state, session.book, frozenset({"inputs"})).get("inputs")
    texts = {name: text for name, text in given.items() if isinstance(text, str)} if isinstance(given, dict) else {}
    grouped = {agent for members in workflow.groups.values() for agent in members}
    who = [agent for agent in workflow.agents if agent not in grouped]
    real = "".join(f"but the {name} " for name, agent in workflow.agents.items() if agent.kind == "survey")
    who += [f"{len(members)} {name} ({', '.join(members)})" for name, members in workflow.groups.items()]
    return "\n".join(
        [
            *(f"The {name}: {summary_in(text)}\n" for name, text in texts.items()),
            f"At work: {' and '.join(part for part in (', '.join(who[:-1]), who[-1]) if part)}. "
            f"All {real}are recorded: no model is asked, nothing leaves this machine. Yet what a person says changes "
            "what they conclude.",
        ]
    )


def changes(engine: Engine, run: str) -> Iterator[str]:
    """What the person's words changed, wherever agents looked again."""
    from reconvene.app import queries
    from reconvene.doors.cli.story import Story, hung

    story = Story(engine, run, lambda text: None)
    story.catch_up()
    if story.turns:
        yield "\nWhat your words changed:"
        yield from (hung(line, 11) for line in story.turns)
    elif engine.load(run).record.rounds > 1 and (changed := _part(queries.diff(engine, run, "1"), _MEMO)):
        yield f"\nWhat your words changed in {_MEMO}:\n\n{changed.rstrip()}"


def closing(call: Call, engine: Engine, run: str) -> None:
    """The files, what became of every remark, how well it went."""
    from reconvene.app import review
    from reconvene.doors.cli.story import hung

    book, measured = review.ledger(engine, run), review.stats(engine, run)
    tell_files(call, engine, run, further=False)
    if book.entries:
        put("\nWhat became of what was said:")
    for entry in book:
        for line in _fate(entry):
            put(hung(line, 4))
    put("\nHow well it went:")
    for reading in measured.success:
        put(hung(f"  {reading.line()}", 4))
    tokens = measured.input_tokens + measured.output_tokens
    put(f"  {measured.tasks} agent tasks, {tokens:,} recorded tokens, {measured.wait_minutes * 60:.0f} s of waiting")
    _tell_further(call, ("show", run), ("ledger", run), ("stats", run), ("files", run))


def _fate(entry: Entry) -> Iterator[str]:
    yield f"  {'○' if entry.open else '✓'} {entry.id} {entry.kind}: {one_line(entry.text, 100)}"
    took = [answer.how for answer in entry.standing.values()]
    paths = list(dict.fromkeys(place.path for place in entry.reflected))
    fate = [f"delivered to {len(entry.delivered.agents)} agents in {len(entry.delivered)} tasks"]
    fate += [f"{how} by {took.count(how)}" for how in dict.fromkeys(took)]
    fate += [f"reflected in {', '.join(paths[:2])}{f' and {len(paths) - 2} more' * (len(paths) > 2)}"] if paths else []
    yield f"    {'; '.join(fate)}"


def tell_files(call: Call, engine: Engine, run: str, *, further: bool = True) -> None:
    from reconvene.app import queries
    from reconvene.doors.cli.session import merge_command

    state = engine.load(run)
    put(f"{run} is {state.status}. Its files are in {state.workspace}:")
    for line in _listed(sorted(state.world.files)):
        put(f"  {line}")
    if merge := merge_command(queries.summary(engine, run)):
        put(f"What was built is on a branch of its own. Take it over with:\n  {merge}")
    rounds = ["1..2"] if state.record.rounds > 1 else []
    if further:
        _tell_further(call, ("show", run), ("diff", run, *rounds), ("log", run))


def _listed(paths: list[str]) -> Iterator[str]:
    """Each file; a folder with many in it as a whole."""
    count: dict[str, int] = {}
    for path in paths:
        top = path.split("/")[0] if "/" in path else ""
        count[top] = count.get(top, 0) + 1
    told = set()
    for path in paths:
        top = path.split("/")[0] if "/" in path else ""
        if not top or count[top] <= _MANY:
            yield path
        elif top not in told:
            told.add(top)
            yield f"{top}/ ({count[top]} files)"


def _tell_further(call: Call, *commands: tuple[str, ...]) -> None:
    put("\nLook further:")
    for words in commands:
        put(f"  {call.command(*words)}")


def _part(diff: str, path: str) -> str:
    """The part of a diff that is about one file."""
    kept: list[str] = []
    here = False
    for line in diff.splitlines(keepends=True):
        if line.startswith("--- "):
            here = line.split()[1].removeprefix("a/") == path
        if here:
            kept.append(line)
    return "".join(kept)


def _positions(engine: Engine, run: str) -> Iterator[str]:
    """What each specialist holds, in a line: the first under its heading "Position"."""
    from reconvene.core.shown.scope import context

    session = engine.session(run)
    views = context(session.state, session.book, frozenset({"views"})).get("views")
    if isinstance(views, dict):
        yield ""
        for agent, text in views.items():
            position = str(text).partition("## Position")[2].strip().split("\n")[0]
            yield f"  {str(agent).ljust(12)} {one_line(position)}"


def _in_short(state: RunState) -> str:
    """What a small run did: which phases ran more than once, what was skipped, what it left."""
    counts = [f"{phase} ×{count}" for phase, count in sorted(state.world.counts.items()) if count > 1]
    skipped = [f"{phase} skipped" for phase in sorted(state.world.skipped)]
    return "; ".join([*counts, *skipped, "files: " + ", ".join(sorted(state.world.files))])
