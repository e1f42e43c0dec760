"""What a source says about itself before it runs: the names it uses, what is wrong with it, how much work it is."""

from __future__ import annotations

from msgspec import Struct

from reconvene.language.javascript.cheap import Shape, has_only_plain_regexes, shape
from reconvene.language.javascript.lexer import Refused
from reconvene.language.javascript.scopes import keys_of
from reconvene.language.javascript.sealing import GLOBALS
from reconvene.language.javascript.statements import read


class Expression(Struct, frozen=True):
    """`context_keys` None = it may look at any part of `context`; `shape` None = it must not run in this process."""

    source: str
    roots: frozenset[str] = frozenset()
    context_keys: frozenset[str] | None = None
    feedback_keys: frozenset[str] | None = None
    problem: str = ""
    shape: Shape | None = None
    compiles_fast: bool = True


def compiled(source: str) -> Expression:
    try:
        found = read(source)
    except Refused as error:
        return Expression(source, problem=str(error))
    return Expression(
        source,
        frozenset(use.name for use in found.uses) - GLOBALS,
        keys_of("context", found.uses),
        keys_of("feedback", found.uses),
        shape=shape(found),
        compiles_fast=has_only_plain_regexes(found.tokens),
    )
