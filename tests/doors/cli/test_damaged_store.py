"""A store in which something was damaged: what can be told from the rest is told, the other runs go on as before."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from reconvene.errors import StoreError
from reconvene.wire.pins import unpin

RUN, SOUND = "flow-1", "flow-2"


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two runs at their checkpoint."""
    from commands import call

    folder = tmp_path_factory.mktemp("parked")
    (folder / "flow.yaml").write_text(
        "name: flow\nagents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}\n"
        "phases:\n- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}\n",
        encoding="utf-8",
    )
    for _ in (RUN, SOUND):
        assert call("run", "flow.yaml", cwd=folder, RECONVENE_HOME=str(folder / ".reconvene")).code == 3
    return folder.rename(folder.with_name("kept"))  # a copy goes on only where the original is gone


@pytest.fixture
def folder(parked: Path, tmp_path: Path) -> Path:
    shutil.copytree(parked, tmp_path, dirs_exist_ok=True)
    return tmp_path


def change(folder: Path, sql: str, *values: object) -> None:
    with sqlite3.connect(folder / ".reconvene" / "reconvene.db") as store:
        assert store.execute(sql, values).rowcount == 1
    store.close()


def set_doc(folder: Path, doc: object) -> None:
    change(folder, "UPDATE runs SET doc = ? WHERE run = ?", doc, RUN)


def doc_of(folder: Path) -> dict[str, object]:
    store = sqlite3.connect(folder / ".reconvene" / "reconvene.db")
    (text,) = store.execute("SELECT doc FROM runs WHERE run = ?", (RUN,)).fetchone()
    store.close()
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


def without_checkpoint(doc: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in doc.items() if key != "checkpoint"}


DOCS: dict[str, Callable[[dict[str, Any]], object]] = {
    "nothing": lambda doc: None,
    "no JSON": lambda doc: "{nope",
    "bytes": lambda doc: b"\x01\x02",
    "a list": lambda doc: "[1]",
    "an empty object": lambda doc: "{}",
    "no checkpoint": lambda doc: json.dumps(without_checkpoint(doc)),
    "a checkpoint of null": lambda doc: json.dumps(doc | {"checkpoint": None}),
    "an empty checkpoint": lambda doc: json.dumps(doc | {"checkpoint": {}}),
    "an option without a label": lambda doc: json.dumps(doc | {"checkpoint": {**doc["checkpoint"], "options": [{}]}}),
}


@pytest.mark.parametrize("what", DOCS)
def test_an_index_row_that_cannot_be_read_is_made_anew_from_the_log(
    what: str, folder: Path, reconvene: Command
) -> None:
    sound = {name: reconvene(name, "--json").objects for name in ("runs", "inbox")}
    set_doc(folder, DOCS[what](doc_of(folder)))

    for name in sound:
        assert reconvene(name, "--json").objects == sound[name]
        listed = reconvene(name).out
        assert RUN in listed
        assert SOUND in listed
    assert reconvene("queue").code == 0
    assert reconvene("show", RUN).code == 0
    assert reconvene("decide", RUN, "--option", "Continue").code == 0
    assert doc_of(folder)["status"] == "completed"


def test_columns_that_hold_nothing_hide_no_run_that_is_sound(folder: Path, reconvene: Command) -> None:
    change(folder, "UPDATE runs SET workflow = NULL, started = NULL, updated = NULL, doc = NULL WHERE run = ?", RUN)
    rows = reconvene("runs", "--json").objects
    assert sorted(str(row["run"]) for row in rows) == [RUN, SOUND]
    assert all(row["workflow"] == "flow" for row in rows)


def test_a_run_that_the_index_lost_can_be_decided(folder: Path, reconvene: Command) -> None:
    change(folder, "UPDATE runs SET status = NULL, doc = NULL WHERE run = ?", RUN)
    assert "Good?" in reconvene("resume", RUN, "--no-input").out
    assert reconvene("decide", RUN, "--option", "Continue").code == 0
    assert RUN in reconvene("runs").out


