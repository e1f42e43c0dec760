"""`export` and `import`: a run as one file, taken in whole where everything fits, and not at all where anything does
not."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command, Done, call
from reconvene.app.run_folders import RunFolders
from reconvene.core.facts.ids import digest_of
from reconvene.errors import UserError
from reconvene.settings import system_user as user
from reconvene.wire import run_file
from reconvene.wiring import open_log

RUN = "flow-1"
FLOW = """\
name: flow
agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}
phases:
- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}
- {id: final, agents: [writer], checkpoint: {prompt: Done?, approval_required: true}}
"""


@pytest.fixture
def file(tmp_path: Path, reconvene: Command) -> Path:
    """A run that was exported, after a remark, a long edit and a decision."""
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    assert reconvene("run", "flow.yaml").code == 3
    reconvene("remark", RUN, "Say more.")
    draft = tmp_path / ".reconvene/runs" / RUN / "draft.md"
    draft.write_text("".join(f"line {n} of the draft\n" for n in range(2_000)))
    assert reconvene("decide", RUN, "--option", "Continue", "--latest").code == 3
    assert reconvene("export", RUN, "run.zip").code == 0
    return tmp_path / "run.zip"


@pytest.fixture
def there(tmp_path: Path) -> Command:
    """The same on another person's machine."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    own = {"RECONVENE_HOME": str(place / ".reconvene"), "XDG_CONFIG_HOME": str(place / "config")}

    def reconvene(*words: str) -> Done:
        return call(*words, cwd=place, **own)

    return reconvene


def log(reconvene: Command, run: str = RUN) -> list[dict[str, object]]:
    return [json.loads(line) for line in reconvene("log", run, "--json").out.splitlines()]


def test_a_run_is_the_same_elsewhere_and_fits_together(file: Path, reconvene: Command, there: Command) -> None:
    assert there("import", str(file)).code == 0
    assert there("verify").code == 0
    here, other = log(reconvene), log(there)
    assert other[: len(here)] == here
    assert [event["type"] for event in other[len(here) :]] == ["Imported", "KeyIntroduced"]
    assert other[-2]["chain"] == reconvene("verify", RUN, "--json").object["chain"]
    assert there("files", RUN, "draft.md").out == reconvene("files", RUN, "draft.md").out
    assert there("show", RUN, "--json").object["imported"] is True


def test_the_keys_of_people_elsewhere_are_told_as_such(file: Path, there: Command) -> None:
    there("import", str(file))
    keys = there("verify", RUN, "--json").object["keys"]
    assert isinstance(keys, list)
    assert [(key.get("foreign", False), key.get("own", False)) for key in keys] == [(True, False), (False, True)]
    assert "(from elsewhere)" in there("verify").out


def test_the_same_file_twice_changes_nothing_and_that_is_said(file: Path, reconvene: Command, there: Command) -> None:
    there("import", str(file))
    before = log(there)
    for who in (there, reconvene):
        done = who("import", str(file))
        assert done.code == 0
        assert "nothing to do" in done.out
    assert log(there) == before
    assert there("decide", RUN, "--option", "Abort").code == 64  # not accepted yet
    assert there("remark", RUN, "And on.").code == 64


def test_what_it_would_start_is_accepted_once_and_then_it_goes_on(file: Path, tmp_path: Path, there: Command) -> None:
    there("import", str(file))
    done = there("decide", RUN, "--option", "Continue", "--latest")
    assert done.code == 64
    assert "writer runs: sh -c" in done.err
    assert "imported into" in done.err
    assert not (tmp_path / "elsewhere/.reconvene/runs" / RUN).exists()
    (offered,) = there("accept", "--json").objects
    assert there("accept", str(offered["digest"])).code == 0
    assert there("decide", RUN, "--option", "Continue", "--latest").code == 0
    assert (tmp_path / "elsewhere/.reconvene/runs" / RUN / "draft.md").exists()
    assert there("verify").code == 0


