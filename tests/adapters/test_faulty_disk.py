"""The store on a disk that fails: what was acknowledged is there afterwards, what was not is there whole or not."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("apsw", reason="the faulty disk is made with apsw")

from adapters.faulty_disk import Connection, FaultyDisk
from exploring import part
from reconvene.adapters.sqlite import SqliteLog, layout
from reconvene.core.facts.events import AnyEvent, RemarkAdded
from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError
from reconvene.ports import Append
from reconvene.testing.chain_conformance import chain_holds
from reconvene.testing.samples import remark

KINDS = {"full": 0.02, "failed": 0.02, "torn": 0.02, "unsynced": 0.02, "power cut": 0.01}


class Trial:
    """One store through failures of its disk; `told` is what was acknowledged of each run."""

    def __init__(self, home: Path, seed: int) -> None:
        self.path = home / "log.db"
        self.random = Random(f"disk {seed}")
        self.told: dict[str, list[str]] = {"run-1": [], "run-2": []}
        self.tried: dict[str, list[str]] = {"run-1": [], "run-2": []}  # since the last acknowledged one
        self.struck: list[str] = []
        self._seed = seed
        self._words = 0
        SqliteLog(self.path).close()

    def session(self, number: int, patch: pytest.MonkeyPatch, *, careless: bool = False) -> None:
        """Appends until a power cut, or for a while; then the store is opened again on a sound disk and looked at."""
        rates = {kind: rate * 4 for kind, rate in KINDS.items() if self.random.random() < 0.5}
        disk = FaultyDisk(f"faulty-{self._seed}-{number}", self.random, rates)
        with patch.context() as inside:
            inside.setattr(layout.sqlite3, "connect", lambda path, **_: Connection(str(path), disk.name))
            log = SqliteLog(self.path)
        if careless:
            log._connection.execute("PRAGMA synchronous=NORMAL")
        disk.armed = True
        for _ in range(25):
            if disk.cut:
                break
            self._append(log)
        disk.armed = False
        self.struck += disk.struck
        if self.random.random() < 0.7:
            disk.cut = True  # the power goes now, at the latest
        with suppress(StoreError, sqlite3.Error):
            log.close()
        if disk.cut:
            disk.lose()
        disk.unregister()
        self.look()

    def _append(self, log: SqliteLog) -> None:
        run = self.random.choice(sorted(self.told))
        self._words += 1
        text = f"word {self._words} " + "x" * self.random.choice((1, 300, 9_000))
        data = text.encode() * self.random.choice((1, 3))
        self.tried[run].append(text)
        try:
            log.append(run, log.head(run), Append([remark(text)], {digest_of(data): data}))
        except StoreError:
            return
        self.told[run] += self.tried[run][-1:]

    def look(self) -> None:
        log = SqliteLog(self.path)
        try:
            assert list(log.audit()) == []
            for run, told in self.told.items():
                found = [_text(event) for _, event in log.read(run)]
                assert [text for text in found if text in told] == told, "acknowledged, and not there in its order"
                assert set(found) <= set(told) | set(self.tried[run]), "there, and never written"
                assert log.head(run) == len(found)
                chain_holds(log, run)
                self.told[run] = found
        finally:
            log.close()


def _text(event: AnyEvent) -> str:
    assert isinstance(event, RemarkAdded)
    return event.text


@pytest.mark.parametrize("seed", part(range(300), every=20))
def test_what_was_acknowledged_survives_full_torn_failed_and_unsynced_writes_and_power_cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    trial = Trial(tmp_path / "home", seed)
    for number in range(4):
        trial.session(number, monkeypatch)


def test_every_kind_of_failure_strikes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    struck: set[str] = set()
    for seed in range(1_000, 1_025):
        trial = Trial(tmp_path / f"home-{seed}", seed)
        trial.session(0, monkeypatch)
        struck |= set(trial.struck)
    assert struck == KINDS.keys()


def test_a_store_that_does_not_sync_what_it_acknowledges_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless() -> None:
        for seed in range(2_000, 2_010):
            Trial(tmp_path / f"home-{seed}", seed).session(0, monkeypatch, careless=True)

    with pytest.raises(AssertionError, match="acknowledged, and not there"):
        careless()
