"""What reaches beyond the record of a run: the web, through a source that the person configured, and the draft of a run
that has not started."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.companion.paging import within, words
from reconvene.companion.tool_scope import DATA, Answer, Made, Scope
from reconvene.errors import UserError


def web_search(scope: Scope, given: Mapping[str, object]) -> Answer:
    if scope.web is None:
        raise UserError("The web cannot be searched: no source for it is configured.")
    query = words(given, "query")
    text = scope.web.search(query)
    return Answer(f"{scope.web.name} on {query!r} ({DATA})\n{within(text)}")


def update_instructions(scope: Scope, given: Mapping[str, object]) -> Answer:
    if scope.drafts is None or not scope.draft:
        raise UserError("There is no draft here. A run that has been started is not changed by instructions.")
    scope.drafts.write(scope.draft, words(given, "instructions"))
    return Answer(f"The draft {scope.draft} now says this. The person starts it.")


MADE: dict[str, Made] = {"web_search": web_search, "update_instructions": update_instructions}
