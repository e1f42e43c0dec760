"""The address of a PostgreSQL database: what of it may be shown, what is secret, and what it needs to be reached."""

from __future__ import annotations

import os
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from reconvene.material_ports import SourceError

SCHEMES = ("postgresql", "postgres")
HIDDEN = "***"
_FORM = "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
_FILES = ("sslcert", "sslkey", "sslrootcert", "sslcrl", "passfile")
_SECRETS = ("password", "sslpassword", "oauth_client_secret")
_SOCKETS = ("/var/run/postgresql", "/run/postgresql", "/tmp")


class Address(NamedTuple):
    shown: str
    secrets: tuple[str, ...]
    readable: tuple[str, ...]
    sockets: tuple[str, ...]


def read(url: str) -> Address:
    """SourceError, which does not repeat it, where it is no address."""
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        given = dict(pairs)
        host, port = unquote(parts.hostname or given.get("host", "")), str(parts.port or given.get("port", "5432"))
        user, name = unquote(parts.username or given.get("user", "")), unquote(parts.path.lstrip("/"))
    except ValueError:
        raise SourceError("The address of the database cannot be read.", fault="setup", hint=_FORM) from None
    if parts.scheme not in SCHEMES or "," in parts.netloc:
        raise SourceError("The address of the database cannot be read.", fault="setup", hint=_FORM)
    folders = [given["host"]] if given.get("host", "").startswith("/") else [host] if host.startswith("/") else []
    folders = folders or ([] if host else list(_SOCKETS))
    sockets = [os.path.join(folder, f".s.PGSQL.{port}") for folder in folders]
    shown = f"postgresql://{user + '@' if user else ''}{host if not host.startswith('/') else ''}/{name}"
    secrets = {parts.password or "", unquote(parts.password or ""), *(given.get(key, "") for key in _SECRETS)}
    # as it is spelt there, too
    secrets |= {pair.partition("=")[2] for pair in parts.query.split("&") if pair.partition("=")[0] in _SECRETS}
    files = [given[key] for key in _FILES if os.path.isfile(given.get(key, ""))]
    return Address(
        shown,
        tuple(sorted(filter(None, secrets), key=len, reverse=True)),
        tuple(files),
        tuple(path for path in sockets if os.path.exists(path)),
    )


def redacted(text: str, url: str, secrets: tuple[str, ...]) -> str:
    text = text.replace(url, "the address") if url else text
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text
