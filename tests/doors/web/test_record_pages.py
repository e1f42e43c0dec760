"""Files in every version, prompts and replies as sent, and what else is on record."""

from __future__ import annotations

from urllib.parse import quote

from tests.doors.web.conftest import Desk, Parsed, engine

from reconvene.app import queries, record
from reconvene.app.file_versions import versions

RUN = "SCENARIO-2026-001"
CONTEXT = f"/runs/{RUN}/file?path=scenario_context.md"


def test_the_tree_names_every_file_with_its_versions(desk: Desk) -> None:
    page = Parsed(desk.get(f"/runs/{RUN}/files"))

    named = {one.path for one in versions(engine(desk.home), RUN)}
    for path in named:
        assert f"/runs/{RUN}/file?path={quote(path)}" in page.links()
    assert "conversations/" in page.text
    assert "phase_2/" in page.text


def test_a_file_opens_in_every_version_rendered_as_written_and_compared(desk: Desk) -> None:
    first, second = Parsed(desk.get(f"{CONTEXT}&version=1")), Parsed(desk.get(CONTEXT))

    assert "£150M" not in first.text
    assert "version 1 of 2" in first.text
    assert "Debt is £150M, not £100M" in second.text
    assert "version 2 of 2" in second.text
    assert "**Correction:**" in Parsed(desk.get(f"{CONTEXT}&as=source")).text
    changed = [tag for tag, _ in Parsed(desk.get(f"{CONTEXT}&as=diff")).elements]
    assert "ins" in changed
    assert "del" not in changed
    assert "Nothing differs" in desk.get(f"{CONTEXT}&as=diff&version=2&from=2")


def test_a_raw_file_is_plain_text_in_a_sandbox_whatever_it_is_called(desk: Desk) -> None:
    answer = desk.client.get(f"/runs/{RUN}/raw?path=metadata.json")

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.content == queries.file(engine(desk.home), RUN, "metadata.json")


def test_a_file_or_version_that_is_not_there_is_told(desk: Desk) -> None:
    for path in ("file?path=none.md", "file?path=../../etc/passwd", "raw?path=/etc/passwd", "raw", "file?path="):
        assert "has no file" in desk.get(f"/runs/{RUN}/{path}", 404)
    assert "has 2 versions" in desk.get(f"{CONTEXT}&version=3", 404)


def test_every_prompt_and_reply_is_there_as_it_was_sent(desk: Desk) -> None:
    found = queries.attempts(engine(desk.home), RUN)
    work = Parsed(desk.get(f"/runs/{RUN}/work"))

    for one in found:
        at = f"task={quote(f'R{one.serial}/{one.step}/{one.agent}')}&attempt={one.attempt}"
        assert f"/runs/{RUN}/attempt?{at}" in work.links()
    seq = next(seq for seq, event in engine(desk.home).log.read(RUN) if type(event).__name__ == "AttemptEnded")
    first = found[0]
    at = f"task={quote(f'R{first.serial}/{first.step}/{first.agent}', safe='')}&attempt={first.attempt}"
    assert desk.get(f"/runs/{RUN}/sent?{at}&part=prompt") == record.sent(engine(desk.home), RUN, seq, "request")
    assert "Prompt, as sent" in desk.get(f"/runs/{RUN}/attempt?{at}")
    assert "has no attempt" in desk.get(f"/runs/{RUN}/attempt?task=R99/0/nobody", 404)


def test_one_agent_of_one_round_can_be_asked_for(desk: Desk) -> None:
    page = Parsed(desk.get(f"/runs/{RUN}/work?round=R2&agent=economist"))

    assert [one for one in page.links() if "/attempt?" in one] == [
        f"/runs/{RUN}/attempt?task={quote('R2/0/economist')}&attempt=1"
    ]


def test_the_ledger_says_what_became_of_each_remark(desk: Desk) -> None:
    page = Parsed(desk.get(f"/runs/{RUN}/ledger"))

    assert "1 remark, 0 open" in page.text
    assert "FB-001" in page.text
    assert "addressed" in page.text
    assert "economist" in page.text
    assert "No remark is open." in desk.get(f"/runs/{RUN}/ledger?open=1")


def test_gaps_have_a_chart_a_table_and_a_life_each(desk: Desk) -> None:
    page = Parsed(desk.get("/runs/SPEC-2026-001/gaps"))
    life = Parsed(desk.get("/runs/SPEC-2026-001/gaps?gap=GAP-FLOW-001"))

    assert "8 gaps, 4 open" in page.text
    assert "start: 7; round 1: 4; round 2: 4" in page.text
    assert "What happens when the drafter delivers no page" in life.text
    assert "GAP-NONE" in desk.get("/runs/SPEC-2026-001/gaps?gap=GAP-NONE", 404)
    assert "/gaps" not in desk.get(f"/runs/{RUN}"), "a run that follows none has no such page"


def test_events_are_there_to_the_first_and_each_can_be_forked_from(desk: Desk) -> None:
    page = Parsed(desk.get(f"/runs/{RUN}/events"))
    forks = [own["value"] for tag, own in page.elements if tag == "input" and own.get("name") == "at"]

    assert len(forks) == engine(desk.home).log.head(RUN)
    person = Parsed(desk.get(f"/runs/{RUN}/events?kind=person"))
    assert "One more round" in person.text
    assert len(person.links()) < len(page.links())


def test_tool_calls_are_told_with_arguments_and_what_came_of_them(desk: Desk) -> None:
    page = Parsed(desk.get("/runs/job-1/calls"))

    assert "tool call" in page.text
    assert "Arguments" in page.text


def test_talk_comments_and_queue_are_there_also_where_there_is_nothing(desk: Desk) -> None:
    assert "brainstormer" in Parsed(desk.get("/runs/brainstorm-1/talk")).text
    assert "Nobody has commented" in desk.get(f"/runs/{RUN}/comments")
    assert "The queue is empty" in desk.get("/queue")
