"""Reads the names out of a JavaScript expression without running it.

One job: which names a source uses from outside itself, and which sources are refused before any engine sees them. It
knows a little about scopes but is no parser: in doubt it reports a name too many, never one too few. It must not know
the engine, nor which names are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reconvene.core.language.javascript.lexer import Lexer, ScanError, Token, words

KEYWORDS = words(
    "break case catch class const continue debugger default delete do else enum export extends false finally for"
    " function if import in instanceof let new null return super switch this throw true try typeof var void while"
    " with yield"
)
GLOBALS = words(
    "Object Array String Number Boolean Map Set RegExp Date Math JSON Error TypeError RangeError SyntaxError"
    " ReferenceError parseInt parseFloat isNaN isFinite undefined NaN Infinity encodeURIComponent decodeURIComponent"
    " encodeURI decodeURI"
)
# Words that would let an expression outlive its evaluation, hide a limit it ran into, or reach for other code.
_REFUSED = {
    "async": "nothing can be awaited here",
    "await": "nothing can be awaited here",
    "import": "other code cannot be loaded",
    "try": "errors must show, not be caught",
    "class": "write a plain object instead",
    "debugger": "there is nothing to debug with here",
}
_STATEMENTS = words("break const continue do for if let return switch throw var while with")
_LOOPS = words("for while do")  # what a label may stand before
_ASSIGN = words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=")
# `context.hasOwnProperty('x')` looks at the whole of `context`, though it reads like one key of it.
_INHERITED = words(
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf __proto__"
    " __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__"
)
_BINDERS = words("=> function const let var")
MOST_BINDERS = 200
_MOST_STEPS = 300_000  # of looking where a function or a declaration ends
_NONE = Token("", "", False)


class Region(NamedTuple):
    """Tokens `start`..`end` (inclusive) inside which `names` are the expression's own."""

    start: int
    end: int
    names: frozenset[str]


class Findings(NamedTuple):
    """`…_keys` None = it may look at any part."""

    roots: frozenset[str]
    context_keys: frozenset[str] | None
    feedback_keys: frozenset[str] | None


def scan(source: str) -> Findings:
    """The free names of `source`. Raises ScanError for what no expression may hold."""
    return _Reader(Lexer(source)).findings()


def free_names(lexer: Lexer) -> frozenset[int]:
    """Where, among the tokens, a name from outside is used."""
    return frozenset(_Reader(lexer).free)