def test_where_row_and_log_are_damaged_the_list_tells_what_the_columns_say(folder: Path, reconvene: Command) -> None:
    set_doc(folder, None)
    change(folder, "UPDATE appends SET events = '[{}]' WHERE key = (SELECT min(key) FROM appends)")
    told = reconvene("runs").out
    assert SOUND in told
    assert f"{RUN}  waiting" in told
    (row,) = (row for row in reconvene("runs", "--json").objects if row["run"] == RUN)
    assert "the log of run flow-1" in str(row["why"])


def test_a_log_that_lost_events_says_which_run_and_which_event(folder: Path, reconvene: Command) -> None:
    change(folder, "DELETE FROM appends WHERE key = (SELECT key FROM appends ORDER BY key LIMIT 1 OFFSET 1)")
    done = reconvene("show", RUN)
    assert done.code == 1
    assert f"The log of run {RUN} does not hold together at event" in done.err
    assert f"reconvene log {RUN} still shows the events" in done.err
    assert reconvene("log", RUN).code == 0
    assert reconvene("show", SOUND).code == 0


def test_an_event_that_cannot_follow_says_which_run_and_which_event(folder: Path, reconvene: Command) -> None:
    key = "(SELECT id << 32 | head + 1 FROM runs WHERE run = ?)"
    event = '[{"v":1,"type":"StepClosed","at":"2030-01-01T00:00:00.000Z","serial":1,"step":7}]'
    change(folder, f"INSERT INTO appends (key, events) VALUES ({key}, ?)", RUN, event)
    change(folder, "UPDATE runs SET head = head + 1 WHERE run = ?", RUN)
    done = reconvene("show", RUN)
    assert done.code == 1
    assert f"The log of run {RUN} does not hold together at event" in done.err


def test_a_head_that_is_not_the_last_event_is_named_when_something_is_to_be_added(
    folder: Path, reconvene: Command
) -> None:
    change(folder, "UPDATE runs SET head = head + 5 WHERE run = ?", RUN)
    done = reconvene("decide", RUN, "--option", "Continue")
    assert done.code == 1
    assert f"The store says that the log of run {RUN} ends with event" in done.err


def test_stats_over_all_runs_leave_out_and_name_one_that_cannot_be_read(folder: Path, reconvene: Command) -> None:
    change(folder, "UPDATE appends SET events = '[{}]' WHERE key = (SELECT min(key) FROM appends)")
    done = reconvene("stats")
    assert done.code == 0
    assert done.out.startswith("1 run\n")
    assert f"{RUN} is left out: " in done.err
    (row,) = reconvene("stats", "--json").object["left_out"]  # type: ignore[attr-defined]
    assert row["run"] == RUN
    assert row["why"]
    assert "left_out" not in reconvene("stats", SOUND, "--json").object


def test_a_refused_resume_leaves_the_store_as_it_was(folder: Path, reconvene: Command) -> None:
    change(folder, "UPDATE appends SET events = '[{}]' WHERE key = (SELECT min(key) FROM appends)")
    before = (folder / ".reconvene" / "reconvene.db").read_bytes()
    done = reconvene("resume", RUN)
    assert done.code == 1
    assert f"An event in the log of run {RUN} has no type." in done.err
    assert (folder / ".reconvene" / "reconvene.db").read_bytes() == before


@pytest.mark.parametrize("version", ['"1"', "true", "-1"])
def test_a_pin_whose_version_is_no_number_is_refused_for_that(version: str) -> None:
    with pytest.raises(StoreError, match="has a format whose version cannot be read"):
        unpin(b'{"v":%s,"name":"flow"}' % version.encode(), RUN)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('run_id: "../../x-{{ n }}"', "leads out of the folder of the runs"),
        ("run_id: HEAD", "is a name that git keeps for itself"),
        ('workspace: "../{{ run }}"', "it leaves the workspace with '..'"),
    ],
)
def test_a_bad_id_or_folder_is_named_once(line: str, why: str, folder: Path, reconvene: Command) -> None:
    text = (folder / "flow.yaml").read_text(encoding="utf-8")
    (folder / "bad.yaml").write_text(f"{line}\n{text}", encoding="utf-8")
    done = reconvene("check", "bad.yaml")
    assert done.code == 64
    assert (done.out + done.err).count(why) == 1
