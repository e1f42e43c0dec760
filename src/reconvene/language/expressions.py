"""The condition language: JavaScript expressions over plain data.

One job: from source and scope to a value, and from source to what can be said about it before anything runs. Nothing an
expression does can be seen by another, and none sees a clock, chance, a file or the machine. It must not know what the
names in a scope mean.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

from reconvene.errors import ExpressionError, ExpressionLimit
from reconvene.language.closest import closest

if TYPE_CHECKING:
    from reconvene.language.javascript.cheap import Expression

__all__ = ["ExpressionError", "ExpressionLimit", "check", "compile", "evaluate", "truth"]

_CONSTANTS = {"true": True, "false": False}


@lru_cache(maxsize=4096)
def compile(source: str) -> Expression:
    """Never raises: a source that cannot be evaluated carries its `problem`."""
    # The patterns of the lexer take longer to build than most commands take: only for who has an expression.
    from reconvene.language.javascript.cheap import compiled

    return compiled(source)


def check(source: str, allowed_roots: Collection[str]) -> str | None:
    """What is wrong with `source` as one plain sentence, None when it can be evaluated over `allowed_roots`."""
    expression = compile(source)
    if expression.problem:
        return expression.problem
    try:
        _engine().compiles(source, fast=expression.compiles_fast)
    except ExpressionError as error:
        return error.message.removeprefix("SyntaxError: ")
    unknown = sorted(expression.roots.difference(allowed_roots))
    if not unknown:
        return None
    allowed = sorted(allowed_roots)
    near = closest(unknown[0], allowed)
    advice = f"did you mean '{near[0]}'?" if near else f"known names are {', '.join(allowed)}"
    return f"'{unknown[0]}' is not known here; {advice}"


def evaluate(source: str, scope: Mapping[str, object]) -> object:
    """The value of `source` as plain data; `undefined` is None. Raises ExpressionError, ExpressionLimit."""
    constant = _CONSTANTS.get(source)
    return constant if constant is not None else _run(source, scope, truth=False)


def truth(source: str, scope: Mapping[str, object]) -> bool:
    """Whether JavaScript takes the value of `source` for true: '', 0, NaN and null are not, [] and {} are."""
    constant = _CONSTANTS.get(source)
    return constant if constant is not None else _run(source, scope, truth=True) is True


def _run(source: str, scope: Mapping[str, object], *, truth: bool) -> object:
    """Over the part of `scope` that `source` can look at: the rest is not worth carrying over."""
    expression = compile(source)
    if expression.problem:
        raise ExpressionError(f"SyntaxError: {expression.problem}")
    needed = {name: scope[name] for name in expression.roots if name in scope}
    for name, keys in (("context", expression.context_keys), ("feedback", expression.feedback_keys)):
        whole = needed.get(name)
        if keys is not None and isinstance(whole, Mapping):
            needed[name] = {key: whole[key] for key in keys if key in whole}
    value: object = _engine().run(source, needed, expression.shape, truth=truth)
    return value


def _engine() -> ModuleType:
    """Loaded for the first expression: most commands meet none."""
    from reconvene.language.javascript import evaluating

    return evaluating
