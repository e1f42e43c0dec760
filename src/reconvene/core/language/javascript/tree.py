"""A JavaScript expression as a tree, for whoever wants to know what it looks at without running it.

One job: from source to nodes. The engine decides what is valid; this reads what is. Where it meets a construct that it
does not know, the tree holds only the plain look-ups (`a.b.c`) that can be read off the tokens. It must not know which
names are allowed, nor what they mean.
"""

from __future__ import annotations

from reconvene.core.language.javascript.lexer import Lexer, ScanError
from reconvene.core.language.javascript.nodes import Array, Block, Bound, Declaration, Loop, Member, Name, Node, Return
from reconvene.core.language.javascript.reader import NOTHING, SOMETHING, Expressions, Unread
from reconvene.core.language.javascript.scan import free_names


def parse(source: str) -> Node:
    """Never fails on what the engine accepts; what cannot be read at all has no look-ups."""
    try:
        lexer = Lexer(source)
    except ScanError:
        return SOMETHING
    try:
        return _Whole(lexer).whole()
    except (Unread, RecursionError):
        return look_ups(source)


def look_ups(source: str) -> Node:
    """Only the `a.b.c` that begin with a name from outside, read off the tokens one by one."""
    try:
        lexer = Lexer(source)
        free = free_names(lexer)
    except ScanError:
        return SOMETHING
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


class _Whole(Expressions):
    """Expressions, and the statements inside a function's braces."""

    def block(self) -> Block:
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
                return self.block()
            case "const" | "let" | "var":
                return self._ended(self._declarations())
            case "return" | "throw":
                self._at += 1
                bare = self._sign() in (";", "}") or self._token().newline
                return self._ended(Return(NOTHING if bare else self._sequence()))
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
                raise Unread
        return self._ended(self._sequence())

    def _ended(self, statement: Node) -> Node:
        if not self._take(";") and self._sign() != "}" and not self._token().newline:
            raise Unread
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
            found.append(Declaration(bound, pattern.default or NOTHING))
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
            raise Unread
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
