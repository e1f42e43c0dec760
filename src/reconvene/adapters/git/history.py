"""One bare repository for all runs, a branch per run, outside every workspace.

It is a projection of the log: a commit is wholly determined by `ports.Commit` and its parent, so the same log gives the
same ids; delete the repository and it is made again from seq 0. Nothing of anybody's git set-up takes part: no hook,
filter, attribute or configuration is read, there is no work tree, the git program is never called. Nobody else is meant
to write here; people read it with plain git. Knows no event.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING

from reconvene.adapters.git.message import ENGINE, Person, commit_of, compose, person_of, seconds_of, seq_of
from reconvene.adapters.git.tree import TreeWriter
from reconvene.core.ids import digest_of
from reconvene.errors import StoreError, UserError
from reconvene.ports import Commit

if TYPE_CHECKING:
    import pygit2

_LOCK = "reconvene.lock"
_ID = re.compile(r"[0-9a-f]{7,40}")
_PLAIN_RUN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")
_DISK_HINT = "Check free space and permissions there, then resume the run: the history catches up by itself."


class GitHistory:
    """ports.History in a bare repository at `path`, made by the first commit."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._blobs: dict[str, pygit2.Oid] = {}
        self._last: tuple[str, pygit2.Oid, TreeWriter] | None = None  # whose commit came last, and what it knows

    def last_seq(self, run: str) -> int:
        with self._in_plain_words():
            repository = self._open()
            return _last_seq(repository, _tip(repository, run)) if repository else 0

    def commit(self, run: str, commits: Iterable[Commit], blob: Callable[[str], bytes]) -> None:
        """Append those that are not there yet. Objects first, the branch last: a crash leaves nothing half-said."""
        with self._in_plain_words(), self._locked():
            repository = self._open() or self._create()
            tip = _tip(repository, run)
            after = _last_seq(repository, tip)
            writer = self._writer(run, tip)
            newest = tip
            for commit in commits:
                if commit.seq > after:
                    tree = writer.write(repository, commit.files, blob)
                    newest = _add(repository, run, commit, tree, newest)
                    after = commit.seq
            if newest is not None:
                if newest != tip:
                    self._move(repository, _branch(run), newest)
                self._last = (run, newest, writer)

    def commits(self, run: str) -> list[tuple[str, Commit]]:
        """Oldest first, files left empty."""
        with self._in_plain_words():
            repository = self._open()
            tip = _tip(repository, run) if repository else None
            if repository is None or tip is None:
                return []
            found = [
                (str(one.id), commit_of(one.message, Person(one.author.name, one.author.email), one.author.time))
                for one in _ours(repository, tip)
            ]
        return found[::-1]

    def diff(self, run: str, old: str, new: str, path: str = "") -> str:
        """Unified diff of a file, a folder or all (path ""). "" as old: the empty tree; as new: the newest commit."""
        with self._in_plain_words():
            repository = self._open()
            tip = _tip(repository, run) if repository else None
            if repository is None or tip is None:
                raise UserError(f"Run {run!r} has no history yet.", hint="It begins when the run first stops.")
            after = _commit_of(repository, run, tip, new or str(tip)).tree
            if old:
                found = _commit_of(repository, run, tip, old).tree.diff_to_tree(after)
            else:
                found = after.diff_to_tree(swap=True)  # the other way round: from nothing
            patches = [patch for patch in found if patch is not None and _is_within(path, patch.delta)]
            return b"".join(patch.data for patch in patches).decode("utf-8", "replace")

    def tree_files(self, commit_id: str) -> dict[str, Callable[[], bytes]]:
        """Path → how to get its bytes, for one commit of any run."""
        with self._in_plain_words():
            repository = self._open()
            if repository is None:
                raise _no_such_commit(commit_id)
            tree = _commit(repository, commit_id).tree
            return {path: partial(self._blob_bytes, oid) for path, oid in _blobs(tree, "")}

    def _blob_bytes(self, oid: str) -> bytes:
        with self._in_plain_words():
            repository = self._open()
            found = repository.get(oid) if repository else None
            if found is None:
                raise StoreError(f"The history at {self.path} lacks {oid}.", hint=self._rebuild_hint())
            return found.read_raw()

    def _writer(self, run: str, tip: pygit2.Oid | None) -> TreeWriter:
        """The last one if its objects are still there, so that only what changed is written. Set aside: it may fail."""
        last, self._last = self._last, None
        return last[2] if last is not None and last[:2] == (run, tip) else TreeWriter(self._blobs)

    def _open(self) -> pygit2.Repository | None:
        """None where there is none; `HEAD` is the last thing that is made."""
        if not os.path.exists(os.path.join(self.path, "HEAD")):
            return None
        import pygit2
        from pygit2.enums import RepositoryOpenFlag as Flag

        _seal_off()
        return pygit2.Repository(self.path, Flag.NO_SEARCH | Flag.NO_DOTGIT | Flag.BARE)

    def _create(self) -> pygit2.Repository:
        """Made aside and moved in piece by piece, so that a crash leaves a whole repository or none."""
        import pygit2

        _seal_off()
        aside = os.path.join(self.path, "making")
        shutil.rmtree(aside, ignore_errors=True)
        pygit2.init_repository(aside, bare=True, initial_head="main")
        for name in sorted(os.listdir(aside), key=lambda name: (name == "HEAD", name)):
            target = os.path.join(self.path, name)
            if not os.path.lexists(target):
                os.rename(os.path.join(aside, name), target)
        shutil.rmtree(aside, ignore_errors=True)
        made = self._open()
        assert made is not None
        return made

    def _move(self, repository: pygit2.Repository, branch: str, to: pygit2.Oid) -> None:
        # Left behind by a process that was killed: ours is the only one at work now.
        for name in (branch, "HEAD"):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.path, f"{name}.lock"))
        repository.references.create(branch, to, force=True)
        if repository.head_is_unborn:  # so that a plain `git log` shows something
            repository.set_head(branch)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, over all processes and threads; the lock dies with its holder."""
        os.makedirs(self.path, exist_ok=True)
        handle = os.open(os.path.join(self.path, _LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StoreError(f"The history at {self.path} cannot be used: {reason}.", hint=_DISK_HINT) from error
        except Exception as error:
            # pygit2 is imported only where it is used, so its errors are told by their class's home
            if type(error).__module__.partition(".")[0] not in ("pygit2", "_pygit2"):
                raise
            raise StoreError(f"The history at {self.path} is damaged: {error}.", hint=self._rebuild_hint()) from error

    def _rebuild_hint(self) -> str:
        return f"It is made from the log: delete the folder {self.path} and resume the run, and it is made again."


@cache
def _seal_off() -> None:
    """Nobody's configuration or attributes are looked for, and objects are on disk before a branch points at them."""
    import pygit2
    from pygit2.enums import ConfigLevel as Level

    for level in (Level.PROGRAMDATA, Level.SYSTEM, Level.XDG, Level.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.settings.enable_fsync_gitdir(True)


def _branch(run: str) -> str:
    """A ref name for any run id; where it has to be changed, a digest keeps two of them apart."""
    if _PLAIN_RUN.fullmatch(run) and not run.endswith((".", ".lock")):
        return f"refs/heads/{run}"
    clean = re.sub(r"[^A-Za-z0-9_]+", "-", run).strip("-")[:100]
    return f"refs/heads/{clean or 'run'}-{digest_of(run.encode('utf-8', 'replace'))[:8]}"


def _tip(repository: pygit2.Repository, run: str) -> pygit2.Oid | None:
    """None too where the branch points at nothing: then it is made again."""
    import pygit2

    reference = repository.references.get(_branch(run))
    target = reference.target if reference is not None else None
    return target if isinstance(target, pygit2.Oid) and isinstance(repository.get(target), pygit2.Commit) else None


def _ours(repository: pygit2.Repository, tip: pygit2.Oid) -> Iterator[pygit2.Commit]:
    """Newest first, first parents only; whatever somebody pushed in between is passed over."""
    import pygit2

    todo = [tip]
    while todo:
        found = repository.get(todo.pop())
        if isinstance(found, pygit2.Commit):
            if seq_of(found.message) is not None:
                yield found
            todo += found.parent_ids[:1]


def _last_seq(repository: pygit2.Repository, tip: pygit2.Oid | None) -> int:
    newest = next(_ours(repository, tip), None) if tip is not None else None
    return (seq_of(newest.message) or 0) if newest is not None else 0


def _add(
    repository: pygit2.Repository, run: str, commit: Commit, tree: pygit2.Oid, parent: pygit2.Oid | None
) -> pygit2.Oid:
    from pygit2 import Signature

    when = seconds_of(commit.at)
    author = person_of(commit.author)
    return repository.create_commit(
        None,
        Signature(author.name, author.email, when, 0, "utf-8"),
        Signature(ENGINE.name, ENGINE.email, when, 0, "utf-8"),
        compose(run, commit),
        tree,
        [parent] if parent is not None else [],
    )


def _commit(repository: pygit2.Repository, commit_id: str) -> pygit2.Commit:
    import pygit2

    found = repository.get(commit_id) if _ID.fullmatch(commit_id) else None
    if not isinstance(found, pygit2.Commit):
        raise _no_such_commit(commit_id)
    return found


def _commit_of(repository: pygit2.Repository, run: str, tip: pygit2.Oid, commit_id: str) -> pygit2.Commit:
    """Of this run, by its id or the beginning of it."""
    found = _commit(repository, commit_id)
    if found.id != tip and not repository.descendant_of(tip, found.id):
        raise _no_such_commit(commit_id, run)
    return found


def _no_such_commit(commit_id: str, run: str = "") -> UserError:
    where = f"the history of run {run!r}" if run else "the history"
    return UserError(f"There is no commit {commit_id!r} in {where}.", hint="Its ids are listed by `git log`.")


def _is_within(path: str, delta: pygit2.DiffDelta) -> bool:
    names = (delta.old_file.path, delta.new_file.path)
    return not path or any(name == path or name.startswith(path.rstrip("/") + "/") for name in names)


def _blobs(tree: pygit2.Tree, at: str) -> Iterator[tuple[str, str]]:
    import pygit2

    for entry in tree:
        if isinstance(entry, pygit2.Tree):
            yield from _blobs(entry, f"{at}{entry.name}/")
        elif isinstance(entry, pygit2.Blob):
            yield f"{at}{entry.name}", str(entry.id)
