"""What people do is signed with a key of their own; without one it is recorded all the same, and that is said."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import stat
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command
from reconvene.adapters.keys import OwnKey
from reconvene.app.session import Session
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.commands import AddRemark, AnswerCheckpoint, RemarkIn
from reconvene.settings import own_folder
from reconvene.settings import system_user as user
from reconvene.surroundings import SystemClock
from reconvene.wire import chain
from reconvene.wire.seals import Seal, decode_seal, encode_seal, signed_bytes
from reconvene.wiring import open_engine

RUN = "flow-1"
FLOW = """\
name: flow
agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}
phases:
- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}
- {id: final, agents: [writer], checkpoint: {prompt: Done?, approval_required: true}}
"""


@pytest.fixture
def folder(tmp_path: Path, reconvene: Command) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    assert reconvene("run", "flow.yaml").code == 3
    return tmp_path


def key_file() -> Path:
    return Path(own_folder(), "key")


class Row:
    """An append as it lies in the store."""

    def __init__(self, key: int, packed: int, data: bytes, seal: bytes | None) -> None:
        self.key, self.packed, self.data, self.seal = key, packed, data, seal or b""


def rows(folder: Path) -> list[Row]:
    sql = "SELECT key, typeof(events) = 'blob', CAST(events AS BLOB), seal FROM appends ORDER BY key"
    with closing(sqlite3.connect(folder / ".reconvene" / "reconvene.db")) as store:
        return [Row(*found) for found in store.execute(sql)]


def write_anew(folder: Path, change: Callable[[Row], None]) -> None:
    """As somebody would who knows how the chain is made: the change, and every value after it. The history too."""
    value, store = chain.BEGINNING, sqlite3.connect(folder / ".reconvene" / "reconvene.db")
    for row in rows(folder):
        change(row)
        value = chain.value_after(chain.link(value, RUN, row.key & 0xFFFFFFFF, bool(row.packed), row.data), row.seal)
        data = "?" if row.packed else "CAST(? AS TEXT)"
        store.execute(
            f"UPDATE appends SET events = {data}, chain = ?, seal = ? WHERE key = ?",
            (row.data, value, row.seal or None, row.key),
        )
    store.commit()
    store.close()
    import shutil

    shutil.rmtree(folder / ".reconvene" / "history.git")


def found(reconvene: Command) -> dict[str, object]:
    reconvene("verify", RUN, "--mend")
    done = reconvene("verify", RUN, "--json")
    assert done.code == 1
    said = done.object["misfit"]
    assert isinstance(said, dict)
    return said


def seals(folder: Path) -> list[Seal]:
    return [decode_seal(row.seal) for row in rows(folder) if row.seal]


def test_a_key_is_made_at_first_use_and_nobody_else_can_read_it(folder: Path) -> None:
    assert stat.S_IMODE(key_file().stat().st_mode) == 0o600
    assert [file.name for file in key_file().parent.iterdir() if file.name.startswith("key")] == ["key"]


def test_every_act_is_signed_by_the_key_on_record_and_names_who_is_proved(folder: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.", "--by", "Ada")
    (folder / ".reconvene/runs" / RUN / "draft.md").write_text("by hand\n")
    assert reconvene("decide", RUN, "--option", "Continue", "--latest").code == 3
    own = OwnKey(own_folder(), "").own()
    assert {seal.signed_by for seal in seals(folder)} == {own}
    log = [json.loads(line) for line in reconvene("log", RUN, "--json").out.splitlines()]
    introduced = [event for event in log if event["type"] == "KeyIntroduced"]
    assert [event["key"] for event in introduced] == [own]
    acts = {event["type"]: (event["by"], event["user"]) for event in log if "by" in event}
    assert acts["RemarkAdded"] in (("Ada", user()), (user(), user()))
    assert acts["DecisionRecorded"] == acts["FilesEdited"] == acts["RunStarted"] == (user(), user())
    looked = reconvene("verify", RUN, "--json").object
    assert looked["sound"]
    assert looked["signed"] == len(seals(folder)) >= 3
    assert "unsigned" not in looked


def signed_events(folder: Path) -> set[str]:
    """The kinds of events in appends that somebody signed."""
    return {event["type"] for row in rows(folder) if row.seal for event in json.loads(_plain(row))}


def _plain(row: Row) -> bytes:
    return zlib.decompress(row.data) if row.packed else row.data


def test_an_upgrade_an_abort_and_a_reopening_are_signed(folder: Path, reconvene: Command) -> None:
    (folder / "flow.yaml").write_text(FLOW.replace("Done?", "Really done?"), encoding="utf-8")
    assert reconvene("upgrade", RUN, "--to", "flow.yaml", "--no-drive").code == 3
    assert reconvene("abort", RUN).code == 2
    assert reconvene("reopen", RUN, "--no-drive").code == 3
    assert {"WorkflowUpgraded", "RunEnded", "RunReopened"} <= signed_events(folder)
    log = [json.loads(line) for line in reconvene("log", RUN, "--json").out.splitlines()]
    done = [event for event in log if event["type"] in ("WorkflowUpgraded", "RunReopened")]
    assert [event["user"] for event in done] == [user(), user()]
    assert reconvene("verify", RUN).code == 0


def test_an_engine_that_acts_for_somebody_names_them_in_the_seal(folder: Path, reconvene: Command) -> None:
    """As a server does: its own key signs, and whom it admitted is covered by the signature."""
    engine = open_engine(folder / ".reconvene")
    signer = OwnKey(str(folder / "service"), "service")
    with closing(engine.log):
        session = Session.load(engine.log, SystemClock(), RUN, signer, Actor("ada", served=True))
        session.do(AddRemark(RemarkIn("From afar."), "ada", "web"))
        session.do(AddRemark(RemarkIn("And again."), "ada", "web"))
    assert [(seal.signed_by, seal.on_behalf_of) for seal in seals(folder)[1:]] == [(signer.own(), "ada")] * 2
    looked = reconvene("verify", RUN)
    assert looked.code == 0
    assert "on behalf of ada" in looked.out
    assert "2 events" in looked.out
    assert f"signed by service with {signer.own()[:24]}" in looked.out
    write_anew(folder, lambda row: setattr(row, "seal", row.seal.replace(b'"for":"ada"', b'"for":"eve"')))
    assert "signature" in str(found(reconvene)["where"])


def test_agents_and_the_engine_sign_nothing(folder: Path) -> None:
    assert len(rows(folder)) > len(seals(folder)) == 1


FORGED = {
    "an edited decision": lambda row: setattr(row, "data", row.data.replace(b'"Continue"', b'"continue"')),
    "an edited remark": lambda row: setattr(row, "data", row.data.replace(b"Say more.", b"Say less.")),
    "an edited signature": lambda row: setattr(row, "seal", row.seal.replace(b'"signature":"', b'"signature":"0')),
    "another name": lambda row: setattr(row, "data", row.data.replace(b'"by":"Ada"', b'"by":"Eve"')),
    "somebody admitted": lambda row: setattr(row, "seal", row.seal.replace(b"}", b',"for":"Eve"}')),
    "a seal that is none": lambda row: setattr(row, "seal", row.seal and b"{}x"),
    "another key on record": lambda row: setattr(row, "data", row.data.replace(b'"key":"ed25519:', b'"key":"ed25518:')),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_was_changed_after_it_was_signed_is_found_though_the_chain_was_written_anew(
    what: str, folder: Path, reconvene: Command
) -> None:
    reconvene("remark", RUN, "Say more.", "--by", "Ada")
    reconvene("decide", RUN, "--option", "Continue", "--latest")
    write_anew(folder, FORGED[what])
    assert "sign" in str(found(reconvene)) or "seal" in str(found(reconvene))


def test_an_act_whose_signature_was_taken_away_is_found(folder: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.")
    last = rows(folder)[-1].key
    write_anew(folder, lambda row: setattr(row, "seal", b"") if row.key == last else None)
    said = found(reconvene)
    assert "RemarkAdded" in str(said["where"])
    assert said["found"] == "nothing"


SAID = {
    "it names nobody": lambda data: re.sub(rb'"(by|user)":"[^"]*",', b"", data),
    "it says to be inherited": lambda data: data.replace(b'"text":', b'"origin":"other-1 FB-001","text":'),
}


@pytest.mark.parametrize("what", SAID)
def test_an_act_that_nobody_signed_is_found_whatever_it_says_of_itself(
    what: str, folder: Path, reconvene: Command
) -> None:
    reconvene("remark", RUN, "Say more.")
    last = rows(folder)[-1]
    changed = SAID[what](last.data)
    assert not last.packed
    assert changed != last.data

    def forge(row: Row) -> None:
        if row.key == last.key:
            row.data, row.seal = changed, b""

    write_anew(folder, forge)
    assert "RemarkAdded" in str(found(reconvene)["where"])


def test_a_decision_without_a_name_is_signed_as_the_accounts(folder: Path, reconvene: Command) -> None:
    engine = open_engine(folder / ".reconvene")
    with closing(engine.log):
        engine.submit(RUN, AnswerCheckpoint("", "Continue"))
    assert "DecisionRecorded" in signed_events(folder)
    log = [json.loads(line) for line in reconvene("log", RUN, "--json").out.splitlines()]
    assert [(one["by"], one["user"]) for one in log if one["type"] == "DecisionRecorded"] == [(user(), user())]
    assert reconvene("verify", RUN).code == 0


def test_a_key_that_somebody_put_in_its_place_is_found(folder: Path, reconvene: Command, tmp_path: Path) -> None:
    """Whoever writes a log anew with a key of their own signs everything, and yet it is another key than before."""
    before = OwnKey(own_folder(), "").own()
    other = OwnKey(str(tmp_path / "other"), "eve")
    key = other.ready()[0]
    value = chain.BEGINNING

    def forge(row: Row) -> None:
        nonlocal value
        row.data = row.data.replace(before.encode(), key.encode())
        link = chain.link(value, RUN, row.key & 0xFFFFFFFF, bool(row.packed), row.data)
        row.seal = encode_seal(Seal(key, other.sign(signed_bytes(link, "")))) if row.seal else b""
        value = chain.value_after(link, row.seal)

    write_anew(folder, forge)
    assert "reconvene/heads/" in reconvene("verify", RUN).out, "what the person keeps beside their key tells it first"
    shutil.rmtree(Path(own_folder(), "heads"))
    reconvene("verify", RUN, "--mend")
    (seen,) = reconvene("verify", RUN, "--json").object["keys"]  # type: ignore[misc]
    assert "own" not in seen
    done = reconvene("remark", RUN, "Mine.")
    assert "a new key signs" in done.err
    assert "a new key signs" in reconvene("verify", RUN).out


def test_a_new_key_is_pointed_out_when_it_first_acts_and_by_verify(folder: Path, reconvene: Command) -> None:
    key_file().unlink()
    assert f"a new key signs for {user()}" in reconvene("remark", RUN, "Once.").err
    assert reconvene("remark", RUN, "Twice.").err == ""
    done = reconvene("verify", RUN)
    assert done.code == 0
    assert done.out.count("a new key signs") == 1
    keys = reconvene("verify", RUN, "--json").object["keys"]
    assert isinstance(keys, list)
    assert [key.get("own", False) for key in keys] == [False, True]


@pytest.mark.parametrize("harm", ["no folder", "no key in it"])
def test_without_a_key_an_act_is_recorded_and_it_is_said(harm: str, folder: Path, reconvene: Command) -> None:
    if harm == "no folder":
        (folder / "config").write_text("a file")
        environment = {"XDG_CONFIG_HOME": str(folder / "config")}
    else:
        key_file().write_text("nonsense\n")
        environment = {}
    done = reconvene("remark", RUN, "Never lost.", **environment)
    assert done.code == 0
    assert "recorded without a signature" in done.err
    assert "Never lost." in reconvene("show", RUN).out
    looked = reconvene("verify", RUN, **environment)
    assert looked.code == 0
    assert "not signed: RemarkAdded" in looked.out
    why = seals(folder)[-1]
    assert not why.signed_by
    assert why.unsigned


def test_a_key_that_others_can_read_is_closed_to_them(folder: Path, reconvene: Command) -> None:
    key_file().chmod(0o644)
    reconvene("remark", RUN, "Say more.")
    assert stat.S_IMODE(key_file().stat().st_mode) == 0o600


def test_of_two_that_make_a_key_at_the_same_time_both_use_the_first(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        keys = {pool.submit(OwnKey(str(tmp_path / "own"), "u").ready).result() for _ in range(8)}
        several = list(pool.map(lambda _: OwnKey(str(tmp_path / "more"), "u").ready(), range(8)))
    assert len(keys) == len(set(several)) == 1
    assert os.listdir(tmp_path / "more") == ["key"]


def test_a_server_signs_for_the_person_whom_it_admitted(tmp_path: Path) -> None:
    signer = OwnKey(str(tmp_path), "service")
    link = b"l" * 32
    seal = decode_seal(encode_seal(Seal(signer.ready()[0], signer.sign(signed_bytes(link, "ada")), "ada")))
    assert b'"for":"ada"' in encode_seal(seal)
    assert signer.valid(seal.signed_by, signed_bytes(link, "ada"), seal.signature)
    assert not signer.valid(seal.signed_by, signed_bytes(link, "eve"), seal.signature)
    assert not signer.valid(seal.signed_by, signed_bytes(link, ""), seal.signature)


def test_a_fork_says_where_it_comes_from_and_is_signed_as_one_act(folder: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.")
    reconvene("fork", RUN, "--at", "11")
    assert reconvene("verify").code == 0
    log = [json.loads(line) for line in reconvene("log", f"{RUN}-fork-1", "--json").out.splitlines()]
    (forked,) = [event for event in log if event["type"] == "Forked"]
    assert len(forked["source_chain"]) == 2 * chain.SIZE
    assert forked["user"] == user()


def test_a_name_that_is_only_claimed_is_told_apart_from_one_that_is_proved(folder: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.", "--by", "Ada")
    reconvene("remark", RUN, "Say less.")
    reconvene("decide", RUN, "--option", "Continue", "--latest", "--by", "Ada")
    shown = reconvene("show", RUN, "--json").object
    remarks, decisions = shown["remarks"], shown["decisions"]
    assert isinstance(remarks, list)
    assert isinstance(decisions, list)
    assert [(one["by"], one["user"], one.get("proved", False)) for one in (*remarks, *decisions)] == [
        ("Ada", user(), False),
        (user(), user(), True),
        ("Ada", user(), False),
    ]
    entries = reconvene("ledger", RUN, "--json").object["remarks"]
    assert isinstance(entries, list)
    assert [(one["user"], one["proved"]) for one in entries] == [(user(), False), (user(), True)]
    for words in (["show", RUN], ["ledger", RUN, "--details"]):
        assert reconvene(*words).out.count(f"Ada [claimed by {user()}]") == (2 if words[0] == "show" else 1)


def test_log_and_verify_tell_a_claimed_name_as_such(folder: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.", "--by", "Ada")
    reconvene("remark", RUN, "Say less.")
    remarks = [line for line in reconvene("log", RUN).out.splitlines() if "RemarkAdded" in line]
    assert [f"by=Ada [claimed by {user()}]" in line for line in remarks] == [True, False]
    note = f"not proved, only claimed by {user()}: the name 'Ada' (1 event)"
    assert f"  {note}\n" in reconvene("verify", RUN).out
    assert note in reconvene("verify", RUN, "--json").out


@pytest.mark.parametrize("name", ["reconvene", "Reconvene", "Ada\nroot decided", "A" * 500])
def test_nobody_is_called_as_the_engine_or_in_more_than_a_line(name: str, folder: Path, reconvene: Command) -> None:
    for words in (["remark", RUN, "Say more."], ["decide", RUN, "--option", "Continue", "--latest"]):
        refused = reconvene(*words, "--by", name)
        assert (refused.code, "Nothing was recorded." in refused.err) == (64, True)


def test_who_claims_the_same_name_from_another_account_is_somebody_else(folder: Path, reconvene: Command) -> None:
    """What they said since makes a decision stale; the same decision of theirs is not mine again."""
    point = reconvene("show", RUN, "--by", "Ada", "--json").object["checkpoint"]
    assert isinstance(point, dict)
    words = ("decide", RUN, "--option", "Continue", "--at", str(point["digest"]), "--by", "Ada")
    engine = open_engine(folder / ".reconvene")
    engine.submit(RUN, AddRemark(RemarkIn("Say it otherwise."), by="Ada"), actor=Actor("eve"))
    engine.log.close()
    refused = reconvene(*words)
    assert (refused.code, "Ada [claimed by eve]: Say it otherwise." in refused.err) == (64, True)


def test_no_variable_can_prove_a_name(folder: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.", LOGNAME="eve", USER="eve", RECONVENE_BY="eve")
    log = [json.loads(line) for line in reconvene("log", RUN, "--json").out.splitlines()]
    assert [(event["by"], event["user"]) for event in log if event["type"] == "RemarkAdded"] == [("eve", user())]
