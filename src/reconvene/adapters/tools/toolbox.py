"""The tools of one attempt: brought together, checked before each call, and all closed at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from reconvene.adapters.shared.file_names import why_unsafe
from reconvene.adapters.tools import cutting, file_tools, project_tools, shell_tool
from reconvene.adapters.tools.attempt_tree import AttemptTree
from reconvene.adapters.tools.offered import Brought, Entry, Offered, ToolFailed
from reconvene.adapters.tools.project_tools import ProjectFiles
from reconvene.adapters.tools.shell_tool import Programs
from reconvene.core.paths import safe_path
from reconvene.errors import ReconveneError, UserError
from reconvene.ports import Assignment, Listener, Progress
from reconvene.sandbox_ports import Sandbox
from reconvene.secrets import Secrets
from reconvene.tool_ports import Toolbox, ToolInfo, ToolResult
from reconvene.wire.replies import wrong_arguments

if TYPE_CHECKING:
    from reconvene.adapters.tools.document_tools import DocumentFolders
    from reconvene.adapters.tools.source_tools import Sources
    from reconvene.material_ports import Documents, Folder

_MOST_NAMED = 100


class Reach(NamedTuple):
    """What tools may look into beyond the attempt's folder; None = nothing of the sort is there."""

    project: ProjectFiles | None = None
    documents: Documents | None = None
    folders: DocumentFolders | None = None
    sources: Sources | None = None


