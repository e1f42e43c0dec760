"""Names that a workflow writes as templates: what a step must write, where its text goes, the folder of a round."""

from __future__ import annotations

from reconvene.core.definition.workflow import Step
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.paths import safe_path
from reconvene.core.shown import scope
from reconvene.errors import UserError


def writes(state: RunState, book: Book, step: Step) -> tuple[str, ...]:
    return tuple(_filled(state, book, pattern) for pattern in step.writes)


def output_file(state: RunState, book: Book, step: Step) -> str:
    return _filled(state, book, step.output_file) if step.output_file else ""


def folder(state: RunState, book: Book) -> str:
    """Where the round in front keeps its files, "" where it has no folder of its own."""
    frame = state.world.top
    template = book.phase(frame.phase).rounds.folder if frame.phase else ""
    return _filled(state, book, template).rstrip("/") if template else ""


def _filled(state: RunState, book: Book, path: str) -> str:
    if "{" not in path:
        return path

    def refuse(message: str) -> None:
        raise UserError(
            f"the name {path!r} cannot be filled in: {message}",
            hint="mend it in the workflow and start a new run; this one keeps what it began with",
        )

    return safe_path(scope.render(path, state, book, refuse).strip())
