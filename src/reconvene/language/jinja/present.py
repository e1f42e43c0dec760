"""`present`: any value as Markdown that a person can read, so that nobody is shown JSON.

One job: from plain data to text. Knows the words in which agents commonly name a heading, a text, a recommendation;
nothing of workflows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_HEADINGS = ("title", "name", "label", "question")
_TEXTS = ("reply", "message", "text", "description", "summary", "reasoning", "content", "body")
_MARKS = ("recommended",)
_WHOLE = ("list", "items")  # names that only say what one sees
_FIRST = ("level", "pros", "cons")  # parts that are read in this order, before the others
_DEEPEST = 8
_WORDS = re.compile(r"[_\s-]+|(?<=[a-z0-9])(?=[A-Z])")


def present(value: object, heading: int = 0) -> str:
    """Texts as they are, lists as lists, objects as a heading, its text and its other parts by name.

    `heading`: the level of Markdown headings for titles; 0 sets them in bold."""
    return "\n".join(_lines(value, max(0, min(heading, 6)), 0)).strip("\n")


def _lines(value: object, heading: int, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        yield "…"
    elif isinstance(value, Mapping):
        yield from _object(value, heading, depth)
    elif isinstance(value, list | tuple):
        yield from _list(value, depth)
    else:
        yield from _plain(value).split("\n")


def _list(items: list[object] | tuple[object, ...], depth: int) -> Iterator[str]:
    numbered = any(isinstance(item, Mapping) for item in items)
    for number, item in enumerate(items, 1):
        mark = f"{number}. " if numbered else "- "
        first, *rest = list(_lines(item, 0, depth + 1)) or [""]
        yield f"{mark}{first}"
        yield from (f"{' ' * len(mark)}{line}".rstrip() for line in rest)


def _object(value: Mapping[object, object], heading: int, depth: int) -> Iterator[str]:
    keys = [str(key) for key in value]
    data = {str(key): part for key, part in value.items()}
    title = next((key for key in _HEADINGS if _is_text(data.get(key))), "")
    if not title and _is_text(data.get("id")):
        title = next((key for key in _TEXTS if _is_text(data.get(key)) and "\n" not in str(data[key])), "id")
    marks = [mark for mark in _MARKS if data.get(mark) is True]
    marks = [*([_plain(data["id"])] if title not in ("", "id") and _is_text(data.get("id")) else []), *marks]
    if title:
        words = " ".join(_plain(data[title]).split())
        aside = f" ({', '.join(marks)})" if marks else ""
        yield f"{'#' * heading} {words}{aside}" if heading else f"**{words}**{aside}"
    texts = [key for key in _TEXTS if key != title and _is_text(data.get(key))]
    named = [key for key in keys if key not in (title, "id", *texts) and not (key in _MARKS and data[key] is True)]
    named = [key for key in named if data[key] not in (None, "", [], {})]
    named.sort(key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))
    single = [key for key in named if not isinstance(data[key], Mapping | list | tuple)]
    for key in [*(single if not title else ()), *texts, *(single if title else ())]:
        yield ""
        yield from (_plain(data[key]) if key in texts else f"{_humanly(key)}: {_plain(data[key])}").strip().split("\n")
    for key in named:
        if key not in single:
            yield ""
            if key not in _WHOLE and _humanly(key):
                yield f"{_humanly(key)}:"
                yield ""
            yield from _lines(data[key], 0, depth + 1)


def _is_text(value: object) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (isinstance(value, int) and not isinstance(value, bool))


def _plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
    return str(value)


def _humanly(key: str) -> str:
    """suggestedSkips, suggested_skips → Suggested skips"""
    words = [word for word in _WORDS.split(key) if word]
    return " ".join([words[0].capitalize(), *(word.lower() for word in words[1:])]) if words else key
