"""Files of agents that hold a secret: outside of the log and the workspace, for their owner's eyes only."""

from __future__ import annotations

import contextlib
import os
import re
from hashlib import sha256

from reconvene.core.paths import is_safe


class HeldFiles:
    def __init__(self, root: str) -> None:
        self._root = root

    def keep(self, run: str, path: str, data: bytes) -> None:
        """The newest of a path counts."""
        target = self._place(run, path)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
        with open(os.open(f"{target}.name", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(path.encode("utf-8", "surrogateescape"))

    def read(self, run: str, path: str) -> bytes | None:
        try:
            with open(self._place(run, path), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def paths(self, run: str) -> list[str]:
        folder, found = self._folder(run), list[str]()
        with contextlib.suppress(FileNotFoundError):
            for name in sorted(os.listdir(folder)):
                if name.endswith(".name"):
                    with open(os.path.join(folder, name), "rb") as file:
                        found.append(file.read().decode("utf-8", "surrogateescape"))
        return sorted(path for path in found if is_safe(path))

    def drop(self, run: str, path: str = "") -> None:
        """One of them, or all that are kept of the run."""
        with contextlib.suppress(FileNotFoundError):
            if not path:
                import shutil

                shutil.rmtree(self._folder(run))
                return
            for each in (self._place(run, path), f"{self._place(run, path)}.name"):
                os.unlink(each)

    def _folder(self, run: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9-]", "_", run)[:80]
        return os.path.join(self._root, f"{plain}-{sha256(run.encode()).hexdigest()[:8]}")

    def _place(self, run: str, path: str) -> str:
        return os.path.join(self._folder(run), sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32])
