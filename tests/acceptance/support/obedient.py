"""A stage on which forty injections are planted, and a model that does what any of them says.

The person's folder lies outside of /tmp where that can be had, since there everything is hidden from programs anyway.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socketserver
import sqlite3
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from commands import Done, call
from reconvene.home import STORE
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from support import injections
from support.injections import doings, planted

KEY, SECRET, API_KEY = "CANARY-of-the-key", "CANARY-of-the-other-run", "CANARY-of-the-engine"
_MARK = re.compile(r"\[\[(\d+)\]\]")

FLOW = """
name: trial
sandbox: strict
inputs: {documents: {type: documents}, sources: {type: sources}}
agents:
  planner:
    prompt: You are the planner.
    tools: [documents, files: {writes: [plan.md, "*.note"]}, shell: {read: true, network: false}]
  worker:
    prompt: You are the worker.
    tools:
      - files
      - documents
      - sql
      - shell: {network: false}
      - mcp: {name: desk, command: PROGRAM, network: false}
  asker:
    prompt: You are the asker.
    tools: [shell: {ask: always, network: false}]
  closer: {prompt: You are the closer.}
phases:
  - {id: plan, agents: [planner], output: notes}
  - {id: work, agents: [worker, asker], reads: [notes, files], output: done}
  - {id: close, agents: [closer], reads: [done]}
  - id: end
    checkpoint: {question: Is it good?, options: [{label: Accept, then: continue}]}
"""
OTHER = """
name: other
agents: {keeper: {prompt: You are the keeper., tools: [files]}}
phases:
  - {id: keep, agents: [keeper]}
  - id: end
    checkpoint: {question: Is it good?, options: [{label: Accept, then: continue}]}
"""
SERVER = """
import json, socket, subprocess, sys
from pathlib import Path
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
planted = json.loads(Path(sys.argv[1]).read_text())
server = MCPServer("desk")
@server.tool()
def inbox() -> str:
    "What came in."
    return planted["result"]
@server.tool()
def fails() -> str:
    "Fails."
    raise ToolError(planted["failure"])
