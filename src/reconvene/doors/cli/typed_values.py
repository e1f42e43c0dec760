"""What was typed as `name=value` or `name=@file`, made into the values that inputs, settings and fields ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from reconvene.doors.cli.text import nearest
from reconvene.doors.shared.fields import answer_in, typed
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Field
    from reconvene.core.definition.run_inputs import Values
    from reconvene.core.definition.workflow import Input, Workflow
    from reconvene.core.facts.commands import Answers

_MOST_LOOKED = 1000  # names of a folder
_SEVERAL = ("files", "documents", "sources")  # given again, they are added
_ALWAYS = "feature"  # the one input that a workflow need not declare
_EXAMPLES = {"bool": "true", "number": "3", "text": '"a text"'}
_LARGEST = 20_000_000  # bytes; an input is pinned with its run, so a slip of the finger should not fill the disk


def read_inputs(workflow: Workflow, pairs: Iterable[str]) -> Values:
    """The inputs given, by name. Whether a required one is missing is asked separately (`missing_inputs`)."""
    from reconvene.core.definition.workflow import Input

    values: Values = {}
    named: Values = {}
    seen: set[str] = set()

    def take(name: str, text: str) -> None:
        spec = workflow.inputs.get(name) or Input()
        if name in seen and spec.type not in _SEVERAL:
            raise UserError(f"input {name!r} is given twice", hint="give it once")
        seen.add(name)
        value = input_value(name, spec, text)
        before = values.get(name)
        values[name] = _together(before, value) if isinstance(before, list) and isinstance(value, list) else value
        beside = f"{name}_name"  # a workflow that wants to know what the file is called declares this
        if spec.type == "file" and beside in workflow.inputs and beside not in values:
            named[beside] = Path(text.removeprefix("@")).stem

    _each(pairs, "input", [*workflow.inputs, _ALWAYS], workflow.inputs, take)
    return {**named, **values}


def _together(before: list[object], more: list[object]) -> list[object]:
    """Both. What has the name of one that is there already gets another: each can be named."""
    every = [*before]
    for one in more:
        taken = {other["name"] for other in every if isinstance(other, dict)}
        if isinstance(one, dict) and one["name"] in taken:
            name = next(new for n in count(2) if (new := f"{n}-{one['name']}") not in taken)
            told = f"It is called {name} here: another {one['name']} was given before it."
            one = {**one, "name": name, "notes": [*one.get("notes", ()), told]}
        every.append(one)
    return every


def missing_inputs(workflow: Workflow, given: Mapping[str, object]) -> list[str]:
    """Those that are needed. A text of nothing but blanks is not given."""
    needed = {name: spec for name, spec in workflow.inputs.items() if spec.required and spec.default is None}
    blank = {name for name, spec in needed.items() if spec.type == "text" and not str(given.get(name, "")).strip()}
    return [name for name in needed if name in blank or name not in given]


def input_value(name: str, spec: Input, text: str) -> object:
    """One value in the type the workflow asks for."""
    path = text.removeprefix("@")
    match spec.type:
        case "file":
            return read_text(name, Path(path))
        case "files":
            return [{"name": Path(one).name, "text": read_text(name, Path(one))} for one in path.split(os.pathsep)]
        case "documents":
            from msgspec import to_builtins

            from reconvene.materials import documents

            return to_builtins(documents(path, os.environ))
        case "sources":
            from reconvene.materials import source

            return [source(text, os.environ)]
        case "project":
            from reconvene.app.run_values import project_folder

            return project_folder(name, path)
        case "folder":
            return _read_folder(name, Path(path))
        case _:
            written = read_text(name, Path(path)) if text.startswith("@") else text
            return typed(f"input {name!r}", spec.type, written)


def read_settings(workflow: Workflow, pairs: Iterable[str]) -> Values:
    pairs = list(pairs)
    if "auto=true" in pairs and "auto" not in workflow.settings:
        what = f"{workflow.name} cannot go on by itself: it has no setting 'auto'"
        raise UserError(what, hint="leave out --auto; to decide beforehand: --answers FILE")
    values: Values = {}

    def take(name: str, text: str) -> None:
        values[name] = typed(f"setting {name!r}", workflow.settings[name].type, text)

    _each(pairs, "setting", workflow.settings, workflow.settings, take)
    return values


def settings_of_files(workflow: Workflow) -> Values:
    """What `reconvene.toml` says of the settings that this workflow has; the project's file counts before one's own."""
    from reconvene.settings_file import in_force

    values: Values = {}
    for file in in_force():
        for name in [name for name in file.settings if name in workflow.settings]:
            value, kind = file.settings[name], workflow.settings[name].type
            number = isinstance(value, int | float) and not isinstance(value, bool)
            fits = {"bool": isinstance(value, bool), "number": number, "text": isinstance(value, str)}
            if not fits.get(kind, True):
                where = f"{file.path}:{file.lines.get(name, 1)}"
                raise UserError(f"{where}: the setting {name!r} takes a {kind}", hint=f"as in {_EXAMPLES[kind]}")
            values[name] = value
    return values


def read_fields(fields: Mapping[str, Field], pairs: Iterable[str]) -> Answers:
    """`--field id=value` → answers in the fields' own types. `id=@file` reads a file."""
    answers: Answers = {}

    def take(name: str, text: str) -> None:
        file = text.startswith("@") and fields[name].type != "agents"
        answers[name] = answer_in(fields[name], read_text(name, Path(text[1:])) if file else text)

    _each(pairs, "field", fields, fields, take)
    return answers


