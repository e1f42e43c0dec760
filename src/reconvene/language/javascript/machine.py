"""One JavaScript engine and how it is asked. Imports nothing but the engine itself.

The same code runs in this process and in the helper process (`adapters/guest`), which loads this file by its path and
nothing else of the package, so that it starts in milliseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which is slow to import
if TYPE_CHECKING:
    from typing import Protocol

    class _Program(Protocol):
        def __call__(self, *arguments: object) -> object: ...

    class _Context(Protocol):
        def eval(self, source: str, /) -> _Program: ...
        def set_memory_limit(self, limit: int, /) -> None: ...
        def set_time_limit(self, limit: float, /) -> None: ...
        def set_max_stack_size(self, limit: int, /) -> None: ...


MEMORY = 64 * 1024 * 1024
STACK = 256 * 1024
LONGEST_ANSWER = 4_000_000  # characters
_USES = 5_000  # then a new engine is made, so that nothing can pile up over the years of a process
_PROGRAMS = 500

ANSWER, FAILURE, NOT_WHOLE, TOO_LONG = "=", "!", "?", "#"  # the first character of what comes back
_FULL = ("out of memory", "string too long", "null", "thrown: [uninitialized]")  # the last two: out of memory for words


class Ask:
    """`forms`: the source as a function, between both kinds of brackets. `values`: its arguments, as JSON."""

    __slots__ = ("forms", "mode", "seconds", "values")

    def __init__(self, forms: tuple[str, ...], values: str, mode: str, seconds: float) -> None:
        self.forms = forms
        self.values = values
        self.mode = mode  # "truth" | "value" | "" = only compile
        self.seconds = seconds


def is_full(message: str) -> bool:
    """Whether this failure says that there was no more memory."""
    return any(sign in message for sign in _FULL[:2]) or message in _FULL[2:]


class Machines:
    """A machine at hand, replaced when it is worn, broke down, or is full of what earlier ones left behind."""

    def __init__(self, sandbox: str) -> None:
        self._sandbox = sandbox
        self._machine: _Machine | None = None

    def answer(self, ask: Ask) -> str:
        """What came of it, marked by its first character."""
        said, used = self._asked(ask)
        # What earlier evaluations left behind must not decide this one: memory is counted from an empty engine.
        return self._asked(ask)[0] if used and is_full(_failure(said)) else said

    def _asked(self, ask: Ask) -> tuple[str, bool]:
        machine = self._machine
        if machine is None or machine.worn:
            machine = self._machine = _Machine(self._sandbox)
        used = machine.uses > 0
        said = machine.answer(ask)
        message = _failure(said)
        limit = is_full(message) or message.startswith("InternalError") or "call stack" in message
        if said[:1] in (FAILURE, NOT_WHOLE) or limit:
            self._machine = None
        return said, used


def _failure(said: str) -> str:
    """The words of a failure: the engine's own, or those of the sandbox, which are JSON. "" = it did not fail."""
    if said.startswith(ANSWER + "!"):
        return said[3:-1]
    return said[1:].split("\n")[0] if said.startswith(FAILURE) else ""


class _Machine:
    def __init__(self, sandbox: str) -> None:
        import _quickjs  # the thin module: its wrapper package starts a thread on import

        self._failure: type[Exception] = _quickjs.JSException
        self._context: _Context = _quickjs.Context()
        self._run = self._context.eval(sandbox)
        self._context.set_max_stack_size(STACK)
        self._context.set_memory_limit(MEMORY)
        self._programs: dict[tuple[str, ...], _Program] = {}
        self.uses = 0

    @property
    def worn(self) -> bool:
        return self.uses >= _USES or len(self._programs) >= _PROGRAMS

    def answer(self, ask: Ask) -> str:
        self._context.set_time_limit(ask.seconds)
        try:
            program = self._programs.get(ask.forms)
            if program is None:
                for form in ask.forms:
                    program = self._context.eval(f"({form})")
                    # Only what is one function again when printed was one whole expression: `1) + (2` is not.
                    if self._run(program, form, "text") != "true":
                        return NOT_WHOLE
                assert program is not None
                self._programs[ask.forms] = program
            if not ask.mode:
                return ANSWER
            self.uses += 1
            said = str(self._run(program, ask.values, ask.mode))
        except self._failure as error:
            return FAILURE + str(error)
        return TOO_LONG if len(said) > LONGEST_ANSWER else ANSWER + said
