"""Brainstorm from the plan on: batches in order, every reviewer on every task, send-backs that end, a branch."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconvene.ports import Assignment

from .brainstorming import Talk, batches, brainstormer, plan, review, triage

Sit = Callable[..., Talk]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    (folder / "notes.py").write_text("TEXT = ''\n")
    (folder / "Makefile").write_text("test:\n\tpython3 -m pytest -q\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Notes")
    return folder


@pytest.fixture
def talk(tmp_path: Path, project: Path) -> Iterator[Sit]:
    talks: list[Talk] = []

    def start(settings: dict[str, object] | None = None, **replies: object) -> Talk:
        chosen = {"coder": "", "can_execute": True, **(settings or {})}
        replies.setdefault("coder", coder)
        one = Talk(tmp_path / f"home-{len(talks)}", {"project": str(project)}, chosen, **replies)
        talks.append(one)
        return one

    yield start
    for one in talks:
        one.close()
        assert one.state.record.errors == ()


def task_of(work: Assignment) -> str:
    found = re.search(r"The task: “.*?” \(`(.*?)`\)", work.prompt)
    assert found, work.prompt
    return found[1]


def coder(work: Assignment) -> object:
    """Writes the file of its task, another text each time."""
    return {"text": "Done.", "files": {f"{task_of(work)}.py": f"DONE = {work.task!r}\n"}}


def two_batches(work: Assignment) -> object:
    if work.phase == "triage":
        return triage("straightforward", batches=batches("store", "screen"))
    return brainstormer(work)


def planned(work: Assignment) -> object:
    return plan("journal", "reader") if "“Store”" in work.prompt else plan("window")


def test_batches_are_worked_off_in_order_with_a_reassessment_between(talk: Sit, project: Path):
    one = talk(brainstormer=two_batches, planner=planned)
    one.decide("Skip to planning")
    assert "The plan for “Store” (2 tasks" in one.open.prompt.replace("**", "")
    assert "**Store** (`store`) [0 of 2 tasks done]" in one.file("batches.md")
    assert "**Screen** (`screen`) [open]" in one.file("batches.md")
    one.decide("Build it")
    assert one.phase == "reassess"
    assert "Batch 1, Store: done" in one.open.prompt
    assert "2. **Screen**" in one.open.prompt
    assert one.offered == ["Continue to the next batch", "Adjust scope", "Stop here"]
    assert "**Store** (`store`) [done]" in one.file("batches.md")
    assert one.state.record.calls["scout"] == 1
    one.decide("Continue to the next batch")
    assert one.state.record.calls["scout"] == 2
    assert "The plan for “Screen” (1 task;" in one.open.prompt.replace("**", "")
    one.decide("Build it")
    assert one.phase == "finish"
    assert "in 3 commits" in one.open.prompt
    assert "tried, without conflicts" in one.open.prompt
    one.decide("Finish")
    assert one.state.status == "completed"
    assert [task_of(work) for work in one.agents.of("coder")] == ["journal", "reader", "window"]
    assert "# Plan: Store" in one.file("plans/1-store.md")
    assert "# Plan: Screen" in one.file("plans/2-screen.md")
    assert "# Plan: Screen" in one.file("plan.md")
    branch = f"reconvene/{one.run}"
    assert git(project, "log", "--format=%s", f"main..{branch}").splitlines() == [
        "Do window",
        "Do reader",
        "Do journal",
    ]
    assert f"merge {branch}" in one.file("summary.md")


def test_no_batches_means_one(talk: Sit):
    one = talk().decide("Skip to planning")
    assert "The plan for “The whole change”" in one.open.prompt.replace("**", "")
    one.decide("Build it").decide("Finish")
    assert one.state.status == "completed"
    assert one.agents.of("brainstormer")[-1].phase == "triage"


def test_ones_own_batches_are_taken(talk: Sit):
    one = talk(brainstormer=two_batches)
    one.decide("Agree, with other batches", batches="First: the store; Second: the window; Third")
    one.decide("Approve")
    assert "The plan for “First”" in one.open.prompt.replace("**", "")
    assert "**Third** (`b3`) [open]" in one.file("batches.md")
    one.decide("Build it")
    assert "Batch 1, First: done" in one.open.prompt


def test_adjusting_the_scope_changes_what_remains(talk: Sit):
    def reassessed(work: Assignment) -> object:
        if work.phase != "reassess":
            return two_batches(work)
        if "Never mind the screen" in work.prompt:
            done, rest = batches("store", "sound")
            return {"summary": "Sound, then.", "reply": "Sound instead of a screen.", "batches": [done, rest]}
        return {"summary": "On.", "batches": batches("store", "screen")}

    one = talk(brainstormer=reassessed).decide("Skip to planning").decide("Build it")
    one.decide("Adjust scope", "Never mind the screen, add sound")
    assert "Sound instead of a screen." in one.open.prompt
    assert "2. **Sound**" in one.open.prompt
    one.decide("Continue to the next batch")
    assert "The plan for “Sound”" in one.open.prompt.replace("**", "")


def test_what_is_done_cannot_be_dropped_from_the_batches(talk: Sit):
    answers = [
        {"summary": "On.", "batches": batches("screen")},
        {"summary": "On.", "batches": batches("store", "screen")},
    ]

    def reassessed(work: Assignment) -> object:
        return answers.pop(0) if work.phase == "reassess" else two_batches(work)

    one = talk(brainstormer=reassessed).decide("Skip to planning").decide("Build it")
    assert "The batches that are done cannot change" in one.asked("brainstormer", "reassess")[1]
    assert "2. **Screen**" in one.open.prompt


def test_stopping_between_batches_ends_the_run_with_what_is_done(talk: Sit):
    one = talk(brainstormer=two_batches, planner=planned).decide("Skip to planning").decide("Build it")
    one.decide("Stop here").decide("Finish")
    assert one.state.status == "completed"
    assert "**Screen** (`screen`) [open]" in one.file("summary.md")
    assert "You stopped between batches" in one.file("summary.md")


@pytest.mark.parametrize("way", ["straightforward", "complex", "planning"])
def test_all_reviewers_look_at_every_task_whatever_the_level(talk: Sit, way: str):
    def any_level(work: Assignment) -> object:
        if work.phase == "triage":
            return triage("exploration", suggestedSkips=["questions", "approaches", "design"])
        return brainstormer(work)

    one = talk(brainstormer=any_level)
    if way == "planning":
        one.decide("Skip to planning")
    else:
        one.decide(f"Override — {way}")
        while one.phase != "plan_review":
            one.decide(next(label for label in ("Approve", "Choose", "Done") if label in one.offered))
    one.decide("Build it").decide("Finish")
    assert one.state.status == "completed"
    for name in ("specification", "quality"):
        assert [task_of(work) for work in one.agents.of(name)] == ["one", "two"]
        assert all("+DONE" in work.prompt for work in one.agents.of(name))  # the change itself, not the words about it


def test_a_task_that_is_sent_back_is_done_again_with_the_review(talk: Sit):
    verdicts = [review("REVISE", "The journal is never closed"), review()]
    one = talk(planner=lambda work: plan("journal"), quality=lambda work: verdicts.pop(0))
    one.decide("Skip to planning").decide("Build it")
    assert one.phase == "finish"
    first, second = one.agents.of("coder")
    assert "The journal is never closed" not in first.prompt
    assert "The journal is never closed" in second.prompt
    assert len(one.agents.of("specification")) == 2  # everybody looks again


def test_after_two_send_backs_the_person_is_asked(talk: Sit):
    one = talk(planner=lambda work: plan("journal"), quality=lambda work: review("REVISE", "Still open"))
    one.decide("Skip to planning").decide("Build it")
    assert one.phase == "task_review"
    assert len(one.agents.of("coder")) == 3
    assert "Still open" in one.open.prompt
    assert one.offered == ["Have it done again", "Take it as it is", "Stop here"]
    one.decide("Have it done again", "Close it in a finally")
    assert "Close it in a finally" in one.agents.of("coder")[3].prompt
    one.decide("Take it as it is").decide("Finish")
    assert (one.state.status, one.state.outcome) == ("completed", "not all done")
    assert "sent back by quality, taken as it is; specification approves; quality asks" in one.file("summary.md")
    assert "- [ ] Do journal" in one.file("summary.md")


def test_a_reviewer_that_gives_nothing_is_asked_again_and_then_the_person_is(talk: Sit):
    one = talk(planner=lambda work: plan("journal"), quality="I like it.")
    one.decide("Skip to planning").decide("Build it")
    assert one.phase == "task_review"
    assert "**quality**: no usable review came" in one.open.prompt
    assert len(one.agents.of("coder")) == 1  # that is not the coder's fault


def test_a_plan_is_sent_back_at_most_twice(talk: Sit):
    one = talk(plan_reviewer=lambda work: review("REVISE", "Too coarse"))
    one.decide("Skip to planning")
    assert len(one.agents.of("planner")) == 3
    assert "Too coarse" in one.agents.of("planner")[1].prompt
    assert "The review still asks for changes" in one.open.prompt
    one.decide("Discuss the plan", "It is fine-grained enough")
    assert "It is fine-grained enough" in one.agents.of("planner")[3].prompt
    one.decide("Build it").decide("Finish")
    assert one.state.status == "completed"


def test_a_plan_needs_files_tests_and_acceptance(talk: Sit):
    thin = plan("journal")
    thin["tasks"][0] |= {"tests": []}  # type: ignore[index]
    plans = [thin, plan("journal")]
    one = talk(planner=lambda work: plans.pop(0)).decide("Skip to planning")
    assert "tests" in one.agents.of("planner")[1].prompt.rpartition("last attempt")[2]
    assert one.phase == "plan_review"


def test_a_coder_that_changes_nothing_is_asked_again(talk: Sit):
    tries: list[object] = ["All done!", coder]

    def lazy(work: Assignment) -> object:
        given = tries.pop(0)
        return given(work) if callable(given) else given

    one = talk(planner=lambda work: plan("journal"), coder=lazy).decide("Skip to planning").decide("Build it")
    assert "Nothing has changed in the project" in one.agents.of("coder")[1].prompt
    assert one.phase == "finish"


def test_with_nobody_to_build_the_run_ends_with_the_reviewed_plan_and_says_so(talk: Sit, project: Path):
    one = talk({"can_execute": False}).decide("Skip to planning")
    assert (one.state.status, one.state.outcome) == ("completed", "planned")
    assert one.agents.of("plan_reviewer")
    assert not one.agents.of("coder")
    assert "nothing was built" in one.file("summary.md")
    assert "RECONVENE_CODER" in one.file("summary.md")
    assert git(project, "branch", "--list", "reconvene/*") == ""


@pytest.mark.parametrize("reply", [lambda work: review("REVISE", "Too coarse"), "It is fine."])
def test_with_nobody_to_build_a_plan_without_an_approving_review_is_put_to_the_person(talk: Sit, reply: object):
    one = talk({"can_execute": False}, plan_reviewer=reply).decide("Skip to planning")
    if one.state.world.open and one.state.world.open.attention:
        one.decide("Go on without it")
    assert "Nothing here can build it" in one.open.prompt
    assert one.offered == ["Discuss the plan", "Stop here, with the plan"]
    one.decide("Stop here, with the plan")
    assert "reviewed" not in one.file("summary.md")


def test_a_person_may_stop_with_the_plan(talk: Sit):
    one = talk().decide("Skip to planning").decide("Stop here, with the plan")
    assert (one.state.status, one.state.outcome) == ("completed", "planned")
    assert "You stopped with the plan" in one.file("summary.md")
