"""Changes of an agent that stay out of the commit that is taken over: secrets, what makes programs act, links that lead
out of the project.

What a person may want nevertheless is handed over beside the commit, to be kept aside: a file with a secret in it, or
one that starts programs. All else is only named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from reconvene.adapters.project.git import Git
from reconvene.core.paths import is_ours
from reconvene.secrets import Secrets

_LARGEST = 64 << 20  # bytes of one file that are looked through
_CACHES = frozenset({"__pycache__", ".pytest_cache"})  # left wherever Python runs, ignored by a project or not
_GONE, _LINK = "000000", "120000"
_STEERS = "it could make a coding program start others; change it yourself"
_OURS = "Reconvene would act upon it; change it yourself"
# What editors, shells and git run without being asked to, or settings that name it.
_ACTING = (
    ".vscode/tasks.json", ".vscode/settings.json", ".vscode/mcp.json", ".cursor/*", ".windsurf/*", ".devcontainer/*",
    ".devcontainer.json", ".husky/*", ".githooks/*", ".envrc", ".idea/runconfigurations/*", ".idea/workspace.xml",
)  # fmt: skip


class Held(NamedTuple):
    """Out of the commit: by path what is kept aside; and the reasons for what is not."""

    files: dict[str, bytes]
    left: list[str]


def unstage(engine: Git, before: str, secrets: Secrets, steers: Callable[[str], bool]) -> Held:
    """Take from the index what was changed since `before` and may not be in the commit."""
    against = before or engine.text("hash-object", "-t", "tree", "-w", "--stdin")
    held = Held({}, [])
    fields = engine.names("diff-index", "--cached", "-r", "-z", "--no-renames", against)
    for about, path in zip(fields[::2], fields[1::2]):
        was_mode, mode, was, blob, _ = about.removeprefix(":").split(" ")
        if was_mode == _GONE and _CACHES.intersection(path.split("/")):
            engine.do("update-index", "--force-remove", "--", path)
            continue
        data = _content(engine, blob) if mode == _LINK or mode.startswith("100") else b""
        if why := _why_left(path, mode, data, secrets, steers):
            held.left.append(f"{secrets.blank_text(path)}: {why}")
        elif mode.startswith("100") and (acts(path) or _is_new(secrets, data, _content(engine, was))):
            held.files[path] = data
        else:
            continue
        there = ("--add", "--replace", "--cacheinfo", f"{was_mode},{was},{path}")
        engine.do("update-index", *(there if was_mode != _GONE else ("--force-remove", "--", path)))
    return held


def acts(path: str) -> bool:
    """Whether a file of this name makes programs run things that nobody has asked for."""
    parts = path.casefold().split("/")
    tails = ["/".join(parts[at:]) for at in range(len(parts))]
    return any(fnmatchcase(tail, pattern) for tail in tails for pattern in _ACTING)


def _why_left(path: str, mode: str, data: bytes, secrets: Secrets, steers: Callable[[str], bool]) -> str:
    if steers(path):
        return _STEERS
    if is_ours(path):
        return _OURS
    if mode == _GONE:
        return ""
    if names := secrets.names_in(path.encode("utf-8", "surrogateescape")):
        return f"its name holds the value of {' and '.join(names)}"
    if mode != _LINK:
        return ""
    if names := secrets.names_in(data):
        return f"a link whose target holds the value of {' and '.join(names)}"
    if acts(path):
        return "a link in the place of what makes programs run things"
    return "" if stays_inside(path, data) else "a link that leads out of the project"


def stays_inside(path: str, target: bytes) -> bool:
    """Whether a link at this path, with this target, leads to something in the same tree, whatever other links do:
    after the first name no `..` may follow, since that name may be a link to a folder elsewhere in the tree."""
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    up = next((at for at, part in enumerate(parts) if part != b".."), len(parts))
    return bool(target) and not target.startswith(b"/") and up <= path.count("/") and b".." not in parts[up:]


def _is_new(secrets: Secrets, data: bytes, before: bytes) -> bool:
    """Whether it holds a secret that did not stand there before: that would be the person's own."""
    names = secrets.names_in(data)
    return bool(names) and names != secrets.names_in(before)


def in_commits(engine: Git, commit: str, before: str, secrets: Secrets) -> bool:
    """Whether a commit since `before` brings a secret along: in a file, in its name, or in a message."""
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
        if kind in ("blob", "commit", "tree") and int(engine.maybe("cat-file", "-s", name) or 0) <= _LARGEST:
            yield engine.do("cat-file", kind, name)
