"""A place opens what stands there, in every form in which it is written; lines are those of the file."""

from __future__ import annotations

import pytest

from reconvene.app import cited_places
from reconvene.app.cited_places import Standing
from reconvene.companion.checked_cites import _LOOKS
from reconvene.material_ports import Document, Part

TABLE = Document(
    "staff.csv",
    "text/csv",
    "",
    (
        Part("lines 1-3", "name;note\nAnn;first\nBob;second"),
        Part("lines 4-6", 'name;note\nCid;"two\nlines"\nDan;fourth', 1),
        Part("lines 8-9", "name;note\nEve;fifth\nQuokka;last", 1),
    ),
)
CONTRACT = Document(
    "contract.pdf",
    "application/pdf",
    "",
    (Part("p. 1", "One."), Part("p. 2", "Two."), Part("p. 3", "Three.")),
    ("These pages have no text: p. 8.",),
)
COSTS = Document(
    "costs.xlsx",
    "application/xlsx",
    "",
    (
        Part("'Costs 2026'!A3:C5", "rent | 10 | paid\nfood |  | open\nink | 3"),
        Part("'Costs 2026'!A40:C40", "cars | a \\| b | 77"),
        Part("Notes!A1:A1", "late"),
    ),
)
BLOCKS = Document("minutes.docx", "x", "", (Part("block 1", "Opened."), Part("block 2", "Closed.")))


def test_lines_of_a_table_are_those_of_the_file_without_the_header_that_parts_repeat():
    lines = ["name;note", "Ann;first", "Bob;second", 'Cid;"two', 'lines"', "Dan;fourth", "Eve;fifth", "Quokka;last"]
    assert cited_places.numbered(TABLE) == list(zip([1, 2, 3, 4, 5, 6, 8, 9], lines))


def test_a_table_that_was_kept_without_a_count_of_its_header_has_the_same_lines():
    kept = Document("staff.csv", "text/csv", "", tuple(Part(one.place, one.text) for one in TABLE.parts))
    assert cited_places.numbered(kept) == cited_places.numbered(TABLE)


def test_pieces_of_a_long_line_are_one_line():
    parts = (Part("line 1", "a"), Part("line 2, characters 1-2", "bc"), Part("line 2, characters 3-4", "de"))
    assert cited_places.numbered(Document("a.txt", "text/plain", "", parts)) == [(1, "a"), (2, "bcde")]


@pytest.mark.parametrize(
    ("place", "text", "first"),
    [
        ("lines 9", "Quokka;last", 9),
        (", line 4-5", 'Cid;"two\nlines"', 4),
        ("lines 3-4", 'Bob;second\nCid;"two', 3),
        (":2", "Ann;first", 2),
        ("lines 6–20", "Dan;fourth\n\nEve;fifth\nQuokka;last", 6),
        ("lines 4-6", 'Cid;"two\nlines"\nDan;fourth', 4),
    ],
)
def test_lines_open_with_their_numbers(place: str, text: str, first: int):
    assert cited_places.standing(TABLE, place) == Standing(text, first)


@pytest.mark.parametrize(
    ("document", "place", "text"),
    [
        (CONTRACT, "p. 3", "Three."),
        (CONTRACT, ", p. 3", "Three."),
        (CONTRACT, " page 3", "Three."),
        (CONTRACT, ", S. 3", "Three."),
        (CONTRACT, "p. 1-2", "[p. 1]\nOne.\n[p. 2]\nTwo."),
        (CONTRACT, "pp. 1, 3", "[p. 1]\nOne.\n[p. 3]\nThree."),
        (CONTRACT, "pages 3-8", "[p. 3]\nThree.\n[no text at p. 4 and 4 more]"),
        (BLOCKS, "blocks 1-2", "[block 1]\nOpened.\n[block 2]\nClosed."),
        (COSTS, "'Costs 2026'!C40", "77"),
        (COSTS, "'Costs 2026'!B40", "a | b"),
        (COSTS, ", Costs 2026!$A$3:$C$4", "rent | 10 | paid\nfood |  | open"),
        (COSTS, "'Costs 2026'!C3:C40", "paid\nopen\n77"),
        (COSTS, "'Costs 2026'!A3:C5", "rent | 10 | paid\nfood |  | open\nink | 3"),
        (COSTS, "Notes!A1", "late"),
    ],
)
def test_what_is_right_opens(document: Document, place: str, text: str):
    assert cited_places.standing(document, place) == Standing(text)


@pytest.mark.parametrize(
    ("document", "place", "missing"),
    [
        (CONTRACT, "p. 8", "has no text at p. 8 (These pages have no text: p. 8.)"),
        (CONTRACT, "p. 80", "has no text at p. 80"),
        (COSTS, "'Costs 2026'!B4", "is empty at 'Costs 2026'!B4"),
        (COSTS, "Rents!B4", "has no sheet 'Rents' with text; it has Costs 2026, Notes"),
        (TABLE, "lines 10-12", "has text in the lines 1-9, and none in 10-12"),
    ],
)
def test_a_place_without_text_says_so(document: Document, place: str, missing: str):
    assert cited_places.standing(document, place) == Standing(missing=missing)


@pytest.mark.parametrize(("document", "place"), [(TABLE, "p. 1"), (BLOCKS, "p. 1"), (CONTRACT, "A1"), (TABLE, "A!B1")])
def test_what_is_no_place_of_such_a_document_is_none(document: Document, place: str):
    assert cited_places.standing(document, place) is None


@pytest.mark.parametrize("cite", ["report.pdf, p. 3", "costs.xlsx 'Costs 2026'!C40", "docs:lease.pdf pp. 1-2"])
def test_these_forms_are_looked_up_in_answers(cite: str):
    assert _LOOKS.fullmatch(cite)
