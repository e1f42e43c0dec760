"""Feedback at a real pseudo-terminal: typed, understood, put right, weighed; never lost. Nothing waits for time."""

from __future__ import annotations

import json
import signal
import stat
from functools import partial
from pathlib import Path

import pytest

from commands import call
from reconvene.core.facts.events import AnyEvent, DecisionRecorded, RemarkAdded, RemarkRead
from reconvene.core.facts.evolve import fold
from reconvene.testing.openai_server import Call, Fail, Hang, OpenAIServer, Reply
from reconvene.wiring import open_log
from terminals import CLEAR, DOWN, ENTER, UP, Terminal, answer, ending, pexpect

ANYTHING, MORE, RIGHT, DECISION = "Anything to correct", "more, or an empty line", "what you mean", "Your decision"
BOTH = "Revenue is $900M, not $850M. The board approved the EV pivot yesterday"

COUNCIL = """\
name: council
agents:
  economist:
    remit: revenue, debt, margins, capital, credit
    command: [sh, -c, "if grep FB-001 >/dev/null; then echo 'Revenue is $900M [FB-001].'; else echo First; fi"]
  engineer:
    remit: machines, vehicles, batteries, software
    command: [sh, -c, "cat >/dev/null; echo '## Ratings'; echo '| item | rating | reason |'; echo '|---|---|---|';
      echo '| Demand | 8 | up |'"]
  contrarian: {remit: hidden risks, always: true, command: [sh, -c, "cat >/dev/null; echo No"]}
phases:
  - id: views
    rounds: {plan: [first], max: 3}
    agents: [economist, engineer, contrarian]
    checkpoint:
      prompt: Round {{ round.n }} is done.
      feedback: |
        Quick checkpoint:
        - Any corrections?
      options:
        - {label: Looks good, then: continue}
        - label: One more round
          recommend: feedback.major
          fields:
            - {id: gap, type: text, required: true, prompt: Which gap would it close?, into: gap}
            - {id: agents, type: agents, default: routing.affected, prompt: Who looks again?}
          then: again
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "council.yaml").write_text(COUNCIL, encoding="utf-8")
    return tmp_path


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    return partial(terminal, size=(50, 160), RECONVENE_BY="Ada")


def type_in(child: pexpect.spawn[str], *lines: str) -> None:
    """Answer the question for remarks, and end with an empty line."""
    answer(child, ANYTHING, lines[0] + ENTER)
    for line in (*lines[1:], ""):
        answer(child, MORE, line + ENTER)


def events(folder: Path, run: str = "council-1") -> list[AnyEvent]:
    log = open_log(folder / ".reconvene")
    found = [event for _, event in log.read(run)]
    log.close()
    return found


def standing(folder: Path, run: str = "council-1") -> list[RemarkAdded]:
    """The remarks that were not taken back, as they are read now."""
    record = fold(events(folder, run)).record
    return [remark for number, remark in sorted(record.remarks.items()) if number not in record.withdrawn]


def said(folder: Path, run: str = "council-1") -> list[tuple[str, str]]:
    return [(remark.kind, remark.text) for remark in standing(folder, run)]


def fields(folder: Path) -> dict[str, object]:
    """What was filled in with the latest decision."""
    decision = [event for event in events(folder) if isinstance(event, DecisionRecorded)][-1]
    log = open_log(folder / ".reconvene")
    found = json.loads(log.artefact(decision.fields))
    log.close()
    assert isinstance(found, dict)
    return found


def park(child: pexpect.spawn[str]) -> None:
    child.expect(DECISION)
    child.sendcontrol("c")
    assert ending(child) == 3


def test_free_text_is_understood_put_right_weighed_and_followed_by_another_round(
    terminal: Terminal, folder: Path
) -> None:
    child = terminal("run", "council.yaml")
    child.expect("Round 1 is done")
    child.expect("Any corrections")
    type_in(child, BOTH)
    child.expect(r"1\. correction: Revenue is \$900M, not \$850M\.\s+\[\$850M → \$900M\]")
    child.expect(r"2\. strategic shift: The board approved")
    answer(child, RIGHT, DOWN * 2 + ENTER)  # change the second
    answer(child, "What about 2", ENTER)  # its kind
    answer(child, "What is it", UP * 2 + ENTER)  # from strategic shift up to new context
    child.expect(r"2\. new context: The board approved")
    answer(child, RIGHT, ENTER)
    child.expect("FB-001 correction, minor: ")
    child.expect("FB-002 new context, major: ")
    child.expect("Demand: median 8")
    child.expect(r"One more round: economist \(remit: ")
    child.expect(r"contrarian \(always\)")
    child.expect("3 agent calls")
    child.expect(DECISION)
    child.expect(r"»[^»]*One more round  \(recommended\)")
    child.send(ENTER)
    answer(child, "Which gap", "the pivot" + ENTER)
    child.expect("Who looks again")
    child.expect(r"● economist \(remit: ")
    child.expect(r"● contrarian \(always\)")
    child.send(ENTER)
    child.expect("Round 2 is done")
    answer(child, ANYTHING, "looks good" + ENTER)
    child.expect("nothing to add")
    child.expect("still open")
    child.expect("FB-002 new context")
    answer(child, DECISION, ENTER)
    child.expect("completed")
    child.expect("1 remark is still open: FB-002")
    assert ending(child) == 0
    assert said(folder) == [
        ("correction", "Revenue is $900M, not $850M."),
        ("new context", "The board approved the EV pivot yesterday"),
    ]


def test_nothing_to_add_goes_straight_to_the_options(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    answer(child, ANYTHING, ENTER)
    child.expect("another round")
    answer(child, DECISION, ENTER)
    assert ending(child) == 0
    assert said(folder) == []


def test_entries_can_be_joined_reworded_aimed_and_dropped(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    type_in(child, BOTH, "missing factor: the weather")
    child.expect(r"3\. missing factor: the weather")
    answer(child, RIGHT, DOWN * 3 + ENTER)
    answer(child, "What about 3", UP * 2 + ENTER)  # drop it
    answer(child, RIGHT, DOWN * 2 + ENTER)
    answer(child, "What about 2", DOWN * 4 + ENTER)  # join it with 1
    child.expect(r"1\. correction: Revenue is \$900M, not \$850M\. The board approved the EV pivot yesterday")
    answer(child, RIGHT, DOWN + ENTER)
    answer(child, "What about 1", DOWN + ENTER)  # its words
    answer(child, "Its words:", "!" + ENTER)
    answer(child, RIGHT, DOWN + ENTER)
    answer(child, "What about 1", DOWN * 2 + ENTER)  # whom it is for
    answer(child, "For whom", " " + ENTER)
    child.expect("correction to economist: ")
    answer(child, RIGHT, ENTER)
    park(child)
    (remark,) = standing(folder)
    assert (remark.kind, remark.target, remark.text) == ("correction", "economist", f"{BOTH}!")
    assert (remark.was, remark.now) == ("$850M", "$900M")


def test_more_can_be_said_and_all_can_be_dropped(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    type_in(child, "missing factor: the weather")
    answer(child, RIGHT, DOWN * 2 + ENTER)
    answer(child, "What else", "new context: a rival has gone" + ENTER)
    answer(child, MORE, ENTER)
    answer(child, RIGHT, UP + ENTER)  # drop all of it
    park(child)
    assert said(folder) == []


KEPT = [("correction", "Revenue is $900M, not $850M."), ("strategic shift", BOTH.partition(". ")[2])]


def test_what_was_typed_is_on_record_as_it_was_understood_when_it_is_left(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    type_in(child, BOTH)
    child.expect("Drop all of it")
    assert said(folder) == KEPT
    child.sendcontrol("c")
    child.expect("kept as it was understood: FB-001, FB-002")
    assert ending(child) == 3
    assert said(folder) == KEPT


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_what_was_typed_is_on_record_when_the_terminal_goes_away(
    terminal: Terminal, folder: Path, number: signal.Signals
) -> None:
    child = terminal("run", "council.yaml")
    type_in(child, BOTH)
    child.expect("Drop all of it")
    child.kill(number)
    child.expect(pexpect.EOF)
    child.wait()
    assert said(folder) == KEPT


def test_a_half_typed_text_is_kept_too(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    answer(child, ANYTHING, "The harbour closes each winter" + ENTER)
    child.expect(MORE)
    child.sendcontrol("c")
    child.expect("kept as a comment")
    assert ending(child) == 3
    assert said(folder) == [("comment", "The harbour closes each winter")]


# --- read by a model --------------------------------------------------------------------------------------------------


def reads(server: OpenAIServer) -> dict[str, str]:
    model = {"RECONVENE_FEEDBACK_MODEL": "openai:some"}
    return {**model, "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": server.url}


def meant(*rows: tuple[str, str]) -> Reply:
    whole = [{"text": text, "kind": kind, "significance": "major", "reason": "it matters"} for kind, text in rows]
    return Call(json.dumps({"remarks": whole}))


def test_nothing_is_lost_when_the_process_is_killed_while_the_model_is_asked(terminal: Terminal, folder: Path) -> None:
    with OpenAIServer(Hang()) as server:
        child = terminal("run", "council.yaml", **reads(server))
        type_in(child, BOTH)
        assert server.wait_for_requests(1)
        child.kill(signal.SIGKILL)
        child.expect(pexpect.EOF)
        child.wait()
    assert said(folder) == KEPT
    assert [type(event) for event in events(folder)].count(RemarkRead) == 0


def test_a_models_reading_is_shown_to_the_person_and_is_an_event_of_its_own(terminal: Terminal, folder: Path) -> None:
    first, second = KEPT[0][1], KEPT[1][1]
    with OpenAIServer(meant(("clarification", first), ("new context", second))) as server:
        child = terminal("run", "council.yaml", **reads(server))
        type_in(child, BOTH)
        child.expect(r"1\. clarification: Revenue")
        child.expect("read by openai:some")
        answer(child, RIGHT, DOWN * 2 + ENTER)  # change the second
        answer(child, "What about 2", ENTER)  # its kind
        answer(child, "What is it", ENTER + ENTER)
        answer(child, RIGHT, ENTER)
        child.expect("FB-001 clarification, major: it matters")
        park(child)
    assert [remark.kind for remark in standing(folder)] == ["clarification", "new context"]
    readings = [event for event in events(folder) if isinstance(event, RemarkRead)]
    assert [(one.id, one.kind, one.reader, one.by) for one in readings] == [
        ("FB-001", "clarification", "model", "openai:some"),
        ("FB-002", "new context", "model", "openai:some"),
        ("FB-002", "new context", "person", "Ada"),
    ]
    assert [(event.id, event.kind) for event in events(folder) if isinstance(event, RemarkAdded)] == [
        ("FB-001", "correction"),
        ("FB-002", "strategic shift"),
    ]


def test_a_model_may_split_otherwise_and_then_its_remarks_stand(terminal: Terminal, folder: Path) -> None:
    with OpenAIServer(meant(("comment", BOTH))) as server:
        child = terminal("run", "council.yaml", **reads(server))
        type_in(child, BOTH)
        child.expect(r"1\. comment: Revenue")
        answer(child, RIGHT, ENTER)
        child.expect("FB-003 comment, major: it matters")
        park(child)
    assert said(folder) == [("comment", BOTH)]


def test_a_model_that_fails_leaves_the_rules_reading(terminal: Terminal, folder: Path) -> None:
    with OpenAIServer(Fail(400)) as server:
        child = terminal("run", "council.yaml", **reads(server))
        type_in(child, BOTH)
        child.expect("could not be asked")
        answer(child, RIGHT, ENTER)
        park(child)
    assert said(folder) == KEPT


def test_what_was_said_satisfies_an_option_that_wants_words(terminal: Terminal, folder: Path) -> None:
    (folder / "words.yaml").write_text(
        "name: words\n"
        "agents: {a: {command: [sh, -c, 'cat >/dev/null; echo done']}}\n"
        "phases:\n"
        "  - id: draft\n"
        "    rounds: {max: 3}\n"
        "    agents: [a]\n"
        "    checkpoint:\n"
        "      prompt: Good?\n"
        "      options: [{label: Yes, then: continue}, {label: Change it, remark: required, then: again}]\n",
        encoding="utf-8",
    )
    child = terminal("run", "words.yaml")
    answer(child, DECISION, DOWN + ENTER)
    answer(child, "Your feedback", ENTER)
    child.expect("needs your words")
    answer(child, DECISION, DOWN * 2 + ENTER)
    answer(child, "like to say", "shorter please" + ENTER)
    answer(child, MORE, ENTER)
    answer(child, RIGHT, ENTER)
    child.expect("FB-001 ")
    answer(child, DECISION, DOWN + ENTER)  # and is not asked again
    child.expect("round 2")
    answer(child, DECISION, ENTER)
    assert ending(child) == 0
    (remark,) = said(folder, "words-1")
    assert remark[1] == "shorter please"


def test_nobody_ticked_is_not_the_default(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    type_in(child, "Debt is $150M, not $100M")
    answer(child, RIGHT, ENTER)
    child.expect("FB-001 correction, major: .*50 %")
    answer(child, DECISION, ENTER)
    answer(child, "Which gap", "the debt" + ENTER)
    child.expect("○ engineer")
    answer(child, "● contrarian", " " + DOWN * 2 + " " + ENTER)  # unticks the two that were routed
    child.expect("Round 2 is done")
    child.expect(ANYTHING)
    child.sendcontrol("c")
    assert ending(child) == 3
    assert fields(folder) == {"gap": "the debt", "agents": []}


# --- the form in an editor --------------------------------------------------------------------------------------------


def editor(folder: Path, script: str) -> str:
    """A program that edits the file it is given, as a person would."""
    program = folder / "editor.sh"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


SUBSTITUTE = """sed 'CHANGE' "$1" > "$1.new" && mv "$1.new" "$1\""""
FILL = r"""sed -e 's/^what:/what: Debt/; s/^was:/was: $100M/; s/^now:/now: $150M/' \
  -e 's/^to:/to: NAME\
Too rosy/' "$1" > "$1.new" && mv "$1.new" "$1"
"""


