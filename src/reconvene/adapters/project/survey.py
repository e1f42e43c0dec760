"""A look through a project's folder: its tree, its README, its latest commits, and where certain words occur.

The same folder and words always give the same text. Follows no link, opens nothing that looks like a secret, and reads
no more than a bounded part of anything. Works without git, and on an empty folder.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from typing import NamedTuple

from reconvene.adapters.project import worktree_files as disk
from reconvene.adapters.project.git import Git
from reconvene.core import kit_finder
from reconvene.errors import AgentError

_MAX_PATHS = 20_000
_MAX_TREE = 250  # lines
_PER_FOLDER = 30  # files of one folder that the tree names
_MAX_README = 6_000  # characters
_COMMITS = 15
_MAX_SCANNED = 3_000  # files that are searched for the words
_MAX_FILE = 256_000  # bytes of one of them
_MAX_WORDS = 16
_MAX_MATCHES = 10  # files with excerpts
_LINES = 6  # of each
_WIDTH = 180
_README = re.compile(r"readme(\.(md|rst|txt|adoc|org))?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w.-]*\w")
_SECRET = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.gpg", "*.asc",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".htpasswd", ".pgpass",
    "*credential*", "*secret*", "*.tfstate", "*.tfvars", ".git-credentials", "*token*.json", "service-account*.json",
)  # fmt: skip
_NOT_SOURCE = frozenset(
    (".git", ".hg", ".svn", ".reconvene", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache",
     ".pytest_cache", ".ruff_cache", ".idea", ".vscode", "target", "dist", "build", ".gradle", ".next", ".cache")
)  # fmt: skip


class _Match(NamedTuple):
    score: int
    path: str
    lines: tuple[str, ...]


def survey(folder: str, about: str, git: Git, name: str = "") -> str:
    """Everything at once, as Markdown. `name`: what it is called, where the folder has another."""
    paths, cut = _paths(folder, git)
    words = _words(about)
    parts = [f"# Survey of {name or os.path.basename(os.path.abspath(folder)) or folder}", _tree(paths, cut)]
    parts += [_readme(folder, paths), _commits(git), _matches(folder, paths, words)]
    return "\n\n".join(part for part in parts if part) + "\n"


def looks_secret(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if name.endswith((".example", ".sample", ".template", ".dist", ".py", ".md", ".ts", ".js", ".go", ".rs", ".java")):
        return name.startswith(("id_rsa", "id_ed25519"))
    return any(fnmatch(name, pattern) for pattern in _SECRET)


# --- what is there ---


def _paths(folder: str, git: Git) -> tuple[list[str], bool]:
    """Paths from the folder, sorted; whether there were more. What git ignores is not there."""
    try:
        listed = git.names("ls-files", "-z", "--cached", "--others", "--exclude-standard", ".")
        found = sorted({path for path in listed if not _apart(path)})
        found = [path for path in found if os.path.lexists(os.path.join(folder, path))]
    except AgentError:
        found = []
    if not found:  # without git, or a folder that a repository around it ignores
        found = _walked(folder)
    return found[:_MAX_PATHS], len(found) > _MAX_PATHS


def _apart(path: str) -> bool:
    """Of version control or of this engine itself, not of the project."""
    return any(part in (".git", ".reconvene") for part in path.split("/"))


def _walked(folder: str) -> list[str]:
    found: list[str] = []
    for here, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _NOT_SOURCE)
        inside = os.path.relpath(here, folder).replace(os.sep, "/")
        found += [name if inside == "." else f"{inside}/{name}" for name in sorted(names)]
        if len(found) > _MAX_PATHS:
            break
    return sorted(found)


def _tree(paths: list[str], cut: bool) -> str:
    if not paths:
        return "## Files\n\nThe folder is empty."
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        place, _, name = path.rpartition("/")
        by_folder.setdefault(place, []).append(name)
    lines: list[str] = []
    for place in sorted(by_folder):
        names = by_folder[place]
        lines.append(f"{_shown(place) or '.'}/ ({len(names)} file{'s' * (len(names) != 1)})")
        lines += [f"  {_shown(name)}" for name in names[:_PER_FOLDER]]
        if len(names) > _PER_FOLDER:
            lines.append(f"  … and {len(names) - _PER_FOLDER} more")
    if len(lines) > _MAX_TREE:
        lines[_MAX_TREE:] = [f"… and {len(lines) - _MAX_TREE} more lines"]
    count = f"{len(paths)}{' and more' if cut else ''} files in {len(by_folder)} folders"
    return f"## Files\n\n{count}\n\n" + "\n".join(lines)


def _readme(folder: str, paths: list[str]) -> str:
    found = next((path for path in paths if _README.fullmatch(path)), "")
    text = _text(folder, found) if found else ""
    if not text.strip():
        return ""
    rest = f"\n… ({len(text) - _MAX_README} more characters)" if len(text) > _MAX_README else ""
    return f"## {_shown(found)}\n\n{text[:_MAX_README].strip()}{rest}"


def _commits(git: Git) -> str:
    try:
        log, _ = git.start_of(
            8_000, "log", f"--max-count={_COMMITS}", "--format=%h %ad %s", "--date=short", "--no-show-signature", "--"
        )
    except AgentError:
        return ""
    lines = [_shown(line)[:_WIDTH] for line in log.splitlines() if line.strip()]
    return "## Latest commits\n\n" + "\n".join(lines) if lines else ""


# --- what it says about the words ---


def _words(about: str) -> dict[str, str]:
    """Beginning → word, of the words of substance, in the order they come up; a longer list keeps the longest."""
    found: dict[str, str] = {}
    plain = " ".join(match[0].lower() for match in _WORD.finditer(about))
    for word, stem, common in kit_finder.reader().tokens(plain):
        if len(word) >= 3 and not common:
            found.setdefault(_root(word, stem), word)
    longest = set(sorted(found, key=lambda word: (-len(word), word))[:_MAX_WORDS])
    return {each: word for each, word in found.items() if each in longest}


def _root(word: str, stem: str) -> str:
    """What the word and its stem begin with alike, less a final e: texts are searched for it, and the stem itself may
    be part of no form of the word (policy, policies: polici)."""
    root = next((word[:size] for size in range(len(word), 2, -1) if stem.startswith(word[:size])), word)
    return root[:-1] if len(root) > 4 and root.endswith("e") else root


def _matches(folder: str, paths: list[str], words: dict[str, str]) -> str:
    if not words:
        return ""
    found = [match for path in paths[:_MAX_SCANNED] if (match := _match(folder, path, list(words)))]
    found.sort(key=lambda match: (-match.score, match.path))
    looked_for = ", ".join(words.values())
    if not found:
        return f"## Matches\n\nNo file holds any of: {looked_for}"
    parts = [f"## Matches\n\nLooked for: {looked_for}"]
    for match in found[:_MAX_MATCHES]:
        parts.append("\n".join([f"### {_shown(match.path)}", *match.lines]))
    if len(found) > _MAX_MATCHES:
        more = ", ".join(_shown(match.path) for match in found[_MAX_MATCHES : 3 * _MAX_MATCHES])
        parts.append(f"Also: {more}")
    return "\n\n".join(parts)


def _match(folder: str, path: str, words: list[str]) -> _Match | None:
    """Words in the path weigh more than words in the text; each counts once."""
    lowered = path.lower()
    named = [word for word in words if word in lowered]
    text = _text(folder, path)
    low = text.lower()
    inside = [word for word in words if word in low]
    if not named and not inside:
        return None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if any(word in line.lower() for word in inside):
            lines.append(f"{number}: {_shown(line.strip())[:_WIDTH]}")
            if len(lines) == _LINES:
                break
    return _Match(3 * len(named) + len(inside), path, tuple(lines))


def _text(folder: str, path: str) -> str:
    """A text file's beginning; "" for anything that is none, lies behind a link or looks like a secret."""
    root = os.path.realpath(folder)
    full = os.path.join(root, *path.split("/"))
    if looks_secret(path) or os.path.realpath(full) != full:
        return ""
    data = disk.read_small(full, _MAX_FILE)
    return "" if b"\0" in data[:8000] else data.decode("utf-8", "replace")


def _shown(text: str) -> str:
    """Without what could move a terminal's cursor, or is no text."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(char if char.isprintable() or char == "\t" else "�" for char in plain)
