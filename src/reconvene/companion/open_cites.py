"""What a citation names, opened for the companion: what `app/citing.py` knows, commits, and what an event names.

Only what belongs to the run of the scope opens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reconvene.app.citing import opened
from reconvene.companion import history_tools
from reconvene.companion.paging import paged, within
from reconvene.companion.tool_scope import DATA, Answer, Scope
from reconvene.errors import ReconveneError

_OF_A_TEXT = 4_000  # bytes of what an event names
_NAMED = ("arguments", "words")  # what an event says by digest, and is short


def open_cite(scope: Scope, cite: str) -> Answer:
    """What it names, or a failed answer that says why it does not open."""
    try:
        return _opened(scope, cite.strip())
    except ReconveneError as error:
        return Answer(within(" ".join(filter(None, (error.message, error.hint)))), failed=True)


def _opened(scope: Scope, cite: str) -> Answer:
    kind, _, name = cite.partition(" ")
    if kind == "commit":
        return history_tools.git_show(scope, {"commit": name})
    found = opened(scope.engine, scope.run, cite)
    text = found.text
    if found.recorded is not None:
        told = [f"{name}:\n{_text(scope, digest)}" for name, digest in _contents(found.recorded.facts)]
        text = "\n\n".join([text, *told])
    elif found.first:
        text = "\n".join(f"{at:>6}  {line}" for at, line in enumerate(text.split("\n"), found.first))
    return paged(f"{cite}: {found.name} ({DATA})", text, {}, cite)


def _text(scope: Scope, digest: str) -> str:
    return within(scope.engine.log.artefact(digest).decode("utf-8", "replace"), _OF_A_TEXT)


def _contents(facts: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What an event says by digest and a person wants to read: outputs, what tools were asked and gave, words."""
    for key in ("output", "result"):
        if isinstance(value := facts.get(key), dict) and isinstance(value.get("digest"), str):
            yield key, value["digest"]
    for key in _NAMED:
        if isinstance(value := facts.get(key), str) and value:
            yield key, value
