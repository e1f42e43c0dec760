"""How two versions of a file differ, as text and in a few words. Pure: it must not know where they are kept."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.language.closest import opcodes
from reconvene.language.late_patterns import late

_CONTEXT = 3
_DIFF_LIMIT = 40_000  # characters
_LINE_LIMIT = 2_000  # characters
_COMPARE_LIMIT = 4_000_000  # line pairs; beyond it difflib may take minutes
_MOST_FIGURES = 50  # lines
_DIGIT = late(r"\d")
_CUT = late(r"^\\ the rest of this diff is not shown \(\+(\d+) −(\d+) lines in all\)$")
_BINARY = "binary file changed"
_RENAMED = "\\ another name; the content is the same"
_NO_NEWLINE = "\\ No newline at end of file"


class Figures(NamedTuple):
    """A line whose figures somebody changed: the words that differ, before and after, and the line as it is now."""

    was: str
    now: str
    line: str


def changed_figures(old: bytes | None, new: bytes | None) -> tuple[Figures, ...]:
    """Lines that stand where another stood, with other figures in them."""
    before, after = _text(old), _text(new)
    if not before or not after:
        return ()
    was, now = _lines(before), _lines(after)
    found: list[Figures] = []
    for tag, i1, i2, j1, j2 in _opcodes(was, now):
        if tag == "replace" and i2 - i1 == j2 - j1:
            found += [one for pair in zip(was[i1:i2], now[j1:j2], strict=True) if (one := _figures(*pair)) is not None]
    return tuple(found[:_MOST_FIGURES])


def _figures(was: str, now: str) -> Figures | None:
    if len(was) + len(now) > 2 * _LINE_LIMIT:
        return None
    old, new = was.split(), now.split()
    head = next((at for at, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    tail = next((at for at, (a, b) in enumerate(zip(old[:head:-1], new[:head:-1])) if a != b), 0)
    around = slice(max(head - 1, 0), None)  # a word before and after tells the unit
    cut = max(tail - 1, 0)
    before, after = (" ".join(words[around][: -cut or None]).rstrip(".,;") for words in (old, new))
    return Figures(before, after, now.strip()) if _DIGIT.search(before) and _DIGIT.search(after) else None


def unified_diff(path: str, old: bytes | None, new: bytes | None, limit: int = _DIFF_LIMIT, *, before: str = "") -> str:
    """How a file changed, as text; None = not there. At most about `limit` characters, and it says so when cut.
    `before`: its name then, where it has another one now."""
    if old == new and not before:
        return ""
    head = [
        f"--- {'/dev/null' if old is None else 'a/' + (before or path)}",
        f"+++ {'/dev/null' if new is None else 'b/' + path}",
    ]
    if old == new:
        return "\n".join([*head, _RENAMED]) + "\n"
    then, after = _text(old), _text(new)
    if then is None or after is None:
        body = [f"{_BINARY} ({len(old or b'')} → {len(new or b'')} bytes)"]
    else:
        body = _hunks(_lines(then), _lines(after))
    return "\n".join(head + _cut(body, limit)) + "\n"


def diff_summary(diff: str) -> str:
    """The size of a diff made by `unified_diff`: "+3 −1 lines"; where it is no text, what the diff says."""
    if not diff:
        return "no change"
    body = diff.split("\n")[2:-1]
    if body and body[0].startswith((_BINARY, _RENAMED)):
        return body[0].removeprefix("\\ ")
    cut = _CUT.match(body[-1]) if body else None
    added, removed = (int(cut[1]), int(cut[2])) if cut else _count(body)
    return f"+{added} −{removed} lines"


def _text(data: bytes | None) -> str | None:
    """None = these bytes are no text."""
    if data is None:
        return ""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _lines(text: str) -> list[str]:
    """Lines with their ends. Only "\\n" ends one: str.splitlines would also break at form feeds and the like."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


_Opcode = tuple[str, int, int, int, int]


def _hunks(old: list[str], new: list[str]) -> list[str]:
    out: list[str] = []
    for group in _grouped(_opcodes(old, new)):
        (_, old_from, _, new_from, _), (_, _, old_to, _, new_to) = group[0], group[-1]
        out.append(f"@@ -{_span(old_from, old_to)} +{_span(new_from, new_to)} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += _marked(" ", old[i1:i2])
            else:
                out += _marked("-", old[i1:i2]) + _marked("+", new[j1:j2])
    return out


def _opcodes(old: list[str], new: list[str]) -> list[_Opcode]:
    """What stayed and what changed. The common ends are cut off first: edits are small, documents are long."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: list[_Opcode]
    if len(a) * len(b) > _COMPARE_LIMIT:
        middle = [("replace", 0, len(a), 0, len(b))]
    else:
        middle = opcodes(a, b)
    codes: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    codes += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in middle]
    if tail:
        codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return codes


def _grouped(codes: list[_Opcode]) -> list[list[_Opcode]]:
    """Changes with a few equal lines around them; a long equal stretch starts a new hunk."""
    groups: list[list[_Opcode]] = []
    group: list[_Opcode] = []
    changed = False
    for tag, i1, i2, j1, j2 in codes:
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            changed = True
            continue
        if changed and i2 - i1 <= 2 * _CONTEXT:
            group.append((tag, i1, i2, j1, j2))
            continue
        if changed:
            groups.append([*group, (tag, i1, min(i2, i1 + _CONTEXT), j1, min(j2, j1 + _CONTEXT))])
        group = [(tag, max(i1, i2 - _CONTEXT), i2, max(j1, j2 - _CONTEXT), j2)]
        changed = False
    if changed:
        last = group[-1]
        if last[0] == "equal":
            group[-1] = ("equal", last[1], min(last[2], last[1] + _CONTEXT), last[3], min(last[4], last[3] + _CONTEXT))
        groups.append(group)
    return groups


def _span(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: list[str]) -> list[str]:
    out: list[str] = []
    for line in lines:
        text = mark + line.removesuffix("\n")
        out.append(text if len(text) <= _LINE_LIMIT else f"{text[:_LINE_LIMIT]}… ({len(text) - _LINE_LIMIT} more)")
        if not line.endswith("\n"):
            out.append(_NO_NEWLINE)
    return out


def _cut(body: list[str], limit: int) -> list[str]:
    size = 0
    for number, line in enumerate(body):
        size += len(line) + 1
        if size > limit:
            added, removed = _count(body)
            return [*body[:number], f"\\ the rest of this diff is not shown (+{added} −{removed} lines in all)"]
    return body


def _count(body: list[str]) -> tuple[int, int]:
    """The first character of a line is always the diff's own: content cannot forge it."""
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
