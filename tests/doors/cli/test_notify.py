"""`reconvene notify`: destinations of the person's own settings, what waits, test, retry, send. No address is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Command
from posts import PostServer
from reconvene.notify_wiring import LiveRoutes

FLOW = """
name: flow
agents: {writer: {command: "cat >/dev/null; echo fine"}}
phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]
"""
TOKEN = "t0ken-in-the-path"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW)
    return tmp_path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The person's own settings file."""
    path = Path(f"{tmp_path}.config") / "reconvene" / "reconvene.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def server() -> Iterator[PostServer]:
    with PostServer() as made:
        yield made


def set_up(own: Path, server: PostServer, more: str = "", to: str = '["hook"]') -> None:
    hook = f'hook = {{ url = "http://{server.at}/{TOKEN}", secret = "$HOOK_SECRET" }}'
    own.write_text(f"[notify]\nto = {to}\n[notify.destinations]\n{hook}\n{more}\n")


def test_without_destinations_it_says_where_to_write_one(reconvene: Command, own: Path) -> None:
    done = reconvene("notify")
    assert done.code == 0
    assert str(own) in done.out
    assert reconvene("notify", "--json").object == {"destinations": [], "messages": []}
    assert "no destination is set up" in reconvene("notify", "test").err


def test_a_run_tells_its_destinations_where_it_waits_and_that_it_has_ended(
    reconvene: Command, own: Path, server: PostServer, folder: Path
) -> None:
    set_up(own, server)
    environment = {"HOOK_SECRET": "hunter22-of-the-hook", "RECONVENE_URL": "https://runs.example"}
    assert reconvene("run", "flow.yaml", "--no-input", **environment).code == 3
    assert reconvene("decide", "flow-1", "--option", "Continue", "--latest", **environment).code == 0
    assert [one.object["kind"] for one in server.posted] == ["waiting", "ended"]
    assert server.posted[0].object["asks"] == "Continue with next phase?"
    assert server.posted[0].object["url"] == "https://runs.example/runs/flow-1/decide"
    assert len(set(server.ids)) == 2
    listed = reconvene("notify", **environment)
    assert "delivered" in listed.out
    assert "nothing waits to be sent" in listed.out
    rows = reconvene("notify", "--json", **environment).object["messages"]
    assert isinstance(rows, list)
    assert [row["state"] for row in rows] == ["delivered", "delivered"]
    everything = b"".join(path.read_bytes() for path in (folder / ".reconvene").rglob("*") if path.is_file())
    for secret in (TOKEN, "hunter22-of-the-hook"):
        assert secret not in listed.out
        assert secret.encode() not in everything


def test_what_could_not_be_sent_waits_with_the_reason_and_is_retried(
    reconvene: Command, own: Path, server: PostServer
) -> None:
    set_up(own, server)
    server.answers = [503]
    parked = reconvene("run", "flow.yaml", "--no-input", HOOK_SECRET="x")
    assert parked.code == 3
    assert "a message is not delivered yet" in parked.err
    listed = reconvene("notify", HOOK_SECRET="x")
    assert "it answers 503" in listed.out
    assert TOKEN not in listed.out + parked.err
    server.answers = [200]
    assert reconvene("notify", "retry", "--json").object == {"due": 1}
    assert reconvene("notify", "send", HOOK_SECRET="x").out == "sent 1, failed 0\n"
    assert len(set(server.ids)) == 1
    assert reconvene("notify", "send", "--json", HOOK_SECRET="x").object["sent"] == 0


def test_a_destination_is_tested_past_the_outbox(reconvene: Command, own: Path, server: PostServer) -> None:
    set_up(own, server, 'chat = "$NOT_SET"')
    done = reconvene("notify", "test", HOOK_SECRET="x")
    assert done.code == 1
    assert done.out == "hook: sent\nchat: the variable NOT_SET is not set where this runs\n"
    assert reconvene("notify", "test", "hook", "--json", HOOK_SECRET="x").json == [{"name": "hook", "error": ""}]
    assert [one.object["kind"] for one in server.posted] == ["test", "test"]
    assert len(set(server.ids)) == 2, "who passes over an id that was seen gets both"
    assert "did you mean hook?" in reconvene("notify", "test", "hok").err


