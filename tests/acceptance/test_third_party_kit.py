"""A kit of somebody else, installed into a folder of its own: found by name, used by a run, missed where it is gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.installing import install

from commands import Done
from forks import Forks

PACKAGE = Path(__file__).resolve().parents[1] / "fixtures" / "tally-kit"
RUN = "counting-1"

Typed = Callable[..., Done]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("site")
    install(PACKAGE, target)
    return str(target)


@pytest.fixture
def with_kit(tmp_path: Path, installed: str, forks: Forks) -> Typed:
    return lambda *words: forks.command(*words, cwd=tmp_path, PYTHONPATH=installed)


@pytest.fixture
def without_kit(tmp_path: Path, forks: Forks) -> Typed:
    return lambda *words: forks.command(*words, cwd=tmp_path, PYTHONPATH=None)


def log(typed: Typed) -> list[dict[str, object]]:
    return [json.loads(line) for line in typed("log", RUN, "--json").out.splitlines()]


def test_a_kit_brings_a_tracker_a_gate_a_word_a_field_a_view_and_a_workflow(with_kit: Typed) -> None:
    assert "is a valid workflow" in with_kit("check", "tally/counting").out
    started = with_kit("run", "tally/counting", "--no-input", "--json")
    assert started.code == 3
    assert started.object["checkpoint"]["prompt"] == "14 words after round 1, stop 0"  # type: ignore[index]
    again = with_kit("decide", RUN, "--option", "Again", "--json")
    assert again.object["checkpoint"]["prompt"] == "28 words after round 2, stop 1"  # type: ignore[index]

    ended = [event for event in log(with_kit) if event["type"] == "AttemptEnded"]
    sent_back = [(event["task"], event["why"]) for event in ended if event["verdict"] == "rejected"]
    assert sent_back == [(f"R{round}/0/ann", "NO_TOTAL: no line says “Sum: N”.") for round in (1, 2)]
    shown = {
        task["agent"]: [read["name"] for read in task["own"] if read.get("ref")]
        for event in log(with_kit)
        if event["type"] == "StepStarted" and event["serial"] == 2
        for task in event["tasks"]  # type: ignore[union-attr]
    }
    assert shown == {"ann": ["bob.full"], "bob": ["ann.full"], "cem": ["bob.full"]}

    assert with_kit("view", RUN).out.splitlines() == [
        "VIEW   KIT    WHAT IT SHOWS",
        "words  tally  the words of each round",
    ]
    assert with_kit("view", RUN, "words").out.splitlines() == [
        "ROUND  WORDS  ENDED",
        "1      14     no",
        "2      14     no",
    ]
    rows = [{"round": round, "words": 14, "ended": False} for round in (1, 2)]
    assert with_kit("view", RUN, "words", "--json").object == {
        "run": RUN, "kit": "tally", "view": "words", "rows": rows,
    }  # fmt: skip
    missed = with_kit("view", RUN, "word")
    assert missed.code == 64
    assert "Did you mean words?" in missed.err


@pytest.mark.torture
def test_a_run_without_its_kit_is_shown_and_waits_until_the_kit_is_back(
    with_kit: Typed, without_kit: Typed, tmp_path: Path
) -> None:
    assert with_kit("run", "tally/counting", "--no-input").code == 3
    before = log(with_kit)
    for words in (["runs"], ["inbox"], ["show", RUN], ["files", RUN], ["rounds", RUN], ["ledger", RUN], ["stats", RUN]):
        done = without_kit(*words)
        assert done.code == 0, done.err
        assert not done.err
    assert "14 words after round 1" in without_kit("show", RUN).out
    assert log(without_kit) == before
    listed = without_kit("view", RUN)
    assert listed.code == 0
    assert "The kit 'tally' is not installed." in listed.err

    note = tmp_path / ".reconvene" / "runs" / RUN / "note.md"
    note.write_text("mine\n", encoding="utf-8")
    refused = [
        without_kit("decide", RUN, "--option", "Done"),
        without_kit("resume", RUN),
        without_kit("remark", RUN, "comment: shorter"),
        without_kit("rollback", RUN),
    ]
    for done in refused:
        assert done.code == 64
        assert "This run needs the kit 'tally', which is not installed here." in done.err
        assert "Install the package" in done.err
    assert log(without_kit) == before
    assert note.read_text(encoding="utf-8") == "mine\n"

    went_on = with_kit("decide", RUN, "--option", "Done", "--json")
    assert (went_on.code, went_on.object["status"]) == (0, "completed")
    assert "Edited note.md" in with_kit("show", RUN).out


def test_a_run_whose_kit_is_gone_can_be_ended(with_kit: Typed, without_kit: Typed) -> None:
    assert with_kit("run", "tally/counting", "--no-input").code == 3
    assert without_kit("abort", RUN).code == 2
    assert without_kit("show", RUN).code == 0


def test_a_workflow_is_refused_where_its_kit_is_missing_and_a_misspelt_name_is_found(
    with_kit: Typed, without_kit: Typed, tmp_path: Path
) -> None:
    text = (PACKAGE / "src" / "tally_kit" / "workflows" / "counting" / "workflow.yaml").read_text(encoding="utf-8")
    (tmp_path / "same.yaml").write_text(text, encoding="utf-8")
    missing = without_kit("check", "same.yaml")
    assert missing.code == 64
    assert "same.yaml:3: The kit 'tally' is not installed." in missing.err
    assert "gaps, planning, reading" in missing.err
    unknown = without_kit("run", "tally/counting")
    assert unknown.code == 64
    assert "The kit 'tally' is not installed." in unknown.err
    wrong = {
        "kit.tally.checkpoints": ("kit.tally.checkpoint", "did you mean 'kit.tally.checkpoints'?"),
        "{{ kit.tally": ("{{ kit.taly", "did you mean 'kit.tally'?"),
        "longest.full": ("longst.full", "did you mean 'longest.full'?"),
        "tally.total,": ("tally.totl,", "Its gates: tally.total."),
        "tally.total <": ("tally.totall <", "did you mean 'context.tally.total'?"),
        "kits: [tally]": ("kits: [taly]", "gaps, planning, reading, tally"),
    }
    for right, (misspelt, hint) in wrong.items():
        (tmp_path / "wrong.yaml").write_text(text.replace(right, misspelt), encoding="utf-8")
        refused = with_kit("check", "wrong.yaml")
        assert refused.code == 64, misspelt
        assert hint in refused.err


def test_a_kit_that_cannot_be_loaded_says_so(tmp_path: Path, installed: str, forks: Forks) -> None:
    broken = tmp_path / "broken"
    install(PACKAGE, broken)
    (broken / "tally_kit" / "__init__.py").write_text("raise ImportError('half a kit')", encoding="utf-8")
    assert forks.command("run", "tally/counting", "--no-input", cwd=tmp_path, PYTHONPATH=installed).code == 3
    shown = forks.command("show", RUN, cwd=tmp_path, PYTHONPATH=str(broken))
    assert (shown.code, shown.err) == (0, "")
    refused = forks.command("decide", RUN, "--option", "Done", cwd=tmp_path, PYTHONPATH=str(broken))
    assert refused.code == 64
    assert "The kit 'tally' is broken: tally_kit:KIT cannot be loaded (ImportError: half a kit)." in refused.err
