"""The recorded story: what the person says changes the figures, the conclusion and the memo, whatever the figure is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from reconvene.core.facts.events import AttemptEnded
from reconvene.testing.openai_server import OpenAIServer, Say, Seen
from reconvene.wire.answers_file import read_answers
from reconvene.wire.packaged import demos
from reconvene.wire.workflow_file import load_workflow

from .conftest import WORKFLOWS, Sit, Table

FOLDER = WORKFLOWS / "market-entry"
CHARTER = "Do not buy: charter two ships"
WAIVER = "Buy both ships, once the bank has granted a waiver"
BUY = "Buy both ships and open the route."
WAIT = "Do not open the route on these terms."


def look_again(sit: Sit, *said: str) -> Table:
    return sit("market-entry").decide("Look again", *said)


def views(table: Table) -> dict[str, str]:
    found = table.context["views"]
    assert isinstance(found, dict)
    return found


def test_four_specialists_work_at_the_same_time_and_the_synthesis_is_what_is_asked_about(sit: Sit) -> None:
    table = sit("market-entry")
    assert sorted(views(table)) == ["finance", "market", "operations", "sceptic"]
    assert CHARTER in table.open.prompt
    assert [Path(path).name for path in table.open.show_files] == ["memo.md"]
    assert table.open.status == "pending_review"
    memo = table.file("memo.md")
    assert CHARTER in memo
    assert "3.29x, allowed 3.25x" in memo
    assert "What the person said" not in memo


def test_a_correction_changes_the_figure_and_the_conclusion_everywhere(sit: Sit) -> None:
    table = look_again(sit, "correction: Revenue is $900M, not $850M")
    memo = table.file("memo.md")
    assert "| Revenue | $900M |" in memo
    assert "3.11x, allowed 3.25x" in memo
    assert WAIVER in memo
    assert WAIVER in table.open.prompt
    assert "[FB-001] Revenue is $900M, not $850M" in memo
    said = views(table)
    assert "fits inside the bank's covenant" in said["finance"]
    assert "Revenue is $900M, not $850M [FB-001]" in said["finance"]
    assert "objection to the debt has gone" in said["sceptic"]
    before = table.file("assess/round-1/finance.md")
    assert "breaks the bank's covenant" in before
    assert "breaks the bank's covenant" not in table.file("assess/round-2/finance.md")


@pytest.mark.parametrize(
    ("said", "shown", "conclusion"),
    [
        ("correction: revenue was $1.1 billion in 2025", "$1100M", BUY),
        ("Turnover: 1,000m instead of 850", "$1000M", BUY),
        ("sales are $861M", "$861M", CHARTER),
        ("sales are $862M", "$862M", WAIVER),
        ("Revenue is 870000000 dollars", "$870M", WAIVER),
        ("EBITDA is $200M", "$200M", BUY),
        ("the EBITDA margin is 22 %", "$187M", WAIVER),
        ("net debt is down to $380M", "$500M", WAIVER),
        ("the covenant is 3.5x, not 3.25x", "allowed 3.5x", WAIVER),
        ("capex is $90M", "$530M", WAIVER),
        ("the average fare will be $40", "$13.0M a year", WAIT),
        ("revenue is $1000M and running costs are $45M", "$5.6M a year", WAIT),
        ("missing factor: the harbour is closed for 6 weeks each winter", "$13.8M a year", WAIT),
        ("800,000 passengers at most", "$5.8M a year", WAIT),
    ],
)
def test_any_figure_works_not_only_the_scripted_one(sit: Sit, said: str, shown: str, conclusion: str) -> None:
    memo = look_again(sit, said).file("memo.md")
    assert shown in memo
    assert conclusion in memo
    assert "taken up in the figures" in memo


def test_a_remark_without_a_figure_is_noted_and_changes_no_conclusion(sit: Sit) -> None:
    table = look_again(sit, "please be brief")
    assert CHARTER in table.file("memo.md")
    assert "please be brief (noted; it names no figure used here)" in table.file("memo.md")
    assert "names no figure" in table.open.prompt


def test_corrections_add_up_over_rounds(sit: Sit) -> None:
    table = look_again(sit, "Revenue is $900M")
    table.decide("Look again", "net debt is $400M")
    memo = table.file("memo.md")
    assert "| Revenue | $900M |" in memo
    assert "| Debt with the ships | $520M |" in memo
    assert BUY in memo
    assert "[FB-001]" in memo
    assert "[FB-002]" in memo


def test_the_last_word_about_a_figure_counts(sit: Sit) -> None:
    table = look_again(sit, "Revenue is $900M")
    assert "| Revenue | $850M |" in table.decide("Look again", "no: revenue is $850M after all").file("memo.md")


def test_accepting_completes_the_run_and_leaves_next_steps_and_decisions(sit: Sit) -> None:
    table = look_again(sit, "Revenue is $900M, not $850M").decide("Accept the memo")
    assert table.state.status == "completed"
    assert "asks the bank for a waiver" in table.file("next-steps.md")
    decisions = table.file("decisions.md")
    assert "**Look again** at assess, by ann" in decisions
    assert "Revenue is $900M, not $850M" in decisions
    assert "**Accept the memo** at assess, by ann" in decisions
    assert table.decisions == [("assess", "again", "Revenue is $900M, not $850M"), ("assess", "continue")]


def test_dropping_the_plan_ends_the_run_as_aborted(sit: Sit) -> None:
    table = sit("market-entry").decide("Drop the plan", "not this year")
    assert table.state.status == "aborted"
    assert table.state.outcome == "dropped"


def test_another_round_is_offered_until_its_limit(sit: Sit) -> None:
    table = sit("market-entry")
    for _ in range(5):
        table.decide("Look again", "once more")
    again = next(option for option in table.open.options if option.label == "Look again")
    assert not again.available
    assert "limit rounds.max (6)" in again.why_not


def test_everything_is_marked_as_recorded(sit: Sit) -> None:
    table = look_again(sit, "Revenue is $900M").decide("Accept the memo")
    ended = [event for _, event in table.engine.log.read(table.run) if isinstance(event, AttemptEnded)]
    assert len(ended) == 13
    assert all(event.recorded and event.usage.model == "recorded" for event in ended)
    assert "Recorded: no model was asked." in table.file("memo.md")


def test_without_the_recordings_the_same_workflow_works_with_a_model(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model on loopback in the place of the recordings; prompts, gates and memo are the workflow's own."""
    with OpenAIServer(_role) as server:
        folder = tmp_path / "mine"
        shutil.copytree(FOLDER, folder)
        text = (folder / "workflow.yaml").read_text(encoding="utf-8")
        with_model = f'model: "openai:small", options: {{base_url: "{server.url}"}}'
        (folder / "workflow.yaml").write_text(text.replace("recorded: team", with_model), encoding="utf-8")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key-of-anybody")
        table = sit(folder)
        assert table.file("memo.md") == MEMO
        assert table.open.prompt.startswith("**Buy.**")
        table.decide("Look again", "correction: Revenue is $900M, not $850M")
        second = server.requests[6:]
    assert len(second) == 6
    assert all("[FB-001] **Correction:** Revenue is $900M, not $850M" in request.prompt for request in second)
    assert all(agent.prompt.split("\n")[0] in {line for r in second for line in r.prompt.splitlines()}
               for agent in load_workflow(folder).agents.values())  # fmt: skip


