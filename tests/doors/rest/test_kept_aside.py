"""What the API tells and takes beside decisions: files kept aside, what can be taken back, who sets limits."""

from __future__ import annotations

from pathlib import Path

from reconvene.adapters.workspace.held_files import HeldFiles
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.doors.http.callers import Caller
from served_home import Ground, ground

API = "/api/v1"


def _hold(made: Ground, run: str) -> None:
    HeldFiles(str(Path(made.home) / "held")).keep(run, "sub/settings.env", b"KEY=1\n")


def test_a_file_that_was_kept_aside_is_listed_and_taken_as_the_edit_of_who_asks(tmp_path: Path) -> None:
    with ground(tmp_path) as made, made.serving() as client:
        run = made.parked()
        _hold(made, run)
        at, rita, ada = f"{API}/runs/{run}/aside", made.person("rita", "reviewer"), made.person("ada")
        assert client.get(at, headers=rita).json() == {"run": run, "kept_aside": ["sub/settings.env"]}
        assert client.post(at, json={"path": "sub/settings.env"}, headers=rita).status_code == 403
        assert client.post(at, json={"path": "other.env"}, headers=ada).status_code == 404
        assert client.post(at, json={"path": "sub/settings.env"}, headers=ada).status_code == 200
        assert client.get(at, headers=ada).json()["kept_aside"] == []
        edits = [event for _, event in made.engine.log.read(run) if isinstance(event, e.FilesEdited)]
        assert [(one.by, [file.path for file in one.files]) for one in edits] == [("ada", ["sub/settings.env"])]
        assert client.get(f"{API}/runs/{run}/files/sub/settings.env", headers=ada).text == "KEY=1\n"


def test_whether_an_option_can_be_taken_back_is_told_with_the_checkpoint(tmp_path: Path) -> None:
    with ground(tmp_path) as made, made.serving() as client:
        run = made.parked()
        told = client.get(f"{API}/runs/{run}/checkpoint", headers=made.person("ada")).json()
    assert {one["label"]: one.get("undo") for one in told["options"]} == {
        "Go on": "undo the round, or fork",
        "Once more": "undo the round, or fork",
        "Stop": "reopen the run",
    }


def test_limits_are_for_who_may_decide_what_is_open_or_an_admin_to_set(tmp_path: Path) -> None:
    with ground(tmp_path) as made, made.serving() as client:
        run = made.parked()
        point = made.state(run).world.open
        assert point is not None
        made.engine.submit(run, c.Assign(point.id, ("ada",), "Olga"), actor=Actor("Olga", "admin"))
        told = {}
        for name in ("gus", "ada", "root"):
            made.people[name] = one = Caller(name, "admin" if name == "root" else "decider", listed=True)
            asks = {"authorization": f"Bearer {one.name}"}
            told[one.name] = client.put(f"{API}/runs/{run}/limits", json={"cost": 5 + len(told)}, headers=asks)
        assert {name: answer.status_code for name, answer in told.items()} == {"gus": 403, "ada": 200, "root": 200}
        assert "This waits for ada, and you are gus." in told["gus"].json()["detail"]
        made.engine.submit(run, c.AnswerCheckpoint(point.id, "Go on", by="ada"), actor=Actor("ada", "decider"))
        freely = client.put(f"{API}/runs/{run}/limits", json={"cost": 9}, headers={"authorization": "Bearer gus"})
        assert freely.status_code == 200, "while nothing is asked, every decider may"