def test_another_run_of_that_id_is_not_touched_and_another_name_can_be_given(
    file: Path, tmp_path: Path, there: Command
) -> None:
    (tmp_path / "elsewhere/flow.yaml").write_text(FLOW, encoding="utf-8")
    assert there("run", "flow.yaml").code == 3
    before = log(there)
    done = there("import", str(file))
    assert done.code == 64
    assert "--as" in done.err
    assert log(there) == before
    assert there("import", str(file), "--as", "theirs").code == 0
    assert there("import", str(file), "--as", "theirs").code == 64
    assert there("import", str(file), "--as", "../theirs").code == 64
    assert there("verify").code == 0
    forked = [event for event in log(there, "theirs") if event["type"] == "Forked"]
    assert [event["source"] for event in forked] == [RUN]
    assert there("decide", "theirs", "--option", "Continue", "--latest").code == 64


def test_another_name_makes_a_copy_that_says_where_the_signatures_are(file: Path, there: Command) -> None:
    assert there("import", str(file), "--as", "theirs").code == 0
    (forked,) = (event for event in log(there, "theirs") if event["type"] == "Forked")
    (taken,) = (event for event in log(there, "theirs") if event["type"] == "Imported")
    assert (forked["source"], forked["source_chain"]) == (RUN, taken["chain"])
    assert f"copied from {RUN} (chain {taken['chain']})" in there("verify", "theirs").out


def test_a_run_that_has_ended_has_ended_under_another_name_as_well(
    file: Path, reconvene: Command, there: Command
) -> None:
    assert reconvene("decide", RUN, "--option", "Continue", "--latest").code == 0
    assert reconvene("export", RUN, "ended.zip").code == 0
    taken = there("import", str(file.with_name("ended.zip")), "--as", "theirs")
    assert taken.code == 0
    assert "not copied" not in taken.err
    theirs = [event["type"] for event in log(there, "theirs")]
    assert theirs[: len(log(reconvene))] == [event["type"] for event in log(reconvene)]
    assert there("show", "theirs", "--json").object["status"] == "completed"
    assert there("verify").code == 0
    assert there("export", "theirs", "again.zip").code == 0


def test_its_own_name_makes_no_copy(file: Path, there: Command) -> None:
    assert there("import", str(file), "--as", RUN).code == 0
    assert not [event for event in log(there) if event["type"] == "Forked"]


def test_a_run_that_was_deleted_does_not_come_back_under_its_id(file: Path, reconvene: Command) -> None:
    reconvene("delete", RUN, "--yes")
    assert reconvene("import", str(file)).code == 64
    assert reconvene("import", str(file), "--as", "again").code == 0
    assert reconvene("verify").code == 0


def test_it_is_not_written_over_a_file(file: Path, reconvene: Command) -> None:
    before = file.read_bytes()
    assert reconvene("export", RUN, "run.zip").code == 64
    assert file.read_bytes() == before
    assert reconvene("export", RUN, "no/such/folder.zip").code == 64
    assert reconvene("export", RUN, "other.zip").code == 0
    assert file.with_name("other.zip").read_bytes() == before


