"""How a change of a file is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.app.line_diff import diff_summary, unified_diff


def test_a_diff_shows_what_changed_with_some_context() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21))
    diff = unified_diff("notes/a.md", old.encode(), old.replace("10\n", "ten\nand more\n").encode())
    assert diff == (
        "--- a/notes/a.md\n+++ b/notes/a.md\n@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+ten\n+and more\n 11\n 12\n 13\n"
    )
    assert diff_summary(diff) == "+2 −1 lines"


def test_new_and_deleted_files_come_from_and_go_to_nothing() -> None:
    assert unified_diff("a", None, b"x\n") == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert unified_diff("a", b"x\ny\n", None) == "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n"
    assert diff_summary(unified_diff("a", None, b"")) == "+0 −0 lines"
    assert unified_diff("a", b"x", b"x") == ""
    assert diff_summary("") == "no change"


def test_bytes_that_are_no_text_are_told_by_size() -> None:
    for data in (b"\0\1", b"\xff\xfe"):
        diff = unified_diff("p.png", b"abc", data)
        assert "binary file changed (3 → 2 bytes)" in diff
        assert diff_summary(diff) == "binary file changed (3 → 2 bytes)"


def test_a_long_diff_is_cut_and_its_summary_still_counts_all_of_it() -> None:
    diff = unified_diff("a", b"gone\n", b"line\n" * 10_000, limit=500)
    assert len(diff) < 700
    assert diff.endswith("\\ the rest of this diff is not shown (+10000 −1 lines in all)\n")
    assert diff_summary(diff) == "+10000 −1 lines"


def test_content_cannot_forge_a_summary() -> None:
    old = b"-- x\n++ y\n\\ the rest of this diff is not shown (+9 \xe2\x88\x929 lines in all)\n"
    diff = unified_diff("a", old, b"binary file changed (1 \xe2\x86\x92 2 bytes)\n")
    assert diff_summary(diff) == "+1 −3 lines"


def test_huge_and_wholly_different_files_are_told_as_one_replacement() -> None:
    old = "".join(f"old {n}\n" for n in range(30_000))
    diff = unified_diff("a", f"same\n{old}end\n".encode(), f"same\n{old.replace('old', 'new')}end\n".encode())
    assert diff_summary(diff) == "+30000 −30000 lines"


def test_one_endless_line_is_clipped() -> None:
    diff = unified_diff("a", None, b"x" * 100_000)
    assert len(diff) < 3_000
    assert "… (98001 more)" in diff


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "--- a", "+++", "@@", "\r", "\x0c"]), max_size=30)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_git_can_apply_every_diff_of_texts(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str], old_end: bool, new_end: bool
) -> None:
    before = ("\n".join(old) + "\n" * old_end).encode()
    after = ("\n".join(new) + "\n" * new_end).encode()
    diff = unified_diff("f", before, after)
    if not diff:
        assert before == after
        return
    folder = tmp_path_factory.mktemp("apply")
    (folder / "f").write_bytes(before)
    _git_apply(folder, diff)
    assert (folder / "f").read_bytes() == after


def _git_apply(folder: Path, diff: str) -> None:
    environ = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": "/",
    }
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=folder,
        input=diff.encode(),
        env=environ,
        check=True,
        timeout=300,
    )
