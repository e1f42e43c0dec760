"""A JavaScript expression as a tree, for whoever wants to know what it looks at without running it.

One job: from source to nodes. The engine decides what is valid; this reads what is. Where it meets a construct that it
does not know, the tree holds only the plain look-ups (`a.b.c`) that can be read off the tokens. It must not know which
names are allowed, nor what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconvene.core.javascript.lexer import Lexer, ScanError, Token, words
from reconvene.core.javascript.scan import free_names


@dataclass(frozen=True, slots=True)
class Name:
    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; None also stands for null, and for a text or a regular expression that is not read further."""

    value: str | int | float | bool | None = None
    plain: bool = True  # False: some value that is not looked at any further


@dataclass(frozen=True, slots=True)
class Member:
    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    of: Node
    at: Node


@dataclass(frozen=True, slots=True)
class Call:
    of: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function:
    parameters: tuple[Pattern, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Object:
    """Key None: a key that is computed, or all members of the value (`...value`)."""

    members: tuple[tuple[str | None, Node], ...]


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    of: Node


@dataclass(frozen=True, slots=True)
class Choice:
    test: Node
    then: Node
    other: Node


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and what it works on. Sign "`" = a template literal, "=" = any assignment, "" = several in turn."""

    sign: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    pattern: Pattern
    value: Node


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (pattern of value) body`; keys: `in` instead of `of`."""

    pattern: Pattern
    value: Node
    body: Node
    keys: bool


@dataclass(frozen=True, slots=True)
class Return:
    value: Node


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Node, ...]


