"""The person's own editor, and a text on its way through it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from reconvene.errors import UserError


def editor() -> list[str]:
    """The command of VISUAL, else of EDITOR; empty where neither is set."""
    named = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    try:
        return shlex.split(named)
    except ValueError:  # an open quote: taken literally, and its failure explains itself
        return [named]


class Sheet:
    """A text on its way through the editor. Whatever was saved is in `text`, also when the editor failed."""

    def __init__(self, text: str, name: str = "remarks.md") -> None:
        self.text = text
        self.saved = text.encode("utf-8")
        self.code = 0
        self._name = name

    def edit(self) -> None:
        command = editor()
        with tempfile.TemporaryDirectory(prefix="reconvene-") as folder:
            file = Path(folder, self._name)
            file.write_bytes(self.text.encode("utf-8"))
            before = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, _theirs)
            try:
                self.code = subprocess.call([*command, str(file)])
            except OSError as error:
                raise UserError(
                    f"the editor {command[0]!r} cannot be started: {error.strerror or error}",
                    hint="set EDITOR to one that can",
                ) from None
            finally:
                signal.signal(signal.SIGINT, before)
                if file.is_file():
                    self.saved = file.read_bytes()
                    self.text = self.saved.decode("utf-8", "replace")


def _theirs(number: int, frame: object) -> None:
    """Ctrl-C while the editor is open is meant for the editor."""
