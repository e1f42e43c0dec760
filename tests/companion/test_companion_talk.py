"""One conversation, on record: it changes nothing that is decided on, reaches no agent, and loses nothing."""

from __future__ import annotations

import json
import threading

from tests.companion.real_job import Desk

from reconvene.app.views.companion_talk import Said
from reconvene.companion.kept_talk import OfRun
from reconvene.core.facts import events as e
from reconvene.testing.openai_server import Calls, OpenAIServer, Say
from reconvene.wiring import open_engine


def said(jobs: Desk, run: str) -> list[e.CompanionSaid]:
    return [event for _, event in jobs.events(run) if isinstance(event, e.CompanionSaid)]


def test_talk_changes_neither_the_checkpoint_nor_what_is_spent_nor_what_agents_are_shown(jobs: Desk) -> None:
    def stands() -> tuple[object, object, object]:
        found = json.loads(jobs.type("show", jobs.planned, "--json").out)
        return found["checkpoint"]["digest"], found["usage"]["cost"], found.get("talk", None)

    before, entries = stands(), len(said(jobs, jobs.planned))
    jobs.ask(jobs.planned, "What does phase 1 cover, my dear companion?")
    assert stands() == before
    assert len(said(jobs, jobs.planned)) == entries + 2
    prompts = [event for _, event in jobs.events(jobs.planned) if isinstance(event, e.StepStarted)]
    assert not [one for one in prompts if "dear companion" in str(one)]
    assert jobs.type("verify", jobs.planned).code == 0


def test_it_goes_on_after_the_end_of_a_run(jobs: Desk) -> None:
    assert jobs.ask(jobs.failed, "What phase is it on?")["stage"] == "post_mortem"
    assert [one.role for one in said(jobs, jobs.failed)[-2:]] == ["person", "companion"]
    assert said(jobs, jobs.failed)[-1].answers == said(jobs, jobs.failed)[-2].number


