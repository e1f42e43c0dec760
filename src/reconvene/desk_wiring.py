"""Where the desk of a home lies: what a service keeps for people beside the logs."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.desk_ports import Desk


def open_desk(home: str | os.PathLike[str]) -> Desk:
    """Made where there was none. Whoever opens it closes it."""
    from reconvene.adapters.desk import HomeDesk

    return HomeDesk(home)


def forget(home: str, run: str) -> None:
    """The run was deleted. Where there is no desk, none is made."""
    from reconvene.adapters.desk import FILE

    if os.path.lexists(os.path.join(home, FILE)):
        with closing(open_desk(home)) as desk:
            desk.drop_run(run)


def forget_person(home: str, person: str) -> None:
    """They were removed. Where there is no desk, none is made."""
    from reconvene.adapters.desk import FILE

    if os.path.lexists(os.path.join(home, FILE)):
        with closing(open_desk(home)) as desk:
            desk.drop_person(person)


def read_up_to(home: str, person: str, run: str) -> int:
    """The last event of a run that this person marked as read. Where there is no desk, none is made."""
    from reconvene.adapters.desk import FILE

    if not os.path.lexists(os.path.join(home, FILE)):
        return 0
    with closing(open_desk(home)) as desk:
        return desk.mark(person, run).read
