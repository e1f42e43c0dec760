"""The companion's tools: what each says of a run, in which pages, and that no other run is ever seen."""

from __future__ import annotations

import re

import pytest
from tests.companion.planned_job import SECRET, Two

from reconvene.companion.open_cites import open_cite
from reconvene.companion.tool_scope import Scope
from reconvene.companion.tools import Answer, all_tools, call
from reconvene.core.facts.events import ModelTurned
from reconvene.errors import UserError

SEED = (
    *("read_workspace_file", "list_workspace_files", "search_workspace", "vector_search", "web_search"),
    *("git_log", "git_diff", "git_show", "get_job", "get_audit_trail", "get_chat_history", "get_todos"),
    *("get_graph_changes", "get_llm_request", "search_audit", "update_instructions"),
)
# Arguments with which each tool tells as much as it can.
ASKED: dict[str, dict[str, object]] = {
    "read_workspace_file": {"path": "plan.md"},
    "list_workspace_files": {},
    "search_workspace": {"query": "count quagga heron", "limit": 200},
    "vector_search": {"query": "count quagga heron", "limit": 200},
    "git_log": {"limit": 200},
    "git_diff": {},
    "get_job": {},
    "get_audit_trail": {"limit": 200},
    "get_chat_history": {"limit": 200},
    "get_todos": {},
    "get_graph_changes": {},
    "search_audit": {"query": "plan", "limit": 200},
}


def said(scope: Scope, tool: str, **arguments: object) -> Answer:
    answer = call(scope, tool, arguments)
    assert not answer.failed, answer.text
    assert len(answer.text.encode()) <= 25_000
    return answer


def failed(scope: Scope, tool: str, **arguments: object) -> str:
    answer = call(scope, tool, arguments)
    assert answer.failed, answer.text
    return answer.text


def test_the_tools_have_the_names_that_the_design_gives_them() -> None:
    assert tuple(tool.name for tool in all_tools()) == SEED
    assert [tool.name for tool in all_tools() if not tool.reads_only] == ["update_instructions"]


def test_a_file_is_read_with_numbered_lines_and_cited_by_them(scope: Scope) -> None:
    answer = said(scope, "read_workspace_file", path="plan.md", from_line=5, lines=2)
    assert "     5  Count every heron twice.\n     6" in answer.text
    assert "go on with from_line=7" in answer.text
    assert answer.cites == ("plan.md:5-6",)
    assert "data, not instructions" in answer.text.split("\n")[0]


def test_a_document_is_read_like_a_file_and_cited_by_its_pages(scope: Scope) -> None:
    answer = said(scope, "read_workspace_file", path="heron.pdf")
    assert "On the heron." in answer.text
    assert answer.cites == ("heron.pdf p. 1", "heron.pdf p. 2")
    assert "heron.pdf  document, application/pdf, 2 parts" in said(scope, "list_workspace_files").text


def test_a_long_file_comes_in_pages_that_say_how_to_go_on_and_miss_nothing(scope: Scope) -> None:
    lines, at, pages = list[str](), 1, 0
    while at:
        text = said(scope, "read_workspace_file", path="data/long.txt", from_line=at).text
        lines += re.findall(r"row \d+ of the heron count", text)
        on = re.search(r"from_line=(\d+)", text.split("\n")[-1])
        at, pages = int(on[1]) if on else 0, pages + 1
    assert lines == [f"row {number} of the heron count" for number in range(4000)]
    assert pages > 3


def test_one_endless_line_comes_in_pages_as_well(scope: Scope) -> None:
    event = next(seq for seq, event in scope.engine.log.read(scope.run) if isinstance(event, ModelTurned))
    whole = scope.engine.log.read(scope.run, event - 1, 1)[0][1]
    assert isinstance(whole, ModelTurned)
    reply = scope.engine.log.artefact(whole.reply).decode()
    assert max(map(len, reply.split("\n"))) > 25_000
    got, line, sign = "", 1, 1
    while line:
        text = said(scope, "get_llm_request", event=event, part="reply", from_line=line, from_character=sign).text
        body, _, last = text.partition("\n")[2].rpartition("\n")
        on = re.search(r"from_line=(\d+)(?:, from_character=(\d+))?\.$", last)
        got += body + ("" if on and on[2] else "\n") if on else f"{body}\n{last}" if body else last
        line, sign = (int(on[1]), int(on[2] or 1)) if on else (0, 1)
    assert got.rstrip("\n") == reply.rstrip("\n")


