"""The page about writing kits cannot lie: its files are installed as they stand there, and its commands typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from support.installing import install

from forks import Forks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kits.md"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#.*\bexit code (\d+)")


def test_the_kit_of_the_page_does_what_the_page_says(tmp_path: Path, forks: Forks) -> None:
    package, target, folder = tmp_path / "package", tmp_path / "site", tmp_path / "work"
    folder.mkdir()
    typed: list[str] = []
    for _, path, text in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        if path:
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_text(text, encoding="utf-8")
        else:
            typed += text.splitlines()
    install(package, target)
    said: dict[str, str] = {}
    for line in typed:
        stated = EXIT.search(line)
        done = forks.command(*shlex.split(line, comments=True)[1:], cwd=folder, PYTHONPATH=str(target))
        assert done.code == (int(stated[1]) if stated else 0), f"{line}\n{done.out}\n{done.err}"
        assert "failed" not in done.err, done.err
        said[line.partition("#")[0].strip()] = done.out
    assert "1 to 1 after 0 stops" in said["reconvene run votes/ballot --no-input"]
    assert "FB-001 wish, major: a wish is heard" in said["reconvene remark ballot-1 'wish: let it be unanimous'"]
    assert "3 to 1 after 1 stops" in said["reconvene decide ballot-1 --option Again"]
    assert said["reconvene view ballot-1 tally"].splitlines() == ["VOTE  COUNT", "yes   3", "no    1"]
    assert "FB-001 ◐ claimed by bob, open" in said["reconvene ledger ballot-1"]
    assert "2 to 1 after 2 stops" in said["reconvene decide ballot-1 --option Veto --latest"]
