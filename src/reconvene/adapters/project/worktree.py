"""One agent's worktree of the project: reset to a commit before an attempt, turned into a commit after it.

Three git folders keep apart what must not mix. The person's: new objects go there, nothing else is touched. The
agent's (`git`, behind the `.git` file of its tree): made anew for every attempt, so an agent may use git as it likes,
and nothing it configures, stashes or hooks reaches anybody. The engine's (`engine.git`): the only one whose
configuration the engine's own calls read; its attributes outrank those in the tree, so content is taken as it is.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import NamedTuple

from reconvene.adapters.project import held_back
from reconvene.adapters.project import worktree_files as disk
from reconvene.adapters.project.git import ALONE, Git, GitFailed, signed
from reconvene.adapters.project.repository import Repository
from reconvene.errors import AgentError
from reconvene.sandbox_ports import Ground
from reconvene.secrets import Secrets

_MAX_COMMITS = 200  # of an agent's own, in one attempt
_LARGEST = 10 << 20  # bytes of one file that is taken
_ATTRIBUTES = "* -text !eol !filter !ident !working-tree-encoding !diff !merge !crlf\n"
_IDLE = "idle"  # there when no attempt works in the folder: one that a crash left behind is not used again
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Worktree(NamedTuple):
    root: str
    repository: Repository
    engine: Git  # with the index and tree of this worktree
    environ: Mapping[str, str]
    lent: tuple[str, ...] = ()  # folders of the person's checkout that it may read, by name

    @property
    def tree(self) -> str:
        return os.path.join(self.root, "tree")

    @property
    def folder(self) -> str:
        """Where the agent starts: the folder that the person named, in the tree."""
        return os.path.join(self.tree, *self.repository.prefix.split("/")).rstrip("/")

    @property
    def git(self) -> str:
        return os.path.join(self.root, "git")

    @property
    def ground(self) -> Ground:
        """The tree and its git folder are the agent's. Of the person's repository it needs the objects alone, and of
        none of its checkouts anything."""
        own = self.repository
        lent = tuple(os.path.join(own.folder, name) for name in self.lent)
        return Ground((self.tree, self.git), (*own.all_objects(), *lent), (own.common, *own.checkouts()))

    @property
    def pointer(self) -> bytes:
        return f"gitdir: {self.git}\n".encode("utf-8", "surrogateescape")


def engine_git(place: str, repository: Repository, environ: Mapping[str, str], lent: tuple[str, ...] = ()) -> Git:
    """The engine's own view of the repository: its objects, none of its configuration."""
    own = os.path.join(place, "engine.git")
    bare = Git(environ, place, ALONE)
    if not os.path.isdir(os.path.join(own, "refs")):
        bare.do("init", "--quiet", "--bare", "--template=", f"--object-format={repository.format}", own)
        os.makedirs(os.path.join(own, "info"), exist_ok=True)
        disk.save(os.path.join(own, "info", "attributes"), _ATTRIBUTES.encode())
    _share(own, repository, lent)
    return bare.with_(GIT_DIR=own, GIT_OBJECT_DIRECTORY=repository.objects)


def _share(own: str, repository: Repository, lent: tuple[str, ...]) -> None:
    """What is not configuration but belongs to reading the objects: where history is cut off, what is ignored."""
    os.makedirs(os.path.join(own, "info"), exist_ok=True)
    excluded = disk.read_small(os.path.join(repository.common, "info", "exclude"), 1_000_000)
    links = "".join(f"/{repository.prefix}{name}\n" for name in lent).encode("utf-8", "surrogateescape")
    disk.save(os.path.join(own, "info", "exclude"), excluded + b"\n" + links if links else excluded)
    shallow = disk.read_small(os.path.join(repository.common, "shallow"), 10_000_000)
    if shallow:
        disk.save(os.path.join(own, "shallow"), shallow)
    elif os.path.exists(os.path.join(own, "shallow")):
        os.unlink(os.path.join(own, "shallow"))


