"""Documents and sources of data through tools, with the real readers: places, limits, and that only a graph changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from tool_bench import Bench, Entry

from reconvene.adapters.box import Boxes
from reconvene.adapters.documents import DocumentReader
from reconvene.adapters.sandbox import levels
from reconvene.adapters.sources import open_graph, open_source
from reconvene.adapters.sources.folder_source import FolderSource
from reconvene.adapters.tools import Reach
from reconvene.adapters.tools.cutting import MOST
from reconvene.app import cited_places
from reconvene.errors import UserError
from reconvene.material_ports import Folder, Graph, Source
from reconvene.ports import Assignment
from reconvene.tool_ports import Toolbox, ToolInfo, ToolResult
from reconvene.wire.shown_documents import read_back

DOCUMENTS, SQL, GRAPH = Entry("documents"), Entry("sql"), Entry("graph")


@pytest.fixture
def papers(bench: Bench) -> Path:
    """A folder that the agent was given beside its own."""
    folder = bench.root / "papers"
    (folder / "sub").mkdir(parents=True)
    (folder / "page.html").write_text("<h1>Lease</h1><p>The rent is 7,000.</p>")
    (folder / "sub" / "table.csv").write_text("year,debt\n2024,100\n2025,150\n")
    (bench.root / "secret.txt").write_text("the secret")
    (folder / "link.txt").symlink_to(bench.root / "secret.txt")
    reader = DocumentReader(Boxes(bench.sandbox))

    def folders(assignment: Assignment, options: Mapping[str, object]) -> Mapping[str, Folder]:
        return {"papers": FolderSource(str(folder), reader)}

    bench.reach = Reach(documents=reader, folders=folders)
    return folder


def test_documents_are_listed_read_by_place_and_searched(bench: Bench, papers: Path) -> None:
    bench.files = {"notes.md": b"# Notes\n\nDebt is 100M.\n"}
    listed, own, given, found = bench.calls(
        DOCUMENTS,
        ("list_documents", {}),
        ("read_document", {"name": "notes.md"}),
        ("read_document", {"name": "papers:page.html"}),
        ("search_documents", {"text": "DEBT"}),
    )
    assert listed.text.splitlines()[:3] == [
        "notes.md (23 bytes)", "papers:page.html (39 bytes)", "papers:sub/table.csv (28 bytes)",
    ]  # fmt: skip
    assert own.text.splitlines()[0].startswith("[notes.md: text/markdown, ")
    assert "Debt is 100M." in own.text
    assert "The rent is 7,000." in given.text
    assert [line.partition(" [")[0] for line in found.text.splitlines()[:2]] == ["notes.md", "papers:sub/table.csv"]
    assert "not searched" not in found.text


def test_what_does_not_fit_goes_on_from_a_place(bench: Bench, papers: Path) -> None:
    bench.files = {"long.txt": b"".join(b"line %d %s\n" % (n, b"y" * 100) for n in range(2_000))}
    (first,) = bench.calls(DOCUMENTS, ("read_document", {"name": "long.txt"}))
    assert len(first.text) <= MOST
    place = first.text.rpartition("go on with place '")[2].rstrip("']")
    second, wrong = bench.calls(
        DOCUMENTS,
        ("read_document", {"name": "long.txt", "place": place}),
        ("read_document", {"name": "long.txt", "place": "p. 99"}),
    )
    assert second.text.splitlines()[1] == f"[{place}]"
    assert wrong.failed
    assert "long.txt has no place 'p. 99'. It has lines" in wrong.text


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "papers:../secret.txt", "papers:link.txt", "papers:/etc/passwd", "/etc/passwd", "other:page.html",
     "papers:", "none.pdf", ".git/config", "papers:sub"],
)  # fmt: skip
def test_no_document_outside_can_be_read(bench: Bench, papers: Path, name: str) -> None:
    result = bench.call(DOCUMENTS, "read_document", name=name)
    assert result.failed
    assert "the secret" not in result.text
    assert "root:" not in result.text


def test_a_document_that_is_damaged_is_told_and_does_not_stop_a_search(bench: Bench, papers: Path) -> None:
    bench.files = {"bad.pdf": b"%PDF-1.7\n" + b"\0" * 100, "good.txt": b"debt\n"}
    read, found = bench.calls(DOCUMENTS, ("read_document", {"name": "bad.pdf"}), ("search_documents", {"text": "debt"}))
    assert read.failed
    assert "good.txt" in found.text
    assert "[not searched: bad.pdf:" in found.text


def test_a_file_that_was_changed_is_read_anew(bench: Bench, papers: Path) -> None:
    bench.files = {"a.txt": b"before"}

    async def work(box: Toolbox) -> list[str]:
        first = await box.call("read_document", {"name": "a.txt"})
        await box.call("write_file", {"path": "a.txt", "text": "after!"})
        return [first.text, (await box.call("read_document", {"name": "a.txt"})).text]

    first, second = bench.with_([DOCUMENTS, Entry("files")], work)
    assert "before" in first
    assert "after!" in second


# --- sources ---


@pytest.fixture
def sales(bench: Bench) -> Path:
    path = bench.root / "sales.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE sales (id INTEGER PRIMARY KEY, year INTEGER, amount REAL, note TEXT)")
        database.executemany(
            "INSERT INTO sales (year, amount, note) VALUES (?, ?, ?)",
            [(2020 + n % 5, n * 1.5, f'a "{n}"\nsecond line') for n in range(2_000)],
        )
    database.close()
    box = Boxes(bench.sandbox)

    def sources(assignment: Assignment, entry: str, options: Mapping[str, object]) -> Mapping[str, Source | Graph]:
        if entry == "graph":
            return {"people": open_graph(str(bench.root / "people.lbdb"), box)}
        if options.get("missing"):
            raise UserError("There is no source 'missing'.")
        found = open_source(str(path), box, DocumentReader(box))
        assert not isinstance(found, FolderSource)
        return {"sales": found}  # type: ignore[dict-item]

    bench.reach = Reach(sources=sources)
    return path


def test_a_source_is_listed_described_and_asked(bench: Bench, sales: Path) -> None:
    listed, described, asked, cut = bench.calls(
        SQL,
        ("list_sources", {}),
        ("describe_source", {"source": "sales"}),
        ("query_source", {"source": "sales", "query": "SELECT year, count(*) AS n FROM sales GROUP BY year LIMIT 2"}),
        ("query_source", {"source": "sales", "query": "SELECT * FROM sales ORDER BY id", "limit": 3}),
    )
    assert listed.text == "sales (sqlite)"
    assert described.text.splitlines()[:2] == ["sales (table, 2,000 rows)", "  id INTEGER (key)"]
    assert asked.text.splitlines() == ['["year", "n"]', "[2020, 400]", "[2021, 400]", "[2 rows]"]
    assert cut.text.splitlines()[1] == r'[1, 2020, 0.0, "a \"0\"\nsecond line"]'
    assert len(cut.text.splitlines()) == 6  # a head, three rows, their number, and that there are more


@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("sales", "DELETE FROM sales"),
        ("sales", "DROP TABLE sales"),
        ("sales", "UPDATE sales SET amount = 0"),
        ("sales", "SELECT 1; DELETE FROM sales"),
        ("sales", "ATTACH DATABASE '/etc/passwd' AS other"),
        ("sales", "PRAGMA writable_schema = 1"),
        ("sales", "SELECT load_extension('/tmp/x')"),
        ("sales", "this is no query"),
        ("other", "SELECT 1"),
    ],
)
def test_what_does_not_only_read_is_refused(bench: Bench, sales: Path, source: str, query: str) -> None:
    before = sales.read_bytes()
    result = bench.call(SQL, "query_source", source=source, query=query)
    assert result.failed or "writable_schema" in query
    assert sales.read_bytes() == before


def test_a_large_result_is_cut_and_said(bench: Bench, sales: Path) -> None:
    query = "SELECT id, hex(zeroblob(200)) FROM sales"
    result = bench.call(SQL, "query_source", source="sales", query=query, limit=1_000)
    assert len(result.text) <= MOST
    assert "more rows; ask for less]" in result.text


def test_only_a_graph_can_be_changed_and_the_counts_are_told(bench: Bench, sales: Path) -> None:
    if levels.find(bench.environ).name == "none":
        pytest.skip("graph files are only opened in a sandbox, and there is none here")
    ladybug = pytest.importorskip("ladybug")
    ladybug.Database(str(bench.root / "people.lbdb")).close()

    async def work(box: Toolbox) -> tuple[dict[str, ToolInfo], list[ToolResult]]:
        calls = [
            ("change_graph", {"source": "people", "change": "CREATE NODE TABLE Person(name STRING PRIMARY KEY)"}),
            ("change_graph", {"source": "people", "change": "CREATE (:Person {name: 'Ann'}), (:Person {name: 'Bo'})"}),
            ("query_source", {"source": "people", "query": "MATCH (p:Person) RETURN p.name ORDER BY p.name"}),
            ("change_graph", {"source": "sales", "change": "DELETE FROM sales"}),
            ("change_graph", {"source": "people", "change": "no such words"}),
        ]
        return {tool.name: tool for tool in box.tools()}, [await box.call(name, given) for name, given in calls]

    tools, results = bench.with_([SQL, GRAPH], work)
    table, made, asked, refused, wrong = results
    assert tools["change_graph"].effects
    assert not tools["query_source"].effects
    assert table.counts == {"tables_created": 1}
    assert made.counts["nodes_created"] == 2
    assert '["Ann"]\n["Bo"]' in asked.text
    assert refused.text == "sales can only be read."
    assert wrong.failed


def test_a_graph_that_is_only_read_has_no_tool_to_change_it(bench: Bench, sales: Path) -> None:
    result = bench.call(Entry("graph", {"read": True}), "change_graph", source="people", change="x")
    assert "There is no tool 'change_graph'" in result.text


def test_a_folder_is_named_among_the_sources_with_how_it_is_read(bench: Bench, sales: Path, papers: Path) -> None:
    folders = bench.reach.folders
    database = open_source(str(sales), Boxes(bench.sandbox), DocumentReader(Boxes(bench.sandbox)))

    def sources(assignment: Assignment, entry: str, options: Mapping[str, object]) -> Mapping[str, Source | Graph]:
        return {"sales": database}  # type: ignore[dict-item]

    bench.reach = bench.reach._replace(sources=sources)

    async def work(box: Toolbox) -> list[str]:
        calls = [
            ("list_sources", {}),
            ("describe_source", {"source": "papers"}),
            ("query_source", {"source": "papers", "query": "SELECT 1"}),
            ("query_source", {"source": "paper", "query": "SELECT 1"}),
        ]
        return [(await box.call(name, given)).text for name, given in calls]

    how = "read it with list_documents, read_document and search_documents"
    listed, described, asked, wrong = bench.with_([SQL, DOCUMENTS], work)
    assert listed == f"sales (sqlite)\npapers (folder; {how})"
    assert described.splitlines()[:3] == [
        f"papers (folder, 2 files; {how})", "  papers:page.html (39 bytes)", "  papers:sub/table.csv (28 bytes)",
    ]  # fmt: skip
    assert "link.txt" in described  # left out, and said
    assert asked == f"papers is a folder and answers no query; {how}."
    assert wrong == "There is no source 'paper'. There are: sales, papers."
    assert bench.call(SQL, "list_sources").text.endswith("papers (folder; you have no tools that read it)")
    bench.reach = Reach(documents=bench.reach.documents, folders=folders)
    assert bench.call(SQL, "list_sources").text.startswith("papers (folder;")
    assert "nothing opens sources of data here" in bench.call(SQL, "query_source", source="papers", query="x").text


def test_what_was_shown_of_a_document_is_read_back_as_it_was(bench: Bench, papers: Path) -> None:
    rows = "".join(f"{number};[p. {number}]\n[p. 9]\n  [x]\n\n" for number in range(60))
    (papers / "a.csv").write_text(f"id;text\n{rows}")
    shown = bench.call(DOCUMENTS, "read_document", name="papers:a.csv").text
    assert bench.reach.documents is not None
    kept = bench.reach.documents.read("a.csv", within=str(papers))
    found = read_back("papers:a.csv", shown)
    assert found is not None
    assert (found.media, found.notes) == ("text/csv", kept.notes)
    assert [part.place for part in found.parts] == [part.place for part in kept.parts]
    assert cited_places.numbered(found) == cited_places.numbered(kept)
    assert shown.count("\n[header: id;text]\n") == len(kept.parts) - 1
    assert read_back("papers:b.csv", shown) is None


def test_a_source_that_is_not_there_is_told(bench: Bench, sales: Path) -> None:
    result = bench.call(Entry("sql", {"missing": True}), "query_source", source="x", query="SELECT 1")
    assert result.text == "query_source cannot be used here: There is no source 'missing'."
    bench.reach = Reach()
    assert "nothing opens sources of data here" in bench.call(SQL, "list_sources").text
    assert "nothing reads documents here" in bench.call(DOCUMENTS, "list_documents").text
