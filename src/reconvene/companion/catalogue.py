"""The companion's tools as a model is told of them: names, tiers, what they are for, what they take. Data only."""

from __future__ import annotations

from reconvene.companion.tool_scope import CompanionTool, Tier

MOST_ROWS = 200
_FROM_LINE: dict[str, object] = {"type": "integer", "minimum": 1, "description": "The first line to show; 1 is usual."}
_FROM_CHARACTER: dict[str, object] = {
    "type": "integer",
    "minimum": 1,
    "description": "Where to begin in that line; for the rest of a line that was too long.",
}
_LINES: dict[str, object] = {"type": "integer", "minimum": 1, "description": "At most so many lines."}
_LIMIT: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "At most so many."}
_AFTER: dict[str, object] = {"type": "integer", "minimum": 0, "description": "Only what comes after this event number."}
_AGENT: dict[str, object] = {"type": "string", "description": "Only this agent's."}
_QUERY: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": 400, "description": "What to look for."}
_COMMIT = "A commit's id as git_log lists it, or at least seven characters of it."
_PAGE = {"from_line": _FROM_LINE, "from_character": _FROM_CHARACTER}


def _text(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


def _tool(name: str, tier: Tier, description: str, takes: dict[str, object], *needs: str) -> CompanionTool:
    schema: dict[str, object] = {"type": "object", "properties": takes, "additionalProperties": False}
    if needs:
        schema["required"] = list(needs)
    return CompanionTool(name, tier, description, schema, reads_only=tier != "drafting")


TOOLS: tuple[CompanionTool, ...] = (
    _tool(
        "read_workspace_file",
        "basic",
        "Read a file of the run's workspace (plan.md, workspace.md, todos.yaml, results) or one of its documents. "
        "Lines are numbered, so that they can be cited.",
        {"path": _text("As list_workspace_files names it."), "lines": _LINES, **_PAGE},
        "path",
    ),
    _tool(
        "list_workspace_files",
        "basic",
        "List the files of the run's workspace, with size, who wrote each and when; and the documents it was given.",
        {"below": _text("Only files in this folder."), "after": _text("Only files after this one, for the next page.")},
    ),
    _tool(
        "search_workspace",
        "basic",
        "Search the workspace, the documents and the agents' outputs for words.",
        {"query": _QUERY, "limit": _LIMIT},
        "query",
    ),
    _tool(
        "vector_search",
        "research",
        "Search the workspace, the documents and the agents' outputs by meaning: where the exact words are unknown.",
        {"query": _QUERY, "limit": _LIMIT},
        "query",
    ),
    _tool(
        "web_search",
        "research",
        "Search the web through the source that the person configured. The person is asked about each query first.",
        {"query": _QUERY},
        "query",
    ),
    _tool(
        "git_log",
        "history",
        "The commits of the run's workspace, newest first: one for each round, to-do, decision and edit.",
        {"limit": _LIMIT, "before": _text(f"Only commits older than this one. {_COMMIT}")},
    ),
    _tool(
        "git_diff",
        "history",
        "What changed in the workspace between two commits, as a unified diff.",
        {
            "old": _text(f"{_COMMIT} Without it, the commit before `new`."),
            "new": _text(f"{_COMMIT} Without it, the newest."),
            "path": _text("Only this file or folder."),
            **_PAGE,
        },
    ),
    _tool(
        "git_show",
        "history",
        "One commit: who, when, why, and what it changed; or, with a path, the file as it was then.",
        {"commit": _text(_COMMIT), "path": _text("A file, to read it as it was at this commit."), **_PAGE},
        "commit",
    ),
    _tool(
        "get_job",
        "debug",
        "The run itself: workflow, status, phase and round, times, what it was given, tokens and cost, errors, what "
        "waits for a person.",
        {},
    ),
    _tool(
        "get_audit_trail",
        "debug",
        "What happened, in order: model calls, tool calls, errors, what people did. Each line has its event number.",
        {
            "kind": {
                "type": "string",
                "enum": ["all", "model", "tool", "error", "person"],
                "description": "Only events of this sort.",
            },
            "agent": _AGENT,
            "after": _AFTER,
            "limit": _LIMIT,
        },
    ),
    _tool(
        "get_chat_history",
        "debug",
        "The agents' turns, in order: what each said, which tools it called, what it gave back; and what the person "
        "said in between.",
        {"agent": _AGENT, "after": _AFTER, "limit": _LIMIT},
    ),
    _tool("get_todos", "debug", "The to-dos: current and those of earlier phases, done and open.", {}),
    _tool(
        "get_graph_changes",
        "debug",
        "What agents changed in graph data sources: when, at which to-do, by which statement, with what counts.",
        {"after": _AFTER, "limit": _LIMIT},
    ),
    _tool(
        "get_llm_request",
        "debug",
        "One call of a model in full: the request as it was sent, or the reply.",
        {
            "event": {"type": "integer", "minimum": 1, "description": "Its event number, from get_audit_trail."},
            "part": {"type": "string", "enum": ["request", "reply"], "description": "Which side; request is usual."},
            **_PAGE,
        },
        "event",
    ),
    _tool(
        "search_audit",
        "debug",
        "Search all that is on record of the run for words: events, outputs, calls of tools, what people said.",
        {"query": _QUERY, "after": _AFTER, "limit": _LIMIT},
        "query",
    ),
    _tool(
        "update_instructions",
        "drafting",
        "Write the instructions of a draft that has not been started, in place of what it says. The person starts it.",
        {"instructions": {"type": "string", "minLength": 1, "maxLength": 100_000, "description": "All of them."}},
        "instructions",
    ),
)
NAMED = {tool.name: tool for tool in TOOLS}
