"""Who is told of what, where messages go, and who sends them: from the settings and the environment."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from reconvene.errors import ReconveneError
from reconvene.home import settings_files
from reconvene.message_ports import Routes
from reconvene.settings import pages_url
from reconvene.surroundings import SystemClock, from_files

if TYPE_CHECKING:
    from reconvene.app.delivering import Deliverer
    from reconvene.message_ports import Destination, Sender
    from reconvene.notify_settings import Notify
    from reconvene.ports import EventLog


def _said() -> list[Notify]:
    if not settings_files():
        return []
    from reconvene.settings_file import in_force

    return [one.notify for one in in_force()]


def routes(home: str = "") -> Routes:
    """As the settings say now. `home`: whose people make up its teams."""
    said = _said()
    if not said:
        return Routes()
    from reconvene import notify_settings

    found = notify_settings.routes(said)
    return found._replace(teams=_teams(home)) if found.people and home else found


def _teams(home: str) -> dict[str, tuple[str, ...]]:
    from reconvene.core.facts.named_people import TEAM
    from reconvene.people_wiring import are_set_up, open_people

    if not are_set_up(home):
        return {}
    with closing(open_people(home)) as people:
        everyone = people.everyone()
    teams = {team for one in everyone for team in one.teams}
    return {f"{TEAM}{team}": tuple(one.name for one in everyone if team in one.teams) for team in sorted(teams)}


class LiveRoutes:
    """The routes of a home, read anew where something is to be told: what is changed counts at once. While the settings
    cannot be read, those before count. Whoever delivers says so; nothing is kept from being recorded."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._last = Routes()

    def __call__(self) -> Routes:
        with suppress(ReconveneError, OSError):
            self._last = routes(self._home)
        return self._last


def destinations() -> dict[str, Destination]:
    """As the settings say now: whoever delivers for days sees what was changed."""
    said = _said()
    if not said:
        return {}
    from reconvene import notify_settings

    return notify_settings.destinations(said, os.environ)


def sender() -> Sender:
    from reconvene.adapters.notify import ChildSender

    return ChildSender(dict(os.environ))


def deliverer(log: EventLog) -> Deliverer:
    """Of whoever serves or works, or was asked to send what is due."""
    from reconvene.app.delivering import Deliverer

    return Deliverer(log, SystemClock(), destinations, sender(), lambda: pages_url() or from_files("url"))
