"""Providers fail; runs do not: back-off in the process, then the run waits, and whoever resumes it loses nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from reconvene.app import queries
from reconvene.app.backoff import Patience
from reconvene.app.engine import Engine
from reconvene.app.views import projections
from reconvene.core.facts.commands import Abort, AddRemark, AnswerCheckpoint, Pause, RemarkIn, Rollback
from reconvene.core.facts.events import AttemptEnded, ProviderAwaited, ProviderFailed
from reconvene.core.facts.state import RunState
from reconvene.errors import Refused
from reconvene.ports import Progress
from reconvene.testing.openai_server import Fail, OpenAIServer, Reply, Say, Seen, Wire
from reconvene.testing.provider_faults import FAULTS, chat, play, refused_port
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

OPTIONS = "{first_token_timeout: 0.8, token_timeout: 0.8}"
ONE = f"""
name: one
agents:
  writer: {{model: "openai:m", options: {OPTIONS}, retries: 1}}
phases: [{{id: write, agents: [writer], output: text}}]
"""
SCORED = f"""
name: one
agents:
  writer:
    model: "openai:m"
    options: {OPTIONS}
    retries: 1
    contract: {{type: object, required: [score], properties: {{score: {{type: number}}}}}}
phases: [{{id: write, agents: [writer], output: text}}]
"""
T = TypeVar("T")
QUICK = Patience(0.01, 0.02, 30.0)
NEVER = Patience(0.0, 0.0, 0.0)


class Desk:
    """An engine over a folder, its server, and what people were told."""

    def __init__(self, home: Path, patience: Patience) -> None:
        self.engine: Engine = open_engine(home)
        self.engine._patience = patience
        self.told: list[Progress] = []
        self.run = ""

    def start(self, text: str, inputs: Mapping[str, object] | None = None) -> RunState:
        self.run = self.engine.start(parse_workflow(text), inputs, by="ann")
        return self.drive()

    def drive(self, *, at_once: bool = False) -> RunState:
        return asyncio.run(self.engine.drive(self.run, self.told.append, by="ann", at_once=at_once))

    def events(self, kind: type[T]) -> list[T]:
        return [event for _, event in self.engine.log.read(self.run) if isinstance(event, kind)]

    @property
    def lines(self) -> list[str]:
        return [f"{one.agent}: {one.detail}" for one in self.told if one.what == "waiting"]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Desk]]:
    made: list[Desk] = []

    def sit(url: str, patience: Patience = QUICK, judge: str = "") -> Desk:
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("RECONVENE_GATE_MODEL", judge)
        monkeypatch.chdir(tmp_path)
        made.append(Desk(tmp_path / "home", patience))
        return made[-1]

    yield sit
    for one in made:
        asyncio.run(one.engine.close())


# --- every fault, alone ---


class Ends(NamedTuple):
    first: str  # how the run stands after the fault
    then: str  # and when it was resumed, or the attempt made again
    tries: int = 0  # attempts that counted as the agent's own failure


PARKED = Ends("waiting for the provider", "completed")
RETRIED = Ends("completed", "completed", 1)
ASKED = Ends("attention", "attention", 1)
FINE = Ends("completed", "completed")
_FINE = {
    *("fine", "slow drip", "[DONE] missing", "think tags", "think tags split", "think tag never opened"),
    *("thinking tags", "reasoning tags", "reasoning_content", "reasoning field"),
    *("draft, then final", "thought JSON, then final"),
}
_RETRIED = {
    *("empty content", "only blanks", "length", "unasked tool call", "think tag never closed", "only thinking"),
    *("only reasoning_content", "broken JSON", "JSON of another form"),
}
_ASKED = {
    *("redirect", "401", "403", "404 model", "404 ollama", "400 context length", "400 llama.cpp context", "413"),
    *("402", "429 insufficient quota", "400 bad request", "400 content policy", "content filter", "refusal"),
    "an answer in one piece",
}
_SCORED = ("draft, then final", "thought JSON, then final", "broken JSON", "JSON of another form")


def _expected(name: str) -> Ends:
    if name in _FINE:
        return FINE
    return RETRIED if name in _RETRIED else ASKED if name in _ASKED else PARKED


def _stands(state: RunState) -> str:
    point = state.world.open
    if state.awaits is not None:
        return "waiting for the provider"
    return "attention" if point is not None and point.attention else state.status


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_ends_as_its_sort_does_and_no_broken_reply_is_accepted(
    desk: Callable[..., Desk], name: str, record_property: Callable[[str, object], None]
):
    good = '{"score": 3}' if name in _SCORED else "a whole answer"
    with OpenAIServer(FAULTS[name], Say(good)) as server:
        at = desk(server.url, NEVER)
        state = at.start(SCORED if name in _SCORED else ONE)
        first = _stands(state)
        failed = [event for event in at.events(AttemptEnded) if event.verdict == "failed"]
        if state.awaits is not None:
            assert (failed, state.record.cost, state.record.input_tokens) == ([], 0.0, 0)
            state = at.drive(at_once=True)
        found = Ends(first, _stands(state), len(failed))
        ended = [event for event in at.events(AttemptEnded) if event.verdict == "accepted"]
    record_property("fault", f"{name} → {found.first}, {found.then}")
    print(f"| {name} | {found.first} | {found.then} |")
    assert found == _expected(name)
    texts = [at.engine.log.artefact(event.output.digest).decode() for event in ended if event.output]
    if found == FINE:
        assert len(texts) == 1
        assert "maybe" not in texts[0]
    else:
        assert texts == ([good] if found.then == "completed" else [])
    assert state.record.tasks == 1


# --- some in a row ---

GATED = """
name: gated
agents:
  writer:
    model: "openai:m"
    retries: 1
    gate: [{min_chars: 12, retry_with: "Say which ferry."}]
