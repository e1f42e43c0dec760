"""The web, searched by a program that the person named in their own settings. Each query is put to them first."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from reconvene.adapters.shared import process
from reconvene.errors import UserError
from reconvene.secrets import redact_text

_SECONDS = 60.0
_TOLD = 400  # characters of what a failing program says


class CommandSearch:
    """`companion.tool_scope.WebSearch`. `agrees`: whether the person lets this query leave the machine."""

    def __init__(self, command: str, environ: Mapping[str, str], agrees: Callable[[str], bool]) -> None:
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise UserError(f"web_search is no command line: {error}") from None
        if not self._argv:
            raise UserError("web_search names no program")
        self._environ = environ
        self._agrees = agrees

    @property
    def name(self) -> str:
        return os.path.basename(self._argv[0])

    def search(self, query: str) -> str:
        asked = redact_text(" ".join(query.split()).lstrip("-"), self._environ)  # never an option
        if not asked:
            raise UserError("There is nothing to look for.")
        if not self._agrees(asked):
            raise UserError("The person did not allow this query. Do not ask for it again.")
        with ThreadPoolExecutor(1) as apart:  # whoever calls may be inside an event loop
            outcome = apart.submit(asyncio.run, self._run(asked)).result()
        text = outcome.stdout.decode("utf-8", "replace")
        if outcome.code:
            said = outcome.stderr_tail.decode("utf-8", "replace").strip()[-_TOLD:]
            raise UserError(redact_text(f"{self.name} failed with code {outcome.code}: {said}", self._environ))
        return redact_text(text, self._environ)

    async def _run(self, query: str) -> process.Outcome:
        try:
            return await process.run([*self._argv, query], b"", os.getcwd(), self._environ, _SECONDS, lambda _: None)
        except process.TookTooLong:
            raise UserError(f"{self.name} did not answer within {_SECONDS:g} seconds.") from None
        except OSError as error:
            raise UserError(f"{self.name} cannot be started: {error.strerror or error}") from None