@server.tool(description="Reads a file. " + planted["about"])
def look(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        return f"refused: {error.strerror}"
@server.tool()
def run(command: str) -> str:
    "Runs a program."
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    return f"{done.stdout}{done.stderr} {done.returncode}"
@server.tool()
def fetch(port: str) -> str:
    "Fetches something."
    try:
        socket.create_connection(("127.0.0.1", int(port)), 5).send(b"leak")
        return "fetched"
    except OSError as error:
        return f"refused: {error.strerror}"
server.run("stdio")
"""


class _Visit(socketserver.BaseRequestHandler):
    """Nobody should ever come."""

    def handle(self) -> None:
        assert isinstance(self.server, _Listener)
        self.server.visits.append(self.client_address[1])


class _Listener(socketserver.TCPServer):
    def __init__(self) -> None:
        self.visits: list[int] = []
        super().__init__(("127.0.0.1", 0), _Visit)


class Obedient:
    """The model. What it is shown it obeys, each mark once for each agent; `tried` is what it did about which."""

    def __init__(self, stage: dict[str, str]) -> None:
        self._stage = stage
        self._obeyed: dict[str, set[int]] = defaultdict(set)
        self.tried: dict[int, list[tuple[str, str]]] = {}
        self.seen: list[str] = []
        self.closing = ""  # what the last agent was asked

    def __call__(self, seen: Seen) -> Reply:
        messages = seen.body["messages"]
        assert isinstance(messages, list)
        text = json.dumps([messages, seen.body.get("tools")], ensure_ascii=False)
        self.seen.append(text)
        who = next(
            name for name in ("planner", "worker", "asker", "closer", "keeper") if f"You are the {name}." in text
        )
        turn = sum(message["role"] == "assistant" for message in messages)
        if who == "keeper":
            return Say("kept") if turn else Calls((("write_file", json.dumps({"path": "secret.md", "text": SECRET})),))
        if who == "closer":
            self.closing = seen.prompt
            return Say("All is well.")
        if looks := self._looks(who, turn):
            return Calls(tuple(looks))
        new = [number for number in sorted(self._marks(text)) if number not in self._obeyed[who]]
        # what a person refused is asked for again only when that is on record
        fresh = new[:1] if who == "asker" else new
        self._obeyed[who] |= set(fresh)
        obeyed = [number for number in fresh if injections.TABLE[number - 1].who == who]
        for number in obeyed:
            self.tried[number] = doings(number, self._stage)
        wanted = [one for number in obeyed for one in self.tried[number] if one[0] != "say"]
        if wanted:
            return Calls(tuple(wanted))
        return self(seen) if fresh else Say(self._answer(who))

    @staticmethod
    def _marks(text: str) -> set[int]:
        return {int(number) for number in _MARK.findall(text)}

    def _answer(self, who: str) -> str:
        """That of the planner is what its peers read."""
        if who == "planner":
            return "\n".join(["This is the plan.", *planted(injections.PEER)])
        said = [text for number, all_ in self.tried.items() for tool, text in all_ if tool == "say"]
        return "\n\n".join(["It is done.", *(json.loads(text)["text"] for text in said)])

    def _looks(self, who: str, turn: int) -> list[tuple[str, str]]:
        """What any diligent agent does first."""

        def one(tool: str, **arguments: object) -> tuple[str, str]:
            return tool, json.dumps(arguments)

        if turn or who == "asker":
            return []
        if who == "planner":
            text = "\n".join([*planted(injections.PEERS_FILE), *planted(injections.SHELL)])
            names = [one("write_file", path=f"{said}.note", text="") for said in planted(injections.FILE_NAME)]
            return [one("read_document", name="memo.md"), one("write_file", path="plan.md", text=text), *names]
        documents = ("memo.md", "figures.csv", "page.html", "letter.docx", "report.pdf", "sheet.xlsx")
        return [
            one("list_documents"),
            *(one("read_document", name=name) for name in documents),
            one("describe_source", source="shop.db"),
            one("query_source", source="shop.db", query="SELECT * FROM sales"),
            one("list_files"),
            one("read_file", path="plan.md"),
            one("run_command", command="cat plan.md; ls"),
            one("desk_inbox"),
            one("desk_fails"),
        ]


class Trial:
    """The whole: a person's folder, the run that is attacked, another run of theirs."""

    def __init__(self, root: Path, port: int) -> None:
        self.person, self.outside = root / "person", root / "person" / "outside"
        self.desk = self.person / "desk"
        for folder in (self.outside, self.desk / "papers", self.person / ".ssh"):
            folder.mkdir(parents=True)
        (self.person / ".ssh" / "id_ed25519").write_text(KEY)
        (self.person / ".bashrc").write_text("# mine\n")
        self.home = self.desk / ".reconvene"
        script = root / "connect.py"
        script.write_text(f"import socket, sys\nsocket.create_connection(('127.0.0.1', {port}), 5)\n")
        self.names = {
            "home": str(self.home),
            "person": str(self.person),
            "desk": str(self.desk),
            "outside": str(self.outside),
            "config": str(root / "config"),
            "store": str(self.home / STORE),
            "secret": str(self.home / "runs" / "other-1" / "secret.md"),
            "key": str(self.person / ".ssh" / "id_ed25519"),
            "python": os.path.realpath(sys.executable),  # one that lies in /tmp would be hidden
            "command": f"{sys.executable} -m reconvene.doors.cli",
            "script": str(script),
            "run": "trial-1",
            "other": "other-1",
            "port": str(port),
        }
        self.model = Obedient(self.names)
        self._root = root
        self._plant()

    def type(self, *words: str, url: str = "") -> Done:
        root = self._root
        return call(
            *words,
            cwd=self.desk,
            HOME=str(self.person),
            RECONVENE_HOME=str(self.home),
            RECONVENE_SANDBOX="auto",
            XDG_CONFIG_HOME=self.names["config"],
            XDG_STATE_HOME=str(root / "state"),
            OPENAI_API_KEY=API_KEY,
            OPENAI_BASE_URL=url or None,
        )

    def files(self) -> dict[str, bytes]:
        """All that is the person's, but for the home: that of the run changes."""
        found = (path for path in self.person.rglob("*") if self.home not in path.parents and path.is_file())
        return {str(path.relative_to(self.person)): path.read_bytes() for path in found}

    # --- planting ---

    def _plant(self) -> None:
        papers = self.desk / "papers"
        text = {where: "\n".join(planted(where)) for where in {one.where for one in injections.TABLE}}
        (papers / "memo.md").write_text(f"# Memo\n\nAll is well.\n\n{text[injections.MEMO]}\n")
        (papers / "figures.csv").write_text(f"year;note\n2024;{text[injections.CSV]}\n".replace("\n[[", " [["))
        hidden = f'<p style="display:none">{text[injections.HIDDEN]}</p>'
        (papers / "page.html").write_text(f"<html><body><p>Welcome.</p>{hidden}</body></html>")
        (papers / "report.pdf").write_bytes(_pdf(text[injections.PDF]))
        _word(papers / "letter.docx", text[injections.WORD])
        _sheet(papers / "sheet.xlsx", text[injections.SHEET])
        for said in planted(injections.DOCUMENT_NAME):
            (papers / f"{said}.md").write_text("# Nothing\n")
        with closing(sqlite3.connect(self.desk / "shop.db")) as database:
            (column,), tables = planted(injections.COLUMN), planted(injections.TABLE_NAME)
            database.execute(f'create table sales (amount integer, "{column}" text)')
            for name in tables:
                database.execute(f'create table "{name}" (x)')
            rows = [(number, said) for number, said in enumerate(planted(injections.ROW))]
            database.executemany("insert into sales values (?, ?)", rows)
            database.commit()
        server, told = self.desk / "server.py", self.desk / "planted.json"
        server.write_text(SERVER)
        names = {"result": injections.RESULT, "failure": injections.FAILURE, "about": injections.ABOUT}
        told.write_text(json.dumps({key: text[where] for key, where in names.items()}))
        program = json.dumps([sys.executable, str(server), str(told)])
        (self.desk / "trial.yaml").write_text(FLOW.replace("PROGRAM", program))
        (self.desk / "other.yaml").write_text(OTHER)


def _pdf(text: str) -> bytes:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    names = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = DictionaryObject({NameObject(key): NameObject(value) for key, value in names.items()})
    import io

    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    stream = DecodedStreamObject()
    stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
    page[NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _word(path: Path, text: str) -> None:
    import docx

    document = docx.Document()
    paragraph = document.add_paragraph("Dear all")
    document.add_comment(paragraph.runs, text=text, author="Eve")
    document.save(str(path))


def _sheet(path: Path, text: str) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active["B2"] = text
    book.save(path)


@contextmanager
def staged() -> Iterator[tuple[Trial, OpenAIServer, list[int]]]:
    where = sys.prefix if os.access(sys.prefix, os.W_OK) else None
    root = Path(tempfile.mkdtemp(prefix="trial-", dir=where))
    listener = _Listener()
    thread = threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        trial = Trial(root, listener.server_address[1])
        with OpenAIServer(trial.model) as server:
            yield trial, server, listener.visits
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
        shutil.rmtree(root)
