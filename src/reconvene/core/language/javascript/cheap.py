"""Which expressions are cheap whatever their data is: those that may run in this process.

One job: an upper bound of the work, from the tokens alone. The engine looks at its clock only now and then, and never
inside its own loops (`String.raw({raw: {length: 1e9}})`), so none of its limits holds. An expression is cheap when its
tokens show that it has no loop of its own but one over a list, calls only methods whose work follows from the size of
the data, and names nothing that could call anything else. All others run where they can be killed. In doubt it says no:
that costs time only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reconvene.core.language.javascript.lexer import Lexer, words

MOST = 200_000_000  # steps of the engine's native code, each about a nanosecond

_WORDS = words("true false null undefined NaN Infinity typeof in new")
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
_SHORT = 100
_CALLERS = words("some every filter map find findIndex findLast findLastIndex")
_SIGNS = words("( ) [ ] { } , . ?. : ? ?? => + - * / % ** == === != !== < > <= >= && || ! & | ^ ~ << >> >>>")
# Keys of an object that the engine itself would call or follow.
_CALLED = words("toString valueOf toJSON __proto__ constructor length")
_ENDS = words(") ] }")  # what may stand before a call of something computed
_PLAIN_REGEX = re.compile(r"/(?:[^()\\]|\\[^\dkpPu]|\((?!\?)|\(\?:|\)(?![*+{]))*/[gimsy]*")
_LONGEST_REGEX = 300


class Shape(NamedTuple):
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


def shape(lexer: Lexer) -> Shape | None:
    return _Judge(lexer).shape()


def has_only_plain_regexes(lexer: Lexer) -> bool:
    """Whether compiling is cheap. What makes compiling expensive are classes of Unicode characters."""
    return all(_is_plain(token.text) for token in lexer.tokens if token.kind == "regex")


def _is_plain(regex: str) -> bool:
    """It looks at the clock while it runs; only not while it looks ahead or back."""
    return len(regex) <= _LONGEST_REGEX and _PLAIN_REGEX.fullmatch(regex) is not None


class _Judge:
    def __init__(self, lexer: Lexer) -> None:
        self._tokens = lexer.tokens
        self._pairs = lexer.pairs
        self._parents = lexer.parents
        self._growing = 0
        self._searches = 0

    def shape(self) -> Shape | None:
        for index, token in enumerate(self._tokens):
            match token.kind:
                case "number":
                    continue
                case "string":
                    fine = self._string(index)
                case "regex":
                    fine = _is_plain(token.text)
                case "punctuation":
                    fine = token.text in _SIGNS and self._sign_is_fine(index)
                case "name":
                    fine = self._name(index)
                case _:
                    fine = False
            if not fine:
                return None
        signs = [token.text for token in self._tokens if token.kind == "punctuation"]
        return Shape(len(self._tokens), signs.count("+"), signs.count("=>"), self._growing, self._searches)

    def _sign(self, index: int) -> str:
        token = self._tokens[index] if 0 <= index < len(self._tokens) else None
        return token.text if token is not None and token.kind == "punctuation" else ""

    def _word(self, index: int) -> str:
        token = self._tokens[index] if 0 <= index < len(self._tokens) else None
        return token.text if token is not None and token.kind == "name" else ""

    def _string(self, index: int) -> bool:
        if self._sign(index + 1) == "(":
            return False
        text = self._tokens[index].text
        return not self._is_key(index) or ("\\" not in text and text[1:-1] not in _CALLED)

    def _is_key(self, index: int) -> bool:
        inside = self._sign(self._parents[index]) == "{"
        return inside and self._sign(index - 1) in ("{", ",") and self._sign(index + 1) in (":", ",", "}")

    def _sign_is_fine(self, index: int) -> bool:
        before = self._sign(index - 1)
        match self._sign(index):
            case "(":
                kind = self._tokens[index - 1].kind if index else "punctuation"
                return before not in _ENDS and before != "?." and kind in ("punctuation", "name")
            case "{":
                return before != "=>"  # statements
            case "[":  # a computed key
                return not (self._sign(self._parents[index]) == "{" and before in ("{", ","))
        return True

    def _name(self, index: int) -> bool:
        word = self._word(index)
        called = self._sign(index + 1) == "("
        if self._sign(index - 1) in (".", "?."):
            return self._property(index, word, called)
        if self._is_key(index):
            return word not in _CALLED
        if called:
            return word in _FUNCTIONS or word in ("typeof", "in") or (word == "Set" and self._word(index - 1) == "new")
        if word == "new":
            return self._word(index + 1) == "Set" and self._sign(index + 2) == "("
        if word in _STATICS and self._sign(index + 1) == ".":
            return self._word(index + 2) in _STATICS[word] and self._sign(index + 3) == "("
        if word in _FUNCTIONS or word in _STATICS:
            return self._is_callback(index)
        return word in _WORDS or word not in _OTHER

    def _property(self, index: int, word: str, called: bool) -> bool:
        if not called:
            return True  # whatever it gives: nothing but the calls that are known here calls anything
        if self._word(index - 2) in _STATICS and self._sign(index - 3) not in (".", "?."):
            return word in _STATICS[self._word(index - 2)]
        if word in _CALLERS:
            return self._takes_callback(index + 2)
        self._growing += word in _GROWING
        self._searches += word in _SEARCHES and not self._takes_short_text(index + 2)
        if word == "match":  # a text would become a regular expression
            return self._tokens[index + 2].kind == "regex"
        return word in _LINEAR or word in _SEARCHES or word in _GROWING

    def _takes_short_text(self, first: int) -> bool:
        token = self._tokens[first]
        return token.kind == "string" and len(token.text) <= _SHORT and self._sign(first + 1) == ")"

    def _takes_callback(self, first: int) -> bool:
        """Whether what stands at `first` is an arrow function, or one of the plain functions alone."""
        arrow = self._pairs[first] + 1 if self._sign(first) == "(" else first + 1
        return self._sign(arrow) == "=>" or (self._word(first) in _FUNCTIONS and self._is_callback(first))

    def _is_callback(self, index: int) -> bool:
        """`list.filter(Boolean)`"""
        named = self._word(index - 2) in _CALLERS and self._sign(index - 3) in (".", "?.")
        return self._sign(index - 1) == "(" and self._sign(index + 1) == ")" and named


# Everything else that stands for something of the engine's own, or begins a statement.
_OTHER = words(
    "Object Array String Number Boolean Map Set RegExp Date Math JSON Error TypeError RangeError SyntaxError"
    " ReferenceError encodeURIComponent decodeURIComponent encodeURI decodeURI arguments eval this super"
    " break case catch class const continue debugger default delete do else enum export extends finally for function if"
    " import instanceof let return switch throw try var void while with yield async await of get set static"
)
