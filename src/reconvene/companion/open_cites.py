"""What a citation names, as the companion shows it: page by page, with the numbers of lines.

`app/citing.py` opens it. Only what belongs to the run of the scope opens.
"""

from __future__ import annotations

from reconvene.app.citing import opened
from reconvene.companion.paging import paged, within
from reconvene.companion.tool_scope import DATA, Answer, Scope
from reconvene.errors import ReconveneError


def open_cite(scope: Scope, cite: str) -> Answer:
    """What it names, or a failed answer that says why it does not open."""
    asked = cite.strip()
    try:
        found = opened(scope.engine, scope.run, asked)
    except ReconveneError as error:
        return Answer(within(" ".join(filter(None, (error.message, error.hint)))), failed=True)
    text = found.text
    if found.first:
        text = "\n".join(f"{at:>6}  {line}" for at, line in enumerate(text.split("\n"), found.first))
    return paged(f"{asked}: {found.name} ({DATA})", text, {}, asked)
