"""Before a person has work done anew: which agents that act on the world would act again, and their word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import Call, note
from reconvene.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN_AGAIN = click.option(
    "--run-again", is_flag=True, help="Do not ask where agents with effects would act again: they may."
)


def require_word(call: Call, agents: tuple[str, ...], words: Sequence[str], *, given: bool) -> tuple[str, ...]:
    """The agents of which the person was told. `words`: the command as it was typed; `given`: with --run-again."""
    from reconvene.core.working.acting import named

    if not agents:
        return ()
    told = f"{named(agents)} (effects: true), and would act again: what was done already may be done twice"
    if given:
        note(told)
        return agents
    if call.interactive:
        from reconvene.doors.cli.work_off import agreed

        note(told)
        if agreed("Go on?", default=False):
            return agents
        raise UserError("nothing was done")
    raise UserError(f"nothing was done: {told}", hint=f"to have it so: {call.command(*words, '--run-again')}")
