"""Any legal sequence of answer, discuss, back, choose, done, with crashes between: no answer is lost, the walk ends.

The person's own notebook is the model: what they answered to which question, and nothing else. An answer may leave it
in two ways only: the agent said that another question takes its place, or the answer is not on offer any more; and then
the question must say so.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from exploring import TIMES
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import DraftSaved
from reconvene.core.facts.evolve import fold
from reconvene.core.run.plan import RunTask
from reconvene.core.shown import drafts
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.snapshot_json import decode_state, encode_state
from reconvene.wire.workflow_file import parse_workflow

ROUNDS = 3
WORKFLOW = f"""
name: walk
inputs: {{description: {{type: text}}}}
agents: {{b: {{}}}}
phases:
  - id: triage
    rounds: {{max: {ROUNDS}}}
    steps: [{{agents: [b], reads: [conversation], output: triage}}]
    checkpoint:
      options:
        - {{label: Agree, then: continue}}
        - {{label: Discuss, remark: required, then: again}}
  - id: questions
    rounds: {{max: {ROUNDS}}}
    steps: [{{agents: [b], reads: [conversation], output: questions, revise: "Revise."}}]
    checkpoint:
      fields: [{{each: "context.questions.list", type: item, into: answers, blank: deferred}}]
      options:
        - {{label: Done, then: continue}}
        - {{label: Discuss, remark: required, then: again}}
        - {{label: Back, then: {{goto: previous}}}}
  - id: approaches
    rounds: {{max: {ROUNDS}}}
    steps: [{{agents: [b], reads: [answers, conversation], output: approaches}}]
    checkpoint:
      fields: [{{id: pick, type: choice, options: context.approaches.list, into: approach, blank: any}}]
      options:
        - {{label: Choose, then: continue}}
        - {{label: Discuss, remark: required, then: again}}
        - {{label: Back to questions, then: {{goto: questions}}}}
        - {{label: Back to triage, then: {{goto: triage}}}}
  - id: design
    each: {{of: "[{{id: 1}}, {{id: 2}}]"}}
    rounds: {{max: {ROUNDS}}}
    steps: [{{agents: [b], reads: [conversation], output: section}}]
    checkpoint:
      fields: [{{id: note, type: text, into: notes}}]
      options:
        - {{label: Approve, then: continue}}
        - {{label: Revise, remark: required, then: again}}
        - {{label: Previous, then: {{goto: previous}}}}
        - {{label: Back to approaches, then: {{goto: approaches}}}}
