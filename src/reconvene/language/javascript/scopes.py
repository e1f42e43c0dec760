"""The names that an expression uses from outside itself, and what it looks up in them.

One job: scopes. A name is bound in all of its block or function, also before its declaration, so whether a use is of
a name from outside is known when the scope ends. It must not know tokens, nor which names are allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reconvene.language.javascript.lexer import Refused, words

MOST_FUNCTIONS = 200
# `context.hasOwnProperty('x')` looks at the whole of `context`, though it reads like one key of it.
_INHERITED = words(
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf __proto__"
    " __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__"
)


class Use:
    """One use of a name. `path`: the keys looked up in it (`name.a.b`); `written`: why it may not be written to."""

    __slots__ = ("name", "path", "written")

    def __init__(self, name: str) -> None:
        self.name = name
        self.path: list[str] = []
        self.written = ""


def keys_of(root: str, uses: Iterable[Use]) -> frozenset[str] | None:
    """The keys of `root` that are looked at; None = any may be."""
    paths = [use.path for use in uses if use.name == root]
    if any(not path or path[0] in _INHERITED for path in paths):
        return None
    return frozenset(path[0] for path in paths)


class _Scope:
    __slots__ = ("holds_var", "names", "uses")

    def __init__(self, names: Collection[str], holds_var: bool) -> None:
        self.names = set(names)
        self.holds_var = holds_var
        self.uses: list[Use] = []


class Scopes:
    def __init__(self) -> None:
        self._open = [_Scope((), True)]
        self._functions = 0

    def enter(self, *names: str, holds_var: bool = False) -> None:
        self._open.append(_Scope(names, holds_var))

    def enter_function(self, *names: str) -> None:
        self._functions += 1
        if self._functions > MOST_FUNCTIONS:
            raise Refused(f"the expression holds more than {MOST_FUNCTIONS} functions")
        self.enter(*names)

    def leave(self) -> None:
        scope = self._open.pop()
        self._open[-1].uses += [use for use in scope.uses if use.name not in scope.names]

    def bind(self, name: str, *, var: bool = False) -> None:
        scope = next(scope for scope in reversed(self._open) if scope.holds_var) if var else self._open[-1]
        scope.names.add(name)

    def use(self, name: str) -> Use:
        use = Use(name)
        self._open[-1].uses.append(use)
        return use

    def free(self) -> list[Use]:
        """At the end: the uses of names from outside, in order. Raises Refused when one of them is written to."""
        uses = self._open[0].uses
        if written := next((use.written for use in uses if use.written), ""):
            raise Refused(written)
        return uses