def open_editor(child: pexpect.spawn[str]) -> None:
    answer(child, ANYTHING, ENTER)
    child.expect("Write it in your editor")
    child.send(DOWN * 3 + ENTER)


def test_the_form_is_filled_in_in_the_editor(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml", EDITOR=editor(folder, FILL.replace("NAME", "economist")))
    open_editor(child)
    child.expect(r"1\. correction: Debt: \$150M, not \$100M")
    child.expect(r"2\. reaction to economist: Too rosy")
    answer(child, RIGHT, ENTER)
    child.expect("FB-001 correction, major: ")
    park(child)
    assert said(folder) == [("correction", "Debt: $150M, not $100M"), ("reaction", "Too rosy")]


def test_a_form_with_a_problem_is_opened_again_with_its_text(terminal: Terminal, folder: Path) -> None:
    mend = f"""cp "$1" again.md; {SUBSTITUTE.replace("CHANGE", "s/econmist$/economist/")}"""
    script = f'if grep -q PROBLEM "$1"; then {mend}; else {FILL.replace("NAME", "econmist")}fi'
    child = terminal("run", "council.yaml", VISUAL=editor(folder, script), EDITOR="false")
    open_editor(child)
    child.expect(r"2\. reaction to economist: Too rosy")
    answer(child, RIGHT, ENTER)
    park(child)
    again = (folder / "again.md").read_text(encoding="utf-8")
    assert "did you mean economist?" in again
    assert "Too rosy" in again
    assert len(said(folder)) == 2


def test_a_form_that_is_left_wrong_is_kept_as_it_stands(terminal: Terminal, folder: Path) -> None:
    script = f'grep -q PROBLEM "$1" && exit 0\n{FILL.replace("NAME", "nobody we know")}'
    child = terminal("run", "council.yaml", EDITOR=editor(folder, script))
    open_editor(child)
    child.expect("reaction to nobody we know: Too rosy")
    answer(child, RIGHT, ENTER)
    park(child)
    assert ("reaction", "Too rosy") in said(folder)


@pytest.mark.parametrize("program", ["there-is-no-such-editor", "true"])
def test_an_editor_that_does_nothing_changes_nothing(terminal: Terminal, folder: Path, program: str) -> None:
    child = terminal("run", "council.yaml", EDITOR=program)
    open_editor(child)
    child.expect("nothing was written" if program == "true" else "cannot be started")
    park(child)
    assert said(folder) == []


def test_what_a_failing_editor_saved_is_still_shown(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml", EDITOR=editor(folder, FILL.replace("NAME", "economist") + "exit 3"))
    open_editor(child)
    child.expect("ended with code 3")
    child.expect("Debt: ")
    answer(child, RIGHT, ENTER)
    park(child)
    assert len(said(folder)) == 2


def test_what_was_typed_can_be_taken_to_the_editor(terminal: Terminal, folder: Path) -> None:
    script = SUBSTITUTE.replace("CHANGE", "s/the weather/the winters/")
    child = terminal("run", "council.yaml", EDITOR=editor(folder, script))
    type_in(child, "missing factor: the weather")
    answer(child, RIGHT, DOWN * 3 + ENTER)
    child.expect("missing factor: the winters")
    answer(child, RIGHT, ENTER)
    park(child)
    assert said(folder) == [("missing factor", "the winters")]


def test_the_same_run_can_be_shown_by_a_script_meanwhile(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    type_in(child, BOTH)
    answer(child, RIGHT, ENTER)
    child.expect(DECISION)
    done = call("show", "--json", cwd=folder)
    assert [remark["level"] for remark in json.loads(done.out)["review"]["remarks"]] == ["minor", "major"]
    child.sendcontrol("c")
    assert ending(child) == 3


def test_half_a_line_is_kept_at_ctrl_c_and_stands_in_the_line_again(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    answer(child, ANYTHING, "Revenue is $900M, not")
    child.expect("not")
    child.sendcontrol("c")
    child.expect("kept, and offered here again: Revenue is ")
    assert ending(child) == 3
    assert said(folder) == []

    child = terminal("resume")
    answer(child, r"Anything to correct.*Revenue is \$900M, not", " $850M" + ENTER)
    answer(child, MORE, "and then")
    child.expect("and then")
    child.sendcontrol("c")
    child.expect("kept, and offered here again: and then")
    child.expect("kept as a comment: Revenue is ")
    assert ending(child) == 3
    assert [text for _, text in said(folder)] == ["Revenue is $900M, not $850M"]

    child = terminal("resume")
    answer(child, r"Anything to correct.*and then", CLEAR + ENTER)
    park(child)
    child = terminal("resume")
    answer(child, ANYTHING, ENTER)
    park(child)
    assert [text for _, text in said(folder)] == ["Revenue is $900M, not $850M"]


def test_half_a_line_is_kept_where_the_terminal_goes_away(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    answer(child, ANYTHING, "Revenue is $900M, not")
    child.expect("not")
    child.kill(signal.SIGHUP)
    ending(child)
    answer(terminal("resume"), r"Anything to correct.*Revenue is \$900M, not", "")


def test_what_was_begun_is_not_offered_at_another_checkpoint(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "council.yaml")
    answer(child, ANYTHING, "Revenue is $900M, not")
    child.expect("not")
    child.sendcontrol("c")
    assert ending(child) == 3
    words = ("--option", "One more round", "--field", "gap=demand", "--latest", "--no-drive")
    assert call("decide", "council-1", *words, cwd=folder).code in (0, 3)
    child = terminal("resume")
    answer(child, ANYTHING, ENTER)
    park(child)
    assert said(folder) == []
