"""At a terminal: what agents wrote, and remarks that they claim to have taken up, with what changed, to be settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.cli.ask import pick
from reconvene.doors.cli.common import DOOR
from reconvene.doors.cli.text import one_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.checkpoint_model import Written
    from reconvene.app.views.ledger import Entry
    from reconvene.doors.cli.draw_checkpoint import Screen

_NONE = ""
_MOST = 3  # passages


def claimed(engine: Engine, run: str) -> list[Entry]:
    from reconvene.app.measures import ledger

    return [entry for entry in ledger(engine, run) if entry.status == "claimed"]


def settle_one(engine: Engine, run: str, by: str, screen: Screen) -> None:
    """Shows what changed for each, and settles the one that is picked."""
    from reconvene.core.facts.commands import SettleRemark

    found = claimed(engine, run)
    for entry in found:
        for line in evidence_lines(entry):
            screen.line(line)
    choices = [(entry.id, f"{entry.id} is answered: {one_line(entry.text, 60)}") for entry in found]
    chosen = pick("Settle which?", [*choices, (_NONE, "None of them")])
    if not chosen:
        return
    try:
        engine.submit(run, SettleRemark(chosen, by, DOOR))
    except UserError as error:
        screen.line(error.message, "yellow")
    else:
        screen.line(f"settled: {chosen}", "green")


def evidence_lines(entry: Entry) -> list[str]:
    from reconvene.app.views.remark_lives import missing

    one = missing(entry)
    lines = [f"{entry.id} {one_line(entry.text, 160)}", f"  {one_line(one.agent)}: {one_line(one.why, 160)}"]
    for spot in one.against[:_MOST]:
        lines.append(f"  still stands, {one_line(spot.path) or 'output'}:{spot.line}: {one_line(spot.now, 120)}")
    for spot in one.evidence[:_MOST]:
        lines.append(f"  was: {one_line(spot.was, 140) or '(nothing)'}")
        lines.append(
            f"  is:  {one_line(spot.now, 140) or '(taken out)'}  ({one_line(spot.path) or 'output'}:{spot.line})"
        )
    return lines


def show_output(engine: Engine, run: str, screen: Screen, written: Sequence[Written]) -> None:
    from reconvene.app import queries

    entries = [(one, f"{one.agent}: {' / '.join(one.lines)}") for one in written]
    chosen = pick("Whose?", entries) if len(entries) > 1 else written[0]
    screen.output(chosen, queries.output(engine, run, chosen))
