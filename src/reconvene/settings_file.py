"""`reconvene.toml`: who carries agents out where nobody says so, and a few other defaults.

The project's is found as the home is: in the current folder, else in the nearest one above. The person's own lies in
their configuration. What the command line says counts before the project's file, and that before the person's own.
Reads and checks; what a file that was found may start is a question for `trust.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.definition.bindings import EVERYONE, Binding, runs
from reconvene.errors import Problem, Refused, UserError, WorkflowError
from reconvene.home import require_own, settings_files, user_file
from reconvene.language.closest import closest
from reconvene.notify_settings import Notify, read_notify
from reconvene.settings import LIMITS

_OF_THE_PERSON = {
    "by": "says who you are",
    "web_search": "names a program that you trust",
    "url": "says where links of messages lead",
}
_TEXTS = ("model", "gate_model", "feedback_model", "search_model", "companion_model", *_OF_THE_PERSON)
_TABLES = ("models", "agents", "settings", "sources", "projects", "notify", "limits")
_MOST_BYTES = 1_000_000


class Settings(Struct, frozen=True):
    """What one file says. `found`: it came with a project, and is not the person's own."""

    path: str
    found: bool
    bindings: tuple[Binding, ...] = ()
    by: str = ""
    gate_model: str = ""
    feedback_model: str = ""
    search_model: str = ""
    companion_model: str = ""
    web_search: str = ""  # a command line, to which what is looked for is added
    url: str = ""  # of the pages, as people reach them
    notify: Notify = Notify()
    settings: dict[str, object] = {}  # of workflows, by name: "planning.interactive"
    lines: dict[str, int] = {}  # of each of them
    sources: dict[str, str] = {}  # name → address, of data that a server may give to runs
    projects: dict[str, str] = {}  # name → folder
    limits: dict[str, int] = {}  # by the names of settings.LIMITS


def in_force() -> list[Settings]:
    """The person's own, then the project's: the later counts before the earlier. UserError where one is wrong."""
    return [read(path, found=found) for path, found in settings_files()]


def by() -> str:
    """Who the person's own file says they are."""
    return read(user_file(), found=False).by if os.path.lexists(user_file()) else ""


def web_search() -> str:
    """The program with which the person's own file lets the web be searched; "" = none."""
    return read(user_file(), found=False).web_search if os.path.lexists(user_file()) else ""


