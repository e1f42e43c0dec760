"""Whose checkpoint it is gets the message: when it opens, when it is handed over, when its deadline is near or past."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Command
from posts import PostServer
from reconvene.language.times import later
from reconvene.surroundings import SystemClock

FLOW = """\
name: pay
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo '# Plan'"]}
phases:
  - id: plan
    agents: [writer]
    checkpoint:
      question: Shall we pay?
      who: ["team:finance"]
      within: 2d
      remind: 8h
      late: LATE
      options: [{label: Approve}, {label: Reject, then: {end: rejected, status: aborted}}]
"""
HOUR = 3600.0
SETTINGS = """
[notify.people]
ada = "ada"
bob = "bob"
cleo = "cleo"
"team:finance" = "room"
[notify.destinations]
"""


class Clock:
    now = "2026-03-01T09:00:00.000Z"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(SystemClock, "now", lambda _: made.now)
    return made


@pytest.fixture
def server() -> Iterator[PostServer]:
    with PostServer() as made:
        yield made


@pytest.fixture
def start(folder: Path, tmp_path: Path, reconvene: Command, server: PostServer, clock: Clock) -> Command:
    own = Path(f"{tmp_path}.config") / "reconvene" / "reconvene.toml"
    own.parent.mkdir(parents=True)
    names = ("ada", "bob", "cleo", "room")
    hooks = [f'{name} = {{ url = "http://{server.at}/{name}", secret = "x" }}' for name in names]
    own.write_text(SETTINGS + "\n".join(hooks))
    for name, team in (("root", "none"), ("ada", "finance"), ("bob", "board"), ("cleo", "board")):
        role = "admin" if name == "root" else "decider"
        account = ["--account", _account()] if name == "root" else []
        assert reconvene("people", "add", name, "--role", role, "--team", team, *account).code == 0

    def started(late: str) -> None:
        (folder / "pay.yaml").write_text(FLOW.replace("LATE", late))
        done = reconvene("run", "pay.yaml", "--no-input")
        assert done.code == 3, done.err

    return started  # type: ignore[return-value]


def _account() -> str:
    from reconvene.settings import system_user

    return system_user()


def told(server: PostServer) -> set[tuple[str, str]]:
    """To whom, and what; and forgets it."""
    found = {(one.path.strip("/"), str(one.object["kind"])) for one in server.posted}
    server.posted.clear()
    return found


def test_a_team_its_members_and_whoever_it_is_handed_to_are_told(
    start: Command, reconvene: Command, server: PostServer, clock: Clock
) -> None:
    start("{who: [cleo]}")
    asked = server.posted[0].object
    assert (asked["asks"], asked["deadline"], asked["who"]) == (
        "Shall we pay?", "2026-03-03T09:00:00.000Z", ["team:finance"],
    )  # fmt: skip
    assert told(server) == {("room", "waiting"), ("ada", "waiting")}
    clock.now = later(clock.now, 41 * HOUR)
    assert "reminded" in reconvene("tick").out
    assert told(server) == {("room", "deadline"), ("ada", "deadline")}
    clock.now = later(clock.now, 8 * HOUR)
    assert "cleo may decide as well" in reconvene("tick").out
    assert told(server) == {("room", "deadline"), ("ada", "deadline"), ("cleo", "deadline")}
    assert reconvene("assign", "pay-1", "bob").code == 0
    assert reconvene("notify", "send").out == "sent 2, failed 0\n"
    assert told(server) == {("bob", "waiting"), ("cleo", "waiting")}


def test_what_a_deadline_took_is_told_to_who_follows_the_run(
    start: Command, reconvene: Command, server: PostServer, clock: Clock, folder: Path
) -> None:
    start("{option: Reject}")
    assert reconvene("run", "pay.yaml", "--no-input", "--notify", "bob").code == 3
    told(server)
    clock.now = later(clock.now, 49 * HOUR)
    reconvene("tick")
    found = [one.object for one in server.posted if one.path == "/bob"]
    assert [(one["kind"], one["run"]) for one in found] == [("deadline", "pay-2"), ("ended", "pay-2")]
    assert found[0]["asks"] == "Nobody decided in time, and the deadline took: Reject"
    assert "open" not in found[0]
