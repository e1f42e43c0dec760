"""Other arguments that a person gives a call: they must fit its tool, and that is said while the person is there."""

from __future__ import annotations

import json

from reconvene.app.session import Session
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.core.person.rulings import waiting
from reconvene.errors import Refused


def check(session: Session, command: AnswerCheckpoint) -> None:
    for one in waiting(session.state):
        words = command.fields.get(f"{one.field}_words")
        if command.fields.get(one.field) != "change" or not one.call.schema or not isinstance(words, str):
            continue
        try:
            given = json.loads(words)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            continue  # said where it is decided
        from reconvene.wire import replies

        problems = replies.wrong_arguments(json.loads(session.book.text(one.call.schema)), given)
        if problems:
            raise Refused(
                f"{one.field}: {one.call.tool} does not take these arguments: {'; '.join(problems)}.",
                hint=f"It was called with {session.book.text(one.call.arguments)}",
            )
