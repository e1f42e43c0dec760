"""Cuts a JavaScript expression into tokens, pairs its brackets, and goes along them.

One job: tokens. It knows strings, template literals, comments and regular expressions, so that a bracket or a name
inside one of them is never taken for code. It must not know scopes, names that are allowed, or the engine.
"""

from __future__ import annotations

import re
from typing import NoReturn

from msgspec import Struct


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LONGEST = 20_000
DEEPEST = 100

_CLOSER = {"(": ")", "[": "]", "{": "}", "${": "}"}
_NEWLINES = "\n\r\u2028\u2029"
_SPACE = re.compile(rf"[\s\ufeff]+|//[^{_NEWLINES}]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(
    r"(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)n?", re.ASCII
)
_NAME = re.compile(r"(?:[^\W\d]|\$)[\w$\u200c\u200d]*")
_STRING = re.compile(r"'(?:[^'\\\n\r]|\\(?:\r\n|.))*'|\"(?:[^\"\\\n\r]|\\(?:\r\n|.))*\"", re.DOTALL)
# Slow to compile, and rare: compiled when one is met.
_REGEX = rf"/(?:[^/\\\[{_NEWLINES}]|\\[^{_NEWLINES}]|\[(?:[^\]\\{_NEWLINES}]|\\[^{_NEWLINES}])*\])+/[\w$]*"
_CHUNK = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(`|\$\{)", re.DOTALL)
_PUNCTUATION = re.compile(
    r">>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|\+=|-=|\*="
    r"|/=|%=|&=|\|=|\^=|<<|>>|\*\*|[{}()\[\];,<>+\-*/%&|^!~?:=.]"
)
# After these words an operand follows, so that a slash begins a regular expression.
_BEFORE_OPERAND = words("return typeof instanceof in of new delete void throw case do else yield default extends")
_HEADS = words("if for while with")  # (…) after one of these is not a value
_KEYWORDS = words(
    "break case catch const continue default delete do else enum export extends finally for function if in instanceof"
    " let new null return super switch this throw true false typeof var void while with yield"
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


class Refused(Exception):
    """The source is refused; the message is a plain sentence."""


class Token(Struct, frozen=True):
    kind: str  # name | number | string | template | regex | punctuation
    text: str
    newline: bool  # a line break stands before it


def _is_text(source: str) -> bool:
    try:
        return b"\0" not in source.encode()
    except UnicodeEncodeError:
        return False


class Lexer:
    """`tokens`, and `pairs` (opening index ↔ closing index)."""

    def __init__(self, source: str) -> None:
        self.tokens: list[Token] = []
        self.pairs: dict[int, int] = {}
        self._source = source
        self._open: list[int] = []
        self._newline = False
        if not source.strip():
            raise Refused("the expression is empty")
        if len(source) > LONGEST:
            raise Refused(f"the expression is longer than {LONGEST} characters")
        if not _is_text(source):
            raise Refused("the expression holds a character that is not text (NUL, or half of a surrogate pair)")
        at = 0
        while at < len(source):
            at = self._step(at)
        if self._open:
            raise Refused(f"'{self.tokens[self._open[-1]].text}' is never closed")

    def _step(self, at: int) -> int:
        source = self._source
        if space := _SPACE.match(source, at):
            self._newline = self._newline or any(mark in space[0] for mark in _NEWLINES)
            return space.end()
        if source.startswith("<!--", at) or (self._newline and source.startswith("-->", at)):
            raise Refused("'<!--' and '-->' begin comments in JavaScript; put spaces between the signs")
        char = source[at]
        if char == "`":
            return self._chunk(at + 1)
        if char == "}" and self._open and self.tokens[self._open[-1]].text == "${":
            self._add("punctuation", "}")
            return self._chunk(at + 1)
        kind, end = self._next(char, at)
        self._add(kind, source[at:end])
        return end

    def _next(self, char: str, at: int) -> tuple[str, int]:
        if char in "'\"":
            return "string", self._match(_STRING, at, "a string is never closed")
        if char == "/" and self._operand_follows():
            return "regex", self._match(re.compile(_REGEX), at, "a comment or a regular expression is never closed")
        if char in "0123456789" or (char == "." and self._source[at + 1 : at + 2] in tuple("0123456789")):
            end = self._match(_NUMBER, at, "a number cannot be read")
            if self._source[end - 1] == "n":
                raise Refused(f"big integers such as {self._source[at:end]} are not available; write a plain number")
            return "number", end
        if char == "\\":
            raise Refused("a name is spelt with an escape ('\\'); write it out")
        if name := _NAME.match(self._source, at):
            return "name", name.end()
        return "punctuation", self._match(_PUNCTUATION, at, f"unexpected character {char!r}")

    def _chunk(self, at: int) -> int:
        """The text of a template literal up to its end or its next `${`."""
        end = self._match(_CHUNK, at, "a template literal is never closed")
        self._add("template", self._source[at:end])
        if self._source[end - 1] == "{":
            self._add("punctuation", "${")
        return end

    def _match(self, pattern: re.Pattern[str], at: int, problem: str) -> int:
        found = pattern.match(self._source, at)
        if found is None:
            raise Refused(problem)
        return found.end()

    def _add(self, kind: str, text: str) -> None:
        index = len(self.tokens)
        if kind == "punctuation" and text in (")", "]", "}"):
            if not self._open or _CLOSER[self.tokens[self._open[-1]].text] != text:
                raise Refused(f"'{text}' closes nothing")
            start = self._open.pop()
            self.pairs[start], self.pairs[index] = index, start
        self.tokens.append(Token(kind, text, self._newline))
        self._newline = False
        if kind == "punctuation" and text in _CLOSER:
            self._open.append(index)
            if len(self._open) > DEEPEST:
                raise Refused(f"brackets are nested more than {DEEPEST} deep")

    def _operand_follows(self) -> bool:
        """Whether a slash here begins a regular expression rather than dividing."""
        if not self.tokens:
            return True
        last = self.tokens[-1]
        if last.kind == "name":
            return last.text in _BEFORE_OPERAND and self._before(len(self.tokens) - 1).text not in (".", "?.")
        if last.kind != "punctuation":
            return False
        match last.text:
            case "]" | "++" | "--":
                return False
            case ")":
                return self._before(self.pairs[len(self.tokens) - 1]).text in _HEADS
            case "}":
                return self._ends_block(self.pairs[len(self.tokens) - 1])
        return True

    def _ends_block(self, opening: int) -> bool:
        """Whether `{` at `opening` began statements (a regular expression may follow) rather than an object."""
        before = self._before(opening)
        return before.text in (")", "=>", ";", "{", "}", "else", "do") and before.kind != "string"

    def _before(self, index: int) -> Token:
        return self.tokens[index - 1] if index else Token("", "", False)


_END = Token("end", "", False)


class Cursor:
    """Goes from one token to the next, and says in words why it cannot go on."""

    def __init__(self, lexer: Lexer) -> None:
        self._tokens = lexer.tokens
        self._pairs = lexer.pairs
        self._at = 0

    def _token(self, ahead: int = 0) -> Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _END

    def _sign(self, ahead: int = 0) -> str:
        """Punctuation, or a word that works like it."""
        token = self._token(ahead)
        return token.text if token.kind in ("punctuation", "name") else ""

    def _take(self, text: str) -> bool:
        if self._sign() != text:
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._take(text):
            self._unexpected()

    def _unexpected(self) -> NoReturn:
        """Raises Refused for the token that stands here."""
        token = self._token()
        if token.kind == "end":
            raise Refused("the expression ends before it is complete")
        if token.kind == "name":
            self._refuse_word(token.text)
        if token.text in (")", "]", "}"):
            raise Refused(f"something is missing before '{token.text}'")
        if token.kind == "punctuation" or token.text in _KEYWORDS:
            raise Refused(f"unexpected token '{token.text}'")
        raise Refused(f"one expression is expected; an operator or a comma is missing before '{token.text}'")

    def _refuse_word(self, word: str) -> None:
        if why := _REFUSED.get(word):
            raise Refused(f"'{word}' cannot be used in an expression: {why}")

    def _word(self) -> str:
        token = self._token()
        if token.kind != "name":
            self._unexpected()
        self._at += 1
        return token.text

    def _name(self) -> str:
        """A word that may be given to a value."""
        token = self._token()
        if token.kind != "name" or token.text in _KEYWORDS or token.text in _REFUSED:
            self._unexpected()
        self._at += 1
        return token.text
