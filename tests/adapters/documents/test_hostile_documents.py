"""Files that were made to do harm, are broken, or are not what they seem: each ends in clear words and nothing else."""

from __future__ import annotations

import os
import random
import socket
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.documents.makers import CONTENT, packed, pdf, put, repacked, said, sheets, word

from exploring import part
from reconvene.adapters.box import Boxes
from reconvene.adapters.documents import DocumentReader
from reconvene.adapters.sandbox import Sandboxes, levels
from reconvene.material_ports import Bounds, Document, DocumentError, Ended, ReadLimits

NOISE = random.Random(7).randbytes(20_000)
BOMB = bytes(300 * 1024 * 1024)
OUTSIDE = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
DOCTYPE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


def simple_book(workbook: Any) -> None:
    workbook.active.append(["a", 1])


def lying(data: bytes, size: int) -> bytes:
    """A zip whose directory says that everything is small."""
    out = bytearray(data)
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = 0
        while (start := out.find(mark, start)) >= 0:
            struct.pack_into("<I", out, start + at, size)
            start += 4
    return bytes(out)


def looping_pdf() -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[2 0 R]>>endobj\n"
        b"trailer<</Root 1 0 R>>\n"
    )


def deflated_pdf(size: int) -> bytes:
    content = zlib.compress(b"BT (x) Tj ET " * (size // 13), 9)
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream endobj\ntrailer<</Root 1 0 R>>\n"
    ) % (len(content), content)


# name, what it holds, the fault ("" = it is read), words of the message or of a note
CASES: dict[str, tuple[str, Callable[[], bytes], str, str]] = {
    "empty file": ("a.txt", lambda: b"", "", "The file is empty."),
    "empty pdf": ("a.pdf", lambda: b"", "", "The file is empty."),
    "only blanks": ("a.txt", lambda: b" \n\t\n  ", "", "no text in it"),
    "rubbish": ("a.bin", lambda: NOISE, "kind", "is no text"),
    "rubbish named txt": ("a.txt", lambda: NOISE, "kind", "is no text"),
    "rubbish named csv": ("a.csv", lambda: NOISE, "kind", "is no text"),
    "rubbish named md": ("a.md", lambda: NOISE[:300], "kind", "is no text"),
    "rubbish named pdf": ("a.pdf", lambda: NOISE, "kind", "is no text"),
    "rubbish named docx": ("a.docx", lambda: NOISE, "kind", "is no text"),
    "rubbish named xlsx": ("a.xlsx", lambda: NOISE, "kind", "is no text"),
    "rubbish named html": ("a.html", lambda: NOISE, "kind", "is no text"),
    "zeros": ("a.txt", lambda: bytes(5000), "kind", "is no text"),
    "control characters": ("a.txt", lambda: b"\x01\x02\x03" * 100, "kind", "is no text"),
    "a picture": ("a.pdf", lambda: b"\x89PNG\r\n\x1a\n" + NOISE, "kind", "is a picture"),
    "a program": ("a.txt", lambda: b"\x7fELF" + NOISE, "kind", "is a program"),
    "a database": ("a.csv", lambda: b"SQLite format 3\0" + NOISE, "kind", "is a SQLite database"),
    "an old office file": ("a.docx", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NOISE, "kind", "encrypted"),
    "a gzip": ("a.csv", lambda: b"\x1f\x8b\x08" + NOISE, "kind", "packed file"),
    "an archive": ("a.docx", lambda: packed({"x.txt": b"x"}), "kind", "is an archive"),
    "slides": ("a.pptx", lambda: packed({"[Content_Types].xml": CONTENT, "ppt/x.xml": b""}), "kind", "Office file"),
    "text named pdf": ("a.pdf", lambda: b"only words\n", "", "but it is plain text"),
    "pdf named txt": ("a.txt", lambda: pdf(said("Words")), "", "but it is a PDF"),
    "docx named xlsx": ("a.xlsx", lambda: word(), "", "but it is a Word document"),
    "html named csv stays csv": ("a.csv", lambda: b"<html><p>x", "", "separated by a comma"),
    "html named txt": ("a.txt", lambda: b"<!DOCTYPE html><p>x", "", "but it is HTML"),
    "half a pdf": ("a.pdf", lambda: pdf(said("Words"))[:200], "damaged", "damaged PDF"),
    "a pdf head and noise": ("a.pdf", lambda: b"%PDF-1.7\n" + NOISE, "damaged", "damaged PDF"),
    "a pdf without pages": ("a.pdf", lambda: pdf(), "damaged", "without pages"),
    "a pdf whose pages hold themselves": ("a.pdf", looping_pdf, "damaged", "PDF"),
    "an encrypted pdf": ("a.pdf", lambda: pdf(said("Words"), password="secret"), "locked", "is encrypted"),
    "a pdf bomb": ("a.pdf", lambda: deflated_pdf(400_000_000), "any", ""),
    "half a docx": ("a.docx", lambda: word()[:3000], "damaged", "damaged archive"),
    "a docx without its parts": (
        "a.docx", lambda: packed({"[Content_Types].xml": CONTENT, "word/document.xml": b"<x/>"}), "damaged",
        "damaged Word",
    ),
    "a docx with broken xml": (
        "a.docx", lambda: repacked(word(), {"word/document.xml": b"<w:x"}), "damaged", "damaged",
    ),
    "a docx bomb": ("a.docx", lambda: repacked(word(), {"word/big.xml": BOMB}), "suspicious", "zip bomb"),
    "a docx bomb that lies": (
        "a.docx", lambda: lying(repacked(word(), {"word/big.xml": BOMB[: 2**27]}), 1000), "any", "",
    ),
    "a docx with entities": (
        "a.docx", lambda: repacked(word(), {"word/document.xml": DOCTYPE}), "suspicious", "declares",
    ),
    "a docx with entities in UTF-16": (
        "a.docx", lambda: repacked(word(), {"docProps/core.xml": DOCTYPE.decode().encode("utf-16")}), "suspicious",
        "declares",
    ),
    "a docx with a link to a file": (
        "a.docx",
        lambda: repacked(word(), {"docProps/app.xml": OUTSIDE}),
        "suspicious", "declares",
    ),
    "a docx with too many entries": (
        "a.docx", lambda: repacked(word(), {f"x/{number}": b"" for number in range(10_001)}), "suspicious", "files",
    ),
    "a docx nested too deeply": (
        "a.docx",
        lambda: repacked(word(), {"word/document.xml": b"<w:a xmlns:w='x'>" * 50_000 + b"</w:a>" * 50_000}),
        "damaged", "",
    ),
    "half an xlsx": ("a.xlsx", lambda: sheets(simple_book)[:2000], "damaged", "damaged archive"),
    "an xlsx with broken xml": (
        "a.xlsx", lambda: repacked(sheets(simple_book), {"xl/workbook.xml": b"<x"}), "damaged", "damaged Excel",
    ),
    "an xlsx with entities": (
        "a.xlsx", lambda: repacked(sheets(simple_book), {"xl/sharedStrings.xml": DOCTYPE}), "suspicious", "declares",
    ),
    "an xlsx bomb": ("a.xlsx", lambda: repacked(sheets(simple_book), {"xl/x.xml": BOMB}), "suspicious", "zip bomb"),
    "an xlsx with a broken sheet": (
        "a.xlsx", lambda: repacked(sheets(simple_book), {"xl/worksheets/sheet1.xml": b"<x"}), "any", "",
    ),
    "an encrypted zip": (
        "a.docx", lambda: (data := bytearray(word()), data.__setitem__(6, data[6] | 1), bytes(data))[2], "any", "",
    ),
    "csv with a quotation mark that is never closed": (
        "a.csv", lambda: b'a,b\n"x,1\n' + b"y,2\n" * 60_000, "", "never closed",
    ),
    "csv with one field of a megabyte": ("a.csv", lambda: b"a,b\n" + b"x" * 1_000_000 + b",1\n", "", "far too long"),
    "csv with ten thousand columns": ("a.csv", lambda: b"a," * 10_000 + b"\n" + b"1," * 10_000, "", "a comma"),
    "html nested too deeply": ("a.html", lambda: b"<html>" + b"<div>" * 200_000 + b"deep", "suspicious", "too deeply"),
    "html with a million attributes": ("a.html", lambda: b"<html><p " + b"a=b " * 300_000 + b">x", "any", ""),
    "half a character": ("a.txt", lambda: "words and Zoë".encode()[:-1], "", "Windows-1252"),
    "unseen characters": (
        "a.txt", lambda: ("seen" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all") + "\u202etxt").encode(), "",
        "11 characters that nobody sees",
    ),
}  # fmt: skip


def outcome(reader: DocumentReader, path: Path) -> tuple[str, str]:
    """The fault and its message, or "" and what was read and noted."""
    try:
        document = reader.read(str(path))
    except DocumentError as error:
        return error.fault, error.message
    return "", " ".join([*document.notes, *(part.text[:1000] for part in document.parts)])


@pytest.mark.parametrize("case", part(CASES))
def test_a_hostile_file_ends_in_clear_words(case: str, tmp_path: Path, reader: DocumentReader) -> None:
    name, make, fault, words = CASES[case]
    path = put(tmp_path, name, make())
    before = path.read_bytes()
    found, told = outcome(reader, path)
    assert fault in (found, "any"), told
    assert words in told
    assert "root:" not in told
    if found:
        assert told.startswith(f"{name} ")
        assert told.endswith(".")
        assert str(tmp_path) not in told
    assert path.read_bytes() == before
    assert reader.read(str(put(tmp_path, "after.txt", "still here"))).parts[0].text == "still here"


def test_a_csv_of_two_hundred_megabytes_is_read_from_its_start_and_that_is_said(
    tmp_path: Path, reader: DocumentReader
) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(b"id;text\n")
        for _ in range(200):
            file.write(b"1;some words here\n" * 58_255)
    assert path.stat().st_size > 200 * 2**20
    document = reader.read(str(path))
    assert len(document.parts) > 100
    assert sum(len(part.text) for part in document.parts) <= 1_000_000
    size = f"{path.stat().st_size:,}"
    assert any(note.startswith(f"The file has {size} bytes: only the first") for note in document.notes)
    assert any("20,000 rows" in note or "only the first" in note for note in document.notes)


def test_a_file_that_is_too_large_to_be_read_whole_is_refused(tmp_path: Path, box: Boxes) -> None:
    path = put(tmp_path, "a.pdf", pdf(said("x" * 3000)))
    with pytest.raises(DocumentError) as caught:
        DocumentReader(box, ReadLimits(bytes=1000)).read(str(path))
    assert caught.value.fault == "too_large"


def test_a_file_of_terabytes_is_not_even_opened(tmp_path: Path, reader: DocumentReader) -> None:
    with (tmp_path / "hole.txt").open("wb") as file:
        file.truncate(3 * 2**30)
    with pytest.raises(DocumentError, match="larger than 2 GB"):
        reader.read(str(tmp_path / "hole.txt"))


def test_reading_that_takes_longer_than_it_may_is_an_error(tmp_path: Path, box: Boxes) -> None:
    path = put(tmp_path, "a.xlsx", sheets(simple_book))
    with pytest.raises(DocumentError) as caught:
        DocumentReader(box, ReadLimits(seconds=0.01)).read(str(path))
    assert caught.value.fault == "limit"
    assert "0.01 seconds" in caught.value.message


def test_reading_that_needs_more_memory_than_it_may_is_an_error(tmp_path: Path, box: Boxes) -> None:
    path = put(tmp_path, "a.html", "<html>" + "<p>x" * 2_000_000)
    with pytest.raises(DocumentError) as caught:
        DocumentReader(box, ReadLimits(memory=150 * 2**20)).read(str(path))
    assert caught.value.fault in ("limit", "failed")


@pytest.mark.parametrize("cause", ["time", "memory", "flood", "crash"])
def test_however_the_process_ends_it_is_said(cause: Any, tmp_path: Path) -> None:
    class Ends:
        def run(self, *words: object) -> Ended:
            return Ended(b"", -11, cause, "Traceback\nSomeError: \x1b[31mred")

    with pytest.raises(DocumentError) as caught:
        DocumentReader(Ends()).read(str(put(tmp_path, "a.txt", "x")))  # type: ignore[arg-type]
    assert caught.value.fault == ("failed" if cause == "crash" else "limit")
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("answer", [b"", b"{}", b"nonsense", b'{"type":"read","media":1}', b'{"type":"failed"}'])
def test_an_answer_that_is_none_is_no_document(answer: bytes, tmp_path: Path) -> None:
    class Answers:
        def run(self, *words: object) -> Ended:
            return Ended(answer)

    with pytest.raises(DocumentError, match="gave no answer"):
        DocumentReader(Answers()).read(str(put(tmp_path, "a.txt", "x")))  # type: ignore[arg-type]


# --- where files are -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nowhere.txt", "", "a\0b", "x" * 5000, "folder", "nowhere/a.txt", "/dev/zero"])
def test_what_is_no_file_is_said_to_be_none(name: str, tmp_path: Path, reader: DocumentReader) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(DocumentError) as caught:
        reader.read(os.path.join(tmp_path, name))
    assert caught.value.fault in ("missing", "outside", "kind")


def test_a_pipe_and_a_socket_are_not_waited_for(tmp_path: Path, reader: DocumentReader, monkeypatch: Any) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket.txt")
        for name in ("pipe.txt", "socket.txt"):
            with pytest.raises(DocumentError) as caught:
                reader.read(str(tmp_path / name))
            assert caught.value.fault == "outside"


@pytest.mark.parametrize(
    "name",
    ["new\nline.txt", "\x1b[31mred.txt", "right\u202etxt.exe", "a\udcffb.txt", "tab\t.md", "zero\u200bwidth.txt"],
)
def test_a_name_with_hostile_characters_is_shown_without_them(
    name: str, tmp_path: Path, reader: DocumentReader
) -> None:
    path = os.fsencode(str(tmp_path)) + b"/" + os.fsencode(name)
    with open(path, "wb") as file:
        file.write(b"words")
    document = reader.read(os.fsdecode(path))
    assert document.parts[0].text == "words"
    assert document.name != name
    assert document.name.isprintable()
    listing = reader.list(str(tmp_path))
    assert listing.entries == ()
    assert "rename these files" in listing.notes[0]


def test_a_folder_is_gathered_and_what_is_left_out_is_named(tmp_path: Path, box: Boxes) -> None:
    folder = tmp_path / "given"
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / ".git").mkdir()
    put(folder, "1.md", "one")
    put(folder, "a/2.txt", "two")
    put(folder, "a/b/3.csv", "x,y\n1,2\n")
    put(folder, "a/b/c/4.txt", "too deep")
    put(folder, "5.bin", NOISE)
    put(folder, "6.txt", "x" * 2000)
    put(folder, ".env", "KEY=secret")
    put(folder, "7.txt", "seven")
    put(folder, "8.txt", "eight")
    put(tmp_path, "secret.txt", "secret")
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "links").symlink_to("..")
    limits = ReadLimits(depth=2, files=5, folder_bytes=21_000)
    gathered = DocumentReader(box, limits).gather(str(folder))
    assert [document.name for document in gathered.documents] == ["1.md", "7.txt", "8.txt", "a/2.txt"]
    assert set(gathered.notes) == {
        "Hidden files, not read: .env.",
        "Folders that are not read: .git.",
        "Left out, because only 0 MB of a folder are read: 6.txt.",
        "Links, which are not followed: link.txt, links.",
        "Nested too deeply, not read: a/b/c.",
        "Left out, because only 5 files are read: a/b/3.csv.",
        "Not read, because it is no text, and nothing else that can be read: 5.bin.",
    }


