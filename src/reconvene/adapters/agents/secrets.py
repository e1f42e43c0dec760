"""Keeping keys out of what is stored: values of environment variables that look secret are blanked everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

REDACTED = "[redacted]"
_SECRET_NAME = re.compile(r"(_KEY|_TOKEN|_SECRET|PASSWORD)$", re.IGNORECASE)
_SHORTEST = 8  # shorter values would blank ordinary words


def secret_values(environ: Mapping[str, str]) -> set[str]:
    return {value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST}


def redact(data: bytes, environ: Mapping[str, str], also: Iterable[str] = ()) -> bytes:
    """`data` without any secret of the environment, in plain or JSON-escaped form."""
    secrets = secret_values(environ) | {value for value in also if len(value) >= _SHORTEST}
    for secret in sorted(secrets, key=len, reverse=True):
        for form in {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
            data = data.replace(form.encode("utf-8", "surrogateescape"), REDACTED.encode())
    return data


def redact_text(text: str, environ: Mapping[str, str], also: Iterable[str] = ()) -> str:
    return redact(text.encode("utf-8", "surrogateescape"), environ, also).decode("utf-8", "replace")
