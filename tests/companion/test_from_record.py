"""Every question of the design, answered without a model from real runs of the job workflow; figures as in the log."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests.companion.real_job import Desk

from reconvene.app import citing
from reconvene.companion import from_record
from reconvene.companion.tool_scope import Scope
from reconvene.core.facts import events as e
from reconvene.wiring import open_engine


def facts(answer: dict[str, object]) -> dict[str, object]:
    found = answer["facts"]
    assert isinstance(found, dict)
    return found


def cites(answer: dict[str, object]) -> list[str]:
    """All of which are there."""
    found = answer["cites"]
    assert isinstance(found, list)
    assert all(one["found"] for one in found), found
    return [one["cite"] for one in found]


def event_of(jobs: Desk, run: str, cite: str) -> e.AnyEvent:
    return dict(jobs.events(run))[int(cite.removeprefix("event "))]


def test_what_a_phase_of_the_plan_covers(jobs: Desk) -> None:
    answer = jobs.ask(jobs.planned, "What does phase 2 cover?")
    assert "Compare the sums with the contracts" in str(answer["text"])
    assert cites(answer)[0] == "plan.md:14-16"
    assert str(answer["text"]).startswith("From the record (what a phase covers):")


def test_what_the_plan_calls_a_phase_stands_before_what_the_run_counts(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "What does phase 1 cover?")
    assert cites(answer)[:2] == ["plan.md:10-12", "todos/phase_01.yaml:1-11"]
    assert "The run counts its own lists and phases apart from the plan's:" in str(answer["text"])


def test_a_phase_that_the_plan_numbers_in_a_list_is_found_below_the_heading_for_phases(scope: Scope) -> None:
    told = from_record.answer(scope, "What does phase 2 cover?")[1]
    assert told.facts == {"phase": 2, "parts": ["plan.md:19-20"]}
    assert "2. The page. [plan.md:19-20]\n  One." in told.text


def test_what_changed_in_a_graph_is_told_from_the_recorded_calls(scope: Scope) -> None:
    for question in ("What changed in the graph?", "Show the graph changes", "Was wurde im Graphen geändert?"):
        told = from_record.answer(scope, question)[1]
        assert "1 change of graphs, and 1 that did not come about:" in told.text
        assert (
            "worker in birds, for 'load', done: CREATE (:Bird {name: 'heron'}) (nodes created: 2) [event" in told.text
        )
        assert "failed: MATCH (n:Broken) DELETE n (Parser exception: no such table Broken)" in told.text
        changed = [seq for seq, event in scope.engine.log.read(scope.run) if _writes_to_a_graph(event)]
        assert told.facts == {"graph_changes": changed}


def _writes_to_a_graph(event: e.AnyEvent) -> bool:
    return isinstance(event, e.CallEnded) and event.tool == "change_graph"


def test_a_run_without_a_graph_says_so_and_tells_of_its_files(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "What changed in the graph?")
    assert "The run has no graph. Of its files:" in str(answer["text"])


def test_without_a_heading_for_findings_the_report_comes_before_data(scope: Scope) -> None:
    told = from_record.answer(scope, "Show me the key findings")[1].text
    assert 0 < told.index("[report.md:1]") < told.index("[data/long.txt:1]")


def test_why_it_is_done_this_way(jobs: Desk) -> None:
    answer = jobs.ask(jobs.planned, "Why did you choose this approach?")
    assert "the contracts are older" in str(answer["text"])
    assert cites(answer)[0] == "plan.md:3-6"


def test_what_is_no_question_becomes_a_draft_in_the_persons_own_words(jobs: Desk) -> None:
    words = "I think we should split the analysis into two phases"
    before = [event for _, event in jobs.events(jobs.planned) if isinstance(event, e.RemarkAdded)]
    answer = jobs.ask(jobs.planned, words)
    assert answer["proposals"] == [{"kind": "remark", "text": words}]
    after = [event for _, event in jobs.events(jobs.planned) if isinstance(event, e.RemarkAdded)]
    assert after == before  # a draft is sent by the person alone


def test_what_was_produced(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "Summarize what was produced")
    assert facts(answer)["files"] == ["figures.md", "report.md"]
    assert "The figures were summed up" in str(answer["text"])
    assert "The report is written." in str(answer["text"])
    assert "report.md:1" in cites(answer)


def test_the_key_findings(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "Show me the key findings")
    assert "The total is 100 euros." in str(answer["text"])
    assert cites(answer) == ["report.md:5-8"]


def test_what_was_missed_is_found_in_the_document_and_drafted(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "The analysis missed section 3 of the input document")
    assert "contracts.md line 11" in cites(answer)
    drafts = answer["proposals"]
    assert isinstance(drafts, list)
    assert drafts[0]["text"].startswith(
        "The analysis missed section 3 of the input document (it stands in contracts.md"
    )
    opened = jobs.type("cite", jobs.done, "contracts.md line 11")
    assert "Section 3: Returns" in opened.out


def test_what_the_plan_says_about_something(jobs: Desk) -> None:
    answer = jobs.ask(jobs.planned, "What does the plan say about data validation?")
    assert cites(answer)[0] == "plan.md:18-20"
    assert "positive number" in str(answer["text"])


def test_where_something_is_discussed(jobs: Desk) -> None:
    answer = jobs.ask(jobs.planned, "Find where the agent discusses the methodology")
    assert cites(answer)[:2] == ["plan.md:3-6", "workspace.md:11-13"]  # Method, Methodology
    assert "the contracts are older" in str(answer["text"])
    assert "Sums are made by SQL" in str(answer["text"])
    assert not [one for one in cites(answer) if one.startswith("tools/")]


def test_pages_of_tools_are_found_after_all_else_unless_the_tool_is_named(jobs: Desk) -> None:
    words = ("search", jobs.done, "find a text in the documents", "--in", "files", "--limit", "40", "--json")
    names = [one["name"] for one in json.loads(jobs.type(*words).out)["found"]]
    pages = [name.startswith("tools/") for name in names]
    assert pages == sorted(pages)
    assert not pages[0]
    assert pages[-1]
    named = jobs.ask(jobs.done, "Where is search_documents described?")
    assert cites(named)[0].startswith("tools/search_documents.md:")


def test_what_changed_between_two_phases(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "What changed between phase 1 and phase 2?")
    rows = facts(answer)["files"]
    assert isinstance(rows, list)
    assert [(row["path"], row["change"]) for row in rows] == [
        ("figures.md", "+3 −0 lines"),
        ("report.md", "+8 −0 lines"),
        ("todos/phase_01.yaml", rows[-1]["change"]),
    ]
    first, second = cites(answer)[:2]
    ends = event_of(jobs, jobs.done, first), event_of(jobs, jobs.done, second)
    assert [event.phase for event in ends if isinstance(event, e.PhaseClosed)] == ["strategy", "tactics"]


def test_why_something_was_skipped(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "Why did the agent skip section 3?")
    assert "returns have no figures" in str(answer["text"])
    assert "workspace.md:7-9" in cites(answer)


def test_what_happened_where_the_output_seems_wrong(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "The output seems wrong, what happened?")
    wrong = [seq for seq, event in jobs.events(jobs.done) if isinstance(event, e.CallEnded) and event.outcome != "done"]
    assert len(wrong) == 2  # a file that may not be written, and a command that a person refused
    assert facts(answer)["events"] == wrong
    assert set(cites(answer)) >= {f"event {seq}" for seq in wrong}


def test_where_it_went_wrong_names_the_first_event(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "Where did it go wrong?")
    first = facts(answer)["events"]
    assert isinstance(first, list)
    assert f"It first went wrong at event {first[0]}" in str(answer["text"])


def test_what_it_cost(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "How much did this job cost in tokens?")
    turns = [event.usage for _, event in jobs.events(jobs.done) if isinstance(event, e.ModelTurned)]
    told = facts(answer)
    assert told["input_tokens"] == sum(one.input_tokens for one in turns) > 0
    assert told["output_tokens"] == sum(one.output_tokens for one in turns) > 0
    assert told["cost"] == pytest.approx(sum(one.cost for one in turns), abs=1e-6)
    total = sum(one.input_tokens + one.output_tokens for one in turns)
    assert f"{total:,} tokens" in str(answer["text"])


def test_which_tools_were_used(jobs: Desk) -> None:
    answer = jobs.ask(jobs.done, "Show me what tools the agent used")
    made = Counter(event.tool for _, event in jobs.events(jobs.done) if isinstance(event, e.CallEnded))
    assert facts(answer) == {"calls": made.total(), "tools": dict(sorted(made.items()))}
    assert made["write_file"] == 7


def test_how_it_is_going_and_in_which_phase(jobs: Desk) -> None:
    going = jobs.ask(jobs.done, "How's it going?")
    assert facts(going) | {"status": "waiting", "items_done": 2, "items": 2, "phase": "result"} == facts(going)
    assert "waits for a person: Is this what you wanted?" in str(going["text"])
    phase = jobs.ask(jobs.planned, "What phase is it on?")
    assert facts(phase) | {"phase": "strategy", "round": 1, "number": 1} == facts(phase)
    assert isinstance(event_of(jobs, jobs.planned, cites(phase)[0]), e.RoundStarted)


def test_an_event_opens_as_words_and_all_of_it_on_request(jobs: Desk) -> None:
    stop = next(seq for seq, event in jobs.events(jobs.planned) if isinstance(event, e.CheckpointOpened))
    opened = jobs.type("cite", jobs.planned, f"event {stop}")
    assert "opens in strategy: Shall it be done so?" in opened.out
    assert "The figures are to be summed up and reported." in opened.out
    assert "It can be decided with: Approve, Approve with notes, Request changes" in opened.out
    assert '"' not in opened.out.splitlines()[0]
    assert "{" not in opened.out
    assert f"cite {jobs.planned} 'event {stop}' --json" in opened.err
    recorded = jobs.type("cite", jobs.planned, f"event {stop}", "--json").object["recorded"]
    assert isinstance(recorded, dict)
    assert (recorded["seq"], recorded["type"]) == (stop, "CheckpointOpened")
    assert recorded["facts"]["options"][0]["label"] == "Approve"


def test_every_event_of_a_run_opens_as_words(jobs: Desk) -> None:
    engine = open_engine(jobs.folder / "home")
    for seq, event in engine.log.read(jobs.done):
        text = citing.opened(engine, jobs.done, f"event {seq}").text
        assert text.strip()
        assert '"digest"' not in text, event
    engine.log.close()


def test_a_run_that_ended_is_in_no_phase_any_more(jobs: Desk) -> None:
    going = str(jobs.ask(jobs.failed, "How's it going?")["text"])
    assert f"{jobs.failed} was aborted" in going
    assert "Its last phase was phase 1, strategy (Planning) [event" in going
    assert "It is in" not in going


def test_why_it_failed(jobs: Desk) -> None:
    answer = jobs.ask(jobs.failed, "Why did it fail?")
    assert isinstance(event_of(jobs, jobs.failed, cites(answer)[0]), e.RunEnded)
    assert "The figures are of the wrong year" in str(answer["text"])
    assert answer["stage"] == "post_mortem"
    not_yet = jobs.ask(jobs.planned, "Why did it fail?")
    assert "It has not failed: it waits for a person" in str(not_yet["text"])


def test_a_phase_to_which_it_has_not_come_is_said(jobs: Desk) -> None:
    answer = jobs.ask(jobs.planned, "What changed between phase 1 and phase 2?")
    assert "has not come to phase 2" in str(answer["text"])


def test_passages_are_said_to_be_the_nearest_and_earlier_questions_are_none(jobs: Desk) -> None:
    jobs.ask(jobs.planned, "Who plays the xylophone at Tailspin?")
    answer = jobs.ask(jobs.planned, "Who plays the xylophone at Tailspin?")
    assert "The passages nearest to your words:" in str(answer["text"])
    assert not [one for one in cites(answer) if one.startswith("event")]
    assert "contracts.md" in cites(answer)[0]


def test_the_conversation_is_found_as_talk_and_told_as_turns(jobs: Desk) -> None:
    jobs.ask(jobs.planned, "Who plays the theremin at Tailspin?")
    found = jobs.type("search", jobs.planned, "theremin", "--in", "talk", "--text-only")
    assert "theremin" in found.out, found.err
    from reconvene.companion import tools
    from reconvene.companion.tool_scope import Scope

    engine = open_engine(jobs.folder / "home")
    told = tools.call(Scope(engine, jobs.planned), "get_chat_history", {"after": 20, "limit": 200})
    engine.log.close()
    assert "to the companion" in told.text
