"""Reads JavaScript expressions into nodes: look-ups, calls, operators, functions, what they bind.

One job: expressions. What stands between the braces of a function is left to `statements`. Long rows (`a ? b : c ? d`,
`!!!a`, `x => y => z`) are read in loops: only brackets make it call itself, and the lexer bounds those.
"""

from __future__ import annotations

from reconvene.language.javascript import nodes
from reconvene.language.javascript.lexer import Cursor, Lexer, words
from reconvene.language.javascript.nodes import Node
from reconvene.language.javascript.scopes import Scopes, Use

NOTHING = nodes.Literal(None)
_NUMBER = nodes.Literal(0, exact=False)
_ASSIGN = words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=")
_BINARY = {
    sign: level
    for level, signs in enumerate(
        ("??", "||", "&&", "|", "^", "&", "== != === !==", "< > <= >= in instanceof", "<< >> >>>", "+ -", "* / %", "**")
    )
    for sign in signs.split()
}
_UNARY = words("! ~ + - ++ -- typeof void delete")
_CHANGES = words("++ -- delete")
_CONSTANTS: dict[str, Node] = {
    "true": nodes.Literal(True),
    "false": nodes.Literal(False),
    "null": NOTHING,
    "this": nodes.Atom("this"),
    "super": nodes.Atom("super"),
}
_ENDS = words(") ] } , ; :")


