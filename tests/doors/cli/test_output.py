"""`output`: what agents wrote, what they were sent, what was sent back; and every wrong name is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconvene.doors.shared.wire_text import reply_text, request_text

if TYPE_CHECKING:
    from commands import Command

FLOW = r"""
name: flow
agents:
  writer:
    command:
      - sh
      - -c
      - >-
        cat >/dev/null; if [ $RECONVENE_ATTEMPT = 1 ]; then echo short; else
        printf '# Draft\n\nBuild it \033[31mnow\033[0m.\n'; echo x > a.md; fi
    gate: {min_chars: 10}
  critic: {command: ["sh", "-c", "cat >/dev/null; echo It is a good plan."]}
phases:
  - id: draft
    rounds: {max: 2}
    agents: [writer, critic]
    checkpoint: {options: [{label: Good}, {label: Again, then: again}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(reconvene: Command) -> str:
    told = reconvene("run", "flow.yaml", "--no-input")
    assert told.code == 3
    lines = told.err.splitlines()
    assert [line for line in lines if line.startswith("✓ writer")] == ["✓ writer done (0 s)"]
    assert any(line.startswith("✗ writer sent back: EMPTY_OUTPUT: 5 characters") for line in lines)
    return "flow-1"


def test_a_round_is_told_by_first_lines_with_what_was_sent_back(reconvene: Command, run: str) -> None:
    done = reconvene("output", run)
    assert done.code == 0
    assert "draft, round 1 (R1)" in done.out
    assert "✗ writer, attempt 1, sent back: EMPTY_OUTPUT" in done.out
    assert "✓ writer, attempt 2\n    Build it now.\n" in done.out
    assert "✓ critic\n    It is a good plan.\n" in done.out
    assert "reconvene output flow-1" in done.err


def test_an_agents_output_is_printed_in_full_and_harmless(reconvene: Command, run: str) -> None:
    done = reconvene("output", run, "writer")
    assert "# Draft\n\nBuild it now.\n\nfiles: a.md\n" in done.out
    assert "\nshort\n" not in done.out
    assert "\x1b" not in done.out
    assert "critic" not in done.out


def test_the_prompt_as_sent_and_the_reply_as_it_came(reconvene: Command, run: str) -> None:
    sent = reconvene("output", run, "writer", "--prompt").out
    assert "command: sh -c" in sent
    assert "You are writer" in sent
    assert "at least 10 are needed" in sent, "the second attempt was told why"
    assert "Build it now." in reconvene("output", run, "writer", "--reply").out
    everything = reconvene("output", run, "writer", "--all").out
    assert [everything.count(f"── {part} ──") for part in ("prompt", "reply", "output")] == [2, 2, 2]
    assert "\nshort\n" in everything


def test_scripts_get_every_attempt_with_its_contents(reconvene: Command, run: str) -> None:
    rows = reconvene("output", run, "writer", "--json").object["attempts"]
    assert isinstance(rows, list)
    assert [(row["attempt"], row["verdict"], row["output"][:5]) for row in rows] == [
        (1, "rejected", "short"),
        (2, "accepted", "# Dra"),
    ]
    assert "stdin" in json.loads(rows[0]["prompt"])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nothing",), "There is no run 'nothing'"),
        (("flow-1", "writr"), "has no agent 'writr'"),
        (("flow-1", "writer", "--round", "7"), "writer wrote nothing in round 7"),
        (("flow-1", "--round", "x"), "'x' is not a round"),
    ],
)
def test_a_wrong_name_is_told_with_what_there_is(
    words: tuple[str, ...], why: str, reconvene: Command, run: str
) -> None:
    done = reconvene("output", *words)
    assert done.code == 64
    assert why in done.err
    assert "hint: " in done.err


def test_before_anybody_worked_there_is_nothing(reconvene: Command) -> None:
    assert reconvene("new", "flow.yaml").code == 0
    done = reconvene("output", "flow-1")
    assert done.code == 64
    assert "No agent has written anything yet in flow-1." in done.err


