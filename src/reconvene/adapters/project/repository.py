"""The person's repository, looked at from outside: where it is, what it stands at, which branches it has.

Changes nothing in it but the one branch it is told to move. Their checkout, index, HEAD, stash and configuration are
only read.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from reconvene.adapters.project.git import ALONE, Git, GitFailed, signed
from reconvene.errors import AgentError

_MOST_BORROWED = 10
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class Repository(NamedTuple):
    folder: str  # what the person named; may lie below the top
    top: str
    common: str  # the git folder that all its worktrees share
    prefix: str  # from top to folder: "" or "sub/"
    format: str  # sha1 | sha256
    git: Git

    @property
    def objects(self) -> str:
        return os.path.join(self.common, "objects")

    def all_objects(self) -> tuple[str, ...]:
        """Where objects are: its own, and those it borrows."""
        found = [self.objects]
        for folder in found:
            try:
                with open(os.path.join(folder, "info", "alternates"), "rb") as file:
                    lines = os.fsdecode(file.read()).splitlines()
            except OSError:
                continue
            paths = (os.path.normpath(os.path.join(folder, line)) for line in lines if line and line[0] not in '#"')
            found += [path for path in paths if path not in found][:_MOST_BORROWED]
        return tuple(found)

    def checkouts(self) -> tuple[str, ...]:
        """The folders in which the person has it checked out, this one among them."""
        listed = self.git.maybe("worktree", "list", "--porcelain").split("\n")
        return (self.top, *(line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")))

    def head(self) -> str:
        """The commit that is checked out, "" where there is none yet."""
        return self.commit("HEAD")

    def commit(self, ref: str) -> str:
        return self.git.maybe("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")

    def person(self) -> tuple[str, str]:
        """Whom the person's git configuration names."""
        return self.git.maybe("config", "--get", "user.name"), self.git.maybe("config", "--get", "user.email")


def plant(folder: str, files: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """A new repository with these files in one commit. Nothing of the person's configuration is read."""
    for path, text in files.items():
        file = os.path.join(folder, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "x", encoding="utf-8") as opened:
            opened.write(text)
    git = Git(environ, folder, {**ALONE, **signed("Reconvene", "none")})
    git.do("init", "--quiet", "--template=", "--initial-branch=main")
    git.do("add", "--all")
    git.do("commit", "--quiet", "--message=The project of a recording")


def find(folder: str, environ: Mapping[str, str]) -> Repository:
    """The repository that this folder is part of."""
    quoted = shlex.quote(folder)
    if not os.path.isdir(folder):
        why = f"The project's folder {folder} is not there any more."
        hint = f"Put it back. If you moved it: ln -s ITS-NEW-FOLDER {quoted}, then try again."
        raise AgentError(why, hint=hint, retryable=False)
    git = Git(environ, folder)
    words = ("--show-toplevel", "--git-common-dir", "--show-object-format", "--show-prefix")
    try:
        found = git.text("rev-parse", "--path-format=absolute", *words).split("\n")
    except GitFailed as error:
        if "dubious ownership" in error.message:
            hint = f"git config --global --add safe.directory {quoted}"
            raise AgentError(f"git does not trust {folder}: it belongs to another account.", hint=hint) from None
        why = "is not the working folder of a git repository, and agents change a project only on a branch of its own."
        hint = f"git -C {quoted} init && git -C {quoted} add -A && git -C {quoted} commit -m Start"
        raise AgentError(f"{folder} {why}", hint=hint, retryable=False) from None
    top, common, form = found[:3]
    return Repository(folder, top, common, found[3] if len(found) > 3 else "", form, git)


def free_branch(repository: Repository, run: str) -> str:
    """A name that no branch has, and that git can give to one."""
    taken = repository.git.text("for-each-ref", "--format=%(refname)", "refs/heads/").split("\n")
    names = {name.removeprefix("refs/heads/") for name in taken}
    plain = _NOT_IN_A_NAME.sub("-", run).strip(".-").replace("..", ".").removesuffix(".lock") or "run"
    stem = f"reconvene-{plain}" if "reconvene" in names else f"reconvene/{plain}"
    number, name = 1, stem
    while name in names or any(other.startswith(f"{name}/") for other in names):
        number += 1
        name = f"{stem}-{number}"
    return name


def move_branch(repository: Repository, branch: str, commit: str, ours: str) -> str:
    """Let the branch stand at `commit`. "" or why it was left alone. `ours`: where it was put last time.

    A person who checked it out, or went on working on it, keeps what they have.
    """
    git, ref = repository.git, f"refs/heads/{branch}"
    now = repository.commit(ref)
    if now == commit or (now and now != ours and _leads_to(git, commit, now)):
        return ""  # there already, maybe with more of the person's on top
    merge = f"git -C {shlex.quote(repository.folder)} merge {commit[:12]}"
    place = git.text("for-each-ref", "--format=%(worktreepath)", ref)
    if now and place:
        return f"the branch {branch} is checked out at {place} and was left as it is; the run's work is: {merge}"
    if now and now != ours and not _leads_to(git, now, commit):
        return f"the branch {branch} was changed by somebody else and was left as it is; the run's work is: {merge}"
    git.do("update-ref", "-m", "reconvene", ref, commit, now or "0" * len(commit))
    return ""


def _leads_to(git: Git, old: str, new: str) -> bool:
    try:
        git.do("merge-base", "--is-ancestor", old, new)
    except GitFailed:
        return False
    return True
