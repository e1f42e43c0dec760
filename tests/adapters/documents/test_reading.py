"""What is read of each format, how it is cited, and what is noted."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.documents.makers import pdf, put, said, sheets, word

from reconvene.adapters.box import Boxes
from reconvene.adapters.documents import DocumentReader
from reconvene.app import cited_places
from reconvene.core.facts.ids import digest_of
from reconvene.material_ports import Document, DocumentError, Part, ReadLimits


def places(document: Document) -> list[str]:
    return [part.place for part in document.parts]


def texts(document: Document) -> dict[str, str]:
    return {part.place: part.text for part in document.parts}


# --- text and CSV ----------------------------------------------------------------------------------------------------


def test_text_is_cited_by_lines_and_has_the_digest_of_its_bytes(tmp_path: Path, reader: DocumentReader) -> None:
    path = put(tmp_path, "a.txt", "\n".join(f"line {number}" for number in range(1, 101)))
    document = reader.read(str(path))
    assert (document.name, document.media, document.notes) == ("a.txt", "text/plain", ())
    assert places(document) == ["lines 1-40", "lines 41-80", "lines 81-100"]
    assert document.parts[1].text.startswith("line 41\nline 42\n")
    assert document.digest == digest_of(path.read_bytes()) == hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def test_python_may_have_been_started_by_a_way_through_another_folder(
    tmp_path: Path, reader: DocumentReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as ../.venv/bin/python: that folder is not there in the box."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / os.path.relpath(sys.executable, tmp_path)))
    assert reader.read(str(put(tmp_path, "a.txt", "one"))).parts[0].text == "one"


def test_markdown_is_parted_at_headings(tmp_path: Path, reader: DocumentReader) -> None:
    text = "# One\n" + "words\n" * 25 + "## Two\n" + "words\n" * 5
    document = reader.read(str(put(tmp_path, "a.md", text)))
    assert document.media == "text/markdown"
    assert places(document) == ["lines 1-26", "lines 27-33"]
    assert document.parts[1].text.startswith("## Two")


def test_a_very_long_line_is_cited_by_its_characters(tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.txt", "short\n" + "x" * 9000)))
    assert places(document) == [
        "line 1", "line 2, characters 1-4000", "line 2, characters 4001-8000", "line 2, characters 8001-9000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "note"),
    [
        ("\ufeffZoë\n".encode(), ""),
        ("Zoë\n".encode("utf-16"), ""),
        ("Zoë and others\n".encode("utf-16-le"), ""),
        ("Zoë and others\n".encode("utf-16-be"), ""),
        ("Zoë\n".encode("utf-32"), ""),
        ("Zoë\n".encode("cp1252"), "It is not UTF-8: it is read as Windows-1252, and some letters may be wrong."),
    ],
)
def test_text_is_read_in_its_encoding(data: bytes, note: str, tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.txt", data)))
    assert document.parts[0].text.startswith("Zoë")
    assert document.notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("header", "told"),
    [("a,b", "a comma"), ("a;b", "a semicolon"), ("a\tb", "a tab"), ("a|b", "a bar"), ('"x,y,z";b', "a semicolon")],
)
def test_the_separator_of_csv_is_counted_in_the_header(
    header: str, told: str, tmp_path: Path, reader: DocumentReader
) -> None:
    document = reader.read(str(put(tmp_path, "a.csv", f"{header}\n1,5;2\n")))
    assert f"Fields are separated by {told}." in document.notes


def test_csv_repeats_its_header_and_cites_the_lines_of_the_file(tmp_path: Path, reader: DocumentReader) -> None:
    rows = "".join(f'{number};"two\nlines"\n' for number in range(30))
    document = reader.read(str(put(tmp_path, "a.csv", f"id;text\n{rows}31;one;more\n")))
    assert document.media == "text/csv"
    assert places(document) == ["lines 1-62"]
    long = reader.read(str(put(tmp_path, "b.csv", "id;text\n" + "1;x\n" * 100)))
    assert places(long) == ["lines 1-40", "lines 41-80", "lines 81-101"]
    assert [part.text.splitlines()[0] for part in long.parts] == ["id;text"] * 3
    assert [part.head for part in long.parts] == [0, 1, 1]
    assert "These lines have more or fewer fields than the header: 62." in document.notes


def test_lines_of_csv_are_counted_as_the_file_counts_them(tmp_path: Path, reader: DocumentReader) -> None:
    records = "".join(f'{number};"two\nlines"\n\n' if number % 7 == 0 else f"{number};x\n" for number in range(200))
    text = f'id;"a\nheader"\n{records}'
    document = reader.read(str(put(tmp_path, "a.csv", text)))
    assert len(document.parts) > 3
    lines = [row for row in enumerate(text.split("\n"), 1) if row[1]]
    assert [row for row in cited_places.numbered(document) if row[1]] == lines


# --- PDF -------------------------------------------------------------------------------------------------------------


def test_pdf_is_cited_by_pages(tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.pdf", pdf(said("First words"), said("Second words")))))
    assert (document.media, document.parts) == (
        "application/pdf", (Part("p. 1", "First words"), Part("p. 2", "Second words")),
    )  # fmt: skip
    assert document.notes == ()


@pytest.mark.parametrize("hidden", ["1 1 1 rg", "1 g", "0 0 0 0 k", "3 Tr"])
def test_text_of_a_pdf_that_nobody_sees_is_flagged(hidden: str, tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.pdf", pdf(said("Seen"), said("Not seen", hidden)))))
    assert document.notes == (
        "Text that is white or not drawn at all, which a reader may not see, is on p. 2.",
    )  # fmt: skip


def test_black_text_after_white_text_is_not_flagged(tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.pdf", pdf("q 1 g 0 0 9 9 re f Q " + said("Seen")))))
    assert document.notes == ()


def test_a_scanned_pdf_is_said_to_have_no_text(tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.pdf", pdf("/Im1 Do", "/Im1 Do", picture=True))))
    assert document.parts == ()
    assert "Scanned, no text: no page has text. Have it read by an OCR program first." in document.notes
    assert "These pages are pictures without text: p. 1, p. 2." in document.notes


def test_a_pdf_that_opens_without_a_password_is_read(tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.pdf", pdf(said("Words"), password="EMPTY"))))
    assert texts(document) == {"p. 1": "Words"}


def test_pages_beyond_the_limit_are_said_to_be_left_out(tmp_path: Path, box: Boxes) -> None:
    reader = DocumentReader(box, ReadLimits(pages=2))
    document = reader.read(str(put(tmp_path, "a.pdf", pdf(*map(said, "abc")))))
    assert places(document) == ["p. 1", "p. 2"]
    assert document.notes == ("Only the first 2 of 3 pages are read.",)


# --- DOCX ------------------------------------------------------------------------------------------------------------


def test_a_word_document_is_cited_by_blocks(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(document: Any) -> None:
        document.add_heading("Plan", 1)
        document.add_paragraph("We build.")
        table = document.add_table(2, 2)
        for row, cells in zip(table.rows, (("what", "cost"), ("furnace", "150"))):
            for cell, text in zip(row.cells, cells):
                cell.text = text
        document.add_paragraph("")
        document.add_paragraph("The end.")
        document.sections[0].header.paragraphs[0].text = "Confidential"

    document = reader.read(str(put(tmp_path, "a.docx", word(fill))))
    assert texts(document) == {
        "block 1": "# Plan", "block 2": "We build.", "block 3": "what | cost\nfurnace | 150", "block 5": "The end.",
        "header 1": "Confidential",
    }  # fmt: skip


def test_a_table_in_a_table_is_read_once(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(document: Any) -> None:
        cell = document.add_table(1, 2).cell(0, 0)
        cell.text = "outer"
        cell.add_table(1, 1).cell(0, 0).text = "inner"

    document = reader.read(str(put(tmp_path, "a.docx", word(fill))))
    assert str(document.parts).count("inner") == 1


def test_hidden_and_white_text_of_a_word_document_stands_apart(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(document: Any) -> None:
        from docx.shared import RGBColor

        paragraph = document.add_paragraph("Seen.")
        paragraph.add_run("Ignore all.").font.hidden = True
        document.add_paragraph().add_run("White.").font.color.rgb = RGBColor(255, 255, 255)

    document = reader.read(str(put(tmp_path, "a.docx", word(fill))))
    assert texts(document) == {"block 1 (hidden)": "Ignore all.", "block 1": "Seen.", "block 2 (hidden)": "White."}
    assert document.notes == (
        "Text that is hidden or white, which a reader does not see, is in block 1, block 2; it stands in parts of its "
        "own.",
    )


def test_tracked_insertions_are_read_and_deletions_are_not(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(document: Any) -> None:
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls

        paragraph = document.add_paragraph("Debt is ")
        for xml in (
            f"<w:del {nsdecls('w')} w:id='1' w:author='a'><w:r><w:delText>100</w:delText></w:r></w:del>",
            f"<w:ins {nsdecls('w')} w:id='2' w:author='a'><w:r><w:t>150</w:t></w:r></w:ins>",
        ):
            paragraph._p.append(parse_xml(xml))

    assert texts(reader.read(str(put(tmp_path, "a.docx", word(fill))))) == {"block 1": "Debt is 150"}


# --- XLSX ------------------------------------------------------------------------------------------------------------


def test_a_workbook_is_cited_by_cells(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(workbook: Any) -> None:
        import datetime

        sheet = workbook.active
        sheet.title = "Costs"
        sheet.append(["what", "cost", "when", "sure"])
        sheet.append(["furnace", 150.5, datetime.date(2026, 5, 1), True])
        sheet["B5"] = "far"
        workbook.create_sheet("Next year")["A1"] = 1
        workbook.create_sheet("Kept").sheet_state = "hidden"

    document = reader.read(str(put(tmp_path, "a.xlsx", sheets(fill))))
    assert texts(document) == {
        "Costs!A1:D2": "what | cost | when | sure\nfurnace | 150.5 | 2026-05-01 | TRUE",
        "Costs!A5:B5": " | far",
        "'Next year'!A1:A1": "1",
    }
    assert document.notes == ("These sheets are hidden in the program: Kept.",)


def test_formulas_without_values_and_white_cells_are_flagged(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(workbook: Any) -> None:
        from openpyxl.styles import Font

        sheet = workbook.active
        sheet["A1"], sheet["B1"], sheet["A2"] = 2, "=A1*2", "ignore all"
        sheet["A2"].font = Font(color="FFFFFFFF")

    document = reader.read(str(put(tmp_path, "a.xlsx", sheets(fill))))
    assert texts(document) == {"Sheet!A1:B2": "2 | =A1*2\nignore all"}
    assert [note.partition(":")[2].split(".")[0] or note for note in document.notes] == [
        " Sheet!B1", "White text on no colour, which a reader does not see, is in Sheet!A2.",
    ]  # fmt: skip


def test_rows_and_columns_beyond_the_limits_are_said_to_be_left_out(tmp_path: Path, box: Boxes) -> None:
    def fill(workbook: Any) -> None:
        sheet = workbook.active
        for number in range(1, 8):
            sheet.cell(number, 1, number)
        sheet.cell(1, 300, "wide")
        sheet.cell(1, 201, "wide")

    document = DocumentReader(box, ReadLimits(rows=5)).read(str(put(tmp_path, "a.xlsx", sheets(fill))))
    assert "Only the first 200 columns of the sheet Sheet are read." in document.notes
    assert "Only the first 5 rows of the sheet Sheet are read." in document.notes
    assert places(document) == ["Sheet!A1:A5"]


def test_a_cell_of_a_sheet_is_found_again_whatever_stands_in_it(tmp_path: Path, reader: DocumentReader) -> None:
    def fill(workbook: Any) -> None:
        workbook.active.title = "Costs 2026"
        workbook.active.append(["a | b", None, "two\r\nlines"])
        workbook.active.append(["next", "\\|", " | "])

    document = reader.read(str(put(tmp_path, "a.xlsx", sheets(fill))))
    found = {cell: cited_places.standing(document, f"'Costs 2026'!{cell}") for cell in ("A1", "C1", "A2", "B2", "C2")}
    texts = {cell: one.text for cell, one in found.items() if one is not None}
    assert texts == {"A1": "a | b", "C1": "two lines", "A2": "next", "B2": "\\|", "C2": " | "}


# --- HTML ------------------------------------------------------------------------------------------------------------


def test_html_is_cited_by_blocks_and_scripts_are_no_text(tmp_path: Path, reader: DocumentReader) -> None:
    page = (
        "<!doctype html><title> A  page </title><script>var x = 1</script><h2>Head</h2>"
        "<p>One\ntwo <b>three</b><br>four</p>"
        "<ul><li>x<li>y</ul><table><tr><th>a<th>b<tr><td>1<td>2</table><noscript>no</noscript>"
    )
    document = reader.read(str(put(tmp_path, "a.html", page)))
    assert texts(document) == {
        "title": "A page", "block 1": "## Head", "block 2": "One two three\nfour", "block 3": "- x", "block 4": "- y",
        "block 5": "a | b", "block 6": "1 | 2",
    }  # fmt: skip


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display: none">X</p>', "<p hidden>X</p>", '<p style="color:#FFF">X</p>',
        '<div style="visibility:hidden"><b>X</b></div>', '<p style="font-size:0px">X</p>', '<p style="opacity:0">X</p>',
        '<p style="color:red;background-color: red">X</p>', '<p style="position:absolute;left:-9999px">X</p>',
        "<style>.gone { color: blue; display:none }</style><p class=gone>X</p>",
        "<style>/* x */ @media screen { #gone { visibility: hidden } }</style><p id=gone>X</p>",
        '<p style="text-indent:-9999px">X</p>', '<p style="DISPLAY:NONE">X</p>',
    ],
)  # fmt: skip
def test_text_that_a_page_hides_stands_apart(hidden: str, tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.html", f"<html><p>Seen</p>{hidden}<p>Seen too</p>")))
    assert texts(document) == {"block 1": "Seen", "block 2 (hidden)": "X", "block 3": "Seen too"}
    assert document.notes == (
        "Text that the page hides from its readers is in block 2; it stands in parts of its own.",
    )  # fmt: skip


@pytest.mark.parametrize("style", ["font-size: 0.9em", "opacity: 0.5", "color: #333", "color:white;background:black"])
def test_text_that_is_only_styled_does_not(style: str, tmp_path: Path, reader: DocumentReader) -> None:
    document = reader.read(str(put(tmp_path, "a.html", f'<html><p style="{style}">Seen</p>')))
    assert texts(document) == {"block 1": "Seen"}


@pytest.mark.parametrize(("code", "told"), [("windows-1252", "Zoë"), ("iso-8859-1", "Zoë"), ("unicode_escape", "Zoë")])
def test_html_is_read_in_the_encoding_that_it_names(
    code: str, told: str, tmp_path: Path, reader: DocumentReader
) -> None:
    page = f'<html><meta charset="{code}"><p>Zoë'.encode("cp1252")
    assert texts(reader.read(str(put(tmp_path, "a.html", page)))) == {"block 1": told}


# --- of all ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.pdf", "a.docx", "a.xlsx", "a.html"])
def test_no_document_gives_more_text_than_the_limit(name: str, tmp_path: Path, box: Boxes) -> None:
    long = "word " * 400
    data = {
        "a.txt": long.encode(), "a.csv": f"a,b\n{long},1\n".encode(), "a.pdf": pdf(said(long)),
        "a.docx": word(lambda document: document.add_paragraph(long)),  # type: ignore[attr-defined]
        "a.xlsx": sheets(lambda workbook: workbook.active.append([long])),  # type: ignore[attr-defined]
        "a.html": f"<html><p>{long}".encode(),
    }[name]  # fmt: skip
    document = DocumentReader(box, ReadLimits(characters=500)).read(str(put(tmp_path, name, data)))
    assert sum(len(part.text) for part in document.parts) == 500
    assert any("only the first 500 characters" in note for note in document.notes)


@pytest.mark.parametrize(
    ("name", "module"), [("a.pdf", "pypdf"), ("a.docx", "docx"), ("a.xlsx", "openpyxl"), ("a.html", "selectolax")]
)
def test_a_missing_library_is_said_with_the_line_that_installs_it(name: str, module: str, tmp_path: Path) -> None:
    from reconvene.material_ports import Ended

    data = {
        "a.pdf": pdf(said("x")), "a.docx": word(), "a.html": b"<html>x",
        "a.xlsx": sheets(lambda workbook: workbook.active.append([1])),  # type: ignore[attr-defined]
    }[name]  # fmt: skip
    path = put(tmp_path, name, data)
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from reconvene.adapters.documents.read_child import main\nmain(sys.argv[1:])"
    )

    class Without:
        def run(self, module: str, words: list[str], given: int, bounds: object) -> Ended:
            done = subprocess.run([sys.executable, "-c", code, *words], stdin=given, capture_output=True, check=True)
            return Ended(done.stdout)

    with pytest.raises(DocumentError) as caught:
        DocumentReader(Without()).read(str(path))  # type: ignore[arg-type]
    assert caught.value.fault == "library"
    assert module in caught.value.message
    assert caught.value.hint == "pip install 'reconvene[documents]'"


def test_text_and_csv_need_no_library(tmp_path: Path) -> None:
    code = (
        "import sys\nfor name in ('pypdf', 'docx', 'openpyxl', 'selectolax', 'lxml'): sys.modules[name] = None\n"
        "from reconvene.adapters.documents.read_child import main\nmain(sys.argv[1:])"
    )
    path = put(tmp_path, "a.csv", "a,b\n1,2\n")
    words = '{"suffix": ".csv", "size": 8, "limits": {}}'
    with path.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code, words], stdin=file, capture_output=True, check=True)
    assert b'"type":"read"' in done.stdout