phases: [{id: write, agents: [writer], output: text}]
"""


@pytest.mark.parametrize(
    ("faults", "outcomes"),
    [
        (("503", "503"), ["transport", "transport"]),
        (("429 retry-after-ms", "reset in the middle"), ["transport", "cut"]),
        (("429", "no finish reason", "closed before headers", "500", "529", "502 page"), ["transport", "cut"]),
    ],
)
def test_faults_in_a_row_are_waited_for_and_use_up_nothing(
    desk: Callable[..., Desk], faults: tuple[str, ...], outcomes: list[str]
):
    with OpenAIServer(*play(*faults), Say("a whole answer")) as server:
        at = desk(server.url)
        state = at.start(ONE)
    assert (state.status, state.record.tasks, state.record.calls["writer"]) == ("completed", 1, 1)
    assert [event.outcome for event in at.events(ProviderFailed)][:2] == outcomes
    assert [event.times for event in at.events(ProviderFailed)] == list(range(1, len(faults) + 1))
    assert [(event.attempt, event.verdict) for event in at.events(AttemptEnded)] == [(1, "accepted")]
    assert len(at.lines) == len(faults)
    assert at.lines[0].startswith("writer: openai:m at ")
    assert at.lines[0].endswith(" s.")
    assert "Trying again in " in at.lines[0]


def test_what_the_provider_asks_for_is_obeyed(desk: Callable[..., Desk]):
    with OpenAIServer(*play("429 retry-after-ms"), Say("a whole answer")) as server:
        at = desk(server.url)
        assert at.start(ONE).status == "completed"
        before, after = server.requests
    (fault,) = at.events(ProviderFailed)
    assert fault.wait >= 1.5
    assert before.prompt == after.prompt  # a fault is no business of the agent's


def test_a_retry_carries_the_gates_reason_whatever_happened_after_it(desk: Callable[..., Desk]):
    replies = (Say("short"), *play("503", "closed in the middle"), Say("The ferry to Bergen."))
    with OpenAIServer(*replies) as server:
        at = desk(server.url)
        state = at.start(GATED)
        asked = [seen.prompt for seen in server.requests]
    assert state.status == "completed"
    assert all("Say which ferry." in prompt and "127.0.0.1" not in prompt for prompt in asked[1:])
    assert asked[1] == asked[2] == asked[3]
    assert [event.verdict for event in at.events(AttemptEnded)] == ["rejected", "accepted"]


def test_a_failure_of_the_agents_own_does_not_hide_the_gates_reason(desk: Callable[..., Desk]):
    patient = GATED.replace("retries: 1", "retries: 2")
    with OpenAIServer(Say("short"), *play("length"), Say("The ferry to Bergen.")) as server:
        at = desk(server.url)
        state = at.start(patient)
        last = server.requests[-1].prompt
    assert state.status == "completed"
    assert "Say which ferry." in last
    assert "An attempt after that failed: " in last
    assert "short" in last
    assert "127.0.0.1" not in last


def test_a_pause_does_not_hide_the_gates_reason(desk: Callable[..., Desk]):
    with OpenAIServer(Say("short"), *play("503"), Say("The ferry to Bergen.")) as server:
        at = desk(server.url, NEVER)
        assert at.start(GATED).awaits is not None
        at.engine.submit(at.run, Pause("ann"))
        assert at.engine.load(at.run).status == "paused"
        state = at.drive(at_once=True)
        assert "Say which ferry." in server.requests[-1].prompt
    assert state.status == "completed"


# --- the run waits ---

TEAM = """
name: team
agents:
  far: {model: "openai:far", retries: 0}
  near: {model: "openai:near"}
phases:
  - {id: write, agents: [far, near], output: text, checkpoint: {approval_required: true}}
