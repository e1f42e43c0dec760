"""What the engine itself finds out in the person's project: nobody is asked, and nobody's word is taken.

Each look gives one record, which is kept with the run. What a look is told comes from the workflow, as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from reconvene.adapters.project import diffs, suite_commands, uncommitted
from reconvene.adapters.project.git import Git, GitFailed
from reconvene.adapters.project.repository import Repository, find
from reconvene.errors import AgentError
from reconvene.ports import ProjectWork

MAX_SHOWN = 400_000  # bytes of a diff that a person is given
_LARGE = 1 << 20
_MOST = 50  # names that are listed
_LINES = 20
_GENERATED = (
    "node_modules/", "dist/", "build/", "target/", "__pycache__/", ".venv/", "venv/", ".pytest_cache/", "coverage/",
    ".next/", ".tox/",
)  # fmt: skip
_ENDINGS = (
    ".pyc",
    ".pyo",
    ".min.js",
    ".min.css",
    ".map",
    ".o",
    ".so",
    ".class",
    ".exe",
    ".dll",
    ".log",
    ".orig",
    ".rej",
)


def told(words: str) -> dict[str, object]:
    """What a look was told; an object, or nothing."""
    try:
        found = json.loads(words) if words.strip() else {}
    except ValueError as error:
        raise AgentError(f"What this survey was told is not JSON: {error}.", retryable=False) from None
    return found if isinstance(found, dict) else {}


# --- before anything begins -------------------------------------------------------------------------------------------


def ground(path: str, environ: Mapping[str, str]) -> dict[str, object]:
    """Whether agents can work here, from what they would start, and how the project is set up and tested."""
    try:
        repository = find(path, environ)
    except AgentError as error:
        return {
            "git": False,
            "why": error.message,
            "mend": error.hint,
            "uncommitted": [],
            "lent": [],
            **_suites([], path),
        }
    changed = uncommitted.names(repository, environ)
    head = repository.head()
    entries = repository.git.names("ls-tree", "-r", "-z", "--full-tree", head) if head else []
    modules = [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]
    names = [entry.partition("\t")[2] for entry in entries]
    inside = [name.removeprefix(repository.prefix) for name in names if name.startswith(repository.prefix)]
    lent = lendable(repository)
    return {
        "git": True,
        "commit": head[:12],
        "branch": repository.git.maybe("symbolic-ref", "--short", "-q", "HEAD"),
        "uncommitted": changed[:_MOST],
        "uncommitted_count": len(changed),
        "submodules": modules[:_MOST],
        "lfs": _lfs(repository, head, names),
        "lent": lent,
        **_suites(inside, path, repository, head, lent),
    }


def _suites(
    names: Sequence[str], path: str, repository: Repository | None = None, head: str = "", lent: Sequence[str] = ()
) -> dict[str, object]:
    def read(name: str) -> str:
        if repository is None or not head:
            return ""
        return repository.git.start_of(200_000, "cat-file", "blob", f"{head}:{repository.prefix}{name}")[0]

    found = suite_commands.suites(names, read, lent)
    listed = [{"test": suite.test, "setup": suite.setup, "source": suite.source} for suite in found]
    return {"suites": listed, "test": found[0].test if found else "", "setup": found[0].setup if found else ""}


def lendable(repository: Repository) -> list[str]:
    """Folders that are ignored and needed, as they lie in the person's checkout."""
    there = [name for name in suite_commands.LENT if os.path.isdir(os.path.join(repository.folder, name))]
    known = repository.git.maybe("ls-tree", "-z", "--name-only", "--full-tree", f"HEAD:{repository.prefix}").split("\0")
    plain = [name for name in there if not os.path.islink(os.path.join(repository.folder, name))]
    return [name for name in plain if name not in known]


def _lfs(repository: Repository, head: str, names: Sequence[str]) -> list[str]:
    """Patterns that Git LFS keeps elsewhere: agents see pointers there, not the content."""
    found: list[str] = []
    for name in names:
        if name.rpartition("/")[2] == ".gitattributes":
            text = repository.git.start_of(100_000, "cat-file", "blob", f"{head}:{name}")[0]
            found += [line.split()[0] for line in text.splitlines() if "filter=lfs" in line]
    return found[:_MOST]


# --- what has changed -------------------------------------------------------------------------------------------------


