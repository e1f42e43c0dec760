"""A folder as a source: what is in it, and each file as a document. Whoever reads documents is given."""

from __future__ import annotations

import os
from typing import Literal

from reconvene.material_ports import Document, Documents, Listing


class FolderSource:
    """material_ports.Folder."""

    kind: Literal["folder"] = "folder"

    def __init__(self, path: str, documents: Documents) -> None:
        self._path = os.path.realpath(path)
        self._documents = documents

    def list(self, below: str = "") -> Listing:
        return self._documents.list(self._path, below)

    def read(self, name: str) -> Document:
        return self._documents.read(name, within=self._path)
