"""What a test suite printed, as numbers: how many tests passed, failed and were skipped, and which failed.

Knows the words of a few tools. What it does not recognise has no counts: then the exit code alone speaks. Whatever is
read here was printed by a program that an agent wrote, so it is never more than a second witness beside that code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MOST_NAMES = 200
_NAME = 300  # characters of one


class Counts(NamedTuple):
    """`tool` "" = not recognised: the numbers say nothing."""

    tool: str = ""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[str, ...] = ()  # by name, as far as they are named

    @property
    def ran(self) -> int:
        """A test that is skipped does not run."""
        return self.passed + self.failed


def counts(printed: str) -> Counts:
    """Of the first tool whose words are found."""
    text = _ANSI.sub("", printed)
    for read in (_pytest, _unittest, _cargo, _jest, _vitest, _mocha, _node, _go):
        if found := read(text):
            return found._replace(failures=_named(found.failures))
    return Counts()


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(name.split())[:_NAME] for name in names if name.strip()))[:_MOST_NAMES]


def _sum(text: str, word: str) -> int:
    return sum(int(number) for number in re.findall(rf"(\d+) {word}", text))


def _pytest(text: str) -> Counts | None:
    word = r"\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)"
    lines = re.findall(rf"^[= ]*((?:{word})(?:, {word})*) in [\d.:]+\s?s", text, re.MULTILINE)
    lines += re.findall(r"^[= ]*(no tests ran) in [\d.]+\s?s", text, re.MULTILINE)
    if not lines:
        return None
    said = " ".join(lines)  # a suite in several runs has several
    names = re.findall(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", text, re.MULTILINE)
    failed = _sum(said, "failed") + _sum(said, "errors?")
    passed = _sum(said, "passed") + _sum(said, "xfailed") + _sum(said, "xpassed")
    return Counts("pytest", passed, failed, _sum(said, "skipped") + _sum(said, "deselected"), tuple(names))


def _unittest(text: str) -> Counts | None:
    ran = re.findall(r"^Ran (\d+) tests? in [\d.]+s", text, re.MULTILINE)
    if not ran:
        return None
    ends = " ".join(re.findall(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", text, re.MULTILINE))

    def number(word: str) -> int:
        return sum(int(each) for each in re.findall(rf"\b{word}=(\d+)", ends))

    failed = number("failures") + number("errors") + number("unexpected successes")
    skipped, total = number("skipped"), sum(map(int, ran))
    names = re.findall(r"^(?:FAIL|ERROR): (\S.*)$", text, re.MULTILINE)
    return Counts("unittest", max(total - failed - skipped, 0), failed, skipped, tuple(names))


def _cargo(text: str) -> Counts | None:
    ends = re.findall(r"^test result: .*?(\d+ passed; \d+ failed; \d+ ignored)", text, re.MULTILINE)
    if not ends:
        return None
    said = " ".join(ends)
    names = re.findall(r"^test (\S.*?) \.\.\. FAILED$", text, re.MULTILINE)
    return Counts("cargo", _sum(said, "passed"), _sum(said, "failed"), _sum(said, "ignored"), tuple(names))


def _jest(text: str) -> Counts | None:
    ends = re.findall(r"^Tests:\s+(.*\d+ total)\s*$", text, re.MULTILINE)
    if not ends:
        return None
    said = " ".join(ends)
    names = re.findall(r"^\s*● (.+ › .+?)\s*$", text, re.MULTILINE)
    skipped = _sum(said, "skipped") + _sum(said, "todo")
    broken = sum(map(int, re.findall(r"^Test Suites:.*?(\d+) failed", text, re.MULTILINE)))
    failed = _sum(said, "failed") or broken  # a file that cannot be loaded has no test that fails
    return Counts("jest", _sum(said, "passed"), failed, skipped, tuple(names))


def _vitest(text: str) -> Counts | None:
    ends = re.findall(r"^\s*Tests\s+(.*\(\d+\))\s*$", text, re.MULTILINE)
    if not ends:
        return None
    said = " ".join(ends)
    names = re.findall(r"^\s*(?:FAIL|×)\s+(\S.*?)(?:\s+\d+ms)?\s*$", text, re.MULTILINE)
    broken = sum(map(int, re.findall(r"^\s*Test Files\s+(\d+) failed", text, re.MULTILINE)))
    skipped = _sum(said, "skipped") + _sum(said, "todo")
    return Counts("vitest", _sum(said, "passed"), _sum(said, "failed") or broken, skipped, tuple(names))


def _mocha(text: str) -> Counts | None:
    if not re.search(r"^\s+\d+ passing\b", text, re.MULTILINE):
        return None
    failed = sum(map(int, re.findall(r"^\s+(\d+) failing\b", text, re.MULTILINE)))
    passed = sum(map(int, re.findall(r"^\s+(\d+) passing\b", text, re.MULTILINE)))
    skipped = sum(map(int, re.findall(r"^\s+(\d+) pending\b", text, re.MULTILINE)))
    names = re.findall(r"^\s+\d+\) (\S.*?):?\s*$", text, re.MULTILINE)
    return Counts("mocha", passed, failed, skipped, tuple(names))


def _node(text: str) -> Counts | None:
    def number(word: str) -> int:
        return sum(map(int, re.findall(rf"^(?:#|ℹ) {word} (\d+)\s*$", text, re.MULTILINE)))

    if not re.search(r"^(?:#|ℹ) tests \d+\s*$", text, re.MULTILINE):
        return None
    names = re.findall(r"^\s*not ok \d+ - (.+?)\s*$", text, re.MULTILINE)
    names += re.findall(r"^\s*✖ (\S.*?)(?: \([\d.]+ms\))?\s*$", text, re.MULTILINE)
    names = [name for name in names if name != "failing tests:" and "# SKIP" not in name]
    skipped = number("skipped") + number("todo")
    return Counts("node", number("pass"), number("fail") + number("cancelled"), skipped, tuple(names))


def _go(text: str) -> Counts | None:
    packages = re.findall(
        r"^(ok|FAIL)\s+\S+\s+(?:\(cached\)|[\d.]+s|\[build failed\]|\[setup failed\])", text, re.MULTILINE
    )
    if not packages:
        return None
    passed, failed, skipped = (
        re.findall(rf"^\s*--- {word}: (\S+)", text, re.MULTILINE) for word in ("PASS", "FAIL", "SKIP")
    )
    built = re.findall(r"^FAIL\s+(\S+)\s+\[(?:build|setup) failed\]", text, re.MULTILINE)
    if passed or failed or skipped:
        return Counts("go", len(passed), len(failed) + len(built), len(skipped), (*failed, *built))
    whole = re.findall(r"^FAIL\s+(\S+)\s", text, re.MULTILINE)
    return Counts("go packages", packages.count("ok"), packages.count("FAIL"), 0, tuple(whole))
