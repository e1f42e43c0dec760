"""Branches and other refs, HEAD and the bare frame of a repository, as the files that git keeps them in.

A file comes into being whole: it is written as `NAME.lock`, git's own sign that somebody is at it, and renamed. The
caller sees to it that there is one writer at a time. Beside each branch lies a note of what its last commit is made of.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

from reconvene.errors import StoreError
from reconvene.language.late_patterns import late

_ID = late(r"[0-9a-f]{40}")
_HALF_WRITTEN = late(r"[0-9a-f]{0,39}")
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_SETTINGS = {"repositoryformatversion = 0", "bare = true"}
_FIRST = "refs/heads/main"
_FOLDERS = ("objects/info", "objects/pack", "refs/heads", "refs/tags")


class Damaged(Exception):
    """What a file of the repository holds is not what git would have written."""


def exists(repository: str) -> bool:
    """`HEAD` is the last thing that is made."""
    return os.path.exists(os.path.join(repository, "HEAD"))


def create(repository: str) -> None:
    """What is there already, left by a process that was killed, is used."""
    aside = os.path.join(repository, "making")  # where earlier releases made theirs
    if os.path.isdir(aside):
        import shutil

        shutil.rmtree(aside, ignore_errors=True)
    for folder in _FOLDERS:
        os.makedirs(os.path.join(repository, folder), exist_ok=True)
    if not os.path.exists(os.path.join(repository, "config")):
        _put(repository, "config", _CONFIG)
    _put(repository, "HEAD", f"ref: {_FIRST}\n")


def frame_problem(repository: str) -> str:
    """What is wrong with the files that make a folder a repository. A person may have added settings of their own."""
    lines = [line.strip() for line in (_read(os.path.join(repository, "config")) or "").splitlines()]
    if not _SETTINGS.issubset(lines) or lines[:1] != ["[core]"]:
        return "its config does not say what reconvene wrote"
    head = (_read(os.path.join(repository, "HEAD")) or "").strip()
    name = head.removeprefix("ref: ")
    if not head.startswith("ref: refs/heads/") or (name not in branches(repository) and name != _FIRST):
        return "its HEAD names no branch"
    return ""


def target(repository: str, name: str) -> str:
    """The id that a branch points at. "" where there is no such branch, or only the beginning of an id."""
    text = _read(os.path.join(repository, name))
    if text is None:
        return _packed(repository, name)
    text = text.strip()
    if _ID.fullmatch(text):
        return text
    if _HALF_WRITTEN.fullmatch(text) or text.startswith("ref: "):
        return ""
    raise Damaged(f"{name} holds no id")


def branches(repository: str) -> list[str]:
    """Names of all branches."""
    found = [os.path.join("refs/heads", name) for name in _listed(os.path.join(repository, "refs/heads"))]
    packed = (line.partition(" ")[2] for line in (_read(os.path.join(repository, "packed-refs")) or "").splitlines())
    return sorted({*found, *(name for name in packed if name.startswith("refs/heads/"))})


def below(repository: str, prefix: str) -> dict[str, str]:
    """Every ref whose name begins so, which ends with a slash, without that beginning: the id that it points at."""
    packed = (line.partition(" ") for line in (_read(os.path.join(repository, "packed-refs")) or "").splitlines())
    found = {name.removeprefix(prefix): oid for oid, _, name in packed if name.startswith(prefix)}
    root = os.path.join(repository, prefix)
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            if not name.endswith(".lock"):
                found[path] = target(repository, prefix + path)
    return found


def put(repository: str, name: str, to: str) -> None:
    """A ref that is not a branch, wherever it points now."""
    if target(repository, name) != to:
        _put(repository, name, f"{to}\n")


def remove_below(repository: str, prefix: str) -> None:
    _unpack(repository, lambda name: name.startswith(prefix))
    import shutil

    shutil.rmtree(os.path.join(repository, prefix), ignore_errors=True)


def _unpack(repository: str, unwanted: Callable[[str], bool]) -> None:
    """Without these among the refs that git has packed."""
    packed = _read(os.path.join(repository, "packed-refs"))
    lines = packed.splitlines(keepends=True) if packed else []
    kept = [line for line in lines if not unwanted(line.rstrip("\n").partition(" ")[2])]
    if kept != lines:
        _put(repository, "packed-refs", "".join(kept))


def _listed(folder: str) -> list[str]:
    with suppress(FileNotFoundError):
        return [name for name in os.listdir(folder) if not name.endswith(".lock")]
    return []


def move(repository: str, name: str, to: str, *, was: str) -> None:
    """Let the branch point there, if it still points where it did."""
    _put(repository, name, f"{to}\n", was)
    head = (_read(os.path.join(repository, "HEAD")) or "").strip()
    if head.startswith("ref: ") and not target(repository, head.removeprefix("ref: ")):
        _put(repository, "HEAD", f"ref: {name}\n")  # so that a plain `git log` shows something


def remove(repository: str, name: str) -> None:
    """The branch, wherever git keeps it, and what is noted beside it."""
    _unpack(repository, lambda packed: packed == name)
    for path in (os.path.join(repository, name), _note(repository, name), _head(repository, name)):
        with suppress(FileNotFoundError):
            os.unlink(path)
    if (_read(os.path.join(repository, "HEAD")) or "").strip() == f"ref: {name}":
        _put(repository, "HEAD", f"ref: {next(iter(branches(repository)), _FIRST)}\n")


def _packed(repository: str, name: str) -> str:
    """After `git pack-refs` or `git gc`."""
    for line in (_read(os.path.join(repository, "packed-refs")) or "").splitlines():
        oid, _, packed = line.partition(" ")
        if packed == name and _ID.fullmatch(oid):
            return oid
    return ""


def _put(repository: str, name: str, text: str, was: str | None = None) -> None:
    """`was`: where the branch of that name must still point."""
    path = os.path.join(repository, name)
    lock = f"{path}.lock"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with suppress(FileNotFoundError):
        os.unlink(lock)  # left by a process that was killed: ours is the only one at work
    handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            if was is not None and target(repository, name) != was:
                raise StoreError(
                    f"The branch {name} in {repository} was moved by somebody else just now.",
                    hint="Nothing was changed. Resume the run: the history catches up on top of it.",
                )
            file.write(text)
        os.rename(lock, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(lock)
        raise


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


# --- notes ---


class _Note(msgspec.Struct):
    """Of the commit `tip`: digest of a file → id of its blob. So a further commit reads only what is new, in another
    process too. Deletable: without it everything is read once more."""

    tip: str
    blobs: dict[str, str]


def noted_blobs(repository: str, name: str, tip: str) -> dict[str, str]:
    try:
        found, blobs = note(repository, name)
    except Damaged:
        return {}
    return blobs if found == tip else {}


def note(repository: str, name: str) -> tuple[str, dict[str, str]]:
    """The commit, and its blobs; empty where there is no note."""
    try:
        with open(_note(repository, name), "rb") as file:
            found = msgspec.json.decode(file.read(), type=_Note)
    except OSError:
        return "", {}
    except msgspec.DecodeError as error:
        raise Damaged(f"the note beside {name} cannot be read: {error}") from error
    return found.tip, found.blobs


def note_blobs(repository: str, name: str, tip: str, blobs: dict[str, str]) -> None:
    path = _note(repository, name)
    with suppress(OSError):  # only a cache: a disk that is full must not undo the commit
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "wb") as file:
            file.write(msgspec.json.encode(_Note(tip, blobs)))
        os.replace(f"{path}.new", path)


def _note(repository: str, name: str) -> str:
    return os.path.join(repository, "reconvene", f"{os.path.basename(name)}.json")


def note_head(repository: str, name: str, text: str) -> None:
    """Beside the branch, where there is a repository. A disk that is full must not keep the run back."""
    path = _head(repository, name)
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "w", encoding="ascii") as file:
            file.write(text)
        os.replace(f"{path}.new", path)


def noted_head(repository: str, name: str) -> str:
    return _read(_head(repository, name)) or ""


def _head(repository: str, name: str) -> str:
    return os.path.join(repository, "reconvene", f"{os.path.basename(name)}.head")
