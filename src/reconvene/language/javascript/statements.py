"""Reads a JavaScript source: the whole of an expression, and the statements inside its functions.

One job: from source to `Reading`. It reads all that the engine accepts, but for what no expression may hold, and
something more: the engine has the last word on what is valid. It must not know the engine, nor which names are allowed.
"""

from __future__ import annotations

from msgspec import Struct

from reconvene.language.javascript.lexer import DEEPEST, Lexer, Refused, Token, words
from reconvene.language.javascript.nodes import Block, Declaration, Loop, Name, Node, Return
from reconvene.language.javascript.reader import NOTHING, Expressions
from reconvene.language.javascript.scopes import Use

_STATEMENTS = words("break const continue do for if let return switch throw var while with")


class Reading(Struct, frozen=True):
    tree: Node
    uses: list[Use]  # of names from outside, in the order in which they stand there
    tokens: list[Token]


def read(source: str) -> Reading:
    """Raises Refused for what is no expression, and for what no expression may hold."""
    lexer = Lexer(source)
    try:
        return _Reader(lexer).whole()
    except RecursionError:
        raise Refused("the expression is nested too deeply") from None


class _Reader(Expressions):
    def __init__(self, lexer: Lexer) -> None:
        super().__init__(lexer)
        self._deep = 0

    def whole(self) -> Reading:
        if (word := self._sign()) in _STATEMENTS:
            raise Refused(f"'{word}' begins a statement; write one expression that gives a value")
        tree = self._sequence()
        if self._sign() == ";":
            raise Refused("';' ends a statement; write one expression that gives a value, without ';'")
        if self._at < len(self._tokens):
            self._unexpected()
        return Reading(tree, self._scopes.free(), self._tokens)

    def _block(self, *, holds_var: bool = False) -> Block:
        self._scopes.enter(holds_var=holds_var)
        self._expect("{")
        found: list[Node] = []
        while not self._take("}"):
            found.append(self._statement())
        self._scopes.leave()
        return Block(tuple(found))

    def _statement(self) -> Node:
        self._deep += 1
        if self._deep > DEEPEST:
            raise Refused(f"statements are nested more than {DEEPEST} deep")
        while self._token().kind == "name" and self._sign(1) == ":":
            self._at += 2  # a label
        found: Node
        match self._sign():
            case ";":
                found = self._ended(Block(()))
            case "{":
                found = self._block()
            case "const" | "let" | "var":
                found = self._ended(self._declarations())
            case "return" | "throw":
                found = self._ended(self._leaving())
            case "if":
                found = self._if()
            case "for":
                found = self._for()
            case "while":
                self._at += 1
                found = Block((self._bracketed(), self._statement()))
            case "do":
                found = self._do()
            case "switch":
                found = self._switch()
            case "break" | "continue":
                self._at += 2 if self._token(1).kind == "name" and not self._token(1).newline else 1
                found = self._ended(Block(()))
            case "function":
                name = "".join(self._function_head()) or self._name()
                self._scopes.bind(name)
                found = Declaration(Name(name), self._function(name))
            case _:
                found = self._ended(self._sequence())
        self._deep -= 1
        return found

    def _ended(self, statement: Node) -> Node:
        if not self._take(";") and self._sign() != "}" and not self._token().newline:
            self._unexpected()
        return statement

    def _bracketed(self) -> Node:
        self._expect("(")
        inner = self._sequence()
        self._expect(")")
        return inner

    def _leaving(self) -> Node:
        word = self._word()
        if self._sign() in (";", "}") or self._token().newline:
            return Return(NOTHING)
        value = self._sequence()
        if word == "throw" and value is NOTHING:
            raise Refused("'throw null' does not say what is wrong; throw a text")
        return Return(value)

    def _declarations(self) -> Node:
        var = self._word() == "var"
        found: list[Node] = []
        while True:
            pattern, _ = self._primary()
            self._bind(pattern, var=var)
            found.append(Declaration(pattern, self._single() if self._take("=") else NOTHING))
            if not self._take(","):
                return Block(tuple(found)) if len(found) > 1 else found[0]

    def _if(self) -> Node:
        found: list[Node] = []
        while self._take("if"):
            found += (self._bracketed(), self._statement())
            if not self._take("else"):
                return Block(tuple(found))
        return Block((*found, self._statement()))

    def _do(self) -> Node:
        self._expect("do")
        body = self._statement()
        self._expect("while")
        test = self._bracketed()
        self._take(";")
        return Block((body, test))

    def _switch(self) -> Node:
        self._expect("switch")
        found = [self._bracketed()]
        self._scopes.enter()
        self._expect("{")
        while not self._take("}"):
            if self._take("case"):
                found.append(self._sequence())
                self._expect(":")
            elif self._take("default"):
                self._expect(":")
            else:
                found.append(self._statement())
        self._scopes.leave()
        return Block(tuple(found))

    def _for(self) -> Node:
        self._expect("for")
        if self._sign() != "(":
            self._unexpected()
        self._scopes.enter()
        found = self._counting() if self._counts() else self._walking()
        self._scopes.leave()
        return found

    def _counts(self) -> bool:
        """Whether `;` stands between the brackets that begin here: then it is no `of` and no `in`."""
        at, close = self._at + 1, self._pairs[self._at]
        while at < close and self._tokens[at].text != ";":
            at = max(at, self._pairs.get(at, at)) + 1
        return at < close

    def _counting(self) -> Node:
        self._expect("(")
        head: list[Node] = []
        if self._sign() in ("const", "let", "var"):
            head.append(self._declarations())
        elif self._sign() != ";":
            head.append(self._sequence())
        for close in (";", ")"):
            self._expect(";")
            if self._sign() != close:
                head.append(self._sequence())
        self._expect(")")
        return Block((*head, self._statement()))

    def _walking(self) -> Node:
        self._expect("(")
        if self._sign() in ("const", "let", "var"):
            var = self._word() == "var"
            pattern, _ = self._primary()
            self._bind(pattern, var=var)
        else:
            start = self._at
            pattern = self._operand()
            self._refuse_write(start)
        keys = self._take("in")
        if not keys:
            self._expect("of")
        value = self._sequence()
        self._expect(")")
        return Loop(pattern, value, self._statement(), keys)
