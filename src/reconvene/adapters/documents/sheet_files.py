"""XLSX: of each sheet the rows that stand together, cited by their cells. Values are those that were saved with it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from reconvene.adapters.documents import zip_guard
from reconvene.adapters.documents.gathering import LINES, PART, Gathering, Request, Unreadable

_OF_SHEET = 5_000  # rows
_COLUMNS = 200
_SHEETS = 100
_EMPTY = 20_000  # rows without anything, in a row: what comes after them is not looked for
_UNSEEN = "White text on no colour, which a reader does not see, is in {}."
_AGAIN = "Open it in its own program and save it again."

Sheet = Any  # of openpyxl, which has no types


def read(file: BinaryIO, request: Request, gathering: Gathering) -> None:
    archive = zip_guard.check(file, request.limits)
    if any(name.endswith("vbaProject.bin") for name in archive.namelist()):
        gathering.note("It holds macros. They are not read, and not run.")
    values, formulas = _opened(file, data_only=True), _opened(file, data_only=False)
    room = request.limits.rows
    for sheet in values.worksheets[:_SHEETS]:
        if sheet.sheet_state != "visible":
            gathering.found("These sheets are hidden in the program: {}.", sheet.title)
        try:
            room -= _add(sheet, formulas[sheet.title], min(room, _OF_SHEET), gathering)
        except (MemoryError, RecursionError):
            raise
        except Exception:
            gathering.note(f"The sheet {sheet.title} is damaged: what could not be read was left out.")
        if room <= 0:
            gathering.note(f"Only the first {request.limits.rows:,} rows of all sheets are read.")
        if room <= 0 or gathering.full:
            break
    if len(values.worksheets) > _SHEETS:
        gathering.note(f"Only the first {_SHEETS} of {len(values.worksheets)} sheets are read.")


def _opened(file: BinaryIO, *, data_only: bool) -> Any:
    import warnings

    import openpyxl

    warnings.simplefilter("ignore")
    file.seek(0)
    try:
        return openpyxl.load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
    except (MemoryError, RecursionError):
        raise
    except Exception:
        raise Unreadable("damaged", "is a damaged Excel workbook", _AGAIN) from None


class _Row(NamedTuple):
    number: int
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """A bar that stands in a cell has a backslash before it, so that cells can be told apart."""
        return " | ".join(cell.replace("|", "\\|") for cell in self.cells)


def _add(sheet: Sheet, formulas: Sheet, most: int, gathering: Gathering) -> int:
    """How many rows there were."""
    count, size, held = 0, 0, list[_Row]()
    for row in _rows(sheet, formulas, gathering):
        if count == most:
            gathering.note(f"Only the first {most:,} rows of the sheet {sheet.title} are read.")
            break
        count += 1
        apart = held and row.number != held[-1].number + 1
        if held and (apart or len(held) >= LINES or size + len(row.text) > PART):
            if not gathering.add(_place(sheet, held), "\n".join(one.text for one in held)):
                return count
            held, size = [], 0
        held.append(row)
        size += len(row.text)
    if held:
        gathering.add(_place(sheet, held), "\n".join(one.text for one in held))
    return count


def _rows(sheet: Sheet, formulas: Sheet, gathering: Gathering) -> Iterator[_Row]:
    """Those that hold something. What the file says of its own size is not believed."""
    for one in (sheet, formulas):
        one.reset_dimensions()
    looks = dict[object, bool]()
    empty = 0
    pairs = zip(sheet.iter_rows(max_col=_COLUMNS + 1), formulas.iter_rows(max_col=_COLUMNS + 1, values_only=True))
    for number, (cells, written) in enumerate(pairs, 1):
        texts = [_text(cell.value) for cell in cells]
        for at, formula in enumerate(written):
            if not texts[at] and isinstance(formula, str) and formula.startswith("="):
                texts[at] = formula
                gathering.found(
                    "These formulas have no values, and are shown as they are: {}. Open the workbook in its own "
                    "program and save it, so that they have.", f"{_title(sheet)}!{_column(at + 1)}{number}",
                )  # fmt: skip
            elif texts[at] and _is_white(cells[at], looks):
                gathering.found(_UNSEEN, f"{_title(sheet)}!{_column(at + 1)}{number}")
        if len(texts) > _COLUMNS and texts[_COLUMNS]:
            gathering.note(f"Only the first {_COLUMNS} columns of the sheet {sheet.title} are read.")
        kept = _trimmed(texts[:_COLUMNS])
        empty = 0 if kept else empty + 1
        if empty > _EMPTY:
            gathering.note(f"The sheet {sheet.title} has {_EMPTY:,} empty rows in a row: what comes after is not read.")
            return
        if kept:
            yield _Row(number, tuple(kept))


def _trimmed(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case datetime.datetime() if (value.hour, value.minute, value.second) == (0, 0, 0):
            return value.date().isoformat()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case bool():
            return "TRUE" if value else "FALSE"
        case _:
            return str(value).replace("\r\n", " ").replace("\r", " ").replace("\n", " ")


def _is_white(cell: Any, looks: dict[object, bool]) -> bool:
    key = getattr(cell, "_style_id", None)
    if key not in looks:
        looks[key] = _looks_white(cell)
    return looks[key]


def _looks_white(cell: Any) -> bool:
    try:
        colour, fill = cell.font.color, cell.fill
        if colour is None or (fill is not None and fill.fill_type is not None):
            return False
        if colour.type == "rgb":
            return str(colour.rgb).upper() in ("FFFFFFFF", "00FFFFFF")
        return bool(colour.type == "theme" and colour.theme == 0)
    except (AttributeError, IndexError, TypeError):
        return False


def _place(sheet: Sheet, rows: list[_Row]) -> str:
    width = max(len(row.cells) for row in rows)
    return f"{_title(sheet)}!A{rows[0].number}:{_column(width)}{rows[-1].number}"


def _title(sheet: Sheet) -> str:
    """As formulas name it."""
    title = str(sheet.title)
    return title if title.replace("_", "").isalnum() else "'" + title.replace("'", "''") + "'"


def _column(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
