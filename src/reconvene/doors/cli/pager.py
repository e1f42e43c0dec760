"""Long text at a terminal, page by page, with the person's own pager; anywhere else as it is.

PAGER says which (empty, or `cat`: none). Where it is not set, `less` is taken, and where that is missing, none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from reconvene.doors.cli.text import clean, folded

_LESS = "FRX"  # leave where one screen holds it, and leave the text on the screen


def show(text: str, dress: Callable[[str], str] = clean) -> None:
    """Harmless wherever it is shown. `dress`: makes it so, and at a terminal puts on colours."""
    at_terminal = sys.stdout.isatty()
    plain = (dress if at_terminal else clean)(text).rstrip("\n") + "\n"
    plain = folded(plain) if at_terminal and dress is clean else plain
    words = pager(os.environ) if sys.stdout.isatty() and sys.stdin.isatty() else []
    if not (words and _paged(words, plain)):
        sys.stdout.write(plain)
        sys.stdout.flush()


def pager(environ: Mapping[str, str]) -> list[str]:
    """The words of the pager's command; none where there is no pager."""
    import shlex
    import shutil

    try:
        words = shlex.split(environ.get("PAGER", "less"))
    except ValueError:  # a quote that is never closed
        return []
    found = shutil.which(words[0]) if words else None
    return [found, *words[1:]] if found and words[0] != "cat" else []


def _paged(words: list[str], text: str) -> bool:
    """False where the pager could not be started, or did not like how it was called."""
    import signal
    import subprocess

    environ = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ, "LESSSECURE": "1"}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's business
    try:
        ended = subprocess.run(words, input=text, text=True, encoding="utf-8", errors="replace", env=environ)
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return ended.returncode not in (126, 127)
