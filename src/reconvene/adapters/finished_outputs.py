"""What agents finished and the log does not have yet: a file each, below one folder of the home, for its owner only.

A file is written beside its place and renamed, so it is there as a whole or not at all. Knows nothing of what it holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from reconvene.adapters.shared.private_folders import make_private_folder
from reconvene.adapters.shared.safe_files import TEMP_PREFIX, open_root
from reconvene.errors import StoreError

_END, _ASIDE = ".finished", ".unusable"


class FinishedFiles:
    """shelf_ports.Shelf in a folder of the home."""

    def __init__(self, folder: str, file_name: Callable[[str], str]) -> None:
        """`file_name`: of a run, or of anything else that has a name."""
        self._folder = folder
        self._file_name = file_name

    def put(self, run: str, name: str, data: bytes, *, durable: bool) -> None:
        folder = self.place(run)
        path, temp = self._path(run, name), os.path.join(folder, TEMP_PREFIX + self._file_name(name))
        try:
            make_private_folder(self._folder)
            make_private_folder(folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(temp, flags, 0o600), "wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(temp, path)
            if durable:
                self._sync(folder)
        except OSError as error:
            with suppress(OSError):
                os.unlink(temp)
            raise StoreError(
                f"{folder} cannot be written: {error.strerror or error}.", hint="Check free space there."
            ) from error

    def of(self, run: str) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []
        for name in self._names(run):
            handle = os.open(os.path.join(self.place(run), name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                found.append((name.removesuffix(_END), file.read()))
        return found

    def drop(self, run: str, name: str = "") -> None:
        with suppress(FileNotFoundError):
            if name:
                os.unlink(self._path(run, name))
            else:
                import shutil  # who only decides never needs it

                shutil.rmtree(self.place(run))
        with suppress(OSError):  # others lie there, or it is gone
            os.rmdir(self.place(run))

    def set_aside(self, run: str, name: str) -> str:
        path = self._path(run, name).removesuffix(_END) + _ASIDE
        os.replace(self._path(run, name), path)
        return path

    def place(self, run: str) -> str:
        return os.path.join(self._folder, self._file_name(run))

    def _path(self, run: str, name: str) -> str:
        return os.path.join(self.place(run), self._file_name(name) + _END)

    def _names(self, run: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.place(run)) if name.endswith(_END))
        except FileNotFoundError:
            return []

    def _sync(self, folder: str) -> None:
        for place in (folder, self._folder):
            handle = open_root(place)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
