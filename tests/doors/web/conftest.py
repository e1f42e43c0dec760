"""Pages without a browser: the whole application, asked in the test's own process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient
from tests.browser.furnished import STOPS, furnish
from tests.browser.serving import engine_of, nothing
from tests.browser.startable import Packaged

from reconvene.app.engine import Engine
from reconvene.doors.http.callers import Callers
from reconvene.doors.http.service import Service
from reconvene.doors.web.app import application

HOST = "cockpit.test"
_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Desk(NamedTuple):
    """Somebody at a browser who has entered. `origin`: what their browser says of where a form was."""

    client: TestClient
    home: Path

    def get(self, path: str, code: int = 200) -> str:
        answer = self.client.get(path, follow_redirects=False)
        assert answer.status_code == code, (path, answer.status_code, answer.text[:500])
        return answer.text

    def post(self, path: str, code: int = 303, **fields: str) -> str:
        """Where it leads."""
        answer = self.client.post(
            path, data=fields, headers={"origin": f"http://{HOST}"}, follow_redirects=False
        )  # fmt: skip
        assert answer.status_code == code, (path, answer.status_code, answer.text[:500])
        return answer.headers.get("location", "") or answer.text


Sit = Callable[[Path], Desk]


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that tests only read. A test that changes a run has one of its own."""
    return furnish(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def sit() -> Iterator[Sit]:
    open_clients: list[TestClient] = []

    def sat(home: Path) -> Desk:
        service = Service(lambda: engine_of(home), str(home), nothing, nothing, Packaged())
        callers = Callers("ann")
        client = TestClient(application(service, callers, [HOST]), base_url=f"http://{HOST}")
        client.__enter__()
        open_clients.append(client)
        client.get(f"/enter?token={callers.link}", follow_redirects=False)
        return Desk(client, home)

    yield sat
    for client in open_clients:
        client.__exit__(None, None, None)


@pytest.fixture
def desk(furnished: Path, sit: Sit) -> Desk:
    return sit(furnished)


@pytest.fixture
def own_desk(tmp_path: Path, sit: Sit) -> Desk:
    """With a run that the test may change: market-entry-1, at its first checkpoint."""
    return sit(furnish(tmp_path / "own", tuple(stop for stop in STOPS if stop.workflow == "market-entry")))


def engine(home: Path) -> Engine:
    return engine_of(home)


class Parsed(HTMLParser):
    """A page as a parser reads it: elements with their attributes, and text by where it stands."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._stack: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._stack:
            while self._stack.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._stack or self._stack[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def links(self) -> list[str]:
        return [own["href"] for tag, own in self.elements if tag == "a" and "href" in own]
