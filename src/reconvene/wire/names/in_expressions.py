"""Look-ups of a JavaScript expression that lead nowhere, and the kind of value that it gives.

One job: walk the tree with kinds instead of values. Loops over lists, callbacks, destructuring and variables are
followed; where that is not possible the value may be anything, and nothing is reported. It must not know workflows.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.language.javascript import nodes
from reconvene.language.javascript.lexer import Refused, words
from reconvene.language.javascript.nodes import Node
from reconvene.language.javascript.statements import read
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
    Miss,
    Missing,
    Plain,
    Record,
    Words,
    alternatives,
    constant,
    either,
    element,
    is_literal,
    part,
    worded,
)

_OBJECT = words(
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf __proto__"
)
_LIST = words(
    "length at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach"
    " includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice"
    " toReversed toSorted toSpliced unshift values with"
)
_TEXT = words(
    "length at charAt charCodeAt codePointAt concat endsWith includes indexOf lastIndexOf localeCompare match matchAll"
    " normalize padEnd padStart repeat replace replaceAll search slice split startsWith substr substring toLowerCase"
    " toUpperCase toLocaleLowerCase toLocaleUpperCase trim trimEnd trimStart isWellFormed toWellFormed"
)
_NUMBER = words("toExponential toFixed toPrecision")
JAVASCRIPT: Words = {
    "record": _OBJECT,
    "list": _LIST | _OBJECT,
    "text": _TEXT | _OBJECT,
    "number": _NUMBER | _OBJECT,
    "flag": _OBJECT,
}
_LONGEST = 20  # keys of a look-up that are followed where nothing else is
_SEARCHED = ("context", "inputs", "settings")  # `'x' in context`: every name that may be there is known
_ONE_EACH = words("every filter find findIndex findLast findLastIndex flatMap forEach map some")
_SAME = words("filter slice reverse sort toReversed toSorted toSpliced splice")
_ITEM = words("at find findLast pop shift")
_RESULTS: dict[str, Kind] = {
    **dict.fromkeys("every some includes startsWith endsWith hasOwnProperty".split(), FLAG),
    **dict.fromkeys(
        "length findIndex findLastIndex indexOf lastIndexOf search charCodeAt localeCompare".split(), NUMBER
    ),
    **dict.fromkeys(
        ("join toString trim trimEnd trimStart toLowerCase toUpperCase padStart padEnd repeat replace replaceAll"
         " substring substr charAt toFixed toPrecision normalize").split(), TEXT
    ),
}  # fmt: skip
_SIGNS: dict[str, Kind] = {
    **dict.fromkeys("! == != === !== < > <= >= in instanceof delete".split(), FLAG),
    **dict.fromkeys("- * / % ** ~ & | ^ << >> >>> ++ --".split(), NUMBER),
    "typeof": TEXT,
    "`": TEXT,
}


def misses(source: str, scope: Mapping[str, Kind]) -> list[Miss]:
    """Every look-up in `source` of a name that the kinds in `scope` do not have."""
    return _walked(source, scope).found


def kind_of(source: str, scope: Mapping[str, Kind]) -> Kind:
    return _walked(source, scope).result


def _walked(source: str, scope: Mapping[str, Kind]) -> _Walk:
    walk = _Walk(scope)
    try:
        found = read(source)
    except Refused:
        return walk
    try:
        walk.result = walk.kind(found.tree, {})
    except RecursionError:  # so much in one another that only the look-ups of names from outside are followed
        walk = _Walk(scope)
        for use in found.uses:
            node: Node = nodes.Name(use.name)
            for key in use.path[:_LONGEST]:
                node = nodes.Member(node, key)
            walk.kind(node, {})
    return walk


_Own = dict[str, Kind]


class _Walk:
    def __init__(self, scope: Mapping[str, Kind]) -> None:
        self._scope = scope
        self._changed: set[str] = set()  # own names that are given another value somewhere
        self._returned: list[Kind] = []
        self.found: list[Miss] = []
        self.result: Kind = ANYTHING

    def kind(self, node: Node, own: _Own) -> Kind:
        match node:
            case nodes.Name(text=name):
                return self._name(name, own)
            case nodes.Atom():
                return ANYTHING
            case nodes.Literal(value=value):
                return constant(value)
            case nodes.Member(of=of, name=name):
                return self._part(self.kind(of, own), name, of)
            case nodes.Index(of=of, at=at):
                self.kind(at, own)
                return element(self.kind(of, own))
            case nodes.Call():
                return self._call(node, own)
            case nodes.Function():
                self._run(node, (), own)
                return ANYTHING
            case nodes.Object(members=members):
                return self._object(members, own)
            case nodes.Array(items=items):
                return ListOf(either(*[self.kind(item, own) for item in items]))
            case nodes.Spread(of=of):
                return element(self.kind(of, own))
            case nodes.Choice(test=test, then=then, other=other):
                self.kind(test, own)
                return either(self.kind(then, own), self.kind(other, own))
            case nodes.Operation(sign=sign, parts=parts):
                return self._operation(sign, parts, own)
            case nodes.Declaration(pattern=pattern, value=value):
                self._bind(pattern, self.kind(value, own), own, _spelt(value))
            case nodes.Loop(pattern=pattern, value=value, body=body, keys=keys):
                kind = self.kind(value, own)
                self._bind(pattern, TEXT if keys else element(kind), own, "")
                self.kind(body, own)
            case nodes.Return(value=value):
                self._returned.append(self.kind(value, own))
            case nodes.Block(statements=statements):
                for each in statements:
                    self.kind(each, own)
        return NOTHING

    def _name(self, name: str, own: _Own) -> Kind:
        if name in own:
            return ANYTHING if name in self._changed else own[name]
        if name == "undefined":
            return NOTHING
        return self._scope.get(name, ANYTHING)

    def _part(self, kind: Kind, name: str, of: Node) -> Kind:
        found = part(kind, name, JAVASCRIPT)
        if isinstance(found, Missing):
            self.found.append(Miss(f"{_spelt(of)}.{name}", name, *found))
            return ANYTHING
        if isinstance(found, Anything) and name == "length":
            return NUMBER
        return found

    def _object(self, members: tuple[tuple[str | Node | None, Node], ...], own: _Own) -> Kind:
        parts: dict[str, Kind] = {}
        others: Kind | None = None
        for key, value in members:
            if isinstance(key, Node):
                self.kind(key, own)
            kind = self.kind(value, own)
            if isinstance(key, str):
                parts[key] = kind
            else:
                others = worded(ANYTHING, kind)
        # `(context.plan || {}).tasks`: an empty object says nothing about the value that it stands in for.
        return Record(parts, others, literal=True) if members else NOTHING

    def _operation(self, sign: str, parts: tuple[Node, ...], own: _Own) -> Kind:
        if sign == "=":
            target, value = parts
            if isinstance(target, nodes.Name):
                self._changed.add(target.text)
            elif isinstance(target, nodes.Array | nodes.Object):
                self._bind(target, ANYTHING, own, "")
            else:
                self.kind(target, own)
            return self.kind(value, own)
        kinds = [self.kind(each, own) for each in parts]
        match parts:
            case (nodes.Literal(value=str() as name, exact=True), nodes.Name(text=root) as of) if sign == "in":
                if root in _SEARCHED and root not in own:
                    self._part(kinds[1], name, of)
        match sign:
            case "||" | "??":
                return either(*kinds)
            case "&&" | ",":
                return kinds[-1] if kinds else NOTHING
            case "+":
                return either(NUMBER, worded(TEXT, *kinds)) if len(kinds) > 1 else NUMBER
            case _:
                return worded(_SIGNS[sign], *kinds) if sign == "`" else _SIGNS.get(sign, ANYTHING)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: nodes.Call, own: _Own) -> Kind:
        match node.of:
            case nodes.Member(of=nodes.Name(text="Object"), name=name) if "Object" not in own:
                return self._of_object(name, node.arguments, own)
            case nodes.Member(of=of, name=name):
                return self._method(self.kind(of, own), of, name, node.arguments, own)
            case nodes.Function() as function:
                return self._run(function, tuple(self.kind(each, own) for each in node.arguments), own)
            case other:
                self.kind(other, own)
                for each in node.arguments:
                    self.kind(each, own)
                return ANYTHING

    def _of_object(self, name: str, arguments: tuple[Node, ...], own: _Own) -> Kind:
        kinds = [self.kind(each, own) for each in arguments]
        match name, kinds:
            case "keys", _:
                return TEXTS
            case "values", [of]:
                return ListOf(element(of))
            case "entries", [of]:
                return ListOf(ListOf(either(TEXT, element(of))))
            case _:
                return ANYTHING

    def _method(self, kind: Kind, of: Node, name: str, arguments: tuple[Node, ...], own: _Own) -> Kind:
        self._part(kind, name, of)
        every = alternatives(kind)
        lists = bool(every) and all(isinstance(each, ListOf) for each in every)
        item = element(kind) if lists else ANYTHING
        given = [self._argument(each, name, item, kind if lists else ANYTHING, own) for each in arguments]
        if name in _RESULTS:
            return worded(_RESULTS[name], kind)
        if lists:
            return _of_list(name, kind, item, given)
        splits = name == "split" and every and all(isinstance(each, Plain) for each in every)
        return worded(TEXTS if splits else ANYTHING, kind)

    def _argument(self, node: Node, method: str, item: Kind, whole: Kind, own: _Own) -> Kind:
        """An argument's kind; of a callback, that of what it returns."""
        if not isinstance(node, nodes.Function):
            return self.kind(node, own)
        match method:
            case "sort" | "toSorted":
                given: tuple[Kind, ...] = (item, item)
            case "reduce" | "reduceRight":
                given = (ANYTHING, item, NUMBER, whole)
            case _:
                given = (item, NUMBER, whole) if method in _ONE_EACH else ()
        return self._run(node, given, own)

    def _run(self, function: nodes.Function, given: tuple[Kind, ...], own: _Own) -> Kind:
        """What the function returns when it is given these."""
        inside = dict(own)
        for at, pattern in enumerate(function.parameters):
            self._bind(pattern, given[at] if at < len(given) else ANYTHING, inside, "")
        if not isinstance(function.body, nodes.Block):
            return self.kind(function.body, inside)
        before, self._returned = self._returned, []
        self.kind(function.body, inside)
        returned, self._returned = self._returned, before
        return either(*returned) if returned else NOTHING

    # --- what is bound ------------------------------------------------------------------------------------------------

    def _bind(self, pattern: Node, kind: Kind, own: _Own, path: str) -> None:
        match pattern:
            case nodes.Name(text=name):
                own[name] = kind
            case nodes.Operation(sign="=", parts=(target, default)):
                self._bind(target, either(kind, self.kind(default, own)), own, path)
            case nodes.Spread(of=target):
                self._bind(target, ANYTHING, own, "")
            case nodes.Array(items=items):
                for item in items:
                    self._bind(item, element(kind), own, "")
            case nodes.Object(members=members):
                for key, inner in members:
                    if isinstance(key, Node):
                        self.kind(key, own)
                    found = self._taken(key, inner, kind, path) if isinstance(key, str) else ANYTHING
                    self._bind(inner, found, own, f"{path}.{key}" if path and isinstance(key, str) else "")

    def _taken(self, key: str, pattern: Node, of: Kind, path: str) -> Kind:
        """The kind of what `{key: pattern}` takes out of a value."""
        found = part(of, key, JAVASCRIPT)
        if not isinstance(found, Missing):
            return found
        if not (isinstance(pattern, nodes.Operation) and is_literal(of)):  # one with a default
            spelt = f"{path}.{key}" if path and path != _UNSPELT else key
            self.found.append(Miss(spelt, key, *found))
        return ANYTHING


def _of_list(name: str, kind: Kind, item: Kind, given: list[Kind]) -> Kind:
    if name in _SAME:
        return kind
    if name in _ITEM:
        return item
    match name:
        case "concat":
            return ListOf(either(item, *(element(each) for each in given)))
        case "map" if given:
            return ListOf(given[0])
        case "flatMap" if given:
            return ListOf(element(given[0]))
        case _:
            return ANYTHING


_UNSPELT = "(…)"


def _spelt(node: Node) -> str:
    match node:
        case nodes.Name(text=text):
            return text
        case nodes.Member(of=of, name=name):
            return f"{_spelt(of)}.{name}"
        case nodes.Index(of=of):
            return f"{_spelt(of)}[…]"
        case nodes.Operation(sign="||" | "??", parts=(first, *_)):
            return _spelt(first)
        case _:
            return _UNSPELT
