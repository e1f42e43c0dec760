"""Answers without a model: what is asked is recognised by rules, and the record answers. It says what it understood."""

from __future__ import annotations

from collections.abc import Callable

from reconvene.companion import from_events, from_texts
from reconvene.companion.recognised import IN_WORDS, Question, Subject, read
from reconvene.companion.run_record import RunRecord
from reconvene.companion.told import Told
from reconvene.companion.tool_scope import Scope

_ANSWERS: dict[Subject, Callable[[RunRecord, Question], Told]] = {
    "cost": from_events.cost,
    "tools": from_events.tools,
    "graph": from_events.graph,
    "changes": from_events.changes,
    "failure": from_events.failure,
    "trouble": from_events.trouble,
    "phase": from_events.phase,
    "progress": from_events.progress,
    "plan phase": from_texts.plan_phase,
    "approach": from_texts.approach,
    "findings": from_texts.findings,
    "produced": from_texts.produced,
    "skipped": from_texts.skipped,
    "feedback": from_texts.feedback,
    "passages": from_texts.passages,
}


def answer(scope: Scope, text: str) -> tuple[Question, Told]:
    question = read(text)
    told = _ANSWERS[question.subject](RunRecord(scope), question)
    head = f"From the record ({IN_WORDS[question.subject]}):\n\n"
    return question, Told(head + told.text, told.facts, told.proposals)
