"""What differs between two commits: file by file, with all that changed named first. What is cut is said where it is.

Knows git objects; nothing of runs or agents.
"""

from __future__ import annotations

from typing import NamedTuple

from reconvene.adapters.project.git import Git

MAX_DIFF = 60_000  # bytes of one diff that are recorded
_MAX_READ = 4 << 20  # bytes of a difference that are looked through
_MAX_NAMES = 1000
_DIFF = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")
_PATCH = ("diff-tree", "-p", *_DIFF, "--src-prefix=a/", "--dst-prefix=b/")
_KINDS = {"A": "new", "D": "removed", "R": "renamed", "C": "new", "M": "changed", "T": "changed"}


class Changed(NamedTuple):
    """One file. Of a binary one no lines are counted."""

    path: str
    kind: str  # new | changed | removed | renamed
    added: int = 0
    removed: int = 0
    binary: bool = False
    size: int = 0  # bytes, as it is now
    was: str = ""  # its name before, where it is another

    @property
    def line(self) -> str:
        lines = "binary" if self.binary else f"+{self.added} -{self.removed}"
        name = f"{self.was} → {self.path}" if self.was else self.path
        return f"{name}: {self.kind}, {lines}"


def diff(engine: Git, old: str, new: str, most: int = MAX_DIFF) -> str:
    """As a unified diff. One that is longer than `most` begins with the list of all files, and says of each what of it
    is not shown."""
    text, whole = engine.start_of(_MAX_READ, *_PATCH, *_ends(engine, old, new))
    if whole and len(text) <= most:
        return text
    files = changes(engine, old, new)
    listed = "".join(f"\\ {file.line}\n" for file in files)
    head = f"\\ this diff is too long to show whole; all {len(files)} files that changed:\n{listed}"
    parts = _by_file(text if whole else text[: text.rfind("\n") + 1])
    each = max((most - len(head)) // max(len(parts), 1), 400)
    spare = sum(max(each - len(part), 0) for part in parts.values())
    shown: list[str] = []
    for part in parts.values():
        room = min(each + spare, len(part))
        spare -= max(room - each, 0)
        shown.append(_cut(part, room))
    missing = [file.path for file in files if file.path not in parts]
    rest = f"\\ nothing is shown of: {', '.join(missing)}\n" if missing else ""
    return head + "".join(shown) + rest


def _cut(part: str, room: int) -> str:
    if len(part) <= room:
        return part
    kept = part[: part.rfind("\n", 0, room) + 1]
    left = part[len(kept) :].count("\n")
    return f"{kept}\\ {left} more lines of the diff of this file are not shown\n"


def _by_file(text: str) -> dict[str, str]:
    """Path → its part of the diff, in order."""
    found: dict[str, str] = {}
    for part in text.split("\ndiff --git "):
        part = part if part.startswith("diff --git ") else f"diff --git {part}"
        if part.strip() == "diff --git":
            continue
        found[_path(part)] = part if part.endswith("\n") else part + "\n"
    return found


def _path(part: str) -> str:
    lines = part.split("\n", 8)
    for line in lines:
        if line.startswith(("+++ b/", "rename to ")):
            return line.removeprefix("+++ b/").removeprefix("rename to ").rstrip("\t")
    for line in lines:
        if line.startswith("--- a/"):
            return line.removeprefix("--- a/").rstrip("\t")
    first = lines[0].removeprefix("diff --git ")
    return first[len(first) // 2 + 1 :].removeprefix("b/")


def changes(engine: Git, old: str, new: str) -> list[Changed]:
    """Every file that differs, at most a thousand."""
    ends = _ends(engine, old, new)
    counted = _numbers(engine.names("diff-tree", "-r", "-M", "-z", "--numstat", *ends))
    fields = engine.names("diff-tree", "-r", "-M", "-z", *ends)
    found: list[Changed] = []
    at = 0
    while at < len(fields) and len(found) < _MAX_NAMES:
        about = fields[at].split(" ")
        letter, two = about[4][0], about[4][0] in "RC"
        was, path = (fields[at + 1], fields[at + 2]) if two else ("", fields[at + 1])
        at += 3 if two else 2
        added, removed = counted.get(path, (0, 0))
        size = engine.maybe("cat-file", "-s", about[3]) if about[1].startswith("1") and about[1] != "160000" else ""
        name = _said(path)
        before = _said(was) if letter == "R" else ""
        found.append(
            Changed(
                name, _KINDS.get(letter, "changed"), max(added, 0), max(removed, 0), added < 0, int(size or 0), before
            )
        )
    return found


def _numbers(fields: list[str]) -> dict[str, tuple[int, int]]:
    """Path → lines added and removed; -1 for a binary file."""
    found: dict[str, tuple[int, int]] = {}
    at = 0
    while at < len(fields):
        added, removed, path = (fields[at].split("\t") + ["", ""])[:3]
        if not path:  # renamed: the two names stand apart
            path, at = fields[at + 2], at + 2
        found[path] = (int(added), int(removed)) if added.isdecimal() else (-1, -1)
        at += 1
    return found


def changed(engine: Git, old: str, new: str) -> tuple[str, ...]:
    names = engine.names("diff-tree", "-r", "-z", "--name-only", "--no-renames", *_ends(engine, old, new))
    return tuple(_said(name) for name in names[:_MAX_NAMES])


def _said(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _ends(engine: Git, old: str, new: str) -> tuple[str, str]:
    return old or _nothing(engine), new or _nothing(engine)


def _nothing(engine: Git) -> str:
    """The tree without files. git knows it everywhere."""
    return engine.text("hash-object", "-t", "tree", "--stdin")