def test_a_folder_with_far_too_many_files_is_not_gone_through_to_its_end(tmp_path: Path, box: Boxes) -> None:
    for number in range(300):
        put(tmp_path, f"{number:03}.txt", "x")
    listing = DocumentReader(box, ReadLimits(files=2)).list(str(tmp_path))
    assert [entry.name for entry in listing.entries] == ["000.txt", "001.txt"]
    assert any("and 78 more" in note for note in listing.notes)
    assert any(note.startswith("Not looked at, because the folder holds too much") for note in listing.notes)


def test_a_folder_that_takes_too_long_is_left_where_it_is(tmp_path: Path, box: Boxes) -> None:
    put(tmp_path, "a.txt", "x")
    gathered = DocumentReader(box, ReadLimits(folder_seconds=-1.0)).gather(str(tmp_path))
    assert gathered.notes == ("Left out, because reading the folder took too long: a.txt.",)


def test_a_database_that_this_process_has_open_is_not_touched(tmp_path: Path, reader: DocumentReader) -> None:
    """To open and close it would drop the locks of the connection."""
    path = tmp_path / "own.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
        with pytest.raises(DocumentError, match="in use by this program"):
            reader.read(str(path))
        with pytest.raises(DocumentError, match="in use by this program"):
            reader.read("own.db", within=str(tmp_path))
    connection.close()
    with pytest.raises(DocumentError, match="is a SQLite database"):
        reader.read(str(path))


