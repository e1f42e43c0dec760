"""A person at a real pseudo-terminal: arrow keys, free text, Ctrl-C. Nothing here waits for time to pass."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from commands import call
from reconvene.core.facts.events import DecisionRecorded
from reconvene.wiring import open_log
from terminals import DOWN, ENTER, UP, Terminal, answer, ending, pexpect

TWO_STEP = """\
name: two-step
agents:
  writer:   {command: ["sh", "-c", "cat >/dev/null; echo '# Draft'; echo hello > draft.md"]}
  reviewer: {command: ["sh", "-c", "cat; echo reviewed"]}
phases:
  - id: draft
    agents: [writer]
    checkpoint: {approval_required: true}
  - id: review
    agents: [reviewer]
    checkpoint:
      prompt: "Good enough?"
      show_files: [draft.md]
      options:
        - {label: "Accept", on_select: {action: continue}}
        - {label: "Again",  with_feedback: true, on_select: {action: repeat_phase, target: draft}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two-step.yaml").write_text(TWO_STEP, encoding="utf-8")
    return tmp_path


def command(folder: Path, *words: str) -> dict[str, object]:
    """The same command without a terminal, as a script would call it."""
    return call(*words, "--json", cwd=folder).object


def remarks(folder: Path) -> list[tuple[str, str]]:
    found = command(folder, "show", "two-step-1")["remarks"]
    assert isinstance(found, list)
    return [(remark["kind"], remark["text"]) for remark in found]


def test_a_whole_run_with_arrow_keys_and_free_text(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("writer done")
    child.expect("Your decision")
    child.send(ENTER)  # Continue stands first
    child.expect("Good enough")
    child.expect(r"draft\.md")
    child.expect("hello")
    child.expect("Your decision")
    child.send(DOWN + ENTER)
    child.expect("Your feedback")
    child.send("correction: Revenue is $900M, not $850M" + ENTER)
    child.expect("more, or an empty line")
    child.send("shorter please" + ENTER)
    child.expect("more, or an empty line")
    child.send(ENTER)
    child.expect("what you mean")
    child.send(ENTER)
    child.expect("FB-002 comment")
    child.expect("waiting at draft")
    child.expect("Your decision")
    child.send(ENTER)
    child.expect("Good enough")
    child.expect("Your decision")
    child.send(DOWN + UP + ENTER)
    child.expect("completed")
    assert ending(child) == 0
    assert remarks(folder) == [("correction", "Revenue is $900M, not $850M"), ("comment", "shorter please")]


def slow_workflow(folder: Path) -> tuple[Path, Path]:
    """A workflow whose agent says on a pipe that it works, and ends only once the gate is open."""
    started, gate = folder / "started", folder / "gate"
    os.mkfifo(started)
    script = f"cat >/dev/null; test -e {gate} || {{ echo go >{started}; exec sleep 600; }}; echo done"
    (folder / "slow.yaml").write_text(
        "name: slow\n"
        f"agents: {{writer: {{command: {json.dumps(['sh', '-c', script])}}}}}\n"
        "phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]\n",
        encoding="utf-8",
    )
    return started, gate


def test_ctrl_c_while_agents_work_parks_and_resume_goes_on(terminal: Terminal, folder: Path) -> None:
    started, gate = slow_workflow(folder)
    child = terminal("run", "slow.yaml")
    assert started.read_text() == "go\n"  # opening the pipe waits for the agent
    child.expect(r"writer\s+\d+ s")
    child.sendcontrol("c")
    child.expect("stopping")
    child.expect("reconvene resume slow-1")
    assert ending(child) == 3
    assert command(folder, "show", "slow-1")["status"] == "paused"
    log = call("log", "--json", cwd=folder)
    ends = [json.loads(line) for line in log.out.splitlines() if '"AttemptEnded"' in line]
    assert [end["verdict"] for end in ends] == ["cancelled"]

    gate.touch()
    child = terminal("resume")
    child.expect("Your decision")
    child.send(ENTER)
    assert ending(child) == 0


def test_ctrl_c_at_the_question_leaves_the_checkpoint_open(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("Your decision")
    child.sendcontrol("c")
    child.expect("reconvene resume two-step-1")
    assert ending(child) == 3
    assert command(folder, "show")["status"] == "waiting"


def test_pause_here_parks_and_says_how_to_go_on(terminal: Terminal) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("Your decision")
    child.send(UP + ENTER)  # the last entry of the menu
    child.expect("continue with:")
    assert ending(child) == 3


def test_a_remark_and_a_file_can_be_asked_for_before_deciding(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("Your decision")
    child.send(DOWN * 2 + ENTER)
    child.expect("What would you like to say")
    child.send("missing factor: the weather" + ENTER)
    child.expect("more, or an empty line")
    child.send(ENTER)
    child.expect("what you mean")
    child.send(ENTER)
    child.expect("FB-001 missing factor")
    child.expect("Your decision")
    child.send(UP * 2 + ENTER)
    child.expect("Which file")
    child.send(ENTER)
    child.expect("hello")
    child.expect("Your decision")
    child.sendcontrol("c")
    assert ending(child) == 3
    assert remarks(folder) == [("missing factor", "the weather")]


def test_an_answer_given_elsewhere_meanwhile_is_shown_and_the_run_goes_on(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("Your decision")
    command(folder, "decide", "two-step-1", "--option", "Continue", "--by", "Ada", "--no-drive")
    child.send(DOWN + ENTER)
    child.expect("ends the run: aborted. Really")
    child.send("y")
    child.expect("moved on")
    child.expect("Good enough")
    child.expect("Your decision")
    child.send(ENTER)
    assert ending(child) == 0


def test_an_edit_in_the_workspace_is_found_and_shown(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("Your decision")
    child.sendcontrol("c")
    assert ending(child) == 3
    workspace = Path(str(command(folder, "show")["workspace"]))
    (folder / workspace / "draft.md").write_text("hello, world\n", encoding="utf-8")
    child = terminal("resume")
    child.expect("said here so far")
    child.expect(r"edit: Edited draft\.md")
    child.expect("Your decision")
    child.sendcontrol("c")
    assert ending(child) == 3


def test_fields_are_asked_by_their_types(terminal: Terminal, folder: Path) -> None:
    (folder / "fields.yaml").write_text(
        "name: fields\n"
        "agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo done']}}\n"
        "phases:\n"
        "  - id: draft\n"
        "    agents: [writer]\n"
        "    checkpoint:\n"
        "      prompt: How bad?\n"
        "      fields:\n"
        "        - {id: severity, type: choice, options: [low, high], required: true}\n"
        "        - {id: count, type: number}\n"
        "        - {id: sure, type: confirm}\n"
        "        - {id: why, type: text}\n"
        "      options: [{label: Go}]\n",
        encoding="utf-8",
    )
    child = terminal("run", "fields.yaml")
    child.expect("Your choice")
    child.send(ENTER)  # the open ones in turn
    child.expect("severity")
    child.send(DOWN + ENTER)
    child.expect("count")
    child.send("3" + ENTER)
    child.expect("sure")
    child.send("n")
    child.expect("why")
    child.send("because" + ENTER)
    child.expect(r"answered: because")
    child.expect("Your choice")
    child.send("go" + ENTER)
    assert ending(child) == 0
    log = open_log(folder / ".reconvene")
    (decision,) = [event for _, event in log.read("fields-1") if isinstance(event, DecisionRecorded)]
    fields = json.loads(log.artefact(decision.fields))
    log.close()
    assert fields == {"severity": "high", "count": 3, "sure": False, "why": "because"}


def test_a_required_input_is_asked_for(terminal: Terminal, folder: Path) -> None:
    (folder / "asks.yaml").write_text(
        "name: asks\n"
        "inputs: {question: {required: true, description: What is it about}}\n"
        "agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo done']}}\n"
        "phases: [{id: draft, agents: [writer], checkpoint: {prompt: 'About {{ inputs.question }}?', "
        "options: [{label: Go}]}}]\n",
        encoding="utf-8",
    )
    child = terminal("run", "asks.yaml")
    child.expect("What is it about")
    child.send("the plant" + ENTER)
    child.expect(r"About the plant\?")
    child.expect("Your decision")
    child.send(ENTER)
    assert ending(child) == 0


def test_what_agents_write_cannot_steer_the_terminal(terminal: Terminal, folder: Path) -> None:
    script = r"cat >/dev/null; printf '# Hi [bold]x[/bold]\033]0;owned\007\033[2J\302\23331m\n' | tee out.md"
    (folder / "hostile.yaml").write_text(
        "name: hostile\n"
        f"agents: {{evil: {{command: {json.dumps(['sh', '-c', script])}}}}}\n"
        "phases:\n"
        "  - {id: a, agents: [evil], checkpoint: {prompt: Look, show_files: [out.md], options: [{label: Go}]}}\n",
        encoding="utf-8",
    )
    child = terminal("run", "hostile.yaml")
    child.expect(re.escape("[bold]x[/bold]"))
    seen = str(child.before)
    child.expect("Your decision")
    seen += str(child.before)
    child.sendcontrol("c")
    assert ending(child) == 3
    assert "owned" not in seen
    assert "\x1b[2J" not in seen
    assert "\x9b" not in seen


def test_without_colour_and_on_a_narrow_screen_it_still_works(terminal: Terminal) -> None:
    child = terminal("run", "two-step.yaml", size=(18, 32), NO_COLOR="1")
    child.expect("Your decision")
    seen = str(child.before)
    child.sendcontrol("c")
    assert ending(child) == 3
    assert not re.search(r"\x1b\[(?:[0-9;]*;)?[34][0-9](?:;[0-9;]*)?m", seen + str(child.before))


def test_half_a_terminal_is_none(terminal: Terminal, folder: Path) -> None:
    (folder / "half.sh").write_text(f"{sys.executable} -m reconvene.doors.cli run two-step.yaml </dev/null\n")
    child = pexpect.spawn("sh", ["half.sh"], cwd=str(folder), encoding="utf-8", timeout=300)
    child.expect("reconvene decide two-step-1")
    assert ending(child) == 3


def test_an_option_that_ends_the_run_asks_once_more(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "two-step.yaml")
    child.expect("Abort  → ends the run: aborted")
    child.send(DOWN + ENTER)
    child.expect("Really")
    child.send(ENTER)  # no
    child.expect("Your decision")
    child.send(DOWN + ENTER)
    child.expect("Really")
    child.sendcontrol("c")
    child.expect("nothing was decided")
    child.expect("reconvene resume two-step-1")
    assert ending(child) == 3
    assert command(folder, "show")["status"] == "waiting"
    child = terminal("resume")
    child.expect("Your decision")
    child.send(DOWN + ENTER)
    child.expect("Really")
    child.send("y")
    assert ending(child) == 2


def long_workflow(folder: Path) -> None:
    lines = "; ".join(f"echo Finding {number} is told here." for number in range(1, 61))
    (folder / "long.yaml").write_text(
        f"""
name: long
agents:
  writer: {{command: ["sh", "-c", "cat >/dev/null; echo '# Findings'; {lines}"]}}
  critic: {{command: ["sh", "-c", "cat >/dev/null; echo All is well."]}}
phases:
  - id: draft
    steps: [{{agents: [writer, critic], output: found}}]
    checkpoint:
      question: Is it true?
      prompt: "{{{{ context.found.writer | replace('\\n', '\\n\\n') }}}}"
""",
        encoding="utf-8",
    )


@pytest.mark.parametrize("size", [(24, 80), (40, 100)])
def test_the_first_screen_holds_the_question_and_the_options(
    size: tuple[int, int], terminal: Terminal, folder: Path
) -> None:
    long_workflow(folder)
    child = terminal("run", "long.yaml", size=size, PAGER="cat")
    child.expect("long-1 is waiting at draft, round 1")
    child.expect("Pause here, decide later")
    shown = child.before
    assert shown.count("\n") < size[0], "nothing has scrolled away"
    assert shown.index("Is it true?") < shown.index("Finding 1 ") < shown.index("more lines: “Read on”")
    assert "Continue  → the end of the run" in shown
    assert "Finding 60 " not in shown
    child.send(DOWN * 3 + ENTER)
    child.expect("Finding 60 is told here")
    child.expect("Your decision")
    child.send(DOWN * 4 + ENTER)
    child.expect("Whose")
    child.send(DOWN + ENTER)
    child.expect("critic\r\n\r\nAll is well.")
    child.expect("Your decision")
    child.sendcontrol("c")
    assert ending(child) == 3


ASKS = """\
name: asks
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo done"]}
phases:
  - id: draft
    agents: [writer]
    checkpoint:
      prompt: "Ship it?"
      options:
        - label: Ship
          fields:
            - {id: where, prompt: "Where to?", required: true}
            - {id: when, prompt: "When?", required: true}
          then: continue
        - {label: Stop, then: {end: stopped}}
"""


@pytest.mark.parametrize("leaves", ["Ctrl-C", "kill"])
def test_what_was_answered_to_an_options_own_questions_is_there_after_leaving(
    terminal: Terminal, folder: Path, leaves: str
) -> None:
    (folder / "asks.yaml").write_text(ASKS, encoding="utf-8")
    child = terminal("run", "asks.yaml")
    answer(child, "Your decision", ENTER)
    answer(child, r"Where to\?", f"Bergen{ENTER}")
    child.expect(r"When\?")
    if leaves == "Ctrl-C":
        child.send("M")
        child.expect("M")
        child.send("\x03")
        assert ending(child) == 3
    else:
        child.close(force=True)
    # nothing is decided, and nobody but the person is told
    shown = command(folder, "show", "asks-1")
    assert (shown["status"], shown["decisions"]) == ("waiting", [])
    assert "Bergen" not in json.dumps(shown)

    child = terminal("resume")
    answer(child, "Your decision", ENTER)
    answer(child, r"Where to\?.*Bergen", ENTER)
    answer(child, r"When\?.*M" if leaves == "Ctrl-C" else r"When\?", ("ay" if leaves == "Ctrl-C" else "May") + ENTER)
    assert ending(child) == 0
    log = open_log(folder / ".reconvene")
    (decision,) = [event for _, event in log.read("asks-1") if isinstance(event, DecisionRecorded)]
    assert json.loads(log.artefact(decision.fields)) == {"where": "Bergen", "when": "May"}
    log.close()
    assert not list((folder / ".reconvene" / "unsent").iterdir())