"""


def by_model(far: list[Reply]) -> Callable[[Seen], Reply]:
    """The model `far` plays these, the last for ever; `near` always answers."""

    def reply(seen: Seen) -> Reply:
        if seen.body["model"] != "far":
            return Say("near is fine")
        return far.pop(0) if len(far) > 1 else far[0]

    return reply


def test_the_others_go_on_and_are_recorded_before_the_run_waits(desk: Callable[..., Desk]):
    far: list[Reply] = [Fail(503, "be right back", retry_after=3600)]
    with OpenAIServer(by_model(far)) as server:
        at = desk(server.url)
        state = at.start(TEAM)
        assert (state.status, state.world.open, state.record.checkpoints) == ("waiting", None, 0)
        shown = queries.show(at.engine, at.run)
        assert [(task.agent, task.status) for task in shown.tasks] == [("far", "open"), ("near", "done")]
        assert shown.reason == "provider"
        assert shown.provider is not None
        assert (shown.provider.model, shown.provider.agents) == ("openai:far", ("far",))
        assert shown.provider.since < shown.provider.not_before
        (awaited,) = at.events(ProviderAwaited)
        assert queries.summary(at.engine, at.run).provider == shown.provider
        # its time has not come, and it is too far away to wait for
        before = state.seq
        assert at.drive().seq == before
        far[:] = [Say("far is back")]
        state = at.drive(at_once=True)
        assert [seen.body["model"] for seen in server.requests].count("near") == 1 + (state.world.open is None)
    assert state.world.open is not None
    assert state.awaits is None
    assert state.world.top.round is not None
    assert state.world.top.round.missing == ()
    assert awaited.not_before == shown.provider.not_before


def test_a_time_that_is_near_is_waited_for_with_a_countdown(desk: Callable[..., Desk]):
    far: list[Reply] = [Fail(503, "be right back"), Say("far is back")]
    with OpenAIServer(by_model(far)) as server:
        at = desk(server.url, Patience(1.5, 1.5, 0.0))
        state = at.start(TEAM)
        assert state.awaits is not None
        at.engine._patience = Patience(0.01, 0.02, 60.0)
        state = at.drive()
    assert state.world.open is not None
    assert [one.what for one in at.told if one.task == "provider"][:2] == ["waiting", "countdown"]
    assert "openai:far: Trying again in " not in at.lines[-1]
    assert "Trying again in " in at.lines[-1]


def _parked(desk: Callable[..., Desk], server: OpenAIServer) -> Desk:
    at = desk(server.url, NEVER)
    assert at.start(TEAM).awaits is not None
    return at


def test_a_run_that_waits_for_its_provider_can_be_paused_remarked_on_and_ended(desk: Callable[..., Desk]):
    with OpenAIServer(by_model([Fail(503)])) as server:
        at = _parked(desk, server)
        with pytest.raises(Refused, match="waits for openai:far, not for a decision"):
            at.engine.submit(at.run, AnswerCheckpoint("", "Continue", by="ann"))
        state = at.engine.submit(at.run, AddRemark(RemarkIn("mind the ferries"), "ann"))
        assert (state.status, len(state.record.remarks)) == ("waiting", 1)
        assert at.engine.submit(at.run, Pause("ann")).status == "paused"
        state = at.drive(at_once=True)  # it fails again, and waits again
        assert (state.status, state.paused) == ("waiting", False)
        state = at.engine.submit(at.run, Abort("ann"))
    assert (state.status, state.awaits) == ("aborted", None)


def test_rollback_begins_the_round_anew(desk: Callable[..., Desk]):
    far: list[Reply] = [Fail(503)]
    with OpenAIServer(by_model(far)) as server:
        at = _parked(desk, server)
        state = at.engine.submit(at.run, Rollback(by="ann"))
        assert (state.awaits, state.record.undos) == (None, 1)
        far[:] = [Say("far is back")]
        state = at.drive()
    assert state.world.open is not None
    assert state.record.undos == 1


def test_a_fork_of_a_run_that_waits_is_tried_at_once(desk: Callable[..., Desk]):
    far: list[Reply] = [Fail(503, retry_after=3600)]
    with OpenAIServer(by_model(far)) as server:
        at = _parked(desk, server)
        far[:] = [Say("far is back")]
        at.run = at.engine.fork(at.run, by="ann")
        assert at.engine.load(at.run).awaits is None
        state = at.drive()
    assert state.world.open is not None


def test_nobody_listens_at_all(desk: Callable[..., Desk]):
    with refused_port() as url:
        at = desk(url, Patience(0.01, 0.02, 0.1))
        state = at.start(ONE)
    assert state.awaits is not None
    assert "refused" in state.awaits.why
    assert len(at.events(ProviderFailed)) > 1
    assert at.events(ProviderFailed)[-1].not_before == state.awaits.not_before
    assert queries.events(at.engine, at.run)[-1].type == "ProviderAwaited"


# --- gates that ask a model ---

JUDGED = """
name: judged
agents:
  writer: {model: "openai:writer", gate: [{ask: "Does it name a ferry?"}]}