"""
LEAVING = ("Agree", "Done", "Choose", "Approve")
TALKING = ("Discuss", "Revise")
CHOICES = ["red", "green", "blue"]


@st.composite
def question_sets(draw: st.DrawFn) -> list[dict[str, object]]:
    ids = draw(st.lists(st.sampled_from(["q1", "q2", "q3", "q4", "q5"]), min_size=1, max_size=4, unique=True))
    rows: list[dict[str, object]] = []
    for name in ids:
        row: dict[str, object] = {"id": name, "text": draw(st.sampled_from([f"{name}?", f"{name}, really?"]))}
        if draw(st.booleans()):
            row["options"] = draw(st.lists(st.sampled_from(CHOICES), min_size=1, unique=True))
        if draw(st.integers(0, 3)) == 0:
            row["replaces"] = draw(st.sampled_from(["q1", "q2", "q3", "nothing"]))
        rows.append(row)
    return rows


class Talk(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.game = Play(parse_workflow(WORKFLOW), {"description": "a second door"})
        self.notebook: dict[str, dict[str, object]] = {}
        self.wording: dict[str, dict[str, str]] = {}
        self.given: set[str] = set()
        self.said: list[str] = []
        self.drivers = 0
        self.met = ""

    @property
    def spot(self) -> str:
        return self.game.state.world.spot

    def _asking(self) -> bool:
        return hasattr(self, "game") and self.game.state.world.open is not None

    def _working(self) -> bool:
        return hasattr(self, "game") and bool(self.game.working())

    # --- agents ---

    @precondition(_working)
    @rule(questions=question_sets(), approaches=st.lists(st.sampled_from(CHOICES), min_size=1, unique=True))
    def present(self, questions: list[dict[str, object]], approaches: list[str]) -> None:
        game = self.game
        (task,) = [effect for effect in game.effects() if isinstance(effect, RunTask)]
        prompt = shown(game.state, game.book, task.task).prompt
        assert all(text in prompt for text in self.said), "whatever was said reaches whoever works"
        if "The conversation so far" in prompt:
            for name, answer in self.notebook.get(self.spot, {}).items():
                assert f"[{name}]" in prompt
                assert str(answer) in prompt
        game.finish("b", value={"list": questions if game.phase == "questions" else approaches})
        self._read_what_is_asked()

    def _read_what_is_asked(self) -> None:
        """Compare a newly opened checkpoint with the notebook, and strike out what it says is replaced or gone."""
        point = self.game.state.world.open
        if point is None or point.id == self.met:
            return
        self.met = point.id
        mine, words = self.notebook.setdefault(self.spot, {}), self.wording.setdefault(self.spot, {})
        asked = {field.id for field in point.fields}
        for field in point.fields:
            for old in field.replaces:
                reworded = old == field.id and words.get(old, field.prompt) != field.prompt
                if old in mine and (reworded or old not in asked):
                    assert str(mine.pop(old)) in field.note, "a replaced answer is shown"
            answer = mine.get(field.id)
            if answer is not None and field.type == "choice" and answer not in field.options:
                assert str(mine.pop(field.id)) in field.note, "an answer that is not on offer any more is shown"
        words.update({field.id: field.prompt for field in point.fields})

    # --- the person ---

    @precondition(_asking)
    @rule(pick=st.integers(0, 4), word=st.integers(0, 99))
    def answer(self, pick: int, word: int) -> None:
        point = self.game.state.world.open
        assert point is not None
        if point.fields:
            field = point.fields[pick % len(point.fields)]
            answer = field.options[word % len(field.options)] if field.type == "choice" else f"answer {word}"
            self.game.do(c.SaveDraft(point.id, {field.id: answer}, by="ann"))
            self.notebook[self.spot][field.id] = answer
            self.given.add(answer)

    @precondition(_asking)
    @rule()
    def discuss(self) -> None:
        self._take(TALKING)

    @precondition(_asking)
    @rule(pick=st.integers(0, 2))
    def back(self, pick: int) -> None:
        self._take([label for label in self.game.labels if label.startswith(("Back", "Previous"))][pick : pick + 1])

    @precondition(_asking)
    @rule()
    def leave(self) -> None:
        spot, mine = self.spot, dict(self.notebook.get(self.spot, {}))
        point = self.game.state.world.open
        assert point is not None
        self._take(LEAVING)
        if spot == "questions":
            final = self.game.context()["answers"]
            assert isinstance(final, dict)
            for field in point.fields:
                assert final[field.id] == mine.get(field.id, "deferred")
        if spot == "approaches":
            assert self.game.context()["approach"] == mine.get("pick", "any")

    def _take(self, labels: object) -> None:
        assert isinstance(labels, list | tuple)
        point = self.game.state.world.open
        assert point is not None
        option = next((option for option in point.options if option.label in labels), None)
        if option is None:
            return
        if not option.available:
            assert "is reached" in option.why_not or "nothing to go back to" in option.why_not
            return
        words = []
        if option.remark == "required":
            words = [f"remark {len(self.said) + 1}."]
            self.said += words
        self.game.decide(option.label, *words)
        self._read_what_is_asked()

    # --- crashes ---

    @rule()
    def crash(self) -> None:
        """The process dies; another one folds the log, and finds the same prompt to send."""
        game = self.game
        before = [
            shown(game.state, game.book, task.task).prompt for task in game.effects() if isinstance(task, RunTask)
        ]
        game.state = decode_state(encode_state(fold(game.log)))
        after = [shown(game.state, game.book, task.task).prompt for task in game.effects() if isinstance(task, RunTask)]
        assert [text.partition("## Your last attempt")[0] for text in after] == [
            text.partition("## Your last attempt")[0] for text in before
        ]
        self.drivers += 1
        if not game.state.ended:
            game.do(c.Claim(), f"driver {self.drivers}")

    # --- what holds ---

    @invariant()
    def no_answer_is_lost(self) -> None:
        if self._asking():
            game = self.game
            assert drafts.here(game.state, game.book) == self.notebook.get(self.spot, {})
            logged = "".join(game.book.text(event.fields) for event in game.log if isinstance(event, DraftSaved))
            assert all(answer in logged for answer in self.given)

    @invariant()
    def something_can_always_be_done(self) -> None:
        if self._asking():
            assert self.game.labels

    def teardown(self) -> None:
        """However stubborn the person: who discusses as long as it goes, and then goes on, gets to the end."""
        if not hasattr(self, "game"):
            return
        turns = 0
        while not self.game.state.ended:
            turns += 1
            assert turns < 100, "the walk does not end"
            if self.game.working():
                self.present([{"id": "q1", "text": "q1?"}], ["red"])
            else:
                label = next(label for kind in (TALKING, LEAVING) for label in kind if label in self.game.labels)
                self._take([label])


@pytest.mark.hypothesis
def test_no_answer_is_ever_lost_and_every_talk_ends() -> None:
    run_state_machine_as_test(
        Talk,
        settings=settings(
            max_examples=30 * TIMES,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        ),
    )
