"""What changed since a person last looked: ten planted things are all told, and on the page shown or counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowded import OTHER, PERSON, agents, crowded, decide, others_act
from reconvene.app.engine import Engine
from reconvene.app.since import since
from reconvene.app.views.news import KINDS, counted
from reconvene.core.facts import commands as c
from reconvene.doors.http.callers import Caller
from reconvene.doors.web.decision_view import MOST_FACTS, NAMES, view
from reconvene.doors.web.drafted_decisions import Prepared
from reconvene.wiring import open_engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(str(tmp_path / "home"), runner=agents())
    yield made
    asyncio.run(made.close())


def _edit(engine: Engine, run: str, path: str, text: str, by: str) -> None:
    (Path(engine.load(run).workspace) / path).write_text(text, encoding="utf-8")
    engine.scan(run, by=by, door="test")


def test_ten_planted_changes_are_all_told(engine: Engine) -> None:
    run = crowded(engine)
    others_act(engine, run)
    _edit(engine, run, "report.md", "# Report\n\nI looked myself.\n", OTHER)
    engine.submit(run, c.Pause(by=OTHER))
    engine.submit(run, c.Resume(by=OTHER))
    found = since(engine, run, PERSON)
    told = {(one.kind, one.who, one.id, one.how) for one in found.news}
    kinds = {one.kind for one in found.news}
    assert found.what == "you chose “Look again”"
    assert found.decided == "Look again"
    turned = next(one for one in found.news if one.kind == "turned" and one.who == "analyst")  # 1
    assert "3.10x" in turned.was
    assert "3.89x" in turned.now
    assert any(one.kind == "trouble" and one.who == "absent" for one in found.news)  # 2
    assert any(one.kind == "said" and one.who == OTHER and "waiver" in one.text for one in found.news)  # 3
    assert ("ratings", "", "Capital", "") in told  # 4
    assert ("edited", OTHER, "report.md", "") in told  # 5
    assert any(one.kind == "answered" and one.who == OTHER for one in found.news)  # 6
    assert ("file", "analyst, sceptic", "new-1.md", "new") in told  # 7
    assert [one.text for one in found.news if one.kind == "run"] == ["paused the run", "had the run go on"]  # 8, 9
    assert {one.who for one in found.news if one.kind == "wrote"} == {"analyst", "sceptic", "moderator"}  # 10
    assert [one.kind for one in found.news] == sorted((one.kind for one in found.news), key=list(KINDS).index)
    assert kinds <= set(KINDS)


def test_what_is_not_on_the_first_screen_is_counted(engine: Engine) -> None:
    run = crowded(engine)
    others_act(engine, run)
    _edit(engine, run, "report.md", "# Report\n\nI looked myself.\n", OTHER)
    engine.submit(run, c.Pause(by=OTHER))
    engine.submit(run, c.Resume(by=OTHER))
    shown = view(engine, run, Caller(PERSON), 0, Prepared())
    assert shown is not None
    assert len(shown.facts) == MOST_FACTS
    on_screen = {NAMES.get(one.name, "file") for one in shown.facts} | {"turned"}
    for kind, count in shown.since.counts.items():
        if kind == "wrote":
            continue
        whole = kind == "file" and "file" in on_screen
        left = 0 if whole else count - (kind in on_screen)
        assert not left or counted(kind, left) in shown.more, (kind, shown.more)


def test_a_decision_of_somebody_else_is_news_and_ones_own_is_not(engine: Engine) -> None:
    run = crowded(engine)
    decide(engine, run, "Look again", by=OTHER)
    engine.drive_sync(run)
    found = since(engine, run, PERSON)
    assert [(one.who, one.text) for one in found.news if one.kind == "decided"] == [(OTHER, "Look again")]
    assert not any(one.kind == "decided" for one in since(engine, run, OTHER).news)


def test_marked_as_read_leaves_only_what_came_after(engine: Engine) -> None:
    run = crowded(engine)
    read = engine.log.head(run)
    assert since(engine, run, PERSON, read).news == ()
    assert since(engine, run, PERSON, read).what == "you marked it as read"
    others_act(engine, run)
    assert [one.kind for one in since(engine, run, PERSON, read).news] == ["said", "answered"]


def test_what_became_of_ones_words_is_told(engine: Engine) -> None:
    run = crowded(engine)
    shown = view(engine, run, Caller(PERSON), 0, Prepared())
    assert shown is not None
    assert shown.ledger.entries[0].text == "correction: Debt is £150M, not £100M"
    assert [one.kind for one in shown.needs] == ["field", "missing", "remark"]
    assert shown.needs[0].text == "27 questions without an answer. First:"
    assert shown.needs[0].quoted.startswith("Conflict 0: ")
