"""`verify`: a home as it was left fits together; whatever is changed in it is found, and named with what to do."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command, Done, call
from reconvene.wire import chain

RUN, OTHER = "flow-1", "flow-2"


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two runs at their second checkpoint, after a remark and a decision."""
    folder = tmp_path_factory.mktemp("parked")
    (folder / "flow.yaml").write_text(
        "name: flow\nagents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}\n"
        "phases:\n- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}\n"
        "- {id: final, agents: [writer], checkpoint: {prompt: Done?, approval_required: true}}\n",
        encoding="utf-8",
    )
    home = {"RECONVENE_HOME": str(folder / ".reconvene")}
    for run in (RUN, OTHER):
        assert call("run", "flow.yaml", cwd=folder, **home).code == 3
        assert call("remark", run, "Say more of it.", cwd=folder, **home).code == 0
        assert call("decide", run, "--option", "Continue", "--latest", cwd=folder, **home).code == 3
    return folder.rename(folder.with_name("verified"))


@pytest.fixture
def folder(parked: Path, tmp_path: Path) -> Path:
    shutil.copytree(parked, tmp_path, dirs_exist_ok=True)
    return tmp_path


def change(folder: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / ".reconvene" / "reconvene.db")) as store:
        assert store.execute(sql, values).rowcount > 0
        store.commit()


def ask(folder: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / ".reconvene" / "reconvene.db")) as store:
        return store.execute(sql, values).fetchall()


def misfit(reconvene: Command, run: str = RUN) -> dict[str, object]:
    """What `verify` names, the same alone and among all runs. The other run is not touched by it."""
    alone = reconvene("verify", run, "--json")
    assert alone.code == 1
    found = alone.object["misfit"]
    assert isinstance(found, dict)
    assert reconvene("verify", OTHER).code == 0
    whole = reconvene("verify", "--json")
    assert whole.code == 1
    runs = whole.object["runs"]
    assert isinstance(runs, list)
    assert [one["misfit"] for one in runs if not one["sound"]] == [found]
    assert str(found["where"]) in reconvene("verify", run).out
    return found


def test_a_home_as_it_was_left_fits_together(folder: Path, reconvene: Command) -> None:
    done = reconvene("verify")
    assert done.code == 0
    assert f"{RUN}: fits together" in done.out
    assert "unchained" not in done.out
    (value,) = ask(folder, "SELECT chain FROM appends ORDER BY key LIMIT 1 OFFSET 0")[0]
    assert isinstance(value, bytes)
    assert len(value) == chain.SIZE


def test_a_home_that_is_moved_again_and_again_fits_together(tmp_path: Path) -> None:
    """What is kept beside the log says what the log says, wherever the files lie at the moment."""
    place = tmp_path / "first"
    place.mkdir()
    (place / "flow.yaml").write_text(
        "name: flow\nagents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}\n"
        "phases:\n- {id: draft, agents: [writer], checkpoint: {show_files: [draft.md], approval_required: true}}\n",
        encoding="utf-8",
    )

    def reconvene(*words: str) -> Done:
        return call(*words, cwd=place, RECONVENE_HOME=str(place / ".reconvene"))

    assert reconvene("run", "flow.yaml").code == 3
    for name in ("second", "third"):
        place = place.rename(tmp_path / name)
        assert reconvene("verify").code == 0
        assert reconvene("remark", RUN, f"In the {name}.").code == 0
        assert reconvene("verify").code == 0
        shown = reconvene("show", RUN, "--json").object["checkpoint"]
        assert isinstance(shown, dict)
        assert shown["show_files"] == [f"{place}/.reconvene/runs/{RUN}/draft.md"]


LAST = "(SELECT max(key) FROM appends WHERE key >> 32 = 1)"
FIRST = "(SELECT min(key) FROM appends WHERE key >> 32 = 1)"
SECOND = f"(SELECT min(key) FROM appends WHERE key > {FIRST})"

LOG = {
    "a word of an event": f"UPDATE appends SET events = replace(events, '\"door\"', '\"DOOR\"') WHERE key = {FIRST}",
    "a row is gone": f"DELETE FROM appends WHERE key = {SECOND}",
    "a value of the chain": f"UPDATE appends SET chain = randomblob(16) WHERE key = {SECOND}",
    "no value of the chain": f"UPDATE appends SET chain = NULL WHERE key = {LAST}",
    "no chain at all": "UPDATE appends SET chain = NULL WHERE key >> 32 = 1",
    "the head is less": "UPDATE runs SET head = head - 1 WHERE id = 1",
    "the head is more": "UPDATE runs SET head = head + 1 WHERE id = 1",
    "the last row is gone": f"DELETE FROM appends WHERE key = {LAST}",
    "said to be old": "INSERT INTO unchained VALUES (1, 3)",
    "as text or as bytes": f"UPDATE appends SET events = CAST(events AS BLOB) WHERE key = {FIRST}",
}


