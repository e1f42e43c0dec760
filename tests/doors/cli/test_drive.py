"""The two-step workflow through the command: every ending, every shape that scripts rely on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from commands import process

if TYPE_CHECKING:
    from commands import Command, Done

KEYS = {"run", "status", "phase", "round", "checkpoint"}


def labels(shown: dict[str, object]) -> list[str]:
    checkpoint = shown["checkpoint"]
    assert isinstance(checkpoint, dict)
    return [option["label"] for option in checkpoint["options"]]


def part(shown: dict[str, object], key: str) -> object:
    checkpoint = shown["checkpoint"]
    assert isinstance(checkpoint, dict)
    return checkpoint[key]


@pytest.fixture
def parked(reconvene: Command) -> str:
    done = reconvene("run", "two-step.yaml", "--json")
    assert done.code == 3, done.err
    return str(done.object["run"])


def event_types(done: Done) -> list[str]:
    return [json.loads(line)["type"] for line in done.out.splitlines()]


def test_without_a_terminal_a_run_parks_and_prints_the_command_that_continues_it(reconvene: Command) -> None:
    done = reconvene("run", "two-step.yaml")
    assert done.code == 3
    assert "reconvene decide two-step-1 --option Continue" in done.out
    assert "two-step-1 is waiting at draft, round 1" in done.out


_TIME = re.compile(r"\d\d:\d\d(:\d\d)?|\(\d+ s\)")  # the minute, and a second, may end between the two


def test_a_process_of_its_own_says_the_same_and_ends_with_the_same_code(reconvene: Command, folder: Path) -> None:
    """Which is why nearly all tests may call the command in their own process."""
    for words in (
        ("run", "two-step.yaml"),
        ("inbox",),
        ("files", "two-step-1", "draft.md"),
        ("decide", "two-step-1", "--option", "Perhaps"),
        ("shwo",),
        ("abort", "two-step-1"),
        ("resume", "two-step-1"),
    ):
        here = reconvene(*words, RECONVENE_HOME="alpha")
        there = process(*words, cwd=folder, RECONVENE_HOME="beta")
        told = [_TIME.sub("TIME", text.replace("beta", "alpha")) for text in (there.out, there.err)]
        assert (there.code, *told) == (here.code, *(_TIME.sub("TIME", text) for text in (here.out, here.err))), words
    assert here.code == 2


def test_json_has_the_promised_shape(reconvene: Command) -> None:
    done = reconvene("run", "two-step.yaml", "--json")
    shown = done.object
    assert done.out.count("\n") == 1
    assert set(shown) >= KEYS
    assert (shown["status"], shown["phase"], shown["round"]) == ("waiting", "draft", 1)
    assert {"id", "prompt", "options", "show_files", "digest"} <= set(shown["checkpoint"])  # type: ignore[call-overload]
    assert labels(shown)[0] == "Continue"
    assert "reconvene decide two-step-1" in done.err
    for words in (("inbox",), ("runs",)):
        (row,) = reconvene(*words, "--json").objects
        plain = KEYS - {"checkpoint"}  # a list looks up no more than the row holds
        assert {key: row[key] for key in plain} == {key: shown[key] for key in plain}
        assert labels(row) == labels(shown)
        assert row["checkpoint"]["question"] == shown["checkpoint"]["question"]  # type: ignore[call-overload, index]
    assert "context" in reconvene("show", "--json").object


def test_the_printed_command_really_continues(reconvene: Command, parked: str) -> None:
    done = reconvene("decide", parked, "--option", "Continue", "--json")
    assert done.code == 3
    assert done.object["phase"] == "review"
    assert labels(done.object) == ["Accept", "Again"]
    words = done.err.rpartition("continue with: reconvene ")[2].split()
    assert (words[:4], words[4]) == (["decide", parked, "--option", "Accept"], "--at")
    done = reconvene(*words, "--json")
    assert (done.code, done.object["status"], done.object["checkpoint"]) == (0, "completed", None)
    assert reconvene("inbox", "--json").json == []
    assert reconvene("resume", parked).code == 0


def test_answers_are_taken_in_order_to_the_end(reconvene: Command) -> None:
    done = reconvene("run", "two-step.yaml", "--answers", "answers.yaml", "--json")
    assert done.code == 0, done.err
    assert done.object["status"] == "completed"
    remarks = reconvene("show", "two-step-1", "--json").object["remarks"]
    assert isinstance(remarks, list)
    assert [(remark["kind"], remark["text"]) for remark in remarks] == [
        ("correction", "Revenue is $900M, not $850M"),
        ("comment", "shorter please"),
    ]


def test_when_answers_run_out_the_run_parks(reconvene: Command, folder: Path) -> None:
    (folder / "one.yaml").write_text("- {option: Continue}\n")
    done = reconvene("run", "two-step.yaml", "--answers", "one.yaml")
    assert done.code == 3
    assert "--option Accept" in done.out
    (folder / "rest.yaml").write_text("- {option: accept}\n- {option: Never}\n")
    done = reconvene("resume", "--answers", "rest.yaml")
    assert done.code == 0
    assert "rest.yaml:2: one answer was not needed" in done.err


def test_an_answer_that_is_not_offered_is_named_and_the_run_stays_parked(reconvene: Command, folder: Path) -> None:
    (folder / "wrong.yaml").write_text("# first\n- {option: Continue}\n- {option: Perhaps}\n")
    done = reconvene("run", "two-step.yaml", "--answers", "wrong.yaml")
    assert done.code == 64
    assert "wrong.yaml:3: entry 2: option 'Perhaps' is not offered here" in done.err
    assert "1. Accept; 2. Again" in done.err
    shown = reconvene("show", "two-step-1", "--json").object
    assert (shown["status"], shown["phase"]) == ("waiting", "review")
    assert reconvene("decide", "--option", "Accept").code == 0


def test_a_bad_answers_file_stops_before_the_run_starts(reconvene: Command, folder: Path) -> None:
    (folder / "bad.yaml").write_text("- {optoin: Continue}\n")
    done = reconvene("run", "two-step.yaml", "--answers", "bad.yaml")
    assert done.code == 64
    assert "bad.yaml:1" in done.err
    assert reconvene("runs", "--json").json == []


def test_an_option_that_is_not_there_is_refused_with_the_list(reconvene: Command, parked: str) -> None:
    before = reconvene("log", parked).out
    done = reconvene("decide", parked, "--option", "Perhaps")
    assert done.code == 64
    assert "1. Continue" in done.err
    assert reconvene("log", parked).out == before


def test_options_may_be_given_by_number_beginning_or_in_small_letters(reconvene: Command, parked: str) -> None:
    assert reconvene("decide", parked, "--option", "cont").code == 3
    assert reconvene("decide", parked, "--latest", "--option", "2", "--feedback", "shorter").code == 3
    assert reconvene("decide", parked, "--latest", "--option", "CONTINUE").code == 3
    assert reconvene("decide", parked, "--latest", "--option", "1").code == 0


def test_a_stale_decision_is_refused_and_says_so(reconvene: Command, parked: str) -> None:
    digest = str(part(reconvene("show", "--json").object, "digest"))
    assert reconvene("decide", "--option", "Continue").code == 3
    assert reconvene("decide", "--latest", "--option", "Again", "--feedback", "x", "--no-drive").code == 0
    assert reconvene("resume").code == 3
    done = reconvene("decide", parked, "--option", "Abort", "--digest", digest)
    assert done.code == 64
    assert done.err.startswith("error: ")


def test_an_option_that_needs_feedback_is_refused_without(reconvene: Command, parked: str) -> None:
    reconvene("decide", parked, "--option", "Continue")
    shown = reconvene("show", "--json").object
    options = part(shown, "options")
    assert isinstance(options, list)
    assert options[1]["remark"] in ("optional", "required")
    done = reconvene("decide", parked, "--option", "Again")
    assert done.code == (64 if options[1]["remark"] == "required" else 3)


def test_no_drive_only_records(reconvene: Command, parked: str) -> None:
    done = reconvene("decide", parked, "--option", "Continue", "--no-drive", "--json")
    assert (done.code, done.object["status"]) == (0, "running")
    assert "reconvene resume two-step-1" in done.err
    done = reconvene("resume", "--json")
    assert (done.code, done.object["phase"]) == (3, "review")


def test_run_with_no_drive_starts_nothing_until_resumed(reconvene: Command) -> None:
    done = reconvene("run", "two-step.yaml", "--no-drive", "--json")
    assert (done.code, done.object["status"]) == (0, "running")
    assert "AttemptEnded" not in event_types(reconvene("log", "--json"))
    assert reconvene("resume").code == 3


def test_home_and_json_may_stand_before_or_after_the_command(reconvene: Command, folder: Path) -> None:
    assert reconvene("--home", "here", "--json", "run", "two-step.yaml").object["status"] == "waiting"
    assert len(reconvene("inbox", "--home", "here", "--json").objects) == 1
    assert reconvene("inbox", "--json").json == []
    assert "reconvene --home here decide" in reconvene("show", "--home", "here").out
    assert (folder / "here").is_dir()


def test_a_run_may_be_named_by_its_beginning_and_left_out_when_it_is_the_only_one(
    reconvene: Command, parked: str
) -> None:
    assert reconvene("show", "two-s", "--json").object["run"] == parked
    reconvene("run", "two-step.yaml")
    for words in (("show",), ("show", "two-s"), ("resume",), ("decide", "--option", "Continue")):
        done = reconvene(*words)
        assert done.code == 64
        assert "two-step-2" in done.err
    assert reconvene("show", "two-step-2", "--json").object["run"] == "two-step-2"


def test_abort_exits_with_2_and_stays_aborted(reconvene: Command, parked: str) -> None:
    done = reconvene("abort", parked, "--feedback", "strategic shift: we sold it", "--by", "Ada", "--json")
    assert (done.code, done.object["status"]) == (2, "aborted")
    assert reconvene("resume", parked).code == 2
    done = reconvene("decide", parked, "--option", "Continue")
    assert done.code == 64
    assert "aborted" in done.err


def test_pause_at_work_parks_with_3_and_resume_goes_on(reconvene: Command) -> None:
    reconvene("run", "two-step.yaml", "--no-drive")
    done = reconvene("pause", "--json")
    assert (done.code, done.object["status"]) == (3, "paused")
    done = reconvene("resume", "--json")
    assert (done.code, done.object["status"], done.object["phase"]) == (3, "waiting", "draft")


def test_rollback_runs_the_round_again(reconvene: Command, parked: str) -> None:
    done = reconvene("rollback", "--feedback", "clarification: metric units", "--json")
    assert (done.code, done.object["status"], done.object["phase"]) == (3, "waiting", "draft")
    types = event_types(reconvene("log", "--json"))
    assert "RoundUndone" in types
    assert types.count("RoundStarted") == 2


def test_fork_makes_a_run_of_its_own(reconvene: Command, parked: str) -> None:
    seq = len(event_types(reconvene("log", "--json")))
    done = reconvene("fork", parked, "--at", str(seq), "--json")
    assert done.code == 0
    made = str(done.object["run"])
    assert made != parked
    assert reconvene("decide", made, "--option", "Continue", "--latest").code == 3
    assert reconvene("show", parked, "--json").object["phase"] == "draft"
    assert reconvene("fork", parked, "--at", "100000").code == 64


def test_remarks_are_recorded_with_kind_target_and_name(reconvene: Command, parked: str) -> None:
    done = reconvene("remark", parked, "Reaction to writer: too dry", "--by", "Ada")
    assert done.code == 0
    assert "reaction to writer" in done.out
    remarks = reconvene("show", "--json").object["remarks"]
    assert isinstance(remarks, list)
    assert {key: remarks[-1][key] for key in ("kind", "target", "text", "by")} == {
        "kind": "reaction",
        "target": "writer",
        "text": "too dry",
        "by": "Ada",
    }


def test_log_prints_one_event_per_line_with_seq_type_and_at(reconvene: Command, parked: str) -> None:
    events = [json.loads(line) for line in reconvene("log", parked, "--json").out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["type"] == "RunStarted"
    assert events[-1]["type"] == "CheckpointOpened" or "CheckpointOpened" in {event["type"] for event in events}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["at"]) for event in events)
    assert len(reconvene("log", parked).out.splitlines()) == len(events)
    assert len(reconvene("log", "--after", str(len(events) - 1)).out.splitlines()) == 1


def test_log_follow_ends_with_the_run(reconvene: Command, folder: Path, parked: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "reconvene.doors.cli", "log", "--follow", "--json", parked],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["seq"] == 1
        assert reconvene("resume", "--answers", "answers.yaml").code == 0
        rest = follower.stdout.read().splitlines()
        assert follower.wait(300) == 0
    assert "RunEnded" in {json.loads(line)["type"] for line in rest}


def test_a_reader_that_leaves_early_is_no_error(folder: Path, parked: str) -> None:
    shell = f"{sys.executable} -m reconvene.doors.cli log {parked} --json | head -n 1"
    done = subprocess.run(["sh", "-c", shell], cwd=folder, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["seq"] == 1
    assert done.stderr == ""


def test_files_are_listed_and_printed_as_they_are(reconvene: Command, parked: str) -> None:
    rows = reconvene("files", "--json").objects
    assert {"path", "size", "by", "at", "phase"} <= set(rows[0])
    assert "draft.md" in [row["path"] for row in rows]
    assert "draft.md" in reconvene("files").out
    assert reconvene("files", parked, "draft.md").out == "hello\n"
    assert reconvene("files", parked, "darft.md").code == 64


def test_diff_shows_what_a_round_changed(reconvene: Command, parked: str) -> None:
    assert "+hello" in reconvene("diff").out
    assert "+hello" in str(reconvene("diff", parked, "--json").object["diff"])
    assert reconvene("diff", parked, "a..b").code == 64


def test_inbox_and_runs_are_readable(reconvene: Command, parked: str) -> None:
    assert "two-step-1" in reconvene("inbox").out
    assert re.search(r"two-step-1\s+waiting\s+draft", reconvene("runs").out)
    assert reconvene("runs", "--status", "completed", "--json").json == []


def test_agents_cannot_reach_the_terminal_with_escape_sequences(reconvene: Command, folder: Path) -> None:
    (folder / "hostile.yaml").write_text(
        "name: hostile\n"
        "agents:\n"
        "  evil: {command: [sh, -c, \"printf 'x\\\\033]0;owned\\\\007\\\\302\\\\23331m' | tee evil.txt\"]}\n"
        "phases:\n"
        "  - id: a\n"
        "    agents: [evil]\n"
        '    checkpoint: {prompt: "Seen: {{ outputs | default(\'\') }}\\x1B[31m", options: [{label: "Go\\x1B[2J"}]}\n',
        encoding="utf-8",
    )
    for words in (("run", "hostile.yaml"), ("show",), ("inbox",), ("log",), ("log", "--json"), ("show", "--json")):
        done = reconvene(*words)
        assert done.code in (0, 3), done.err
        assert "\x1b" not in done.out + done.err
        assert "\x9b" not in done.out + done.err


def test_a_failed_agent_waits_for_attention_and_answers_are_not_used_for_it(reconvene: Command, folder: Path) -> None:
    (folder / "broken.yaml").write_text(
        "name: broken\n"
        "agents: {writer: {command: [sh, -c, 'cat >/dev/null; exit 7'], retries: 0}}\n"
        "phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]\n",
        encoding="utf-8",
    )
    done = reconvene("run", "broken.yaml", "--answers", "answers.yaml", "--json")
    assert done.code == 3, done.err
    assert part(done.object, "attention") is True
    assert "attention" in done.err
    reconvene("decide", "broken-1", "--option", "Go on without it", "--by", "ada")
    told = reconvene("show", "broken-1")
    assert "decisions about trouble\n  draft: Go on without it (ada [claimed by" in told.out
    [settled] = cast("list[dict[str, object]]", reconvene("show", "broken-1", "--json").object["settled"])
    assert (settled["phase"], settled["option"], settled["by"]) == ("draft", "Go on without it", "ada")


def test_a_run_that_a_check_ends_exits_with_1(reconvene: Command, folder: Path) -> None:
    (folder / "gap.yaml").write_text(
        "name: gap\n"
        "agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hm']}}\n"
        "phases:\n"
        "  - id: draft\n"
        "    agents: [writer]\n"
        "    check: {rules: [{if: 'true', then: {end: failed}, say: never good enough}]}\n",
        encoding="utf-8",
    )
    done = reconvene("run", "gap.yaml", "--json")
    assert (done.code, done.object["status"]) == (1, "failed"), done.err


def test_inputs_reach_the_run_and_a_missing_one_is_asked_for_by_name(reconvene: Command, folder: Path) -> None:
    (folder / "asks.yaml").write_text(
        "name: asks\n"
        "inputs: {question: {type: text, required: true}, count: {type: number}}\n"
        "agents: {writer: {command: [sh, -c, 'cat']}}\n"
        "phases:\n"
        "  - id: draft\n"
        "    agents: [writer]\n"
        "    checkpoint: {prompt: 'About {{ inputs.question }}?', options: [{label: Go}]}\n",
        encoding="utf-8",
    )
    done = reconvene("run", "asks.yaml")
    assert done.code == 64
    assert "question" in done.err
    done = reconvene("run", "asks.yaml", "--input", "question=the plant", "--input", "count=3", "--json")
    assert done.code == 3, done.err
    assert part(done.object, "prompt") == "About the plant?"


def test_fields_are_typed_recorded_and_checked(reconvene: Command, folder: Path) -> None:
    (folder / "fields.yaml").write_text(
        "name: fields\n"
        "agents: {writer: {command: [sh, -c, 'cat']}}\n"
        "phases:\n"
        "  - id: draft\n"
        "    agents: [writer]\n"
        "    checkpoint:\n"
        "      prompt: How?\n"
        "      fields:\n"
        "        - {id: severity, type: choice, options: [low, high], required: true}\n"
        "        - {id: count, type: number}\n"
        "      options: [{label: Go}]\n",
        encoding="utf-8",
    )
    done = reconvene("run", "fields.yaml")
    assert done.code == 3, done.err
    assert "--field 'severity=…'" in done.out or "--field severity=…" in done.out
    assert reconvene("decide", "--option", "Go").code == 64
    assert reconvene("decide", "--option", "Go", "--field", "severity=low", "--field", "count=few").code == 64
    assert reconvene("decide", "--option", "Go", "--field", "severity=odd").code == 64
    assert reconvene("decide", "--option", "Go", "--field", "severity=low", "--field", "count=3").code == 0


@pytest.fixture
def at_work(folder: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A process that drives a run whose agent is at work, and stays at it; started by the words that a test gives."""
    started = folder / "started"
    os.mkfifo(started)
    script = f"cat >/dev/null; echo $$ >{started}; exec sleep 600"
    (folder / "slow.yaml").write_text(
        "name: slow\n"
        f"agents: {{writer: {{command: {json.dumps(['sh', '-c', script])}}}}}\n"
        "phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]\n",
        encoding="utf-8",
    )
    driver = subprocess.Popen(
        [*getattr(request, "param", ()), sys.executable, "-m", "reconvene.doors.cli", "run", "slow.yaml", "--json"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    agent = int(started.read_text())  # opening the pipe waits for it
    yield driver
    driver.kill()
    driver.communicate()
    with suppress(ProcessLookupError):
        os.kill(agent, signal.SIGKILL)


def ending(driver: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = driver.communicate(timeout=300)
    assert "Traceback" not in err
    return driver.returncode, str(json.loads(out)["status"])


def test_a_run_is_driven_by_one_process_at_a_time(reconvene: Command, at_work: subprocess.Popen[str]) -> None:
    done = reconvene("resume")
    assert done.code == 64
    assert "slow-1" in done.err
    assert at_work.poll() is None


def test_a_run_whose_driver_was_killed_is_shown_as_driven_by_nobody(
    reconvene: Command, at_work: subprocess.Popen[str]
) -> None:
    assert "nobody is driving" not in reconvene("runs").out + reconvene("inbox").out + reconvene("show").out
    assert [row["driven"] for row in reconvene("runs", "--json").objects] == [True]
    assert reconvene("show", "--json").object["driven"] is True
    at_work.kill()
    at_work.communicate()
    for command in ("runs", "inbox"):
        told = reconvene(command).out
        assert "slow-1 is running, but nobody is driving it; go on with: reconvene resume slow-1" in told
    assert "running (not driven)" in reconvene("runs").out
    shown = reconvene("show").out
    assert "slow-1 is running at draft, round 1 (nobody is driving it)" in shown
    assert "reconvene resume slow-1" in shown
    assert [row["driven"] for row in reconvene("runs", "--json").objects] == [False]
    assert reconvene("show", "--json").object["driven"] is False
    assert reconvene("inbox", "--json").json == []
    assert reconvene("abort", "slow-1").code == 2
    assert "nobody is driving" not in reconvene("runs").out + reconvene("inbox").out
    assert "driven" not in reconvene("runs", "--json").objects[0]


def test_an_interrupt_parks_the_run_and_records_what_was_cancelled(
    reconvene: Command, at_work: subprocess.Popen[str]
) -> None:
    at_work.send_signal(signal.SIGINT)
    assert ending(at_work) == (3, "paused")
    (end,) = [e for e in map(json.loads, reconvene("log", "--json").out.splitlines()) if e["type"] == "AttemptEnded"]
    assert end["verdict"] == "cancelled"


def test_being_asked_to_terminate_parks_too(at_work: subprocess.Popen[str]) -> None:
    at_work.send_signal(signal.SIGTERM)
    assert ending(at_work) == (3, "paused")


@pytest.mark.parametrize("at_work", [("sh", "-c", 'trap \'\' HUP; exec "$0" "$@"')], indirect=True, ids=["nohup"])
def test_a_signal_that_is_to_be_ignored_stops_nothing(at_work: subprocess.Popen[str]) -> None:
    at_work.send_signal(signal.SIGHUP)
    at_work.send_signal(signal.SIGTERM)  # the first that counts; a second one would leave at once
    assert ending(at_work) == (3, "paused")


def test_pause_now_from_elsewhere_stops_the_process_at_work(reconvene: Command, at_work: subprocess.Popen[str]) -> None:
    assert reconvene("pause", "--now").code == 3
    assert ending(at_work) == (3, "paused")


def test_abort_from_elsewhere_ends_the_process_at_work(reconvene: Command, at_work: subprocess.Popen[str]) -> None:
    assert reconvene("abort", "slow-1").code == 2
    assert ending(at_work) == (2, "aborted")


def test_an_input_that_is_needed_and_empty_is_missing(reconvene: Command) -> None:
    refused = reconvene("run", "job", "--input", "description=  ", "--no-input", "--anyway")
    assert (refused.code, "the workflow needs the input description" in refused.err) == (64, True)
