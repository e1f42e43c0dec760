"""The desk of a home keeps the promises of its port; nothing that could be used lies in its file."""

from __future__ import annotations

import io
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reconvene.adapters.desk import HomeDesk, desk_file, upload_files
from reconvene.desk_ports import Desk
from reconvene.errors import StoreError, UserError
from reconvene.testing.desk_conformance import OF_A, T0, T1, WEEK_LATER, DeskConformance


class TestHomeDesk(DeskConformance):
    def make_desk(self, folder: Path) -> Desk:
        return HomeDesk(folder / "home")


def test_the_secret_of_a_session_is_not_in_the_file(tmp_path: Path) -> None:
    with closing(HomeDesk(tmp_path)) as desk:
        desk.begin_session("a-secret-of-a-browser", "ada", T0, T1)
    assert not any(b"a-secret-of-a-browser" in path.read_bytes() for path in tmp_path.iterdir())
    assert (tmp_path / "desk.sqlite").stat().st_mode & 0o077 == 0


def test_a_damaged_desk_is_named_with_what_to_do_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "desk.sqlite").write_bytes(b"no database at all, and long enough to be looked at" * 40)
    with pytest.raises(StoreError, match="is damaged") as caught:
        HomeDesk(tmp_path)
    assert "mv " in caught.value.hint
    assert (tmp_path / "desk.sqlite").read_bytes().startswith(b"no database")


def test_a_desk_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    HomeDesk(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "desk.sqlite")) as connection:
        connection.execute(f"PRAGMA user_version={len(desk_file.STEPS) + 1}")
    with pytest.raises(StoreError, match="newer release"):
        HomeDesk(tmp_path)


def test_an_upload_that_is_too_large_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_files, "MOST_UPLOAD", 10)
    monkeypatch.setattr(upload_files, "MOST_UPLOADS", 15)
    with closing(HomeDesk(tmp_path)) as desk:
        desk.keep_upload("ada", "a", io.BytesIO(b"0123456789"), T0)
        with pytest.raises(UserError, match="larger than"):
            desk.keep_upload("ada", "b", io.BytesIO(b"0123456789x"), T0)
        with pytest.raises(UserError, match="uploads that no run was given"):
            desk.keep_upload("ada", "c", io.BytesIO(b"012345"), T0)
        assert [one.name for one in desk.uploads("ada")] == ["a"]
    assert len(list((tmp_path / "uploads").iterdir())) == 1


def test_what_a_killed_process_left_of_an_upload_is_swept(tmp_path: Path) -> None:
    left = tmp_path / "uploads" / "new-abc"
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"ha")
    os.utime(left, (0, 0))
    with closing(HomeDesk(tmp_path)) as desk:
        desk.sweep(WEEK_LATER)
    assert not left.exists()


def test_a_draft_goes_when_its_run_is_deleted_and_no_desk_is_made_for_that(tmp_path: Path) -> None:
    from reconvene import desk_wiring

    desk_wiring.forget(str(tmp_path), "run-1")
    assert list(tmp_path.iterdir()) == []
    with closing(HomeDesk(tmp_path)) as desk:
        desk.keep_draft(*OF_A, "{}", 0, T0)
    desk_wiring.forget(str(tmp_path), "run-1")
    with closing(HomeDesk(tmp_path)) as desk:
        assert desk.draft(*OF_A).revision == 0
