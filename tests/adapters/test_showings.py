"""Which versions were shown to whom is kept in a small file for each run, and a damaged one counts as nothing shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.adapters import showings
from reconvene.adapters.showings import ShownFiles
from reconvene.showing_ports import Showing, Viewer

ADA, BOB = Viewer("ann", "Ada", "terminal"), Viewer("ann", "Bob", "terminal")


def kept(folder: Path) -> ShownFiles:
    return ShownFiles(str(folder / "shown"), str)


def test_showings_are_given_oldest_first_for_each_run(tmp_path: Path) -> None:
    given = [Showing("1", ADA), Showing("2", BOB, after_decide=True), Showing("1", ADA._replace(door="page"))]
    for showing in given:
        kept(tmp_path).note("a-1", showing)
    kept(tmp_path).note("b-1", Showing("9", ADA))
    assert kept(tmp_path).of("a-1") == given
    assert kept(tmp_path).of("b-1") == [Showing("9", ADA)]
    assert kept(tmp_path).of("c-1") == []


def test_the_same_shown_again_to_the_same_viewer_is_one_unless_something_was_between(tmp_path: Path) -> None:
    for showing in (Showing("1", ADA), Showing("1", BOB), Showing("1", ADA), Showing("2", ADA), Showing("1", ADA)):
        kept(tmp_path).note("a-1", showing)
    assert [one.version for one in kept(tmp_path).of("a-1") if one.to == ADA] == ["1", "2", "1"]


def test_a_damaged_line_is_passed_over(tmp_path: Path) -> None:
    kept(tmp_path).note("a-1", Showing("1", ADA))
    with open(tmp_path / "shown" / "a-1.jsonl", "ab") as file:
        file.write(b'{"version": "2", "us\n\xff\xfe\n[]\n')
    kept(tmp_path).note("a-1", Showing("3", ADA))
    assert [one.version for one in kept(tmp_path).of("a-1")] == ["1", "3"]


@pytest.mark.parametrize("linked", ["shown", "shown/a-1.jsonl"])
def test_a_link_is_not_followed(tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a-1.jsonl").write_bytes(b'{"version":"1","user":"ann"}\n')
    link = tmp_path / linked
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside if linked == "shown" else outside / "a-1.jsonl")
    kept(tmp_path).note("a-1", Showing("2", ADA))
    assert kept(tmp_path).of("a-1") == []
    assert (outside / "a-1.jsonl").read_bytes() == b'{"version":"1","user":"ann"}\n'


def test_where_it_cannot_be_kept_nothing_was_shown(tmp_path: Path) -> None:
    (tmp_path / "shown").write_text("a file")
    kept(tmp_path).note("a-1", Showing("1", ADA))
    assert kept(tmp_path).of("a-1") == []


def test_the_file_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showings, "_MOST", 2000)
    for number in range(200):
        kept(tmp_path).note("a-1", Showing(str(number), ADA))
    found = [int(one.version) for one in kept(tmp_path).of("a-1")]
    assert found == list(range(found[0], 200))
    assert (tmp_path / "shown" / "a-1.jsonl").stat().st_size < 2200
