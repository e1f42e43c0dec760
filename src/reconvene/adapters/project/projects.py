"""Lets agents work in the person's project, each in a worktree outside of it, and hands their work over as a branch.

The log says which commit counts; this brings worktrees and the branch there. Must not know how a run goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence

from reconvene.adapters.project import diffs, surveys, uncommitted, worktree
from reconvene.adapters.project import worktree_files as disk
from reconvene.adapters.project.git import Git
from reconvene.adapters.project.held_back import acts
from reconvene.adapters.project.repository import Repository, find, free_branch, move_branch
from reconvene.core.facts.events import Usage
from reconvene.core.paths import is_ours, is_safe
from reconvene.errors import AgentError
from reconvene.ports import AgentRunner, Answer, Assignment, Listener, Progress, ProjectDone, ProjectLook, ProjectWork
from reconvene.secrets import Secrets

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_FILE = 20_000  # bytes of one file in a prompt
_MAX_FILES = 60_000  # and of all
_SUBJECT = 72


class GitProjects:
    """`home`: whose runs these are. Worktrees lie outside of it. `steers`: whether a file of this name could make a
    coding program start others; agents change no such file. `keeps`: whether commands with this `sandbox` are kept from
    writing elsewhere; only they are lent anything of the person's."""

    def __init__(
        self,
        home: str,
        environ: Mapping[str, str],
        steers: Callable[[str], bool] = lambda path: False,
        keeps: Callable[[str], bool] = lambda sandbox: False,
    ) -> None:
        self._home = os.path.abspath(home)
        self._environ = environ
        self._steers = steers
        self._keeps = keeps
        self._lock = threading.Lock()  # one preparation at a time: a cancelled one may still be at it

    async def run(self, runner: AgentRunner, assignment: Assignment, listener: Listener) -> Answer:
        work = assignment.project
        assert work is not None
        if assignment.agent.kind == "survey":
            if assignment.agent.survey == "tests":
                return await self._tests(runner, assignment, work, listener)
            return await asyncio.to_thread(self._look, assignment, work)
        is_command = assignment.agent.kind == "command"
        opened, tree = await asyncio.to_thread(self._prepare, assignment, work, lend=is_command)
        if opened.uncommitted and not work.branch:
            listener(Progress(assignment.run, assignment.task, assignment.agent.name, "note", _warning(opened)))
        finished = is_command  # ends with all it started, however it ends
        try:
            answer = await runner.run(assignment._replace(folder=tree.folder, ground=tree.ground), listener)
            finished = True
            return await asyncio.to_thread(self._finish, assignment, work, opened, tree, answer)
        finally:
            if finished:
                worktree.release(tree)

    def _prepare(
        self, assignment: Assignment, work: ProjectWork, *, lend: bool = False
    ) -> tuple[ProjectDone, worktree.Worktree]:
        with self._lock:
            repository = find(work.path, self._environ)
            opened = self._open(repository, assignment.run, work)
            place = self._place(assignment.run)
            commit, name = work.head or opened.base, _plain(assignment.agent.name)
            lent = surveys.lendable(repository) if lend and self._keeps(assignment.agent.sandbox) else []
            tree = worktree.ready(place, name, repository, commit, opened.branch, self._environ, tuple(lent))
            disk.remove_matching(tree.tree, worktree.untracked(tree), self._is_unwanted)
            return opened, tree

    def _is_unwanted(self, path: str) -> bool:
        """What one agent may not leave for the next."""
        return self._steers(path) or is_ours(path) or acts(path)

    def _open(self, repository: Repository, run: str, work: ProjectWork, *, include: bool = False) -> ProjectDone:
        """Where the run's branch begins: as recorded, or from what is checked out now, with what is not committed yet
        where the person wants it so."""
        begun = bool(work.branch or work.base or work.head)
        branch = work.branch or free_branch(repository, run)
        if begun:
            return ProjectDone(work.path, branch, work.base)
        if include:
            return ProjectDone(work.path, branch, uncommitted.as_commit(repository, self._environ))
        return ProjectDone(work.path, branch, repository.head(), len(uncommitted.names(repository, self._environ)))

    def _place(self, run: str) -> str:
        """The folder of all this run's worktrees, outside of the person's checkout and of the home."""
        place = os.path.join(self._roots()[0], _plain(run))
        os.makedirs(place, mode=0o700, exist_ok=True)
        disk.save(os.path.join(place, "run"), run.encode())
        return place

    def _roots(self) -> tuple[str, str]:
        """Where they are, and where earlier releases had them."""
        beside = os.path.join(self._home, "projects")
        state = self._environ.get("XDG_STATE_HOME") or os.path.expanduser(
            os.path.join(self._environ.get("HOME") or "~", ".local", "state")
        )
        mark = hashlib.sha256(self._home.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        return os.path.join(state, "reconvene", f"projects-{mark}"), beside

    def _finish(
        self, assignment: Assignment, work: ProjectWork, opened: ProjectDone, tree: worktree.Worktree, answer: Answer
    ) -> Answer:
        worktree.check_pointer(tree)
        if work.place != "project":
            return answer._replace(files={}, project=opened)
        ignored = disk.write(tree.folder, answer.files)
        before = work.head or opened.base
        secrets = Secrets(self._environ, assignment.agent.env)
        message = _message(assignment, work)
        commit, held = worktree.take(tree, before, opened.branch, message, secrets, self._steers)
        ignored += tuple(held.left)
        done = opened
        if commit:
            starts = [(since, since or opened.base) for since in work.since]
            done = opened._replace(
                commit=commit,
                diff=diffs.diff(tree.engine, before, commit),
                since=tuple((since, diffs.diff(tree.engine, start, commit)) for since, start in starts),
                changed=diffs.changed(tree.engine, before, commit),
            )
        return answer._replace(files={}, ignored=(*answer.ignored, *ignored), project=done, held=held.files)

    async def _tests(
        self, runner: AgentRunner, assignment: Assignment, work: ProjectWork, listener: Listener
    ) -> Answer:
        """The tests, at the run's commit: what they leave in the tree is thrown away."""
        from reconvene.adapters.project import suite_runs

        asked = surveys.told(work.words)
        opened, tree = await asyncio.to_thread(self._prepare, assignment, work, lend=not asked.get("setup"))
        try:
            found, level = await suite_runs.run(runner, assignment, tree, asked, listener)
        finally:
            worktree.release(tree)  # a command ends with all it started
        found["commit"] = (work.head or opened.base)[:12]
        return _recorded(found, assignment)._replace(project=opened, sandbox=level)

    def _look(self, assignment: Assignment, work: ProjectWork) -> Answer:
        match assignment.agent.survey:
            case "" | "project":
                return self._survey(assignment, work)
            case "branch":
                return self._survey(assignment, work, of_branch=True)
            case "ground":
                return self._ground(assignment, work, str(surveys.told(work.words).get("begin") or ""))
        repository = find(work.path, self._environ)
        engine = worktree.engine_git(self._place(assignment.run), repository, self._environ)
        base = work.base or repository.head()
        if assignment.agent.survey == "merge":
            return _recorded(surveys.merge(engine, repository, work.head, self._environ), assignment)
        return _recorded(surveys.change(engine, work, base, surveys.told(work.words)), assignment)

    def _ground(self, assignment: Assignment, work: ProjectWork, begin: str) -> Answer:
        """`begin`: with | without what is not committed. Then the branch begins here and now."""
        answer = _recorded(surveys.ground(work.path, self._environ), assignment)
        if begin not in ("with", "without") or self.unfit(work.path):
            return answer
        repository = find(work.path, self._environ)
        opened = self._open(repository, assignment.run, work, include=begin == "with")
        return answer._replace(project=opened)

    def _survey(self, assignment: Assignment, work: ProjectWork, *, of_branch: bool = False) -> Answer:
        """What is there: in the person's folder as it is, or, once the run has changed something, on its branch. With
        `of_branch`, where that begins from the first on."""
        from reconvene.adapters.project.survey import survey

        if not work.head and not (of_branch and not self.unfit(work.path)):
            return _told(survey(work.path, work.words, Git(self._environ, work.path)), assignment)
        opened, tree = self._prepare(assignment, work)
        try:
            name = os.path.basename(work.path) if of_branch else ""
            answer = _told(survey(tree.folder, work.words, Git(self._environ, tree.folder), name), assignment)
            return answer._replace(project=opened) if of_branch else answer
        finally:
            worktree.release(tree)

    def unfit(self, path: str) -> str:
        try:
            find(path, self._environ)
        except AgentError as error:
            return error.message + (f" To mend it: {error.hint}" if error.hint else "")
        return ""

    def files(self, work: ProjectWork, names: Sequence[str]) -> str:
        try:
            repository = find(work.path, self._environ)
        except AgentError as error:
            return f"({error.message})"
        commit = work.head or work.base or repository.head()
        left, parts = _MAX_FILES, []
        for name in names:
            text = _content(repository, commit, name, min(left, _MAX_FILE))
            left -= len(text)
            parts.append(f"#### {name}\n{text}")
        return "\n\n".join(parts)

    def publish(self, run: str, path: str, branch: str, commit: str, *, create: bool = True) -> str:
        with self._lock:
            repository = find(path, self._environ)
            place = self._place(run)
            note = os.path.join(place, "published")
            ours = disk.read_small(note, 1000).decode("utf-8", "replace").strip()
            if not create and not repository.commit(f"refs/heads/{branch}"):
                return ""
            wrong = move_branch(repository, branch, commit, ours)
            if not wrong:
                disk.save(note, commit.encode())
            return wrong

    def look(self, path: str, branch: str, base: str, commit: str) -> ProjectLook:
        repository = find(path, self._environ)
        git, tip = repository.git, repository.commit(f"refs/heads/{branch}") if branch else ""
        added = git.maybe("rev-list", "--count", tip, f"^{commit}") if tip and tip != commit else ""
        return ProjectLook(diffs.changed(git, base, commit), tip, int(added or 0))

    def compare(self, path: str, old: str, new: str) -> str:
        return diffs.diff(find(path, self._environ).git, old, new)

    def close(self, run: str) -> None:
        with self._lock:
            for root in self._roots():
                disk.remove(os.path.join(root, _plain(run)))
                with contextlib.suppress(OSError):
                    os.rmdir(root)

    def kept(self) -> list[str]:
        """The runs that have worktrees here."""
        found: list[str] = []
        for root in self._roots():
            with contextlib.suppress(OSError):
                for name in sorted(os.listdir(root)):
                    run = disk.read_small(os.path.join(root, name, "run"), 1000).decode("utf-8", "replace")
                    found += [run] if run else []
        return found


def _plain(name: str) -> str:
    """A name for a folder, its own for every name."""
    plain = _UNSAFE.sub("_", name).strip(".")[:80]
    if plain == name:
        return plain
    return f"{plain or 'x'}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _warning(opened: ProjectDone) -> str:
    count = f"{opened.uncommitted} uncommitted change{'s' * (opened.uncommitted != 1)}"
    at = f"the last commit ({opened.base[:12]})" if opened.base else "nothing: the project has no commit yet"
    return f"{opened.path} has {count}; agents start from {at} and do not see them"


def _message(assignment: Assignment, work: ProjectWork) -> str:
    subject = " ".join("".join(char if char.isprintable() else " " for char in work.title).split()) or assignment.phase
    if len(subject) > _SUBJECT:
        subject = subject[: _SUBJECT - 1].rstrip() + "…"
    trailers = {"Run": assignment.run, "Task": assignment.task, "Agent": assignment.agent.name}
    return f"{subject}\n\n" + "".join(f"Reconvene-{key}: {value}\n" for key, value in trailers.items())


def _told(text: str, assignment: Assignment) -> Answer:
    data = text.encode("utf-8", "replace")
    return Answer(text, None, False, {}, (), Usage(), assignment.prompt.encode("utf-8", "replace"), data)


def _recorded(found: Mapping[str, object], assignment: Assignment) -> Answer:
    """A record as an agent's output: a value, and the same as JSON."""
    text = json.dumps(found, ensure_ascii=False, indent=1)
    return _told(text, assignment)._replace(value=found, has_value=True)


def _content(repository: Repository, commit: str, name: str, room: int) -> str:
    """One file as it is in the commit, never on a disk: a link there leads nowhere here."""
    if not is_safe(name):
        return "(not a path inside the project)"
    path = repository.prefix + "/".join(part for part in name.split("/") if part not in ("", "."))
    found = repository.git.maybe("ls-tree", "--full-tree", "-z", commit, path) if commit else ""
    about = found.partition("\t")[0].split(" ")
    if len(about) != 3:
        return "(not there yet)"
    mode, kind, blob = about
    if kind != "blob" or mode == "120000":
        return {"tree": "(a folder)", "commit": "(a submodule)"}.get(kind, "(a symbolic link)")
    if room <= 0:
        return "(left out: too much to show)"
    text, whole = repository.git.start_of(room, "cat-file", "blob", blob)
    if "\0" in text:
        return "(binary)"
    return text.rstrip("\n") + ("" if whole else "\n… (the rest is not shown)")