@pytest.mark.parametrize("what", LOG)
def test_a_change_of_the_log_is_found(what: str, folder: Path, reconvene: Command) -> None:
    change(folder, LOG[what])
    found = misfit(reconvene)
    assert "Restore the store from a backup" in str(found["next"])


def test_a_log_whose_end_was_cut_off_with_care_is_found_by_the_history(folder: Path, reconvene: Command) -> None:
    before = ask(folder, "SELECT key & 0xffffffff FROM appends WHERE key >> 32 = 1 ORDER BY key DESC LIMIT 1 OFFSET 1")
    change(folder, f"DELETE FROM appends WHERE key = {LAST}")
    change(folder, "UPDATE runs SET head = ? WHERE id = 1", before[0][0])
    change(folder, "DELETE FROM snapshots") if ask(folder, "SELECT 1 FROM snapshots") else None
    found = misfit(reconvene)
    refused = reconvene("verify", RUN, "--mend")
    assert refused.code != 0
    assert "does not fit together: the end of the log" in refused.err
    assert misfit(reconvene) == found, "nothing that was derived was made of what is left"
    assert "git history" in str(found["expected"])
    assert "cut off" in str(found["next"])


def test_a_chain_that_was_written_anew_is_found_by_the_history(folder: Path, reconvene: Command) -> None:
    value = chain.BEGINNING
    rows = ask(folder, "SELECT key, typeof(events) = 'blob', CAST(events AS BLOB) FROM appends WHERE key >> 32 = 1")
    for key, packed, data in rows:
        assert isinstance(key, int)
        assert isinstance(data, bytes)
        data = data.replace(b"Say more of it.", b"Say less of it.")
        value = chain.value_after(chain.link(value, RUN, key & 0xFFFFFFFF, bool(packed), data), b"")
        sql = "UPDATE appends SET events = CAST(? AS TEXT), chain = ?, seal = NULL WHERE key = ?"
        change(folder, sql if not packed else sql.replace("CAST(? AS TEXT)", "?"), data, value, key)
    reconvene("verify", RUN, "--mend")
    misfit(reconvene)


DERIVED = {
    "status": "UPDATE runs SET status = 'failed' WHERE id = 1",
    "workflow": "UPDATE runs SET workflow = 'other' WHERE id = 1",
    "updated": "UPDATE runs SET updated = '2026-01-01T00:00:00.000Z' WHERE id = 1",
    "document": "UPDATE runs SET doc = replace(doc, 'Done?', 'Well?') WHERE id = 1",
    "a word less": "UPDATE runs SET doc = replace(doc, '\"workflow\":\"flow\",', '') WHERE id = 1",
    "no document": "UPDATE runs SET doc = '{' WHERE id = 1",
    "no row": "UPDATE runs SET status = NULL WHERE id = 1",
}


@pytest.mark.parametrize("what", DERIVED)
def test_a_change_of_what_is_derived_is_found_and_mended(what: str, folder: Path, reconvene: Command) -> None:
    change(folder, DERIVED[what])
    assert f"reconvene verify {RUN} --mend" in str(misfit(reconvene)["next"])
    assert reconvene("verify", RUN, "--mend").code == 0
    assert reconvene("verify").code == 0


CONTENTS: dict[str, str] = {
    "other bytes": "UPDATE artefacts SET data = x'00', packed = 0 WHERE digest = ?",
    "no bytes": "DELETE FROM artefacts WHERE digest = ?",
    "another form": "UPDATE artefacts SET packed = 7 WHERE digest = ?",
}


@pytest.mark.parametrize("what", CONTENTS)
def test_a_content_that_is_not_what_its_digest_says_is_found(what: str, folder: Path, reconvene: Command) -> None:
    (digest,) = ask(folder, "SELECT digest FROM artefacts ORDER BY rowid LIMIT 1")[0]
    change(folder, CONTENTS[what], digest)
    done = reconvene("verify")
    assert done.code == 1
    assert f"the content {digest}" in done.out


def changed_ref(folder: Path) -> None:
    (folder / ".reconvene/history.git/refs/heads" / RUN).write_text("0" * 40 + "\n")


def other_ref(folder: Path) -> None:
    heads = folder / ".reconvene/history.git/refs/heads"
    shutil.copy(heads / OTHER, heads / RUN)


def changed_note(folder: Path) -> None:
    note = folder / ".reconvene/history.git/reconvene" / f"{RUN}.head"
    note.write_text(f"99 {note.read_text().split()[1]}\n")


def changed_commit(folder: Path) -> None:
    import zlib

    git = folder / ".reconvene/history.git"
    oid = (git / "refs/heads" / RUN).read_text().strip()
    file = git / "objects" / oid[:2] / oid[2:]
    data = zlib.decompress(file.read_bytes()).replace(b"Reconvene", b"reconvenE", 1)
    file.chmod(0o644)
    file.write_bytes(zlib.compress(data))


def no_note(folder: Path) -> None:
    (folder / ".reconvene/history.git/reconvene" / f"{RUN}.head").unlink()


