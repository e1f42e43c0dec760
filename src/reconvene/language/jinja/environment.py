"""The Jinja environment of our templates: closed, counted, strict.

One job: run a template that is more than plain look-ups. Whatever a template writes, it reads plain data only, and
whatever it does is counted (`budget`). Loaded only when such a template is met, since Jinja is slow to import. It must
not know what the names in a scope mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, wraps
from itertools import islice
from types import CodeType, TracebackType
from typing import cast

from jinja2 import StrictUndefined, Template, TemplateNotFound, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.loaders import BaseLoader
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import pass_context

from reconvene.language.as_text import CAP, METHODS, Growing, Null, TemplateLimit, is_null, shown
from reconvene.language.jinja import budget, signs
from reconvene.language.jinja.budget import Generator
from reconvene.language.jinja.filters import FILTERS, OF_NULL, OF_SOME, from_null, method_of_null, nearest
from reconvene.language.jinja.plain_words import plain_words

# Jinja's own that are kept, beside FILTERS.
_FILTERS = (
    "abs", "attr", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "filesizeformat", "first", "float",
    "groupby", "int", "items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr",
    "reverse", "select", "selectattr", "sort", "title", "trim", "truncate", "unique", "upper", "urlencode", "wordcount",
)  # fmt: skip
_Filter = Callable[..., object]


class Failure(Exception):
    """A rendering that failed, in plain words. `line` 0 = not known, `name` = the template it happened in."""

    def __init__(self, message: str, line: int = 0, name: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.name = name


class _Missing(StrictUndefined):
    """Says which name would have been there."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        name, owner = str(self._undefined_name), self._undefined_obj
        if isinstance(owner, Mapping):
            return f"'{name}' is not there{nearest(name, map(str, owner))}"
        if isinstance(owner, list | tuple | str):
            return f"'{name}' is not there: the value before it is a {'text' if isinstance(owner, str) else 'list'}"
        return f"'{name}' is not known here"


