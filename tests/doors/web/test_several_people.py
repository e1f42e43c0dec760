"""Where an option needs several people, each is told what their choice would come to, and nothing that is not so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.app import queries
from reconvene.core.facts import commands as c
from reconvene.core.facts.actors import Actor
from reconvene.doors.shared.asked_of import asked_of
from reconvene.doors.web.several_people import what_yours_would_be
from reconvene.settings import system_user
from reconvene.wire.workflow_file import parse_workflow
from served_home import Ground, ground

_PAY = """
name: pay
agents: {writer: {}}
phases:
  - id: plan
    agents: [writer]
    checkpoint:
      question: Shall we pay?
      who: [ada, bob, cid]
      options:
        - {label: Approve, needs: NEEDS, remark: optional}
        - {label: Reject, then: {end: rejected}, needs: 2}
"""


_SORT = """
name: sort
agents: {writer: {}}
phases:
  - id: plan
    agents: [writer]
    checkpoint:
      question: How bad is it?
      fields: [{id: severity, type: choice, options: [low, high], prompt: How severe?, default: low}]
      options:
        - {label: Approve, needs: 2, fields: [{id: sum, prompt: How much?}, {id: sure, type: confirm, prompt: Sure?}]}
        - {label: Stop, then: {end: stopped}}
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    with ground(tmp_path) as found:
        yield found


def _run(made: Ground, needs: int) -> str:
    made.workflow = parse_workflow(_PAY.replace("NEEDS", str(needs)))
    return made.parked()


def _choose(
    made: Ground, run: str, name: str, option: str = "Approve", fields: dict[str, object] | None = None
) -> None:
    point = made.state(run).world.open
    assert point is not None
    actor = Actor(name, "decider", served=True)
    made.engine.submit(run, c.AnswerCheckpoint(point.id, option, fields or {}, by=name), actor=actor)


def _told(made: Ground, run: str, name: str, *, may: bool = True) -> str:
    point = queries.standing(made.engine, run).checkpoint
    assert point is not None
    return what_yours_would_be(point, name, may=may)


def test_the_first_is_the_first_and_the_last_may_be_the_last(made: Ground) -> None:
    run = _run(made, 2)
    assert _told(made, run, "ada") == "You would be the first."
    _choose(made, run, "ada")
    assert _told(made, run, "ada") == "You have chosen; 1 more is needed."
    assert _told(made, run, "bob") == "Yours may be the last for “Approve”."


def test_of_three_the_second_is_not_the_last(made: Ground) -> None:
    run = _run(made, 3)
    _choose(made, run, "ada")
    assert _told(made, run, "bob") == "After yours, “Approve”: 1 more is needed."


def test_a_choice_of_before_something_changed_does_not_count(made: Ground) -> None:
    run = _run(made, 2)
    _choose(made, run, "ada")
    made.engine.submit(run, c.AddRemark(c.RemarkIn("Which bank?"), "eve"))
    assert _told(made, run, "bob") == "You would be the first."
    assert _told(made, run, "ada") == "You would be the first."


def test_who_differ_decide_nothing(made: Ground) -> None:
    run = _run(made, 2)
    _choose(made, run, "ada")
    _choose(made, run, "bob", "Reject")
    assert _told(made, run, "cid") == "They differ: nothing is decided until they agree."


def test_who_cannot_decide_is_told_nothing_of_their_own_choice(made: Ground) -> None:
    run = _run(made, 2)
    _choose(made, run, "ada")
    assert _told(made, run, "eve", may=False) == ""
    with made.serving() as client:
        for name, role in (("vic", "viewer"), ("dan", "decider")):
            client.headers.update(made.person(name, role, cookie=True))  # type: ignore[arg-type]
            html = client.get(f"/runs/{run}/decide").text
            assert "Some options need <b>2 deciders</b>." in html
            assert "You would be" not in html
            assert "Yours may" not in html
            assert "Decides version" not in html


def test_what_another_answered_stands_beside_the_field_and_never_in_it(made: Ground) -> None:
    made.workflow = parse_workflow(_SORT)
    run = made.parked()
    _choose(made, run, "ada", fields={"severity": "high", "sum": "4711", "sure": True})
    with made.serving() as client:
        client.headers.update(made.person("bob", cookie=True))
        html = client.get(f"/runs/{run}/decide").text
        point = queries.standing(made.engine, run).checkpoint
        assert point is not None
        for said in ("ada: high.", "ada: 4711.", "ada: Yes."):
            assert f"{said} Left open, yours is the same." in html
        assert ">4711</textarea>" not in html
        filled = [line for line in html.splitlines() if 'name="field:' in line and " checked" in line]
        assert filled == []
        form = {"option": "Approve", "version": point.digest, "checkpoint": point.id}
        assert client.post(f"/runs/{run}/decide", data=form, follow_redirects=False).status_code == 303
    taken = made.state(run).record.decisions[1]
    assert len(taken.approved) == 2
    assert json.loads(made.engine.log.artefact(taken.fields)) == {"severity": "high", "sum": "4711", "sure": True}


