"""Text without an end holds nobody up: it is cut and that is said; what is drawn is drawn beside the engine, once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from reconvene.app import measures
from reconvene.doors.web import documents_view, rendered
from reconvene.kits.reading import terms
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wiring import open_engine
from served_home import Ground, ground

LONG = "A" * 1_000_000


@pytest.fixture
def made(tmp_path: Path) -> Any:
    with ground(tmp_path) as one:
        files = {"draft.md": LONG, "list.yaml": f"- a: {LONG}"}
        one.agents = ScriptedAgents({}, default={"text": LONG, "files": files})
        one.engine = open_engine(one.home, runner=one.agents)
        yield one


def test_a_page_with_a_line_without_an_end_says_what_is_cut_and_where_it_is(made: Ground) -> None:
    run, ada = made.parked(), made.person("ada", cookie=True)
    with made.serving() as client:
        for file in ("draft.md", "list.yaml"):
            shown = client.get(f"/runs/{run}/decide?file={file}", headers=ada)
            assert shown.status_code == 200
            assert len(shown.text) < 2 * rendered.LONGEST
            assert f"{1_000_000 + (5 if file == 'list.yaml' else 0) - rendered.LONGEST:,} more characters" in shown.text
            assert f"/runs/{run}/raw?path={file}" in shown.text
            raw = client.get(f"/runs/{run}/raw", params={"path": file}, headers=ada)
            assert len(raw.content) >= len(LONG)


def test_what_is_drawn_is_drawn_beside_the_engine(made: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    where: list[str] = []

    def noted(text: str, prefix: str = "") -> rendered.Document:
        where.append(threading.current_thread().name)
        return rendered.document(text, prefix)

    monkeypatch.setattr(documents_view, "document", noted)
    run = made.parked()
    with made.serving() as client:
        assert client.get(f"/runs/{run}/decide", headers=made.person("ada", cookie=True)).status_code == 200
    assert where
    assert not any(name.startswith("engine") for name in where)


def test_what_became_of_remarks_is_worked_out_once_for_all_who_look(
    made: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a file is not read for what it states while nobody said a figure that it might state."""
    worked, read = list[str](), list[int]()
    made_of, stated = measures._ledger, terms.StatedIn.__init__
    monkeypatch.setattr(measures, "_ledger", lambda engine, run: (worked.append(run), made_of(engine, run))[1])
    monkeypatch.setattr(terms.StatedIn, "__init__", lambda self, text: (read.append(len(text)), stated(self, text))[1])
    run, ada = made.parked(), made.person("ada")
    with made.serving() as client:
        for address in (f"/runs/{run}/decide", f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/ledger"):
            assert client.get(address, headers=ada).status_code == 200
        assert (worked, [size for size in read if size >= len(LONG)]) == ([run], [])
        said = {"remarks": [{"text": "correction: Revenue is 900, not 850"}]}
        assert client.post(f"/api/v1/runs/{run}/remarks", json=said, headers=ada).status_code == 201
        assert client.get(f"/runs/{run}/decide", headers=ada).status_code == 200
    assert worked == [run, run]
