"""The ends of what a program printed, for a person: a few lines of each stream, harmless, without secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reconvene.secrets import redact

_BYTES = 2048  # of each stream
_LINES = 12
# whole sequences first, so that their parameters do not stay behind
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def end(data: bytes, environ: Mapping[str, str]) -> str:
    """The last lines of one stream."""
    # a secret that the cut would halve is blanked before it
    text = redact(data, environ)[-_BYTES:].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    plain = _CONTROLS.sub("", _SEQUENCES.sub("", text)).strip()
    lines = [line.rstrip() for line in plain.splitlines() if line.strip()]
    return "\n".join(lines[-_LINES:])


def both(stdout: bytes, stderr: bytes, environ: Mapping[str, str]) -> str:
    """The ends of both: as they are where only one has something, else with the names of the streams."""
    out, err = end(stdout, environ), end(stderr, environ)
    if out and err:
        return f"{err}\nAnd on its standard output: {out}"
    return err or out
