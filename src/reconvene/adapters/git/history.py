"""One bare repository for all runs, a branch per run, outside every workspace.

What a commit is marked with is a ref as well: `refs/reconvene/<run>/phases/…`, `refs/reconvene/<run>/items/…`. Its
message names it, so the refs follow from the commits.

It is a projection of the log: a commit is wholly determined by `ports.Commit` and its parent, so the same log gives the
same ids; delete the repository and it is made again from seq 0. Nothing of anybody's git set-up takes part: no hook,
filter, attribute or configuration is read, there is no work tree, the git program is never called. Nobody else is meant
to write here; people read it with plain git. Writing needs no git library (docs/decisions/0020). Knows no event.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from reconvene.adapters.git import refs
from reconvene.adapters.git.message import ENGINE, commit_of, compose, person_of, refs_of, run_of, seconds_of, seq_of
from reconvene.adapters.git.objects import Found, Objects, TreeWriter
from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError, UserError
from reconvene.language.late_patterns import late
from reconvene.ports import Commit, Witness

_LOCK = "reconvene.lock"
_PLAIN = late(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")
_SCOPE = late(r"[A-Za-z0-9_-]+#[0-9]+(?:/[A-Za-z0-9_-]+#[0-9]+)*")
_DISK_HINT = "Check free space and permissions there, then resume the run: the history catches up by itself."


class GitHistory:
    """ports.History in a bare repository at `path`, made by the first commit."""

    def __init__(self, path: str, witness: Witness | None = None) -> None:
        self.path = path
        self.witness = witness
        self._objects = Objects(path)
        self._heads: dict[str, tuple[int, str]] = {}  # noted while there was no repository
        self._last: tuple[str, str, TreeWriter] | None = None  # whose commit came last, and what it knows

    def last_seq(self, run: str) -> int:
        with self._in_plain_words():
            return self._last_seq(self._tip(run))

    def commit(self, run: str, commits: Iterable[Commit], blob: Callable[[str], bytes]) -> None:
        """Append those that are not there yet. Objects first, the branch last: a crash leaves nothing half-said."""
        with self._in_plain_words(), self._locked():
            if not refs.exists(self.path):
                refs.create(self.path)
            branch = _branch(run)
            was = refs.target(self.path, branch)
            tip = self._tip(run)
            after = self._last_seq(tip)
            writer = self._writer(run, tip)
            newest = tip
            for commit in commits:
                if commit.seq > after:
                    newest = self._add(run, commit, writer.write(commit.files, blob), newest)
                    after = commit.seq
                    for mark in commit.marks:  # before the branch: after a crash the same commits are made once more
                        refs.put(self.path, _refs(run) + _ref(mark), newest)
            if run in self._heads:
                self.note_head(run, *self._heads.pop(run))
            if newest != tip:
                self._move(branch, newest, was)
                refs.note_blobs(self.path, branch, newest, writer.blobs())
            self._last = (run, newest, writer)

    def _move(self, branch: str, to: str, was: str) -> None:
        refs.move(self.path, branch, to, was=was)

    def commits(self, run: str) -> list[tuple[str, Commit]]:
        """Oldest first, files left empty."""
        with self._in_plain_words():
            found = [(one.id, commit_of(one.message, one.author, one.seconds)) for one in self._ours(self._tip(run))]
        return found[::-1]

    def runs(self) -> list[str]:
        """Those with a branch. Whatever else somebody put there is passed over."""
        with self._in_plain_words():
            tips = [next(self._ours(refs.target(self.path, name)), None) for name in refs.branches(self.path)]
        return [name for tip in tips if tip is not None if (name := run_of(tip.message))]

    def note_head(self, run: str, seq: int, value: str) -> None:
        if not refs.exists(self.path):
            self._heads[run] = seq, value  # for the first commit
            return
        with self._in_plain_words():
            branch = _branch(run)
            refs.note_head(self.path, branch, f"{seq} {value or '-'} {refs.target(self.path, branch)}\n")

    def noted_head(self, run: str) -> tuple[int, str]:
        with self._in_plain_words():
            seq, value, _ = self._noted(run)
        return seq, value

    def _noted(self, run: str) -> tuple[int, str, str]:
        """The last event, the value of the chain after it, and the last commit."""
        words = refs.noted_head(self.path, _branch(run)).split()
        if not words:
            return 0, "", ""
        if len(words) not in (2, 3) or not words[0].isdecimal():
            raise refs.Damaged(f"the note of the head of {run} cannot be read")
        return int(words[0]), words[1].removeprefix("-"), words[2] if len(words) == 3 else ""

    def forget(self, run: str) -> None:
        """Objects that plain git has packed stay until `git gc --prune=now`."""
        if not refs.exists(self.path):
            return
        with self._in_plain_words(), self._locked():
            branch, self._last = _branch(run), None
            tip = refs.target(self.path, branch)
            others = [refs.target(self.path, name) for name in refs.branches(self.path) if name != branch]
            refs.remove(self.path, branch)
            refs.remove_below(self.path, _refs(run))
            if tip:
                self._objects.remove(self._objects.reachable([tip]) - self._objects.reachable(others))

    def unsound(self, run: str) -> str:
        """Looks at all commits of the branch, and at all files in them."""
        with self._in_plain_words():
            tip = refs.target(self.path, _branch(run))
            last, todo = self._noted(run)[2], [tip]
            seen, named, made = not last, dict[str, str](), set[str]()
            while todo and todo[0]:
                found = self._objects.commit(todo[0])
                if found is None or not self._objects.is_sound(todo[0]):
                    return f"the commit {todo[0]} is not there, or its bytes are not those that its id says"
                if seq_of(found.message) is None:
                    return f"the commit {todo[0]} was not made by reconvene"
                seen = seen or todo[0] == last
                for name in refs_of(found.message):
                    named.setdefault(name, todo[0])
                made.add(todo[0])
                todo = found.parents[:1]
            if broken := self._objects.unsound(tip):
                return f"the object {broken} is not there, or its bytes are not those that its id says"
            wrong = self._wrong_ref(run, tip, named) or self._note_problem(_branch(run), made)
            wrong = wrong or (refs.frame_problem(self.path) if tip else "")
        return wrong if seen else f"the commit {last}, which was its last, is not among them"

    def _note_problem(self, branch: str, commits: set[str]) -> str:
        """Of which blobs the next commit would be made, without looking at them."""
        tip, blobs = refs.note(self.path, branch)
        if tip and tip not in commits and not self._follows(tip, commits):
            return f"the note beside it is of a commit {tip}, which is not among them"
        for digest, oid in blobs.items():
            if self._objects.unsound(oid) or digest_of(self._objects.blob(oid)) != digest:
                return f"the note beside it takes {oid} for a file that it is not"
        return ""

    def _follows(self, commit: str, commits: set[str]) -> bool:
        """Whether it was made on one of these: a process that died had not moved the branch yet."""
        while (found := self._objects.commit(commit)) is not None and found.parents:
            commit = found.parents[0]
            if commit in commits:
                return True
        return False

    def _wrong_ref(self, run: str, tip: str, named: dict[str, str]) -> str:
        """What the refs should be, the commits say: name → id."""
        there = refs.below(self.path, _refs(run))
        for name in sorted({*there, *named}):
            to = there.get(name, "")
            if to == named.get(name):
                continue
            found = self._objects.commit(to) if to else None
            if found is not None and name in refs_of(found.message) and self._last_seq(to) > self._last_seq(tip):
                continue  # the branch is about to follow
            where = f"the commit {named[name]}" if name in named else "nothing: no commit names it"
            return f"the ref {_refs(run)}{name} points at {to or 'nothing'}, and should at {where}"
        return ""

    def diff(self, run: str, old: str, new: str, path: str = "") -> str:
        """Unified diff of a file, a folder or all (path ""). "" as old: the empty tree; as new: the newest commit."""
        with self._in_plain_words():
            tip = self._tip(run)
            if not tip:
                raise UserError(f"Run {run!r} has no history yet.", hint="It begins when the run first stops.")
            from reconvene.adapters.git.library import Library

            return Library(self.path).diff(run, tip, old, new, path)

    def _tip(self, run: str) -> str:
        """The newest commit of the run's branch. "" too where the branch points at nothing: then it is made again."""
        tip = refs.target(self.path, _branch(run))
        return tip if tip and self._objects.commit(tip) is not None else ""

    def _ours(self, tip: str) -> Iterator[Found]:
        """Newest first, first parents only; whatever somebody pushed in between is passed over."""
        todo = [tip] if tip else []
        while todo:
            found = self._objects.commit(todo.pop())
            if found is not None:
                if seq_of(found.message) is not None:
                    yield found
                todo += found.parents[:1]

    def _last_seq(self, tip: str) -> int:
        newest = next(self._ours(tip), None)
        return (seq_of(newest.message) or 0) if newest is not None else 0

    def _writer(self, run: str, tip: str) -> TreeWriter:
        """The last one if its objects are still there, so that only what changed is written. Set aside: it may fail."""
        last, self._last = self._last, None
        if last is not None and tip and last[:2] == (run, tip):
            return last[2]
        return TreeWriter(self._objects, refs.noted_blobs(self.path, _branch(run), tip) if tip else {})

    def _add(self, run: str, commit: Commit, tree: str, parent: str) -> str:
        when = seconds_of(commit.at)
        message = compose(run, commit, [_ref(mark) for mark in commit.marks])
        return self._objects.add_commit(tree, parent, person_of(commit.author), ENGINE, when, message)

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
            home = type(error).__module__.partition(".")[0]
            if not isinstance(error, refs.Damaged) and home not in ("pygit2", "_pygit2"):
                raise
            raise StoreError(f"The history at {self.path} is damaged: {error}.", hint=self._rebuild_hint()) from error

    def _rebuild_hint(self) -> str:
        return f"It is made from the log: delete the folder {self.path} and resume the run, and it is made again."


def _branch(run: str) -> str:
    return f"refs/heads/{_name(run, 'run')}"


def _refs(run: str) -> str:
    return f"refs/reconvene/{_name(run, 'run')}/"


def _ref(mark: tuple[str, ...]) -> str:
    """Below `_refs`. A scope such as `work#1/plan#2` is one name in it, `work-1.plan-2`: a ref cannot be a folder."""
    kind, scope, *names = mark
    plain = scope.replace("#", "-").replace("/", ".") if _SCOPE.fullmatch(scope) and len(scope) <= 120 else ""
    return "/".join([kind, plain or _name(scope, "phase", plain=False), *(_name(name, "item") for name in names)])


def _name(given: str, instead: str, *, plain: bool = True) -> str:
    """A part of a ref's name for any id; where it has to be changed, a digest keeps two of them apart."""
    if plain and _PLAIN.fullmatch(given) and not given.endswith((".", ".lock")):
        return given
    clean = re.sub(r"[^A-Za-z0-9_]+", "-", given).strip("-")[:100]
    return f"{clean or instead}-{digest_of(given.encode('utf-8', 'replace'))[:8]}"