def test_several_who_talk_at_once_lose_nothing(jobs: Desk) -> None:
    before = len(said(jobs, jobs.planned))

    def talk(name: str) -> None:
        engine = open_engine(jobs.folder / "home")
        try:
            for number in range(5):
                OfRun(engine, jobs.planned).add(Said("person", f"{name} {number}", by=name))
        finally:
            engine.log.close()

    threads = [threading.Thread(target=talk, args=(name,)) for name in ("ann", "bob", "cid")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    found = said(jobs, jobs.planned)[before:]
    assert sorted((one.by, one.number) for one in found) == sorted({(one.by, one.number) for one in found})
    assert [one.number for one in found] == list(range(before + 1, before + 16))
    assert {one.by for one in found} == {"ann", "bob", "cid"}


def test_a_secret_that_somebody_types_is_not_kept(jobs: Desk) -> None:
    secret = "tr0ub4dor-and-more"
    answer = jobs.ask(jobs.planned, f"Is {secret} in the plan?", SOME_API_KEY=secret)
    assert secret not in json.dumps(answer)
    log = jobs.type("log", jobs.planned, "--json").out
    assert secret not in log


def test_an_agent_of_a_run_cannot_use_it(jobs: Desk) -> None:
    for words in (("ask", jobs.planned, "What phase is it on?"), ("chat", jobs.planned)):
        refused = jobs.type(*words, RECONVENE_TASK="R1/0/planner")
        assert refused.code == 64
        assert "is for people" in refused.err


def test_the_conversation_is_exported_with_its_run(jobs: Desk) -> None:
    jobs.ask(jobs.planned, "Who keeps this sentence about ostriches?")
    file = jobs.folder / "run.reconvene"
    assert jobs.type("export", jobs.planned, str(file)).code == 0
    other = {"RECONVENE_HOME": str(jobs.folder / "elsewhere"), "RECONVENE_BY": "ann"}
    assert jobs.type("import", str(file), **other).code == 0
    taken = [json.loads(line) for line in jobs.type("log", jobs.planned, "--json", **other).out.splitlines()]
    assert [one for one in taken if one["type"] == "CompanionSaid"]
    file.unlink()


def test_a_chat_from_a_pipe_sends_a_draft_applies_an_edit_and_opens_what_is_cited(jobs: Desk) -> None:
    lines = "How's it going?\n/open 1\nPlease name the year in plan.md:3-4\ns\n/tools\n/tier debug on\n/quit\nnever\n"
    done = jobs.type("chat", jobs.planned, stdin=lines)
    assert done.code == 0, done.err
    assert "waits for a person" in done.out
    assert "checkpoint C1 opens in strategy: Shall it be done so?" in done.out  # /open 1: the event at which it stands
    assert "sent as your remark FB-" in done.out
    assert "tools of: basic" in done.out
    assert "debug" in done.out
    assert "> never" not in done.out
    remarks = [event for _, event in jobs.events(jobs.planned) if isinstance(event, e.RemarkAdded)]
    assert remarks[-1].text == "Please name the year in plan.md:3-4"
    assert remarks[-1].lines == "plan.md:3-4"
    assert remarks[-1].anchor is not None  # it follows these lines from now on
    assert (remarks[-1].by, remarks[-1].door) == ("ann", "terminal")


def test_a_proposed_edit_is_shown_as_a_difference_and_applied_by_the_person(jobs: Desk) -> None:
    edit = json.dumps({"path": "todos.yaml", "old": "Load the figures", "new": "Load all figures", "why": "Clearer."})
    with OpenAIServer(Calls((("propose_edit", edit),)), Say("As you like.")) as server:
        lines = "Make the first to-do clearer\n/apply 1\n/apply 1\n"
        done = jobs.type("chat", jobs.done, "--model", "openai:gpt-4o-mini", stdin=lines, OPENAI_BASE_URL=server.url)
    assert "-- {id: load, text: Load the figures}" in done.out.replace("  ", "")
    assert "+- {id: load, text: Load all figures}" in done.out.replace("  ", "")
    assert "todos.yaml is changed, as your edit" in done.out
    edits = [event for _, event in jobs.events(jobs.done) if isinstance(event, e.FilesEdited)]
    assert [one.by for one in edits if one.files[0].path == "todos.yaml"] == ["ann"]
    folder = json.loads(jobs.type("show", jobs.done, "--json").out)["workspace"]
    with open(f"{folder}/todos.yaml", encoding="utf-8") as file:
        assert "Load all figures" in file.read()


def test_what_is_kept_for_later_keeps_its_number(jobs: Desk) -> None:
    old = "Take the figures from the database"
    edits = [json.dumps({"path": "plan.md", "old": old, "new": f"{old}, {new}"}) for new in ("first", "second")]
    replies = [reply for edit in edits for reply in (Calls((("propose_edit", edit),)), Say("So."))]
    before = len(proposed(jobs))
    with OpenAIServer(*replies) as server:
        lines = f"One\nTwo\n/apply {before + 1}\n"
        done = jobs.type("chat", jobs.planned, "--model", "openai:gpt-4o-mini", stdin=lines, OPENAI_BASE_URL=server.url)
    assert (f"edit {before + 1}\n" in done.out, f"edit {before + 2}\n" in done.out) == (True, True)
    assert "plan.md is changed, as your edit" in done.out, done.err
    folder = json.loads(jobs.type("show", jobs.planned, "--json").out)["workspace"]
    with open(f"{folder}/plan.md", encoding="utf-8") as file:
        assert f"{old}, first" in file.read()


def proposed(jobs: Desk) -> list[object]:
    said = [event for _, event in jobs.events(jobs.planned) if isinstance(event, e.CompanionSaid)]
    return [one for event in said for one in event.proposals]


def test_an_edit_of_a_file_that_changed_meanwhile_is_refused(jobs: Desk) -> None:
    folder = json.loads(jobs.type("show", jobs.done, "--json").out)["workspace"]
    edit = json.dumps({"path": "figures.md", "old": "40 and 60", "new": "100"})
    with OpenAIServer(Calls((("propose_edit", edit),)), Say("So.")) as server:
        jobs.type("ask", jobs.done, "Sum up", "--model", "openai:gpt-4o-mini", OPENAI_BASE_URL=server.url)
    with open(f"{folder}/figures.md", "a", encoding="utf-8") as file:
        file.write("And more.\n")
    done = jobs.type("chat", jobs.done, stdin="/apply\n")
    assert done.code == 1
    assert "has changed since this edit was proposed" in done.err
    with open(f"{folder}/figures.md", encoding="utf-8") as file:
        assert file.read().endswith("40 and 60.\nAnd more.\n")