def rewritten(file: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def largest(members: dict[str, bytes]) -> str:
    return max((name for name in members if name.startswith("artefacts/")), key=lambda name: len(members[name]))


def without_last_line(members: dict[str, bytes]) -> None:
    members["log.jsonl"] = b"\n".join(members["log.jsonl"].splitlines()[:-1]) + b"\n"


def unchained(members: dict[str, bytes]) -> None:
    """As if the log were from before the chain: then nothing would be checked."""
    lines = [{**json.loads(line), "chain": ""} for line in members["log.jsonl"].splitlines()]
    members["log.jsonl"] = "\n".join(map(json.dumps, lines)).encode()
    members["manifest.json"] = json.dumps({**json.loads(members["manifest.json"]), "chain": ""}).encode()


HARM: dict[str, Callable[[dict[str, bytes]], None]] = {
    "an event": lambda members: members.update({"log.jsonl": members["log.jsonl"].replace(b"Say more", b"Say less")}),
    "a content": lambda members: members.update({largest(members): b"other"}),
    "no content": lambda members: members.pop(largest(members)) and None,
    "a content too many": lambda members: members.update({"artefacts/" + "0" * 32: b"x"}),
    "the end cut off": without_last_line,
    "no chain": unchained,
    "another run": lambda members: members.update(
        {"manifest.json": members["manifest.json"].replace(b"flow-1", b"flow-9")}
    ),
    "a path outside": lambda members: members.update({"../../evil": b"x"}),
    "an absolute path": lambda members: members.update({"/tmp/evil": b"x"}),
    "another format": lambda members: members.update(
        {"manifest.json": members["manifest.json"].replace(b'"v":1', b'"v":2')}
    ),
    "no manifest": lambda members: members.pop("manifest.json") and None,
    "an empty log": lambda members: members.update({"log.jsonl": b""}),
    "no JSON": lambda members: members.update({"log.jsonl": b"{"}),
    "a signature": lambda members: members.update(
        {"log.jsonl": members["log.jsonl"].replace(b'signature\\":\\"', b'signature\\":\\"0')}
    ),
}


@pytest.mark.parametrize("what", HARM)
def test_if_anything_does_not_fit_nothing_is_taken(what: str, file: Path, tmp_path: Path, there: Command) -> None:
    rewritten(file, HARM[what])
    done = there("import", str(file))
    assert done.code == 64, done.out
    assert "Nothing was taken" in done.err
    assert there("runs", "--json").objects == []
    assert there("verify").code == 0
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [("0" * 32, "that its log does not name"), (digest_of(b"hello\n"), "has 1000000 bytes, and its log says 6")],
)
def test_what_the_log_does_not_name_or_says_to_be_smaller_is_not_unpacked(
    name: str, why: str, file: Path, there: Command
) -> None:
    """Whoever unpacked it would meet a checksum that is wrong."""
    with zipfile.ZipFile(file) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    bomb = f"artefacts/{name}"
    members[bomb] = b"\0" * 1_000_000
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in members.items():
            archive.writestr(one, data)
        at = archive.getinfo(bomb).header_offset + 30 + len(bomb)
    data = bytearray(file.read_bytes())
    data[at + 50 : at + 60] = b"0123456789"
    file.write_bytes(data)
    done = there("import", str(file))
    assert done.code == 64
    assert why in done.err


def test_what_does_not_fit_into_memory_is_said_so(file: Path) -> None:
    def too_large(rows: object) -> dict[str, int]:
        raise MemoryError

    with file.open("rb") as opened, pytest.raises(UserError, match="does not fit into the memory of this machine"):
        run_file.read(opened, "run.zip", too_large)


def test_a_file_that_is_no_archive_or_is_cut_off_is_refused(file: Path, there: Command) -> None:
    data = file.read_bytes()
    for part in (b"", b"hello", data[: len(data) // 2], data[:-30]):
        file.write_bytes(part)
        assert there("import", str(file)).code == 64
    assert there("import", "nothing.zip").code == 64


def test_a_damaged_run_is_not_exported(file: Path, tmp_path: Path, reconvene: Command) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / ".reconvene/reconvene.db") as store:
        store.execute("UPDATE appends SET chain = randomblob(16) WHERE key = (SELECT max(key) FROM appends)")
    store.close()
    assert reconvene("export", RUN, "damaged.zip").code == 1
    assert not (tmp_path / "damaged.zip").exists()


def test_a_folder_in_its_place_is_not_touched(file: Path, tmp_path: Path, there: Command) -> None:
    assert there("import", str(file), "--as", "other").code == 0
    place = tmp_path / "elsewhere/.reconvene/runs" / RUN
    place.mkdir(parents=True)
    (place / "mine.md").write_text("mine")
    done = there("import", str(file))
    assert done.code == 64
    assert "is not empty" in done.err
    assert [row["run"] for row in there("runs", "--json").objects] == ["other"]
    shutil.rmtree(place)
    assert there("import", str(file)).code == 0


def test_its_folder_here_is_hidden_from_agents_of_other_runs(file: Path, tmp_path: Path, there: Command) -> None:
    there("import", str(file))
    there("import", str(file), "--as", "theirs")
    home = tmp_path / "elsewhere/.reconvene"
    with closing(open_log(home)) as log:
        assert RunFolders(log)() == [str(home / "runs" / run) for run in ("theirs", RUN)]


def test_one_that_was_not_accepted_can_be_deleted(file: Path, there: Command) -> None:
    there("import", str(file))
    assert there("delete", RUN, "--yes").code == 0
    assert there("verify").code == 0


def test_who_imported_it_is_on_record(file: Path, there: Command) -> None:
    there("import", str(file), "--by", "Ada")
    (mark,) = [event for event in log(there) if event["type"] == "Imported"]
    assert (mark["by"], mark["user"]) == ("Ada", user())
