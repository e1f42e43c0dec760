"""A run that waits for its provider, as a person at the command line meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from reconvene.app.views.read_model import Unasked
from reconvene.doors.cli.stops import unasked_lines
from reconvene.testing.openai_server import Fail, OpenAIServer, Reply, Say, Seen

FLOW = """
name: ferry
settings: {auto: {type: bool, default: false}}
agents:
  near: {model: "openai:near"}
  far: {model: "openai:far", gate: [{ask: "Is it short?"}]}
limits: {calls: 2}
phases:
  - id: write
    agents: [near, far]
    output: text
    checkpoint: {approval_required: true, condition: "!settings.auto"}
"""
ANSWERS = "- {option: Continue}\n"


class Far:
    """A server whose model `far` answers only when it is up."""

    def __init__(self) -> None:
        self.reply: Reply = Fail(503, "be right back", retry_after=3600)

    def __call__(self, seen: Seen) -> Reply:
        return self.reply if seen.body["model"] == "far" else Say("near is fine")


@pytest.fixture
def far(folder: Path, monkeypatch: pytest.MonkeyPatch):
    found = Far()
    (folder / "ferry.yaml").write_text(FLOW)
    (folder / "answers.yaml").write_text(ANSWERS)
    with OpenAIServer(found) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield found


def test_it_is_said_everywhere_and_nothing_is_used_up(reconvene: Command, far: Far):
    done = reconvene("run", "ferry.yaml", "--answers", "answers.yaml")
    assert done.code == 3
    assert "gates of far ask a model, and none is set: they pass unasked" in done.err
    assert "✓ near done" in done.err
    assert "↻ far: openai:far at " in done.err
    assert "ferry-1 is waiting at write, round 1 (for a provider)" in done.out
    assert "nobody tries before" in done.out
    assert "reconvene resume ferry-1" in done.out
    left = "answers.yaml:1: one answer was not used yet; give `resume --answers` a file that begins with entry 1"
    assert left in done.err

    shown = reconvene("show", "--json").object
    assert (shown["status"], shown["reason"], shown["checkpoint"], shown["decisions"]) == (
        "waiting",
        "provider",
        None,
        [],
    )
    assert shown["usage"]["calls"] == 2  # type: ignore[index]
    inbox = reconvene("inbox")
    assert "provider" in inbox.out
    assert "try a provider again with: reconvene resume ferry-1" in inbox.out
    assert "decide with" not in inbox.out
    assert "waiting (provider)" in reconvene("runs").out
    (listed,) = reconvene("inbox", "--json").objects
    assert listed["provider"]["model"] == "openai:far"  # type: ignore[index]
    assert "gates of far ask a model" in reconvene("show").out
    assert "ProviderFailed" in reconvene("log").out

    refused = reconvene("decide", "--option", "Continue")
    assert refused.code == 64
    assert "ferry-1 waits for openai:far, not for a decision: there is nothing to decide" in refused.err

    far.reply = Say("far is back")
    early = reconvene("resume", "--answers", "answers.yaml")
    assert (early.code, "nobody tries before" in early.out) == (3, True)
    now = reconvene("resume", "--now", "--answers", "answers.yaml")
    assert (now.code, "ferry-1 is completed" in now.out) == (0, True)


def test_auto_does_not_go_on_without_the_agent(reconvene: Command, far: Far):
    done = reconvene("run", "ferry.yaml", "--auto", "--json")
    assert (done.code, done.object["status"], done.object["reason"]) == (3, "waiting", "provider")
    far.reply = Say("far is back")
    assert reconvene("resume", "--now", "--json").object["status"] == "completed"


def test_it_can_be_paused_remarked_on_and_aborted(reconvene: Command, far: Far):
    reconvene("run", "ferry.yaml", "--no-input")
    assert reconvene("remark", "ferry-1", "mind the tide").code == 0
    assert reconvene("pause").code == 3
    assert reconvene("runs", "--json").objects[0]["status"] == "paused"
    resumed = reconvene("resume", "--now", "--no-input", "--json")
    assert (resumed.code, resumed.object["reason"]) == (3, "provider")
    assert reconvene("abort", "ferry-1").code == 2


def test_a_wait_that_is_no_number_is_refused(reconvene: Command, far: Far):
    done = reconvene("run", "ferry.yaml", RECONVENE_PROVIDER_WAIT="two minutes")
    assert done.code == 64
    assert "RECONVENE_PROVIDER_WAIT='two minutes' is not a number of seconds" in done.err


def test_what_a_provider_asked_for_does_not_hold_for_another_agent(reconvene: Command, far: Far) -> None:
    assert reconvene("run", "ferry.yaml").code == 3
    lost = reconvene("resume", "--agent", "far=nosuchprogram")
    assert lost.code == 64
    assert "there is no program 'nosuchprogram' on PATH" in lost.err
    done = reconvene("resume", "--agent", "far=echo hello")
    assert done.code == 3
    assert "✓ far done" in done.err
    assert "(for a provider)" not in done.out


def test_a_gate_whose_model_is_gone_is_told_when_the_run_is_taken_up_and_at_its_stop(
    reconvene: Command, far: Far, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECONVENE_GATE_MODEL", "openai:judge")
    done = reconvene("run", "ferry.yaml", "--no-input")
    assert "unasked" not in done.err
    far.reply = Say("far is back")
    monkeypatch.delenv("RECONVENE_GATE_MODEL")
    done = reconvene("resume", "--now", "--no-input")
    assert done.err.count("gates of far ask a model, and none is set: they pass unasked") == 1
    told = "! a gate of far (write, round 1) could not be asked, and its output stands: no model is set"
    assert told in " ".join(done.out.split())


def test_where_no_gate_of_those_at_work_asks_nothing_is_said_of_it(reconvene: Command, folder: Path, far: Far):
    far.reply = Say("far is here")
    text = FLOW.replace(', gate: [{ask: "Is it short?"}]', "")
    (folder / "ferry.yaml").write_text(text)
    reconvene("run", "ferry.yaml", "--no-input")
    assert "unasked" not in reconvene("decide", "--option", "Continue", "--latest").err


def test_the_same_trouble_in_every_round_is_one_line_at_a_stop() -> None:
    rows = [Unasked("far", "write", n, "", "no model", f"round {n}") for n in (1, 2, 3)]
    near = Unasked("near", "write", 2, "", "no model", "another")
    assert unasked_lines([*rows, near]) == ["round 3 (the same 2 times before)", "another"]
