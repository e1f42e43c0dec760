"""Runs: the list, the page of one as it stands and as it stood, and what a person does to it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.browser.furnished import Waits, furnish
from tests.doors.web.conftest import Desk, Parsed, Sit, engine
from tests.served_home import ground

RUN = "SCENARIO-2026-001"


def test_the_list_shows_every_run_and_leads_to_what_each_asks(desk: Desk) -> None:
    page = Parsed(desk.get("/runs"))

    assert {"/runs/job-1", f"/runs/{RUN}", f"/runs/{RUN}/decide"} <= set(page.links())
    assert "Does this round hold, or should somebody look again?" in page.text


def test_the_list_is_searched_and_filtered_and_keeps_both(desk: Desk) -> None:
    found = Parsed(desk.get("/runs?q=spec+GAPS&status=waiting"))
    none = Parsed(desk.get("/runs?status=failed"))

    assert "/runs/SPEC-2026-001" not in found.links(), "its question says nothing of gaps at this stop"
    assert "/runs/SPEC-2026-001" in Parsed(desk.get("/runs?q=SPEC&status=waiting")).links()
    assert ("input", "SPEC") in [(tag, own.get("value")) for tag, own in Parsed(desk.get("/runs?q=SPEC")).elements]
    assert "No run is like that." in none.text


def test_a_page_of_the_list_leads_to_the_next(desk: Desk) -> None:
    from reconvene.app import index

    log = engine(desk.home).log
    first = index.page(log, None, "", 3)
    rest = index.search(log, "", None, first.next, 50)
    assert len(first.rows) == 3
    assert {row.run for row in first.rows}.isdisjoint(row.run for row in rest.rows)
    assert index.search(log, "market", None, "", 1).rows[0].run == "market-entry-1"


def test_the_page_of_a_run_shows_its_workflow_agents_rounds_files_and_what_was_said(desk: Desk) -> None:
    html = desk.get(f"/runs/{RUN}")
    page = Parsed(html)

    assert "Phase 2: Predetermined elements here (round 2, asks)" in page.text
    assert f"/runs/{RUN}/decide" in page.links()
    assert "net debt was £100M, is now £150M" in page.text
    assert "“Debt is £150M, not £100M”" not in page.text
    assert "Debt is £150M, not £100M" in page.text
    assert "scenario_context.md" in page.text
    assert "2 versions" in page.text
    bars = re.findall(r'<rect class="a"[^>]*><title>([^<]*)', html)
    assert len([one for one in bars if "R2" in one]) == 8, "seven specialists and the moderator"


def test_every_packaged_workflow_can_be_drawn(desk: Desk) -> None:
    for run in ("job-1", "SPEC-2026-001", "market-entry-1", "quality-gate-1", "brainstorm-1"):
        boxes = [own for tag, own in Parsed(desk.get(f"/runs/{run}")).elements if tag == "rect"]
        right = max(float(own["x"]) + float(own["width"]) for own in boxes)
        svg = next(own for tag, own in Parsed(desk.get(f"/runs/{run}")).elements if tag == "svg")
        assert boxes
        assert right <= max(float(svg["width"]), 2000)


def test_a_run_can_be_looked_at_as_it_was_after_any_event(desk: Desk) -> None:
    head = engine(desk.home).log.head(RUN)
    then = Parsed(desk.get(f"/runs/{RUN}?as_of=14"))

    assert "Is this the question?" in then.text
    assert f"event 14 of {head}" in then.text
    assert f"/runs/{RUN}/decide" not in then.links(), "nobody decides on what was"
    for seq in range(1, head + 1):
        desk.get(f"/runs/{RUN}?as_of={seq}")


def test_an_event_that_is_not_there_and_a_run_that_is_not_there_are_told(desk: Desk) -> None:
    assert "no event 9999" in desk.get(f"/runs/{RUN}?as_of=9999", 422)
    for wrong in ("abc", "-1", "0", "1.5"):
        assert f"as_of={wrong} in the address is no whole number" in desk.get(f"/runs/{RUN}?as_of={wrong}", 422)
    assert "There is no run" in desk.get("/runs/nobody-1", 404)


def test_deliverables_whose_cost_nobody_knows_are_not_said_to_cost_nothing(desk: Desk) -> None:
    row = Parsed(desk.get("/figures")).text.partition("Cost per accepted deliverable ")[2][:60]
    assert re.match(r"not known no cost known for \d+ deliverables", row)


def test_a_fork_from_any_event_is_a_run_of_its_own(own_desk: Desk) -> None:
    made = own_desk.post("/runs/market-entry-1/fork", at="10")

    assert made == "/runs/market-entry-1-fork-1"
    assert 3 < engine(own_desk.home).log.head("market-entry-1-fork-1") <= 11
    assert "market-entry-1-fork-1" in own_desk.get(made)
    assert "Nothing had been started" in own_desk.post("/runs/market-entry-1/fork", 422, at="1")
    assert "no event" in own_desk.post("/runs/market-entry-1/fork", 422, at="x")


def test_aborting_takes_the_persons_words_along_and_needs_no_script(own_desk: Desk) -> None:
    own_desk.post("/runs/market-entry-1/abort", why="correction: the plan is off")
    page = Parsed(own_desk.get("/runs/market-entry-1"))

    assert "The run has been aborted" in page.text
    assert "the plan is off" in page.text


def test_a_page_of_somebody_else_cannot_abort(own_desk: Desk) -> None:
    answer = own_desk.client.post("/runs/market-entry-1/abort", headers={"origin": "http://evil.test"})

    assert answer.status_code == 403
    assert engine(own_desk.home).load("market-entry-1").status == "waiting"


def test_nothing_is_changed_by_opening_an_address(own_desk: Desk) -> None:
    for act in ("pause", "resume", "abort", "fork"):
        assert own_desk.client.get(f"/runs/market-entry-1/{act}").status_code == 405


def test_a_viewer_sees_everything_and_can_do_nothing(tmp_path: Path) -> None:
    with ground(tmp_path) as made, made.serving() as client:
        run = made.parked()
        vera = made.person("vera", "viewer", cookie=True)
        page = Parsed(client.get(f"/runs/{run}", headers=vera).text)

        assert "Is the draft good?" in page.text
        assert {own.get("action") for tag, own in page.elements if tag == "form"} == {"/theme", "/leave"}
        for act, said in (("abort", {}), ("fork", {"at": "5"}), ("companion", {"question": "Why?"})):
            assert client.post(f"/runs/{run}/{act}", data=said, headers=vera).status_code == 403
        assert made.state(run).status == "waiting"


def test_a_phase_has_one_number(desk: Desk) -> None:
    """Where the workflow numbers its phases, they are not numbered again; a part of a phase says so."""
    numbered = Parsed(desk.get("/runs/SCENARIO-2026-001/decide")).text
    assert "Phase 2: Predetermined elements, round 2" in numbered
    assert "phase 4 of 16" not in numbered
    assert " of 16" not in numbered
    assert "phase 1 of 2, part 1 of 2" in Parsed(desk.get("/runs/job-1/decide")).text


def test_who_wrote_is_named_once_in_all_that_is_new(desk: Desk) -> None:
    assert "wrote economist economist" not in Parsed(desk.get("/runs/SCENARIO-2026-001/decide")).text
    assert "wrote economist" in Parsed(desk.get("/runs/SCENARIO-2026-001/decide")).text


def test_a_phase_that_was_worked_in_before_it_was_skipped_is_done_and_rulings_told(tmp_path: Path, sit: Sit) -> None:
    job = Waits("job", "job-1", "- {option: Approve}\n- {option: Approve}\n")  # the plan, then a call of its worker
    html = sit(furnish(tmp_path / "own", (job,))).get("/runs/job-1")
    page = Parsed(html)
    assert "Planning done (2 rounds), Work done (3 rounds); Result review here" in page.text
    assert len(re.findall(r'<circle class="a"', html.partition('class="lanes"')[0])) == 2 + 3 + 1
    assert "Nobody has worked yet" not in page.text
    assert 'data-agent="planner"' in html
    assert len(re.findall(r'<path class="you"', html.partition('class="lanes"')[2])) == 2
    said = page.text.partition("What was said and decided")[2]
    assert said.count("Approve") == 2
    assert "Approve tactics, ann" in said
