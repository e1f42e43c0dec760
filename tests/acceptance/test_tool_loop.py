"""Models that work with tools: what is on record, what a person is asked, and where an attempt goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.stage import Stage
from support.tool_scene import Scene, call

from hasty import until
from reconvene.core.facts.commands import DisallowTool
from reconvene.core.facts.events import (
    AttemptEnded,
    CallEnded,
    CallRuled,
    CallsDeferred,
    CallStarted,
    MessagesCompacted,
    ModelTurned,
    ToolAllowed,
)
from reconvene.errors import Refused
from reconvene.testing.openai_server import Calls, Fail, OpenAIServer, Say


def test_each_turn_and_call_is_on_record_and_the_memory_goes_along_every_time(tmp_path: Path) -> None:
    replies = (Calls((call("look", "a"), call("note", "remember me"))), Calls((call("look", "b"),)), Say("Done."))
    with OpenAIServer(*replies) as server:
        scene = Scene(tmp_path, server, "[files]")
        assert scene.drive() == "completed"
    stage = scene.stage
    turns, ended = stage.events(ModelTurned), stage.events(CallEnded)
    assert [[one.tool for one in turn.calls] for turn in turns] == [["look", "note"], ["look"], []]
    assert [(one.call, one.outcome, stage.kept(one.result.digest)) for one in ended] == [
        ("1.1", "done", "saw a"),
        ("1.2", "done", "noted"),
        ("2.1", "done", "saw b"),
    ]
    assert json.loads(stage.kept(ended[1].arguments)) == {"text": "remember me"}
    assert [file.path for file in ended[1].files] == ["workspace.md"]
    assert "remember me" not in json.dumps(scene.messages(0))
    assert all("remember me" in str(scene.messages(number)[-1]["content"]) for number in (1, 2))
    (end,) = stage.events(AttemptEnded)
    assert (end.usage.requests, end.usage.input_tokens, end.usage.output_tokens) == (3, 33, 21)
    assert (stage.state.record.input_tokens, stage.state.record.output_tokens) == (33, 21)
    assert [one.path for one in end.files] == ["workspace.md"]
    assert not stage.events(CallStarted)


def test_a_call_that_asks_waits_for_a_month_and_the_same_attempt_goes_on(tmp_path: Path) -> None:
    with OpenAIServer(Calls((call("look", "x"), call("pay", "100"))), Say("Paid.")) as server:
        scene = Scene(tmp_path, server, "[files, shell: {ask: always}]")
        assert scene.drive() == "waiting"
        assert scene.boxes.paid == []
        assert "a wants pay (shell always asks)\n\n      text: 100" in scene.stage.point.prompt
        assert scene.stage.labels[:3] == ["Approve", "Refuse", "Decide each call"]
        scene.again()
        scene.rule("Approve", "but no more than that")
        assert scene.drive() == "completed"
    assert scene.boxes.paid == ["100"]
    (end,) = scene.stage.events(AttemptEnded)
    assert (end.attempt, end.verdict) == (1, "accepted")
    assert len(server.requests) == 2
    (told,) = [str(one["content"]) for one in scene.messages(1) if one.get("tool_call_id") == "call_2"]
    assert "but no more than that" in told
    assert "paid 100" in told
    (ruled,) = scene.stage.events(CallRuled)
    assert (ruled.ruling, ruled.by) == ("approve", "ann")


@pytest.mark.parametrize(
    ("fields", "paid", "told"),
    [
        ({"call1": "change", "call1_words": '{"text": "50"}'}, ["50"], "changed the arguments"),
        ({"call1": "refuse", "call1_words": "too much"}, [], "refused this call: too much"),
        ({"call1": "answer", "call1_words": "it was paid in cash"}, [], "it was paid in cash"),
        ({"call1": "always"}, ["100"], "paid 100"),
    ],
)
def test_what_a_person_says_of_a_call(tmp_path: Path, fields: dict[str, object], paid: list[str], told: str) -> None:
    with OpenAIServer(Calls((call("pay", "100"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]")
        scene.drive()
        scene.rule("Decide each call", **fields)
        assert scene.drive() == "completed"
        assert scene.boxes.paid == paid
        assert told in json.dumps(scene.messages(1))


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "no call has an answer"),
        ({"call1": "later"}, "no call has an answer"),
        ({"call1": "change", "call1_words": "[1]"}, "not a JSON object"),
        ({"call1": "change", "call1_words": '{"sum": 1}'}, "does not take these arguments"),
        ({"call1": "refuse"}, "say why"),
        ({"call1": "answer"}, "the answer is missing"),
        ({"call1": "always like", "call1_words": '{"text": "9*"}'}, "does not fit the call itself"),
        ({"call1": "perhaps"}, "no answer to a call"),
    ],
)
def test_an_answer_that_cannot_be_taken_loses_nothing(tmp_path: Path, fields: dict[str, object], wrong: str) -> None:
    with OpenAIServer(Calls((call("pay", "100"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]")
        scene.drive()
        with pytest.raises(Refused, match=wrong):
            scene.rule("Decide each call", **fields)
        assert scene.stage.state.status == "waiting"
        scene.rule("Approve")
        assert scene.drive() == "completed"


def test_the_like_of_a_call_is_allowed_for_good_until_that_is_taken_back(tmp_path: Path) -> None:
    asks = (Calls((call("pay", f"bob {sum}"),)) for sum in ("10", "20", "30; rm", "40"))
    with OpenAIServer(*asks, Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]")
        scene.drive()
        assert '{"text": "bob *"}' in scene.stage.point.options[2].fields[0].prompt
        scene.rule("Decide each call", call1="always like")
        assert scene.drive() == "waiting"  # what a shell gives a meaning to is never "the like"
        assert scene.boxes.paid == ["bob 10", "bob 20"]
        (allowed,) = scene.stage.events(ToolAllowed)
        scene.stage.engine.submit(scene.stage.run, DisallowTool(allowed.id, by="ann", door="test"))
        scene.rule("Approve")
        assert scene.drive() == "waiting"
        assert "bob 40" in scene.stage.point.prompt


@pytest.mark.parametrize(
    ("ask", "asked"),
    [
        ("args.text.length > 2", True),
        ("args.text === 'no'", False),
        ("tool === 'pay' && agent === 'a' && phase.id === 'work'", True),
        ("args.nothing.there", True),  # one that fails asks
    ],
)
def test_an_expression_says_when_a_person_is_asked(tmp_path: Path, ask: str, asked: bool) -> None:
    with OpenAIServer(Calls((call("pay", "100"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, f'[shell: {{ask: "{ask}"}}]')
        assert (scene.drive() == "waiting") is asked
        failed = "nothing" in ask
        assert not asked or f"`{ask}` {'failed' if failed else 'is true'}" in scene.stage.point.prompt


def test_one_stop_shows_the_calls_of_all_agents_and_a_partial_answer_lets_some_go_on(tmp_path: Path) -> None:
    def reply(seen: object) -> Calls | Say:
        texts = json.dumps(getattr(seen, "body", {}))
        return Say("Done.") if '"role": "tool"' in texts else Calls((call("pay", "100"),))

    with OpenAIServer(reply) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]", agents="[a, b]")
        assert scene.drive() == "waiting"
        assert [field.id for field in scene.stage.point.options[2].fields] == [
            "call1", "call1_words", "call2", "call2_words",
        ]  # fmt: skip
        scene.rule("Decide each call", call1="approve")
        assert scene.drive() == "waiting"
        assert scene.boxes.paid == ["100"]
        assert "b wants pay" in scene.stage.point.prompt
        assert "a wants pay" not in scene.stage.point.prompt
        scene.rule("Refuse", "enough")
        assert scene.drive() == "completed"
        assert scene.boxes.paid == ["100"]
    assert len(scene.stage.events(CallsDeferred)) == 2


def test_a_refused_call_that_is_asked_for_again_is_refused_without_a_question(tmp_path: Path) -> None:
    with OpenAIServer(Calls((call("pay", "100"),)), Calls((call("pay", "100"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]")
        scene.drive()
        scene.rule("Refuse", "never")
        assert scene.drive() == "completed"
    assert [one.outcome for one in scene.stage.events(CallEnded)] == ["refused", "refused"]
    assert "never" in json.dumps(scene.messages(2))


def test_a_call_that_was_begun_when_the_process_died_is_asked_about_and_never_made_in_silence(tmp_path: Path) -> None:
    class Died(BaseException):
        pass

    def die(text: str) -> None:
        raise Died

    with OpenAIServer(Calls((call("pay", "100"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell]")
        scene.boxes.broken = die
        for times in (1, 2):  # killed twice in the same call: each permission is for one start
            with pytest.raises(BaseException):  # noqa: B017
                scene.drive()
            scene.again()
            assert scene.drive() == "waiting"
            assert scene.boxes.paid == ["100"] * times
            assert "nobody knows whether it happened" in scene.stage.point.prompt
            assert scene.stage.labels[0] == "Decide each call"
            scene.rule("Make them again")
        scene.boxes.broken = lambda text: None
        assert scene.drive() == "completed"
    assert len(server.requests) == 2


def test_a_model_call_on_record_is_not_made_again_after_the_provider_failed(tmp_path: Path) -> None:
    with OpenAIServer(Calls((call("look", "a"),)), Fail(503), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[files]")
        scene.drive()
    assert scene.stage.state.status == "completed"
    assert [one.call for one in scene.stage.events(CallEnded)] == ["1.1"]
    assert len(server.requests) == 3


def test_calls_that_cannot_be_made_are_told_to_the_model_and_to_nobody_else(tmp_path: Path) -> None:
    wrong = Calls((("fly", "{}"), ("pay", "{not json"), ("pay", '{"sum": 1}'), ("pay", "[]")))
    with OpenAIServer(wrong, Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]")
        assert scene.drive() == "completed"
    told = [str(one["content"]) for one in scene.messages(1) if one["role"] == "tool"]
    for said, result in zip(("There is no tool 'fly'", "not a JSON object", "'text'", "not a JSON object"), told):
        assert said in result
    assert [one.outcome for one in scene.stage.events(CallEnded)] == ["failed"] * 4
    assert scene.boxes.paid == []


@pytest.mark.parametrize(("loop", "said"), [("turns: 3", "3 turns"), ("tokens: 40", "54 tokens")])
def test_a_model_that_loops_is_stopped_with_a_clear_outcome(tmp_path: Path, loop: str, said: str) -> None:
    with OpenAIServer(Calls((call("look", "a"),))) as server:
        scene = Scene(tmp_path, server, "[files]", f", loop: {{{loop}}}")
        assert scene.drive() == "waiting"
    assert said in scene.stage.point.prompt
    assert len(scene.stage.events(AttemptEnded)) == 1
    assert len(server.requests) == 3


def test_an_output_that_is_sent_back_goes_on_in_the_same_conversation(tmp_path: Path) -> None:
    replies = (Calls((call("pay", "100"),)), Say("Paid."), Say("Paid one hundred to Bob."))
    with OpenAIServer(*replies) as server:
        scene = Scene(tmp_path, server, "[shell]", ", gate: {min_chars: 12}")
        assert scene.drive() == "completed"
    assert scene.boxes.paid == ["100"]
    last = scene.messages(2)
    assert [one["role"] for one in last].count("tool") == 1
    assert "does not count" in str(last[-1]["content"])
    assert [one.verdict for one in scene.stage.events(AttemptEnded)] == ["rejected", "accepted"]


def test_a_pause_in_the_middle_of_a_loop_keeps_the_attempt(tmp_path: Path) -> None:
    from reconvene.core.facts.commands import Pause, Resume

    with OpenAIServer(Calls((call("look", "a"),)), Calls((call("look", "b"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[files]")
        engine, run = scene.stage.engine, scene.stage.run

        async def paused() -> None:
            driving = asyncio.ensure_future(engine.drive(run, by="ann", door="test"))
            await until(lambda: bool(server.requests))
            engine.submit(run, Pause(by="ann", now=True))
            await driving

        asyncio.run(paused())
        assert scene.stage.state.status in ("paused", "completed")
        scene.again()
        scene.stage.engine.submit(run, Resume(by="ann"))
        assert scene.drive() == "completed"
    assert {one.attempt for one in scene.stage.events(ModelTurned)} == {1}
    assert [one.call for one in scene.stage.events(CallEnded)] == ["1.1", "2.1"]


def test_near_the_window_old_calls_are_shortened_and_what_a_person_said_stays(tmp_path: Path) -> None:
    long = "x" * 2000
    asks = [Calls((call("look", f"{number} {long}"),)) for number in range(8)]
    with OpenAIServer(Calls((call("pay", "100"),)), *asks, Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[files, shell: {ask: always}]")
        flow = scene.stage.text.replace("options: {", "options: {window: 8000, ")
        scene.stage = Stage(scene.home, flow, {})
        scene.again()
        scene.drive()
        words = "never more than this, and only to Bob: " + "he is the one who asked " * 20
        scene.rule("Decide each call", call1="refuse", call1_words=words)
        assert scene.drive() == "completed"
    (last, *_) = scene.server.requests[::-1]
    sent = json.dumps(last.body)
    assert words in sent
    assert "were left out to save room" in sent
    assert "7 xxx" in sent
    assert len(sent) < 8000 * 3.5
    compacted = scene.stage.events(MessagesCompacted)
    assert compacted
    assert "were left out" in compacted[0].why


def test_where_there_is_little_room_the_last_turns_are_shortened_too(tmp_path: Path) -> None:
    long = "x" * 6000
    asks = [Calls((call("look", f"{number} {long}"),)) for number in range(5)]
    with OpenAIServer(*asks, Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[files]")
        scene.stage = Stage(scene.home, scene.stage.text.replace("options: {", "options: {window: 8000, "), {})
        scene.again()
        assert scene.drive() == "completed"
    assert all(len(json.dumps(one.body)) < 8000 * 3.5 for one in server.requests)


def test_the_memory_and_the_to_dos_of_now_are_in_every_request_also_after_a_compaction(tmp_path: Path) -> None:
    asks = [Calls((call("look", f"{number} {'x' * 2000}"),)) for number in range(8)]
    replies = (
        Calls((call("note", "first thoughts"),)),
        *asks[:4],
        Calls((call("note", "second thoughts"),)),
        *asks[4:],
    )
    with OpenAIServer(*replies, Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[files]")
        scene.boxes.kept = {"todos.yaml": b"- {id: open, text: still to be done}"}
        scene.stage = Stage(scene.home, scene.stage.text.replace("options: {", "options: {window: 8000, "), {})
        scene.again()
        assert scene.drive() == "completed"
    assert scene.stage.events(MessagesCompacted)
    changed = 6  # requests until the second note
    for number in range(1, len(server.requests)):
        memory, to_dos = (str(one["content"]) for one in scene.messages(number)[-2:])
        assert ("first thoughts" if number < changed else "second thoughts") in memory
        assert ("first thoughts" in memory) is (number < changed)
        assert "still to be done" in to_dos


def test_messages_that_this_release_cannot_read_say_which_one_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A month and an upgrade later: what is on record names the release that wrote it."""
    from reconvene.adapters.agents import loop_messages

    with OpenAIServer(Calls((call("pay", "100"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell: {ask: always}]")
        with monkeypatch.context() as newer:
            newer.setattr(loop_messages, "version", lambda name: "9.1.0")
            scene.drive()
        stored = json.loads(scene.stage.kept(scene.stage.events(ModelTurned)[0].messages))
        assert stored["library"] == "9.1.0"
        scene.rule("Approve")
        with monkeypatch.context() as older:
            older.setattr(loop_messages, "_known", lambda messages: (_ for _ in ()).throw(ValueError("a new part")))
            assert scene.drive() == "waiting"
        assert "was written by pydantic-ai 9.1.0" in scene.stage.point.prompt
        assert "pip install 'pydantic-ai-slim>=9.1.0'" in scene.stage.point.prompt
        assert scene.boxes.paid == []
