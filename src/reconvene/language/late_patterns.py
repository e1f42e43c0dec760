"""Regular expressions that are compiled when they are first used.

Compiling one takes longer than importing a small module, and a command needs few of those that the modules it loads
have. Once compiled they are as fast as any.
"""

from __future__ import annotations

import re
from typing import cast


class _Late:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """Called for what is not there yet: a method of the pattern, which is there from now on."""
        found: object = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but later. For its own methods only: the functions of `re` do not take it."""
    return cast(re.Pattern[str], _Late(source, flags))
