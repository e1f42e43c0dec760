"""A random walk over the real core, on all five processes: legal and illegal commands in any order.

What must hold after every command: nothing but the project's own errors, folding the log gives the state, the same
command twice adds nothing, at most one open checkpoint and never a stuck run, no remark or decision lost, late outputs
inert, the order of parallel outputs irrelevant, undo restores the world, limits kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from exploring import TIMES
from reconvene.core.facts import commands as c
from reconvene.core.facts.evolve import fold
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import children_of
from reconvene.core.run.handle import handle, record
from reconvene.core.run.plan import FollowUp, RunTask, StartChild, plan
from reconvene.core.working.moves import undo_refused
from reconvene.errors import ReconveneError
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.snapshot_json import decode_state, encode_state
from reconvene.wire.workflow_file import load_workflow

SKETCHES = Path(__file__).parent.parent / "fixtures" / "sketches"
INPUTS = {
    "brainstorm": {"description": "a new door"},
    "job": {"description": "analyse", "documents": ["a.md"]},
    "scenario-planning": {"company": None},
    "spec-refinement": {"spec": "# Spec\n"},
    "checkpoint-patterns": {"feature": {"flags": ["production"]}},
}
LISTS = [{"id": "x1", "question": "Which?", "options": ["a", "b"]}, {"id": "x2", "text": "Why?"}]
VALUES: list[object] = [
    {
        "level": "complex",
        "pieces": LISTS,
        "batches": LISTS,
        "list": LISTS,
        "sections": LISTS,
        "tasks": LISTS,
        "todos": LISTS,
        "job_complete": False,
        "verdict": "REVISE",
        "complete": False,
        "questions": LISTS,
        "conflicts": LISTS,
        "critical": [],
        "open": 3,
        "warning": True,
    },
    {
        "level": "straightforward",
        "pieces": [],
        "batches": [{"id": "b1"}],
        "list": [],
        "sections": [{"id": "s1"}],
        "tasks": [],
        "todos": [{"id": "t1"}],
        "job_complete": True,
        "verdict": "APPROVE",
        "complete": True,
        "questions": [],
        "conflicts": [],
        "critical": [{"id": "g1"}],
        "open": 0,
        "warning": False,
    },
    None,  # plain text: expressions over it may fail, and then a person is asked
    {"level": "exploration"},
]


class Walk(RuleBasedStateMachine):
    sketch = "brainstorm"

    @initialize()
    def start(self) -> None:
        workflow = load_workflow(str(SKETCHES / f"{self.sketch}.yaml"))
        settings_ = {name: True if spec.type == "bool" else spec.default for name, spec in workflow.settings.items()}
        self.game = Play(workflow, INPUTS[self.sketch], settings_)
        self.spent: list[c.RecordAttempt] = []
        self.said = 0
        self.claims = 0

    # --- commands ---

    def attempt(self, command: c.Command, claim: str = "driver") -> bool:
        """Submit; refusals are fine and change nothing. Then once more, which must add nothing."""
        game = self.game
        before = game.state
        self.recorded_first_it_comes_to_the_same(command, claim)
        try:
            game.do(command, claim)
        except ReconveneError:
            assert game.state is before
            return False
        after = game.state
        try:
            again = handle(after, command, game.now(), game.book, claim)
        except ReconveneError:
            return True
        assert again.events == [], f"{command} twice added {again.events}"
        return True

    def recorded_first_it_comes_to_the_same(self, command: c.Command, claim: str) -> None:
        """What follows from a command may come in an append of its own, and `plan` says so in between."""
        game, now = self.game, "2027-01-01T00:00:00.000Z"
        try:
            first = record(game.state, command, now, game.book, claim)
        except ReconveneError:
            return
        rest = handle(first.state, c.GoOn(), now, game.book, claim)
        assert rest.state == handle(game.state, command, now, game.book, claim).state
        assert not rest.events or FollowUp() in plan(first.state, game.book)
        assert FollowUp() not in plan(rest.state, game.book)

    def _tasks(self) -> list[RunTask]:
        return [effect for effect in self.game.effects() if isinstance(effect, RunTask)]

    @rule(pick=st.integers(0, 6), value=st.sampled_from(VALUES), files=st.booleans())
    def deliver(self, pick: int, value: object, files: bool) -> None:
        tasks = self._tasks()
        if tasks:
            task = tasks[pick % len(tasks)]
            view = shown(self.game.state, self.game.book, task.task)
            for remark in view.remarks:
                assert remark["text"] in view.prompt, "what was delivered is in the prompt itself"
            command = self.game.output(
                task.agent,
                f"{task.task}#{task.attempt}",
                value=value,
                files=dict.fromkeys(view.writes, task.task) if files or view.writes else {},
            )
            self.spent.append(command)
            self.attempt(command)

    @rule(value=st.sampled_from(VALUES), backwards=st.booleans())
    def deliver_all_in_any_order(self, value: object, backwards: bool) -> None:
        tasks = self._tasks()
        if len(tasks) < 2:
            return
        game = self.game
        commands = [game.output(task.agent, task.task, value=value) for task in tasks]
        states = []
        for order in (commands, commands[::-1]):
            state = game.state
            for command in order:
                state = handle(state, command, "2026-01-02T00:00:00.000Z", game.book, "driver").state
            states.append(state)
        assert states[0].world == states[1].world
        assert states[0].record == states[1].record
        for command in commands[::-1] if backwards else commands:
            self.attempt(command)

    @rule(turns=st.integers(1, 12), value=st.sampled_from(VALUES[:2]), pick=st.sampled_from([0, 0, 0, 1, 2, 3]))
    def play_on(self, turns: int, value: object, pick: int) -> None:
        """Go deep: agents deliver something sensible, the person mostly takes the first option."""
        for _ in range(turns):
            for task in self._tasks():
                view = shown(self.game.state, self.game.book, task.task)
                self.attempt(
                    self.game.output(task.agent, task.task, value=value, files=dict.fromkeys(view.writes, task.task))
                )
            point = self.game.state.world.open
            if point is not None:
                option = point.options[pick % len(point.options)]
                self.said += 1
                remarks = (c.RemarkIn(f"remark {self.said}"),) if option.remark == "required" else ()
                answers = {
                    f.id: f.options[0] if f.options else "yes"
                    for f in (*point.fields, *option.fields)
                    if f.type in ("text", "choice", "confirm")
                }
                self.attempt(c.AnswerCheckpoint(point.id, option.label, answers, remarks, by="ann", door="test"))

    @rule(pick=st.integers(0, 6), retryable=st.booleans())
    def fail(self, pick: int, retryable: bool) -> None:
        tasks = self._tasks()
        if tasks:
            task = tasks[pick % len(tasks)]
            self.attempt(c.RecordAttempt(task.task, task.attempt, failed=True, why="broke", retryable=retryable))

    @rule(pick=st.integers(0, 20))
    def deliver_late(self, pick: int) -> None:
        if self.spent:
            world = self.game.state.world
            old = self.spent[pick % len(self.spent)]
            self.attempt(c.RecordAttempt(old.task, old.attempt + 40, output=old.output))
            assert self.game.state.world == world

    @rule(pick=st.integers(0, 9), words=st.booleans(), answer=st.sampled_from([None, "a", "yes", 3]))
    def decide(self, pick: int, words: bool, answer: object) -> None:
        point = self.game.state.world.open
        if point is None:
            return
        option = point.options[pick % len(point.options)]
        self.said += words
        remarks = (c.RemarkIn(f"remark {self.said}", "correction"),) if words else ()
        fields = {field.id: answer for field in (*point.fields, *option.fields)} if answer is not None else {}
        self.attempt(c.AnswerCheckpoint(point.id, option.label, fields, remarks, by="ann", door="test"))

    @rule(label=st.sampled_from(["Nope", "Continue", "Agree", "Try again"]), digest=st.sampled_from(["", "0" * 32]))
    def decide_badly(self, label: str, digest: str) -> None:
        self.attempt(c.AnswerCheckpoint("", label, {"no-such-field": 1}, (), digest, by="bob", door="test"))

    @rule()
    def remark(self) -> None:
        self.said += 1
        self.attempt(c.AddRemark(c.RemarkIn(f"remark {self.said}"), by="ann"))

    @rule(path=st.sampled_from(["plan.md", "notes/mine.md"]), text=st.sampled_from(["one", "two", ""]))
    def edit(self, path: str, text: str) -> None:
        digest = self.game.keep(text.encode()) if text else ""
        diff = self.game.keep(f"diff of {path} to {text}".encode())
        self.attempt(c.RecordEdits((c.EditIn(path, digest, len(text), diff, "+1"),), by="ann"))

    @rule(now=st.booleans())
    def pause_and_resume(self, now: bool) -> None:
        self.attempt(c.Pause(by="ann", now=now))
        if not self.game.state.ended:
            assert self.game.effects() == []
        self.attempt(c.Resume(by="ann"))

    @rule()
    def another_driver_takes_over(self) -> None:
        self.claims += 1
        self.attempt(c.Claim(), f"driver {self.claims}")

    @rule()
    def rollback(self) -> None:
        game = self.game
        point = game.state.world.open
        refused = undo_refused(game.state, game.book) if point and not game.state.ended else "no"
        mark = game.state.marks.get(point.serial) if point else None
        done = self.attempt(c.Rollback(point.id if point else "", by="ann"))
        if done and mark is not None and not refused:
            assert game.state.world.values == mark.values
            assert {p: v.digest for p, v in game.state.world.files.items() if not v.rendered} == {
                p: v.digest for p, v in mark.files.items() if not v.rendered
            }

    @rule(pause=st.booleans())
    def replan(self, pause: bool) -> None:
        game = self.game
        if pause:
            self.attempt(c.Pause(by="ann"))
        files, point = game.state.world.files, game.state.world.open
        self.said += 1
        said = (c.RemarkIn(f"remark {self.said}"),)
        if self.attempt(c.Replan(point.id if point else "", "ann", "test", said, told=("worker",))):
            assert not game.state.ended
            assert not game.state.paused
            assert game.phase == "strategy"
            assert set(files) <= set(game.state.world.files)
        else:
            self.said -= 1
            self.attempt(c.Resume(by="ann"))

    @rule(pick=st.integers(0, 3))
    def make_a_child(self, pick: int) -> None:
        missing = [effect for effect in self.game.effects() if isinstance(effect, StartChild)]
        if missing:
            key = missing[pick % len(missing)].key
            self.attempt(c.RecordChild(key, f"run-1.{key}"))
            assert StartChild(key) not in self.game.effects()

    # --- what holds ---

    @invariant()
    def no_child_is_lost_or_started_twice(self) -> None:
        if not hasattr(self, "game"):
            return
        state = self.game.state
        queued = [
            child for event in self.game.log if type(event).__name__ == "ChildrenQueued" for child in event.children
        ]
        assert [child.key for child in queued] == [one.child.key for one in children_of(state)]
        assert len({child.run.casefold() for child in queued}) == len(queued)
        made = [event.key for event in self.game.log if type(event).__name__ == "ChildStarted"]
        planned = [effect.key for effect in self.game.effects() if isinstance(effect, StartChild)]
        assert sorted([*made, *planned]) == sorted(child.key for child in queued)

    @invariant()
    def folding_the_log_gives_the_state(self) -> None:
        if not hasattr(self, "game"):
            return
        game = self.game
        assert fold(game.log) == game.state
        assert decode_state(encode_state(game.state)) == game.state

    @invariant()
    def the_run_is_never_stuck(self) -> None:
        if not hasattr(self, "game"):
            return
        state = self.game.state
        assert state.ended or state.world.open is not None or plan(state, self.game.book), state.world.top
        if state.world.open is not None:
            assert any(option.available for option in state.world.open.options)
            step = state.world.top.round.open if state.world.top.round else None
            assert step is None or step.open == 0, "a checkpoint opens only at a barrier"

    @invariant()
    def nothing_said_is_lost(self) -> None:
        if not hasattr(self, "game"):
            return
        texts = [remark.text for remark in self.game.state.record.remarks.values()]
        assert len(texts) == len(self.game.state.record.said)
        logged = [event for event in self.game.log if type(event).__name__ == "RemarkAdded"]
        assert len(texts) == len(logged)
        decided = [event for event in self.game.log if type(event).__name__ == "DecisionRecorded"]
        assert len(self.game.state.record.decisions) == len(decided)

    @invariant()
    def limits_are_kept(self) -> None:
        if not hasattr(self, "game"):
            return
        state, workflow = self.game.state, self.game.workflow
        assert state.record.undos <= workflow.limits.undo
        for frame in state.world.cursor[1:]:
            assert frame.n <= self.game.book.phase(frame.phase).rounds.max


@pytest.mark.hypothesis
@pytest.mark.parametrize("sketch", sorted(path.stem for path in SKETCHES.glob("*.yaml")))
def test_any_sequence_of_commands_leaves_the_run_whole(sketch: str) -> None:
    machine = type(f"Walk_{sketch.replace('-', '_')}", (Walk,), {"sketch": sketch})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=20 * TIMES,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def test_digests_name_contents() -> None:
    assert digest_of(b"a") != digest_of(b"b")
    assert len(digest_of(b"")) == 32