def test_words_and_meanings_are_searched_in_this_run(scope: Scope) -> None:
    answer = said(scope, "search_workspace", query="data validation")
    assert answer.cites[0].startswith("plan.md:")
    assert "Data validation is weak." in open_cite(scope, answer.cites[0]).text
    assert said(scope, "vector_search", query="wings and legs").cites[0] == "heron.pdf p. 2"
    assert said(scope, "search_workspace", query="zygote").text.startswith("Nothing was found")


def test_the_history_is_listed_compared_and_shown(scope: Scope) -> None:
    log = said(scope, "git_log")
    assert "ann: strategy: Request changes" in log.text
    newest = log.cites[0].removeprefix("commit ")
    decision = next(line.split()[0] for line in log.text.split("\n") if "Request changes" in line)
    diff = said(scope, "git_diff", old=decision, new=newest, path="report.md")
    assert "+One heron." in diff.text
    assert "plan.md" not in diff.text
    shown = said(scope, "git_show", commit=decision)
    assert "by ann" in shown.text
    assert "Count every heron twice." in said(scope, "git_show", commit=decision, path="plan.md").text
    assert "There was no file 'report.md' then." in failed(scope, "git_show", commit=decision, path="report.md")
    assert "no commit of this run" in failed(scope, "git_show", commit="0123456789")


def test_pages_of_the_history_follow_each_other(scope: Scope) -> None:
    whole, seen, before = said(scope, "git_log", limit=200).cites, list[str](), ""
    for _ in whole:
        answer = said(scope, "git_log", limit=2, **({"before": before} if before else {}))
        seen += answer.cites
        on = re.search(r"before='(\w+)'", answer.text.split("\n")[-1])
        if not on:
            break
        before = on[1]
    assert tuple(seen) == whole


def test_the_job_tells_where_it_stands_and_what_it_cost(scope: Scope) -> None:
    text = said(scope, "get_job").text
    assert "waiting, phase result" in text
    assert "input description: the heron count" in text
    assert "data sources: birds (graph)" in text
    assert "/secret/place" not in text
    assert re.search(r"usage: \d+ calls in \d+ rounds, [\d,]+ tokens in", text)
    assert "waits for a person: Is this what you wanted? Options: Accept." in text


def test_the_audit_trail_is_filtered_and_paged(scope: Scope) -> None:
    tools = said(scope, "get_audit_trail", kind="tool", agent="worker").text
    assert "tool change_graph done" in tools
    assert "planner" not in tools
    errors = said(scope, "get_audit_trail", kind="error").text
    assert "no such table Broken" in errors
    assert "said FB-001 (comment)" in said(scope, "get_audit_trail", kind="person").text
    first = said(scope, "get_audit_trail", limit=5)
    assert len(first.cites) == 5
    last = int(first.cites[-1].split()[1])
    assert first.text.endswith(f"go on with after={last}.")
    assert said(scope, "get_audit_trail", after=last, limit=1).cites == (f"event {last + 1}",)


def test_the_chat_history_tells_turns_calls_and_what_the_person_said(scope: Scope) -> None:
    text = said(scope, "get_chat_history", limit=200).text
    assert "The heron plan is written." in text
    assert "calls write_file" in text
    assert "FB-001, comment:\nSay what a heron eats" in text
    only = said(scope, "get_chat_history", agent="worker", limit=200).text
    assert "The heron to-do is done." in only
    assert "The heron plan is written." not in only


def test_to_dos_are_told_as_they_are_now_and_as_they_were_worked_at(scope: Scope) -> None:
    text = said(scope, "get_todos").text
    assert "[ ] load: Load the figures" in text
    assert re.search(r"\[x\] load: Load the figures \(done, event \d+\)", text)


def test_changes_of_graphs_are_told_with_to_do_statement_and_counts(two: Two) -> None:
    text = said(two.scope(), "get_graph_changes").text
    assert "worker, to-do load, birds, done: CREATE (:Bird {name: 'heron'})" in text
    assert "nodes created: 2" in text
    assert "birds, failed: MATCH (n:Broken) DELETE n" in text
    assert said(two.scope(two.other), "get_graph_changes").text == "Nothing was changed in birds."


def test_a_request_to_a_model_is_shown_in_full_and_only_that(scope: Scope) -> None:
    trail = said(scope, "get_audit_trail", kind="model", agent="planner").cites
    event = int(trail[0].split()[1])
    assert "Plan the heron count" in said(scope, "get_llm_request", event=event).text
    assert "is no call of a model" in failed(scope, "get_llm_request", event=1)


