"""A run in which everything that an agent or a person can write is hostile."""

from __future__ import annotations

from reconvene.app.engine import Engine
from reconvene.core.facts import commands as c
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow

PAYLOADS = (
    "<script>steal()</script>",
    "<img src=//elsewhere.example/x onerror=steal()>",
    "<svg/onload=steal()>",
    "[click](javascript:steal())",
    "![x](//elsewhere.example/pixel.png)",
    '"><script>steal()</script>',
    "'-steal()-'",
    "{{ 7*7 }}{% include 'x' %}",
    "<iframe srcdoc='<script>steal()</script>'>",
    "</textarea><script>steal()</script>",
    "</title><script>steal()</script>",
    "<a href='java\tscript:steal()'>x</a>",
    "<style>@import '//elsewhere.example'</style>",
    "<base href=//elsewhere.example>",
    "<form action=//elsewhere.example><button>Approve</button></form>",
    "<meta http-equiv=refresh content='0;url=//elsewhere.example'>",
    "<link rel=stylesheet href=//elsewhere.example>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=steal()></style></mglyph></math>",
    "<!--><script>steal()</script>-->",
    "[a]: //elsewhere.example\n[a]",
    "<details open ontoggle=steal()>",
    "<input autofocus onfocus=steal()>",
    "&lt;script&gt;steal()",
    "\u202etxt.exe\u202c <b>bold</b>",
    "```html\n<script>steal()</script>\n```",
    '<https://elsewhere.example/"onmouseover=steal()>',
    "<video><source onerror=steal()>",
    "<object data=//elsewhere.example>",
    "<embed src=//elsewhere.example>",
    "x" * 5_000,
)
ALL = "\n\n".join(PAYLOADS)
ONE_LINE = " ".join(" ".join(PAYLOADS[:-1]).split())
FLOW = """
name: hostile
inputs: {question: {type: text, required: true}}
agents: {writer: {}, rater: {}}
phases:
  - id: draft
    rounds: {max: 5}
    steps: [{agents: [writer, rater], output: said}]
    checkpoint:
      question: "Is it good? {{ context.said.writer }}"
      prompt: "{{ context.said.writer }}"
      show_files: [report.md, list.yaml]
      fields:
        - {each: "[{id: 'f', text: context.said.writer, type: 'choice', options: [context.said.writer]}]", type: item}
      options: [{label: Go on, then: continue}, {label: Once more, then: again}]
"""


def agents() -> ScriptedAgents:
    listed = "- {id: a, text: " + repr(ONE_LINE[:300]).replace("\\", "") + "}\n"
    files = {"report.md": ALL, "list.yaml": listed, "<img src=x onerror=steal()>.md": ALL, "a'\"b.html": ALL}
    rated = f"## Ratings\n\n| Item | Rating | Why |\n|---|---|---|\n| {PAYLOADS[0]} | 3 | {PAYLOADS[1]} |\n"
    again = {"text": ALL + "\n\nNow it is 5.", "files": {**files, "report.md": ALL + "\n\nmore"}}
    return ScriptedAgents(
        {"writer": [{"text": ALL, "files": files}, again], "rater": [rated, rated.replace("| 3 |", "| 9 |")]}
    )


def hostile(engine: Engine) -> str:
    """The run, in its second round, with remarks of hostile people."""
    run = engine.start(parse_workflow(FLOW), {"question": ALL}, by="ann")
    engine.drive_sync(run)
    point = engine.load(run).world.open
    assert point is not None
    said = tuple(c.RemarkIn(text, target=PAYLOADS[0], was=PAYLOADS[1], now=PAYLOADS[2]) for text in PAYLOADS)
    engine.submit(run, c.AnswerCheckpoint(point.id, "Once more", {}, said, by="ann"))
    engine.drive_sync(run)
    for text in PAYLOADS[:10]:
        engine.submit(run, c.AddRemark(c.RemarkIn(text), "<b>ben</b>"))
    return run
