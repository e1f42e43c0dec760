"""The expressions of a template, walked with kinds instead of values. Knows no statement: `in_jinja` has those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jinja2 import nodes

from reconvene.language.jinja import environment as sandbox
from reconvene.wire.names.kinds import (
    ANYTHING,
    FLAG,
    JINJA,
    NOTHING,
    NUMBER,
    TEXT,
    TEXTS,
    Anything,
    Kind,
    ListOf,
    Miss,
    Missing,
    Plain,
    Record,
    alternatives,
    constant,
    either,
    element,
    is_literal,
    part,
    worded,
)

_MOST = 20_000  # nodes that are walked for one template; then the rest may be anything
_OFFERED = frozenset(
    ("range", "dict", "namespace", "joiner", "cycler", "loop", "self", "super", "caller", "varargs", "kwargs")
)
_SAME = frozenset(("list", "sort", "reverse", "unique", "select", "reject", "selectattr", "rejectattr"))
_ITEM = frozenset(("first", "last", "random", "min", "max"))
_RESULTS: dict[str, Kind] = {
    **dict.fromkeys(("length", "count", "int", "float", "round", "abs", "wordcount"), NUMBER),
    **dict.fromkeys(
        ("trim", "upper", "lower", "title", "capitalize", "replace", "join", "string", "indent", "quote", "quote_lines",
         "json", "tojson", "present", "slug", "pad", "signed", "date", "duration", "truncate", "wordwrap", "center",
         "escape", "e"), TEXT
    ),
}  # fmt: skip
FENCES = frozenset(("quote", "quote_lines", "slug", "date", "duration"))  # what an agent wrote cannot get out of these
_SEARCHED = ("context", "inputs", "settings")  # `'x' in context`: every name that may be there is known
_BY_ATTRIBUTE = frozenset(("selectattr", "rejectattr", "groupby"))  # named first; others say `attribute=`


class TooMuch(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Macro:
    node: nodes.Macro
    frame: Frame
    file: str


@dataclass(slots=True)
class Frame:
    """What is seen at one place: the roots, and above them what the template binds itself."""

    roots: Mapping[str, Kind]
    own: dict[str, Kind | Macro | Frame] = field(default_factory=dict)  # a frame: an imported template
    perhaps: bool = False  # inside a branch: an assignment may not have happened

    def inner(self, **changes: bool) -> Frame:
        return Frame(self.roots, dict(self.own), changes.get("perhaps", self.perhaps))

    def binds(self, name: str) -> bool:
        return name in self.own or name in self.roots

    def bind(self, name: str, kind: Kind) -> None:
        before = self.own.get(name, self.roots.get(name))
        if self.perhaps and before is not None and not isinstance(before, Macro | Frame):
            kind = either(before, kind)
        self.own[name] = kind


class Values:
    """Finds what is missing in expressions; `run` is how a macro is called."""

    def __init__(self) -> None:
        self.file = ""  # the template that is being looked at, "" = the first one
        self.found: list[Miss] = []
        self._left = _MOST
        self._seen: set[tuple[int, str]] = set()

    def run(self, macro: Macro, given: list[Kind], named: dict[str, Kind]) -> None:
        raise NotImplementedError

    # --- expressions --------------------------------------------------------------------------------------------------

    def kind(self, node: nodes.Node, frame: Frame) -> Kind:
        self._left -= 1
        if self._left < 0:
            raise TooMuch
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
                self.kind(test, frame)
                return either(*[self.kind(each, frame) for each in (one, other) if each is not None])
            case nodes.Or(left=left, right=right):
                return either(self.kind(left, frame), self.kind(right, frame))
            case nodes.And(left=left, right=right):
                self.kind(left, frame)
                return self.kind(right, frame)
            case nodes.List(items=items) | nodes.Tuple(items=items):
                return ListOf(either(*[self.kind(each, frame) for each in items]))
            case nodes.Dict(items=pairs):
                return self._dict(pairs, frame)
            case _:
                return self._rest(node, frame)

    def _rest(self, node: nodes.Node, frame: Frame) -> Kind:
        kinds = [self.kind(each, frame) for each in node.iter_child_nodes()]
        match node:
            case nodes.Add():
                return either(*kinds)
            case nodes.Compare(
                expr=nodes.Const(value=str() as name),
                ops=[nodes.Operand(op="in" | "notin", expr=nodes.Name(name=root) as of)],
            ):
                if root in _SEARCHED and root in frame.roots and root not in frame.own:
                    self._part(node, frame.roots[root], name, of)
                return FLAG
            case nodes.Not() | nodes.Compare():
                return FLAG
            case nodes.Concat():
                return worded(TEXT, *kinds)
            case nodes.Mul():  # also a text or a list, repeated
                return NUMBER if all(kind == NUMBER for kind in kinds) else either(*kinds)
            case nodes.BinExpr() | nodes.UnaryExpr():
                return NUMBER
            case _:
                return ANYTHING

    def _name(self, node: nodes.Node, name: str, frame: Frame) -> Kind:
        own = frame.own.get(name)
        if own is not None:
            return ANYTHING if isinstance(own, Macro | Frame) else own
        if name in frame.roots:
            return frame.roots[name]
        if name not in _OFFERED:
            self.miss(node, name, name, Missing(tuple(frame.roots)))
        return ANYTHING

    def _attribute(self, node: nodes.Node, of: nodes.Node, name: str, frame: Frame) -> Kind:
        if isinstance(of, nodes.Name) and isinstance(frame.own.get(of.name), Frame):
            return ANYTHING
        return self._part(node, self.kind(of, frame), name, of)

    def _part(self, node: nodes.Node, kind: Kind, name: str, of: nodes.Node) -> Kind:
        found = part(kind, name, JINJA)
        if isinstance(found, Missing):
            self.miss(node, f"{spelt(of)}.{name}", name, found)
            return ANYTHING
        return found

    def _item(self, node: nodes.Node, of: nodes.Node, at: nodes.Node, frame: Frame) -> Kind:
        kind = self.kind(of, frame)
        match at:
            case nodes.Const(value=str() as name):
                return self._part(node, kind, name, of)
            case nodes.Slice():
                for each in at.iter_child_nodes():
                    self.kind(each, frame)
                return kind
            case _:
                self.kind(at, frame)
                return element(kind)

    def _dict(self, pairs: list[nodes.Pair], frame: Frame) -> Kind:
        parts: dict[str, Kind] = {}
        others: Kind | None = None
        for pair in pairs:
            kind = self.kind(pair.value, frame)
            if isinstance(pair.key, nodes.Const):
                parts[str(pair.key.value)] = kind
            else:
                self.kind(pair.key, frame)
                others = ANYTHING
        return Record(parts, others, literal=True) if pairs else NOTHING

    def _test(self, node: nodes.Test, frame: Frame) -> Kind:
        # Whether a name is there at all may be asked: not all that take in a shared template bind it.
        asks = node.name in ("defined", "undefined") and (
            isinstance(node.node, nodes.Name) or self._of_literal(node.node, frame)
        )
        for each in node.iter_child_nodes(exclude=("node",) if asks else None):
            self.kind(each, frame)
        return FLAG

    def _of_literal(self, node: nodes.Node | None, frame: Frame) -> bool:
        """Whether it is a part of an object that the template itself writes out."""
        if not isinstance(node, nodes.Getattr | nodes.Getitem):
            return False
        return is_literal(self.kind(node.node, frame))

    # --- calls and filters --------------------------------------------------------------------------------------------

    def _call(self, node: nodes.Call, frame: Frame) -> Kind:
        given = [self.kind(each, frame) for each in node.args]
        named = {each.key: self.kind(each.value, frame) for each in node.kwargs}
        for each in (node.dyn_args, node.dyn_kwargs):
            if each is not None:
                self.kind(each, frame)
        match node.node:
            case nodes.Name(name=name) if isinstance(macro := frame.own.get(name), Macro):
                self.run(macro, given, named)
                return TEXT
            case nodes.Getattr(node=nodes.Name(name=name), attr=attribute) if isinstance(
                module := frame.own.get(name), Frame
            ):
                if isinstance(found := module.own.get(attribute), Macro):
                    self.run(found, given, named)
                return TEXT
            case nodes.Getattr(node=of, attr=method):
                return self._method(node, of, method, given, frame)
            case other:
                self.kind(other, frame)
                return ANYTHING

    def _method(self, node: nodes.Call, of: nodes.Node, method: str, given: list[Kind], frame: Frame) -> Kind:
        kind = self.kind(of, frame)
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
        splits = method in ("split", "rsplit", "splitlines") and all(isinstance(each, Plain) for each in every)
        return worded(TEXTS if splits else ANYTHING, kind)

    def _get(self, node: nodes.Call, kind: Kind, of: nodes.Node, given: list[Kind]) -> Kind:
        default = given[1] if len(given) > 1 else NOTHING
        key = node.args[0] if node.args else None
        if isinstance(key, nodes.Const) and isinstance(key.value, str):
            return either(self._part(node, kind, key.value, of), default)
        return either(element(kind), default)

    def _filter(self, node: nodes.Filter, frame: Frame) -> Kind:
        known = True
        if node.name in ("default", "d"):
            own = isinstance(node.node, nodes.Name) and not frame.binds(node.node.name)
            known = not (own or self._of_literal(node.node, frame))
        kind = self.kind(node.node, frame) if node.node is not None and known else NOTHING
        given = [self.kind(each, frame) for each in node.args]
        for each in node.kwargs:
            self.kind(each.value, frame)
        match node.name, node.args:
            case "attr", [nodes.Const(value=str() as name)]:
                return self._part(node, kind, name, node.node or node)
            case "map", [nodes.Const(value=str() as name), *_] if name not in sandbox.filters():
                self.miss(node, name, name, Missing(tuple(sandbox.filters()), "filter"))
        attribute = _attribute_of(node)
        inner = element(kind)
        if attribute:
            for name in attribute.split("."):
                if not name.isdecimal():
                    inner = self._part(node, inner, name, node.node or node)
        return _filtered(node.name, kind, inner, given, by=bool(attribute))

    def miss(self, node: nodes.Node, path: str, name: str, missing: Missing) -> None:
        if (id(node), name) not in self._seen:  # a macro is looked at with every call of it
            self._seen.add((id(node), name))
            self.found.append(Miss(path, name, *missing, node.lineno or 1, self.file))


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
        return ListOf(turn(kind))
    if name in _ITEM:
        return turn(kind)
    if name == "map":
        return ListOf(inner if by else worded(ANYTHING, kind))
    result = _RESULTS.get(name, ANYTHING)
    return result if name in FENCES else worded(result, kind)


def turn(kind: Kind) -> Kind:
    """What a loop gives at each turn: the items of a list, the keys of a record, the letters of a text."""
    every = alternatives(kind)
    if not every or isinstance(every[0], Anything):
        return worded(ANYTHING, kind)
    return either(*[each.item if isinstance(each, ListOf) else _letters(each) for each in every])


def _letters(kind: Kind) -> Kind:
    return worded(TEXT, kind) if isinstance(kind, Plain) else TEXT


def spelt(node: nodes.Node) -> str:
    match node:
        case nodes.Name(name=name):
            return str(name)
        case nodes.Getattr(node=of, attr=name) | nodes.Getitem(node=of, arg=nodes.Const(value=str() as name)):
            return f"{spelt(of)}.{name}"
        case nodes.Getitem(node=of):
            return f"{spelt(of)}[…]"
        case nodes.Or(left=left):
            return spelt(left)
        case nodes.Filter(node=of) if of is not None:
            return spelt(of)
        case _:
            return "(…)"
