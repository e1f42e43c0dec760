"""A decision holds for what was shown to who decides: whatever printed the checkpoint whole counts, lists do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command, Done
from reconvene.core.facts.commands import SaveDraft
from reconvene.settings import system_user
from reconvene.wiring import open_engine

FLOW = """\
name: flow
agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo text > draft.md; echo done']}}
phases:
- id: draft
  agents: [writer]
  rounds: {max: 9}
  checkpoint:
    show_files: [draft.md]
    fields: [{id: tone, type: text, prompt: Which tone?}]
    options: [{label: Go on, then: continue}, {label: Once more, remark: optional, then: again}]
- id: more
  agents: [writer]
  checkpoint: {show_files: [draft.md], options: [{label: Go on, then: continue}, {label: Stop, then: {end: stopped}}]}
"""
RUN = "flow-1"
GO_ON = ("decide", RUN, "--option", "Go on")


@pytest.fixture(autouse=True)
def flow(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


@pytest.fixture
def parked(reconvene: Command) -> Command:
    assert reconvene("run", "flow.yaml").code == 3
    return reconvene


def decided(reconvene: Command) -> list[dict[str, object]]:
    found = reconvene("log", RUN, "--json").out.splitlines()
    return [event for event in map(json.loads, found) if event["type"] == "DecisionRecorded"]


def version(reconvene: Command) -> str:
    """The open one, as a list of runs has it: that shows it to nobody."""
    point = reconvene("runs", "--json").objects[0]["checkpoint"]
    assert isinstance(point, dict)
    return str(point["digest"])


def refused(done: Done, *said: str) -> None:
    assert done.code == 64, done
    for text in said:
        assert text in done.err


# --- which version is meant ---


def test_the_same_line_in_a_script_never_decides_two_checkpoints(parked: Command) -> None:
    assert parked(*GO_ON).code == 3
    done, now = parked(*GO_ON), version(parked)[:4]
    refused(
        done,
        "you saw checkpoint C1 (draft, round 1) of flow-1 last, and another one is open",
        "only printed by a `decide` in a script, which does not count as seen",
        "decided “Go on”",
        "open now: checkpoint C2 (more, round 1)",
        f"decide it as it is: reconvene decide flow-1 --option 'Go on' --at {now}\n",
        "decide whatever is open then: reconvene decide flow-1 --option 'Go on' --latest\n",
    )
    assert len(decided(parked)) == 1
    assert parked(*GO_ON, "--at", now).code == 0
    assert parked("show", RUN, "--json").object["status"] == "completed"


@pytest.mark.parametrize("words", [("show",), ("show", "--json"), ("resume",), ("resume", "--json")])
def test_what_prints_the_checkpoint_whole_counts(parked: Command, words: tuple[str, ...]) -> None:
    parked(*GO_ON)
    parked(*words)
    assert parked(*GO_ON).code == 0


@pytest.mark.parametrize("words", ["inbox", "inbox --json", "runs --json", "log", "files", "decide"])
def test_lists_and_parts_do_not_count(reconvene: Command, words: str) -> None:
    reconvene("run", "flow.yaml", "--by", "Ada")
    reconvene(*words.split())
    refused(
        reconvene(*GO_ON, "--by", "Bob"),
        "checkpoint C1 (draft, round 1) of flow-1 is open, and it was not shown to Bob yet",
        "look at it: reconvene show flow-1 --by Bob",
        f"decide it as it is: reconvene decide flow-1 --option 'Go on' --by Bob --at {version(reconvene)[:4]}\n",
    )
    assert not decided(reconvene)
    reconvene("show", "--by", "Bob")
    assert reconvene(*GO_ON, "--by", "Bob").code == 3


def test_what_an_agent_of_a_run_looks_at_was_shown_to_nobody(parked: Command) -> None:
    parked(*GO_ON)
    assert parked("show", RUN, RECONVENE_TASK="R1/0/writer").code == 0
    refused(parked(*GO_ON), "another one is open")


def test_a_name_that_nobody_claimed_stands_for_all_names_of_the_account(parked: Command) -> None:
    assert parked(*GO_ON, "--by", "Ada").code == 3
    parked("show", RUN, RECONVENE_BY=system_user())
    assert parked(*GO_ON, RECONVENE_BY="Bob").code == 0


def test_what_is_forgotten_was_not_shown(parked: Command, tmp_path: Path) -> None:
    (tmp_path / ".reconvene" / "shown" / "flow-1.jsonl").unlink()
    refused(parked(*GO_ON), f"was not shown to {system_user()} yet")
    assert parked(*GO_ON, "--at", version(parked)).code == 3


@pytest.mark.parametrize("name", ["--at", "--digest"])
def test_a_version_is_named_by_its_beginning(parked: Command, name: str) -> None:
    whole = version(parked)
    refused(parked(*GO_ON, name, whole[:3]), "is too short", "at least 4 characters")
    refused(parked(*GO_ON, name, "0000"), "no checkpoint of flow-1 had a version that begins with 0000")
    refused(parked(*GO_ON, name, whole, "--latest"), "leave one of them out")
    assert parked(*GO_ON, name, whole[:4].upper()).code == 3


def test_latest_decides_what_is_open_and_the_record_says_so(parked: Command) -> None:
    assert parked(*GO_ON, "--latest").code == 3
    assert parked(*GO_ON, "--latest").code == 0
    assert [event["source"] for event in decided(parked)] == ["--latest", "--latest"]
    assert parked("show", RUN).out.count("; with --latest)") == 2


def test_a_decision_by_its_number_is_not_offered_for_another_checkpoint(parked: Command) -> None:
    parked("decide", RUN, "--option", "1")
    refused(
        parked("decide", RUN, "--option", "2"), f"reconvene decide flow-1 --option LABEL --at {version(parked)[:4]}\n"
    )


def test_what_cannot_be_chosen_there_is_not_offered_for_another_checkpoint(parked: Command) -> None:
    parked(*GO_ON)
    refused(
        parked("decide", RUN, "--option", "Once"),
        f"reconvene decide flow-1 --option 'Go on' --at {version(parked)[:4]}\n",
    )


# --- what changed since ---


def by_bob(parked: Command, what: str, tmp_path: Path) -> None:
    if what == "remark":
        parked("remark", RUN, "The figure is wrong", "--by", "Bob")
    else:
        (tmp_path / ".reconvene/runs/flow-1/draft.md").write_text("text\nof Bob\n", encoding="utf-8")
        parked("resume", RUN, "--no-input", "--by", "Bob")


@pytest.mark.parametrize(
    ("what", "told"), [("remark", "The figure is wrong [FB-001]"), ("edit", "Edited draft.md (+1 −0 lines)")]
)
@pytest.mark.parametrize("named", [True, False])
def test_what_somebody_else_did_since_refuses_the_decision(
    reconvene: Command, tmp_path: Path, what: str, told: str, named: bool
) -> None:
    reconvene("run", "flow.yaml", "--by", "Ada")
    at = ("--at", version(reconvene)[:6]) if named else ()
    by_bob(reconvene, what, tmp_path)
    done, now = reconvene(*GO_ON, *at, "--by", "Ada"), version(reconvene)[:4]
    told, again = f"Bob [claimed by {system_user()}]: {told}", f"--option 'Go on' --by Ada --at {now}\n"
    refused(done, "what you saw is not what is open now", told, again)
    assert ("+of Bob" in done.err) == (what == "edit")
    assert not decided(reconvene)
    assert reconvene(*GO_ON, "--at", now, "--by", "Ada").code == 3


def test_what_the_person_did_themselves_goes_with_the_decision(parked: Command, tmp_path: Path) -> None:
    seen = version(parked)
    parked("remark", RUN, "shorter")
    (tmp_path / ".reconvene/runs/flow-1/draft.md").write_text("mine\n", encoding="utf-8")
    done = parked(*GO_ON, "--at", seen[:4])
    assert done.code == 3
    assert "with your FB-001: shorter\nwith your FB-002: Edited draft.md (+1 −1 lines)\n" in done.err
    (event,) = decided(parked)
    assert (event["digest"], event["since"]) == (seen, ["FB-001", "FB-002"])
    assert "; with FB-001, FB-002)" in parked("show").out


def test_answers_that_somebody_else_saved_refuse_the_decision(parked: Command, tmp_path: Path) -> None:
    engine = open_engine(tmp_path / ".reconvene")
    engine.submit(RUN, SaveDraft("C1", {"tone": "harsh"}, "Bob"))
    engine.log.close()
    refused(parked(*GO_ON), "Bob answered: Which tone? → harsh")


# --- given again ---


def test_the_same_decision_again_is_no_decision_and_says_so(parked: Command) -> None:
    at = ("--at", version(parked)[:4])
    words = (*GO_ON, "--feedback", "shorter", "--field", "tone=warm", *at)
    assert parked(*words).code == 3
    again = parked(*words)
    assert (again.code, again.out) == (3, "flow-1 is waiting at more, round 1\n")
    assert again.err == "you decided so already, “Go on” at checkpoint C1 (draft): nothing was done again\n"
    told = parked(*words, "--json")
    assert (told.code, told.object["status"], told.object["nothing_to_do"]) == (3, "waiting", True)
    assert len(decided(parked)) == 1
    parked(*GO_ON, "--latest")
    assert parked(*words).out == "flow-1 is completed\n"
    for other in (("--by", "Bob"), ("--feedback", "longer"), ("--field", "tone=cold")):
        refused(parked(*words, *other), "Checkpoint C1 was decided already: 'Go on' by ")


def test_a_script_that_repeats_its_last_decision_is_told_so(parked: Command) -> None:
    parked(*GO_ON)
    parked("show")
    assert parked(*GO_ON).code == 0
    again = parked(*GO_ON)
    assert (again.code, again.out) == (0, "flow-1 is completed\n")
    assert "you decided so already, “Go on” at checkpoint C2 (more)" in again.err


def test_what_was_never_offered_there_is_no_repetition(parked: Command) -> None:
    parked(*GO_ON)
    parked(*GO_ON, "--latest")
    refused(parked("decide", RUN, "--option", "Perhaps"), "flow-1 is completed; there is no checkpoint to decide")


def test_a_decision_that_nobody_carried_on_is_told_with_what_to_type(parked: Command) -> None:
    assert parked(*GO_ON, "--no-drive").code == 0
    again = parked(*GO_ON)
    assert again.code == 0
    assert again.err.endswith("nothing was done again\ngo on with: reconvene resume flow-1\n")


# --- from a file ---


def test_a_file_decides_what_is_there_and_the_record_says_from_a_file(reconvene: Command, tmp_path: Path) -> None:
    (tmp_path / "answers.yaml").write_text(
        "- {option: Once more, feedback: [shorter]}\n- {option: Go on}\n", encoding="utf-8"
    )
    reconvene("run", "flow.yaml", "--no-drive", "--by", "Ada")
    assert reconvene("resume", RUN, "--answers", "answers.yaml", "--by", "Bob").code == 3
    assert [event["source"] for event in decided(reconvene)] == ["answers.yaml:1", "answers.yaml:2"]
    shown = reconvene("show").out
    assert f"draft: Once more (Bob [claimed by {system_user()}]; from a file, answers.yaml:1)" in shown
    assert "captured" in (ledger := reconvene("ledger", RUN, "--details").out)
    assert f"by Bob [claimed by {system_user()}], from a file, answers.yaml:1" in ledger
    assert reconvene(*GO_ON, "--by", "Bob").code == 0, "the stop at which the answers ran out was shown"


# --- rollback ---


def undone(reconvene: Command) -> list[dict[str, object]]:
    found = reconvene("log", RUN, "--json").out.splitlines()
    return [event for event in map(json.loads, found) if event["type"] == "RoundUndone"]


def test_a_rollback_undoes_only_what_was_shown(parked: Command) -> None:
    seen = version(parked)
    parked("decide", RUN, "--option", "Once more", "--latest", "--by", "Bob")
    now = version(parked)[:4]
    way_on = f"undo it as it is: reconvene rollback flow-1 --at {now}\n"
    refused(
        parked("rollback"),
        "you saw checkpoint C1 (draft, round 1) of flow-1 last",
        f"Bob [claimed by {system_user()}] decided",
        way_on,
    )
    refused(
        parked("rollback", "--at", seen),
        "Checkpoint C1 is not open any more",
        f"Bob [claimed by {system_user()}] decided",
        way_on,
    )
    assert not undone(parked)
    assert parked("rollback", RUN, "--at", now).code == 3
    refused(parked("rollback"), "another one is open")
    assert [str(one["digest"])[:4] for one in undone(parked)] == [now]


def test_a_rollback_of_whatever_is_open_is_on_record_as_such(parked: Command) -> None:
    parked(*GO_ON)
    assert parked("rollback", "--latest").code == 3
    assert [one["source"] for one in undone(parked)] == ["--latest"]


# --- agents that act on the world ---

PAYS = """\
name: flow
agents: {payer: {effects: true, sandbox: off, command: [sh, -c, 'cat >/dev/null; echo PAID >> PLACE; echo done']}}
phases:
- id: pay
  agents: [payer]
  rounds: {max: 9}
  checkpoint: {options: [{label: Once more, then: again}, {label: Go on, then: continue}]}
