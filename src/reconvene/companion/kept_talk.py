"""The conversation with the companion, kept where it takes place: in the log of a run.

What a person says is on record before anybody is asked. Entries are added one after the other, whoever else is talking
with it at the same time, and whether or not agents are at work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from reconvene.app.engine import Engine
from reconvene.app.views import companion_talk
from reconvene.app.views.companion_talk import Proposed, Said
from reconvene.core.facts.commands import RecordCompanion
from reconvene.core.facts.events import CompanionSaid, Consulted, Proposal, Ref
from reconvene.core.facts.ids import digest_of

Blobs = dict[str, bytes]


class Conversation(Protocol):
    def entries(self) -> list[Said]: ...

    def add(self, said: Said) -> Said:
        """On record when this returns; as it is there, with its number and without secrets."""


class OfRun:
    """The conversation of a run that has started."""

    def __init__(self, engine: Engine, run: str) -> None:
        self._engine = engine
        self._run = run

    def entries(self) -> list[Said]:
        return companion_talk.entries(self._engine.log.read(self._run), self._engine.log.artefact)

    def add(self, said: Said) -> Said:
        secrets = self._engine.discretion.of(self._engine.session(self._run).book.workflow)
        command, blobs = as_command(secrets.blank_in(said))
        before = self._engine.load(self._run).seq
        self._engine.submit(self._run, command, blobs)
        for seq, event in reversed(self._engine.log.read(self._run, before)):
            if isinstance(event, CompanionSaid) and replace(event, at="", number=0, user="") == command.said:
                return companion_talk.said(seq, event, self._engine.log.artefact)
        raise AssertionError("what was appended is not in the log")


def as_command(said: Said) -> tuple[RecordCompanion, Blobs]:
    """As it goes on record: its texts by digest."""
    blobs: Blobs = {}

    def kept(text: str) -> str:
        data = text.encode("utf-8", "replace")
        blobs[digest_of(data)] = data
        return digest_of(data)

    text = said.text.encode("utf-8", "replace")
    event = CompanionSaid(
        at="",
        number=0,
        role=said.role,
        text=Ref(kept(said.text), "text", len(text)),
        by=said.by,
        door=said.door,
        stage=said.stage,
        answers=said.answers,
        cites=said.cites,
        unknown=said.unknown,
        tools=tuple(Consulted(one.tool, kept(one.arguments), kept(one.result), one.failed) for one in said.tools),
        proposals=tuple(_proposal(one, kept) for one in said.proposals),
        usage=said.usage,
        fault=said.fault,
        said=said.at,
    )
    return RecordCompanion(event), blobs


def _proposal(one: Proposed, kept: Callable[[str], str]) -> Proposal:
    after = kept(one.after) if one.kind == "edit" else ""
    return Proposal(one.kind, kept(one.text), one.path, one.lines, one.before, after)
