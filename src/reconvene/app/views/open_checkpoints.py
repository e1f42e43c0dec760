"""The open checkpoint of a state as the read model shows it. Pure. `projections` has the rest."""

from __future__ import annotations

from collections.abc import Callable

from reconvene.app.views import read_model as model
from reconvene.app.views.what_is_asked import asked
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.person import approving
from reconvene.core.person.checkpoint import current_digest


def field(one: e.FieldAsked) -> model.Field:
    return model.Field(
        one.id,
        one.type,
        one.prompt or one.id,
        one.options,
        one.required,
        one.blank,
        one.default,
        one.titles,
        one.recommend,
        one.note,
        one.other,
        one.follows,
        one.starts,
    )


def option(offered: e.OptionOffered) -> model.Option:
    return model.Option(
        offered.label,
        offered.available,
        offered.why_not,
        offered.offered,
        offered.recommend,
        offered.remark,
        tuple(map(field, offered.fields)),
        needs=offered.needs,
    )


def approvals(
    state: RunState, book: Book | None = None, person: Callable[[str], Actor] | None = None
) -> tuple[model.Approval, ...]:
    """`book`: where their answers are looked up. `person`: what those who chose may do now."""
    barred = approving.barred(state, person) if person is not None else ()
    counting = approving.counting(state, barred)
    return tuple(
        model.Approval(
            one.user,
            one.by,
            one.option,
            one.choice,
            one.at,
            one.digest,
            one in counting,
            one.remarks,
            approving.answers_of(book, one) if book is not None else {},
            one.user in barred,
        )
        for one in state.world.pending.approvals
    )


def checkpoint(state: RunState) -> model.Checkpoint | None:
    point, pending = state.world.open, state.world.pending
    if point is None:
        return None
    return model.Checkpoint(
        point.id,
        point.prompt,
        tuple(map(option, point.options)),
        tuple(path if path.startswith("/") else f"{state.workspace}/{path}" for path in point.show_files),
        current_digest(state),
        point.status or ("attention" if point.attention else "waiting"),
        point.attention,
        point.at,
        point.feedback,
        tuple(map(field, point.fields)),
        question=asked(point),
        filled=point.filled,
        who=approving.deciders(state),
        assigned=pending.assigned,
        approvals=approvals(state),
        deadline=pending.deadline,
        reminder=pending.reminder,
        reminded=pending.reminded,
        late=pending.passed,
        late_who=point.late_who,
        late_option=point.late_option,
    )
