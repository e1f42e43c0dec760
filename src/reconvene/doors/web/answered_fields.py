"""What was typed into a field of a page, in its type. What does not fit is said of the question, not of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.http.refusals import WrongField
from reconvene.doors.shared.fields import answer_in
from reconvene.doors.shared.harmless import one_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.views.checkpoint_model import Field


def answer_to(name: str, field: Field, given: str) -> object:
    """`name`: by which the page has it."""
    try:
        return answer_in(field, given, f"The answer to “{one_line(field.prompt, 80) or field.id}”")
    except UserError as error:
        raise WrongField(name, error.message) from None