class _Null(Null, Undefined):  # type: ignore[misc]  # which refuses to be put in an order
    """A part of a value that is null: as null, and not there. Reckoning with it says so."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        return f"'{self._undefined_name}' is missing: what stands before it is empty"


class _Environment(ImmutableSandboxedEnvironment):
    code_generator_class = Generator
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, signed: bool) -> None:
        super().__init__(
            autoescape=False,
            keep_trailing_newline=True,
            undefined=_Missing,
            finalize=_late,
            optimized=False,  # nothing of a template runs before it is rendered
            cache_size=0,
        )
        self.steps = 0
        self.text = 0
        self.signed = signed  # whether what is filled in stands between two signs
        self.own: frozenset[str] = frozenset()  # texts that are never signed
        self.globals = {name: self.globals[name] for name in ("dict", "namespace", "joiner", "cycler")}
        self.globals["range"] = _range
        filters: dict[str, _Filter] = {name: cast(_Filter, self.filters[name]) for name in _FILTERS}
        filters |= FILTERS
        filters |= {name: _or_null(filters[name]) for name in OF_SOME}
        filters |= {name: from_null(filters[name], empty) for name, empty in OF_NULL.items()}
        self.filters = {name: budget.charged("filter", name, each) for name, each in filters.items()}
        self.filters |= budget.OWN
        self.filters[signs.NAME] = signs.signed
        tests = cast(dict[str, _Filter], self.tests) | {"none": is_null}
        self.tests = {name: budget.charged("test", name, each) for name, each in tests.items()}

    def spend(self, steps: int, text: int) -> None:
        self.steps += steps
        self.text += text
        if self.steps > budget.STEPS:
            raise TemplateLimit(f"the template takes more than {budget.STEPS} steps")
        if self.text > budget.TEXT:
            raise TemplateLimit(f"the template makes more than {budget.TEXT // 1_000_000} MB of text")

    def written(self, value: object) -> str:
        """A value as text, paid for."""
        if type(value) is str:
            text = value
        else:
            budget.pay_for(self, value)
            text = shown(value)
        self.text += len(text)
        if self.text > budget.TEXT:
            self.spend(0, 0)  # which says so
        return text

    def concatenate(self, parts: Iterable[object]) -> str:
        texts: list[str] = []
        for part in parts:
            budget.pay_for(self, part)
            texts.append(shown(part))
            self.spend(0, len(texts[-1]))
        return "".join(texts)

    def getattr(self, obj: object, attribute: str) -> object:
        if type(obj) is dict and attribute in obj and attribute[0] != "_":
            return obj[attribute]  # nearly always: a document lists hundreds of rows
        if attribute.startswith("_"):
            return self.unsafe_undefined(obj, attribute)
        if is_null(obj):
            return _Null(obj=None, name=attribute)
        if isinstance(obj, Mapping):
            # Data first: a key called `items` is that key.
            if attribute in obj:
                return cast(object, obj[attribute])
            if attribute not in METHODS["record"]:
                if isinstance(obj, Growing) and obj.is_to_come(attribute):
                    return _Null(obj=None, name=attribute)
                return self.undefined(obj=obj, name=attribute)
        return cast(object, super().getattr(obj, attribute))

    def getitem(self, obj: object, argument: object) -> object:
        coming = is_null(obj) or (isinstance(obj, Growing) and obj.is_to_come(argument))
        if coming and not str(argument).startswith("_"):
            return _Null(obj=None, name=str(argument))
        return cast(object, super().getitem(obj, argument))

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if isinstance(obj, str):
            return attr in METHODS["text"]
        if isinstance(obj, Mapping):
            return attr in METHODS["record"]
        if isinstance(obj, list | tuple | int | float | bytes) or obj is None:
            return attr in METHODS["list"]
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: object) -> Callable[..., str] | None:
        return None  # `format` is refused like any other attribute that is not listed

    def call(__self, __context: Context, __obj: object, *args: object, **kwargs: object) -> object:
        if isinstance(__obj, _Null) and (method := method_of_null(__obj._undefined_name)):
            return method(*args, **kwargs)
        given = budget.pay_for_call(__self, __obj, args)
        return cast(object, super().call(__context, __obj, *given, **kwargs))

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        _allow(operator, left, right)
        result: object = self.binop_table[operator](left, right)
        if isinstance(result, str | list):
            self.spend(0, len(result))
        return result

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if why := budget.too_large(source):
            raise _TooLarge(why, 1, name, filename)
        return super()._parse(source, name, filename)

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        tree = budget.charge(source)
        return super()._generate(signs.put_in(tree) if self.signed else tree, name, filename, defer_init)


def _range(*given: object) -> range:
    return safe_range(*(0 if is_null(each) else cast(int, each) for each in given))


def _or_null(filter: _Filter) -> _Filter:
    """A filter that picks one of several: of none it gives null."""

    @wraps(filter)
    def picked(*given: object, **named: object) -> object:
        found = filter(*given, **named)
        return None if isinstance(found, Undefined) else found

    return picked


def _allow(sign: str, left: object, right: object) -> None:
    """Refuses what would make a huge value in one step."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, str | list | tuple) and sign == "*" and isinstance(other, int) and len(one) * other > CAP:
            raise TemplateLimit(f"a text or list repeated {other} times is too long")
    if sign == "%" and isinstance(left, str):
        raise Failure("'%' does not format text here; join the parts with '~'")
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * (right if sign == "**" else 1) + (right.bit_length() if sign != "**" else 0)
        if bits > 14_000:  # Python writes out up to 4,300 digits
            raise TemplateLimit("a number grows too large")


@pass_context
def _late(context: Context, value: object) -> object:
    """Its wish for the context keeps Jinja from writing out constants before a template is rendered."""
    return value


class _Loader(BaseLoader):
    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources

    def load(self, environment: object, name: str, globals: object = None) -> Template:
        if name not in self.sources:
            raise TemplateNotFound(name, f"there is no template '{name}'{nearest(name, self.sources)}")
        return _template(cast(_Environment, environment), self.sources[name], name)


@lru_cache(maxsize=2)
def _environment(signed: bool = False) -> _Environment:
    return _Environment(signed)


@lru_cache(maxsize=1024)
def _code(source: str, name: str, signed: bool = False) -> CodeType:
    return _environment(signed).compile(source, name=name, filename=name)


def _template(environment: _Environment, source: str, name: str) -> Template:
    return Template.from_code(environment, _code(source, name, environment.signed), environment.globals)


MAIN = "<template>"
_AT_ONCE = 16  # parts of a text, between two looks at its length
# Python, which a template becomes, has limits of its own: brackets in brackets, loops in loops, digits of a number.
_FAILURES = {
    RecursionError: "templates include or call each other without end",
    SyntaxError: "it is nested too deeply",
    MemoryError: "it needs too much memory",
}
_TOO_DEEP = (RecursionError, SyntaxError, MemoryError, OverflowError, ValueError)


