"""Which files an agent may hand over: their names, how large, how many, and which its step asked for. Pure; touches no
disk."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reconvene.core.paths import matches, safe_path
from reconvene.errors import UserError
from reconvene.language.late_patterns import late
from reconvene.ports import Assignment
from reconvene.shelf_ports import Takes

MAX_FILE, MAX_FILES = Takes()  # what tools write and read, whatever the settings say
_GLOB = late(r"[*?\[]")
_CACHES = frozenset({"__pycache__"})


class Taken(Struct, frozen=True):
    """Files that passed, and the reasons why others did not."""

    files: dict[str, bytes]
    ignored: tuple[str, ...]


def why_unsafe(path: str) -> str:
    """The reason a relative path is refused, "" when it is fine."""
    try:
        path = safe_path(path)
    except UserError as error:
        # the name is shown beside the reason, so only the reason is wanted
        return error.message.partition(" cannot be used: ")[2].rstrip(".") or error.message
    return "it is a cache" if _CACHES.intersection(path.split("/")) else ""


def safe_relative_path(path: str) -> str | None:
    """The path, tidied (`./a//b` → `a/b`), or None where it must not be written."""
    return None if why_unsafe(path) else safe_path(path)


def shown(path: str) -> str:
    """A hostile name made printable, for messages."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return text if len(text) <= 120 else text[:117] + "…"


def wanted(path: str, patterns: Sequence[str]) -> bool:
    """Whether a step that writes `patterns` takes this file. No patterns: everything. `*` crosses folders."""
    return not patterns or any(matches(path, pattern) for pattern in patterns)


def only_literal(patterns: Sequence[str]) -> str | None:
    """The one file a step writes, when `writes` names exactly one and it is no pattern."""
    if len(patterns) != 1 or _GLOB.search(patterns[0]) or patterns[0].endswith("/"):
        return None
    return safe_relative_path(patterns[0])


def why_not_taken(assignment: Assignment, path: str, size: int, already: int) -> str:
    if not wanted(path, assignment.writes):
        return "not in writes"
    most = assignment.takes
    if size > most.file:
        return f"larger than {most.file // (1024 * 1024)} MB (RECONVENE_MAX_FILE_MB)"
    if already >= most.files:
        return f"more than {most.files} files (RECONVENE_MAX_FILES)"
    return ""