def ready(
    place: str,
    agent: str,
    repository: Repository,
    commit: str,
    branch: str,
    environ: Mapping[str, str],
    lent: tuple[str, ...] = (),
) -> Worktree:
    """A clean worktree at this commit ("" = nothing yet) for this agent. What git ignores there (caches) may stay."""
    engine = engine_git(place, repository, environ, lent)

    def at(root: str) -> Worktree:
        bound = engine.with_(GIT_WORK_TREE=os.path.join(root, "tree"), GIT_INDEX_FILE=os.path.join(root, "index"))
        worktree = Worktree(root, repository, bound, environ, lent)
        _reset(worktree, commit)
        _agents_git(worktree, commit, branch)
        _lend(worktree)
        return worktree

    used = re.compile(re.escape(agent) + r"-[0-9a-f]{8}")
    for name in sorted(filter(used.fullmatch, os.listdir(place))):
        root = os.path.join(place, name)
        with contextlib.suppress(OSError, GitFailed):
            os.unlink(os.path.join(root, _IDLE))
            return at(root)
        disk.remove(root)
    root = os.path.join(place, f"{agent}-{token_hex(4)}")
    os.makedirs(os.path.join(root, "tree"), mode=0o700)
    return at(root)


def release(worktree: Worktree) -> None:
    """Nobody works here any more: the next attempt may use it again."""
    with contextlib.suppress(OSError):
        disk.save(os.path.join(worktree.root, _IDLE), b"")


def _reset(worktree: Worktree, commit: str) -> None:
    disk.defuse(worktree.tree)
    disk.remove(os.path.join(worktree.tree, ".git"))
    worktree.engine.do("read-tree", *(("--reset", "-u", commit) if commit else ("--empty",)))
    worktree.engine.do("clean", "-ffdq")
    os.makedirs(worktree.folder, exist_ok=True)


def _lend(worktree: Worktree) -> None:
    """A link each to what the person has made already. It is theirs: whoever works here is kept from writing there."""
    for name in worktree.lent:
        link, folder = os.path.join(worktree.folder, name), os.path.join(worktree.repository.folder, name)
        if os.path.islink(link):
            os.unlink(link)
        if not os.path.lexists(link):
            os.symlink(folder, link)


