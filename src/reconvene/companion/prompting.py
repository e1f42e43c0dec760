"""What the companion's model is sent: its role at this stage, how the run stands, the conversation, the question.

The mark of the sections is made of chance, anew for each question: nothing that is shown can know it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from reconvene.app.views.companion_talk import Said
from reconvene.companion.from_events import progress
from reconvene.companion.recognised import Question
from reconvene.companion.roles import ROLES
from reconvene.companion.run_record import RunRecord
from reconvene.companion.tiers import Stage
from reconvene.companion.tool_scope import Scope
from reconvene.core.definition.workflow import Workflow
from reconvene.language.plain_text import quoted_lines
from reconvene.prompts.marks import Section, all_tagged, chosen, first_line

_CONVERSATION = 24_000  # characters of what was said before; the newest counts most
_ENTRY = 4_000  # of one entry


def prompt(sections: Sequence[Section]) -> tuple[str, str]:
    """The message, and its mark."""
    mark = chosen(os.urandom(16).hex(), [f"{one.name}\n{one.text}".lower() for one in sections])
    return f"{first_line(mark)}\n\n{all_tagged(sections, mark)}\n", mark


def about_run(scope: Scope, stage: Stage, before: Sequence[Said], question: str) -> list[Section]:
    record = RunRecord(scope)
    files = "\n".join(f"{one.path}  {one.size:,} bytes, by {one.by or 'nobody'}" for one in record.shown.files)
    documents = "\n".join(f"{one.name}  document, {one.media}" for one in record.documents)
    stands = progress(record, Question("", "progress")).text
    return [
        Section("role", ROLES[stage]),
        Section("document", stands, name=f"how the run {scope.run} stands"),
        Section("document", "\n".join(filter(None, (files, documents))), name="its files and documents"),
        *_talk(before),
        Section("person", question),
    ]


def about_draft(
    workflow: Workflow, instructions: str, inputs: Sequence[str], before: Sequence[Said], question: str
) -> list[Section]:
    taken = "\n".join(
        f"{name} ({spec.type}{', needed' if spec.required else ''}): {spec.description}"
        for name, spec in workflow.inputs.items()
    )
    return [
        Section("role", ROLES["pre_job"]),
        Section("document", f"{workflow.name}: {workflow.description}\n\nInputs:\n{taken}", name="the workflow"),
        Section("document", "\n".join(inputs), name="inputs so far"),
        Section("document", instructions or "(none yet)", name="instructions so far"),
        *_talk(before),
        Section("person", question),
    ]


def _talk(before: Sequence[Said]) -> list[Section]:
    """The newest entries that there is room for, in their order."""
    shown, left = list[str](), _CONVERSATION
    for said in reversed(before):
        text = said.text if len(said.text) <= _ENTRY else said.text[:_ENTRY] + " …"
        who = said.by or "the person" if said.role == "person" else "you"
        told = f"{who} said:\n" + quoted_lines(text)
        if len(told) > left:
            shown.append(f"({said.number} earlier entries are left out.)")
            break
        shown.append(told)
        left -= len(told)
    return [Section("conversation", "\n\n".join(reversed(shown)))] if shown else []
