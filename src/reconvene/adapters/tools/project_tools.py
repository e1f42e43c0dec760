"""`project`: the person's project at the run's commit, looked at and never changed. Nothing on its disk is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from reconvene.adapters.shared.file_names import shown
from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.file_tools import as_text, lines_of
from reconvene.adapters.tools.offered import (
    Arguments,
    Brought,
    Offered,
    ToolFailed,
    flag,
    in_thread,
    takes,
    text,
    whole,
    word,
)
from reconvene.core.paths import safe_path
from reconvene.errors import UserError
from reconvene.language.counting import counted
from reconvene.ports import ProjectWork
from reconvene.tool_ports import ToolInfo, ToolResult

MOST_LISTED = 1000
MOST_HITS = 200
NAMES = ("list_project_files", "read_project_file", "search_project")
_PATH = text("The path of the file in the project.", "src/main.py", least=1, most=1000)
_BELOW = text("Only in this folder and the folders in it.", "src", most=1000)


class ProjectFiles(Protocol):
    """The files of a project at the commit of a run. AgentError where there is no such project (any more)."""

    def listing(self, work: ProjectWork, below: str, most: int) -> tuple[list[tuple[str, int]], bool]:
        """Path and size of each file, -1 where it is a link or another repository; and whether that is all."""

    def read(self, work: ProjectWork, path: str) -> tuple[bytes, int] | None:
        """A file's first bytes and its size; None where there is no plain file."""

    def search(
        self, work: ProjectWork, wanted: str, below: str, most: int, *, ignore_case: bool
    ) -> tuple[list[tuple[str, int, str]], bool]:
        """Path, line number and line, wherever this text stands; and whether that is all."""


class _Looking(NamedTuple):
    files: ProjectFiles
    work: ProjectWork

    def list(self, arguments: Arguments) -> ToolResult:
        found, whole = self.files.listing(self.work, _below(arguments), MOST_LISTED)
        lines = [f"{shown(path)} ({_size(size)})" for path, size in found]
        lines += [] if whole else [f"[cut: only {MOST_LISTED:,} are shown; name a folder with `below`]"]
        return ToolResult(cutting.start_of("\n".join(lines), "name a folder with `below`") or "There are no files.")

    def read(self, arguments: Arguments) -> ToolResult:
        path = _named(word(arguments, "path"))
        found = self.files.read(self.work, path)
        if found is None:
            raise ToolFailed(f"There is no file {path} in the project at its commit.")
        data, size = found
        lines = cutting.lines(as_text(path, data, size))
        return ToolResult(lines_of(path, lines, arguments, len(data), size))

    def search(self, arguments: Arguments) -> ToolResult:
        wanted = word(arguments, "text")
        if "\n" in wanted or "\0" in wanted:
            raise ToolFailed("A search is for a part of one line.")
        same = bool(arguments.get("ignore_case"))
        hits, whole = self.files.search(self.work, wanted, _below(arguments), MOST_HITS, ignore_case=same)
        lines = [f"{shown(path)}:{at}: {cutting.line(line.strip(), 300)}" for path, at, line in hits]
        lines += [] if whole else ["[cut: there are more lines; look for something longer, or in one folder]"]
        return ToolResult(cutting.printable("\n".join(lines)) or f"No file of the project holds {wanted[:200]!r}.")


def brought(files: ProjectFiles | None, work: ProjectWork | None) -> Brought:
    if files is None or work is None:
        return Brought(left_out=dict.fromkeys(NAMES, "this run was given no project"))
    looking = _Looking(files, work)
    listing = takes(below=_BELOW)
    reading = takes(
        "path",
        path=_PATH,
        first_line=whole("The first line to show; 1 if you leave it out.", 1),
        lines=whole("How many lines; 500 if you leave it out.", 100, most=5_000),
    )
    searching = takes(
        "text",
        text=text("What to look for, exactly as it is: no pattern.", "def main", least=1, most=1000),
        below=_BELOW,
        ignore_case=flag("Whether capital and small letters are the same."),
    )
    return Brought(
        (
            _offered(NAMES[0], "Lists the files of the project at the run's commit.", listing, looking.list),
            _offered(NAMES[1], "Reads a text file of the project at the run's commit.", reading, looking.read),
            _offered(NAMES[2], "Finds a text in the files of the project, line by line.", searching, looking.search),
        )
    )


def _offered(name: str, about: str, schema: dict[str, object], function: Callable[[Arguments], ToolResult]) -> Offered:
    async def carry_out(arguments: Arguments) -> ToolResult:
        return await in_thread(function, arguments)

    return Offered(ToolInfo(name, "project", about, schema), carry_out)


def _named(path: str) -> str:
    try:
        return safe_path(path)
    except UserError as error:
        raise ToolFailed(error.message) from None


def _below(arguments: Arguments) -> str:
    below = word(arguments, "below").strip()
    return _named(below) if below not in ("", ".", "./") else ""


def _size(size: int) -> str:
    return counted(size, "byte") if size >= 0 else "a link or another repository: not read"
