"""A run that is being prepared: what it is to be a run of, its inputs so far, its instructions, and the conversation
about it. The companion writes the instructions; a person starts it, once.

A draft is a list of lines, each of which says one more thing. The last word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reconvene.adapters.draft_files import DraftFiles
from reconvene.app.run_values import Prepared
from reconvene.app.views.companion_talk import Said
from reconvene.companion.kept_talk import as_command
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.events import RunStarted
from reconvene.errors import UserError
from reconvene.ports import EventLog
from reconvene.secrets import Secrets

_USUAL = ("description", "instructions", "task", "question", "brief")  # inputs that say what is to be done


class Draft(Struct, frozen=True):
    """`inputs`: as they were typed, NAME=VALUE, in order. `starting`: when its start was begun, "" = never."""

    name: str
    workflow: str
    inputs: tuple[str, ...] = ()
    instructions: str = ""
    said: tuple[Said, ...] = ()
    starting: str = ""
    started: str = ""  # the run


class Drafts:
    """`companion.tool_scope.Drafts`, and what a person does with drafts. `secrets`: what must not be kept."""

    def __init__(self, files: DraftFiles, now: Callable[[], str], secrets: Secrets) -> None:
        self._files = files
        self._now = now
        self._secrets = secrets

    def names(self) -> list[str]:
        return self._files.names()

    def new(self, workflow: str, inputs: tuple[str, ...] = ()) -> str:
        return self._files.new(
            {"workflow": workflow, "inputs": list(self._secrets.blank_in(inputs)), "at": self._now()}
        )

    def load(self, name: str) -> Draft:
        return _folded(name, self._files.lines(name))

    def read(self, draft: str) -> str:
        return self.load(draft).instructions

    def write(self, draft: str, instructions: str) -> None:
        self._add(draft, {"instructions": self._secrets.blank_text(instructions)})

    def give(self, draft: str, inputs: tuple[str, ...]) -> None:
        """More inputs, as they were typed."""
        self._add(draft, {"inputs": list(self._secrets.blank_in(inputs))})

    def _add(self, draft: str, line: Mapping[str, object]) -> None:
        with self._files.locked(draft) as held:
            _require_unstarted(_folded(draft, held.lines()))
            held.add({**line, "at": self._now()})

    def entries(self, draft: str) -> list[Said]:
        return list(self.load(draft).said)

    def add(self, draft: str, said: Said) -> Said:
        with self._files.locked(draft) as held:
            before = _folded(draft, held.lines())
            _require_unstarted(before)
            kept = replace(self._secrets.blank_in(said), number=len(before.said) + 1, at=self._now())
            held.add({"said": msgspec.to_builtins(kept)})
            return kept

    @contextmanager
    def starting(self, draft: str) -> Iterator[Starting]:
        """Held while the run is started, so that nobody else starts it; what it begins with."""
        with self._files.locked(draft) as held:
            found = _folded(draft, held.lines())
            _require_unstarted(found)
            if not found.starting:
                held.add({"starting": self._now()})

            def started(run: str) -> None:
                held.add({"started": run, "at": self._now()})

            yield Starting(found, prepared(found), started)


class Starting(Struct, frozen=True):
    """`draft.starting` set: a start was begun before, and may have happened. `started` is told the run."""

    draft: Draft
    prepared: Prepared
    started: Callable[[str], None]


class OfDraft:
    """The conversation about one draft: `companion.kept_talk.Conversation`."""

    def __init__(self, drafts: Drafts, name: str) -> None:
        self._drafts = drafts
        self._name = name

    def entries(self) -> list[Said]:
        return self._drafts.entries(self._name)

    def add(self, said: Said) -> Said:
        return self._drafts.add(self._name, said)


def prepared(draft: Draft) -> Prepared:
    """The conversation, as it goes on record with the start of the run."""
    made = [as_command(said) for said in draft.said]
    blobs = {digest: data for _, some in made for digest, data in some.items()}
    return Prepared(draft.name, tuple(command for command, _ in made), blobs)


def begun_as(log: EventLog, draft: Draft) -> str:
    """The run of a draft whose start was begun, and whose end nobody noted; "" = there is none."""
    for row in log.index():
        if row.started < draft.starting:
            return ""
        first = [event for _, event in log.read(row.run, 0, 3) if isinstance(event, RunStarted)]
        if first and first[0].draft == draft.name:
            return row.run
    return ""


def instructed_input(workflow: Workflow) -> str:
    """The input that the instructions are given as; "" where the workflow takes no text."""
    texts = [name for name, spec in workflow.inputs.items() if spec.type in ("text", "file")]
    usual = [name for name in _USUAL if name in texts]
    needed = [name for name in texts if workflow.inputs[name].required]
    return next(iter((*usual, *needed, *texts)), "")


def _require_unstarted(draft: Draft) -> None:
    if draft.started:
        raise UserError(
            f"{draft.name} was started, as the run {draft.started}: nothing was changed",
            hint=f"reconvene chat {draft.started}",
        )


def _folded(name: str, lines: list[dict[str, object]]) -> Draft:
    draft = Draft(name, "")
    for line in lines:
        said = line.get("said")
        given = line.get("inputs")
        if isinstance(said, dict):
            draft = replace(draft, said=(*draft.said, msgspec.convert(said, Said)))
        if isinstance(given, list):
            draft = replace(draft, inputs=(*draft.inputs, *map(str, given)))
        for key in ("workflow", "instructions", "starting", "started"):
            if isinstance(line.get(key), str):
                draft = replace(draft, **{key: line[key]})
    return draft
