"""What only the git library can do: diffs, and objects that plain git has packed. Loaded for that alone.

Nothing of anybody's git set-up takes part: no configuration or attribute is looked for.
"""

from __future__ import annotations

import re
from functools import cache

import pygit2
from pygit2.enums import ConfigLevel, RepositoryOpenFlag

from reconvene.errors import UserError

_ID = re.compile(r"[0-9a-f]{7,40}")
_KINDS = {pygit2.Commit: b"commit", pygit2.Tree: b"tree", pygit2.Blob: b"blob"}


@cache
def _seal_off() -> None:
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""


class Library:
    """One repository, for reading."""

    def __init__(self, path: str) -> None:
        _seal_off()
        flags = RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.NO_DOTGIT | RepositoryOpenFlag.BARE
        self._repository = pygit2.Repository(path, flags)

    def raw(self, oid: str) -> tuple[bytes, bytes]:
        """Kind and bytes; both empty where it is not there."""
        found = self._repository.get(oid)
        return (_KINDS.get(type(found), b""), found.read_raw()) if found is not None else (b"", b"")

    def diff(self, run: str, tip: str, old: str, new: str, path: str) -> str:
        """ "" as old: the empty tree; as new: the tip."""
        after = self._commit(run, tip, new or tip).tree
        if old:
            found = self._commit(run, tip, old).tree.diff_to_tree(after)
        else:
            found = after.diff_to_tree(swap=True)  # the other way round: from nothing
        patches = [patch for patch in found if patch is not None and _is_within(path, patch.delta)]
        return b"".join(patch.data for patch in patches).decode("utf-8", "replace")

    def _commit(self, run: str, tip: str, commit_id: str) -> pygit2.Commit:
        """Of this run, by its id or the beginning of it."""
        found = self._repository.get(commit_id) if _ID.fullmatch(commit_id) else None
        if isinstance(found, pygit2.Commit) and (str(found.id) == tip or self._repository.descendant_of(tip, found.id)):
            return found
        where = f"the history of run {run!r}"
        raise UserError(f"There is no commit {commit_id!r} in {where}.", hint="Its ids are listed by `git log`.")


def _is_within(path: str, delta: pygit2.DiffDelta) -> bool:
    names = (delta.old_file.path, delta.new_file.path)
    return not path or any(name == path or name.startswith(path.rstrip("/") + "/") for name in names)