class Expressions(Cursor):
    def __init__(self, lexer: Lexer) -> None:
        super().__init__(lexer)
        self._scopes = Scopes()
        self._base: Use | None = None  # of the operand read last, when it is a name and what is looked up in it

    # expressions, from the weakest binding to the strongest

    def _sequence(self) -> Node:
        parts = [self._single()]
        while self._take(","):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else nodes.Operation(",", tuple(parts))

    def _single(self) -> Node:
        """One expression without a comma. `begun`: what the rest of it belongs to, outermost first."""
        begun: list[tuple[str, tuple[Node, ...]]] = []
        while True:
            node: Node
            if self._arrow_follows():
                parameters = self._arrow_head()
                if self._sign() != "{":
                    begun.append(("=>", parameters))
                    continue
                node = nodes.Function(parameters, self._block(holds_var=True), arrow=True)
                self._scopes.leave()
            elif self._take("yield"):
                if self._take("*") or not (self._token().newline or self._sign() in _ENDS):
                    begun.append(("yield", ()))
                    continue
                node = nodes.Operation("yield", ())
            else:
                start = self._at
                node = self._binary()
                sign = self._sign()
                if sign in _ASSIGN:
                    self._refuse_write(start, " (did you mean '==='?)" if sign == "=" else "")
                    begun.append(("=", (node,)))
                elif sign == "?":
                    begun.append(("?", (node,)))
                if sign == "?" or sign in _ASSIGN:
                    self._at += 1
                    continue
            while begun:
                sign, parts = begun.pop()
                if sign == "?":
                    self._expect(":")
                    begun.append((":", (*parts, node)))
                    break
                if sign == ":":
                    test, then = parts
                    node = nodes.Choice(test, then, node)
                elif sign == "=>":
                    self._scopes.leave()
                    node = nodes.Function(parts, node, arrow=True)
                else:
                    node = nodes.Operation(sign, (*parts, node))
            else:
                return node

    def _refuse_write(self, start: int, advice: str = "") -> None:
        """What was read from `start` to here is written to: it must not be something from outside."""
        if self._base is not None:
            target = "".join(token.text for token in self._tokens[start : self._at])
            self._base.written = f"'{target}' would be changed, but an expression only reads{advice}"

    def _arrow_follows(self) -> bool:
        if self._token().kind == "name" and self._sign(1) == "=>":
            return True
        if self._sign() != "(":
            return False
        after = self._pairs[self._at] + 1
        return after < len(self._tokens) and self._tokens[after].text == "=>"

    def _arrow_head(self) -> tuple[Node, ...]:
        """The parameters, and a new scope."""
        self._scopes.enter_function()
        if self._sign() == "(":
            parameters = self._parameters()
        else:
            parameters = (self._named(self._sign())[0],)
            self._bind(*parameters)
        self._expect("=>")
        return parameters

    def _binary(self) -> Node:
        values = [self._operand()]
        signs: list[str] = []

        def reduce(level: int) -> None:
            while signs and _BINARY[signs[-1]] >= level:
                right, left = values.pop(), values.pop()
                values.append(nodes.Operation(signs.pop(), (left, right)))

        while (level := _BINARY.get(sign := self._sign(), -1)) >= 0:
            reduce(level + (sign == "**"))
            signs.append(sign)
            self._at += 1
            values.append(self._operand())
        reduce(0)
        return values[0]

    def _operand(self) -> Node:
        """A value, what is looked up in it, called on it or made by it (`new`), and the signs around it."""
        signs: list[str] = []
        while (sign := self._sign()) in _UNARY:
            signs.append(sign)
            self._at += 1
        start = self._at
        while self._sign() == "new" and self._sign(1) != ".":
            self._at += 1
        makers = self._at - start
        node, use = self._primary()
        for _ in range(makers):
            node, use = self._postfix(node, None, calls=False), None
            node = nodes.Operation("new", (node, *(self._listed(")") if self._take("(") else ())))
        node = self._postfix(node, use)
        if self._sign() in ("++", "--") and not self._token().newline:
            self._refuse_write(start)
            self._at += 1
            node = nodes.Operation("=", (node, _NUMBER))
        elif signs and signs[-1] in _CHANGES:
            self._refuse_write(start)
        for sign in reversed(signs):
            node = nodes.Operation(sign, (node,))
        return node

    def _postfix(self, node: Node, use: Use | None, *, calls: bool = True) -> Node:
        path = use.path if use is not None else None
        while True:
            token = self._token()
            sign = token.text if token.kind == "punctuation" else ""
            if sign in (".", "?."):
                self._at += 1
                if sign == "?." and self._token().text in ("[", "("):
                    sign = self._token().text
            if sign in (".", "?."):
                node = nodes.Member(node, self._word())
            elif sign == "[":
                node = self._index(node)
            elif sign == "(" and calls:
                self._at += 1
                node, use = nodes.Call(node, self._listed(")")), None
            elif token.kind == "template":
                node, use = nodes.Operation("`", (node, self._template())), None
            else:
                self._base = use
                return node
            if path is not None and isinstance(node, nodes.Member):
                path.append(node.name)
            else:
                path = None

    def _index(self, node: Node) -> Node:
        self._expect("[")
        at = self._sequence()
        self._expect("]")
        if isinstance(at, nodes.Literal) and isinstance(at.value, str) and at.exact:
            return nodes.Member(node, at.value)
        return nodes.Index(node, at)

    def _listed(self, close: str) -> tuple[Node, ...]:
        """What stands between commas, up to the closing sign."""
        found: list[Node] = []
        while not self._take(close):
            if self._take(","):
                continue
            found.append(nodes.Spread(self._single()) if self._take("...") else self._single())
            if self._sign() not in (",", close):
                self._unexpected()
        return tuple(found)

    def _primary(self) -> tuple[Node, Use | None]:
        token = self._token()
        match token.kind:
            case "name" if token.text == "function":
                return self._function(*self._function_head()), None
            case "name":
                return self._named(token.text)
            case "template":
                return self._template(), None
            case "string":
                self._at += 1
                return nodes.Literal(token.text[1:-1], exact="\\" not in token.text), None
            case "number":
                self._at += 1
                return _NUMBER, None
            case "regex":
                self._at += 1
                return nodes.Atom(token.text), None
        if self._take("("):
            inner = self._sequence()
            self._expect(")")
            return inner, self._base if isinstance(inner, nodes.Name) else None
        if self._take("["):
            return nodes.Array(self._listed("]")), None
        if self._take("{"):
            return self._object(), None
        self._unexpected()

    def _named(self, word: str) -> tuple[Node, Use | None]:
        if word == "new":
            self._at += 2
            return nodes.Atom(f"new.{self._word()}"), None
        if constant := _CONSTANTS.get(word):
            self._at += 1
            return constant, None
        return nodes.Name(word), self._scopes.use(self._name())

    def _function_head(self) -> list[str]:
        """Its name, if it has one."""
        self._expect("function")
        self._take("*")
        return [self._name()] if self._sign() != "(" else []

    def _function(self, *names: str) -> nodes.Function:
        self._scopes.enter_function("arguments", *names)
        made = nodes.Function(self._parameters(), self._block(holds_var=True))
        self._scopes.leave()
        return made

    def _parameters(self) -> tuple[Node, ...]:
        self._expect("(")
        found = self._listed(")")
        for each in found:
            self._bind(each)
        return found

    def _template(self) -> Node:
        parts: list[Node] = []
        while True:
            chunk = self._token()
            if chunk.kind != "template":
                self._unexpected()
            self._at += 1
            if not parts and chunk.text.endswith("`") and "\\" not in chunk.text:
                return nodes.Literal(chunk.text[:-1])
            if not chunk.text.endswith("${"):
                return nodes.Operation("`", tuple(parts))
            self._expect("${")
            parts.append(self._sequence())
            self._expect("}")

    # objects

    def _object(self) -> Node:
        members: list[tuple[str | Node | None, Node]] = []
        while not self._take("}"):
            if self._take(","):
                continue
            members.append((None, self._single()) if self._take("...") else self._member())
            if self._sign() not in (",", "}"):
                self._unexpected()
        return nodes.Object(tuple(members))

    def _member(self) -> tuple[str | Node | None, Node]:
        first = self._token()
        if self._sign() in ("get", "set", "*", "async") and self._sign(1) not in ("(", ":", ",", "}", "="):
            self._refuse_word(first.text)
            self._at += 1
            return self._key(), self._function()
        key = self._key()
        if self._sign() == "(":
            return key, self._function()
        if self._take(":"):
            return key, self._single()
        if first.kind != "name":
            self._unexpected()
        self._at -= 1
        name, _ = self._named(first.text)
        return key, nodes.Operation("=", (name, self._single())) if self._take("=") else name

    def _key(self) -> str | Node | None:
        token = self._token()
        if self._take("["):
            computed = self._single()
            self._expect("]")
            return computed
        if token.kind not in ("name", "string", "number"):
            self._unexpected()
        self._at += 1
        if token.kind == "string":
            return token.text[1:-1] if "\\" not in token.text else None
        return token.text

    # what is bound

    def _bind(self, pattern: Node, *, var: bool = False) -> None:
        match pattern:
            case nodes.Name(text=text):
                self._scopes.bind(text, var=var)
            case nodes.Operation(sign="=", parts=(target, _)) | nodes.Spread(of=target):
                self._bind(target, var=var)
            case nodes.Array(items=parts):
                for part in parts:
                    self._bind(part, var=var)
            case nodes.Object(members=members):
                for _, part in members:
                    self._bind(part, var=var)

    def _block(self, *, holds_var: bool = False) -> nodes.Block:
        raise NotImplementedError