def change(engine: Git, work: ProjectWork, base: str, asked: Mapping[str, object]) -> dict[str, object]:
    """All that changed since the item in hand began, or the run: by file, by commit, and what of it is worth a look."""
    start = (work.since[-1] if work.since and asked.get("since") != "run" else "") or base
    now = work.head or base
    files = diffs.changes(engine, start, now)
    text = diffs.diff(engine, start, now, MAX_SHOWN)
    commits = _commits(engine, start, now)
    return {
        "from": start,
        "commit": now,
        "files": [
            {"path": file.path, "kind": file.kind, "added": file.added, "removed": file.removed, "line": file.line}
            for file in files
        ],
        "added": sum(file.added for file in files),
        "removed": sum(file.removed for file in files),
        "commits": commits,
        "look_at": [*_odd(files), *_about_tests(files, text)],
        "story": _story(asked, now, commits),
        "diff": text,
    }


def _commits(engine: Git, start: str, now: str) -> list[dict[str, str]]:
    if start == now:
        return []
    listed = engine.maybe("log", "--format=%H %s", f"--max-count={_MOST}", now, *([f"^{start}"] if start else []))
    pairs = [line.partition(" ") for line in listed.split("\n") if line]
    return [{"id": commit[:12], "title": subject} for commit, _, subject in reversed(pairs)]


def _odd(files: Sequence[diffs.Changed]) -> list[str]:
    """New files that a person may not want in a commit."""
    found: list[str] = []
    for file in files:
        why = [word for word, yes in (("binary", file.binary), ("generated", _is_generated(file.path))) if yes]
        why += [f"{file.size / (1 << 20):.1f} MB"] if file.size >= _LARGE else []
        if file.kind == "new" and why:
            found.append(f"{file.path}: new, {' and '.join(why)}")
    return found[:_LINES]


def _is_generated(path: str) -> bool:
    lowered = f"/{path.lower()}"
    return lowered.endswith(_ENDINGS) or any(f"/{part}" in lowered for part in _GENERATED)


def _about_tests(files: Sequence[diffs.Changed], text: str) -> list[str]:
    """What changes which tests run: their settings, tests taken away, tests skipped."""
    found = [
        f"{file.path}: {file.kind}, and it says which tests run and how"
        for file in files
        if suite_commands.is_settings(file.path)
    ]
    gone: dict[str, int] = {}
    skipped: dict[str, int] = {}
    path = ""
    for line in text.split("\n"):
        if line.startswith(("+++ b/", "--- a/")):
            path = line[6:].rstrip("\t")
        elif suite_commands.is_test(path) and line[:1] in "+-" and len(line) > 1:
            change = 1 if line[0] == "-" else -1
            if suite_commands.begins_case(line[1:]):
                gone[path] = gone.get(path, 0) + change
            if suite_commands.skips(line[1:]):
                skipped[path] = skipped.get(path, 0) - change
    found += [f"{path}: {count} test{'s' * (count != 1)} fewer" for path, count in gone.items() if count > 0]
    found += [f"{path}: {count} test{'s' * (count != 1)} skipped" for path, count in skipped.items() if count > 0]
    return found[:_LINES]


def _story(asked: Mapping[str, object], now: str, commits: Sequence[Mapping[str, str]]) -> list[object]:
    """What was found, and the commit that followed, each time the work was done again. Oldest first."""
    earlier = asked.get("story")
    story = list(earlier) if isinstance(earlier, list) else []
    last = story[-1].get("commit") if story and isinstance(story[-1], dict) else ""
    if last == now[:12]:
        return story
    findings = asked.get("found")
    texts = [str(text) for text in findings][:_LINES] if isinstance(findings, list) and story else []
    title = commits[-1]["title"] if commits else "nothing changed"
    return [*story, {"commit": now[:12], "title": title, "found": texts}]


# --- the end ----------------------------------------------------------------------------------------------------------


def merge(engine: Git, repository: Repository, commit: str, environ: Mapping[str, str]) -> dict[str, object]:
    """Whether the branch goes together with what is checked out now. Tried with objects alone: no file is touched."""
    head = repository.head()
    mine = uncommitted.names(repository, environ)
    if not commit or not head or commit == head:
        return {"clean": True, "conflicts": [], "in_the_way": [], "head": head[:12]}
    conflicts, clean, why = _conflicts(engine, head, commit)
    base = engine.maybe("merge-base", head, commit)
    theirs = set(diffs.changed(engine, base, commit)) if base else set()
    return {
        "clean": clean,
        "conflicts": conflicts[:_MOST],
        "in_the_way": [name for name in mine if name in theirs][:_MOST],
        "why": why,
        "head": head[:12],
    }


def _conflicts(engine: Git, head: str, commit: str) -> tuple[list[str], bool, str]:
    words = ("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", head, commit)
    try:
        printed, code = engine.outcome(*words)
    except GitFailed as error:
        return [], False, error.message
    names = [name for name in printed.decode("utf-8", "replace").split("\0")[1:] if name]
    if code not in (0, 1):
        return [], False, "git could not try it"
    return list(dict.fromkeys(names)), code == 0, ""
