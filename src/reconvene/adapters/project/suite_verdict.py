"""What one run of the tests says about a change, beside the run before it. Pure: numbers in, one record out.

The record is kept with the run, so that what was found then stays what was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from reconvene.adapters.project.suite_counts import Counts, counts

# passed: all of them; as before: what failed before still fails, and nothing else does; failed: something fails that
# did not; fewer: fewer tests ran than before; unclear: it failed before and fails now, and nobody can tell what; not
# run: it says nothing; none: nobody said how to run them
Verdict = Literal["passed", "as before", "failed", "fewer", "unclear", "not run", "none"]
_FINE = ("passed", "as before")
_KEPT = 12_000  # characters of output, from its end
_CANNOT = {126: "it may not be executed", 127: "there is no such command"}


class Ran(NamedTuple):
    """One run. code None = it did not come to an end; `why` says why."""

    code: int | None
    printed: str
    seconds: float = 0.0
    why: str = ""

    @property
    def counts(self) -> Counts:
        return counts(self.printed)


def not_run(why: str, printed: str = "") -> dict[str, object]:
    return {"verdict": "not run", "ok": False, "line": f"not run: {why}", "output": tail(printed)}


def none() -> dict[str, object]:
    return {"verdict": "none", "ok": False, "line": "not tested: nobody said how", "output": ""}


def judged(before: Mapping[str, object] | None, first: Ran, second: Ran | None = None) -> dict[str, object]:
    """`second`: the same once more, where `first` failed as it did not before."""
    now = first if second is None else second
    if now.code is None or now.code in _CANNOT:
        why = now.why or _CANNOT.get(now.code or 0, "")
        return not_run(why, now.printed)
    had = _earlier(before)
    new = new_failures(had, now)
    flaky = [name for name in new_failures(had, first) if name not in new] if second is not None else []
    verdict = _verdict(had, now, new)
    found = now.counts
    return {
        "verdict": verdict,
        "ok": verdict in _FINE,
        "line": _line(verdict, now, found, had, new, flaky),
        "exit": now.code,
        "tool": found.tool,
        "passed": found.passed,
        "failed": found.failed,
        "skipped": found.skipped,
        "ran": found.ran,
        "failures": list(found.failures),
        "new": new,
        "flaky": flaky,
        "output": tail(now.printed),
    }


def tail(printed: str) -> str:
    """Its end, from a whole line on; what is left out is said."""
    if len(printed) <= _KEPT:
        return printed.strip("\n")
    kept = printed[-_KEPT:].partition("\n")[2] or printed[-_KEPT:]
    return f"… ({len(printed) - len(kept):,} characters before this are not shown)\n{kept}".rstrip("\n")


class _Had(NamedTuple):
    """What is known of the run before. exit None = there was none."""

    exit: int | None
    tool: str
    ran: int
    failed: int
    failures: frozenset[str]


def _earlier(before: Mapping[str, object] | None) -> _Had:
    if not before or not isinstance(before.get("exit"), int):
        return _Had(None, "", 0, 0, frozenset())
    names = before.get("failures")

    def number(key: str) -> int:
        value = before.get(key)
        return value if isinstance(value, int) else 0

    listed = frozenset(str(name) for name in names) if isinstance(names, list) else frozenset()
    return _Had(number("exit"), str(before.get("tool") or ""), number("ran"), number("failed"), listed)


def new_failures(had: Mapping[str, object] | _Had | None, now: Ran) -> list[str]:
    """What fails now and did not before. Where nothing is named, that something does."""
    known = had if isinstance(had, _Had) else _earlier(had)
    found = now.counts
    if now.code == 0 and not found.failed:
        return []
    named = [name for name in found.failures if name not in known.failures]
    if named:
        return named
    if found.failed > known.failed or (found.failed and known.exit is None):
        return [f"{found.failed - known.failed} that are not named"]
    if now.code and not known.exit:
        return [f"exit code {now.code}"]
    return []


def _verdict(had: _Had, now: Ran, new: list[str]) -> Verdict:
    found = now.counts
    if new:
        return "failed"
    if had.exit is not None and had.tool and (not found.tool or found.ran < had.ran):
        return "fewer"
    if now.code == 0:
        return "passed"
    if had.exit and not found.tool:
        return "unclear"
    return "as before"


def _line(verdict: str, now: Ran, found: Counts, had: _Had, new: list[str], flaky: list[str]) -> str:
    parts = [f"{found.passed} passed", f"{found.failed} failed"] if found.tool else [f"exit code {now.code}"]
    parts += [f"{found.skipped} skipped"] if found.skipped else []
    said = ", ".join(parts)
    if verdict == "failed":
        more = f" and {len(new) - 3} more" if len(new) > 3 else ""
        said += f"; failing now and not before: {', '.join(new[:3])}{more}"
    elif verdict == "fewer":
        said += (
            f"; {found.ran} tests ran, {had.ran} before"
            if found.tool
            else "; no test was counted, and before some were"
        )
    elif verdict == "as before":
        said += "; nothing fails that did not fail before"
    elif verdict == "unclear":
        said += "; it failed before as well, and what fails cannot be told apart"
    if flaky:
        said += f"; flaky (failed once, then passed): {', '.join(flaky[:3])}"
    return said
