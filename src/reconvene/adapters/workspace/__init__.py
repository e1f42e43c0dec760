"""The folder that people open: `FolderWorkspace` implements ports.Workspace."""

from reconvene.adapters.workspace.folder import FolderWorkspace

__all__ = ["FolderWorkspace"]
