"""What a long run costs, counted and not timed: bytes, foldings, renderings of the last round beside an early one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.adapters.sqlite import SqliteLog
from reconvene.app import as_sent, session
from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.book import Book, same
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.events import AttemptEnded
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import EMPTY
from reconvene.language import templates
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.snapshot_json import due_after
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

AGENTS = [f"a{n}" for n in range(3)]
WORKFLOW = f"""
name: long
limits: {{rounds: 1000, calls: 10000}}
agents: {{{", ".join(f"{name}: {{prompt: You are {name}.}}" for name in AGENTS)}}}
files: [{{path: context.md, template: context.md}}]
phases:
  - id: work
    agents: [{", ".join(AGENTS)}]
    rounds: {{max: 1000}}
    checkpoint: {{options: [{{label: Again, remark: optional, then: again}}]}}
"""
CONTEXT = "# Context\n{% for said in feedback.all %}\n## {{ said.id }}\n\n{{ said.text }}\n{% endfor %}"
SAID = 28  # context.md stays below what is cut in prompts
EARLY, LATE = 6, 24


def remark(number: int) -> str:
    return f"Region {number * 7919 % 997}: closed for {number * 31 % 53} weeks, and harbour number {number} is ours."


class LongRun:
    """Rounds with remarks after each, and what each of them added to the database."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.agents = ScriptedAgents({}, default=lambda work: f"{work.task} has been done, as was said.")
        self.engine = open_engine(str(home), runner=self.agents)
        workflow = parse_workflow(WORKFLOW, "long.yaml", {"templates/context.md": CONTEXT})
        self.run = self.engine.start(workflow, {})
        self.bytes: list[dict[str, int]] = []
        asyncio.run(self.engine.drive(self.run))

    def round(self, number: int) -> None:
        before = self.weigh()
        said = tuple(RemarkIn(remark(number * SAID + n)) for n in range(SAID))
        self.engine.submit(self.run, AnswerCheckpoint("", "Again", remarks=said, by="ann"))
        asyncio.run(self.engine.drive(self.run))
        self.bytes.append({table: size - before[table] for table, size in self.weigh().items()})

    def weigh(self) -> dict[str, int]:
        log = self.engine.log
        assert isinstance(log, SqliteLog)
        sizes = {"appends": "events", "artefacts": "data", "runs": "doc"}
        return {
            table: log._connection.execute(f"SELECT sum(length({column})) FROM {table}").fetchone()[0] or 0
            for table, column in sizes.items()
        }


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongRun]:
    run = LongRun(tmp_path_factory.mktemp("long") / "home")
    for number in range(1, LATE + 4):
        run.round(number)
    yield run
    asyncio.run(run.engine.close())


def mean(long: LongRun, around: int, table: str) -> float:
    return sum(long.bytes[n][table] for n in range(around - 3, around + 3)) / 6


@pytest.mark.parametrize("table", ["appends", "artefacts"])
def test_a_late_round_adds_hardly_more_to_the_database_than_an_early_one(long: LongRun, table: str) -> None:
    assert mean(long, LATE, table) < 1.5 * mean(long, EARLY, table)


def test_the_index_row_does_not_grow_with_the_run(long: LongRun) -> None:
    assert abs(mean(long, LATE, "runs")) < 10


def test_what_an_agent_was_sent_is_on_record_byte_for_byte_under_the_digest_in_its_event(long: LongRun) -> None:
    sent = {(call.task, call.attempt): call.prompt.encode() for call in long.agents.calls}
    assert max(map(len, sent.values())) > 40_000
    checked = 0
    for _, event in long.engine.log.read(long.run):
        if isinstance(event, AttemptEnded):
            assert as_sent.whole(event, long.engine.log.artefact) == sent[event.task, event.attempt]
            assert digest_of(long.engine.log.artefact(event.prompt)) == event.prompt
            checked += 1
    assert checked == len(sent) == len(AGENTS) * (LATE + 4)


def test_every_remark_is_in_the_last_prompt(long: LongRun) -> None:
    last = long.agents.calls[-1].prompt
    assert all(remark(n) in last for n in range(SAID, SAID * (LATE + 4)))


def test_a_load_folds_no_more_than_what_came_after_the_last_snapshot(
    long: LongRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = long.engine.load(long.run)
    assert state.seq > 2 * due_after(state)
    other = open_engine(str(long.home), runner=long.agents)
    folded: list[object] = []
    one_more = session.evolve
    monkeypatch.setattr(session, "evolve", lambda state, event: folded.append(event) or one_more(state, event))
    assert Session.load(other.log, _Clock(), long.run).state == state
    other.log.close()
    assert 0 < len(folded) <= due_after(state) + 60


class _Clock:
    def now(self) -> str:
        return "2030-01-01T00:00:00.000Z"


def test_a_state_is_shown_in_a_line_however_much_it_holds(long: LongRun) -> None:
    state = long.engine.load(long.run)
    assert repr(state) == f"<RunState of long-1 after {state.seq} events, waiting>"
    assert repr(EMPTY) == "<RunState of no run after 0 events, running>"


def test_a_file_is_rendered_once_where_nobody_has_said_anything_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = LongRun(tmp_path / "home")
    rendered: list[str] = []
    render = templates.render

    def counted(template: str, *given: object, **named: object) -> str:
        if template == CONTEXT:
            rendered.append(template)
        return render(template, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(templates, "render", counted)
    session = run.engine.session(run.run)
    for _ in range(2):
        session.submit([AnswerCheckpoint("", "Again", remarks=(RemarkIn(remark(1)),), by="ann")])
        _finish(run.engine, session)
    asyncio.run(run.engine.close())
    assert len(rendered) <= 3


def _finish(engine: Engine, session: Session) -> None:
    """Let the agents of the round work, in the same session."""
    from reconvene.app.effects import assignment, run_task
    from reconvene.core.run.plan import RunTask, plan

    for effect in plan(session.state, session.book):
        assert isinstance(effect, RunTask)
        work = assignment(session.state, session.book, effect)
        done = asyncio.run(run_task(engine.runner, work, lambda progress: None))
        session.submit([done.command], done.blobs)
    assert session.state.status == "waiting"


# --- what is worked out once ---


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ([1], (1,)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([[1]], [[True]]),
        ("", None),
    ],
)
def test_values_that_a_template_tells_apart_are_not_the_same(one: object, other: object) -> None:
    assert not same(one, other)
    assert same(one, one)


def test_what_is_made_of_values_is_made_again_when_they_change() -> None:
    book, made = Book(Workflow("w", ()), lambda digest: b""), []
    for values in ({"a": [1]}, {"a": [1]}, {"a": [True]}, {"a": [True]}):
        book.made_of("it", values, lambda: made.append(1))
    assert len(made) == 2


def test_what_agents_have_in_common_is_made_once_for_what_it_is_made_of() -> None:
    book = Book(Workflow("w", ()), lambda digest: b"")
    remarks, more = object(), object()
    made = [book.shared(of, key, object) for of, key in ((remarks, 1), (remarks, 1), (remarks, 2), (remarks, 1))]
    assert made[0] is made[1] is made[3]
    assert made[2] is not made[0]
    assert book.shared(more, 1, object) is not made[0]
    assert book.shared(remarks, 1, object) is not made[0], "only the newest is kept"
