"""Compiled expressions run over frozen data within limits, closed to the world, and cannot see each other.

What is cheap for certain (`cheap`) runs in this thread's own engine. Everything an expression can reach there is frozen
once, so that using it again is as good as a new one. Everything else goes to the guest, whose process can be killed. It
must not know what expressions are for, nor which names they may use.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from reconvene.errors import ExpressionError, ExpressionLimit
from reconvene.language import guest
from reconvene.language.javascript.machine import (
    FAILURE,
    LONGEST_ANSWER,
    MEMORY,
    NOT_WHOLE,
    TOO_LONG,
    Ask,
    Machines,
    is_full,
)
from reconvene.language.javascript.sealing import SANDBOX

if TYPE_CHECKING:
    from reconvene.language.javascript.cheap import Shape

CPU_SECONDS = 0.25
_BYTES_PER_SECOND = 10_000_000  # time allowed on top for reading the data in


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.machines = Machines(SANDBOX)


_held = _OfThread()


def compiles(source: str, *, fast: bool) -> None:
    """Raises ExpressionError unless `source` is one JavaScript expression. Not `fast`: the guest finds out."""
    away = guest.here() if not fast else None
    _classified(_answer(Ask(_forms(source, ()), "", "", CPU_SECONDS), away))


def run(source: str, scope: Mapping[str, object], cheap: Shape | None, *, truth: bool) -> object:
    """The value of `source`, or whether it is truthy."""
    names = tuple(sorted(scope))
    text = _text([scope[name] for name in names])
    seconds = CPU_SECONDS + len(text) / _BYTES_PER_SECOND
    ask = Ask(_forms(source, names), text, "truth" if truth else "value", seconds)
    away = None if cheap is not None and cheap.is_cheap_over(text, source) else guest.here()
    return _classified(_answer(ask, away))


def _answer(ask: Ask, away: guest.Guest | None) -> str:
    if away is not None:
        try:
            return away.evaluate(ask)
        except guest.OutOfTime:
            raise ExpressionLimit(f"the expression takes longer than {CPU_SECONDS} s") from None
    return _held.machines.answer(ask)


def _classified(answer: str) -> object:
    """What the expression gave, or its failure as an error of ours."""
    mark, said = answer[:1], answer[1:]
    if mark == NOT_WHOLE:
        raise ExpressionError("SyntaxError: this is not one whole expression")
    if mark == TOO_LONG:
        raise ExpressionLimit(f"the result is longer than {LONGEST_ANSWER // 1_000_000} MB")
    if mark == FAILURE:
        first = said.split("\n")[0]
        raise ExpressionError(first) if first.startswith("SyntaxError") else _run_error(first)
    if said.startswith("!"):
        raise _run_error(json.loads(said[1:]))
    try:
        return json.loads(said) if said else None
    except RecursionError:
        raise ExpressionLimit("the result is nested too deeply") from None


@lru_cache(maxsize=4096)
def _forms(source: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Only what parses between both kinds of brackets is one whole expression."""
    head = f'function({",".join(names)}){{"use strict";return '
    return tuple(f"{head}{opening}\n{source}\n{closing}}}" for opening, closing in ("[]", "()"))


def _text(values: Sequence[object]) -> str:
    try:
        return msgspec.json.encode(values, enc_hook=_plain).decode()
    except (UnicodeError, OverflowError, ValueError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(_finite(msgspec.to_builtins(values, enc_hook=_plain)), allow_nan=False)
    except RecursionError:
        raise ExpressionLimit("the data is nested too deeply") from None


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an expression cannot be given a {type(value).__name__}")


def _run_error(message: str) -> ExpressionError:
    if "interrupted" in message:
        return ExpressionLimit(f"the expression takes longer than {CPU_SECONDS} s")
    if is_full(message):
        return ExpressionLimit(f"the expression needs more than {MEMORY // 1024 // 1024} MB of memory")
    if "Maximum call stack size exceeded" in message:
        return ExpressionLimit("the expression calls itself too deeply")
    if "is too long to" in message:
        return ExpressionLimit(message.removeprefix("RangeError: "))
    return ExpressionError(message)
