"""`serve`: the cockpit and the API, and whoever drives the runs of the home."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import BY, Call, command, note, open_engine, put, put_json
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine

PORT = 7467
_HOST = "127.0.0.1"


@command("""
Examples:
  reconvene serve                     # opens the browser; Ctrl-C stops
  reconvene serve --port 0 --no-open
""")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 = any that is free.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--no-drive", is_flag=True, help="Only record what is decided; a `worker` does the work.")
@click.option("--slots", type=click.IntRange(1, 200), default=4, show_default=True, help="So many runs at once.")
@BY
def serve(call: Call, port: int, no_open: bool, no_drive: bool, slots: int) -> int:
    """Serve the runs of this home to a browser and to scripts on this machine, and drive every run that is due.

    Whoever holds the link that is printed may do what you may. On SIGTERM or Ctrl-C agents at work may finish; what
    they leave is due again.
    """
    require_person("to serve runs")
    _require_library()
    from reconvene.doors.cli.accepting import permit_run
    from reconvene.doors.http import running
    from reconvene.doors.http.callers import Callers
    from reconvene.doors.http.driving import Driving
    from reconvene.doors.http.service import Service
    from reconvene.doors.web.app import application

    open_engine(call).log.close()  # a home is made here, or refused, before anything is served
    quiet = call._replace(quiet=True)

    def permit(engine: Engine, run: str) -> None:
        permit_run(quiet, engine, run)

    def opened() -> Engine:
        from reconvene.trust import is_foreign
        from reconvene.wiring import open_engine as wired

        return wired(call.home, say=note, foreign=is_foreign(call.place))

    words = ["--home", call.home, "worker", "--json", "--attached", "--slots", str(slots), "--by", call.by]
    driving = None if no_drive else Driving(words, lambda told: None)
    service = Service(opened, call.home, permit, driving.wake if driving is not None else _nothing)
    callers = Callers(call.by)
    listening = running.bound(_HOST, port)
    number = listening.getsockname()[1]
    hosts = [f"{name}:{number}" for name in (_HOST, "localhost")]
    app = application(service, callers, hosts)

    def ready() -> None:
        url = f"http://{_HOST}:{number}"
        if call.as_json:
            put_json({"url": url, "token": callers.link})
        else:
            put(f"{url}/enter?token={callers.link}\n(whoever has this link may decide; Ctrl-C stops)")
        sys.stdout.flush()
        if not no_open and not call.as_json:
            import webbrowser

            webbrowser.open(f"{url}/enter?token={callers.ticket()}")

    running.serve(app, listening, driving, ready)
    return 0


def _nothing() -> None: ...


def _require_library() -> None:
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "nh3", "python_multipart")):
        raise UserError("what serves pages is not installed", hint="install it: pip install 'reconvene[serve]'")
