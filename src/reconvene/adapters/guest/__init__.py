"""Work that might never end, done in a process that can be killed. `LateHelper` implements language.guest.Guest."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.adapters.guest.helper import Helper
    from reconvene.language.javascript.machine import Ask


class LateHelper:
    """Loaded when a workflow first says something that is not cheap for certain: most never do."""

    @cached_property
    def helper(self) -> Helper:
        from reconvene.adapters.guest.helper import Helper

        return Helper()

    def evaluate(self, ask: Ask) -> str:
        return self.helper.evaluate(ask)

    def validate(self, schema: bytes, value: bytes, seconds: float) -> bytes:
        return self.helper.validate(schema, value, seconds)
