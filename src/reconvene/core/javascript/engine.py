"""One JavaScript engine per thread, closed to the world, in which evaluations cannot see each other.

One job: run a compiled expression over frozen data within limits. Everything an expression can reach is frozen once,
right after the engine is made, so that using it again is as good as a new one. It must not know what expressions are
for, nor which names they may use.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from reconvene.errors import ReconveneError

MEMORY = 64 * 1024 * 1024
CPU_SECONDS = 0.25
STACK = 256 * 1024
_USES = 5_000  # then a new engine is made, so that nothing can pile up over the years of a process
_PROGRAMS = 500
_FULL = ("out of memory", "string too long")
_BYTES_PER_SECOND = 10_000_000  # time allowed on top for reading the data in


class ExpressionError(ReconveneError):
    """An expression that cannot be evaluated: it is wrong, or wrong for this data."""


class ExpressionLimit(ExpressionError):
    """An expression that ran into the time, memory or stack limit: its value is unknown, which is not false."""


class Program(Protocol):
    def __call__(self, *arguments: object) -> object: ...


class _Context(Protocol):
    def eval(self, source: str, /) -> Program: ...
    def set_memory_limit(self, limit: int, /) -> None: ...
    def set_time_limit(self, limit: float, /) -> None: ...
    def set_max_stack_size(self, limit: int, /) -> None: ...


class _OutOfMemory(ExpressionLimit):
    pass


class Engine:
    def __init__(self) -> None:
        import _quickjs  # the thin module: its wrapper package starts a thread on import

        from reconvene.core.javascript.sandbox import SANDBOX

        self._failure: type[Exception] = _quickjs.JSException
        self._context: _Context = _quickjs.Context()
        self._run = self._context.eval(SANDBOX)
        self._context.set_max_stack_size(STACK)
        self._context.set_memory_limit(MEMORY)
        self._programs: dict[tuple[str, tuple[str, ...]], Program] = {}
        self.uses = 0

    @property
    def worn(self) -> bool:
        return self.uses >= _USES or len(self._programs) >= _PROGRAMS

    def program(self, source: str, names: tuple[str, ...]) -> Program:
        """`source` as a function of `names`. Nothing of it runs yet."""
        key = (source, names)
        if key not in self._programs:
            # Only what parses between both kinds of brackets is one whole expression: `1) + (2` is not.
            self._function(source, names, "[", "]")
            self._programs[key] = self._function(source, names, "(", ")")
        return self._programs[key]

    def _function(self, source: str, names: tuple[str, ...], opening: str, closing: str) -> Program:
        text = f'function({",".join(names)}){{"use strict";return {opening}\n{source}\n{closing}}}'
        self._context.set_time_limit(CPU_SECONDS)
        try:
            function = self._context.eval(f"({text})")
            whole = self._run(function, text, "text") == "true"
        except self._failure as error:
            raise _syntax_error(str(error)) from None
        if not whole:
            forget()
            raise ExpressionError("SyntaxError: this is not one whole expression")
        return function

    def call(self, program: Program, values: Sequence[object], *, truth: bool) -> object:
        self.uses += 1
        text = _text(values)
        self._context.set_time_limit(CPU_SECONDS + len(text) / _BYTES_PER_SECOND)
        try:
            answer = str(self._run(program, text, "truth" if truth else "value"))
        except self._failure as error:
            raise _run_error(str(error).split("\n")[0]) from None
        if answer.startswith("!"):
            raise _run_error(json.loads(answer[1:]))
        try:
            return json.loads(answer)
        except RecursionError:
            raise ExpressionLimit("the result is nested too deeply") from None


_held = threading.local()


def forget() -> None:
    """Throw this thread's engine away."""
    _held.engine = None


def _engine() -> Engine:
    engine: Engine | None = getattr(_held, "engine", None)
    if engine is None or engine.worn:
        engine = _held.engine = Engine()
    return engine


def compiles(source: str) -> None:
    """Raises ExpressionError unless `source` is one JavaScript expression."""
    _engine().program(source, ())


def run(source: str, scope: Mapping[str, object], *, truth: bool) -> object:
    """The value of `source`, or whether it is truthy. A limit costs the engine its life."""
    names = tuple(sorted(scope))
    values = [scope[name] for name in names]
    engine = _engine()
    fresh = engine.uses == 0
    try:
        return engine.call(engine.program(source, names), values, truth=truth)
    except _OutOfMemory:
        forget()
        if fresh:
            raise
    except ExpressionLimit:
        forget()
        raise
    # What earlier evaluations left behind must not decide this one: memory is counted from an empty engine.
    return run(source, scope, truth=truth)


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
    if any(sign in message for sign in _FULL) or message in ("null", "thrown: [uninitialized]"):
        return _OutOfMemory(f"the expression needs more than {MEMORY // 1024 // 1024} MB of memory")
    if "Maximum call stack size exceeded" in message:
        return ExpressionLimit("the expression calls itself too deeply")
    if "is too long to" in message:
        return ExpressionLimit(message.removeprefix("RangeError: "))
    return ExpressionError(message)


def _syntax_error(message: str) -> ExpressionError:
    first = message.split("\n")[0]
    if not first.startswith("SyntaxError"):
        return _run_error(first)
    if first.endswith((": ']'", ": ')'")):
        return ExpressionError("SyntaxError: the expression ends before it is complete")
    if first.endswith(("expecting ']'", "expecting ')'", "expecting ','")):
        return ExpressionError("SyntaxError: one expression is expected; an operator or a comma is missing")
    return ExpressionError(first)
