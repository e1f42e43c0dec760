"""What every Workspace promises, as tests: whose change it is, and that nobody's text is overwritten unseen.

    class TestMyWorkspace(WorkspaceConformance):
        def make_workspace(self): ...
        def edit(self, path, data): ...
        def on_disk(self): ...

It must not know how files are kept, and needs nothing from pytest but the names of its methods.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.facts.ids import digest_of
from reconvene.ports import Change, Workspace


class WorkspaceConformance:
    """Each test starts with a folder that is not there."""

    def make_workspace(self) -> Workspace:
        """As a new process opens it. Called again in a test, it opens the same folder once more."""
        raise NotImplementedError

    def edit(self, path: str, data: bytes | None) -> None:
        """As a person does, with an editor; None removes the file."""
        raise NotImplementedError

    def on_disk(self) -> dict[str, bytes]:
        raise NotImplementedError

    # -- the frame of a test

    def setup_method(self) -> None:
        self._log: dict[str, bytes] = {}

    def known(self) -> dict[str, str]:
        return {path: digest_of(data) for path, data in self._log.items()}

    def append(self, files: Mapping[str, bytes | None]) -> None:
        """Into the log only: the process dies before it writes anything out."""
        for path, data in files.items():
            if data is None:
                self._log.pop(path, None)
            else:
                self._log[path] = data

    def write(self, workspace: Workspace, files: Mapping[str, bytes | None]) -> None:
        self.append(files)
        workspace.write(files, self.known())

    def resume(self, workspace: Workspace) -> list[Change]:
        """What a driver does when it takes a run up."""
        changes, stale, settled, _ = workspace.look(self.known())
        self.append({change.path: change.data for change in changes})
        if settled:
            assert (changes, stale) == ([], [])
        else:
            workspace.write({path: self._log.get(path) for path in stale}, self.known())
        return changes

    # -- the promises

    def test_what_is_written_is_there_and_is_nobodys_change(self) -> None:
        workspace = self.make_workspace()
        assert not workspace.occupied()
        self.write(workspace, {"a.md": b"one", "deep/b.md": b"two"})
        assert self.on_disk() == self._log
        assert workspace.occupied()
        assert workspace.read("deep/b.md") == b"two"
        assert workspace.read("none.md") is None
        for each in (workspace, self.make_workspace()):
            assert each.look(self.known()).changes == []
            assert each.stale(self.known()) == []

    def test_edits_additions_and_removals_of_a_person_are_found(self) -> None:
        self.write(self.make_workspace(), {"a.md": b"one", "b.md": b"two"})
        self.edit("a.md", b"ONE")
        self.edit("b.md", None)
        self.edit("n.md", b"mine")
        expected = [Change("a.md", b"ONE"), Change("b.md", None), Change("n.md", b"mine")]
        assert self.make_workspace().look(self.known()).changes == expected

    def test_an_edit_that_is_on_record_is_told_once(self) -> None:
        workspace = self.make_workspace()
        self.write(workspace, {"a.md": b"one"})
        self.edit("a.md", b"two")
        assert self.resume(workspace) == [Change("a.md", b"two")]
        assert self.resume(workspace) == []
        self.edit("a.md", b"one")
        assert self.resume(self.make_workspace()) == [Change("a.md", b"one")]

    def test_what_a_crash_left_unwritten_is_no_edit_and_is_written_again(self) -> None:
        self.write(self.make_workspace(), {"a.md": b"one", "gone.md": b"old"})
        self.append({"a.md": b"two", "new.md": b"new", "gone.md": None})
        workspace = self.make_workspace()
        assert workspace.look(self.known()) == ([], ["a.md", "gone.md", "new.md"], False, ())
        assert self.resume(workspace) == []
        assert self.on_disk() == self._log

    def test_an_edit_of_what_a_crash_left_unwritten_is_found(self) -> None:
        self.write(self.make_workspace(), {"a.md": b"one", "gone.md": b"old"})
        self.append({"a.md": b"two", "gone.md": None})
        self.edit("a.md", b"mine")
        self.edit("gone.md", b"mine")
        found = self.make_workspace().look(self.known())
        assert [change.path for change in found.changes] == ["a.md", "gone.md"]
        assert found.stale == []

    def test_a_text_that_nobody_has_seen_is_not_overwritten(self) -> None:
        workspace = self.make_workspace()
        self.write(workspace, {"a.md": b"one", "b.md": b"two"})
        mine = {"a.md": b"mine", "b.md": b"mine too", "c.md": b"and this"}
        for path, data in mine.items():
            self.edit(path, data)
        self.write(workspace, {"a.md": b"theirs", "b.md": None, "c.md": b"theirs"})
        assert self.on_disk() == mine

    def test_a_text_that_was_told_may_be_overwritten(self) -> None:
        workspace = self.make_workspace()
        self.write(workspace, {"a.md": b"one", "b.md": b"two"})
        self.edit("a.md", b"mine")
        self.edit("b.md", b"mine")
        assert len(workspace.look(self.known()).changes) == 2
        self.write(workspace, {"a.md": b"three", "b.md": None})
        assert self.on_disk() == {"a.md": b"three"}
