"""Changes of an agent that hold a secret, or that steer coding programs, stay out of the commit that is taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reconvene.adapters.project.git import Git
from reconvene.secrets import Secrets

_LARGEST = 64 << 20  # bytes of one file that are looked through


def unstage(engine: Git, before: str, secrets: Secrets) -> dict[str, bytes]:
    """Take from the index what was changed since `before` and holds a secret: path → content."""
    against = before or engine.text("hash-object", "-t", "tree", "-w", "--stdin")
    held: dict[str, bytes] = {}
    fields = engine.names("diff-index", "--cached", "-r", "-z", "--no-renames", against)
    for about, path in zip(fields[::2], fields[1::2]):
        was_mode, mode, was, blob, _ = about.removeprefix(":").split(" ")
        if not mode.startswith("100"):  # gone, a link, a submodule
            continue
        data = _content(engine, blob)
        if not secrets.names_in(data) or secrets.names_in(data) == secrets.names_in(_content(engine, was)):
            continue  # what stood there before is the person's own
        held[path] = data
        if int(was_mode, 8):
            engine.do("update-index", "--cacheinfo", f"{was_mode},{was},{path}")
        else:
            engine.do("update-index", "--force-remove", "--", path)
    return held


def unstage_steering(engine: Git, before: str, steers: Callable[[str], bool]) -> list[str]:
    """Take from the index what was changed since `before` and could make a program start others: the paths."""
    against = before or engine.text("hash-object", "-t", "tree", "-w", "--stdin")
    fields = engine.names("diff-index", "--cached", "-r", "-z", "--no-renames", against)
    left = []
    for about, path in zip(fields[::2], fields[1::2]):
        mode, _, blob, *_ = about.removeprefix(":").split(" ")
        if steers(path):
            there = ("--add", "--replace", "--cacheinfo", f"{mode},{blob},{path}")
            engine.do("update-index", *(there if int(mode, 8) else ("--force-remove", "--", path)))
            left.append(path)
    return left


def in_commits(engine: Git, commit: str, before: str, secrets: Secrets) -> bool:
    """Whether a commit since `before` brings a secret along, in a file or in its message."""
    since = [f"^{before}"] if before else []
    objects = engine.text("rev-list", "--objects", "--no-object-names", commit, *since).split()
    return any(secrets.names_in(data) for data in _contents(engine, objects))


def _content(engine: Git, blob: str) -> bytes:
    return next(_contents(engine, [blob]), b"")


def _contents(engine: Git, objects: list[str]) -> Iterator[bytes]:
    for name in objects:
        if not name.strip("0"):
            continue
        kind = engine.maybe("cat-file", "-t", name)
        if kind in ("blob", "commit") and int(engine.maybe("cat-file", "-s", name) or 0) <= _LARGEST:
            yield engine.do("cat-file", kind, name)