class _Reader:
    def __init__(self, lexer: Lexer) -> None:
        self._tokens = lexer.tokens
        self._pairs = lexer.pairs
        self._parents = lexer.parents
        if sum(token.text in _BINDERS for token in self._tokens) > MOST_BINDERS:
            raise ScanError(f"the expression holds more than {MOST_BINDERS} functions and declarations")
        self._steps = 0
        self._regions = [region for index in range(len(self._tokens)) for region in self._regions_at(index)]
        self.free = {index for index, token in enumerate(self._tokens) if self._is_free(index, token)}

    def findings(self) -> Findings:
        self._refuse_statements()
        self._refuse_writes()
        roots = frozenset(self._tokens[index].text for index in self.free) - GLOBALS
        return Findings(roots, self._keys("context"), self._keys("feedback"))

    def _keys(self, root: str) -> frozenset[str] | None:
        uses = [self._key(index) for index in self.free if self._tokens[index].text == root]
        return None if None in uses else frozenset(key for key in uses if key is not None)

    def _at(self, index: int) -> Token:
        return self._tokens[index] if 0 <= index < len(self._tokens) else _NONE

    def _sign(self, index: int) -> str:
        """The punctuation at `index`, "" for anything else (a string may hold the same text)."""
        token = self._at(index)
        return token.text if token.kind == "punctuation" else ""

    def _word(self, index: int) -> str:
        token = self._at(index)
        return token.text if token.kind == "name" else ""

    # What is refused

    def _refuse_statements(self) -> None:
        for index, token in enumerate(self._tokens):
            if token.kind == "name" and token.text in _REFUSED and not self._is_label(index):
                raise ScanError(f"'{token.text}' cannot be used in an expression: {_REFUSED[token.text]}")
            if self._word(index) == "throw" and self._word(index + 1) == "null" and not self._is_label(index):
                raise ScanError("'throw null' does not say what is wrong; throw a text")
            if self._parents[index] == -1 and self._sign(index) == ";":
                raise ScanError("';' ends a statement; write one expression that gives a value, without ';'")
        if (word := self._word(0)) in _STATEMENTS:
            raise ScanError(f"'{word}' begins a statement; write one expression that gives a value")

    def _refuse_writes(self) -> None:
        for index in range(len(self._tokens)):
            sign = self._sign(index)
            if sign in _ASSIGN:
                self._refuse_write(self._base(index - 1), index, " (did you mean '==='?)" if sign == "=" else "")
            elif sign in ("++", "--"):
                self._refuse_write(self._base(index - 1), index)
                self._refuse_write(index + 1, index + 2)
            elif self._word(index) == "delete" and not self._is_label(index):
                self._refuse_write(index + 1, index + 2)

    def _refuse_write(self, base: int, end: int, advice: str = "") -> None:
        if base in self.free:
            target = "".join(token.text for token in self._tokens[base:end])
            raise ScanError(f"'{target}' would be changed, but an expression only reads{advice}")

    def _base(self, index: int) -> int:
        """Where the chain `a.b[c]` that ends at `index` begins, -1 when it is no such chain."""
        while index >= 0:
            if self._sign(index) == "]":
                index = self._pairs[index] - 1
                index -= self._sign(index) == "?."
            elif self._word(index) and self._sign(index - 1) in (".", "?."):
                index -= 2
            else:
                return index if self._word(index) else -1
        return -1

    # Which names are free

    def _is_free(self, index: int, token: Token) -> bool:
        if token.kind != "name" or token.text in KEYWORDS or self._is_label(index):
            return False
        return not any(r.start <= index <= r.end and token.text in r.names for r in self._regions)

    def _is_label(self, index: int) -> bool:
        """A word that is no reference: a property, an object's key or method, the `of` of a loop."""
        before, after = self._sign(index - 1), self._sign(index + 1)
        if before in (".", "?."):
            return True
        in_braces = self._sign(self._parents[index]) == "{"
        if in_braces and before in ("{", ",") and after == ":":
            return True
        if in_braces and before in (";", "}", ")") and after == ":" and self._word(index + 2) in _LOOPS:
            return True
        if self._word(index - 1) in ("break", "continue") and not self._at(index).newline:
            return self._sign(index - 2) not in (".", "?.")
        if in_braces and self._is_method(index):
            return True
        if in_braces and before in ("{", ",") and self._word(index) in ("get", "set"):
            return self._is_method(index + 1)
        in_for = self._sign(self._parents[index]) == "(" and self._word(self._parents[index] - 1) == "for"
        return self._word(index) == "of" and in_for and not before.startswith(("(", "=", ","))

    def _is_method(self, index: int) -> bool:
        """`name(…) {` inside braces, where no statement such as `if (…) {` could stand."""
        if self._sign(index + 1) != "(" or self._word(index) in KEYWORDS:
            return False
        before = self._sign(index - 1) or self._word(index - 1)
        return before in ("{", ",", "*", "get", "set") and self._sign(self._pairs[index + 1] + 1) == "{"

    def _key(self, index: int) -> str | None:
        following = index + 1
        if self._sign(following) in (".", "?."):
            following += 1
            if name := self._word(following):
                return None if name in _INHERITED else name
        if self._sign(following) == "[" and self._pairs[following] == following + 2:
            key = self._at(following + 1)
            if key.kind == "string" and "\\" not in key.text and key.text[1:-1] not in _INHERITED:
                return key.text[1:-1]
        return None

    # Where names are bound

    def _regions_at(self, index: int) -> Iterator[Region]:
        word, sign = self._word(index), self._sign(index)
        if sign == "=>":
            yield self._arrow(index)
        elif word == "function" and self._sign(index - 1) not in (".", "?."):
            yield from self._function(index)
        elif word in ("const", "let", "var") and self._sign(index - 1) not in (".", "?."):
            yield from self._declaration(index)
        elif sign == "(" and self._is_method(index - 1) and self._sign(self._parents[index]) == "{":
            close = self._pairs[index]
            yield Region(index, self._pairs[close + 1], frozenset(("arguments", *self._list(index + 1, close))))

    def _arrow(self, index: int) -> Region:
        if self._sign(index - 1) == ")":
            start = self._pairs[index - 1]
            names = frozenset(self._list(start + 1, index - 1))
        else:
            start, names = index - 1, frozenset((self._word(index - 1),))
        if self._sign(index + 1) == "{":
            return Region(start, self._pairs[index + 1], names)
        return Region(start, self._expression_end(index + 1) - 1, names)

    def _function(self, index: int) -> Iterator[Region]:
        at = index + 1 + (self._sign(index + 1) == "*")
        name = self._word(at)
        at += bool(name)
        if self._sign(at) != "(" or self._sign(self._pairs[at] + 1) != "{":
            return
        names = frozenset((name, "arguments", *self._list(at + 1, self._pairs[at])))
        yield Region(index, self._pairs[self._pairs[at] + 1], names)
        outside = self._parents[index]
        if self._sign(outside) == "{" and self._sign(index - 1) in ("{", "}", ";"):
            yield Region(outside, self._pairs[outside], frozenset((name,)))

    def _declaration(self, index: int) -> Iterator[Region]:
        outside = self._parents[index]
        if self._sign(outside) == "{":
            start, end = outside, self._pairs[outside]
        elif self._sign(outside) == "(" and self._word(outside - 1) == "for":
            start, end = outside, self._loop_end(self._pairs[outside] + 1)
        else:
            return
        yield Region(start, end, frozenset(self._declared(index + 1)))

    def _loop_end(self, body: int) -> int:
        if self._sign(body) == "{":
            return self._pairs[body]
        return self._expression_end(body)

    def _declared(self, at: int) -> Iterator[str]:
        while True:
            found, at = self._pattern(at)
            yield from found
            if self._sign(at) == "=":
                end = self._expression_end(at + 1)
                # A line break may have ended the statement: then a comma further on declares nothing.
                if any(token.newline for token in self._tokens[at + 1 : end]):
                    return
                at = end
            if self._sign(at) != ",":
                return
            at += 1

    def _list(self, at: int, end: int) -> list[str]:
        """The names bound by the patterns between two brackets."""
        names: list[str] = []
        while at < end:
            at += self._sign(at) == "..."
            if self._sign(at) != ",":
                found, at = self._pattern(at)
                names += found
            if self._sign(at) == "=":
                at = self._expression_end(at + 1)
            if self._sign(at) != ",":
                break
            at += 1
        return names

    def _pattern(self, at: int) -> tuple[list[str], int]:
        if name := self._word(at):
            return [name], at + 1
        if self._sign(at) == "[":
            return self._list(at + 1, self._pairs[at]), self._pairs[at] + 1
        if self._sign(at) == "{":
            return self._members(at + 1, self._pairs[at]), self._pairs[at] + 1
        return [], at + 1

    def _members(self, at: int, end: int) -> list[str]:
        """The names bound by `{a, b: c, [d]: e = 1, ...rest}`, its braces taken off."""
        names: list[str] = []
        while at < end:
            at += self._sign(at) == "..."
            key = self._word(at)
            at = self._pairs[at] + 1 if self._sign(at) == "[" else at + 1
            if self._sign(at) == ":":
                found, at = self._pattern(at + 1)
                names += found
            elif key:
                names.append(key)
            if self._sign(at) == "=":
                at = self._expression_end(at + 1)
            if self._sign(at) != ",":
                break
            at += 1
        return names

    def _expression_end(self, at: int) -> int:
        """The index just after the expression that starts at `at` (no comma operator)."""
        choices = 0
        while at < len(self._tokens):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise ScanError("the expression holds too many functions for its length; divide it")
            sign = self._sign(at)
            if sign in ("(", "[", "{", "${"):
                at = self._pairs[at]
            elif sign in (",", ";", ")", "]", "}"):
                break
            elif sign == "?":
                choices += 1
            elif sign == ":":
                if not choices:
                    break
                choices -= 1
            at += 1
        return at