MEMO = "# Memo: ferries\n\n## Recommendation\nBuy.\n\n## Figures\n- $120M\n\n## Risks\n- Few.\n"


def _role(request: Seen) -> Say:
    if "You are the moderator" in request.prompt:
        return Say("**Buy.** All agree, and the figures say so.")
    if "You write for a board" in request.prompt:
        return Say(MEMO)
    return Say("## Position\nIt fits.\n\n## Reasoning\n" + "Because the figures of the brief say so. " * 5)


@pytest.mark.parametrize("folder", [WORKFLOWS / name for name in demos() if name != "brainstorm"], ids=lambda p: p.name)
def test_every_packaged_example_is_complete(folder: Path) -> None:
    workflow = load_workflow(folder)
    assert workflow.name == folder.name
    assert workflow.description
    assert read_answers((folder / "answers.yaml").read_text(encoding="utf-8"), "answers.yaml")
    assert folder.name in (folder / "README.md").read_text(encoding="utf-8")
    agents = yaml.safe_load((folder / "workflow.yaml").read_text(encoding="utf-8"))["agents"]
    recorded = {name: spec["recorded"] for name, spec in agents.items() if "recorded" in spec}
    used = {f"{name if given is True else given}.yaml" for name, given in recorded.items()} or {"team.yaml"}
    material = {"documents", "sources"}  # what a recording is given to work from
    assert used == {path.name for path in (folder / "recorded").iterdir()} - material
