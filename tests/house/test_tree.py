"""What no file of the project may contain, and the files that a fresh clone relies on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Spelt in pieces, so that this file does not find itself.
MACHINE_PATHS = re.compile("/ro" + "ot/|/ho" + "me/[a-z]|/Us" + "ers/[A-Za-z]|/opt/py" + "pi")
REGISTRY_HOSTS = re.compile("pypi" + r"\.org/simple|files\.python" + r"hosted\.org|index" + "-url")
LEFTOVERS = re.compile(r"(#|--|//|/\*).*\b(TO" + "DO|FIX" + r"ME|X{3})\b")
PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][0-9a-z.]*")


@cache
def project_files() -> dict[str, str]:
    """Path → text of everything that is, or would be, committed. Binary files are left out."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    texts: dict[str, str] = {}
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file() and not path.is_symlink():
            try:
                texts[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return texts


def places(pattern: re.Pattern[str], *, suffixes: tuple[str, ...] = ("",)) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in project_files().items()
        if name.endswith(suffixes)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_nothing_names_a_path_of_one_machine() -> None:
    assert places(MACHINE_PATHS) == []


def test_nothing_names_a_package_registry() -> None:
    allowed = "Makefile:"  # tells uv to leave the registry out of the pins
    assert [place for place in places(REGISTRY_HOSTS) if not place.startswith(allowed)] == []


def test_no_work_is_left_as_a_comment() -> None:
    assert places(LEFTOVERS, suffixes=(".py", ".sql", ".toml", ".css", ".js", "Makefile")) == []


def pins() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_the_pins_are_names_and_versions_only_and_sorted() -> None:
    assert [pin for pin in pins() if not PIN.fullmatch(pin)] == []
    assert pins() == sorted(pins())


def test_every_declared_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    pinned = {pin.partition("==")[0] for pin in pins()}
    names = {re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower() for requirement in declared}
    assert {name for name in names if name not in pinned} == set(), "run `make constraints`"


def test_the_gate_of_the_project_is_make_test() -> None:
    gate = ROOT / ".ci" / "run"
    assert os.access(gate, os.X_OK)
    assert "make test" in gate.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_plain_make_lists_what_it_can_do() -> None:
    listing = subprocess.run(["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True)
    offered = set(re.findall(r"^make (\w+) ", listing.stdout, flags=re.MULTILINE))
    assert {"demo", "test", "check", "bench", "torture", "clean"} <= offered


def test_decisions_are_numbered_without_holes() -> None:
    numbers = sorted(path.name[:4] for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert numbers == [f"{n:04d}" for n in range(1, len(numbers) + 1)]


def test_whoever_installs_the_package_gets_every_file_of_it() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    package = ROOT / "src" / "reconvene"
    patterns = said["tool"]["setuptools"]["package-data"]["reconvene"]
    told = {path for pattern in patterns for path in package.glob(pattern)}
    files = {ROOT / name for name in project_files() if name.startswith("src/reconvene/") and not name.endswith(".py")}
    assert sorted(str(path.relative_to(package)) for path in files - told) == []
