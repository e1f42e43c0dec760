"""Templates: text with `{{ names }}` in it, for prompts, paths and documents.

One job: from template and scope to text. Most templates are plain look-ups and are filled in here; the others go to
Jinja, which is only then imported. Both ways give the same text. It must not know what the names in a scope mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import ModuleType

from reconvene.errors import ReconveneError
from reconvene.language.as_text import CAP, shown

__all__ = ["Spans", "TemplateError", "check", "filled_lines", "look_ups", "names", "render"]

_TAG = re.compile(r"\{\{\s*([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\s*\}\}|\{[{%#]", re.ASCII)
_NEWLINE = re.compile(r"\r\n|\r")
# Words that mean something to Jinja itself.
_RESERVED = frozenset(
    ("true", "false", "none", "True", "False", "None", "not", "and", "or", "if", "else", "in", "is", "self", "range",
     "dict", "namespace", "joiner", "cycler", "loop", "caller", "super", "varargs", "kwargs")
)  # fmt: skip


Spans = tuple[tuple[int, int], ...]  # lines of a text: from the first, counted from 0, to before the second


class TemplateError(ReconveneError):
    """A template that cannot be filled in. `line` is the template's own, 0 when it is not known."""

    def __init__(self, message: str, *, line: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.line = line


def render(template: str, scope: Mapping[str, object], *, loader: Mapping[str, str] | None = None) -> str:
    """`template` filled in from `scope`; `loader` holds the templates it may include, by name."""
    parts = _plain(template)
    text = None if parts is None else _filled(parts, scope)
    if text is None:
        text = _rendered(template, scope, loader or {})
    return text if _storable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def filled_lines(
    template: str,
    scope: Mapping[str, object],
    text: str,
    own: Iterable[str] = (),
    *,
    loader: Mapping[str, str] | None = None,
) -> Spans:
    """The lines of `text`, which `render` gave, that hold a text from the scope, and not only the template's words.

    `own`: what these names hold does not count, and neither do numbers. Where it cannot be told: all lines."""
    parts = _plain(template)
    if parts is not None and len(parts) == 1:
        return ()
    made = list(_looked_up(parts, scope, frozenset(own)) if parts else _signed(template, scope, own, loader or {}))
    if "".join(part for part, _ in made) != text:
        return ((0, text.count("\n") + 1),)
    return tuple(_spans(made))


def _looked_up(
    parts: tuple[str | tuple[str, ...], ...], scope: Mapping[str, object], own: frozenset[str]
) -> Iterator[tuple[str, bool]]:
    for part in parts:
        value = part if isinstance(part, str) else _look_up(part, scope)
        filled = not isinstance(part, str) and part[0] not in own and isinstance(value, str | Mapping | list | tuple)
        yield ("" if value is _NOT_THERE else shown(value)), filled


def _signed(
    template: str, scope: Mapping[str, object], own: Iterable[str], loader: Mapping[str, str]
) -> Iterable[tuple[str, bool]]:
    sandbox = _jinja()
    texts = frozenset(text for name in own if name in scope for text in _texts(scope[name]))
    try:
        made: list[tuple[str, bool]] = sandbox.parts(template, scope, loader, texts)
        return made
    except sandbox.Failure:
        return ()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _spans(parts: Iterable[tuple[str, bool]]) -> Iterator[tuple[int, int]]:
    line, begun = 0, (-1, -1)
    for part, filled in parts:
        inner = part.strip("\n")
        if filled and inner:
            first = line + len(part) - len(part.lstrip("\n"))
            found = (first, first + inner.count("\n") + 1)
            if found[0] <= begun[1]:
                found = (begun[0], found[1])
            elif begun[1] >= 0:
                yield begun
            begun = found
        line += part.count("\n")
    if begun[1] >= 0:
        yield begun


def names(template: str, *, loader: Mapping[str, str] | None = None) -> set[str]:
    """The top-level names that `template` (and what it includes from `loader`) takes from its scope."""
    parts = _plain(template)
    if parts is not None:
        return {path[0] for path in parts[1::2]}
    found: set[str] = _jinja().names(template, loader or {})
    return found


def look_ups(template: str) -> list[tuple[int, tuple[str, ...]]] | None:
    """The line and path of every `{{ a.b.c }}`; None when the template takes more than look-ups."""
    if _plain(template) is None:
        return None
    tags = _TAG.finditer(template)
    return [(template.count("\n", 0, tag.start()) + 1, tuple(tag[1].split("."))) for tag in tags]


def check(template: str) -> tuple[int, str] | None:
    """The line and nature of a syntax problem, None when there is none."""
    if _plain(template) is not None:
        return None
    found: tuple[int, str] | None = _jinja().problem(template)
    return found


@lru_cache(maxsize=1024)
def _plain(template: str) -> tuple[str | tuple[str, ...], ...] | None:
    """Text and paths in turn, text first and last; None when it takes more than look-ups."""
    parts: list[str | tuple[str, ...]] = []
    at = 0
    for tag in _TAG.finditer(template):
        path = tuple((tag[1] or "").split("."))
        if path[0] in _RESERVED or not path[0]:
            return None
        parts += (template[at : tag.start()], path)
        at = tag.end()
    parts.append(template[at:])
    if len(parts) == 1:
        return tuple(parts)
    # Jinja knows one kind of line end; text without tags never gets there and stays as it is.
    return tuple(_NEWLINE.sub("\n", part) if isinstance(part, str) else part for part in parts)


_NOT_THERE = object()


def _filled(parts: tuple[str | tuple[str, ...], ...], scope: Mapping[str, object]) -> str | None:
    """None when anything is unusual: the slow way then finds the right words for it."""
    if len(parts) == 1:
        return str(parts[0])
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        value = _look_up(part, scope)
        if value is _NOT_THERE:
            return None
        texts.append(shown(value))
    return "".join(texts) if sum(map(len, texts)) <= CAP else None


def _look_up(path: tuple[str, ...], scope: object) -> object:
    value = scope
    for name in path:
        if value is None:  # not written yet: so are its parts
            return None
        if not isinstance(value, Mapping) or name not in value:
            return _NOT_THERE
        value = value[name]
    return value if value is None or isinstance(value, str | int | float | Mapping | list | tuple) else _NOT_THERE


def _rendered(template: str, scope: Mapping[str, object], loader: Mapping[str, str]) -> str:
    sandbox = _jinja()
    try:
        text: str = sandbox.render(template, scope, loader)
        return text
    except sandbox.Failure as failure:
        inside = failure.name not in (None, sandbox.MAIN)
        place = f"line {failure.line}" + (f" of {failure.name}" if inside else "") if failure.line else ""
        raise TemplateError(f"{place}: {failure}" if place else str(failure), line=failure.line) from None


def _jinja() -> ModuleType:
    """Loaded for the first template that needs it: that takes longer than everything else in a decision."""
    from reconvene.language.jinja import environment as sandbox

    return sandbox


def _storable(text: str) -> bool:
    """Whether `text` can be written as UTF-8 (half of a surrogate pair cannot)."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
