"""What the person has not committed: named, and if they wish turned into a commit that agents start from.

The person's index is copied, never written. git is told of their line endings and of nothing else: a filter, hook or
monitor that the project configures would be a program, and none of them runs. So a file that a filter changes on its
way into a commit may be named here though git itself would not.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping

from reconvene.adapters.project import worktree_files as disk
from reconvene.adapters.project.git import ALONE, Git, GitFailed, signed
from reconvene.adapters.project.repository import Repository
from reconvene.core.paths import is_ours

_ATTRIBUTES = b"* !filter !diff !merge !working-tree-encoding\n"
_LARGEST_INDEX = 1 << 30
_ENDINGS = ("core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase")


def names(repository: Repository, environ: Mapping[str, str]) -> list[str]:
    """Paths from the top that differ from the commit, sorted; the engine's own folder is none of them."""
    head = repository.head()
    with _beside(repository, environ, head) as git:
        found = set(git.names("ls-files", "--others", "--exclude-standard", "-z"))
        changed = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
        found |= set(git.names(*changed, "--ignore-submodules=all"))
        against = head or git.text("hash-object", "-t", "tree", "-w", "--stdin")
        staged = ("diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")
        found |= set(git.names(*staged, against))
    return sorted(name for name in found if not _engines(name))


def as_commit(repository: Repository, environ: Mapping[str, str]) -> str:
    """A commit on top of what is checked out, with all that `names` tells; on no branch, and nothing else changes."""
    head, changed = repository.head(), names(repository, environ)
    if not changed:
        return head
    with _beside(repository, environ, head) as git:
        listed = "\0".join(changed).encode("utf-8", "surrogateescape")
        git.do("update-index", "--add", "--remove", "-z", "--stdin", stdin=listed)
        tree = git.text("write-tree")
        name, email = repository.person()
        author = signed(name or "Reconvene", email or "reconvene@localhost")
        said = b"What was not committed when the run began\n"
        return git.with_(**author).text("commit-tree", tree, *(("-p", head) if head else ()), stdin=said)


def _engines(name: str) -> bool:
    return ".reconvene" in name.split("/") or is_ours(name)


@contextlib.contextmanager
def _beside(repository: Repository, environ: Mapping[str, str], head: str) -> Iterator[Git]:
    """git over the person's files and objects, with a git folder and an index that are only ours."""
    place = tempfile.mkdtemp(prefix="reconvene-")
    try:
        own = os.path.join(place, "git")
        bare = Git(environ, place, ALONE)
        bare.do("init", "--quiet", "--bare", "--template=", f"--object-format={repository.format}", own)
        os.makedirs(os.path.join(own, "info"), exist_ok=True)
        disk.save(os.path.join(own, "info", "attributes"), _ATTRIBUTES)
        excluded = disk.read_small(os.path.join(repository.common, "info", "exclude"), 1_000_000)
        disk.save(os.path.join(own, "info", "exclude"), excluded)
        for key in _ENDINGS:
            if value := repository.git.maybe("config", "--get", key):
                bare.with_(GIT_DIR=own).do("config", key, value)
        bound = bare.with_(
            GIT_DIR=own,
            GIT_OBJECT_DIRECTORY=repository.objects,
            GIT_WORK_TREE=repository.top,
            GIT_INDEX_FILE=os.path.join(place, "index"),
        ).at(repository.top)
        _fill(bound, repository, os.path.join(place, "index"), head)
        yield bound
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _fill(git: Git, repository: Repository, index: str, head: str) -> None:
    """With a copy of the person's index, so that no file has to be read that git knows to be as it was."""
    theirs = repository.git.maybe("rev-parse", "--path-format=absolute", "--git-path", "index")
    data = disk.read_small(theirs, _LARGEST_INDEX) if theirs else b""
    if data:
        disk.save(index, data)
        with contextlib.suppress(GitFailed):
            git.do("ls-files", "-z", "--", ":(top)/")
            return
        disk.remove(index)  # one that is divided into several files, or is of a kind that this git does not know
    if head:
        git.do("read-tree", head)
