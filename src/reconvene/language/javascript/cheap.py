"""What a source says about itself before it runs: the names it uses, what is wrong with it, and whether it is cheap
whatever its data is. Those that are may run in this process.

That is an upper bound of the work, from the tree alone. The engine looks at its clock only now and then, and never
inside its own loops (`String.raw({raw: {length: 1e9}})`), so none of its limits holds. An expression is cheap when its
tree shows that it has no loop of its own but one over a list, calls only methods whose work follows from the size of
the data, and names nothing that could call anything else. All others run where they can be killed. In doubt it says no:
that costs time only.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.language.javascript import nodes
from reconvene.language.javascript.lexer import Refused, words
from reconvene.language.javascript.nodes import Node
from reconvene.language.javascript.scopes import keys_of
from reconvene.language.javascript.sealing import GLOBALS
from reconvene.language.javascript.statements import Reading, read

MOST = 200_000_000  # steps of the engine's native code, each about a nanosecond

_FUNCTIONS = words("Number String Boolean parseInt parseFloat isNaN isFinite")
_STATICS = {
    "Object": words("keys values entries"),
    "Array": words("isArray"),
    "Number": words("isInteger isFinite isNaN"),
    "Math": words("abs ceil floor max min pow round sign sqrt trunc"),
}
_LINEAR = words(
    "startsWith endsWith trim trimStart trimEnd toLowerCase toUpperCase slice substring at charAt has test toFixed"
    " hasOwnProperty"
)
_GROWING = words("join split match replace replaceAll concat")
_SEARCHES = words("includes indexOf lastIndexOf")
_METHODS = _LINEAR | _GROWING | _SEARCHES
_SHORT = 100
_CALLERS = words("some every filter map find findIndex findLast findLastIndex")
_SIGNS = words(", ?? + - * / % ** == === != !== < > <= >= && || ! & | ^ ~ << >> >>> typeof in")
# Names that stand for something of the engine's own: they are called here, or not used at all.
_OWN = GLOBALS.difference(("undefined", "NaN", "Infinity")) | words("arguments eval")
# Keys of an object that the engine itself would call or follow.
_CALLED = words("toString valueOf toJSON __proto__ constructor length")
_PLAIN_REGEX = r"/(?:[^()\\]|\\[^\dkpPu]|\((?!\?)|\(\?:|\)(?![*+{]))*/[gimsy]*"
_LONGEST_REGEX = 300


class Shape(Struct, frozen=True):
    """What a cheap expression is made of. `None` in its place: it is not cheap."""

    tokens: int
    sums: int  # "+" signs: so many texts may become one
    loops: int  # arrow functions, each called once per element of a list
    growing: int  # methods that may give a text, or a list, as long as the product of two
    searches: int  # methods that may look for one text at every place of another

    def is_cheap_over(self, text: str, source: str) -> bool:
        """`text`: the data, as JSON. No list in it has more elements than it has commas; one made by `split` may."""
        if self.loops > 1 or self.growing > 2:
            return False
        longest: int = ((self.sums + 1) * (len(text) + len(source))) ** (1 + self.growing)
        one_call = longest * longest if self.searches else longest
        turns = longest if self.growing else text.count(",") + self.tokens
        return self.tokens * one_call * (turns if self.loops else 1) <= MOST


class Expression(Struct, frozen=True):
    """`context_keys` None = it may look at any part of `context`; `shape` None = it must not run in this process.

    `compiles_fast`: it has no classes of Unicode characters, which make compiling expensive."""

    source: str
    roots: frozenset[str] = frozenset()
    context_keys: frozenset[str] | None = None
    feedback_keys: frozenset[str] | None = None
    problem: str = ""
    shape: Shape | None = None
    compiles_fast: bool = True


def compiled(source: str) -> Expression:
    try:
        found = read(source)
    except Refused as error:
        return Expression(source, problem=str(error))
    return Expression(
        source,
        frozenset(use.name for use in found.uses) - GLOBALS,
        keys_of("context", found.uses),
        keys_of("feedback", found.uses),
        shape=_shape(found),
        compiles_fast=all(_is_plain(token.text) for token in found.tokens if token.kind == "regex"),
    )


def _shape(reading: Reading) -> Shape | None:
    judge = _Judge(reading.tree)
    while judge.waiting:
        if not judge.is_fine(judge.waiting.pop()):
            return None
    return Shape(len(reading.tokens), judge.sums, judge.loops, judge.growing, judge.searches)


def _is_plain(regex: str) -> bool:
    """It looks at the clock while it runs; only not while it looks ahead or back."""
    return len(regex) <= _LONGEST_REGEX and re.fullmatch(_PLAIN_REGEX, regex) is not None


class _Judge:
    """Looks at one node after the other; `waiting` are those that it has not looked at."""

    def __init__(self, tree: Node) -> None:
        self.waiting = [tree]
        self.sums = self.loops = self.growing = self.searches = 0

    def is_fine(self, node: Node) -> bool:
        match node:
            case nodes.Literal():
                return True
            case nodes.Name(text=text):
                return text not in _OWN
            case nodes.Atom(text=text):
                return _is_plain(text)
            case nodes.Member(of=of):
                self.waiting.append(of)  # whatever it gives: nothing but the calls that are known here calls anything
            case nodes.Index(of=of, at=at):
                self.waiting += (of, at)
            case nodes.Choice(test=test, then=then, other=other):
                self.waiting += (test, then, other)
            case nodes.Array(items=items):
                self.waiting += items
            case nodes.Object(members=members):
                self.waiting += (value for _, value in members)
                return all(isinstance(key, str) and key not in _CALLED for key, _ in members)
            case nodes.Operation(sign="new", parts=(nodes.Name(text="Set"), *given)):
                self.waiting += given
            case nodes.Operation(sign=sign, parts=parts):
                self.sums += sign == "+"
                self.waiting += parts
                return sign in _SIGNS
            case nodes.Call(of=of, arguments=given):
                return self._call(of, given)
            case _:
                return False
        return True

    def _call(self, of: Node, given: tuple[Node, ...]) -> bool:
        match of:
            case nodes.Name(text=name):
                self.waiting += given
                return name in _FUNCTIONS
            case nodes.Member(of=nodes.Name(text=owner), name=name) if owner in _STATICS:
                self.waiting += given
                return name in _STATICS[owner]
            case nodes.Member(of=of, name=name):
                self.waiting.append(of)
                return self._calls_back(given) if name in _CALLERS else self._method(name, given)
            case _:
                return False

    def _method(self, name: str, given: tuple[Node, ...]) -> bool:
        self.growing += name in _GROWING
        match given:
            case (nodes.Literal(value=str() as text),) if len(text) <= _SHORT:
                pass
            case _:
                self.searches += name in _SEARCHES
        if name == "match" and not (given and isinstance(given[0], nodes.Atom)):
            return False  # a text would become a regular expression
        if name in ("replace", "replaceAll") and len(given) == 2 and isinstance(given[1], nodes.Function):
            self.waiting.append(given[0])
            return self._calls_back(given[1:])
        self.waiting += given
        return name in _METHODS

    def _calls_back(self, given: tuple[Node, ...]) -> bool:
        match given:
            case (nodes.Name(text=name),):  # `list.filter(Boolean)`
                return name in _FUNCTIONS
            case (nodes.Function(arrow=True, parameters=parameters, body=body), *others) if not isinstance(
                body, nodes.Block
            ):
                self.loops += 1
                self.waiting += (body, *others)
                return all(map(_only_names, parameters))
            case _:
                return False


def _only_names(pattern: Node) -> bool:
    """No value is worked out for a parameter, and none takes the name of something that may be called."""
    match pattern:
        case nodes.Name(text=text):
            return text not in _OWN
        case nodes.Array(items=items):
            return all(map(_only_names, items))
        case nodes.Object(members=members):
            return all(isinstance(key, str) and _only_names(part) for key, part in members)
        case _:
            return False