def _agents_git(worktree: Worktree, commit: str, branch: str) -> None:
    """A repository for the agent alone, which borrows the person's objects."""
    own, repository = worktree.git, worktree.repository
    disk.remove(own)
    alone = Git(worktree.environ, worktree.root, ALONE)
    alone.do("init", "--quiet", "--bare", "--template=", f"--object-format={repository.format}", own)
    bound = alone.with_(GIT_DIR=own)
    bound.do("config", "core.bare", "false")
    bound.do("config", "core.worktree", worktree.tree)
    for key, value in zip(("user.name", "user.email"), repository.person()):
        if value:
            bound.do("config", key, value)
    os.makedirs(os.path.join(own, "objects", "info"), exist_ok=True)
    alternates = repository.objects.encode("utf-8", "surrogateescape")
    disk.save(os.path.join(own, "objects", "info", "alternates"), alternates + b"\n")
    _share(own, repository, worktree.lent)
    bound.do("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    if commit:
        bound.do("update-ref", f"refs/heads/{branch}", commit)
    disk.save(os.path.join(own, "index"), disk.read_small(os.path.join(worktree.root, "index"), 1 << 30))
    disk.save(os.path.join(worktree.tree, ".git"), worktree.pointer)


# --- after the attempt ------------------------------------------------------------------------------------------------


def check_pointer(worktree: Worktree) -> None:
    if disk.read_small(os.path.join(worktree.tree, ".git"), 10_000) != worktree.pointer:
        raise AgentError("It replaced the `.git` file of its worktree. Leave that file alone; git itself may be used.")


class Taken(NamedTuple):
    """The commit with all that changed, "" where nothing did; and what was left out of it."""

    commit: str
    held: held_back.Held


def untracked(worktree: Worktree) -> list[str]:
    """What lies there beside the commit, ignored or not; of a folder that is not in it only the name, with a slash."""
    return worktree.engine.names("ls-files", "--others", "--directory", "-z")


def take(
    worktree: Worktree, before: str, branch: str, message: str, secrets: Secrets, steers: Callable[[str], bool]
) -> Taken:
    """Everything that changed since `before` as a commit on top of it, but for what `held_back` names: that stays as it
    was."""
    disk.defuse(worktree.tree)
    _keep_submodules(worktree)
    engine = worktree.engine
    large = _without_large(worktree)
    engine.do("add", "--all", ".")
    held = held_back.unstage(engine, before, secrets, steers)
    held.left.extend(large)
    tree = engine.text("write-tree")
    own = _own_commits(worktree, before, branch)
    if own and (held.files or held.left or (secrets and held_back.in_commits(engine, own, before, secrets))):
        own = ""  # its work is taken, its history is not
    parent = own or before
    if parent and engine.text("rev-parse", f"{parent}^{{tree}}") == tree:
        return Taken(parent if parent != before else "", held)
    if not parent and not engine.names("ls-tree", "-z", tree):
        return Taken("", held)
    name, email = worktree.repository.person()
    author = signed(name or "Reconvene", email or "reconvene@localhost")
    parents = ("-p", parent) if parent else ()
    said = secrets.blank_text(message).encode("utf-8", "replace")
    return Taken(engine.with_(**author).text("commit-tree", tree, *parents, stdin=said), held)


def _without_large(worktree: Worktree) -> list[str]:
    """Take out what is too large for a commit, before git keeps a copy of it: the reasons why."""
    engine, found = worktree.engine, []
    new = engine.names("ls-files", "--others", "--exclude-standard", "-z")
    changed = engine.names("ls-files", "--modified", "-z")
    for name in dict.fromkeys((*new, *changed)):
        full = os.path.join(worktree.tree, name)
        if os.path.islink(full) or not os.path.isfile(full) or os.path.getsize(full) <= _LARGEST:
            continue
        size = os.path.getsize(full) / (1 << 20)
        limit = f"a file of more than {_LARGEST >> 20} MB is not taken; add it yourself"
        found.append(f"{name}: {size:.0f} MB, and {limit}")
        disk.remove(full)
        if name in changed:
            engine.do("checkout-index", "--force", "--", name)
    return found


def _keep_submodules(worktree: Worktree) -> None:
    """Their folders are empty here; one that somebody tidied away is not a submodule removed."""
    for entry in worktree.engine.names("ls-files", "--stage", "-z"):
        about, _, path = entry.partition("\t")
        full = os.path.join(worktree.tree, path)
        parent = os.path.dirname(full)
        if about.startswith("160000 ") and not os.path.lexists(full) and os.path.realpath(parent) == parent:
            with contextlib.suppress(OSError):
                os.mkdir(full)


def _own_commits(worktree: Worktree, before: str, branch: str) -> str:
    """The last commit that the agent itself made on top of `before`, brought into the repository; "" for none."""
    own = _agents_head(worktree, branch)
    if not own or own == before:
        return ""
    theirs = worktree.engine.with_(GIT_ALTERNATE_OBJECT_DIRECTORIES=os.path.join(worktree.git, "objects"))
    since = [f"^{before}"] if before else []
    try:
        if before:
            theirs.do("merge-base", "--is-ancestor", before, own)
        if int(theirs.text("rev-list", "--count", own, *since)) > _MAX_COMMITS:
            return ""
        wanted = "\n".join([own, *since, ""]).encode()
        pack = theirs.do("pack-objects", "--revs", "--stdout", "--quiet", stdin=wanted)
        # checked object by object: a broken or hostile one keeps the agent's commits out, not its work
        worktree.engine.do("unpack-objects", "-q", "--strict", stdin=pack)
        worktree.engine.do("rev-list", "--objects", "--quiet", own, *since)
    except (GitFailed, ValueError):
        return ""
    return own


def _agents_head(worktree: Worktree, branch: str) -> str:
    """Read by hand: what an agent made of its git folder is not for git to interpret."""
    head = _line(disk.read_small(os.path.join(worktree.git, "HEAD"), 1000))
    ref = head.removeprefix("ref: ").strip()
    if _HASH.fullmatch(head):
        return head
    if ref != f"refs/heads/{branch}":
        return ""
    place = os.path.join(worktree.git, *ref.split("/"))
    if os.path.realpath(place) != os.path.join(os.path.realpath(worktree.git), *ref.split("/")):
        return ""
    found = _line(disk.read_small(place, 1000)) or _packed(worktree, ref)
    return found if _HASH.fullmatch(found) else ""


def _packed(worktree: Worktree, ref: str) -> str:
    text = disk.read_small(os.path.join(worktree.git, "packed-refs"), 1_000_000).decode("utf-8", "replace")
    return next((line.partition(" ")[0] for line in text.split("\n") if line.partition(" ")[2] == ref), "")


def _line(data: bytes) -> str:
    return data.decode("utf-8", "replace").partition("\n")[0].strip()