def render(
    source: str, scope: Mapping[str, object], loader: Mapping[str, str], *, own: frozenset[str] | None = None
) -> str:
    """Raises Failure for whatever goes wrong. `own`: what is filled in is signed, but for these texts."""
    environment = _environment(own is not None).overlay(loader=_Loader(loader))
    environment.steps = environment.text = 0
    environment.own = own or frozenset()
    try:
        template = _template(environment, source, MAIN)
        try:
            return _joined(template.root_render_func(template.new_context(dict(scope))))
        except Exception:
            environment.handle_exception()  # raises it again, with the lines of the template
    except Exception as error:
        raise _failure(error, scope, {MAIN, *loader}) from None


def parts(
    source: str, scope: Mapping[str, object], loader: Mapping[str, str], own: frozenset[str]
) -> list[tuple[str, bool]]:
    """What `render` gives, in parts, each with whether it was filled in; `own`: texts that do not count."""
    return list(signs.read(render(source, scope, loader, own=own)))


def _joined(made: Iterator[str]) -> str:
    parts: list[str] = []
    size = 0
    while some := list(islice(made, _AT_ONCE)):
        size += sum(map(len, some))
        if size > CAP:
            raise TemplateLimit(f"the text grows beyond {CAP // 1_000_000} MB")
        parts += some
    return "".join(parts)


def _failure(error: Exception, scope: Mapping[str, object], names: set[str]) -> Failure:
    if isinstance(error, TemplateSyntaxError):
        return Failure(_sentence(error), error.lineno, error.name)
    name, line = _innermost(error.__traceback__, names)
    message = next((words for kind, words in _FAILURES.items() if isinstance(error, kind)), str(error))
    if isinstance(error, UndefinedError) and message.endswith("is not known here"):
        message += nearest(message.split("'")[1], scope)
    return Failure(message or type(error).__name__, line, name)


def _innermost(traceback: TracebackType | None, names: set[str]) -> tuple[str | None, int]:
    """The innermost place inside a template: Jinja gives its frames the lines of the source."""
    found: tuple[str | None, int] = (None, 0)
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if name in names:
            found = (name, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


class _TooLarge(TemplateSyntaxError):
    """In words of our own."""


def _sentence(error: TemplateSyntaxError) -> str:
    message = (error.message or "").rstrip(".")
    if isinstance(error, _TooLarge):
        return message
    if message.startswith("No filter named"):
        name = message.split("'")[1]
        return f"there is no filter '{name}'{nearest(name, filters())}"
    return plain_words(message)


def problem(source: str) -> tuple[int, str] | None:
    try:
        _code(source, MAIN)
    except TemplateSyntaxError as error:
        return error.lineno, _tag_of(source, error) + _sentence(error)
    except _TOO_DEEP:
        return 1, "it is nested too deeply"
    return None


_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


def _tag_of(source: str, error: TemplateSyntaxError) -> str:
    """The tag that is meant, where a line has one that is wrong by itself, and where it begins."""
    line = "".join(source.split("\n")[error.lineno - 1 : error.lineno])
    for tag in _TAG.finditer(line):
        try:
            parse(tag[0])
        except TemplateSyntaxError as other:
            if other.message == error.message:
                return f"in “{tag[0]}” " if len(tag[0]) < 60 else f"in the tag in column {tag.start() + 1} "
        except _TOO_DEEP:
            return ""
    return ""


def filters() -> list[str]:
    """The names of all filters that a template may use."""
    return [name for name in _environment().filters if name not in budget.OWN and name != signs.NAME]


@lru_cache(maxsize=256)
def parse(source: str) -> nodes.Template:
    """Jinja's own tree of a template."""
    return _environment().parse(source)


def names(source: str, loader: Mapping[str, str]) -> set[str]:
    """The names a template and all that it includes take from the scope. What cannot be read has none."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [source]
    while waiting:
        try:
            tree = _environment().parse(waiting.pop())
        except (TemplateSyntaxError, *_TOO_DEEP):
            continue
        found |= find_undeclared_variables(tree)
        for name in find_referenced_templates(tree):
            # An include whose name is computed could be any of them.
            for each in list(loader) if name is None else [name]:
                if each in loader and each not in seen:
                    seen.add(each)
                    waiting.append(loader[each])
    return found
