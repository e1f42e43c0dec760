"""The attempt's folder through tools: what they do, and that no name, link or file leads out of it or hurts."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from pathlib import Path

import pytest
from tool_bench import Bench, Entry

from reconvene.adapters.tools.cutting import MOST
from reconvene.tool_ports import Toolbox, ToolResult

FILES = Entry("files")


@pytest.fixture
def secret(bench: Bench) -> Path:
    """A file beside all that the tools may see."""
    path = bench.root / "secret.txt"
    path.write_text("the secret")
    return path


def in_folder(bench: Bench, prepare: object, name: str, **arguments: object) -> ToolResult:
    """One call in a folder in which something hostile was made before."""

    async def once(box: Toolbox) -> ToolResult:
        prepare(Path(box._tree.root))  # type: ignore[attr-defined, operator]
        return await box.call(name, arguments)

    return bench.with_([FILES], once)


# --- what they do ---


def test_files_are_listed_read_searched_written_edited_and_deleted(bench: Bench) -> None:
    bench.files = {"notes/a.md": b"one\ntwo\nthree\n", "b.md": b"Debt is 100M.\n"}
    listed, read, found, wrote, edited, deleted, left = bench.calls(
        FILES,
        ("list_files", {}),
        ("read_file", {"path": "notes/a.md", "first_line": 2, "lines": 1}),
        ("search_files", {"text": "DEBT", "ignore_case": True}),
        ("write_file", {"path": "new/c.md", "text": "größer\n"}),
        ("edit_file", {"path": "b.md", "old": "100M", "new": "150M"}),
        ("delete_file", {"path": "notes/a.md"}),
        ("list_files", {}),
    )
    assert listed.text.splitlines() == ["b.md (14 bytes)", "notes/a.md (14 bytes)"]
    assert read.text.splitlines() == [
        "[notes/a.md, lines 2 to 2 of 3]", "two", "[cut: 1 more line; go on with first_line 3]",
    ]  # fmt: skip
    assert found.text == "b.md:1: Debt is 100M."
    assert wrote.files == {"new/c.md": "größer\n".encode()}
    assert edited.files == {"b.md": b"Debt is 150M.\n"}
    assert (deleted.removed, deleted.files) == (("notes/a.md",), {})
    assert left.text.splitlines() == ["b.md (14 bytes)", "new/c.md (9 bytes)"]


def test_the_box_tells_what_was_changed_and_what_is_not_taken(bench: Bench) -> None:
    bench.files = {"given.md": b"as it was", "same.md": b"same"}
    bench.writes = ("*.md",)

    async def work(box: Toolbox) -> None:
        await box.call("write_file", {"path": "made.md", "text": ""})
        await box.call("edit_file", {"path": "given.md", "old": "as it was", "new": "changed"})
        os.symlink("/etc/passwd", Path(box._tree.root, "link.md"))  # type: ignore[attr-defined]
        assert box.files() == {"made.md": b"", "given.md": b"changed"}
        assert box.ignored() == ("link.md: symbolic link",)
        assert box.read("given.md") == b"changed"
        assert (box.read("link.md"), box.read("../x"), box.read("none.md")) == (None, None, None)

    bench.with_([FILES], work)


def test_what_is_on_record_is_there_again_after_a_crash(bench: Bench) -> None:
    bench.files = {"a.md": b"old", "gone.md": b"x", "b.md": b"b"}
    bench.changed = {"a.md": b"new", "gone.md": None, "deep/er/c.md": b"", "never.md": None}

    async def work(box: Toolbox) -> None:
        assert (await box.call("list_files", {})).text.splitlines() == [
            "a.md (3 bytes)", "b.md (1 byte)", "deep/er/c.md (0 bytes)",
        ]  # fmt: skip
        assert box.files() == {"a.md": b"new", "deep/er/c.md": b""}

    bench.with_([FILES], work)


def test_a_file_that_was_written_anew_counts_also_after_a_crash(bench: Bench) -> None:
    bench.files, bench.writes = {"a.md": b"same"}, ("a.md",)

    async def files(box: Toolbox) -> dict[str, bytes]:
        return dict(box.files())

    assert bench.with_([FILES], files) == {}
    bench.changed = {"a.md": b"same"}
    assert bench.with_([FILES], files) == {"a.md": b"same"}


@pytest.mark.parametrize(
    ("before", "old", "told"),
    [
        ("a b\na b\n", "a b", "stands in x.md 2 times, at lines 1, 2"),
        ("aaa", "aa", "stands in x.md 1 times"),
        ("a  b\n", "a b", "with other blanks or line ends"),
        ("one\r\ntwo\r\n", "one\ntwo", "has Windows line ends"),
        ("one", "two", "The old text is not in x.md"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing_and_says_why(bench: Bench, before: str, old: str, told: str) -> None:
    bench.files = {"x.md": before.encode()}
    if old == "aa":  # what overlaps itself stands there once, as editors count
        assert bench.call(FILES, "edit_file", path="x.md", old=old, new="b").files == {"x.md": b"ba"}
        return
    result = bench.call(FILES, "edit_file", path="x.md", old=old, new="z")
    assert result.failed
    assert told in result.text
    assert result.files == {}


def test_only_reading_leaves_out_what_writes(bench: Bench) -> None:
    entry = Entry("files", {"read": True})

    async def names(box: Toolbox) -> list[str]:
        return [tool.name for tool in box.tools()]

    assert bench.with_([entry], names) == ["list_files", "read_file", "search_files"]
    refused = bench.call(entry, "write_file", path="a.md", text="x")
    assert refused.failed
    assert refused.text == "write_file cannot be used here: files of this folder can only be read here"


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "delete_file"])
def test_patterns_limit_what_is_written(bench: Bench, tool: str) -> None:
    bench.files = {"src/a.py": b"old", "docs/a.md": b"old"}
    more = {"write_file": {"text": "x"}, "edit_file": {"old": "old", "new": "x"}, "delete_file": {}}[tool]
    entry = Entry("files", {"writes": ["docs/*"]})
    assert not bench.call(entry, tool, path="docs/a.md", **more).failed
    refused = bench.call(entry, tool, path="src/a.py", **more)
    assert refused.failed
    assert refused.text == "src/a.py is not among the files that may be changed: docs/*."
    bench.writes = ("src/*",)  # of the step
    assert bench.call(FILES, tool, path="docs/a.md", **more).failed


# --- names that lead elsewhere ---

ESCAPES = [
    "../secret.txt",
    "a/../../secret.txt",
    "./../secret.txt",
    "..",
    "/etc/passwd",
    "//etc/passwd",
    "C:/windows",
    "..\\secret.txt",
    "a\\..\\b",
    "\uff0e\uff0e/secret.txt",  # full-width dots
    "\u2024\u2024/secret.txt",
    ".\u200b./secret.txt",  # invisible between the dots
    "a/\u200b/b",
    ".git/config",
    ".GIT/hooks/pre-commit",
    "\uff0egit/config",
    ".gi\u200dt/config",
    "git~1/config",
    ".git::$INDEX_ALLOCATION/config",
    ".reconvene/reconvene.db",
    ".Reconvene./x",
    "a\0b",
    "a\nb",
    "\ud800.md",
    "x" * 300,
    "d/" * 30 + "x",
    "~/../../etc/passwd",
    "__pycache__/x.pyc",
    "",
    ".",
]


@pytest.mark.parametrize("path", ESCAPES, ids=lambda path: ascii(path)[:30])
@pytest.mark.parametrize("tool", ["read_file", "write_file", "delete_file", "edit_file"])
def test_no_name_leads_out_of_the_folder(bench: Bench, secret: Path, tool: str, path: str) -> None:
    more = {"write_file": {"text": "x"}, "edit_file": {"old": "the", "new": "x"}}.get(tool, {})
    result = bench.call(FILES, tool, path=path, **more)
    assert result.failed
    assert "the secret" not in result.text
    assert result.files == {}
    assert secret.read_text() == "the secret"


@pytest.mark.parametrize("below", ["..", "/", "../..", "\uff0e\uff0e", ".git"])
@pytest.mark.parametrize("tool", ["list_files", "search_files"])
def test_no_folder_outside_is_listed_or_searched(bench: Bench, secret: Path, tool: str, below: str) -> None:
    more = {"text": "secret"} if tool == "search_files" else {}
    result = bench.call(FILES, tool, below=below, **more)
    assert result.failed
    assert "secret.txt" not in result.text


# --- what hostile programs may have left in the folder ---


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "search_files", "list_files", "delete_file"])
def test_a_link_to_a_file_is_not_followed(bench: Bench, secret: Path, tool: str) -> None:
    arguments: dict[str, object] = {
        "write_file": {"path": "link", "text": "x"},
        "edit_file": {"path": "link", "old": "the", "new": "x"},
        "search_files": {"text": "secret"},
        "list_files": {},
    }.get(tool, {"path": "link"})
    result = in_folder(bench, lambda root: os.symlink(secret, root / "link"), tool, **arguments)
    assert "the secret" not in result.text
    assert secret.read_text() == "the secret"
    assert secret.exists()


@pytest.mark.parametrize("tool", ["read_file", "write_file", "delete_file", "search_files"])
def test_a_folder_that_is_a_link_is_not_entered(bench: Bench, secret: Path, tool: str) -> None:
    arguments: dict[str, object] = {"path": "out/secret.txt"}
    arguments |= {"text": "x"} if tool == "write_file" else {}
    if tool == "search_files":
        arguments = {"text": "secret", "below": "out"}
    result = in_folder(bench, lambda root: os.symlink(secret.parent, root / "out"), tool, **arguments)
    assert "the secret" not in result.text
    assert result.files == {}
    assert secret.read_text() == "the secret"


def test_a_pipe_or_a_device_holds_nobody_up(bench: Bench) -> None:
    def prepare(root: Path) -> None:
        os.mkfifo(root / "pipe")
        (root / "loop").symlink_to("loop")

    for tool, arguments in (
        ("read_file", {"path": "pipe"}),
        ("edit_file", {"path": "pipe", "old": "a", "new": "b"}),
        ("read_file", {"path": "loop"}),
        ("search_files", {"text": "a"}),
        ("list_files", {}),
    ):
        result = in_folder(bench, prepare, tool, **arguments)
        assert "pipe" not in result.text or "no file but a pipe" in result.text
    replaced = in_folder(bench, prepare, "write_file", path="pipe", text="now a file")
    assert replaced.files == {"pipe": b"now a file"}


def test_a_link_that_is_swapped_in_between_is_not_followed(
    bench: Bench, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the opening the file becomes a link."""
    from reconvene.adapters.shared import safe_files

    real = safe_files.look
    bench.files = {"a.md": b"harmless"}

    async def work(box: Toolbox) -> ToolResult:
        file = Path(box._tree.root, "a.md")  # type: ignore[attr-defined]

        def look(folder: int, name: str) -> os.stat_result | None:
            found = real(folder, name)
            if found is not None and stat.S_ISREG(found.st_mode):
                file.unlink()
                file.symlink_to(secret)
            return found

        monkeypatch.setattr(safe_files, "look", look)
        return await box.call("read_file", {"path": "a.md"})

    result = bench.with_([FILES], work)
    assert result.failed
    assert "the secret" not in result.text