"""


@pytest.fixture
def paid(reconvene: Command, flow: Path) -> Path:
    (flow / "flow.yaml").write_text(PAYS.replace("PLACE", str(flow / "paid")), encoding="utf-8")
    assert reconvene("run", "flow.yaml").code == 3
    return flow / "paid"


def test_the_option_that_has_an_agent_act_again_says_so_and_is_not_suggested(reconvene: Command, paid: Path) -> None:
    shown = reconvene("show").out
    assert "payer acts on the world again: what was done already may be done twice" in shown
    assert "decide flow-1 --option 'Go on' --at" in shown


@pytest.mark.parametrize("words", [("rollback",), ("reopen", RUN, "--rerun")])
def test_nobody_acts_again_before_the_person_was_told(reconvene: Command, paid: Path, words: tuple[str, ...]) -> None:
    if words[0] == "reopen":
        reconvene(*GO_ON)
    done = reconvene(*words)
    refused(done, "payer acts on the world (effects: true), and would act again", "--run-again\n")
    assert paid.read_text() == "PAID\n"
    assert reconvene(*words, "--run-again").code == 3
    assert paid.read_text() == "PAID\nPAID\n"
    found = map(json.loads, reconvene("log", RUN, "--json").out.splitlines())
    assert [one["acts"] for one in found if "acts" in one] == [["payer"]]


FORGES = """\
name: flow
sandbox: off
agents:
  writer: {command: [sh, -c, 'cat >/dev/null; echo draft > out.md; echo done']}
  forger: {command: [sh, -c, 'cat >/dev/null; echo FORGED >> "RUNS/out.md"; echo new > "RUNS/new.md"; echo done']}
  reader: {command: [sh, -c, 'cat out.md; ls']}