def read_text(name: str, path: Path) -> str:
    try:
        if path.is_dir():
            raise UserError(f"{name!r}: {path} is a folder, not a file", hint=f"name a file in it: {_in_folder(path)}")
        if path.is_file() and path.stat().st_size > _LARGEST:
            raise UserError(
                f"{name!r}: {path} is larger than {_LARGEST // 1_000_000} MB", hint="give the part of it that matters"
            )
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        there = isinstance(error, FileNotFoundError)
        why = "there is no such file" if there else f"it cannot be read: {error.strerror or error}"
        raise UserError(f"{name!r}: {path}: {why}", hint=_near(path) if there else "") from None
    except UnicodeDecodeError as error:
        at = bytes(error.object).count(b"\n", 0, error.start) + 1
        hint = "give a text file; one that is, save as UTF-8"
        raise UserError(f"{name!r}: {path}, line {at}, is not UTF-8 text", hint=hint) from None
    except ValueError:
        raise UserError(f"{name!r}: {str(path)!r} cannot be the name of a file") from None


def _near(path: Path) -> str:
    """A file of a similar name in the same folder."""
    from reconvene.language.closest import closest

    try:
        found = closest(path.name, [one.name for one in islice(path.parent.iterdir(), _MOST_LOOKED) if one.is_file()])
    except OSError:
        return f"there is no folder {path.parent} either"
    return f"did you mean {path.parent / found[0]}?" if found else f"see what there is: ls {path.parent}"


def _in_folder(path: Path) -> str:
    names = sorted(one.name for one in islice(path.iterdir(), _MOST_LOOKED) if one.is_file() and one.name[0] != ".")
    return str(path / names[0]) if len(names) == 1 else f"ls {path}"


def _read_folder(name: str, root: Path) -> list[dict[str, str]]:
    """Every text in a folder, by its path in it. Hidden files and symbolic links stay out."""
    if not root.is_dir():
        raise UserError(f"{name!r}: {root} is not a folder")
    files: list[dict[str, str]] = []
    total = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for one in sorted(names):
            path = Path(folder, one)
            if one.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            text = read_text(name, path)
            total += len(text)
            if total > _LARGEST:
                raise UserError(f"{name!r}: the folder holds more than {_LARGEST // 1_000_000} MB of text")
            files.append({"name": path.relative_to(root).as_posix(), "text": text})
    return files


def _each(
    pairs: Iterable[str], kind: str, known: Iterable[str], told: Iterable[str], take: Callable[[str, str], None]
) -> None:
    """Each pair as name and value, the name one of those known. What is wrong with any of them is said at once.

    `told`: the names that may be suggested."""
    names, wrong = set(known), list[UserError]()
    for pair in pairs:
        try:
            name, text = split_pair(pair, "--set" if kind == "setting" else f"--{kind}")
            if name not in names:
                hint = nearest(name, told) or f"there is no {kind} at all here"
                raise UserError(f"there is no {kind} {name!r}", hint=hint)
            take(name, text)
        except UserError as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        lines = [f"  {one.message}" + (f" ({one.hint})" if one.hint else "") for one in wrong]
        raise UserError("\n".join([f"{len(wrong)} of the {kind}s are wrong:", *lines]), hint="put all of them right")


def split_pair(text: str, option: str) -> tuple[str, str]:
    """`name=value` → both."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UserError(f"{option} {text!r} is not name=value", hint=f"write {option} name=value")
    return name.strip(), value
