"""`files`: the attempt's folder, listed, read, searched and changed. Nothing outside of it can be named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reconvene.adapters.shared.file_names import MAX_FILE, shown
from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.attempt_tree import MEGABYTE, AttemptTree
from reconvene.adapters.tools.offered import (
    Arguments,
    Brought,
    Entry,
    Offered,
    ToolFailed,
    flag,
    in_thread,
    number,
    takes,
    text,
    whole,
    word,
)
from reconvene.language.counting import counted
from reconvene.tool_ports import ToolInfo, ToolResult

MOST_LISTED = 1000
MOST_HITS = 200
_LINES = 500
_MOST_LINES = 5_000
_SECONDS = 10.0
_PATH = text("The path of the file, relative to the folder.", "notes/draft.md", least=1, most=1000)
_BELOW = text("Only in this folder and the folders in it.", "notes", most=1000)


def brought(entry: Entry, tree: AttemptTree, turn: asyncio.Lock) -> Brought:
    """`turn`: one call at a time touches the folder."""
    files = _Files(tree, _patterns(entry))
    told = [
        ("list_files", "Lists the files of your folder, with their sizes.", takes(below=_BELOW), files.list),
        (
            "read_file",
            f"Reads a text file of your folder, from a line on. Shows at most {_MOST_LINES:,} lines and "
            f"{cutting.MOST:,} characters, and says what was left out.",
            takes(
                "path",
                path=_PATH,
                first_line=whole("The first line to show; 1 if you leave it out.", 1),
                lines=whole(f"How many lines; {_LINES} if you leave it out.", 100, most=_MOST_LINES),
            ),
            files.read,
        ),
        (
            "search_files",
            f"Finds a text in the files of your folder, line by line: exactly as it is given, no pattern. Shows at "
            f"most {MOST_HITS} lines.",
            takes(
                "text",
                text=text("What to look for.", "net debt", least=1, most=1000),
                below=_BELOW,
                ignore_case=flag("Whether capital and small letters are the same."),
            ),
            files.search,
        ),
    ]
    changing = [
        (
            "write_file",
            f"Writes a text file in your folder, new or in place of what is there; {MAX_FILE // MEGABYTE} MB at most.",
            takes("path", "text", path=_PATH, text=text("The whole content.", "# Draft\n")),
            files.write,
        ),
        (
            "edit_file",
            "Replaces one passage of a text file in your folder. The old text must stand there exactly once, with the "
            "same blanks and line ends.",
            takes(
                "path",
                "old",
                "new",
                path=_PATH,
                old=text("The passage as it is, with enough around it to be the only one.", "Debt is 100M.", least=1),
                new=text("What is to stand there instead.", "Debt is 150M."),
            ),
            files.edit,
        ),
        ("delete_file", "Deletes a file of your folder.", takes("path", path=_PATH), files.delete),
    ]
    offered = [_offered(turn, *each, writes=False) for each in told]
    if entry.options.get("read"):
        why = "files of this folder can only be read here"
        return Brought(tuple(offered), {name: why for name, *_ in changing})
    return Brought((*offered, *(_offered(turn, *each, writes=True) for each in changing)))


def _patterns(entry: Entry) -> tuple[str, ...]:
    given = entry.options.get("writes") or ()
    return tuple(map(str, given)) if isinstance(given, list | tuple) else (str(given),)


def _offered(
    turn: asyncio.Lock,
    name: str,
    about: str,
    schema: dict[str, object],
    function: Callable[[Arguments], ToolResult],
    *,
    writes: bool,
) -> Offered:
    async def carry_out(arguments: Arguments) -> ToolResult:
        async with turn:
            return await in_thread(function, arguments)

    return Offered(ToolInfo(name, "files", about, schema, writes=writes), carry_out)


class _Files:
    def __init__(self, tree: AttemptTree, patterns: tuple[str, ...]) -> None:
        self._tree = tree
        self._patterns = patterns

    def list(self, arguments: Arguments) -> ToolResult:
        below = self._below(arguments)
        found = list(self._tree.all(below))
        if below and not found and self._tree.look(below) is None:
            raise ToolFailed(f"There is no folder {below}.")
        lines = [
            f"{shown(each.path)} ({each.what}: not used)"
            if each.what
            else f"{each.path} ({counted(each.size, 'byte')})"
            for each in found[:MOST_LISTED]
        ]
        if len(found) > MOST_LISTED:
            lines.append(f"[cut: {len(found) - MOST_LISTED:,} more are not shown; name a folder with `below`]")
        return ToolResult(cutting.start_of("\n".join(lines), "name a folder with `below`") or "There are no files.")

    def read(self, arguments: Arguments) -> ToolResult:
        path = self._tree.named(word(arguments, "path"))
        data, size = self._tree.read(path)
        lines = cutting.lines(as_text(path, data, size))
        return ToolResult(lines_of(path, lines, arguments, len(data), size))

    def search(self, arguments: Arguments) -> ToolResult:
        wanted, same = word(arguments, "text"), bool(arguments.get("ignore_case"))
        fold: Callable[[str], str] = str.casefold if same else str
        hits: list[str] = []
        for path, data in self._tree.searched(self._below(arguments), _SECONDS):
            if b"\0" in data[:8000]:
                continue
            for at, line in enumerate(cutting.lines(data.decode("utf-8", "replace")), 1):
                if fold(wanted) in fold(line):
                    hits.append(f"{path}:{at}: {cutting.line(line.strip(), 300)}")
            if len(hits) > MOST_HITS:
                hits[MOST_HITS:] = ["[cut: there are more lines; look for something longer, or in one folder]"]
                break
        return ToolResult("\n".join(map(cutting.printable, hits)) or f"No file holds {wanted[:200]!r}.")

    def write(self, arguments: Arguments) -> ToolResult:
        path = self._changed_path(arguments)
        data = encoded(word(arguments, "text"))
        self._tree.write(path, data)
        return ToolResult(f"{path} now has {counted(len(data), 'byte')}.", files={path: data})

    def edit(self, arguments: Arguments) -> ToolResult:
        path = self._changed_path(arguments)
        data, size = self._tree.read(path)
        if size > len(data):
            raise ToolFailed(f"{path} has {size:,} bytes: too many to edit.")
        before, old = as_text(path, data, size, strict=True), word(arguments, "old")
        times = before.count(old)
        if times != 1:
            raise ToolFailed(_why_not(path, before, old, times))
        data = encoded(before.replace(old, word(arguments, "new")))
        self._tree.write(path, data)
        at = before[: before.index(old)].count("\n") + 1
        return ToolResult(f"{path}: replaced at line {at}.", files={path: data})

    def delete(self, arguments: Arguments) -> ToolResult:
        path = self._changed_path(arguments)
        self._tree.delete(path)
        return ToolResult(f"{path} is deleted.", removed=(path,))

    def _changed_path(self, arguments: Arguments) -> str:
        path = self._tree.named(word(arguments, "path"))
        self._tree.require_wanted(path, self._patterns)
        return path

    def _below(self, arguments: Arguments) -> str:
        below = word(arguments, "below").strip()
        return self._tree.named(below) if below not in ("", ".", "./") else ""


def encoded(written: str) -> bytes:
    try:
        return written.encode()
    except UnicodeEncodeError as error:
        raise ToolFailed(f"The text holds half a character at position {error.start}.") from None


def as_text(path: str, data: bytes, size: int, *, strict: bool = False) -> str:
    if b"\0" in data:
        raise ToolFailed(f"{path} is no text: {counted(size, 'byte')} of binary data.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if strict and size == len(data):
            raise ToolFailed(f"{path} is no UTF-8 text (byte {error.start:,}), and cannot be edited.") from None
        return data.decode("utf-8", "replace")


def lines_of(path: str, lines: list[str], arguments: Arguments, got: int, size: int) -> str:
    """Those that are asked for, under a head that says which they are and what is left out."""
    first, most = number(arguments, "first_line", 1), number(arguments, "lines", _LINES)
    if lines and first > len(lines):
        raise ToolFailed(f"{path} has {counted(len(lines), 'line')}; line {first:,} is not there.")
    shown_lines, room = list[str](), cutting.MOST - 1_000  # for what is said around them
    for line in lines[first - 1 : first - 1 + most]:
        line = cutting.line(cutting.printable(line))
        room -= len(line) + 1
        if room < 0:
            break
        shown_lines.append(line)
    last = first + len(shown_lines) - 1
    head = f"[{path}, lines {first:,} to {last:,} of {len(lines):,}]" if lines else f"[{path} is empty]"
    parts = [head, *shown_lines]
    if last < len(lines):
        parts.append(f"[cut: {counted(len(lines) - last, 'more line')}; go on with first_line {last + 1}]")
    if got < size:
        parts.append(f"[cut: only the first {got:,} of {size:,} bytes of this file can be read]")
    return "\n".join(parts)


def _why_not(path: str, before: str, old: str, times: int) -> str:
    if times:
        places, at = list[str](), before.find(old)
        while at >= 0 and len(places) < 10:
            places.append(str(before.count("\n", 0, at) + 1))
            at = before.find(old, at + 1)
        at_lines = ", ".join(places)
        return f"The old text stands in {path} {times} times, at lines {at_lines}: give more of what is around it."
    if "\r\n" in before and old.replace("\n", "\r\n") in before:
        return f"{path} has Windows line ends: give the old and the new text with \\r\\n."
    loose = "".join(old.split())
    if loose and loose in "".join(before.split()):
        return f"The old text is in {path} with other blanks or line ends: read the file, and give it exactly as it is."
    return f"The old text is not in {path}: read the file, and give the text exactly as it is there."
