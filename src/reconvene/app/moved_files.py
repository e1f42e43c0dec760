"""Which of the files that a person took away and of those that are new are one file with another name. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

_LIKE = 0.5  # of its lines: as git sees it
_MOST = 200  # files that are compared line by line


def renamed(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    """New name → old name. The same content first, then what is most alike."""
    found: dict[str, str] = {}
    by_content: dict[bytes, list[str]] = {}
    for path in sorted(gone, reverse=True):
        by_content.setdefault(gone[path], []).append(path)
    for path in sorted(new):
        if new[path] and by_content.get(new[path]):  # empty files are all alike
            found[path] = by_content[new[path]].pop()
    left = [path for path in sorted(gone) if path not in found.values()]
    others = [path for path in sorted(new) if path not in found]
    if len(left) * len(others) > _MOST:
        return found
    pairs = sorted((-_likeness(gone[old], new[path]), path, old) for old in left for path in others)
    for likeness, path, old in pairs:
        if -likeness >= _LIKE and path not in found and old not in found.values():
            found[path] = old
    return found


def _likeness(old: bytes, new: bytes) -> float:
    """How much of the larger one's lines both have, by length."""
    before, after = Counter(old.split(b"\n")), Counter(new.split(b"\n"))
    same = sum((len(line) + 1) * count for line, count in (before & after).items() if line.strip())
    return same / max(len(old), len(new), 1)