def test_a_run_can_be_told_to_one_more_destination(reconvene: Command, own: Path, server: PostServer) -> None:
    set_up(own, server, to="[]")
    refused = reconvene("run", "flow.yaml", "--no-input", "--notify", "hok", HOOK_SECRET="x")
    assert (refused.code, "did you mean hook?" in refused.err) == (64, True)
    assert reconvene("run", "flow.yaml", "--no-input", HOOK_SECRET="x").code == 3
    assert server.posted == []
    assert reconvene("run", "flow.yaml", "--no-input", "--notify", "hook", HOOK_SECRET="x").code == 3
    assert [one.object["run"] for one in server.posted] == ["flow-2"]


def test_a_worker_sends_what_is_due(reconvene: Command, own: Path, server: PostServer) -> None:
    set_up(own, server)
    assert reconvene("new", "flow.yaml", HOOK_SECRET="x").code == 0
    assert reconvene("worker", "--once", HOOK_SECRET="x").code == 0
    assert [one.object["kind"] for one in server.posted] == ["waiting"]


def test_a_project_may_name_destinations_and_not_say_where_they_lead(
    reconvene: Command, own: Path, server: PostServer, folder: Path
) -> None:
    set_up(own, server, to="[]")
    (folder / "reconvene.toml").write_text('[notify.workflows]\nflow = "hook"\n')
    assert reconvene("run", "flow.yaml", "--no-input", HOOK_SECRET="x").code == 3
    assert len(server.posted) == 1
    (folder / "reconvene.toml").write_text(
        'url = "https://evil.example"\n[notify.destinations]\nhook = "json://evil"\n'
    )
    refused = reconvene("runs")
    listed = reconvene("notify")
    assert listed.code == 64
    assert f"{folder}/reconvene.toml:2: 'destinations' says where messages of yours go: a project cannot" in listed.err
    assert "reconvene.toml:1: 'url' says where links of messages lead: a project cannot" in listed.err
    assert refused.code in (0, 64)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("[notify]\nto = 3", 2, "'to' should be names of destinations"),
        ("[notify]\nfor = []", 2, "there is no setting 'for'"),
        ("notify = 1", 1, "'notify' should be a table"),
        ('[notify.destinations]\nchat = { url = "x://", kind = 1 }', 2, "there is no 'kind' of a destination"),
        ('[notify.destinations]\nchat = { secret = "x" }', 2, "'chat' has no address"),
        ('[notify.destinations]\nchat = { url = "slack://x", secret = "x" }', 2, "only a webhook has a secret"),
        ('[notify.destinations]\nchat = { url = "x://", kinds = ["wating"] }', 2, "are no kinds of messages"),
        ('[notify.destinations]\n"a b" = "x://"', 2, "'a b' is no name of a destination"),
        ("[notify.people]\nada = [1]", 2, "'ada' should be names of destinations"),
    ],
)
def test_what_is_wrong_in_the_settings_is_told_with_its_line(
    reconvene: Command, own: Path, text: str, line: int, why: str
) -> None:
    own.write_text(text)
    done = reconvene("notify")
    assert done.code == 64
    assert f"{own}:{line}: " in done.err
    assert why in done.err


def test_settings_that_cannot_be_read_keep_nothing_from_being_recorded(
    own: Path, server: PostServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    set_up(own, server)
    routes = LiveRoutes(str(folder))
    assert routes().everybody == ("hook",)
    own.write_text("[notify\n")
    assert routes().everybody == ("hook",)
    set_up(own, server, to='["hook", "log"]')
    assert routes().everybody == ("hook", "log")
