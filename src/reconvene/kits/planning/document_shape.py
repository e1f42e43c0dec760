"""Whether a Markdown document has the shape that a workflow names: paragraphs, sections, entries, tables, words.

The options of the gate `shape`, all of them optional:

    paragraphs: [2, 3]                     how many paragraphs of prose there are; a line is none
    mentions: {gaps: ["nobody", "open"]}   of each list, a word or a part of one must be there; the name is told
    distinct: 0.8                          no two of the files that came with it share so much of their words
    sections:
      Axes: {entries: [2, 3]}              so many headings right below it
      Signals:
        rows: [3, 40]                      so many rows of its table
        columns: [threshold, source]       its table has these columns, and no cell of theirs is empty
        filled: true                       no cell of the table is empty
        apart: [name]                      no two cells of these columns say the same
        names: name                        all that stands in this column of the documents in `about` is named

Everything that is wrong is told at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from reconvene.core.extensions import Judged, Objection

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_NOT_PROSE = re.compile(r"\s*(?:#|\||[-*+•]\s|\d{1,3}[.)]\s|>|```|~~~|[-=*_]{3,}\s*$)")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY = ("", "-", "–", "—", "?", "n/a", "tbd", "…", "...")
_MANY = 10**6
_LEAST = 8  # words of a paragraph; fewer are a line beside it


class _Table(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def at(self, column: str) -> int | None:
        wanted = column.casefold()
        return next((at for at, name in enumerate(self.columns) if wanted in name.casefold()), None)


def shape(judged: Judged) -> Objection | None:
    """Of the output, and of each file where it wrote several."""
    texts = judged.written if len(judged.written) > 1 else {"": judged.text}
    wrong = [f"{path}: {each}" if path else each for path, text in texts.items() for each in _wrong(text, judged)]
    wrong += _alike(texts, judged.options.get("distinct"))
    return Objection("WRONG_SHAPE", f"{'; '.join(wrong)}.") if wrong else None


def _wrong(text: str, judged: Judged) -> Iterator[str]:
    options = judged.options
    if (told := _count(len(_paragraphs(text)), options.get("paragraphs"), "paragraphs of prose")) is not None:
        yield told
    yield from _unnamed(text, options.get("mentions"), "it")
    sections = options.get("sections")
    for name, rules in sections.items() if isinstance(sections, Mapping) else ():
        below = _below(text, str(name))
        if below is None:
            yield f"the section “{name}” is missing"
        elif isinstance(rules, Mapping):
            yield from _section(str(name), below, rules, judged.documents)


def _section(name: str, text: str, rules: Mapping[str, object], documents: Sequence[str]) -> Iterator[str]:
    entries = [line for line in text.splitlines() if _HEADING.match(line)]
    if (told := _count(len(entries), rules.get("entries"), f"entries with a heading below “{name}”")) is not None:
        yield told
    yield from _unnamed(text, rules.get("mentions"), f"“{name}”")
    tables = list(_tables(text))
    wants = {key: rules[key] for key in ("rows", "columns", "filled", "apart", "names") if rules.get(key)}
    if wants and not tables:
        yield f"below “{name}” there is no table"
    elif wants:
        yield from _table(name, tables[0], wants)
        yield from _names(name, text, wants.get("names"), documents)


def _table(name: str, table: _Table, wants: Mapping[str, object]) -> Iterator[str]:
    if (told := _count(len(table.rows), wants.get("rows"), f"rows in the table below “{name}”")) is not None:
        yield told
    for column in _texts(wants.get("columns")):
        at = table.at(column)
        if at is None:
            yield f"the table below “{name}” has no column “{column}”"
        elif empty := [row[0] for row in table.rows if at >= len(row) or row[at].casefold() in _EMPTY]:
            yield f"the {column} is missing for {', '.join(f'“{each}”' for each in empty[:5])}"
    if wants.get("filled"):
        for row in table.rows:
            if len(row) < len(table.columns) or any(cell.casefold() in _EMPTY for cell in row):
                yield f"in the table below “{name}” the row “{row[0] if row else ''}” has an empty cell"
    for column in _texts(wants.get("apart")):
        at = table.at(column)
        cells = [row[at].casefold() for row in table.rows if at is not None and at < len(row)]
        if twice := sorted({cell for cell in cells if cells.count(cell) > 1}):
            yield f"two rows below “{name}” have the same {column}: {', '.join(twice)}"


def _names(name: str, text: str, column: object, documents: Sequence[str]) -> Iterator[str]:
    if not isinstance(column, str):
        return
    said = text.casefold()
    for table in (table for document in documents for table in _tables(document)):
        at = table.at(column)
        wanted = [row[at] for row in table.rows if at is not None and at < len(row) and row[at]]
        if missing := [each for each in wanted if each.casefold() not in said]:
            yield f"“{name}” does not speak of {', '.join(f'“{each}”' for each in missing)}"


def _unnamed(text: str, mentions: object, where: str) -> Iterator[str]:
    said = text.casefold()
    for name, words in mentions.items() if isinstance(mentions, Mapping) else ():
        if not any(word.casefold() in said for word in _texts(words)):
            yield f"{where} says nothing about {name}"


def _alike(texts: Mapping[str, str], most: object) -> Iterator[str]:
    if not isinstance(most, int | float):
        return
    words = {path: set(_WORD.findall(text.casefold())) for path, text in texts.items()}
    for one, other in combinations(words, 2):
        both, either = words[one] & words[other], words[one] | words[other]
        if either and len(both) / len(either) >= most:
            yield f"{one} and {other} are nearly the same"


def _count(found: int, wanted: object, what: str) -> str | None:
    """Two numbers: the least and the most."""
    if not isinstance(wanted, list | tuple) or not wanted:
        return None
    least, most = int(wanted[0]), int(wanted[1]) if len(wanted) > 1 else _MANY
    if least <= found <= most:
        return None
    many = f"{least}" if least == most else f"at least {least}" if most == _MANY else f"{least} to {most}"
    return f"{many} {what} are wanted, and there {'is' if found == 1 else 'are'} {found or 'none'}"


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def _paragraphs(text: str) -> list[str]:
    blocks = re.split(r"\n[^\S\n]*\n", text)
    prose = [block for block in blocks if block.strip() and not _NOT_PROSE.match(block)]
    return [block for block in prose if len(_WORD.findall(block)) >= _LEAST]


def _below(text: str, name: str) -> str | None:
    """What stands below the first heading that begins so, up to the next one as high."""
    depth, lines, found = 0, list[str](), False
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading and found and len(heading[1]) <= depth:
            break
        if found:
            lines.append(line)
        elif heading and heading[2].casefold().startswith(name.casefold()):
            found, depth = True, len(heading[1])
    return "\n".join(lines) if found else None


def _tables(text: str) -> Iterator[_Table]:
    rows: list[tuple[str, ...]] = []
    for line in [*text.splitlines(), ""]:
        if line.strip().startswith("|"):
            if not _RULE.fullmatch(line.strip()):
                cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
                rows.append(tuple(cell.strip().strip("*_` ") for cell in cells))
        elif rows:
            yield _Table(rows[0], tuple(rows[1:]))
            rows = []
