"""Comments on lines of files at the command line: said, listed, written in an editor, shown before an approval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command, Done

PLAN = "# Plan\n\n1. Load the figures of 2023\n2. Compare them with the contracts\n\n>> an agent wrote this\n- Report\n"
TODOS = "- {id: load, text: Load the figures}\n- id: report\n  text: Write the report\n  after: [load]\n"
WORKFLOW = """\
name: planning
agents:
  planner:
    command: [sh, -c, "cat > {folder}/told; cp {folder}/next.md plan.md; cp {folder}/todos.yaml . ; cat {folder}/say"]
phases:
  - id: plan
    rounds: {{max: 9}}
    steps: [{{agents: [planner], writes: [plan.md, todos.yaml]}}]
    checkpoint:
      question: Shall it be done so?
      show_files: [plan.md]
      options:
        - {{label: Approve, then: continue}}
        - {{label: Request changes, then: again}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "planning.yaml").write_text(WORKFLOW.format(folder=tmp_path), encoding="utf-8")
    (tmp_path / "next.md").write_text(PLAN, encoding="utf-8")
    (tmp_path / "todos.yaml").write_text(TODOS, encoding="utf-8")
    (tmp_path / "say").write_text("Planned.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(reconvene: Command, folder: Path) -> str:
    done = reconvene("run", "planning.yaml", "--no-input")
    assert done.code == 3, done.err
    return "planning-1"


@pytest.fixture
def review(reconvene: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, run: str) -> Review:
    return Review(reconvene, folder, monkeypatch)


class Review:
    """`review` with an editor that is a few lines of shell: $1 is the sheet."""

    def __init__(self, reconvene: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._reconvene = reconvene
        self._folder = folder
        self._monkeypatch = monkeypatch

    def __call__(self, script: str, *words: str) -> Done:
        editor = self._folder / "editor.sh"
        editor.write_text(script, encoding="utf-8")
        self._monkeypatch.setenv("EDITOR", f"sh {editor}")
        return self._reconvene("review", "planning-1", *(words or ("plan.md",)))


def comments(reconvene: Command, *words: str) -> list[dict[str, object]]:
    rows = reconvene("comments", "planning-1", *words, "--json").object["comments"]
    assert isinstance(rows, list)
    return rows


def again(reconvene: Command, folder: Path, plan: str, answer: str = "Done.\n") -> Done:
    (folder / "next.md").write_text(plan, encoding="utf-8")
    (folder / "say").write_text(answer, encoding="utf-8")
    return reconvene("decide", "planning-1", "--option", "Request changes", "--latest")


# --- remark --on ---


def test_a_remark_on_lines_says_which_lines_they_are(reconvene: Command, run: str) -> None:
    done = reconvene("remark", run, "--on", "plan.md:3-4", "Which year?")
    assert done.code == 0, done.err
    assert "comment on plan.md:3-4: Which year?" in done.out
    assert "plan.md:3  1. Load the figures of 2023\n  plan.md:4  2. Compare them with the contracts" in done.out


def test_lines_can_be_named_by_their_words_and_a_to_do_by_its_id(reconvene: Command, run: str) -> None:
    assert "on plan.md:4" in reconvene("remark", run, "--on", 'plan.md:"with the contracts"', "Which ones?").out
    assert "on todos.yaml:2-4" in reconvene("remark", run, "--on", "todo:report", "How long?").out
    assert [(row["file"], row["first"], row["last"]) for row in comments(reconvene)] == [
        ("plan.md", 4, 4),
        ("todos.yaml", 2, 4),
    ]


@pytest.mark.parametrize(
    ("on", "said", "hint"),
    [
        ("plan.md:99", "plan.md has no line 99: it has 7 lines", "plan.md:1"),
        ("plan.md:4-3", "ends before it begins", "plan.md:12-14"),
        ("plan.md", "which lines of plan.md? it has 7", "todo:ID"),
        ("plan.md:no such words", "“no such words” does not stand in plan.md", "plan.md:1"),
        ("plam.md:3", "has no file 'plam.md'", "did you mean plan.md?"),
        ("todo:nothing", "todos.yaml has no to-do 'nothing'; there is: load, report", "reconvene files"),
        ("plan.md:2", "Line 2 of plan.md is empty", "with words in it"),
    ],
)
def test_lines_that_are_not_there_are_refused_with_what_there_is(
    reconvene: Command, run: str, on: str, said: str, hint: str
) -> None:
    done = reconvene("remark", run, "--on", on, "x")
    assert done.code == 64
    assert said in done.err
    assert hint in done.err
    assert comments(reconvene) == []


def test_a_number_of_a_line_that_somebody_changed_since_it_was_shown_is_not_guessed(
    reconvene: Command, folder: Path, run: str
) -> None:
    reconvene("show", run, "--by", "ann")
    (folder / "next.md").write_text("# New\n\n1. Quite another thing\n", encoding="utf-8")
    reconvene("decide", run, "--option", "Request changes", "--latest", "--by", "bo")
    refused = reconvene("remark", run, "--on", "plan.md:3", "Why?", "--by", "ann")
    assert refused.code == 64
    assert "plan.md was changed by planner since it was shown to you" in refused.err
    assert "“1. Load the figures of 2023” was there, “1. Quite another thing” is" in refused.err
    assert reconvene("remark", run, "--on", "plan.md:Quite another", "Why?", "--by", "ann").code == 0
    reconvene("show", run, "--by", "ann")
    assert reconvene("remark", run, "--on", "plan.md:3", "Why now?", "--by", "ann").code == 0


def test_what_the_person_changed_in_the_workspace_is_what_they_comment_on(
    reconvene: Command, folder: Path, run: str
) -> None:
    reconvene("show", run)
    (folder / ".reconvene" / "runs" / run / "plan.md").write_text("# Mine\n" + PLAN, encoding="utf-8")
    done = reconvene("remark", run, "--on", "plan.md:1", "as I said")
    assert done.code == 0, done.err
    assert "plan.md:1  # Mine" in done.out


# --- comments ---


def test_comments_are_listed_with_where_they_stand_and_what_became_of_them(
    reconvene: Command, folder: Path, run: str
) -> None:
    assert "nobody has commented on a file yet" in reconvene("comments", run).out
    reconvene("remark", run, "--on", "plan.md:3", "Which year?")
    reconvene("remark", run, "--on", "plan.md:4", "Not needed")
    changed = PLAN.replace("of 2023", "of 2024").replace("# Plan", "# Plan\n\nFirst words.")
    again(reconvene, folder, changed, "The year is 2024 [FB-001].\n\n[FB-002] declined: the bank wants it\n")
    shown = reconvene("comments", run).out
    assert "✓ FB-001 line 5, applied: Which year?" in shown
    assert "was: “1. Load the figures of 2023”\n      is: “1. Load the figures of 2024”" in shown
    assert "✗ FB-002 line 6, declined: Not needed" in shown
    assert "planner declines: the bank wants it" in shown
    assert "no comment is open" in reconvene("comments", run, "--open").out
    again(reconvene, folder, "# Nothing of it\n")
    counted = reconvene("comments", run, "plan.md", "--json").object
    assert (counted["applied"], counted["declined"], counted["outdated"]) == (1, 1, 2)
    assert reconvene("comments", run, "plam.md").code == 64


def test_open_comments_are_listed_wherever_a_checkpoint_is_shown(reconvene: Command, folder: Path, run: str) -> None:
    reconvene("remark", run, "--on", "plan.md:3", "Which year?")
    line = "FB-001 plan.md line 3, “1. Load the figures of 2023”: Which year?"
    stop = again(reconvene, folder, PLAN)
    assert f"comments that are still open:\n  {line}" in stop.out
    assert line in reconvene("show", run).out
    assert line in reconvene("decide", run).out
    listed = reconvene("decide", run, "--json").object["comments"]
    assert isinstance(listed, list)
    assert listed[0]["id"] == "FB-001"
    point = reconvene("show", run, "--json").object["checkpoint"]
    assert isinstance(point, dict)
    assert [row["status"] for row in point["comments"]] == ["open"]


def test_lines_are_those_of_the_file_as_it_lies_there_also_before_an_edit_is_on_record(
    reconvene: Command, folder: Path, run: str
) -> None:
    reconvene("remark", run, "--on", "plan.md:3", "Which year?")
    reconvene("remark", run, "--on", "plan.md:4", "Why?")
    file = folder / ".reconvene" / "runs" / run / "plan.md"
    file.write_text("One.\nTwo.\nThree.\n" + PLAN.replace("2. Compare them with the contracts\n", ""), encoding="utf-8")
    events = reconvene("log", run, "--json").out
    note = "as it is on disk, with changes that your next review or decision takes"
    shown = reconvene("comments", run).out
    assert f"plan.md ({note})" in shown
    assert "FB-001 line 6, open: Which year?" in shown
    assert "FB-002 outdated, was line 4, open: Why?" in shown
    for looked in (reconvene("show", run).out, reconvene("decide", run).out):
        assert "FB-001 plan.md line 6, " in looked
        assert f"(plan.md: {note})" in looked
    assert [row["unrecorded"] for row in comments(reconvene)] == [True, True]
    assert reconvene("log", run, "--json").out == events, "a look records nothing"
    reconvene("remark", run, "--on", "plan.md:1", "This takes it")
    assert "unrecorded" not in comments(reconvene)[0]
    assert "FB-001 line 6, open: Which year?" in reconvene("comments", run).out
    assert note not in reconvene("comments", run).out


# --- review ---


def test_lines_written_in_the_editor_become_comments_and_changes_an_edit(reconvene: Command, review: Review) -> None:
    done = review('sed -i "s/^- Report/- Long report/; /Compare them/a >> Which ones?" "$1"', "plan.md", "--yes")
    assert done.code == 0, done.err
    assert "plan.md is changed as you wrote it (+1 −1 lines)" in done.out
    assert "FB-002 comment on plan.md:4: Which ones?" in done.out
    assert reconvene("files", "planning-1", "plan.md").out.endswith(">> an agent wrote this\n- Long report\n")
    assert [row["text"] for row in comments(reconvene)] == ["Which ones?"], "what the agent wrote is no comment"


def test_the_file_that_the_checkpoint_shows_is_meant_where_none_is_named(review: Review) -> None:
    done = review('echo ">> Is that all?" >> "$1"', "--json")
    assert done.object["file"] == "plan.md"
    assert done.object["edited"] is False


def test_changes_of_the_text_are_kept_and_named_where_nobody_can_be_asked(
    reconvene: Command, review: Review, folder: Path
) -> None:
    done = review('sed -i "s/Load/Take/; /Compare them/a >> Which ones?" "$1"')
    assert done.code == 1
    (kept,) = (folder / ".reconvene" / "unsent" / "planning-1").iterdir()
    assert f"your changes of plan.md were not taken; what you wrote is kept in {kept}" in done.out
    assert "--yes takes changes of the text without asking" in done.err
    assert "1. Take the figures" in kept.read_text(encoding="utf-8")
    assert reconvene("files", "planning-1", "plan.md").out == PLAN
    assert [row["lines"] for row in comments(reconvene)] == ["plan.md:4"], "the comment is taken all the same"


def test_a_comment_on_a_line_that_was_not_taken_is_recorded_without_it(reconvene: Command, review: Review) -> None:
    done = review('printf "A line of mine\\n>> About it\\n" >> "$1"')
    assert "the line that “About it” is about is not in plan.md: recorded without it" in done.out
    assert comments(reconvene) == []
    assert "About it" in reconvene("show", "planning-1").out


def test_an_editor_that_fails_records_nothing_and_loses_nothing(
    reconvene: Command, review: Review, folder: Path
) -> None:
    done = review('echo ">> Is that all?" >> "$1"; exit 3')
    assert done.code == 1
    assert "the editor ended with code 3: nothing was recorded; what you wrote is kept in" in done.out
    (kept,) = (folder / ".reconvene" / "unsent" / "planning-1").iterdir()
    assert kept.read_text(encoding="utf-8").endswith(">> Is that all?\n")
    assert comments(reconvene) == []


def test_a_sheet_that_nobody_changed_records_nothing(review: Review) -> None:
    assert review(":").out == "nothing was written\n"
    assert review("exit 1").out == "nothing was written\n"


def test_a_text_that_is_no_text_any_more_is_kept_and_not_taken(reconvene: Command, review: Review) -> None:
    done = review('printf "\\377\\376" >> "$1"', "plan.md", "--yes")
    assert "not UTF-8: nothing was recorded; what you wrote is kept in" in done.out
    assert reconvene("files", "planning-1", "plan.md").out == PLAN


def test_a_file_that_was_changed_meanwhile_stays_and_both_texts_are_there(
    reconvene: Command, review: Review, folder: Path
) -> None:
    workspace = folder / ".reconvene" / "runs" / "planning-1" / "plan.md"
    done = review(
        f'echo "of somebody else" >> {workspace}; sed -i "s/Load/Take/; /Compare them/a >> Which ones?" "$1"',
        "plan.md",
        "--yes",
    )
    assert done.code == 1
    assert "your changes of plan.md were not taken: plan.md was changed meanwhile." in done.out
    (kept,) = (folder / ".reconvene" / "unsent" / "planning-1").iterdir()
    assert "1. Take the figures" in kept.read_text(encoding="utf-8")
    assert reconvene("files", "planning-1", "plan.md").out == f"{PLAN}of somebody else\n"
    assert [row["first"] for row in comments(reconvene)] == [4]


def test_what_is_kept_of_a_run_goes_with_it(reconvene: Command, review: Review, folder: Path) -> None:
    review('echo ">> Is that all?" >> "$1"; exit 3')
    reconvene("abort", "planning-1")
    assert reconvene("delete", "planning-1", "--yes").code == 0
    assert not (folder / ".reconvene" / "unsent" / "planning-1").exists()


def test_without_an_editor_the_error_says_how_to_name_one(reconvene: Command, run: str) -> None:
    done = reconvene("review", run, "plan.md")
    assert done.code == 64
    assert "EDITOR=nano reconvene review planning-1 plan.md" in done.err


def test_an_ended_run_is_not_reviewed(reconvene: Command, review: Review) -> None:
    reconvene("decide", "planning-1", "--option", "Approve", "--latest")
    assert "reconvene reopen planning-1" in review(":").err