def test_who_has_answered_finds_their_own_answer_in_the_field(made: Ground) -> None:
    made.workflow = parse_workflow(_SORT)
    run = made.parked()
    _choose(made, run, "ada", fields={"severity": "high", "sum": "4711", "sure": True})
    with made.serving() as client:
        client.headers.update(made.person("ada", cookie=True))
        html = client.get(f"/runs/{run}/decide").text
    assert ">4711</textarea>" in html
    assert "yours is the same" not in html
    assert any('value="high"' in line and " checked" in line for line in html.splitlines())


_ASKED = {"severity": "high", "sure": True}


def _apart(made: Ground) -> str:
    """ada and bob chose the same option with different answers."""
    made.workflow = parse_workflow(_SORT)
    run = made.parked()
    _choose(made, run, "ada", fields=_ASKED | {"sum": "100"})
    _choose(made, run, "bob", fields=_ASKED | {"sum": "200"})
    return run


def test_only_the_same_answers_add_up(made: Ground) -> None:
    run = _apart(made)
    point = queries.standing(made.engine, run).checkpoint
    assert point is not None
    lines = asked_of(point)
    assert [line for line in lines if line.startswith("1 of 2")] == [
        "1 of 2: ada (severity: high, sum: 100, sure: True) chose Approve",
        "1 of 2: bob (severity: high, sum: 200, sure: True) chose Approve",
    ]
    assert not any(line.startswith("2 of 2") for line in lines)


def test_who_chose_differently_sees_the_answer_of_the_other_and_that_they_disagree(made: Ground) -> None:
    run = _apart(made)
    with made.serving() as client:
        for name, said, role in (
            ("ada", "bob: 200.</p>", "decider"),
            ("bob", "ada: 100.</p>", "decider"),
            ("dan", "ada: 100; bob: 200. They differ: say yours.</p>", "decider"),
            ("vic", "ada: 100; bob: 200.</p>", "viewer"),
        ):
            client.headers.update(made.person(name, role, cookie=True))  # type: ignore[arg-type]
            html = client.get(f"/runs/{run}/decide").text
            assert said in html, name
            assert "They chose differently: <q>ada Approve (severity: high, sum: 100" in html
            assert "no disagreements" not in html
            assert "sum" not in "".join(line for line in html.splitlines() if "yours is the same" in line)
    assert "ada: high. Left open, yours is the same" not in html


def test_who_chose_differently_is_asked_again_and_the_inbox_says_so(made: Ground) -> None:
    run = _apart(made)
    with made.serving() as client:
        client.headers.update(made.person("ada", cookie=True))
        html = client.get("/?show=me").text
        assert f'id="{run}"' in html
        assert "ada, bob chose differently" in html
        client.headers.pop("cookie")
        client.headers.update(made.person("ada"))
        assert [one["run"] for one in client.get("/api/v1/inbox?mine=true").json()["runs"]] == [run]


def test_the_receipt_of_a_choice_that_needs_others_has_the_notes(made: Ground) -> None:
    run = _run(made, 2)
    with made.serving() as client:
        point = queries.standing(made.engine, run).checkpoint
        assert point is not None
        made.engine.submit(run, c.Assign(point.id, (system_user(), "bob"), "Olga"))
        point = queries.standing(made.engine, run).checkpoint
        assert point is not None
        client.headers.update(made.person(system_user(), cookie=True))
        words = {"option": "Approve", "version": point.digest, "checkpoint": point.id, "words": "Only without VAT."}
        at = client.post(f"/runs/{run}/decide", data=words, follow_redirects=False).headers["location"]
        page = client.get(at).text
    assert "It needs somebody else, too" in page
    assert "Only without VAT." in page
    assert "With 1 note" in page


def test_a_viewer_is_not_asked_to_answer(made: Ground) -> None:
    made.workflow = parse_workflow(_SORT)
    run = made.parked()
    with made.serving() as client:
        for role, asked in (("viewer", False), ("decider", True)):
            client.headers.update(made.person("vic", role, cookie=True))  # type: ignore[arg-type]
            html = client.get(f"/runs/{run}/decide").text
            assert ("Needs you" in html) is asked
            assert (">Answer</a>" in html) is asked
            fields = [line for line in html.splitlines() if 'name="field:' in line]
            assert fields
            assert all((" disabled" in line) is not asked for line in fields)