def test_a_folder_that_is_swapped_for_a_link_is_not_written_through(
    bench: Bench, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reconvene.adapters.shared import safe_files

    real = safe_files.open_root

    async def work(box: Toolbox) -> ToolResult:
        root = Path(box._tree.root)  # type: ignore[attr-defined]
        (root / "sub").mkdir()

        def swap(path: str) -> int:
            opened = real(path)
            if (root / "sub").is_dir() and not (root / "sub").is_symlink():
                (root / "sub").rmdir()
                (root / "sub").symlink_to(secret.parent)
            return opened

        monkeypatch.setattr(safe_files, "open_root", swap)
        return await box.call("write_file", {"path": "sub/secret.txt", "text": "mine"})

    result = bench.with_([FILES], work)
    assert result.failed
    assert secret.read_text() == "the secret"


def test_huge_files_are_cut_and_said_to_be(bench: Bench) -> None:
    def sparse(root: Path) -> None:
        with open(root / "big.log", "wb") as file:
            file.write(b"first line\n" + b"x" * 20_000 + b"\n")
            file.truncate(50 * 2**30)

    listed = in_folder(bench, sparse, "list_files")
    assert "big.log (53,687,091,200 bytes)" in listed.text
    for tool, arguments in (
        ("read_file", {"path": "big.log"}),
        ("search_files", {"text": "first"}),
        ("edit_file", {"path": "big.log", "old": "first", "new": "last"}),
    ):
        result = in_folder(bench, sparse, tool, **arguments)
        assert len(result.text) < MOST + 1_000
        assert result.files == {}


def test_a_long_text_is_cut_by_lines_and_goes_on(bench: Bench) -> None:
    bench.files = {"long.txt": b"".join(b"%d %s\n" % (n, b"y" * 90) for n in range(10_000)), "line.txt": b"z" * 100_000}
    first, last, line = bench.calls(
        FILES,
        ("read_file", {"path": "long.txt", "lines": 5000}),
        ("read_file", {"path": "long.txt", "first_line": 9_999}),
        ("read_file", {"path": "line.txt"}),
    )
    assert len(first.text) < MOST + 200
    assert "go on with first_line" in first.text
    assert last.text.splitlines()[1].startswith("9998 ")
    assert "[cut: 95,000 more characters in this line]" in line.text
    beyond = bench.call(FILES, "read_file", path="long.txt", first_line=20_000)
    assert beyond.text == "long.txt has 10,000 lines; line 20,000 is not there."


def test_binary_files_are_no_text(bench: Bench) -> None:
    bench.files = {"a.bin": b"\x7fELF\0\0", "latin.txt": "größe".encode("latin-1"), "esc.txt": b"\x1b[2Jhello"}
    binary, latin, edit, escape = bench.calls(
        FILES,
        ("read_file", {"path": "a.bin"}),
        ("read_file", {"path": "latin.txt"}),
        ("edit_file", {"path": "latin.txt", "old": "gr", "new": "x"}),
        ("read_file", {"path": "esc.txt"}),
    )
    assert (binary.failed, binary.text) == (True, "a.bin is no text: 6 bytes of binary data.")
    assert "gr\ufffd\ufffde" in latin.text
    assert edit.failed
    assert "\x1b" not in escape.text


def test_what_is_too_large_or_half_a_character_is_not_written(bench: Bench) -> None:
    large, half = bench.calls(
        FILES,
        ("write_file", {"path": "a.md", "text": "x" * (10 * 2**20 + 1)}),
        ("write_file", {"path": "a.md", "text": "\ud800"}),
    )
    assert "10 MB are the most" in large.text
    assert "half a character" in half.text


def test_a_folder_nested_without_end_is_looked_at_so_far(bench: Bench) -> None:
    def nest(root: Path) -> None:
        here = os.open(root, os.O_RDONLY)
        for _ in range(300):
            os.mkdir("d", dir_fd=here)
            inner = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(here)

    result = in_folder(bench, nest, "list_files")
    assert not result.failed
    assert "not used" in result.text


def test_a_write_that_is_cancelled_is_over_before_the_folder_goes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes while the work is cancelled: nothing may be made where the folder was."""
    from reconvene.adapters.shared import safe_files

    writing, cancelled, real = threading.Event(), threading.Event(), safe_files.replace_file

    def slowly(folder: int, name: str, data: bytes) -> os.stat_result:
        writing.set()
        assert cancelled.wait(60)
        return real(folder, name, data)

    async def work(box: Toolbox) -> None:
        call = asyncio.create_task(box.call("write_file", {"path": "deep/a.md", "text": "x"}))
        await asyncio.to_thread(writing.wait, 60)
        call.cancel()
        asyncio.get_running_loop().call_later(0.05, cancelled.set)
        with pytest.raises(asyncio.CancelledError):
            await call
        assert box.read("deep/a.md") == b"x"

    monkeypatch.setattr(safe_files, "replace_file", slowly)
    bench.with_([FILES], work)


# --- calls that fit nothing ---


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("remove_everything", {}, "There is no tool 'remove_everything'. The tools are: list_files, read_file"),
        ("read_file", {}, "'path' is missing. It takes: path, first_line, lines."),
        ("read_file", {"path": 7}, "path should be text, not a number"),
        ("read_file", {"path": "a", "first_line": 0}, "first_line: 0 is less than the minimum of 1"),
        ("read_file", {"path": "a", "mode": "w"}, "'mode' was unexpected"),
        ("read_file", ["a"], "must be a JSON object, not list"),
        ("read_file", None, "must be a JSON object, not NoneType"),
    ],
)
def test_a_call_that_cannot_be_made_says_what_can(bench: Bench, name: str, arguments: object, told: str) -> None:
    async def work(box: Toolbox) -> ToolResult:
        return await box.call(name, arguments)  # type: ignore[arg-type]

    result = bench.with_([FILES], work)
    assert result.failed
    assert told in result.text