def read(path: str, *, found: bool) -> Settings:
    import tomllib

    require_own(path, f"the settings file {path}", f'make it yours: chown "$USER" {quote(path)}')
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8")
        data = tomllib.loads(text)
    except UnicodeDecodeError:
        raise UserError(f"{path}: this is not UTF-8 text", hint="save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        hint = 'texts stand in quotes, as in model = "ollama:qwen3"; docs/language.md says what it may hold'
        raise UserError(_with_line(path, str(error)), hint=hint) from None
    return _Reading(path, text, found).read(data)


def _with_line(path: str, said: str) -> str:
    """tomllib's own words, with the line where every message of ours has it."""
    match = re.search(r" \(at line (\d+), column \d+\)$", said)
    return f"{path}:{match[1]}: {said[: match.start()]}" if match else f"{path}: {said}"


class _Reading:
    """One file; every problem at once, with its line."""

    def __init__(self, path: str, text: str, found: bool) -> None:
        self._path = path
        self._lines = text.split("\n")
        self._found = found
        self._problems: list[Problem] = []

    def read(self, data: Mapping[str, object]) -> Settings:
        for key in data:
            if key not in (*_TEXTS, *_TABLES):
                near = closest(key, [*_TEXTS, *_TABLES], 1)
                known = f"known are {', '.join((*_TEXTS, *_TABLES))}"
                self._add("", key, f"there is no setting {key!r}", f"did you mean {near[0]}?" if near else known)
        texts = {key: self._text("", key, data[key]) for key in _TEXTS if key in data}
        for key, why in _OF_THE_PERSON.items():
            if self._found and key in data:
                self._add("", key, f"{key!r} {why}: a project cannot", f"write it into {user_file()}")
        bindings = []
        if model := texts.get("model"):
            bindings.append(self._binding("", "model", lambda: Binding(EVERYONE, model=model, fallback=True)))
        bindings += self._table(data, "models", lambda name, said: Binding(name, model=said))
        bindings += self._table(data, "agents", lambda name, said: runs(said, name))
        settings = self._settings(data.get("settings", {}))
        sources, projects = (self._places(data.get(table, {}), table) for table in ("sources", "projects"))
        limits = self._limits(data.get("limits", {}))
        notify = read_notify(data.get("notify", {}), self._add, found=self._found, own=user_file())
        if self._problems:
            raise WorkflowError(self._problems)
        rest = {key: texts.get(key, "") for key in _TEXTS if key != "model"}
        bound = tuple(one for one in bindings if one is not None)
        lines = {name: self._line_of_setting(*name.partition(".")) for name in settings}
        return Settings(
            self._path,
            self._found,
            bound,
            **rest,
            settings=settings,
            lines=lines,
            sources=sources,
            projects=projects,
            notify=notify,
            limits=limits,
        )

    def _settings(self, given: object) -> dict[str, object]:
        """A table in it is a group: `planning.interactive = true`."""
        if not isinstance(given, dict):
            self._add("", "settings", "'settings' should be a table", "write [settings] and then NAME = …")
            return {}
        found: dict[str, object] = {}
        for name, value in given.items():
            found |= {f"{name}.{own}": one for own, one in value.items()} if isinstance(value, dict) else {name: value}
        return found

    def _places(self, given: object, table: str) -> dict[str, str]:
        """A path is meant from the file on. One that came with a project names nothing outside of its folder."""
        if not isinstance(given, dict):
            self._add("", table, f"{table!r} should be a table", f'as in [{table}] and then NAME = "…"')
            return {}
        folder, found = os.path.dirname(os.path.abspath(self._path)), dict[str, str]()
        for name, value in given.items():
            said = self._text(table, name, value)
            where = said if "://" in said else os.path.normpath(os.path.join(folder, os.path.expanduser(said)))
            if self._found and os.path.commonpath([os.path.realpath(where), os.path.realpath(folder)]) != folder:
                self._add(table, name, f"{name!r} is not below {folder}", f"write it into {user_file()}")
            found[name] = where
        return found

    def _limits(self, given: object) -> dict[str, int]:
        if not isinstance(given, dict):
            self._add("", "limits", "'limits' should be a table", "write [limits] and then NAME = …")
            return {}
        found: dict[str, int] = {}
        for name, value in given.items():
            limit = LIMITS.get(name)
            if limit is None:
                near = closest(name, list(LIMITS), 1)
                known = f"known are {', '.join(LIMITS)}"
                self._add("limits", name, f"there is no limit {name!r}", f"did you mean {near[0]}?" if near else known)
            elif type(value) is not int or not limit.least <= value <= limit.most:
                said = f"{name!r} should be a {limit.what} from {limit.least} to {limit.most}"
                self._add("limits", name, said, f"as in {name} = {limit.usual}")
            else:
                found[name] = value
        return found

    def _line_of_setting(self, group: str, dot: str, own: str) -> int:
        """It may stand in [settings], in a table of its group, or within braces."""
        ways = [("settings", f"{group}{dot}{own}"), (f"settings.{group}", own), ("settings", group)]
        return max(self._line(table, key) for table, key in ways if key)

    def _table(
        self, data: Mapping[str, object], table: str, make: Callable[[str, str], Binding]
    ) -> list[Binding | None]:
        found = data.get(table, {})
        if not isinstance(found, dict):
            self._add("", table, f"{table!r} should be a table", f'as in [{table}] and then NAME = "…"')
            return []
        said = {name: self._text(table, name, value) for name, value in found.items()}
        return [
            self._binding(table, name, lambda name=name, text=text: make(name, text))  # type: ignore[misc]
            for name, text in said.items()
            if text
        ]

    def _binding(self, table: str, key: str, make: Callable[[], Binding]) -> Binding | None:
        try:
            return replace(make(), source=f"{self._path}:{self._line(table, key)}")
        except Refused as error:
            self._add(table, key, error.message, error.hint)
            return None

    def _text(self, table: str, key: str, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            self._add(table, key, f"{key!r} should be a text", f'as in {key} = "…"')
            return ""
        return value.strip()

    def _add(self, table: str, key: str, message: str, hint: str = "") -> None:
        self._problems.append(Problem(self._path, self._line(table, key), message, hint))

    def _line(self, table: str, key: str) -> int:
        """Where the key stands; tomllib does not tell."""
        inside, word = "", rf"""["']?{re.escape(key)}["']?"""
        dotted = rf"\s*{table}\s*(\.\s*{word}\s*=|=.*\b{re.escape(key)}\b)" if table else "(?!)"
        for number, line in enumerate(self._lines, start=1):
            if head := re.match(r"\s*\[\s*([^\]]*?)\s*\]", line):
                inside = head[1].strip("\"'")
                if not table and inside == key:
                    return number
            elif (inside == table and re.match(rf"\s*{word}\s*=", line)) or (not inside and re.match(dotted, line)):
                return number
        return 1
