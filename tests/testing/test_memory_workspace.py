"""Both workspaces of this package keep the promises of the port."""

from __future__ import annotations

import tempfile
from pathlib import Path

from reconvene.adapters.workspace import FolderWorkspace
from reconvene.ports import Workspace
from reconvene.testing.memory_workspace import MemoryFolder, MemoryWorkspace
from reconvene.testing.workspace_conformance import WorkspaceConformance


class TestMemoryWorkspace(WorkspaceConformance):
    def setup_method(self) -> None:
        super().setup_method()
        self._folder = MemoryFolder()

    def make_workspace(self) -> Workspace:
        return MemoryWorkspace("/run-1", self._folder)

    def edit(self, path: str, data: bytes | None) -> None:
        self._folder.edit(path, data)

    def on_disk(self) -> dict[str, bytes]:
        return self._folder.files or {}


class TestFolderWorkspace(WorkspaceConformance):
    def setup_method(self) -> None:
        super().setup_method()
        self._temporary = tempfile.TemporaryDirectory(prefix="reconvene-workspace-")
        self._root = Path(self._temporary.name) / "run-1"

    def teardown_method(self) -> None:
        self._temporary.cleanup()

    def make_workspace(self) -> Workspace:
        return FolderWorkspace(str(self._root), f"{self._temporary.name}/manifest.json")

    def edit(self, path: str, data: bytes | None) -> None:
        if data is None:
            (self._root / path).unlink()
        else:
            (self._root / path).write_bytes(data)

    def on_disk(self) -> dict[str, bytes]:
        files = [path for path in self._root.rglob("*") if path.is_file()]
        return {path.relative_to(self._root).as_posix(): path.read_bytes() for path in files}