class Toolboxes:
    """`hidden`: what programs of tools must not see beside what nobody's program does."""

    def __init__(
        self,
        sandbox: Sandbox,
        environ: Mapping[str, str],
        *,
        hidden: Callable[[], Iterable[str]] = tuple,
        reach: Reach | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._environ = environ
        self._hidden = hidden
        self._reach = reach or Reach()

    def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AbstractAsyncContextManager[Toolbox]:
        """`changed`: what calls that are on record made of the folder, None = removed."""
        return self.opened(assignment, assignment.agent.tools, changed, listener)

    @asynccontextmanager
    async def opened(
        self,
        assignment: Assignment,
        tools: Sequence[Entry],
        changed: Mapping[str, bytes | None],
        listener: Listener,
    ) -> AsyncIterator[Toolbox]:
        # made and removed without a pause in between, so that no cancellation can leave the folder behind
        tree = AttemptTree(self._sandbox.scratch(), assignment, changed)
        try:
            async with AsyncExitStack() as stack:
                programs = Programs(assignment, self._sandbox, self._environ, self._hidden)
                brought = await self._brought(assignment, tools, programs, tree, stack)
                named = [name for entry in tools for name in _variables(entry)]
                secrets = Secrets(self._environ, (*assignment.agent.env, *named))
                yield _Box(tree, brought, secrets, _warn(assignment, listener))
        finally:
            tree.clear()

    async def _brought(
        self,
        assignment: Assignment,
        tools: Sequence[Entry],
        programs: Programs,
        tree: AttemptTree,
        stack: AsyncExitStack,
    ) -> list[Brought]:
        turn = asyncio.Lock()
        found: list[Brought] = []
        for entry in tools:
            match _kind(entry):
                case "files":
                    found.append(file_tools.brought(entry, tree, turn))
                case "shell":
                    found.append(shell_tool.brought(entry, programs, tree, turn))
                case "project":
                    found.append(
                        project_tools.brought(self._reach.project, assignment.project or assignment.looks_into)
                    )
                case "documents":
                    found.append(self._documents(assignment, entry, tree))
                case "mcp" | "sql" | "graph":
                    pass
                case other:
                    found.append(Brought(left_out={f"{other}*": f"nothing brings tools of the name {other!r}"}))
        if servers := [entry for entry in tools if _kind(entry) == "mcp"]:
            from reconvene.adapters.tools import mcp_tools

            found += await mcp_tools.brought(servers, programs, stack)
        if data := [entry for entry in tools if entry.name in ("sql", "graph")]:
            readable = any(_kind(entry) == "documents" for entry in tools) and self._reach.documents is not None
            found += self._sources(assignment, data, readable)
        return found

    def _documents(self, assignment: Assignment, entry: Entry, tree: AttemptTree) -> Brought:
        from reconvene.adapters.tools import document_tools

        named = self._reach.folders
        try:
            folders = named(assignment, entry.options) if named is not None else {}
        except UserError as error:
            return Brought(left_out={name: _words(error) for name in document_tools.NAMES})
        return document_tools.brought(self._reach.documents, assignment.documents, folders, tree)

    def _sources(self, assignment: Assignment, entries: Sequence[Entry], readable: bool) -> list[Brought]:
        from reconvene.adapters.tools import source_tools

        given: dict[str, source_tools.Given] = {}
        left_out: dict[str, str] = {}
        named = any(entry.options.get("source") for entry in entries)  # else whatever the run was given, be it none
        for entry in entries:
            try:
                if self._reach.sources is None:
                    raise UserError("nothing opens sources of data here")
                found = self._reach.sources(assignment, entry.name, entry.options)
            except UserError as error:
                left_out[f"{entry.name}*"] = _words(error)
                continue
            writable = entry.name == "graph" and not entry.options.get("read")
            for name, source in found.items():
                given.setdefault(name, source_tools.Given(source, entry.name, writable))
        folders: Mapping[str, Folder] = {}
        try:
            folders = {} if named or self._reach.folders is None else self._reach.folders(assignment, {})
        except UserError as error:
            left_out["folder*"] = _words(error)
        if not given and not folders:
            graph = any(entry.name == "graph" for entry in entries)
            names = source_tools.NAMES if graph else source_tools.ASKING
            every = left_out | dict.fromkeys(names, "; ".join(left_out.values()))
            return [Brought(left_out=every, expected=not named)]
        if not given:
            left_out["query_source"] = "; ".join(left_out.values())
        of = next((one.entry for one in given.values()), entries[0].name)
        asked = source_tools.brought(given, folders, of, readable=readable)
        return [asked, Brought(left_out=left_out, expected=not named)]


def _kind(entry: Entry) -> str:
    """Of `mcp:github`, mcp: a workflow may name several servers."""
    return entry.name.partition(":")[0]


def _variables(entry: Entry) -> list[str]:
    given = entry.options.get("env", ())
    return [str(name) for name in given] if isinstance(given, list | tuple) else []


def _words(error: ReconveneError) -> str:
    end = "" if error.message.endswith(".") or not error.hint else ";"
    return f"{error.message}{end} {error.hint}".strip()


def _warn(assignment: Assignment, listener: Listener) -> Callable[[str], None]:
    return lambda said: listener(Progress(assignment.run, assignment.task, assignment.agent.name, "warning", said))


class _Box:
    def __init__(
        self, tree: AttemptTree, brought: Sequence[Brought], secrets: Secrets, warn: Callable[[str], None]
    ) -> None:
        self._tree = tree
        self._secrets = secrets
        self._offered: dict[str, Offered] = {}
        self._left_out = {name: secrets.blank_text(why) for each in brought for name, why in each.left_out.items()}
        for one in (one for each in brought for one in each.tools):
            self._offered.setdefault(one.info.name, one)
        told = {name: why for each in brought if not each.expected for name, why in each.left_out.items()}
        for why in dict.fromkeys(told.values()):
            names = [name for name, reason in told.items() if reason == why]
            warn(f"no tool{'s' * (len(names) > 1)} {', '.join(names)}: {secrets.blank_text(why)}")

    def tools(self) -> tuple[ToolInfo, ...]:
        return tuple(each.info for each in self._offered.values())

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        offered = self._offered.get(name)
        if offered is None:
            return self._failed(self._unknown(name))
        try:
            if problems := await asyncio.to_thread(_problems, offered.info, arguments):
                return self._failed(problems)
            result = await offered.carry_out(dict(arguments))
        except ToolFailed as error:
            return replace(self._failed(str(error)), unknown=error.unknown and offered.info.effects)
        except ReconveneError as error:
            return self._failed(_words(error))
        except OSError as error:
            return self._failed(f"{name} failed: {error.strerror or type(error).__name__}.")
        except Exception as error:  # one tool's surprise must not end the work
            return self._failed(f"{name} failed unexpectedly: {type(error).__name__}: {error}")
        text = self._shown(result.text)
        return ToolResult(text, result.failed, result.files, result.removed, result.counts, result.sandbox)

    def _failed(self, why: str) -> ToolResult:
        return ToolResult(self._shown(cutting.printable(why)), failed=True)

    def _shown(self, text: str) -> str:
        """Secrets first: half of one would not be found."""
        return cutting.start_of(self._secrets.blank_text(text), "ask for less")

    def _unknown(self, name: str) -> str:
        for known, why in self._left_out.items():
            if name == known or (known.endswith("*") and name.startswith(known[:-1])):
                return f"{name} cannot be used here: {why}"
        names = list(self._offered)
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        there = f"The tools are: {', '.join(names[:_MOST_NAMED])}{more}." if names else "There are no tools."
        return f"There is no tool {name[:100]!r}. {there}"

    def read(self, path: str) -> bytes | None:
        if why_unsafe(path):
            return None
        try:
            return self._tree.read(safe_path(path))[0]
        except (ToolFailed, OSError):
            return None

    def files(self) -> Mapping[str, bytes]:
        return self._tree.taken().files

    def ignored(self) -> tuple[str, ...]:
        return self._tree.taken().ignored


def _problems(info: ToolInfo, arguments: object) -> str:
    """What is wrong with the arguments, for the model; "" where they fit."""
    if not isinstance(arguments, Mapping):
        return f"The arguments of {info.name} must be a JSON object, not {type(arguments).__name__}."
    wrong = wrong_arguments(info.schema, arguments)
    if not wrong:
        return ""
    properties = info.schema.get("properties")
    known = ", ".join(properties) if isinstance(properties, dict) and properties else "nothing"
    return f"The arguments of {info.name} do not fit: {'; '.join(wrong)}. It takes: {known}."
