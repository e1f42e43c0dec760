"""The part of `in_templates` that needs Jinja: its tree, walked with kinds instead of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from jinja2 import TemplateSyntaxError, nodes

from reconvene.core.jinja import sandbox
from reconvene.wire.names.in_templates import JINJA
from reconvene.wire.names.kinds import (
    ANYTHING,
    FLAG,
    NOTHING,
    NUMBER,
    TEXT,
    TEXTS,
    Anything,
    Kind,
    ListOf,
    Missing,
    Plain,
    Record,
    alternatives,
    constant,
    either,
    either_of,
    element,
    part,
)
from reconvene.wire.names.uses import Miss

_DEEPEST = 20  # templates and macros within each other
_MOST = 20_000  # nodes that are walked for one template; then the rest may be anything
_OFFERED = frozenset(
    ("range", "dict", "namespace", "joiner", "cycler", "loop", "self", "super", "caller", "varargs", "kwargs")
)
_SAME = frozenset(("list", "sort", "reverse", "unique", "select", "reject", "counted", "selectattr", "rejectattr"))
_ITEM = frozenset(("first", "last", "random", "min", "max"))
_NUMBERS = frozenset(("length", "count", "int", "float", "round", "abs", "wordcount"))
_TEXTS = frozenset(
    ("trim", "upper", "lower", "title", "capitalize", "replace", "join", "string", "indent", "quote_lines", "json",
     "tojson", "present", "slug", "pad", "signed", "date", "duration", "truncate", "wordwrap", "center", "escape", "e")
)  # fmt: skip
_BY_ATTRIBUTE = frozenset(("selectattr", "rejectattr", "groupby"))  # named first; others say `attribute=`


def walked(text: str, scope: Mapping[str, Kind], beside: Mapping[str, str]) -> list[Miss]:
    walk = _Walk(beside)
    # What cannot be read is reported elsewhere; what is too large to be followed is not: what was found so far stands.
    with suppress(TemplateSyntaxError, RecursionError, _TooMuch):
        walk.template(text, "", _Frame(dict(scope)))
    return list(dict.fromkeys(walk.found))


class _TooMuch(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Macro:
    node: nodes.Macro
    frame: _Frame
    file: str


@dataclass(frozen=True, slots=True)
class _Module:
    frame: _Frame


@dataclass(slots=True)
class _Frame:
    """What is seen at one place: the roots, and above them what the template binds itself."""

    roots: dict[str, Kind]
    own: dict[str, Kind | _Macro | _Module] = field(default_factory=dict)
    perhaps: bool = False  # inside a branch: an assignment may not have happened

    def inner(self, **changes: bool) -> _Frame:
        return _Frame(self.roots, dict(self.own), changes.get("perhaps", self.perhaps))

    def bind(self, name: str, kind: Kind) -> None:
        before = self.own.get(name, self.roots.get(name))
        if self.perhaps and before is not None and not isinstance(before, _Macro | _Module):
            kind = either(before, kind)
        self.own[name] = kind


class _Walk:
    def __init__(self, beside: Mapping[str, str]) -> None:
        self._beside = beside
        self._file = ""
        self._deep = 0
        self._left = _MOST
        self.found: list[Miss] = []

    def template(self, text: str, file: str, frame: _Frame) -> None:
        self._file, before = file, self._file
        self._deep += 1
        if self._deep <= _DEEPEST:
            self._all(sandbox.parse(text).body, frame)
        self._deep -= 1
        self._file = before

    # --- statements ---------------------------------------------------------------------------------------------------

    def _all(self, body: Sequence[nodes.Node], frame: _Frame) -> None:
        for node in body:
            self._statement(node, frame)

    def _statement(self, node: nodes.Node, frame: _Frame) -> None:
        match node:
            case nodes.Output(nodes=parts):
                for each in parts:
                    self._kind(each, frame)
            case nodes.For():
                self._for(node, frame)
            case nodes.If():
                self._if(node, frame)
            case nodes.Assign(target=target, node=value):
                self._bind(target, self._kind(value, frame), frame)
            case nodes.AssignBlock(target=target, body=body):
                self._all(body, frame.inner())
                self._bind(target, TEXT, frame)
            case nodes.With(targets=targets, values=values, body=body):
                inside = frame.inner()
                for target, value in zip(targets, values):
                    self._bind(target, self._kind(value, frame), inside)
                self._all(body, inside)
            case nodes.Macro():
                frame.own[node.name] = _Macro(node, frame, self._file)
                self._run(_Macro(node, frame, self._file), [], {})
            case nodes.CallBlock(call=call, body=body, args=arguments):
                self._kind(call, frame)
                inside = frame.inner()
                for each in arguments:
                    inside.own[each.name] = ANYTHING
                self._all(body, inside)
            case nodes.Include() | nodes.Extends():
                self._include(node, frame)
            case nodes.Import(template=template, target=name, with_context=with_context):
                frame.own[name] = _Module(self._imported(template, frame, with_context=bool(with_context)))
            case nodes.FromImport():
                self._from_import(node, frame)
            case nodes.Block(body=body):
                self._all(body, frame.inner())
            case nodes.Expr():
                self._kind(node, frame)
            case _:
                for child in node.iter_child_nodes():
                    self._statement(child, frame)

    def _for(self, node: nodes.For, frame: _Frame) -> None:
        inside = frame.inner(perhaps=False)
        self._bind(node.target, _turn(self._kind(node.iter, frame)), inside)
        inside.own["loop"] = ANYTHING
        if node.test is not None:
            self._kind(node.test, inside)
        self._all(node.body, inside)
        self._all(node.else_, frame.inner())

    def _if(self, node: nodes.If, frame: _Frame) -> None:
        self._kind(node.test, frame)
        before, frame.perhaps = frame.perhaps, True
        self._all(node.body, frame)
        self._all(node.elif_, frame)
        self._all(node.else_, frame)
        frame.perhaps = before

    def _bind(self, target: nodes.Node, kind: Kind, frame: _Frame) -> None:
        match target:
            case nodes.Name(name=name):
                frame.bind(name, kind)
            case nodes.Tuple(items=items):
                for each in items:
                    self._bind(each, element(kind), frame)
            case _:
                pass  # a part of a namespace, which may hold anything

    def _include(self, node: nodes.Include | nodes.Extends, frame: _Frame) -> None:
        self._kind(node.template, frame)
        seen = frame if getattr(node, "with_context", True) else _Frame({})
        for name in _literal_names(node.template):
            if name in self._beside:
                self.template(self._beside[name], name, seen.inner(perhaps=False))

    def _from_import(self, node: nodes.FromImport, frame: _Frame) -> None:
        module = self._imported(node.template, frame, with_context=bool(node.with_context))
        for each in node.names:
            name, alias = each if isinstance(each, tuple) else (each, each)
            frame.own[alias] = module.own.get(name, ANYTHING)

    def _imported(self, template: nodes.Expr, frame: _Frame, *, with_context: bool) -> _Frame:
        """What a template binds at its top. Without context it sees nothing of this one."""
        self._kind(template, frame)
        module = _Frame(frame.roots if with_context else {})
        for name in _literal_names(template):
            if name in self._beside:
                self.template(self._beside[name], name, module)
        return module

    # --- expressions --------------------------------------------------------------------------------------------------

    def _kind(self, node: nodes.Node, frame: _Frame) -> Kind:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch
        match node:
            case nodes.Name(name=name):
                return self._name(node, name, frame)
            case nodes.Const(value=value):
                return constant(value)
            case nodes.TemplateData():
                return TEXT
            case nodes.Getattr(node=of, attr=name):
                return self._attribute(node, of, name, frame)
            case nodes.Getitem(node=of, arg=at):
                return self._item(node, of, at, frame)
            case nodes.Call():
                return self._call(node, frame)
            case nodes.Filter():
                return self._filter(node, frame)
            case nodes.Test():
                return self._test(node, frame)
            case nodes.CondExpr(test=test, expr1=one, expr2=other):
                self._kind(test, frame)
                kinds = [self._kind(each, frame) for each in (one, other) if each is not None]
                return either(*kinds)
            case nodes.Or(left=left, right=right):
                return either(self._kind(left, frame), self._kind(right, frame))
            case nodes.And(left=left, right=right):
                self._kind(left, frame)
                return self._kind(right, frame)
            case nodes.List(items=items) | nodes.Tuple(items=items):
                return ListOf(either_of([self._kind(each, frame) for each in items]))
            case nodes.Dict(items=pairs):
                return self._dict(pairs, frame)
            case _:
                return self._rest(node, frame)

    def _rest(self, node: nodes.Node, frame: _Frame) -> Kind:
        kinds = [self._kind(each, frame) for each in node.iter_child_nodes()]
        match node:
            case nodes.Add():
                return either(*kinds)
            case nodes.Not() | nodes.Compare():
                return FLAG
            case nodes.Concat():
                return TEXT
            case nodes.BinExpr() | nodes.UnaryExpr():
                return NUMBER
            case _:
                return ANYTHING

    def _name(self, node: nodes.Node, name: str, frame: _Frame) -> Kind:
        own = frame.own.get(name)
        if own is not None:
            return ANYTHING if isinstance(own, _Macro | _Module) else own
        if name in frame.roots:
            return frame.roots[name]
        if name not in _OFFERED:
            self._miss(node, name, name, Missing(tuple(frame.roots)))
        return ANYTHING

    def _attribute(self, node: nodes.Node, of: nodes.Node, name: str, frame: _Frame) -> Kind:
        if isinstance(of, nodes.Name) and isinstance(frame.own.get(of.name), _Module):
            return ANYTHING
        return self._part(node, self._kind(of, frame), name, of)

    def _part(self, node: nodes.Node, kind: Kind, name: str, of: nodes.Node) -> Kind:
        found = part(kind, name, JINJA)
        if isinstance(found, Missing):
            self._miss(node, f"{_spelt(of)}.{name}", name, found)
            return ANYTHING
        return found

    def _item(self, node: nodes.Node, of: nodes.Node, at: nodes.Node, frame: _Frame) -> Kind:
        kind = self._kind(of, frame)
        match at:
            case nodes.Const(value=str() as name):
                return self._part(node, kind, name, of)
            case nodes.Slice():
                for each in at.iter_child_nodes():
                    self._kind(each, frame)
                return kind
            case _:
                self._kind(at, frame)
                return element(kind)

    def _dict(self, pairs: list[nodes.Pair], frame: _Frame) -> Kind:
        parts: dict[str, Kind] = {}
        others: Kind | None = None
        for pair in pairs:
            kind = self._kind(pair.value, frame)
            if isinstance(pair.key, nodes.Const):
                parts[str(pair.key.value)] = kind
            else:
                self._kind(pair.key, frame)
                others = ANYTHING
        return Record(parts, others) if pairs else NOTHING

    def _test(self, node: nodes.Test, frame: _Frame) -> Kind:
        asks = node.name in ("defined", "undefined") and isinstance(node.node, nodes.Name)
        for each in node.iter_child_nodes():
            # Whether a name is there at all may be asked: a shared template is taken in at places that bind it or not.
            if not (asks and each is node.node):
                self._kind(each, frame)
        return FLAG

    # --- calls and filters --------------------------------------------------------------------------------------------

    def _call(self, node: nodes.Call, frame: _Frame) -> Kind:
        given = [self._kind(each, frame) for each in node.args]
        named = {each.key: self._kind(each.value, frame) for each in node.kwargs}
        for each in (node.dyn_args, node.dyn_kwargs):
            if each is not None:
                self._kind(each, frame)
        match node.node:
            case nodes.Name(name=name) if isinstance(macro := frame.own.get(name), _Macro):
                self._run(macro, given, named)
                return TEXT
            case nodes.Getattr(node=nodes.Name(name=name), attr=attribute) if isinstance(
                module := frame.own.get(name), _Module
            ):
                if isinstance(found := module.frame.own.get(attribute), _Macro):
                    self._run(found, given, named)
                return TEXT
            case nodes.Getattr(node=of, attr=method):
                return self._method(node, of, method, given, frame)
            case other:
                self._kind(other, frame)
                return ANYTHING

    def _method(self, node: nodes.Call, of: nodes.Node, method: str, given: list[Kind], frame: _Frame) -> Kind:
        kind = self._kind(of, frame)
        every = alternatives(kind)
        if not every:
            return given[1] if method == "get" and len(given) > 1 else ANYTHING
        own = any(isinstance(each, Record) and method in each.parts for each in every)
        if not own and all(isinstance(each, Record) for each in every):
            match method:
                case "get":
                    return self._get(node, kind, of, given)
                case "values":
                    return ListOf(element(kind))
                case "items":
                    return ListOf(ListOf(either(TEXT, element(kind))))
                case "keys":
                    return TEXTS
        self._part(node.node, kind, method, of)
        if all(isinstance(each, Plain) for each in every):
            return TEXTS if method in ("split", "rsplit", "splitlines") else ANYTHING
        return ANYTHING

    def _get(self, node: nodes.Call, kind: Kind, of: nodes.Node, given: list[Kind]) -> Kind:
        default = given[1] if len(given) > 1 else NOTHING
        key = node.args[0] if node.args else None
        if isinstance(key, nodes.Const) and isinstance(key.value, str):
            return either(self._part(node, kind, key.value, of), default)
        return either(element(kind), default)

    def _run(self, macro: _Macro, given: list[Kind], named: dict[str, Kind]) -> None:
        """The body of a macro, as it is when it is called with these."""
        if self._deep > _DEEPEST:
            return
        inside = macro.frame.inner(perhaps=False)
        for at, each in enumerate(macro.node.args):
            inside.own[each.name] = named.get(each.name, given[at] if at < len(given) else ANYTHING)
        before, self._file = self._file, macro.file
        self._deep += 1
        for default in macro.node.defaults:
            self._kind(default, macro.frame)
        self._all(macro.node.body, inside)
        self._deep -= 1
        self._file = before

    def _filter(self, node: nodes.Filter, frame: _Frame) -> Kind:
        asks = node.name in ("default", "d") and isinstance(node.node, nodes.Name)
        known = not (asks and isinstance(node.node, nodes.Name) and not _is_known(node.node.name, frame))
        kind = self._kind(node.node, frame) if node.node is not None and known else NOTHING
        given = [self._kind(each, frame) for each in node.args]
        for each in node.kwargs:
            self._kind(each.value, frame)
        attribute = _attribute_of(node)
        inner = element(kind)
        if attribute:
            for name in attribute.split("."):
                if not name.isdecimal():
                    inner = self._part(node, inner, name, node.node or node)
        return _filtered(node.name, kind, inner, given, by=bool(attribute))

    def _miss(self, node: nodes.Node, path: str, name: str, missing: Missing) -> None:
        self.found.append(Miss(path, name, missing.known, missing.word, missing.contract, node.lineno or 1, self._file))


def _is_known(name: str, frame: _Frame) -> bool:
    return name in frame.own or name in frame.roots


def _attribute_of(node: nodes.Filter) -> str:
    """The name that a filter looks up in each item, "" where it looks none up."""
    if node.name in _BY_ATTRIBUTE:
        written = node.args[0] if node.args else None
    else:
        written = next((each.value for each in node.kwargs if each.key == "attribute"), None)
    return written.value if isinstance(written, nodes.Const) and isinstance(written.value, str) else ""


def _filtered(name: str, kind: Kind, inner: Kind, given: list[Kind], *, by: bool) -> Kind:
    if name in ("default", "d"):
        return either(kind, *given[:1])
    if name in _SAME:
        return ListOf(_turn(kind))
    if name in _ITEM:
        return _turn(kind)
    if name == "map":
        return ListOf(inner if by else ANYTHING)
    if name in _NUMBERS:
        return NUMBER
    return TEXT if name in _TEXTS else ANYTHING


def _turn(kind: Kind) -> Kind:
    """What a loop gives at each turn: the items of a list, the keys of a record, the letters of a text."""
    found: list[Kind] = []
    for each in alternatives(kind):
        match each:
            case Anything():
                return ANYTHING
            case ListOf(item=item):
                found.append(item)
            case _:
                found.append(TEXT)
    return either(*found) if found else ANYTHING


def _literal_names(template: nodes.Node) -> list[str]:
    match template:
        case nodes.Const(value=str() as name):
            return [name]
        case nodes.Const(value=tuple() | list() as names):
            return [str(name) for name in names]
        case nodes.Tuple(items=items) | nodes.List(items=items):
            return [each.value for each in items if isinstance(each, nodes.Const)]
        case _:
            return []


def _spelt(node: nodes.Node) -> str:
    match node:
        case nodes.Name(name=name):
            return str(name)
        case nodes.Getattr(node=of, attr=name):
            return f"{_spelt(of)}.{name}"
        case nodes.Getitem(node=of, arg=nodes.Const(value=str() as name)):
            return f"{_spelt(of)}.{name}"
        case nodes.Getitem(node=of):
            return f"{_spelt(of)}[…]"
        case nodes.Or(left=left):
            return _spelt(left)
        case nodes.Filter(node=of) if of is not None:
            return _spelt(of)
        case _:
            return "(…)"
