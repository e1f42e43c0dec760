"""The history of a run's workspace, as the companion reads it: commits of this run's branch, and no others."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.app import record
from reconvene.companion.paging import listed, number, paged, words
from reconvene.companion.tool_scope import DATA, Answer, Made, Scope
from reconvene.errors import UserError
from reconvene.ports import Commit

_USUAL = 30  # commits
_SHORT = 12  # characters of an id


def git_log(scope: Scope, given: Mapping[str, object]) -> Answer:
    found, before = record.commits(scope.engine, scope.run), words(given, "before")
    if before:
        older = record.commit_named(scope.engine, scope.run, before)[0]
        found = found[[one for one, _ in found].index(older) + 1 :]
    if not found:
        return Answer("There are no older commits." if before else "There is no commit yet: the run has not stopped.")
    lines = [
        f"{one[:_SHORT]}  {commit.at[:16].replace('T', ' ')}  {commit.author}: {commit.subject}"
        for one, commit in found
    ]
    cites = [f"commit {one[:_SHORT]}" for one, _ in found]
    return listed(
        f"commits, newest first ({DATA})",
        lines,
        number(given, "limit", _USUAL),
        lambda shown: f"before={found[shown - 1][0][:_SHORT]!r}",
        cites,
    )


def git_diff(scope: Scope, given: Mapping[str, object]) -> Answer:
    engine, run, path = scope.engine, scope.run, words(given, "path")
    every = record.commits(engine, run)
    if not every:
        raise UserError("There is no commit yet: the run has not stopped.")
    new, _, before = record.commit_named(engine, run, words(given, "new") or every[0][0])
    old = record.commit_named(engine, run, words(given, "old"))[0] if words(given, "old") else before
    text = record.diff(engine, run, old, new, path)
    what = f"{old[:_SHORT] or 'nothing'}..{new[:_SHORT]}" + (f" in {path}" if path else "")
    if not text:
        return Answer(f"No difference: {what}.")
    return paged(f"changes {what} ({DATA})", text, given, f"commit {new[:_SHORT]}")


def git_show(scope: Scope, given: Mapping[str, object]) -> Answer:
    engine, run, path = scope.engine, scope.run, words(given, "path")
    name, commit, before = record.commit_named(engine, run, words(given, "commit"))
    if path:
        data = record.file_at(engine, run, commit.seq, path)
        if b"\0" in data[:8000]:
            return Answer(f"{path} was not a text at {name[:_SHORT]} ({len(data):,} bytes).")
        head, text = f"{path} as it was at {name[:_SHORT]} ({DATA})", data.decode("utf-8", "replace")
    else:
        head, text = _head(name, commit), record.diff(engine, run, before, name) or "No file changed."
    return paged(head, text, given, f"commit {name[:_SHORT]}")


def _head(name: str, commit: Commit) -> str:
    about = [f"commit {name}", f"by {commit.author}, {commit.at}, event {commit.seq}", commit.subject, commit.body]
    return "\n".join(filter(None, (*about, f"({DATA})")))


MADE: dict[str, Made] = {"git_log": git_log, "git_diff": git_diff, "git_show": git_show}