def test_the_same_document_may_be_read_by_many_at_once(tmp_path: Path, reader: DocumentReader) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = put(tmp_path, "a.txt", "words")
    with ThreadPoolExecutor(4) as pool:
        found: list[Document] = list(pool.map(reader.read, [str(path)] * 8))
    assert {document.parts[0].text for document in found} == {"words"}


# --- what the process that reads can reach ---------------------------------------------------------------------------

PROBE = """
def main(words):
    import os, socket, sys
    tried = {}
    def attempt(name, what):
        try:
            tried[name] = repr(what())
        except BaseException as error:
            tried[name] = type(error).__name__
    attempt("secret", lambda: open(words[0]).read())
    attempt("passwd", lambda: open("/etc/passwd").read())
    attempt("home", lambda: os.listdir(os.path.expanduser("~")))
    attempt("write", lambda: os.write(os.open("made", os.O_CREAT | os.O_WRONLY), b"x"))
    attempt("beside", lambda: open(words[0] + ".made", "w").close())
    attempt("network", lambda: socket.create_connection(("127.0.0.1", int(words[1])), 5))
    attempt("environment", lambda: sorted(set(os.environ) - {"PATH", "TMPDIR", "PWD", "LC_CTYPE", "RECONVENE_MARK"}))
    print(tried)
"""


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_the_box_shows_nothing_but_what_it_is_given(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ast

    from tests.adapters.box_levels import boxed

    from reconvene.adapters.box import seen_inside

    secret = put(tmp_path, "secret.txt", "secret")
    library = tmp_path / "library"
    library.mkdir()
    put(library, "probing.py", PROBE)
    monkeypatch.setenv("SOME_API_KEY", "secret")
    usual = seen_inside.needed
    monkeypatch.setattr(seen_inside, "needed", lambda *, network: (*usual(network=network), str(library)))
    with socket.create_server(("127.0.0.1", 0)) as server, boxed(level, tmp_path, monkeypatch) as box:
        words = [str(secret), str(server.getsockname()[1])]
        code = f"import sys; sys.path.insert(0, {str(library)!r}); import probing; probing.main({words!r})"
        ended = box.run("code", [], b"", Bounds(60.0, 2**30))
        assert ended.cause == "crash"  # there is no such module
        ended = box.run("timeit", ["-n1", "-r1", code], b"", Bounds(60.0, 2**30))
    told = ast.literal_eval(ended.answer.decode().splitlines()[0])
    assert told["secret"] in ("FileNotFoundError", "PermissionError")
    assert told["passwd"] in ("FileNotFoundError", "PermissionError")
    assert "secret" not in told["home"]
    assert told["write"] == "OSError"
    assert told["network"] in ("ConnectionRefusedError", "OSError", "PermissionError")
    assert told["environment"] == "[]"
    assert not (tmp_path / "secret.txt.made").exists()


def test_without_any_sandbox_documents_are_read_within_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "_found", lambda path: levels.Level("none", lacks=("nothing works here",)))
    sandbox = Sandboxes(f"{tmp_path}.attempts", os.environ, list)
    reader = DocumentReader(Boxes(sandbox), ReadLimits(memory=300 * 2**20))
    assert reader.read(str(put(tmp_path, "a.txt", "words"))).parts[0].text == "words"
    with pytest.raises(DocumentError, match="zip bomb"):
        reader.read(str(put(tmp_path, "a.docx", repacked(word(), {"word/big.xml": BOMB}))))
    sandbox.close()


def test_the_zip_maker_of_these_tests_makes_bombs() -> None:
    assert len(packed({"x": BOMB}, zipfile.ZIP_DEFLATED)) < 400_000
