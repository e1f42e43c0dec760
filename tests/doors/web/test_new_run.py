"""New run: a form from what the workflow takes, uploads, a look before the start; nothing typed is lost."""

from __future__ import annotations

import pytest
from tests.doors.web.conftest import HOST, Desk, Parsed, engine

from reconvene.app import queries
from reconvene.doors.web import new_run_pages

_FROM = {"origin": f"http://{HOST}"}
WANTED = "Say <b>hello</b> to the {{ config }} world"


def send(desk: Desk, code: int, files: list[tuple[str, tuple[str, bytes]]] | None = None, **fields: str) -> str:
    """`input__x` stands for input.x. Where it leads, or the page."""
    data = {key.replace("__", "."): value for key, value in fields.items()}
    answer = desk.client.post("/new", data=data, files=files or [], headers=_FROM, follow_redirects=False)
    assert answer.status_code == code, answer.text
    return answer.headers.get("location", "") or answer.text


def test_every_workflow_can_be_chosen_and_has_a_form(own_desk: Desk) -> None:
    chosen = [one for one in Parsed(own_desk.get("/new")).links() if one.startswith("/new?workflow=")]

    assert "/new?workflow=scenario-planning" in chosen
    for one in chosen:
        assert "Start the run" in own_desk.get(one)


def test_a_workflow_whose_agents_are_recorded_says_so_before_the_start(own_desk: Desk) -> None:
    page = own_desk.get("/new?workflow=quality-gate")
    assert "Plays a recording." in page
    assert "All agents of this workflow answer from what was recorded." in page
    assert 'name="model.developer"' not in page, "nobody else can be asked in their place"
    assert 'placeholder="{&#34;name&#34;: &#34;checkout&#34;' in page, "as one would write it"
    ready = send(own_desk, 200, workflow="quality-gate", act="check")
    assert "It plays what is recorded: no model is asked." in ready
    assert "Plays a recording" not in own_desk.get("/new?workflow=brainstorm")


def test_a_look_starts_nothing_and_keeps_what_was_typed(own_desk: Desk) -> None:
    page = Parsed(send(own_desk, 200, workflow="brainstorm", act="check", input__description=WANTED))

    assert "nothing was started yet" in page.text
    assert WANTED in page.text
    assert own_desk.client.get("/runs?q=brainstorm").text.count("/runs/brainstorm") == 0


def test_a_run_starts_with_what_was_typed(own_desk: Desk) -> None:
    at = send(own_desk, 303, workflow="brainstorm", act="start", input__description=WANTED)

    assert at == "/runs/brainstorm-1"
    assert queries.inputs(engine(own_desk.home), "brainstorm-1")["description"] == WANTED
    assert engine(own_desk.home).load("brainstorm-1").status == "running"


def test_uploads_become_inputs_and_stay_where_something_else_is_wrong(own_desk: Desk) -> None:
    spec = ("file.spec", ("my spec.md", b"# The spec\n\nIt says <script>."))
    page = Parsed(send(own_desk, 422, [spec], workflow="spec-refinement", act="start", model__="none"))
    kept = next(own["value"] for tag, own in page.elements if own.get("name") == "kept.spec")

    assert "the model none cannot be asked here" in page.text
    assert "my spec.md" in page.text
    at = send(own_desk, 303, workflow="spec-refinement", act="start", kept__spec=kept)
    given = queries.inputs(engine(own_desk.home), at.rpartition("/")[2])
    assert given["spec"] == "# The spec\n\nIt says <script>."
    assert given["spec_name"] == "my spec"


@pytest.mark.parametrize("path", ["/etc/passwd", "@/etc/passwd", "../../x"])
def test_no_path_of_the_server_is_ever_read(own_desk: Desk, path: str) -> None:
    at = send(own_desk, 303, workflow="spec-refinement", act="start", input__spec=path)

    assert queries.inputs(engine(own_desk.home), at.rpartition("/")[2])["spec"] == path
    refused = send(own_desk, 422, workflow="brainstorm", act="start", input__description="x", input__project=path)
    assert "the name of a project that the settings know" in refused


def test_what_is_missing_is_said_and_marks_its_field(own_desk: Desk) -> None:
    assert "needs the input description" in send(own_desk, 422, workflow="brainstorm", act="start")
    page = Parsed(send(own_desk, 422, workflow="quality-gate", act="start", input__feature="{not json"))

    assert "it is not JSON" in page.text
    assert "given wrong" in [own.get("class", "") for _, own in page.elements]
    assert "{not json" in page.text


def test_a_workflow_that_is_not_there_is_told(own_desk: Desk) -> None:
    assert "There is no workflow" in own_desk.get("/new?workflow=/etc/passwd", 404)
    assert "There is no draft" in own_desk.get("/new?draft=../../x", 404)


def test_one_conversation_leads_from_before_the_run_into_it(own_desk: Desk) -> None:
    page = Parsed(
        send(own_desk, 200, workflow="brainstorm", act="ask", question="What do you need?", input__description=WANTED)
    )
    draft = next(own["value"] for _, own in page.elements if own.get("name") == "draft")
    assert "What do you need?" in page.text
    assert WANTED in page.text

    at = send(own_desk, 303, workflow="brainstorm", act="start", draft=draft, input__description=WANTED)
    assert "What do you need?" in own_desk.get(f"{at}/companion")
    again = send(own_desk, 422, workflow="brainstorm", act="start", draft=draft, input__description=WANTED)
    assert "was started, as the run brainstorm-1" in again


def test_figures_are_measured_over_all_runs_and_in_one(desk: Desk) -> None:
    every, one = Parsed(desk.get("/figures")), Parsed(desk.get("/figures?run=SCENARIO-2026-001"))

    assert f"Figures of {len(engine(desk.home).log.index())} runs" in every.text
    assert "Closure of the ledger 100 %" in one.text
    assert "1 of 2 decisions" in one.text
    assert "svg" in [tag for tag, _ in one.elements]
    assert "There is no run" in desk.get("/figures?run=none", 404)


def test_a_form_that_is_too_large_is_refused_before_it_is_kept(own_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_run_pages, "MOST_FORM", 5_000)
    large = ("file.spec", ("spec.md", b"x" * 20_000))

    assert "A form may have" in send(own_desk, 413, [large], workflow="spec-refinement", act="check")
    assert "A form may have" in send(own_desk, 413, workflow="brainstorm", act="check", input__description="x" * 20_000)