BE, DO = {"text": "Be."}, {"text": "Do."}
BOTH = "[system]\nBe.\n\n[user]\nDo."
AGAIN = "[system]\nBe.\n\n[asked again]\n\n[system]\nDo."


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"messages": [{"role": "system", "content": "Be."}, {"role": "user", "content": [DO]}]}, BOTH),
        ({"system": [BE], "messages": [{"role": "user", "content": "Do."}]}, BOTH),
        ({"contents": [{"role": "user", "parts": [DO]}], "systemInstruction": {"parts": [BE]}}, BOTH),
        ({"method": "POST", "url": "u", "body": {"messages": [{"role": "user", "content": "Do."}]}}, "[user]\nDo."),
        ([{"url": "u", "body": {"system": "Be."}}, {"body": {"system": "Do."}}], AGAIN),
        ([1, 2], "[1, 2]"),
        ({"other": 1}, '{"other": 1}'),
    ],
)
def test_requests_of_every_provider_are_readable(request_: object, text: str) -> None:
    assert request_text(json.dumps(request_)) == text


def streamed(*pieces: object) -> str:
    return "".join(f"event: x\ndata: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"


def openai(text: str | None, reason: str | None = None) -> object:
    return {"choices": [{"delta": {"content": text}, "finish_reason": reason}]}


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (streamed(openai(None), openai("It "), openai("is."), openai(None, "stop"), {"choices": []}), "It is.|stop"),
        (streamed(openai("It is.")), "It is.|none"),
        (json.dumps({"choices": [{"message": {"content": "It is."}, "finish_reason": "length"}]}), "It is.|length"),
        (
            streamed(
                {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "It is."}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            ),
            "It is.|end_turn",
        ),
        (
            streamed(
                {"candidates": [{"content": {"parts": [{"text": "It "}]}}]},
                {"candidates": [{"content": {"parts": [{"text": "is."}]}, "finishReason": "STOP"}]},
            ),
            "It is.|STOP",
        ),
        (
            json.dumps({"choices": [{"message": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]}),
            "{}|none",
        ),
    ],
)
def test_replies_of_every_provider_are_readable(reply: str, text: str) -> None:
    said, _, reason = text.partition("|")
    assert reply_text(reply) == f"{said}\n\n[finish reason: {reason}]"


@pytest.mark.parametrize("reply", ["", "Build it now.", "<html>no</html>", '{"error": "no"}', "data: {broken\n"])
def test_what_is_no_reply_of_a_model_stays_as_it_is(reply: str) -> None:
    assert reply_text(reply) == reply


def test_what_an_agent_writes_is_shown_as_it_comes_on_request(reconvene: Command) -> None:
    done = reconvene("run", "flow.yaml", "--no-input", "--live", "writer")
    lines = done.err.splitlines()
    assert "  writer │ Build it now." in lines
    assert "\x1b" not in done.err
    assert not any(line.startswith("  critic │") for line in lines)
    assert "  critic │ It is a good plan." in reconvene("decide", "--option", "Again", "--live", "all").err
    unknown = reconvene("run", "flow.yaml", "--live", "writr")
    assert (unknown.code, "did you mean writer?" in unknown.err) == (64, True)
    assert len(reconvene("runs", "--json").objects) == 1, "nothing was started"


OUTSIDE = """
name: outside
agents: {writer: {python: "mine:write"}}
phases:
  - {id: draft, agents: [writer], writes: ["*.md"]}
  - {id: more, agents: [writer], writes: ["*.md"]}
"""


def test_a_file_that_was_not_taken_is_told_in_output_files_and_show(reconvene: Command, folder: Path) -> None:
    (folder / "outside.yaml").write_text(OUTSIDE, encoding="utf-8")
    files = "{'../evil.txt': 'x', 'a.md': 'y', 'b.txt': 'z'}"
    code = f"def write(assignment):\n    return {{'text': 'done', 'files': {files}}}\n"
    (folder / "mine.py").write_text(code, encoding="utf-8")
    assert reconvene("run", "outside.yaml").code == 0
    why = "../evil.txt: "
    told = reconvene("output", "outside-1", "writer").out
    assert f"not taken: {why}" in told
    assert "not taken: b.txt: not in writes" in told
    assert f"not taken: {why}" in reconvene("output", "outside-1").out
    assert reconvene("output", "outside-1", "--json").object["attempts"][0]["not_taken"][0].startswith(why)
    for command in ("files", "show"):
        told = reconvene(command, "outside-1").out
        assert f"writer (draft, round 1): {why}" in told
        assert "writer (more, round 1): b.txt: not in writes" in told
        assert "a.md" in told
    found = reconvene("show", "outside-1", "--json").object["not_taken"]
    assert len(found) == 4