phases: [{id: write, agents: [writer], output: text, checkpoint: {approval_required: true}}]
"""


def judged_by(*verdicts: Reply) -> tuple[Callable[[Seen], Reply], list[str]]:
    left, asked = list(verdicts), list[str]()

    def reply(seen: Seen) -> Reply:
        asked.append(str(seen.body["model"]))
        return left.pop(0) if seen.body["model"] == "judge" else Say(f"text {asked.count('writer')}")

    return reply, asked


PASSES = Say(json.dumps({"passes": True, "why": ""}))


def test_a_judge_whose_provider_fails_is_asked_again_and_the_agent_is_not(desk: Callable[..., Desk]):
    reply, asked = judged_by(Fail(503), Fail(503), PASSES)
    with OpenAIServer(reply) as server:
        at = desk(server.url, judge="openai:judge")
        state = at.start(JUDGED)
    assert asked == ["writer", "judge", "judge", "judge"]
    assert state.world.open is not None
    assert state.record.unasked == ()
    assert state.record.input_tokens == 2 * 11  # of the answer and of the verdict


def test_what_the_agent_gave_is_kept_while_the_run_waits_for_the_judge(desk: Callable[..., Desk]):
    reply, asked = judged_by(Fail(503), Say(json.dumps({"passes": False, "why": "Name one."})), PASSES)
    with OpenAIServer(reply) as server:
        at = desk(server.url, NEVER, judge="openai:judge")
        assert at.start(JUDGED).awaits is not None
        state = at.drive(at_once=True)
    assert asked == ["writer", "judge", "judge", "writer", "judge"]
    rejected, accepted = at.events(AttemptEnded)
    assert rejected.output is not None
    assert accepted.output is not None
    texts = [at.engine.log.artefact(one.output.digest) for one in (rejected, accepted) if one.output]
    assert texts == [b"text 1", b"text 2"]
    assert state.world.open is not None


def test_a_judge_that_fails_otherwise_lets_the_output_stand_and_is_shown(desk: Callable[..., Desk]):
    reply, _ = judged_by(Wire(chat("I would rather not say.")))
    with OpenAIServer(reply) as server:
        at = desk(server.url, judge="openai:judge")
        state = at.start(JUDGED)
    assert state.world.open is not None
    (one,) = projections.run(state).unasked
    assert one.text.startswith("a gate of writer (write, round 1) could not be asked, and its output stands: ")
    assert "Does it name a ferry?" in one.text
    assert any(one.what == "warning" and "could not be asked" in one.detail for one in at.told)


def test_the_error_of_a_judge_is_said_once(desk: Callable[..., Desk]):
    reply, _ = judged_by(*[Wire(chat("I would rather not say."))] * 2)
    two = JUDGED.replace('{ask: "Does it name a ferry?"}', '{ask: "Does it name a ferry?"}, {ask: "Is it short?"}')
    with OpenAIServer(reply) as server:
        at = desk(server.url, judge="openai:judge")
        state = at.start(two)
    (one,) = projections.run(state).unasked
    assert one.text.count("I would rather not say") == 1
    assert one.text.endswith("(it asks: Does it name a ferry?; it asks: Is it short?)")
    (warned,) = [one.detail for one in at.told if one.what == "warning"]
    assert warned == "writer: its gates could not be asked, and its output stands: the next stop says why"


def test_without_a_judge_it_is_said(desk: Callable[..., Desk]):
    reply, asked = judged_by()
    with OpenAIServer(reply) as server:
        at = desk(server.url)
        at.start(JUDGED)
    assert queries.show(at.engine, at.run).unjudged == ("writer",)
    assert asked == ["writer"]


def test_a_judge_that_is_gone_when_the_run_goes_on_is_on_record_and_shown(desk: Callable[..., Desk]):
    reply, asked = judged_by(Fail(503))
    with OpenAIServer(reply) as server:
        at = desk(server.url, NEVER, judge="openai:judge")
        assert at.start(JUDGED).awaits is not None
        at.engine.judge_model = ""
        state = at.drive(at_once=True)
    assert asked == ["writer", "judge"]
    (ended,) = at.events(AttemptEnded)
    assert ended.unasked == ("no model is set for what its gates ask",)
    (one,) = projections.run(state).unasked
    assert one.text == (
        "a gate of writer (write, round 1) could not be asked, and its output stands: "
        "no model is set for what its gates ask"
    )
