"""`serve`: the cockpit and the API, and whoever drives the runs of the home."""

from __future__ import annotations

import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple

import click

from reconvene.app.strays import require_known
from reconvene.authority import require_person
from reconvene.doors.cli.common import BY, Call, command, note, open_engine, put, put_json
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.doors.http.callers import Callers

PORT = 7467
_HERE = "127.0.0.1"
_NAMES_HERE = (_HERE, "localhost", "::1")


class Place(NamedTuple):
    """Where the server listens, and the names by which it may be found."""

    host: str
    port: int
    names: tuple[str, ...]
    cert: str = ""
    key: str = ""
    proxy: bool = False

    @property
    def secure(self) -> bool:
        return bool(self.cert) or self.proxy

    def hosts(self, port: int) -> list[str]:
        """As `Host` names them. A browser leaves the port of its scheme out."""
        named = [name for name in self.names if name]
        if self.proxy:
            return named
        usual = 443 if self.secure else 80
        own = named or [name for name in _NAMES_HERE if self.host in _NAMES_HERE]
        with_port = [name if _has_port(name) else f"{_bracketed(name)}:{port}" for name in own]
        return [*with_port, *(_bracketed(name) for name in own if port == usual)]

    def url(self, port: int) -> str:
        name = self.names[0] if self.names else _bracketed(self.host)
        if self.proxy:
            return f"https://{name}"
        return f"{'https' if self.secure else 'http'}://{name if _has_port(name) else f'{_bracketed(name)}:{port}'}"


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdecimal() and name.count(":") == 1


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name and not _has_port(name) and not name.startswith("[") else name


@command("""
Examples:
  reconvene serve                     # opens the browser; Ctrl-C stops
  reconvene serve --port 0 --no-open
  reconvene serve --host 0.0.0.0 --allowed-host runs.example.org --tls-cert cert.pem --tls-key key.pem
  reconvene serve --behind-proxy --allowed-host runs.example.org    # the proxy speaks https
""")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 = any that is free.")
@click.option("--host", default=_HERE, show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--allowed-host", "names", multiple=True, metavar="NAME",
    help="A name by which people find the server; may be repeated.",
)  # fmt: skip
@click.option("--tls-cert", default="", metavar="FILE", help="The certificate, in PEM.")
@click.option("--tls-key", default="", metavar="FILE", help="Its key.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front speaks https with people.")
@click.option("--workflow", "workflows", multiple=True, metavar="FILE", help="A workflow that may be started, too.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--no-drive", is_flag=True, help="Only record what is decided; a `worker` does the work.")
@click.option("--slots", type=click.IntRange(1, 200), default=4, show_default=True, help="So many runs at once.")
@BY
def serve(
    call: Call,
    port: int,
    host: str,
    names: tuple[str, ...],
    tls_cert: str,
    tls_key: str,
    behind_proxy: bool,
    workflows: tuple[str, ...],
    no_open: bool,
    no_drive: bool,
    slots: int,
) -> int:
    """Serve the runs of this home to browsers and scripts, and drive every run that is due.

    On this machine alone, whoever holds the link that is printed may do what you may. Once people are set up (`people
    add`), they enter with their tokens instead. Other machines reach the server only with people, a name that it is
    found by, and TLS, its own or that of a proxy in front. On SIGTERM or Ctrl-C agents at work may finish; what they
    leave is due again.
    """
    require_person("to serve runs")
    _require_library()
    from reconvene.doors.cli.accepting import permit_run
    from reconvene.doors.cli.server_starts import ServerStarts
    from reconvene.doors.http import running
    from reconvene.doors.http.callers import Callers
    from reconvene.doors.http.driving import Driving
    from reconvene.doors.http.service import Service
    from reconvene.doors.web.app import application
    from reconvene.people_wiring import open_people

    engine = open_engine(call)  # a home is made here, or refused, before anything is served
    require_known(engine.log, engine.home)
    engine.log.close()
    place = Place(host, port, names, tls_cert, tls_key, behind_proxy)
    people = open_people(call.home)
    _require_safe(place, bool(people.everyone()))
    quiet = call._replace(quiet=True)

    def permit(engine: Engine, run: str) -> None:
        permit_run(quiet, engine, run)

    def opened() -> Engine:
        from reconvene.trust import is_foreign
        from reconvene.wiring import open_engine as wired

        return wired(call.home, say=note, foreign=is_foreign(call.place))

    words = ["--home", call.home, "worker", "--json", "--attached", "--slots", str(slots), "--by", call.by]
    driving = None if no_drive else Driving(words, lambda told: service.live.tell(told))
    wake = driving.wake if driving is not None else _nothing
    service = Service(opened, call.home, permit, wake, ServerStarts(call, workflows))
    callers = Callers(call.by, service.desk, people, secure=place.secure)
    listening = running.bound(host, port)
    number = listening.getsockname()[1]
    app = application(service, callers, place.hosts(number), secure=place.secure)
    try:
        running.serve(
            app, listening, driving, lambda: _tell(call, callers, place.url(number), opens=not no_open),
            ends=service.live.end, cert=place.cert, key=place.key,
        )  # fmt: skip
    finally:
        people.close()
    return 0


def _tell(call: Call, callers: Callers, url: str, *, opens: bool) -> None:
    if callers.are_set_up:
        entrance, told = f"{url}/enter", "people enter with their tokens; Ctrl-C stops"
        token = {}
    else:
        entrance, told = f"{url}/enter?token={callers.link}", "whoever has this link may decide; Ctrl-C stops"
        token = {"token": callers.link}
    if call.as_json:
        put_json({"url": url, **token})
    else:
        put(f"{entrance}\n({told})")
    sys.stdout.flush()
    if opens and not call.as_json:
        import webbrowser

        webbrowser.open(f"{url}/enter" + (f"?token={callers.ticket()}" if token else ""))


def _require_safe(place: Place, people: bool) -> None:
    """Nobody opens a home to a network by mistake."""
    if bool(place.cert) != bool(place.key):
        raise UserError("a certificate goes with its key", hint="give both: --tls-cert FILE --tls-key FILE")
    if place.cert and place.proxy:
        raise UserError("either this server speaks https, or the proxy in front does", hint="leave one of them out")
    for name in place.names:
        if not name or "/" in name or any(sign.isspace() for sign in name):
            raise UserError(f"{name!r} is no name of a host", hint="as in --allowed-host runs.example.org")
    if place.proxy and not place.names:
        raise UserError("by which name is it found?", hint="add --allowed-host NAME, as the proxy sends it on")
    if _is_here(place.host) and not place.proxy:
        return
    missing = []
    if not people:
        missing.append("people with tokens: reconvene people add NAME --role admin")
    if not place.secure:
        missing.append("https: --tls-cert FILE --tls-key FILE, or --behind-proxy")
    if not place.names:
        missing.append("the name that it is found by: --allowed-host NAME")
    if missing:
        raise UserError(f"to be reached from other machines ({place.host}), a server needs:\n  " + "\n  ".join(missing))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _nothing() -> None: ...


def _require_library() -> None:
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "nh3", "python_multipart")):
        raise UserError("what serves pages is not installed", hint="install it: pip install 'reconvene[serve]'")
