"""Stands between the engine and one program: takes in every process that the program leaves behind, and ends them all.

A program of its own, started by path without the package (`python -I -S keeper.py PLAN PROGRAM …`). It imports next to
nothing, for each attempt waits for it: `_signal` is `signal` without its enumerations. What a program starts and
abandons becomes a child of this process, however it detached itself. When the program has ended, when this process is
asked to end, and when the engine is gone, nothing of it stays.

PLAN is a file of fields, each ended by a zero byte: the process id of the engine, or 0 where the program may outlive
the engine, because it acts on the world and a person decides about it; what `socket_filter` gives, in hexadecimal, if
anything; then what `landlock.plan` gives, if anything. It is removed at the end: one that stays says that this process
was killed. Linux only.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os
import sys
import time

GRACE = 1.5  # seconds from SIGTERM to SIGKILL; less than the engine waits for this process
_DEATH_SIGNAL, _FILTER, _DROP, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 22, 24, 36, 38  # of prctl
_BY_PROGRAM, _STEP = 2, 8  # a filter is a program; the bytes of one step of it
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the system calls of Landlock, the same on every processor
_WATCHED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
_LONGEST = 5.0  # seconds for killing what forks faster than it is found
_FILE_SIZE, FAR = 1, 2**62
CANNOT = 125  # exit code: nothing was started


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def confine(libc: ctypes.CDLL, plan: list[bytes]) -> None:
    """Landlock for this process and all it starts: what no rule allows is refused from here on."""
    size, *handled = map(int, plan[:4])
    ruleset = b"".join(rights.to_bytes(8, sys.byteorder) for rights in handled)
    handle = _call(libc, _CREATE, ruleset, ctypes.c_size_t(size), 0)
    for access, path in zip(plan[4::2], plan[5::2], strict=True):
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue  # gone meanwhile: nothing to allow
        rule = int(access).to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
        try:
            _call(libc, _ADD, handle, 1, rule, 0)
        finally:
            os.close(place)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _call(libc, _RESTRICT, handle, 0)
    os.close(handle)


def close_sockets(libc: ctypes.CDLL, steps: bytes) -> None:
    """From here on this process and all it starts make no such sockets."""
    held = ctypes.create_string_buffer(steps, len(steps))
    count = (len(steps) // _STEP).to_bytes(ctypes.sizeof(ctypes.c_void_p), sys.byteorder)
    program = count + ctypes.addressof(held).to_bytes(ctypes.sizeof(ctypes.c_void_p), sys.byteorder)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(_FILTER, _BY_PROGRAM, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter of system calls")


def _give_up_privileges(libc: ctypes.CDLL) -> None:
    """Root without them is an ordinary user: some of them would open what Landlock closes."""
    for capability in range(64):
        libc.prctl(_DROP, capability, 0, 0, 0)
    libc.capset((0x20080522).to_bytes(4, sys.byteorder) + bytes(4), bytes(24))


def _mark(libc: ctypes.CDLL, folder: str) -> None:
    """A limit that nobody reaches, and that no other attempt has: how large files may become. Whatever is started
    inherits it, also where it clears its environment. See `remains`."""
    try:
        limit = (FAR + int(os.path.basename(folder), 16)).to_bytes(8, sys.byteorder)
    except (ValueError, OverflowError):  # a trial
        return
    if sys.maxsize > 2**32:
        libc.setrlimit(_FILE_SIZE, limit + limit)


def _start(libc: ctypes.CDLL, steps: bytes, plan: list[bytes], argv: list[str]) -> int:
    """The program's process id; ends this process where it cannot be started."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, set())
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if plan:
                _give_up_privileges(libc)
                confine(libc, plan)
            if steps:
                close_sockets(libc, steps)
            os.execvp(argv[0], argv)
        except BaseException as error:
            os.write(tell, str(error).encode("utf-8", "replace")[:1000] or b"it cannot be started")
        finally:
            os._exit(CANNOT)
    os.close(tell)
    problem = b""
    while part := os.read(told, 1024):
        problem += part
    os.close(told)
    if problem:
        os.waitpid(child, 0)
        os.write(2, b"reconvene: " + problem + b"\n")
        os._exit(CANNOT)
    return child


def _childless() -> bool:
    """Whether nobody is below this process. Who lost their parent is its child, so one look is enough."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return not file.read().strip()
    except OSError:  # a kernel that does not tell
        return False


def _descendants() -> list[int]:
    """Everything below this process that still lives."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue
            if state not in (b"Z", b"X"):
                parents.setdefault(int(parent), []).append(int(name))
    found, waiting = [], [os.getpid()]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _send(number: int) -> list[int]:
    """The ones that were there."""
    below = _descendants()
    for pid in below:
        try:  # noqa: SIM105
            os.kill(pid, number)
        except OSError:
            pass
    return below


def _reap(main: int) -> int | None:
    """Collect who has ended; the program's status if it is among them."""
    status = None
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if not pid:
            return status
        if pid == main:
            status = code


def _end_all(main: int, status: int | None) -> int | None:
    """Ask, wait a little, kill until nobody is left."""
    if _childless():
        return status
    _send(signal.SIGTERM)
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        ended = _reap(main)
        status = status if ended is None else ended
        if not _descendants():
            return status
        signal.sigtimedwait({signal.SIGCHLD}, 0.02)
    until += _LONGEST
    while _send(signal.SIGKILL) and time.monotonic() < until:
        signal.sigtimedwait({signal.SIGCHLD}, 0.01)
        ended = _reap(main)
        status = status if ended is None else ended
    ended = _reap(main)
    return status if ended is None else ended


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        parent, steps, *plan = file.read().split(b"\0")[:-1]
    libc = ctypes.CDLL(None, use_errno=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    _mark(libc, os.path.dirname(sys.argv[1]))
    if int(parent):
        libc.prctl(_DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != int(parent):
            os._exit(CANNOT)  # the engine was gone before it could be heard of
    child = _start(libc, bytes.fromhex(steps.decode()), plan, sys.argv[2:])
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)  # whoever reads the program's output must see its end
    status = None
    while status is None:
        got = signal.sigwaitinfo(_WATCHED)
        status = _reap(child)
        if got.si_signo != signal.SIGCHLD:
            break
    status = _end_all(child, status)
    try:  # noqa: SIM105
        os.unlink(sys.argv[1])
    except OSError:
        pass  # swept meanwhile
    if status is None:
        os._exit(CANNOT)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:  # as the program ended, so does this process
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