Node = (
    Name
    | Literal
    | Member
    | Index
    | Call
    | Function
    | Object
    | Array
    | Spread
    | Choice
    | Operation
    | Declaration
    | Loop
    | Return
    | Block
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A name, or with `parts` what is taken apart: by key (texts), or by position (None)."""

    name: str = ""
    default: Node | None = None
    parts: tuple[tuple[str | None, Bound], ...] = ()
    rest: bool = False
    by_key: bool = False


Pattern = Bound

_SOMETHING = Literal(None, plain=False)
_NOTHING = Literal(None)
_ASSIGN = words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=")
_BINARY = {
    sign: level
    for level, signs in enumerate(
        ("??", "||", "&&", "|", "^", "&", "== != === !==", "< > <= >= in instanceof", "<< >> >>>", "+ -", "* / %", "**")
    )
    for sign in signs.split()
}
_UNARY = words("! ~ + - ++ -- typeof void delete")
_CONSTANTS: dict[str, Literal] = {"true": Literal(True), "false": Literal(False), "null": _NOTHING}
_NOT_NAMES = words("this super class import yield async await")
_END = Token("", "", False)


def parse(source: str) -> Node:
    """Never fails on what the engine accepts; what cannot be read at all has no look-ups."""
    try:
        lexer = Lexer(source)
    except ScanError:
        return _SOMETHING
    try:
        return _Parser(lexer).whole()
    except (_Unread, RecursionError):
        return look_ups(source)


class _Unread(Exception):
    """A construct that is not known here."""


class _Parser:
    def __init__(self, lexer: Lexer) -> None:
        self._tokens = lexer.tokens
        self._pairs = lexer.pairs
        self._at = 0

    def whole(self) -> Node:
        tree = self._sequence()
        if self._at < len(self._tokens):
            raise _Unread
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
            raise _Unread

    def _word(self) -> str:
        token = self._token()
        if token.kind != "name":
            raise _Unread
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
        return Function(parameters, self._block() if self._sign() == "{" else self._single())

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
            return Operation("=", (found, _SOMETHING))
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
                raise _Unread
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
                return _SOMETHING
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
        raise _Unread

    def _named(self, word: str) -> Node:
        if word == "function":
            return self._function()[1]
        if word in _NOT_NAMES:
            raise _Unread
        self._at += 1
        return _CONSTANTS.get(word) or Name(word)

    def _function(self) -> tuple[str, Function]:
        self._expect("function")
        name = self._word() if self._token().kind == "name" else ""
        return name, Function(self._patterns("("), self._block())

    def _template(self) -> Node:
        parts: list[Node] = []
        while True:
            chunk = self._token()
            if chunk.kind != "template":
                raise _Unread
            self._at += 1
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
                raise _Unread
        return Object(tuple(members))

    def _member(self) -> tuple[str | None, Node]:
        if self._take("..."):
            return None, self._single()
        key, computed = self._key()
        if self._sign() == "(":
            return key, Function(self._patterns("("), self._block())
        if self._take(":"):
            value = self._single()
            return key, Operation(",", (computed, value)) if computed else value
        if key is None or self._sign() not in (",", "}"):
            raise _Unread
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
                raise _Unread
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
                raise _Unread
        return tuple(found)

    # statements, inside a function's braces

    def _block(self) -> Block:
        self._expect("{")
        found: list[Node] = []
        while not self._take("}"):
            found.append(self._statement())
        return Block(tuple(found))

    def _statement(self) -> Node:
        if self._take(";"):
            return Block(())
        match self._sign():
            case "{":
                return self._block()
            case "const" | "let" | "var":
                return self._ended(self._declarations())
            case "return" | "throw":
                self._at += 1
                bare = self._sign() in (";", "}") or self._token().newline
                return self._ended(Return(_NOTHING if bare else self._sequence()))
            case "if":
                return self._if()
            case "for":
                return self._for()
            case "while":
                self._at += 1
                return Block((self._bracketed(), self._statement()))
            case "break" | "continue":
                self._at += 1
                return self._ended(Block(()))
            case "function":
                name, function = self._function()
                return Declaration(Bound(name), function)
            case "do" | "switch" | "try" | "with":
                raise _Unread
        return self._ended(self._sequence())

    def _ended(self, statement: Node) -> Node:
        if not self._take(";") and self._sign() != "}" and not self._token().newline:
            raise _Unread
        return statement

    def _bracketed(self) -> Node:
        self._expect("(")
        inner = self._sequence()
        self._expect(")")
        return inner

    def _declarations(self) -> Node:
        self._at += 1
        found: list[Node] = []
        while True:
            pattern = self._pattern()
            bound = Bound(pattern.name, None, pattern.parts, by_key=pattern.by_key)
            found.append(Declaration(bound, pattern.default or _NOTHING))
            if not self._take(","):
                return Block(tuple(found)) if len(found) > 1 else found[0]

    def _if(self) -> Node:
        self._at += 1
        test = self._bracketed()
        then = self._statement()
        return Block((test, then, *([self._statement()] if self._take("else") else [])))

    def _for(self) -> Node:
        self._at += 1
        self._expect("(")
        if self._sign() not in ("const", "let", "var"):
            raise _Unread
        start = self._at
        self._at += 1
        pattern = self._pattern()
        if self._sign() in ("of", "in"):
            keys = self._sign() == "in"
            self._at += 1
            value = self._sequence()
            self._expect(")")
            return Loop(pattern, value, self._statement(), keys)
        self._at = start
        head: list[Node] = [self._declarations()]
        for close in (";", ")"):
            self._expect(";")
            if self._sign() != close:
                head.append(self._sequence())
        self._expect(")")
        return Block((*head, self._statement()))


def look_ups(source: str) -> Node:
    """Only the `a.b.c` that begin with a name from outside, read off the tokens one by one."""
    try:
        lexer = Lexer(source)
        free = free_names(lexer)
    except ScanError:
        return _SOMETHING
    found: list[Node] = []
    tokens = lexer.tokens
    for start in sorted(free):
        node: Node = Name(tokens[start].text)
        at = start + 1
        while at + 1 < len(tokens) and tokens[at].text in (".", "?.") and tokens[at + 1].kind == "name":
            node = Member(node, tokens[at + 1].text)
            at += 2
        found.append(node)
    return Array(tuple(found))
