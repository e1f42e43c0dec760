"""Makes the word lists of a folder ready for use; `make words` writes those of the package."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reconvene.kits.reading.wordlist import make

LANGUAGES = Path(__file__).resolve().parents[3] / "src" / "reconvene" / "kits" / "reading" / "languages"


def ready(folder: Path = LANGUAGES) -> bytes:
    """Every list of the folder, by its language's code; each on a line of its own."""
    lists = {path.stem: make(str(path), path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.yaml"))}
    lines = (f'"{code}":'.encode() + msgspec.json.encode(each, order="deterministic") for code, each in lists.items())
    return b"{" + b",\n".join(lines) + b"}\n"


if __name__ == "__main__":
    (LANGUAGES / "ready.json").write_bytes(ready())