phases:
- {id: one, agents: [writer]}
- {id: two, agents: [forger]}
- {id: three, agents: [reader], output: read, checkpoint: {options: [{label: Go on, then: continue}]}}
- {id: four, agents: [reader], output: again, checkpoint: {options: [{label: End, then: continue}]}}
"""


def acts(reconvene: Command, *kinds: str) -> list[dict[str, object]]:
    every = map(json.loads, reconvene("log", RUN, "--json").out.splitlines())
    return [event for event in every if event["type"] in kinds]


def test_what_changes_in_the_workspace_while_agents_work_is_nobodys_edit_until_a_person_decides(
    reconvene: Command, flow: Path
) -> None:
    (flow / "flow.yaml").write_text(FORGES.replace("RUNS", str(flow / ".reconvene/runs/flow-1")), encoding="utf-8")
    parked = reconvene("run", "flow.yaml")
    told = "changed in the workspace while agents worked, by nobody on record: new.md, out.md."
    assert told in parked.out
    assert told in reconvene("show").out
    assert "FORGED" not in reconvene("output", RUN, "reader").out, "no agent is shown it"
    assert not acts(reconvene, "FilesEdited", "RemarkAdded")
    (found,) = acts(reconvene, "FilesFound")
    assert found["agents"] == ["forger"]
    assert "by" not in found
    decided = reconvene(*GO_ON)
    assert "with your FB-001: Edited new.md" in decided.err
    assert [one["by"] for one in acts(reconvene, "FilesEdited")] == [system_user()]
    assert told not in reconvene("show").out
    assert "FORGED" in reconvene("output", RUN, "reader").out
    assert reconvene("verify").code == 0


def test_what_was_put_back_before_the_decision_is_no_edit(reconvene: Command, flow: Path) -> None:
    runs = flow / ".reconvene/runs/flow-1"
    (flow / "flow.yaml").write_text(FORGES.replace("RUNS", str(runs)), encoding="utf-8")
    reconvene("run", "flow.yaml")
    (runs / "out.md").write_text("draft\n")
    (runs / "new.md").unlink()
    assert reconvene(*GO_ON).code == 3
    assert not acts(reconvene, "FilesEdited", "RemarkAdded")
    assert "FORGED" not in reconvene("output", RUN, "reader").out