def foreign_commit(folder: Path) -> None:
    from reconvene.adapters.git.message import Person
    from reconvene.adapters.git.objects import Objects

    git = folder / ".reconvene/history.git"
    branch = git / "refs/heads" / RUN
    somebody, tip = Person("Eve", "eve@example.org"), branch.read_text().strip()
    objects = Objects(str(git))
    branch.write_text(objects.add_commit(objects.add_tree([]), tip, somebody, somebody, 1, "Evil") + "\n")


def objects_of(folder: Path, kind: bytes) -> list[Path]:
    """The files of all objects of this kind."""
    import zlib

    files = [file for file in (folder / ".reconvene/history.git/objects").glob("??/*") if len(file.name) == 38]
    return [file for file in files if zlib.decompress(file.read_bytes()).startswith(kind)]


@pytest.mark.parametrize("kind", [b"commit", b"tree", b"blob"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda file: (file.chmod(0o644), file.write_bytes(b"garbage"))])
def test_every_object_of_the_history_is_looked_at(
    kind: bytes, damage: Callable[[Path], object], folder: Path, reconvene: Command
) -> None:
    found = objects_of(folder, kind)
    assert found
    for file in found:
        before = file.read_bytes()
        damage(file)
        assert reconvene("verify").code == 1, file
        file.unlink(missing_ok=True)
        file.write_bytes(before)
    assert reconvene("verify").code == 0


@pytest.mark.parametrize("harm", [changed_ref, other_ref, changed_note, changed_commit, no_note, foreign_commit])
def test_a_change_of_the_history_is_found(harm: Callable[[Path], None], folder: Path, reconvene: Command) -> None:
    harm(folder)
    misfit(reconvene)


def test_a_history_that_was_deleted_is_made_again(folder: Path, reconvene: Command) -> None:
    before = (folder / ".reconvene/history.git/refs/heads" / RUN).read_text()
    shutil.rmtree(folder / ".reconvene/history.git")
    done = reconvene("verify")
    assert done.code == 0
    assert f"the git history has no commit of {RUN}; to make it: reconvene verify {RUN} --mend" in done.out
    assert reconvene("verify", RUN, "--mend").code == 0
    assert (folder / ".reconvene/history.git/refs/heads" / RUN).read_text() == before


def test_a_run_that_is_gone_without_a_trace_is_missed(folder: Path, reconvene: Command) -> None:
    change(folder, "DELETE FROM appends WHERE key >> 32 = 1")
    done = reconvene("verify")
    assert done.code == 1
    change(folder, "DELETE FROM runs WHERE id = 1")
    done = reconvene("verify")
    assert done.code == 1
    assert f"run {RUN}" in done.out


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that the person made, with a run that is completed."""
    tmp_path = tmp_path / "own"
    tmp_path.mkdir()
    monkeypatch.setenv("RECONVENE_HOME", str(tmp_path / ".reconvene"))
    (tmp_path / "one.yaml").write_text(
        "name: flow\nagents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello']}}\n"
        "phases:\n- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}\n",
        encoding="utf-8",
    )
    assert call("run", "one.yaml", cwd=tmp_path).code == 3
    assert call("decide", RUN, "--option", "Continue", cwd=tmp_path).code == 0
    return tmp_path


def cut(folder: Path) -> None:
    """The decision, and all that follows."""
    rows = ask(folder, "SELECT key, CAST(events AS TEXT) FROM appends ORDER BY key")
    first = next(number for number, (_, events) in enumerate(rows) if '"DecisionRecorded"' in str(events))
    last, gone = rows[first - 1][0], rows[first][0]
    change(folder, "DELETE FROM appends WHERE key >= ?", gone)
    change(folder, "UPDATE runs SET head = ? & 0xffffffff", last)


def test_a_log_that_was_cut_off_with_its_history_is_found_by_what_the_person_keeps(
    own: Path, reconvene: Command
) -> None:
    assert reconvene("verify").code == 0
    cut(own)
    shutil.rmtree(own / ".reconvene/history.git")
    for words in (("verify",), ("verify", RUN, "--mend"), ("verify", RUN)):
        done = reconvene(*words)
        assert done.code != 0
        assert "the end of the log" in done.out + done.err
        assert "cut off" in done.out + done.err
    reconvene("remark", RUN, "Say more.")
    assert reconvene("verify").code == 1, "what is added later does not hide it"
    (place,) = Path(f"{own.parent}.config", "reconvene", "heads").iterdir()
    assert str(place) in reconvene("verify").out
    place.unlink()
    reconvene("verify", RUN, "--mend")
    assert reconvene("verify").code == 0


def test_a_run_that_is_gone_with_its_history_is_missed(own: Path, reconvene: Command) -> None:
    change(own, "DELETE FROM appends")
    change(own, "DELETE FROM runs")
    shutil.rmtree(own / ".reconvene/history.git")
    done = reconvene("verify")
    assert done.code == 1
    assert f"where: run {RUN}" in done.out


def test_a_run_that_is_not_there_is_not_verified(folder: Path, reconvene: Command) -> None:
    assert reconvene("verify", "nobody").code == 64
    assert reconvene("verify", "--mend").code == 64
