"""Reads one JavaScript expression into nodes: names, look-ups, calls, operators, functions, what they bind.

One job: expressions. What stands between the braces of a function is left to whoever knows statements.
"""

from __future__ import annotations

from reconvene.core.language.javascript.lexer import Lexer, Token, words
from reconvene.core.language.javascript.nodes import (
    Array,
    Block,
    Bound,
    Call,
    Choice,
    Function,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Object,
    Operation,
    Pattern,
    Spread,
)

SOMETHING = Literal(None, plain=False)
NOTHING = Literal(None)
_ASSIGN = words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=")
_BINARY = {
    sign: level
    for level, signs in enumerate(
        ("??", "||", "&&", "|", "^", "&", "== != === !==", "< > <= >= in instanceof", "<< >> >>>", "+ -", "* / %", "**")
    )
    for sign in signs.split()
}
_UNARY = words("! ~ + - ++ -- typeof void delete")
_CONSTANTS: dict[str, Literal] = {"true": Literal(True), "false": Literal(False), "null": NOTHING}
_NOT_NAMES = words("this super class import yield async await")
_END = Token("", "", False)


class Unread(Exception):
    """A construct that is not known here."""


class Expressions:
    def __init__(self, lexer: Lexer) -> None:
        self._tokens = lexer.tokens
        self._pairs = lexer.pairs
        self._at = 0

    def whole(self) -> Node:
        tree = self._sequence()
        if self._at < len(self._tokens):
            raise Unread
        return tree

    # tokens

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
            raise Unread

    def _word(self) -> str:
        token = self._token()
        if token.kind != "name":
            raise Unread
        self._at += 1
        return token.text

    # expressions, from the weakest binding to the strongest

    def _sequence(self) -> Node:
        parts = [self._single()]
        while self._take(","):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else Operation(",", tuple(parts))

    def _single(self) -> Node:
        if self._arrow_follows():
            return self._arrow()
        left = self._choice()
        if self._sign() in _ASSIGN:
            self._at += 1
            return Operation("=", (left, self._single()))
        return left

    def _arrow_follows(self) -> bool:
        if self._token().kind == "name" and self._sign(1) == "=>":
            return True
        if self._sign() != "(":
            return False
        after = self._pairs[self._at] + 1
        return after < len(self._tokens) and self._tokens[after].text == "=>"

    def _arrow(self) -> Node:
        if self._sign() == "(":
            parameters = self._patterns("(")
        else:
            parameters = (Bound(self._word()),)
        self._expect("=>")
        return Function(parameters, self.block() if self._sign() == "{" else self._single())

    def _choice(self) -> Node:
        test = self._binary(0)
        if not self._take("?"):
            return test
        then = self._single()
        self._expect(":")
        return Choice(test, then, self._single())

    def _binary(self, level: int) -> Node:
        left = self._unary()
        while (found := _BINARY.get(self._sign(), -1)) >= level:
            sign = self._sign()
            self._at += 1
            left = Operation(sign, (left, self._binary(found if sign == "**" else found + 1)))
        return left

    def _unary(self) -> Node:
        if self._sign() in _UNARY:
            sign = self._sign()
            self._at += 1
            return Operation(sign, (self._unary(),))
        found = self._postfix(self._new() if self._sign() == "new" else self._primary())
        if self._sign() in ("++", "--") and not self._token().newline:
            self._at += 1
            return Operation("=", (found, SOMETHING))
        return found

    def _new(self) -> Node:
        self._at += 1
        made = self._postfix(self._new() if self._sign() == "new" else self._primary(), calls=False)
        arguments = self._arguments() if self._sign() == "(" else ()
        return Operation("new", (made, *arguments))

    def _postfix(self, node: Node, *, calls: bool = True) -> Node:
        while True:
            sign = self._sign() if self._token().kind == "punctuation" else ""
            optional = sign == "?."
            if optional:
                self._at += 1
                sign = self._sign() if self._token().kind == "punctuation" else "."
            elif sign == ".":
                self._at += 1
            if sign == "." or (optional and sign not in ("[", "(")):
                node = Member(node, self._word())
            elif sign == "[":
                node = self._index(node)
            elif sign == "(" and (calls or optional):
                node = Call(node, self._arguments())
            elif self._token().kind == "template":
                node = Operation("`", (node, self._template()))
            else:
                return node

    def _index(self, node: Node) -> Node:
        self._expect("[")
        at = self._sequence()
        self._expect("]")
        if isinstance(at, Literal) and at.plain and isinstance(at.value, str):
            return Member(node, at.value)
        return Index(node, at)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        return self._listed(")")

    def _listed(self, close: str) -> tuple[Node, ...]:
        """What stands between commas, up to the closing sign."""
        found: list[Node] = []
        while not self._take(close):
            if self._take(","):
                continue
            found.append(Spread(self._single()) if self._take("...") else self._single())
            if self._sign() not in (",", close):
                raise Unread
        return tuple(found)

    def _primary(self) -> Node:
        token = self._token()
        match token.kind:
            case "name":
                return self._named(token.text)
            case "string":
                self._at += 1
                return Literal(token.text[1:-1]) if "\\" not in token.text else Operation("`", ())
            case "number":
                self._at += 1
                return Literal(0)
            case "regex":
                self._at += 1
                return SOMETHING
            case "template":
                return self._template()
        if self._take("("):
            inner = self._sequence()
            self._expect(")")
            return inner
        if self._take("["):
            return Array(self._listed("]"))
        if self._sign() == "{":
            return self._object()
        raise Unread

    def _named(self, word: str) -> Node:
        if word == "function":
            return self._function()[1]
        if word in _NOT_NAMES:
            raise Unread
        self._at += 1
        return _CONSTANTS.get(word) or Name(word)

    def _function(self) -> tuple[str, Function]:
        self._expect("function")
        name = self._word() if self._token().kind == "name" else ""
        return name, Function(self._patterns("("), self.block())

    def _template(self) -> Node:
        parts: list[Node] = []
        while True:
            chunk = self._token()
            if chunk.kind != "template":
                raise Unread
            self._at += 1
            if not parts and chunk.text.endswith("`") and "\\" not in chunk.text:
                return Literal(chunk.text[:-1])
            if not chunk.text.endswith("${"):
                return Operation("`", tuple(parts))
            self._expect("${")
            parts.append(self._sequence())
            self._expect("}")

    def _object(self) -> Node:
        self._expect("{")
        members: list[tuple[str | None, Node]] = []
        while not self._take("}"):
            if self._take(","):
                continue
            members.append(self._member())
            if self._sign() not in (",", "}"):
                raise Unread
        return Object(tuple(members))

    def _member(self) -> tuple[str | None, Node]:
        if self._take("..."):
            return None, self._single()
        key, computed = self._key()
        if self._sign() == "(":
            return key, Function(self._patterns("("), self.block())
        if self._take(":"):
            value = self._single()
            return key, Operation(",", (computed, value)) if computed else value
        if key is None or self._sign() not in (",", "}"):
            raise Unread
        return key, Name(key)

    def _key(self) -> tuple[str | None, Node | None]:
        """A key, None where it is computed; and what computes it."""
        token = self._token()
        if token.kind == "punctuation":
            self._expect("[")
            computed = self._single()
            self._expect("]")
            return None, computed
        self._at += 1
        if token.kind == "string":
            return (token.text[1:-1] if "\\" not in token.text else None), None
        return token.text, None

    # what is bound

    def _patterns(self, opening: str) -> tuple[Pattern, ...]:
        close = {"(": ")", "[": "]"}[opening]
        self._expect(opening)
        found: list[Pattern] = []
        while not self._take(close):
            if self._take(","):
                if opening == "[":
                    found.append(Bound())
                continue
            found.append(self._pattern())
            if not self._take(",") and self._sign() != close:
                raise Unread
        return tuple(found)

    def _pattern(self) -> Pattern:
        rest = self._take("...")
        if self._sign() == "[":
            items = self._patterns("[")
            return Bound("", self._default(), tuple((None, item) for item in items), rest)
        if self._sign() == "{":
            members = self._bound_members()
            return Bound("", self._default(), members, rest, by_key=True)
        name = self._word()
        return Bound(name, self._default(), rest=rest)

    def _default(self) -> Node | None:
        return self._single() if self._take("=") else None

    def _bound_members(self) -> tuple[tuple[str | None, Pattern], ...]:
        self._expect("{")
        found: list[tuple[str | None, Pattern]] = []
        while not self._take("}"):
            if self._take(","):
                continue
            if self._take("..."):
                found.append((None, Bound(self._word(), rest=True)))
            else:
                key, _ = self._key()
                if self._take(":"):
                    found.append((key, self._pattern()))
                elif key is not None:
                    found.append((key, Bound(key, self._default())))
            if self._sign() not in (",", "}"):
                raise Unread
        return tuple(found)

    def block(self) -> Block:
        raise Unread
