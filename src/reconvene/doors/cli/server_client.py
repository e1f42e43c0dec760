"""A server that is asked over HTTP: one request at a time, with the person's token, and its problems as our errors.

Python's own client is enough for that, and the command line starts as quickly with it. The token goes to the server
that was named and nowhere else: redirects are not followed, and it is not sent over a network unencrypted.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from http.client import HTTPException
from typing import IO, Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from reconvene.errors import Forbidden, ReconveneError, Refused, StaleDecision, StoreError, UserError
from reconvene.settings import TOKEN_VARIABLE, own_folder, person_token

_HERE = ("127.0.0.1", "localhost", "::1")
_SECONDS = 60
_MOST = 256 * 1024 * 1024  # bytes of an answer


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    value: Any


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


class ServerClient:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise UserError(f"{url!r} is no address of a server", hint="as in --server https://runs.example.org")
        if parts.scheme == "http" and parts.hostname not in _HERE:
            raise UserError(
                f"the token would go to {parts.hostname} unencrypted", hint="write https://…, or go through a tunnel"
            )
        self._url = url.rstrip("/")
        direct = [ProxyHandler({})] if parts.hostname in _HERE else []
        self._opener = build_opener(_NoRedirects(), *direct)
        self._token = _token()

    def get(self, path: str, **query: object) -> Answer:
        said = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items() if value)
        return self._ask("GET", f"{path}?{said}" if said else path, None, {})

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """Sent again once where the connection breaks: with its key it has its effect once."""
        key = {
            "Idempotency-Key": os.urandom(16).hex(),
            **{name.replace("_", "-"): one for name, one in headers.items()},
        }
        try:
            return self._ask("POST", path, body, key)
        except StoreError:
            return self._ask("POST", path, body, key)

    def _ask(self, method: str, path: str, body: object, headers: dict[str, str]) -> Answer:
        data = json.dumps(body).encode() if body is not None else None
        sent = {"Accept": "application/json", "Authorization": f"Bearer {self._token}", **headers}
        if data is not None:
            sent["Content-Type"] = "application/json"
        asks = Request(f"{self._url}/api/v1{path}", data, sent, method=method)
        try:
            with self._opener.open(asks, timeout=_SECONDS) as answer:
                return Answer(answer.status, dict(answer.headers), _decoded(answer.read(_MOST)))
        except HTTPError as error:
            with error:
                raise self._error(error.code, _decoded(error.read(_MOST))) from None
        except (URLError, HTTPException, OSError) as error:
            why = getattr(error, "reason", error)
            raise StoreError(
                f"{self._url} cannot be reached: {why}", hint="is it running there? It is started with: reconvene serve"
            ) from None

    def _error(self, status: int, told: object) -> ReconveneError:
        said = told if isinstance(told, dict) else {}
        detail, hint = str(said.get("detail") or f"{self._url} answered {status}"), str(said.get("hint") or "")
        if status == 401:
            return UserError(
                f"{self._url} does not know who you are: {detail}",
                hint="ask an admin for a token; there: reconvene people token NAME",
            )
        if status == 409 and "version" in said:
            changes = tuple(str(one) for one in said.get("changes", ()))
            return StaleDecision(detail, changes=changes, hint=hint, now=str(said.get("version") or ""))
        if status == 403:
            return Forbidden(detail, hint=hint)
        hint = _for_people(hint)
        field = str(said.get("field") or "")
        if status == 422:
            return Refused(detail if not field or field in detail else f"{field}: {detail}", hint=hint, field=field)
        return StoreError(detail, hint=hint) if status >= 500 else UserError(detail, hint=hint)


def _for_people(hint: str) -> str:
    """A hint to programs, in words of the command line; "" where there are none."""
    if "/api/v1/runs lists them" in hint:
        return "see what there is: reconvene inbox"
    return "" if "/api/v1" in hint or hint.startswith('Add "') else hint


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return None


def _token() -> str:
    """From the environment, or from a file that only its owner can read."""
    if token := person_token():
        return token
    path = os.path.join(own_folder(), "token")
    try:
        with open(path, encoding="ascii") as file:
            found = os.fstat(file.fileno())
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
                raise UserError(f"others can read your token in {path}", hint=f"take a new one, then: chmod 600 {path}")
            token = file.read(4096).strip()
    except (FileNotFoundError, NotADirectoryError):
        token = ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the token in {path} cannot be read: {error}") from None
    if not token:
        hint = f"set {TOKEN_VARIABLE}, or write it to {path} (chmod 600)"
        raise UserError("a server wants to know who you are, and there is no token", hint=hint)
    if not token.isprintable() or " " in token:
        raise UserError(f"what stands in {path} is no token", hint="one line, as `people token` printed it")
    return token
