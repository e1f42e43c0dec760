"""Stored formats have versions: what is newer than this release is refused. It must not know the formats themselves.

The bytes of a format begin with their version: `{"v":2,` for an object, `[{"v":2,` for a list of objects. Bytes without
one are of version 1. The version is not a field of the data: it is taken off before anything is decoded, because the
decoders refuse every field that they do not know.
"""

from __future__ import annotations

from reconvene.errors import StoreError

_DIGITS = 10  # a version is shorter
UNREADABLE = -1

Raw = dict[str, object]

UPGRADE = "Upgrade: pip install --upgrade reconvene. Nothing was changed."
UPGRADE_OR_RESTORE = (
    "If a newer release wrote it, upgrade: pip install --upgrade reconvene. If not, the store is damaged: restore it"
    " from a backup. Nothing was changed."
)
RESTORE = "The store is damaged: restore it from a backup. Nothing was changed."


class Opening:
    """How the bytes of a format begin. No regular expression: compiling one would cost every start of the program."""

    def __init__(self, brackets: bytes) -> None:
        self._brackets = brackets
        self._mark = brackets + b'"v":'

    def put_on(self, data: bytes, version: int) -> bytes:
        return b"%s%d,%s" % (self._mark, version, data[len(self._brackets) :])

    def take_off(self, data: bytes) -> tuple[int, bytes]:
        """The version, and the data without it; UNREADABLE where a version is there that is no number."""
        if not data.startswith(self._mark):
            return 1, data
        start = len(self._mark)
        end = data.find(b",", start, start + _DIGITS)
        digits = data[start:end]
        return (int(digits), self._brackets + data[end + 1 :]) if digits.isdigit() and end > 0 else (UNREADABLE, data)


def refuse_unless_known(version: int, known: int, what: str) -> None:
    """`what` is the subject of the sentence."""
    if version > known:
        raise StoreError(
            f"{what} has the format {version}; this release of Reconvene reads up to {known}."
            " A newer release wrote it.",
            hint=UPGRADE,
        )
    if version == UNREADABLE:
        raise StoreError(f"{what} has a format whose version cannot be read.", hint=RESTORE)
    if version < 1:
        raise StoreError(f"{what} has the format {version}, which no release of Reconvene writes.", hint=RESTORE)
