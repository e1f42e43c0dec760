"""Who is told of what, where messages go, and who sends them: from the settings and the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

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


def routes() -> Routes:
    said = _said()
    if not said:
        return Routes()
    from reconvene import notify_settings

    return notify_settings.routes(said)


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

    return Deliverer(log, SystemClock(), destinations, sender(), pages_url() or from_files("url"))
