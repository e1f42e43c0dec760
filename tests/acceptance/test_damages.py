"""`verify` on damaged homes: each damage is found, and nothing is called damage that is none."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from support.damages import KINDS, Kind, meaning, store_of
from tests.golden.archive import lay_out
from tests.golden.homes import every_home

from commands import call

FLOW = """\
name: flow
agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md; echo done']}}
phases:
- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}
- {id: final, agents: [writer], checkpoint: {prompt: Done?, approval_required: true}}
"""


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of an earlier release, and in it: runs of this one, a fork, an imported run, a deleted one, and one from
    before the chain that went on."""
    folder = tmp_path_factory.mktemp("sound")
    golden = next(one for one in every_home() if one.workflow == "early-exit" and "waiting" in one.stop)
    lay_out(golden.home, folder)
    home = next(folder.rglob("reconvene.db")).parent
    (folder / "flow.yaml").write_text(FLOW, encoding="utf-8")

    def reconvene(*words: str, code: int = 0) -> None:
        done = call(*words, cwd=folder, RECONVENE_HOME=str(home))
        assert done.code == code, done

    reconvene("remark", str(golden.home.expected["run"]), "Say more of the old one.")
    for run in ("flow-1", "flow-2", "flow-3"):
        reconvene("run", "flow.yaml", code=3)
        reconvene("remark", run, "Say more of it.")
        long = "".join(f"line {n} of {run}, which is long\n" for n in range(1_000))
        (home / "runs" / run / "draft.md").write_text(long, encoding="utf-8")
        reconvene("decide", run, "--option", "Continue", "--latest", code=3)
        reconvene("remark", run, "Say more of that, too.", "--by", "Ada")
    reconvene("fork", "flow-1", "--at", "12")
    reconvene("export", "flow-2", "run.zip")
    reconvene("import", "run.zip", "--as", "theirs")
    reconvene("delete", "flow-3", "--yes")
    reconvene("verify", "flow-1", "--mend")
    reconvene("verify")
    with closing(sqlite3.connect(store_of(home))) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.execute("PRAGMA journal_mode=DELETE")
    return home


@pytest.fixture
def verify(tmp_path: Path, sound: Path) -> Callable[[Kind, int], None]:
    def check(kind: Kind, seed: int) -> None:
        home = tmp_path / "home"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(sound, home)
        before = meaning(home)
        said = kind.damage(home, Random(seed))
        harmless = kind.raw and meaning(home) == before
        done = call("verify", cwd=tmp_path, RECONVENE_HOME=str(home))
        assert done.code == (0 if harmless else 1), f"{kind.name}, {seed}: {said}\n{done.out}{done.err}"
        assert harmless or "next:" in done.out or "hint:" in done.err, f"{kind.name}, {seed}: {said}\n{done.err}"

    return check


def test_the_home_that_is_damaged_here_is_sound(sound: Path, tmp_path: Path) -> None:
    done = call("verify", cwd=tmp_path, RECONVENE_HOME=str(sound))
    assert done.code == 0
    for word in ("unchained until event", "from elsewhere", "deleted", "flow-1-fork-1"):
        assert word in done.out


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_of_damage_is_found(kind: Kind, verify: Callable[[Kind, int], None]) -> None:
    verify(kind, 1)


@pytest.mark.torture
@pytest.mark.parametrize("number", range(200))
def test_random_damage_is_found(number: int, verify: Callable[[Kind, int], None]) -> None:
    seed = int(os.environ.get("SEED", "0")) * 1_000 + number
    verify(Random(seed).choice(KINDS), seed)
