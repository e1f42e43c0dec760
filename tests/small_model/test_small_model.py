"""What of `make real-model` needs no model: forms, the relay, the person at the checkpoints, the table."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.small_model import forms, tool_forms
from tests.small_model.people import PEOPLE
from tests.small_model.serve import Exchange, Relay
from tests.small_model.table import drawn, row, used
from tests.small_model.trial import Trial, play

from reconvene.testing.openai_server import OpenAIServer, Say, Seen
from reconvene.wire.packaged import packaged

PROMPT = "## Your task: the review of round 3\n\nWork on these gaps: GAP-DATA-001, GAP-FLOW-002\n"


def test_every_packaged_workflow_is_played() -> None:
    assert set(PEOPLE) == {*packaged(), "tools"}


@pytest.mark.parametrize(
    ("model", "prompt", "holds"),
    [
        ("smollm2/report", "Report.", ["## Findings", "## Ratings", "| item | rating | reason |"]),
        ("smollm2/prose", "End with “User feedback from checkpoints incorporated.”", ["incorporated."]),
        ("smollm2/headed", "- one of these headings is missing: Position, ## Risks\n", ["## Position", '"## Risks']),
        ("smollm2/headed", "Report.", ["root ::= text"]),
        ("smollm2/review", "## Your task: find the gaps of this", ["## GAP-", "**Severity:**"]),
        ("smollm2/review", PROMPT, ["## Review: Round 3", "1. GAP-DATA-001", "2. GAP-FLOW-002", "ISSUE-R3-001"]),
        ("smollm2/proposals", PROMPT, ["Proposals - Round 3", "## Gap Resolution: GAP-FLOW-002", "| GAP-DATA-001 |"]),
        (
            "smollm2",
            "Write these files: a.py, b.md. Put each into",
            [r'<file path=\"" "a.py"', r'<file path=\"" "b.md"'],
        ),
    ],
)
def test_a_form_is_held_by_a_grammar(model: str, prompt: str, holds: list[str]) -> None:
    grammar = forms.grammar(model, prompt)
    assert grammar.lstrip().startswith("root ::= ")
    assert [part for part in holds if part not in grammar] == []
    assert "@" not in grammar


def test_json_after_files_is_held_as_well() -> None:
    schema = '{"type":"object","properties":{"issues":{"type":"integer"},"worst":{"type":"string"}}}'
    prompt = f"Write these files: a.md. Put each\nvalid against this JSON Schema:\n\n{schema}\n</form"
    root = forms.grammar("m", prompt).splitlines()[0]
    assert root.endswith(r'"{" "\"issues\": " [0-9] ", " "\"worst\": " "\"" [a-z] [a-z ]{3,60} "\"" "}"')


def test_what_has_no_form_is_free() -> None:
    assert forms.grammar("smollm2", PROMPT) == ""


class Asked(Relay):
    """A relay before a server that says what it is told to."""

    def __init__(self, behind: str, log: Path) -> None:
        super().__init__(behind, log, with_forms=True)
        self._log_path, self._noted = log, threading.Event()

    def note(self, exchange: Exchange) -> None:
        super().note(exchange)
        self._noted.set()

    def __call__(self, **body: object) -> dict[str, object]:
        """What was noted."""
        sent = json.dumps({"messages": [{"role": "user", "content": "Report."}], **body}).encode()
        url = f"http://127.0.0.1:{self.server_port}/v1/chat/completions"
        request = urllib.request.Request(url, sent, {"content-type": "application/json"})
        urllib.request.urlopen(request).read()
        assert self._noted.wait(60)  # that comes after the reply has been passed on
        found = json.loads(self._log_path.read_text(encoding="utf-8"))
        assert isinstance(found, dict)
        return found


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Say('{"a": 1}', input_tokens=5, output_tokens=3, finish="length")) as server:
        yield server


@pytest.fixture
def ask(server: OpenAIServer, tmp_path: Path) -> Iterator[Asked]:
    relay = Asked(server.url, tmp_path / "log.jsonl")
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    yield relay
    relay.shutdown()
    relay.server_close()


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_with_a_schema_is_passed_on_as_it_is_and_noted(
    server: OpenAIServer, ask: Asked, stream: bool
) -> None:
    schema = {"type": "object"}
    form = {"type": "json_schema", "json_schema": {"schema": schema}}
    noted = ask(model="smollm2/report", response_format=form, stream=stream, stream_options={"include_usage": True})
    assert server.requests[0].body["response_format"] == form
    assert "grammar" not in server.requests[0].body
    assert (noted["held_by"], noted["schema"], noted["text"]) == ("schema", schema, '{"a": 1}')
    assert (noted["finish"], noted["prompt_tokens"], noted["output_tokens"]) == ("length", 5, 3)


def test_a_request_for_a_form_gets_its_grammar(server: OpenAIServer, ask: Asked) -> None:
    noted = ask(model="smollm2/report")
    assert "## Findings" in str(server.requests[0].body["grammar"])
    assert noted["held_by"] == "grammar"


def ended(task: str, attempt: int, verdict: str, then: str, why: str = "", code: str = "") -> dict[str, object]:
    usage = {"model": "llamacpp:smollm2", "input_tokens": 100, "output_tokens": 10}
    facts = {"task": task, "attempt": attempt, "verdict": verdict, "then": then, "why": why, "code": code}
    return {"type": "AttemptEnded", "usage": usage, **facts}


def test_the_table_counts_tasks_tries_and_ends() -> None:
    begun, over = {"at": "2026-11-16T17:00:00.000Z"}, {"at": "2026-11-16T17:01:30.000Z"}
    events = [
        {"type": "RunStarted", **begun},
        ended("a", 1, "accepted", "done"),
        ended("b", 1, "rejected", "retry", "EMPTY_OUTPUT: 3 characters", "EMPTY_OUTPUT"),
        ended("b", 2, "accepted", "done"),
        ended("c", 1, "failed", "missing", "The reply was cut short."),
        {"type": "AttemptEnded", "task": "scout", "attempt": 1, "verdict": "accepted", "usage": {}},
        {"type": "ProviderFailed", "task": "c"},
        {"type": "DecisionRecorded", "option": "Go on without it", "attention": True},
        {"type": "RunEnded", "status": "failed", "outcome": "MAX_ROUNDS", **over},
    ]
    trial = Trial("flow", "flow-1", "failed", "", 1, events, "")
    schema = {"held_by": "schema", "schema": {"type": "object"}, "finish": "stop"}
    exchanges = [{**schema, "text": "{}"}, {**schema, "text": "{"}, {"held_by": "", "text": ""}]
    found = row(trial, exchanges)
    assert found[1:10] == (3, 1, 1, 1, 1, 1, "1 of 2", 400, 40)
    assert drawn([found]).splitlines()[2:] == [
        "| flow | 3 | 1 | 1 | 1 | 1 | 1 | 1 of 2 | 400 | 40 | 1.5 | failed, MAX_ROUNDS (exit code 1) |",
        "",
        "flow: why attempts were not taken",
        "- 1 × EMPTY_OUTPUT",
        "- 1 × The reply was cut short.",
    ]


def test_a_workflow_is_played_to_its_end_through_the_command(tmp_path: Path) -> None:
    with OpenAIServer(Say("It is done.")) as server:
        trial = play("skip-optional", tmp_path / "stage", server.url)
    assert (trial.status, trial.exit_code, trial.trouble) == ("completed", 0, "")
    # where two files are asked for, and none comes, nobody is left
    decided = [one["option"] for one in trial.events if one["type"] == "DecisionRecorded"]
    assert decided == ["Optimize now", "Go on without it"]
    assert {seen.body["model"] for seen in server.requests} == {"smollm2"}
    assert row(trial, []).tasks == len(server.requests) - row(trial, []).retries


def test_a_model_that_knows_no_tools_calls_them_through_a_schema(tmp_path: Path) -> None:
    """Through the command, the relay and the loop: each call is the JSON that the model's server was held to."""

    def says(seen: Seen) -> Say:
        form = seen.body["response_format"]
        assert isinstance(form, dict)
        schema = form["json_schema"]["schema"]
        if "anyOf" not in schema:
            return Say(json.dumps({"answer": "It is done."}))
        first = schema["anyOf"][0]["properties"]
        arguments = {name: _some(one) for name, one in first["arguments"]["properties"].items()}
        return Say(json.dumps({"tool": first["tool"]["const"], "arguments": arguments}))

    with OpenAIServer(says) as server:
        relay = Relay(server.url, tmp_path / "log.jsonl", with_forms=True)
        thread = threading.Thread(target=relay.serve_forever, daemon=True)
        thread.start()
        trial = play("tools", tmp_path / "stage", f"http://127.0.0.1:{relay.server_port}/v1")
        relay.shutdown()
        relay.server_close()
        thread.join()
    assert (trial.status, trial.exit_code, trial.trouble) == ("completed", 0, "")
    found = used(trial.events)
    assert (found.turns, found.calls, found.fitting) == (tool_forms.MOST_TURNS + 1, tool_forms.MOST_TURNS, found.calls)
    assert found.done + found.failed == found.calls
    assert found.done > 3
    assert found.asked
    assert "tools" not in server.requests[0].body


def _some(schema: dict[str, object]) -> object:
    options = schema.get("enum")
    if isinstance(options, list):
        return options[0]
    return {"integer": 1, "boolean": True}.get(str(schema.get("type")), "x")


def test_an_answer_that_was_sent_back_is_no_call() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "Plan it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "notes"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "That is no plan."},
    ]
    tools = [{"type": "function", "function": {"name": name}} for name in ("read_file", "list_files")]
    asked = tool_forms.without_tools({"messages": said, "tools": tools})
    offered = asked["response_format"]["json_schema"]["schema"]["anyOf"]  # type: ignore[index]
    assert [one["properties"]["tool"]["const"] for one in offered] == ["list_files"]
