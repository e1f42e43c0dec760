"""The helper process. Run by its path, without the package around it, so that it starts in milliseconds.

It reads one request after the other and answers each. The kernel kills it when one uses up its time: `setitimer` counts
the processor's time, and nobody handles the signal, so no loop in any library can outlast it. It has no environment, no
terminal, may write no file, and ends when its standard input does.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in typing, which is slow to import
if TYPE_CHECKING:
    from types import ModuleType

_signal = __import__("_signal")  # `signal` without its enumerations, which are slow to make
_GRACE = 1.4  # the engine's own limit, which gives a better answer, comes first
_SPACE = 1 << 30  # bytes of address space


def serve(machine: str, contracts: str, library: str, path: list[str]) -> None:
    _confine()
    sys.dont_write_bytecode = True
    sys.path.insert(0, library)
    given = _module(machine)
    machines = given.Machines(_field().decode())
    while True:
        kind = sys.stdin.buffer.read(1)
        if not kind:
            return
        seconds = float(_field())
        if kind == b"v":
            answer = _validate(contracts, _field(), _field(), seconds, path)
        else:
            forms = tuple(_field().decode("utf-8", "surrogatepass") for _ in range(int(_field())))
            values, mode = _field().decode("utf-8", "surrogatepass"), _field().decode()
            _within(seconds * _GRACE)
            answer = machines.answer(given.Ask(forms, values, mode, seconds)).encode("utf-8", "surrogatepass")
            _within(0)
        sys.stdout.buffer.write(len(answer).to_bytes(4, "big") + answer)
        sys.stdout.buffer.flush()


def _module(file: str) -> ModuleType:
    """One file of the package, without the package."""
    sys.path.insert(0, os.path.dirname(file))
    found = __import__(os.path.basename(file).removesuffix(".py"))
    del sys.path[0]
    return found


def _field() -> bytes:
    length = int.from_bytes(_exactly(4), "big")
    return _exactly(length)


def _exactly(length: int) -> bytes:
    data = sys.stdin.buffer.read(length)
    if len(data) < length:  # whoever asked is gone
        os._exit(0)
    return data


def _within(seconds: float) -> None:
    _signal.setitimer(_signal.ITIMER_PROF, seconds)


def _confine() -> None:
    import resource

    _signal.signal(_signal.SIGPROF, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    limits = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_AS, _SPACE))
    for kind, most in limits:
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):  # not every system knows every limit
            continue


def _validate(contracts: str, schema: bytes, value: bytes, seconds: float, path: list[str]) -> bytes:
    """The library is slow to load, and its loading is not counted."""
    import json

    sys.path[:] = path
    check = _module(contracts)
    check.problems({}, None)
    loaded = json.loads(schema), json.loads(value)
    _within(seconds)
    found = check.problems(*loaded)
    _within(0)
    return json.dumps(found).encode()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(os.pathsep))
