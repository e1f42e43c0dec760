"""`make golden`: makes the same homes every time, adds what is missing, and never touches what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from . import journey, make, place
from .archive import Home, lay_out, look, pack, unpack
from .canonical import differences
from .homes import add, contents, releases


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of this test's own to record in."""
    own = tmp_path / "place"
    for module in (journey, make, place):
        monkeypatch.setattr(module, "PLACE", str(own))
    return own


def test_the_homes_of_a_workflow_are_the_same_every_time_but_for_the_names_of_processes(elsewhere: Path) -> None:
    first, second = make.played("troubles", "0.1.0"), make.played("troubles", "0.1.0")
    assert list(first) == list(second)
    found = [line for stop in first for line in differences(first[stop].expected, second[stop].expected, stop)]
    assert [line for line in found if ".claim: " not in line] == []
    assert not elsewhere.exists()


def test_nothing_is_recorded_where_somebody_else_is_at_work(elsewhere: Path) -> None:
    elsewhere.mkdir()
    with pytest.raises(SystemExit, match="another `make golden` is at work"):
        make.played("troubles", "0.1.0")
    assert elsewhere.exists()


HOMES = {"new": Home({"a/b": (0o600, b"1"), "empty/": (0o755, b"")}, {"run": "r", "runs": {}})}


def test_what_is_packed_is_unpacked_as_it_lay(tmp_path: Path) -> None:
    (tmp_path / "x.tar.xz").write_bytes(pack(HOMES))
    assert unpack(tmp_path / "x.tar.xz") == HOMES
    lay_out(HOMES["new"], tmp_path / "out")
    assert look(tmp_path / "out") == HOMES["new"].files
    assert os.stat(tmp_path / "out" / "a" / "b").st_mode & 0o777 == 0o600


def test_only_what_a_release_has_not_is_added_beside_what_it_has(tmp_path: Path) -> None:
    first = add("0.2.0", "w", HOMES, pack(HOMES), tmp_path)
    kept = first.read_bytes()
    both = {**HOMES, "waiting.a": HOMES["new"]}
    rest = make.fresh("w", "0.2.0", both, tmp_path)
    assert list(rest) == ["waiting.a"]
    assert make.fresh("other", "0.2.0", both, tmp_path) == both
    second = add("0.2.0", "w", rest, pack(rest), tmp_path)
    assert (first.name, second.name) == ("w.tar.xz", "w.2.tar.xz")
    assert first.read_bytes() == kept
    listed = {name: about["stops"] for name, about in contents("0.2.0", tmp_path).items()}
    assert listed == {"w.tar.xz": ["new"], "w.2.tar.xz": ["waiting.a"]}
    assert make.fresh("w", "0.2.0", both, tmp_path) == {}


def test_an_archive_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "0.2.0").mkdir()
    (tmp_path / "0.2.0" / "w.tar.xz").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        add("0.2.0", "w", HOMES, pack(HOMES), tmp_path)
    assert (tmp_path / "0.2.0" / "w.tar.xz").read_bytes() == b"mine"


def test_releases_come_in_their_order(tmp_path: Path) -> None:
    for name in ("0.10.0", "0.2.0"):
        (tmp_path / name).mkdir()
    assert releases(tmp_path) == ["0.2.0", "0.10.0"]
