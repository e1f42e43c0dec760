"""The list of gaps, edited over the API and on its page, at a stop of a real spec refinement."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.furnished import STOPS, furnish
from tests.doors.web.conftest import HOST, Desk, Parsed, Sit, engine

from reconvene.app import kit_views, queries

RUN = "SPEC-2026-001"
GAP = "GAP-FLOW-001"


@pytest.fixture
def refining(tmp_path: Path, sit: Sit) -> Desk:
    return sit(furnish(tmp_path / "own", tuple(stop for stop in STOPS if stop.run == RUN)))


def one(desk: Desk, gap: str = GAP) -> dict[str, object]:
    value = kit_views.tracked(engine(desk.home), RUN, "gaps").value
    return next(found for found in value["list"] if found["id"] == gap)  # type: ignore[index]


def test_the_api_edits_the_list_and_the_stop_is_there_again(refining: Desk) -> None:
    before = queries.standing(engine(refining.home), RUN).checkpoint
    origin = {"origin": f"http://{HOST}"}
    at = f"/api/v1/runs/{RUN}/gaps"
    was = str(one(refining)["severity"])
    now = "LOW" if was != "LOW" else "HIGH"
    answer = refining.client.post(at, json={"edit": [f"rate {GAP} {now}", "add HIGH: Who pays?"]}, headers=origin)
    assert answer.status_code == 200, answer.text
    assert answer.json()["checkpoint"]["question"] == before.question if before else False
    assert one(refining)["severity"] == now
    titles = [found["title"] for found in refining.client.get(at).json()["gaps"]]
    assert "Who pays?" in titles

    wrong = refining.client.post(at, json={"edit": [f"rate {GAP} {was}", "rate GAP-NOPE-001 LOW"]}, headers=origin)
    assert wrong.status_code == 422, wrong.text
    assert "GAP-NOPE-001 is not a known gap" in wrong.text
    assert one(refining)["severity"] == now, "nothing was changed"


def test_the_page_of_gaps_has_a_form_for_it(refining: Desk) -> None:
    page = Parsed(refining.get(f"/runs/{RUN}/gaps"))
    assert "split GAP-A-001 into: first question | second question" in page.text
    assert any(tag == "textarea" and own.get("name") == "edit" for tag, own in page.elements)
    led = refining.post(f"/runs/{RUN}/gaps", edit=f"rate {GAP} LOW")
    assert led == f"/runs/{RUN}/gaps"
    assert one(refining)["severity"] == "LOW"
    told = refining.post(f"/runs/{RUN}/gaps", 422, edit="burn it")
    assert "write it as one of" in told.replace("&#39;", "'")
