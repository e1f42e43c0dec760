"""Makes the word lists of a folder ready for use; `make words` writes those of the package."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reconvene.errors import UserError
from reconvene.kits.reading.wordlist import make

LANGUAGES = Path(__file__).resolve().parents[3] / "src" / "reconvene" / "kits" / "reading" / "languages"


def ready(folder: Path = LANGUAGES) -> bytes:
    """Every list of the folder, by its language's code; each on a line of its own."""
    lists = {path.stem: make(str(path), _text(path)) for path in sorted(folder.glob("*.yaml"))}
    lines = (f'"{code}":'.encode() + msgspec.json.encode(each, order="deterministic") for code, each in lists.items())
    return b"{" + b",\n".join(lines) + b"}\n"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError(f"{path}:{line}: this is not UTF-8.", hint="Store the file as UTF-8.") from None


if __name__ == "__main__":
    try:
        (LANGUAGES / "ready.json").write_bytes(ready())
    except UserError as error:
        raise SystemExit(f"error: {error.message}\nhint: {error.hint}") from None
