"""One MCP server while an attempt works: started, asked for its tools, called, and started anew once it has failed.

One call at a time. Whatever a server does wrong is a `ToolFailed` that says what it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Awaitable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple

from reconvene.adapters.shared.file_names import shown
from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.mcp_pipe import Talk, piped
from reconvene.adapters.tools.offered import ToolFailed
from reconvene.adapters.tools.shell_tool import Programs
from reconvene.errors import AgentError

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

_TO_START = 30.0  # seconds
_TO_END = 15.0
_TO_EXIT = 2.0
_MOST_PAGES = 20
MOST_TOOLS = 200
_OF_A_CALL = (-32602, -32601)  # codes of errors: what was asked was wrong, and nothing else


class Settings(NamedTuple):
    """What an entry of `tools:` says of a server."""

    name: str
    command: tuple[str, ...]
    url: str
    headers: Mapping[str, str]
    env: tuple[str, ...]
    timeout: float
    network: bool


class Listed(NamedTuple):
    name: str
    description: str
    schema: dict[str, object]


class Given(NamedTuple):
    text: str
    failed: bool
    sandbox: str


class McpServer:
    def __init__(self, settings: Settings, programs: Programs) -> None:
        self._settings = settings
        self._programs = programs
        self._turn = asyncio.Lock()
        self._client: Client | None = None
        self._owner: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._talk: Talk | None = None
        self._tools: dict[str, Listed] = {}
        self._may_have_changed = False
        self._level = ""

    async def tools(self) -> list[Listed]:
        async with self._turn:
            await self._ready()
            return list(self._tools.values())

    async def call(self, tool: Listed, arguments: Mapping[str, object]) -> Given:
        """`tool`: as it was when it was listed for the model."""
        async with self._turn:
            await self._ready()
            self._require_same(tool)
            if self._talk is not None:
                self._talk.calls(True)
            try:
                async with asyncio.timeout(self._settings.timeout):
                    result = await self._ask(tool.name, arguments)
            except TimeoutError:
                await self._end()
                raise ToolFailed(
                    f"The MCP server {self._settings.name} did not answer within {self._settings.timeout:g} s. Whether "
                    f"it did what it was asked is not known. It is started anew for the next call.",
                    unknown=True,
                ) from None
            finally:
                if self._talk is not None:
                    self._talk.calls(False)
            return Given(_as_text(result), bool(result.is_error), self._level)

    async def close(self) -> None:
        async with self._turn:
            await self._end()

    # --- what is asked of it ---

    async def _ask(self, name: str, arguments: Mapping[str, object]) -> CallToolResult:
        import mcp_types
        from pydantic import TypeAdapter

        assert self._client is not None
        # Not the client's own `call_tool`: it checks results against schemas of the server's, which may take for ever.
        request = mcp_types.CallToolRequest(
            params=mcp_types.CallToolRequestParams(name=name, arguments=dict(arguments))
        )
        answers = TypeAdapter[mcp_types.CallToolResult | mcp_types.InputRequiredResult](
            mcp_types.CallToolResult | mcp_types.InputRequiredResult
        )
        try:
            result = await self._client.session.send_request(request, answers)
        except (asyncio.CancelledError, TimeoutError):
            raise
        except Exception as error:
            raise await self._failed(error) from error
        if isinstance(result, mcp_types.CallToolResult):
            return result
        raise ToolFailed(f"The MCP server {self._settings.name} asks the person for something: that cannot be done.")

    async def _failed(self, error: Exception) -> ToolFailed:
        """What went wrong, in words. A connection that is gone is let go."""
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        name = self._settings.name
        if (gone := await self._why_ended(error)) or _is_closed(error):
            await self._end()
            why = gone or "the connection broke"
            return ToolFailed(
                f"The MCP server {name} failed: {why}. Whether it did what it was asked is not known. It is started "
                f"anew for the next call.",
                unknown=True,
            )
        if self._settings.url and getattr(error, "code", 0) not in _OF_A_CALL:
            await self._end()  # a session that the server does not know any more is of no use
        if isinstance(error, MCPError):
            return ToolFailed(f"The MCP server {name} refused the call: {cutting.line(error.message, 2_000)}")
        if isinstance(error, ValidationError):
            said = f"The MCP server {name} gave an answer that is no MCP: {error.errors()[0]['msg']}."
            return ToolFailed(said, unknown=True)
        said = f"The MCP server {name} failed: {type(error).__name__}: {cutting.line(str(error), 500)}"
        return ToolFailed(said, unknown=True)

    async def _why_ended(self, error: BaseException) -> str:
        """The end of a program is heard of a moment after the end of its output."""
        if self._talk is not None and not self._talk.fault and _is_closed(error):
            await asyncio.wait([self._talk.exited], timeout=_TO_EXIT)
        return self._why_gone()

    def _why_gone(self) -> str:
        """What its program did, where that is why nothing comes from it any more."""
        talk = self._talk
        if talk is None:
            return ""
        why = talk.fault
        if not why and talk.exited.done():
            code = talk.exit_code()
            why = f"it ended with exit code {code}" if code >= 0 else f"it was ended by signal {-code}"
        if not why:
            return ""
        if talk.example:
            why += f"; it wrote {shown(talk.example.decode('utf-8', 'replace').strip())!r}, which is no MCP"
        said = cutting.printable(talk.errors.decode("utf-8", "replace")).strip()[-500:]
        return why + (f"; it said: {said}" if said else "")

    def _require_same(self, tool: Listed) -> None:
        now = self._tools.get(tool.name)
        if now is None:
            there = ", ".join(list(self._tools)[:50]) or "none"
            raise ToolFailed(
                f"The MCP server {self._settings.name} has changed its tools: {tool.name} is gone. It has now: {there}."
            )
        if _canonical(now.schema) != _canonical(tool.schema):
            raise ToolFailed(
                f"The MCP server {self._settings.name} has changed what {tool.name} takes since this work began. It is "
                f"not called."
            )

    # --- its life ---

    async def _ready(self) -> None:
        """It runs, and its tools are known as they are now."""
        if self._client is not None and (self._owner is None or self._owner.done() or self._why_gone()):
            await self._end()
        if self._client is None:
            await self._begin()
        elif self._may_have_changed:
            await self._within(self._list())

    async def _begin(self) -> None:
        self._stop = asyncio.Event()
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(opened))
        await self._within(self._open(opened))
        if self._talk is not None:
            self._talk.calls(False)

    async def _open(self, opened: asyncio.Future[Client]) -> None:
        self._client = await asyncio.shield(opened)
        await self._list()

    async def _within(self, work: Awaitable[None]) -> None:
        """In the time that a server has to start. Where it fails, nothing of it stays."""
        name = self._settings.name
        try:
            async with asyncio.timeout(_TO_START):
                await work
        except TimeoutError:
            gone = self._why_gone()
            await self._end()
            raise ToolFailed(
                f"The MCP server {name} did not tell its tools within {_TO_START:g} s{': ' + gone if gone else ''}."
            ) from None
        except (asyncio.CancelledError, ToolFailed):
            await self._end()
            raise
        except (Exception, BaseExceptionGroup) as error:
            gone = await self._why_ended(error) or _cause(error)
            await self._end()
            raise ToolFailed(f"The MCP server {name} cannot be used: {gone}.") from None

    async def _own(self, opened: asyncio.Future[Client]) -> None:
        """Holds the connection: a client must be left by the task that entered it."""
        try:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(await self._connected(stack))
                if not opened.done():
                    opened.set_result(client)
                await self._stop.wait()
        except BaseException as error:
            if not opened.done():
                opened.set_exception(error if isinstance(error, Exception) else ToolFailed(_cause(error)))
                opened.exception()  # whoever waited may be gone
            if not isinstance(error, Exception | BaseExceptionGroup):
                raise

    async def _connected(self, stack: AsyncExitStack) -> Client:
        from mcp import Client
        from mcp_types import Implementation

        about = Implementation(name="reconvene", version="1")
        self._talk = None
        if self._settings.url:
            from reconvene.adapters.tools.mcp_http import over_http

            transport = over_http(self._settings.url, self._settings.headers, self._settings.timeout)
            return Client(transport, client_info=about, cache=None, message_handler=self._heard)
        folder = tempfile.mkdtemp(prefix="mcp-", dir=self._programs.sandbox.scratch())
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        network = self._settings.network
        start = self._programs.start(self._settings.command, folder, self._settings.env, network=network)
        try:
            kept = stack.enter_context(self._programs.sandbox.keep(start))
        except FileNotFoundError:
            raise ToolFailed(f"there is no program {os.path.basename(self._settings.command[0])!r}") from None
        except PermissionError:
            raise ToolFailed(f"{os.path.basename(self._settings.command[0])!r} may not be executed") from None
        except AgentError as error:
            raise ToolFailed(error.message.rstrip(".")) from None
        self._level = kept.level
        return Client(piped(kept, folder, self._met), client_info=about, cache=None, message_handler=self._heard)

    def _met(self, talk: Talk) -> None:
        self._talk = talk

    async def _heard(self, message: object) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._may_have_changed = True

    async def _list(self) -> None:
        from mcp_types import PaginatedRequestParams

        assert self._client is not None
        self._may_have_changed = False
        found: dict[str, Listed] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            found |= {tool.name: _listed(tool) for tool in page.tools}
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        self._tools = found

    async def _end(self) -> None:
        owner, opened, self._owner, self._client = self._owner, self._client is not None, None, None
        if owner is None:
            return
        self._stop.set()
        try:
            await asyncio.wait([owner], timeout=_TO_END if opened else 0)  # before that nobody waits for a stop
        finally:
            if not owner.done():
                owner.cancel()
                with contextlib.suppress(BaseException):
                    await asyncio.wait([owner], timeout=_TO_END)
            self._talk = None


def _listed(tool: Tool) -> Listed:
    return Listed(tool.name, tool.description or "", dict(tool.input_schema))


def _canonical(schema: object) -> str:
    return json.dumps(schema, sort_keys=True, default=str)


def _is_closed(error: BaseException) -> bool:
    import anyio
    from mcp_types import CONNECTION_CLOSED

    gone = (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError)
    return isinstance(error, gone) or getattr(error, "code", 0) == CONNECTION_CLOSED


def _cause(error: BaseException) -> str:
    """Of several that came together, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return cutting.line(str(error), 500).rstrip(".") or type(error).__name__


def _as_text(result: CallToolResult) -> str:
    parts = [_part(block) for block in result.content]
    if not any(parts) and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False, indent=1)]
    return cutting.printable("\n".join(part for part in parts if part)) or "[it gave nothing]"


def _part(block: object) -> str:
    import mcp_types

    match block:
        case mcp_types.TextContent():
            return block.text
        case mcp_types.ImageContent() | mcp_types.AudioContent():
            return f"[{block.type}, {block.mime_type}, about {len(block.data) * 3 // 4:,} bytes: not shown]"
        case mcp_types.ResourceLink():
            return f"[a link: {block.name}, {block.uri}]"
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as resource):
            return f"[{resource.uri}]\n{resource.text}"
        case mcp_types.EmbeddedResource():
            return f"[{block.resource.uri}: binary, not shown]"
        case _:
            return f"[{type(block).__name__}: not shown]"
