"""Goes along the tokens of a source, and says in words why it cannot go on.

One job: one token after the other. It must not know what they mean together.
"""

from __future__ import annotations

from typing import NoReturn

from reconvene.language.javascript.lexer import Lexer, Refused, Token, words

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
_END = Token("end", "", False)


class Cursor:
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
