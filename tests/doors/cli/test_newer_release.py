"""A run that this release cannot read in full: every command refuses it with a sentence, and changes nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Done, call
from reconvene.adapters.sqlite import SqliteLog, layout
from reconvene.core.facts.ids import digest_of
from reconvene.wire import pins

STORE = "reconvene.db"
RUN = "two-step-1"

NEED_THE_WORKFLOW = [
    ("decide", RUN, "--option", "Continue"),
    ("resume", RUN),
    ("remark", RUN, "correction: Revenue is $900M"),
    ("pause", RUN),
    ("abort", RUN),
    ("rollback", RUN),
    ("show", RUN),
    ("fork", RUN, "--at", "9"),
]
NEED_THE_LOG = [
    ("log", RUN),
    ("files", RUN),
    ("diff", RUN),
    ("ledger", RUN),
    ("gaps", RUN),
    ("rounds", RUN),
]
LISTINGS = [("runs",), ("inbox",), ("queue",), ("runs", "--json"), ("inbox", "--json")]


def told(home: Path, *words: str) -> Done:
    return call("--home", str(home), *words, cwd=home.parent)


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run at its first checkpoint."""
    folder = tmp_path_factory.mktemp("parked")
    (folder / "flow.yaml").write_text(
        "name: two-step\nagents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}\n"
        "phases:\n- {id: draft, agents: [writer], checkpoint: {approval_required: true}}\n"
        "- {id: more, agents: [writer]}\n"
    )
    assert told(folder / "home", "run", str(folder / "flow.yaml")).code == 3
    return folder


@pytest.fixture
def home(parked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(parked / "home", tmp_path / "home"))


def replace_pin(home: Path, change: Callable[[dict[str, object]], dict[str, object]]) -> None:
    """As if the run had been started with this pin: it is stored under its own digest."""
    log = SqliteLog(home / STORE)
    row = log.index_row(RUN)
    assert row is not None
    old = json.loads(row.doc)["pinned"]
    data = json.dumps(change(json.loads(log.artefact(old))), separators=(",", ":")).encode()
    log.close()
    new = digest_of(data)

    def swap(text: bytes) -> bytes:
        assert old.encode() in text
        return text.replace(old.encode(), new.encode())

    with sqlite3.connect(home / STORE) as connection:
        connection.execute("INSERT INTO artefacts VALUES (?, 0, ?)", (new, data))
        first, events = connection.execute("SELECT key, events FROM appends ORDER BY key").fetchone()
        text = zlib.decompress(events) if isinstance(events, bytes) else events.encode()
        connection.execute("UPDATE appends SET events = ? WHERE key = ?", (swap(text).decode(), first))
        connection.execute("UPDATE runs SET doc = ?", (swap(row.doc.encode()).decode(),))
    connection.close()


def append(home: Path, batch: str) -> None:
    """One more event, as another release wrote it."""
    with sqlite3.connect(home / STORE) as connection:
        key, head = connection.execute("SELECT id, head FROM runs").fetchone()
        connection.execute("INSERT INTO appends (key, events) VALUES (?, ?)", (key << 32 | head + 1, batch))
        connection.execute("UPDATE runs SET head = head + 1")
    connection.close()


def contents(home: Path) -> dict[str, str]:
    """Every row of the database, and every other file byte for byte."""
    found = {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.startswith(STORE)
    }
    connection = sqlite3.connect(home / STORE)
    found[STORE] = "\n".join([*connection.iterdump(), str(connection.execute("PRAGMA user_version").fetchone())])
    connection.close()
    return found


def an_agent_with(key: str) -> Callable[[dict[str, object]], dict[str, object]]:
    def change(pin: dict[str, object]) -> dict[str, object]:
        agents = pin["agents"]
        assert isinstance(agents, dict)
        agents["writer"][key] = [{"min_chars": 100}]
        return pin

    return change


DOCTORED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pin with a field that nobody knows": (
        lambda home: replace_pin(home, an_agent_with("gatez")),
        f"The workflow stored with run {RUN} (format {pins.VERSION}) holds something that this release of Reconvene"
        " does not know: Object contains unknown field `gatez`",
    ),
    "a pin of the future": (
        lambda home: replace_pin(home, lambda pin: {**pin, "v": 99}),
        f"The workflow stored with run {RUN} has the format 99",
    ),
    "an event with a field that nobody knows": (
        lambda home: append(home, '[{"v":1,"type":"Paused","at":"2030-01-01T00:00:00.000Z","mood":"calm"}]'),
        f"An event in the log of run {RUN}, Paused (format 1), holds something that this release of Reconvene does not"
        " know: Object contains unknown field `mood`",
    ),
    "an event of the future": (
        lambda home: append(home, '[{"v":99,"type":"Paused","at":"2030-01-01T00:00:00.000Z"}]'),
        f"An event in the log of run {RUN} has the format 99",
    ),
    "a type of event of the future": (
        lambda home: append(home, '[{"v":1,"type":"Teleported","at":"2030-01-01T00:00:00.000Z"}]'),
        f"An event in the log of run {RUN} is of type 'Teleported', which this release of Reconvene does not know",
    ),
}


@pytest.mark.parametrize("what", DOCTORED)
def test_it_is_refused_with_a_sentence_and_nothing_is_changed(what: str, home: Path) -> None:
    doctor, sentence = DOCTORED[what]
    doctor(home)
    before = contents(home)
    for words in NEED_THE_WORKFLOW if "pin" in what else NEED_THE_WORKFLOW + NEED_THE_LOG:
        done = told(home, *words)
        assert done.code == 1, words
        assert done.err.startswith(f"error: {sentence}"), words
        assert "pip install --upgrade reconvene" in done.err
        assert "Nothing was changed" in done.err
        assert contents(home) == before, words
    for words in NEED_THE_LOG:
        told(home, *words)
    for words in LISTINGS:
        done = told(home, *words)
        assert done.code == 0, words
        assert RUN in done.out or words == ("queue",)
    assert contents(home) == before


def test_a_store_of_the_future_is_refused_by_every_command(home: Path) -> None:
    connection = sqlite3.connect(home / STORE)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = contents(home)
    for words in NEED_THE_WORKFLOW + NEED_THE_LOG + LISTINGS:
        done = told(home, *words)
        assert done.code == 1, words
        assert f"newer release of Reconvene (its layout is 99, this release knows {layout.NEWEST})" in done.err
        assert "pip install --upgrade reconvene" in done.err
        assert contents(home) == before, words


@pytest.mark.parametrize(
    "change",
    [lambda doc: {}, lambda doc: {**doc, "mood": {"calm": True}, "checkpoint": {"prompt": "Go on?", "mood": "calm"}}],
    ids=["an old row", "a newer row"],
)
def test_a_listing_reads_the_rows_of_other_releases(change: Callable[[dict[str, object]], object], home: Path) -> None:
    with sqlite3.connect(home / STORE) as connection:
        (doc,) = connection.execute("SELECT doc FROM runs").fetchone()
        connection.execute("UPDATE runs SET doc = ?", (json.dumps(change(json.loads(doc))),))
    for status in ("running", "queued", "waiting"):
        connection.execute("UPDATE runs SET status = ?", (status,))
        connection.commit()
        for words in LISTINGS:
            assert told(home, *words).code == 0, (words, status)
    connection.close()
    done = told(home, "show", RUN)
    assert (done.code, "draft.md" in done.out) == (0, True)
