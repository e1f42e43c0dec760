"""A folder as a source: it is listed and read, and nothing outside of it is reached."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconvene.material_ports import DocumentError, Part, SourceError

Opened = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret words")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "other.txt").write_text("other words")
    made = tmp_path / "given"
    (made / "deep" / "er").mkdir(parents=True)
    (made / "a.md").write_text("# A\n")
    (made / "deep" / "er" / "b.txt").write_text("b\n")
    (made / "out.txt").symlink_to(tmp_path / "secret.txt")
    (made / "away").symlink_to(tmp_path / "beside")
    (made / "up").symlink_to("..")
    (made / "round").symlink_to(".")
    os.mkfifo(made / "pipe.txt")
    return made


def test_its_files_are_listed_and_what_is_left_out_is_named(opened: Opened, folder: Path) -> None:
    listing = opened(folder).list()
    assert [entry.name for entry in listing.entries] == ["a.md", "deep/er/b.txt"]
    assert listing.entries[0].size == 4
    assert listing.notes == (
        "Links, which are not followed: away, out.txt, round, up.", "No ordinary files: pipe.txt.",
    )  # fmt: skip


def test_a_part_of_it_is_listed(opened: Opened, folder: Path) -> None:
    assert [entry.name for entry in opened(folder).list("deep").entries] == ["deep/er/b.txt"]


def test_a_file_in_it_is_read_as_a_document(opened: Opened, folder: Path) -> None:
    document = opened(folder).read("deep/er/b.txt")
    assert (document.name, document.parts) == ("deep/er/b.txt", (Part("lines 1-2", "b\n"),))


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt", "deep/../../secret.txt", "/etc/passwd", "out.txt", "away/other.txt", "up/secret.txt",
        "round/a.md", "round/out.txt", "pipe.txt", "", ".", "..", "deep", "deep/", "./a.md", "a.md/", "a.md/x",
        "nowhere.txt", "deep//er/b.txt", "a.md\0", "\udcff", "~/x", "deep/er/../../a.md", "x" * 5000, "../given/a.md",
        "/proc/self/environ", "C:\\x", "..\\secret.txt",
    ],
)  # fmt: skip
def test_nothing_outside_of_it_is_read(name: str, opened: Opened, folder: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        opened(folder).read(name)
    assert caught.value.fault in ("outside", "missing", "kind")
    assert "secret words" not in caught.value.message


@pytest.mark.parametrize("below", ["..", "../beside", "/", "away", "up", "round/deep", "a.md", "nowhere", "deep/../.."])
def test_nothing_outside_of_it_is_listed(below: str, opened: Opened, folder: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        opened(folder).list(below)
    assert caught.value.fault in ("outside", "missing", "kind")


@pytest.mark.parametrize(("name", "fault"), [("nowhere", "missing"), ("secret.txt", "kind"), ("a\0b", "missing")])
def test_what_is_no_source_is_said_to_be_none(name: str, fault: str, opened: Opened, folder: Path) -> None:
    with pytest.raises(SourceError) as caught:
        opened(f"{folder.parent}/{name}")
    assert caught.value.fault == fault
    assert "SQLite file" in caught.value.hint