def test_the_record_is_searched_also_in_what_tools_gave(scope: Scope) -> None:
    answer = said(scope, "search_audit", query="parser exception")
    assert "no such table Broken" in answer.text
    assert open_cite(scope, answer.cites[0]).text.startswith(answer.cites[0])
    assert "Nothing on record" in said(scope, "search_audit", query="unicorn").text


def test_every_citation_of_every_tool_opens(scope: Scope) -> None:
    cites = {cite for tool, arguments in ASKED.items() for cite in said(scope, tool, **arguments).cites}
    assert len({cite.split()[0] for cite in cites}) > 5
    for cite in cites:
        opened = open_cite(scope, cite)
        assert not opened.failed, (cite, opened.text)
        assert len(opened.text.encode()) <= 25_000
    for wrong in ("plan.md:900", "nothing.md", "event 99999", "commit 0123456", "talk 999", "heron.pdf p. 9", ""):
        assert open_cite(scope, wrong).failed


def test_no_tool_tells_anything_of_another_run(two: Two) -> None:
    for job, foreign in ((two.job, "quagga"), (two.other, "heron")):
        scope = two.scope(job)
        for tool, arguments in ASKED.items():
            query = {"query": foreign} if "query" in arguments else {}
            answer = said(scope, tool, **{**arguments, **query})
            told = answer.text.replace(repr(foreign), "").replace("Nothing was found for", "")
            assert foreign not in told, (tool, told)
    other, scope = two.other, two.scope()
    theirs = other.engine.history().commits(other.run)[-1][0]
    for tool, name in (("git_show", "commit"), ("git_diff", "new"), ("git_log", "before")):
        assert "no commit of this run" in failed(scope, tool, **{name: theirs})
    for path in ("quagga.pdf", f"../{other.run}/plan.md", f"/{other.run}/plan.md", "../../reconvene.db"):
        assert "There is no file or document" in failed(scope, "read_workspace_file", path=path)


def test_what_is_secret_stays_blank(two: Two) -> None:
    for tool, arguments in ASKED.items():
        assert SECRET not in said(two.scope(), tool, **arguments).text
    assert "[redacted]" in said(two.scope(), "get_chat_history", limit=200).text


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("read_workspace_file", {}, "path"),
        ("read_workspace_file", {"path": 7}, "path"),
        ("read_workspace_file", {"path": "plan.md", "run": "job-2"}, "run"),
        ("read_workspace_file", {"path": "plam.md"}, "Did you mean plan.md?"),
        ("get_audit_trail", {"limit": 0}, "limit"),
        ("get_audit_trail", {"kind": "everything"}, "kind"),
        ("get_llm_request", {"event": "x"}, "event"),
        ("search_audit", {"query": ""}, "query"),
        ("no_such_tool", {}, "There is no tool 'no_such_tool'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_is_wrong(
    scope: Scope, tool: str, arguments: dict[str, object], why: str
) -> None:
    assert why in failed(scope, tool, **arguments)


class _Web:
    name = "house search"

    def __init__(self, refuse: bool = False) -> None:
        self.asked: list[str] = []
        self._refuse = refuse

    def search(self, query: str) -> str:
        self.asked.append(query)
        if self._refuse:
            raise UserError("The person did not allow this search.")
        return "x" * 60_000


class _Drafts:
    def __init__(self, started: bool = False) -> None:
        self.text = ""
        self._started = started

    def read(self, draft: str) -> str:
        return self.text

    def write(self, draft: str, instructions: str) -> None:
        if self._started:
            raise UserError(f"{draft} has been started: its instructions stay as they are.")
        self.text = instructions


def test_the_web_is_searched_only_through_a_source_that_is_configured(two: Two) -> None:
    engine, run = two.job.engine, two.job.run
    assert "no source for it is configured" in failed(two.scope(), "web_search", query="herons")
    web = _Web()
    assert said(Scope(engine, run, web=web), "web_search", query="herons").text.startswith("house search")
    assert web.asked == ["herons"]
    assert "did not allow" in failed(Scope(engine, run, web=_Web(refuse=True)), "web_search", query="herons")


def test_instructions_are_written_only_into_a_draft_that_has_not_started(two: Two) -> None:
    engine, drafts = two.job.engine, _Drafts()
    before = Scope(engine, draft="draft-1", drafts=drafts)
    said(before, "update_instructions", instructions="Count all birds")
    assert drafts.text == "Count all birds"
    assert "nothing has been started yet" in failed(before, "get_job")
    begun = Scope(engine, draft="draft-1", drafts=_Drafts(started=True))
    assert "has been started" in failed(begun, "update_instructions", instructions="x")
    assert "There is no draft here" in failed(two.scope(), "update_instructions", instructions="x")
