"""The files of the person's project as they are in one commit, for whoever may only look: never what is on a disk."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.adapters.project.repository import Repository, find
from reconvene.core.paths import is_safe
from reconvene.errors import AgentError
from reconvene.ports import ProjectWork

MOST_READ = 10 * 1024 * 1024  # bytes of one file
_LISTED = 4 * 1024 * 1024  # bytes that git may print
_SECONDS = 30.0


class CommitFiles:
    """At the run's commit: all accepted work, else where its branch begins, else what is checked out."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def listing(self, work: ProjectWork, below: str, most: int) -> tuple[list[tuple[str, int]], bool]:
        repository, commit = self._at(work)
        place = repository.prefix + (f"{below}/" if below else "")
        words = ("ls-tree", "-r", "-l", "-z", "--full-tree", commit, *([place] if place else []))
        said, whole = repository.git.start_of(_LISTED, *words, seconds=_SECONDS)
        rows = [row for row in said.split("\0") if "\t" in row]
        found = [_entry(row, repository.prefix) for row in (rows if whole else rows[:-1])]
        return found[:most], whole and len(found) <= most

    def read(self, work: ProjectWork, path: str) -> tuple[bytes, int] | None:
        repository, commit = self._at(work)
        if not is_safe(path):
            return None
        found = repository.git.maybe("ls-tree", "-l", "--full-tree", "-z", commit, repository.prefix + path)
        about = found.partition("\t")[0].split()
        if len(about) != 4 or about[1] != "blob" or about[0] == "120000":
            return None
        data, _ = repository.git.first_bytes(MOST_READ, "cat-file", "blob", about[2], seconds=_SECONDS)
        return data, int(about[3])

    def search(
        self, work: ProjectWork, wanted: str, below: str, most: int, *, ignore_case: bool
    ) -> tuple[list[tuple[str, int, str]], bool]:
        repository, commit = self._at(work)
        words = ["grep", "-n", "-z", "-I", "-F", "--full-name", "--no-color", *(["-i"] if ignore_case else [])]
        words += ["-e", wanted, commit, "--", below or "."]  # from the project's folder on, where git is started
        said, whole = repository.git.start_of(_LISTED, *words, seconds=_SECONDS)
        lines = said.split("\n")
        found = [hit for line in lines[:-1] if (hit := _hit(line, commit, repository.prefix)) is not None]
        return found[:most], whole and len(found) <= most

    def _at(self, work: ProjectWork) -> tuple[Repository, str]:
        repository = find(work.path, self._environ)
        commit = work.head or work.base or repository.head()
        if not commit:
            raise AgentError(f"The project {work.path} has no commit yet: there is nothing to read.", retryable=False)
        return repository, commit


def _entry(row: str, prefix: str) -> tuple[str, int]:
    about, _, path = row.partition("\t")
    mode, kind, _, size = about.split()
    plain = kind == "blob" and mode != "120000" and size.isdecimal()
    return path.removeprefix(prefix), int(size) if plain else -1


def _hit(line: str, commit: str, prefix: str) -> tuple[str, int, str] | None:
    path, _, rest = line.removeprefix(f"{commit}:").partition("\0")
    number, _, text = rest.partition("\0")
    return (path.removeprefix(prefix), int(number), text) if number.isdecimal() else None
