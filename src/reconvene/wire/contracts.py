"""Whether a value fits a JSON Schema, in words for whoever must do better. Imports nothing of the package: the helper
process (`adapters/guest`) loads this file by its path.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False  # as in typing, which is slow to import
if TYPE_CHECKING:
    from typing import Any

MOST_PARTS = 2_000  # of one schema
_MAX_PROBLEMS = 8
# What can cost more than the product of the sizes of schema and value: backtracking, recursion, comparing all with all.
_COSTLY = frozenset(
    ("pattern", "patternProperties", "$ref", "$dynamicRef", "$recursiveRef", "uniqueItems", "unevaluatedProperties")
    + ("unevaluatedItems",)
)
_MOST_STEPS = 50_000
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_LISTS = ("enum", "const", "default", "examples", "required")  # what stands in them is data, not schema


def is_cheap(schema: object, value: object) -> bool:
    """Whether checking this cannot take long, whatever the value holds."""
    return not any(key in _COSTLY for key, _ in _keys(schema)) and _size(schema) * _size(value) <= _MOST_STEPS


def wrong_with(schema: object) -> str:
    """Why this is no schema that can be used, as a sentence; "" where it is one."""
    from jsonschema import Draft202012Validator, SchemaError

    if _size(schema) > MOST_PARTS:
        return f"it has more than {MOST_PARTS} parts"
    for key, found in _keys(schema):
        if key in _REFERENCES and not str(found).startswith("#"):
            return f"'{key}: {str(found)[:80]}' points out of it; only its own parts can be used, such as #/$defs/name"
        if found is None and key not in ("const", "default"):
            return f"'{key[:80]}' stands there as a key with nothing behind it (a text with a comma stands in quotes)"
        for pattern in [found] if key == "pattern" else found if key == "patternProperties" else ():
            if wrong := _wrong_pattern(pattern):
                return wrong
    try:
        Draft202012Validator.check_schema(schema)  # type: ignore[arg-type]
    except SchemaError as error:
        return error.message
    except RecursionError:
        return "it is nested too deeply"
    if around := _in_a_circle(schema):
        return f"'$ref: {around}' leads back to itself before any part of the value is reached"
    return ""


def _in_a_circle(schema: object) -> str:
    """A reference that comes back to where it stands without going into a part of the value, "" where there is none.

    Every object in the schema is visited once: `open` are those on the way from where the walk began."""
    done: set[int] = set()
    starts = [schema]
    while starts:
        start = starts.pop()
        starts += start.values() if isinstance(start, dict) else start if isinstance(start, list) else ()
        open: list[int] = []
        waiting: list[tuple[object, str] | None] = [(start, "")]
        while waiting:
            step = waiting.pop()
            if step is None:  # all that follows the last one is seen
                done.add(open.pop())
                continue
            each, by = step
            if not isinstance(each, dict) or id(each) in done:
                continue
            if id(each) in open:
                return by
            open.append(id(each))
            # These look at the same value; `allOf` and its like are lists of such schemas.
            parts = [each.get(key) for key in _IN_PLACE]
            inner = [one for part in parts for one in (part if isinstance(part, list) else [part])]
            waiting += [None, *((part, by) for part in inner)]
            if isinstance(refers := each.get("$ref"), str):
                waiting.append((_pointed_at(schema, refers), refers))
    return ""


def _pointed_at(schema: object, reference: str) -> object:
    found = schema
    for word in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        found = found.get(word) if isinstance(found, dict) else None
    return found


def _wrong_pattern(pattern: object) -> str:
    import re

    try:
        re.compile(str(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        return f"the pattern '{str(pattern)[:80]}' cannot be read: {error}"
    return ""


def _keys(schema: object) -> list[tuple[str, Any]]:
    """Every key of every object in it that may be a keyword, with what stands there."""
    objects = [each for each in _parts(schema, _LISTS) if isinstance(each, dict)]
    return [(str(key), part) for each in objects for key, part in each.items()]


def _size(value: object) -> int:
    """Parts of it, long texts by their length."""
    return sum(1 + (len(each) // 1000 if isinstance(each, str) else 0) for each in _parts(value))


def _parts(value: object, left_out: tuple[str, ...] = ()) -> list[Any]:
    """The value and all that it holds, but for what stands under these keys."""
    found, waiting = [], [value]
    while waiting:
        found.append(each := waiting.pop())
        if isinstance(each, dict):
            waiting += [part for key, part in each.items() if key not in left_out]
        elif isinstance(each, list | tuple):
            waiting += each
    return found


WHOLE = "the reply"  # as a problem calls what was given, where it is with no part of it


def problems(schema: object, value: object) -> list[str]:
    """What is wrong with a value, in plain words; [] = it fits. A schema that is itself wrong is a problem too."""
    from jsonschema import exceptions, validators
    from referencing import Registry

    if not isinstance(schema, dict):
        return [f"the output contract is not a JSON Schema (it is {_kind(schema)})"]
    kind: Any = validators.validator_for(schema, default=validators.validator_for({}))
    try:
        kind.check_schema(schema)
        # An empty registry: nothing is ever fetched.
        found = kind(schema, registry=Registry()).iter_errors(value)
        errors = sorted(found, key=lambda error: [str(part) for part in error.absolute_path])
    except exceptions.SchemaError as error:
        return [f"the output contract is not a valid JSON Schema: {error.message}"]
    except Exception as error:  # an unresolvable $ref, a bad pattern: the schema's fault, and it has many types
        return [f"the output contract cannot be used: {str(error) or type(error).__name__}"]
    told = list(dict.fromkeys(map(_in_words, errors)))  # each missing key is an error, which names all of them
    if len(told) > _MAX_PROBLEMS:
        told[_MAX_PROBLEMS:] = [f"and {len(told) - _MAX_PROBLEMS} more"]
    return told


def _in_words(error: Any) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    at = where or WHOLE
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            names = " and ".join(repr(str(name)) for name in missing)
            return f"{at}: {names} {'is' if len(missing) == 1 else 'are'} missing"
        case "type":
            types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
            wanted = " or ".join(_NAMES.get(str(name), str(name)) for name in types)
            return f"{at} should be {wanted}, not {_kind(error.instance)}"
        case "enum":
            choices = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in error.validator_value)
            return f"{at} is {_shown(error.instance)}; it should be one of {choices}"
        case "additionalProperties":
            return f"{at}: {error.message[0].lower()}{error.message[1:]}"
        case _:
            return f"{at}: {_shorten(error.message)}"


_NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
_TYPES = {dict: "object", list: "array", tuple: "array", str: "string", int: "number", float: "number", bool: "boolean"}


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return _NAMES[_TYPES[type(value)]] if type(value) in _TYPES else type(value).__name__


def _shown(value: object) -> str:
    return _shorten(json.dumps(value, ensure_ascii=False, default=str))


def _shorten(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
