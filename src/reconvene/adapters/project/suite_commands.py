"""How a project is set up and tested, as far as its files say it. A guess for a person to confirm, never more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

LENT = (".venv", "venv", "node_modules")  # what is ignored, and needed to run the tests
_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)
_NO_TESTS = "no test specified"  # as npm writes it where there are none
_PLAIN_TESTS = re.compile(r"(^|/)test_[^/]*\.py$|(^|/)[^/]*_test\.py$")
_NODE_TESTS = re.compile(r"(^|/)(test|tests|__tests__)/.*\.[cm]?js$|\.test\.[cm]?js$")

Read = Callable[[str], str]  # a file's text, "" where there is none


class Suite(NamedTuple):
    """`source`: the file that says so. `setup` "" = nothing has to be made, or what is needed is lent."""

    test: str
    source: str
    setup: str = ""


def suites(paths: Sequence[str], read: Read, lent: Sequence[str] = ()) -> list[Suite]:
    """All that are found, the likeliest first. `lent`: folders that are there already."""
    top = {path for path in paths if "/" not in path}
    found = [
        _python(top, paths, read, lent),
        _node(top, paths, read, lent),
        _make(top, read),
        Suite("tox", "tox.ini") if "tox.ini" in top else None,
        Suite("cargo test", "Cargo.toml") if "Cargo.toml" in top else None,
        Suite("go test -v ./...", "go.mod") if "go.mod" in top else None,
        Suite("./gradlew test", "gradlew") if "gradlew" in top else None,
        Suite("mvn -q test", "pom.xml") if "pom.xml" in top else None,
        Suite("mix test", "mix.exs", "mix deps.get") if "mix.exs" in top else None,
    ]
    return [suite for suite in found if suite is not None]


def _python(top: set[str], paths: Sequence[str], read: Read, lent: Sequence[str]) -> Suite | None:
    settings = [name for name in ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini") if name in top]
    tests = [path for path in paths if _PLAIN_TESTS.search(path)]
    texts = {name: read(name) for name in settings}
    named = next((name for name in settings if name == "pytest.ini" or "pytest" in texts[name]), "")
    if not named and not tests:
        return None
    own = next((name for name in (".venv", "venv") if name in lent), "")
    setup = "" if own else _python_setup(top, texts.get("pyproject.toml", ""))
    python = f"{own}/bin/python" if own else ".venv/bin/python" if setup else "python3"
    path = "PYTHONPATH=src " if any(each.startswith("src/") for each in paths) else ""
    if named or any(re.search(r"^\s*(import|from) pytest\b", read(test), re.MULTILINE) for test in tests[:20]):
        return Suite(f"{path}{python} -m pytest -q", named or tests[0], setup)
    by_name = not any("/" not in test for test in tests) and not any("__init__" in each for each in paths)
    where = f" discover -s {tests[0].rpartition('/')[0]}" if by_name else ""
    return Suite(f"{path}{python} -m unittest{where}", tests[0], setup)


def _python_setup(top: set[str], project: str) -> str:
    wanted = next((name for name in ("requirements-dev.txt", "requirements.txt") if name in top), "")
    needs = re.search(r"^dependencies\s*=\s*\[\s*[\"']", project, re.MULTILINE)
    if not wanted and not needs:
        return ""
    return f"python3 -m venv .venv && .venv/bin/pip install -q pytest {f'-r {wanted}' if wanted else '-e .'}"


def _node(top: set[str], paths: Sequence[str], read: Read, lent: Sequence[str]) -> Suite | None:
    try:
        said = json.loads(read("package.json")) if "package.json" in top else {}
    except ValueError:
        said = {}
    if not isinstance(said, dict) or "package.json" not in top:
        return None
    scripts = said.get("scripts")
    script = str(scripts.get("test", "")) if isinstance(scripts, dict) else ""
    needs = any(said.get(key) for key in ("dependencies", "devDependencies", "optionalDependencies"))
    tool = next((tool for lock, tool in _LOCKS.items() if lock in top), "npm")
    setup = _SETUPS[tool] if needs and "node_modules" not in lent else ""
    if setup == "npm ci" and "package-lock.json" not in top:
        setup = "npm install"
    if script and _NO_TESTS not in script:
        return Suite(f"{tool} test", "package.json", setup)
    if any(_NODE_TESTS.search(path) for path in paths):
        return Suite("node --test", "package.json", setup)
    return None


_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun"}
_SETUPS = {
    "npm": "npm ci",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "bun": "bun install",
}


def _make(top: set[str], read: Read) -> Suite | None:
    file = next((name for name in ("Makefile", "makefile", "GNUmakefile") if name in top), "")
    found = _TARGET.findall(read(file)) if file else []
    target = next((name for name in ("test", "check") if name in found), "")
    return Suite(f"make {target}", file) if target else None


# --- what a change to a suite's own settings looks like ---

_SETTINGS = re.compile(
    r"(^|/)(pyproject\.toml|pytest\.ini|setup\.cfg|tox\.ini|noxfile\.py|conftest\.py|\.coveragerc|package\.json"
    r"|(jest|vitest|vite|babel|karma|playwright)\.config\.[a-z]+|\.mocharc\.[a-z]+|Makefile|makefile|GNUmakefile"
    r"|Cargo\.toml|build\.gradle(\.kts)?|pom\.xml|\.github/workflows/[^/]+)$"
)
_TEST_FILE = re.compile(
    r"(^|/)(tests?|__tests__|spec)/|(^|/)test_[^/]*$|[^/]*(_test|_spec|\.test|\.spec)\.[a-z]+$|(^|/)conftest\.py$"
)
_CASE = re.compile(r"^\s*(async\s+)?(def test_?\w*|func Test\w*|(it|test|describe)(\.\w+)?\s*\(|#\[test\]|@Test\b)")
_SKIP = re.compile(
    r"@(pytest\.mark\.(skip|skipif|xfail)|unittest\.skip\w*|Disabled|Ignore)\b|\bpytest\.skip\(|\.skipTest\("
    r"|\b(it|test|describe)\.(skip|todo|only)\b|\b(xit|xdescribe|xtest)\s*\(|#\[ignore|\bt\.Skip|__test__ = False"
)


_NEEDED = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|poetry\.lock|uv\.lock|Pipfile(\.lock)?|package\.json"
    r"|package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb|Cargo\.(toml|lock)|go\.(mod|sum)|mix\.(exs|lock)"
    r"|Makefile|makefile|GNUmakefile)$"
)


def says_what_is_needed(path: str) -> bool:
    """Whether a set-up is made of it."""
    return bool(_NEEDED.search(path))


def is_settings(path: str) -> bool:
    """Whether it says which tests run, and how."""
    return bool(_SETTINGS.search(path))


def is_test(path: str) -> bool:
    return bool(_TEST_FILE.search(path))


def begins_case(line: str) -> bool:
    """Whether a line of code begins a test."""
    return bool(_CASE.match(line))


def skips(line: str) -> bool:
    return bool(_SKIP.search(line))
