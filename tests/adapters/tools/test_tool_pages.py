"""The page of a tool, made from its schema: whole, safe, and with an example that fits."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tool_bench import Bench, Entry

from reconvene.adapters.tools import cutting, mcp_pipe, shell_tool
from reconvene.app.tool_pages import page
from reconvene.tool_ports import Toolbox, ToolInfo
from reconvene.wire.replies import validate

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")


def all_tools(bench: Bench) -> tuple[ToolInfo, ...]:
    async def tools(box: Toolbox) -> tuple[ToolInfo, ...]:
        return box.tools()

    return bench.with_([Entry("files"), Entry("shell")], tools)


def test_each_tool_has_a_page_with_an_example_that_fits_it(bench: Bench) -> None:
    for tool in all_tools(bench):
        text = page(tool)
        call = json.loads(re.findall(r"```json\n(.*?)```", text, re.S)[0])
        assert call["tool"] == tool.name
        assert validate(tool.schema, call["arguments"]) == []
        for name in tool.schema["properties"]:  # type: ignore[attr-defined]
            assert f"| `{name}` | " in text


def test_a_page_reads_like_this() -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Which | file.\nReally.", "examples": ["a.md"]},
            "mode": {"enum": ["r", "w"], "type": ["string", "null"]},
            "times": {"type": "integer", "maximum": 5_000},
            "odd": True,
        },
        "required": ["path", "mode"],
    }
    assert page(ToolInfo("go", "mcp", "Does it.", schema, effects=True)) == (
        "# go\n\nDoes it.\n\nIt acts on the world: what it did cannot be taken back.\n\n"
        "| argument | type | needed | meaning |\n|---|---|---|---|\n"
        "| `path` | text | yes | Which \\| file. Really. |\n"
        '| `mode` | text or null | yes | One of "r", "w". |\n'
        "| `times` | whole number | no |  (at most 5,000) |\n"
        "| `odd` | anything | no |  |\n\n"
        'An example:\n\n```json\n{\n  "tool": "go",\n'
        '  "arguments": {\n    "path": "a.md",\n    "mode": "r"\n  }\n}\n```\n'
    )


def test_a_tool_without_arguments_says_so() -> None:
    assert "It takes no arguments." in page(ToolInfo("go", "mcp", "", {"type": "object", "properties": "wrong"}))


def test_the_documentation_names_every_tool_and_the_limits_that_hold(bench: Bench) -> None:
    from reconvene.adapters.tools import document_tools, project_tools, source_tools

    names = {tool.name for tool in all_tools(bench)}
    names |= {*document_tools.NAMES, *source_tools.NAMES, *project_tools.NAMES}
    assert sorted(name for name in names if f"`{name}`" not in PAGE) == []
    for limit in (
        f"{cutting.MOST:,} characters",
        f"{mcp_pipe.MOST_LINE // 2**20} MB",
        f"{shell_tool.LONGEST} s",
        f"{shell_tool.MOST_WRITTEN // 2**20} MB",
    ):
        assert limit in PAGE
