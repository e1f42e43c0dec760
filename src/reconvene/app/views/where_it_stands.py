"""Where a run stands, as a list of what is done and what is still to come."""

from __future__ import annotations

from reconvene.app.views import read_model as model
from reconvene.core.definition.workflow import Phase
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.shown import on_record


def todo(state: RunState, book: Book) -> tuple[model.Todo, ...]:
    """Where the run stands, as a list: rounds done, checkpoint presented, feedback captured, what is still to come."""
    rows: list[model.Todo] = []
    current = {frame.phase for frame in state.world.cursor}
    for phase in book.workflow.phases:
        title = phase.title or phase.id
        if phase.id in state.world.skipped:
            rows.append(model.Todo(f"{title}: skipped", True))
        elif phase.id in current and not state.ended:
            rows += _todo_now(state, book.phase(state.world.top.phase), title)
        else:
            rows.append(model.Todo(title, phase.id in state.world.closed or state.ended == "completed"))
    return tuple(rows)


def _todo_now(state: RunState, phase: Phase, title: str) -> list[model.Todo]:
    round_ = state.world.top.round
    if round_ is None:
        return [model.Todo(title, False)]
    rows = [model.Todo(f"{title}: rounds 1 to {round_.n - 1}", True)] if round_.n > 1 else []
    working = round_.open is not None and round_.open.open > 0
    rows.append(model.Todo(f"{title}: round {round_.n} ({round_.name}), agents", not working))
    if phase.checkpoint is not None:
        said = len(on_record.remarks_here(state))
        rows.append(model.Todo(f"{title}: checkpoint presented", state.world.open is not None))
        rows.append(model.Todo(f"{title}: feedback captured" + (f" ({said})" if said else ""), bool(said)))
        rows.append(model.Todo(f"{title}: decision", False))
    return rows
