"""LangGraph with its SQLite saver as it ships (WAL) and `durability="sync"`, given the same work to do.

Imports stay inside the functions: without LangGraph installed everything else still runs.
"""

from __future__ import annotations

import asyncio
import operator
import sqlite3
import time
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig

    from bench.stepper import Turn


class Loop(TypedDict):
    n: int
    text: str


class History(TypedDict):
    n: int
    texts: Annotated[list[str], operator.add]


class Fan(TypedDict):
    round: int
    texts: Annotated[list[str], operator.add]


class Review(TypedDict):
    draft: str
    review: str


def config(thread: str, limit: int = 100) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}, "recursion_limit": limit}


def saver(path: Path | str) -> Any:
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver(sqlite3.connect(path, check_same_thread=False))


def stepped(path: Path, count: int, turn: Turn) -> None:
    """One node visited `count` times."""
    _loop(path, count, turn, Loop, {"text": ""}, {"text": "done"})


def growth(path: Path, count: int, turn: Turn) -> None:
    """The same, keeping every output in the state, as the messages of a conversation are kept."""
    _loop(path, count, turn, History, {"texts": []}, {"texts": ["done"]})


def _loop(path: Path, count: int, turn: Turn, state: type, begin: dict[str, object], output: dict[str, object]) -> None:
    from langgraph.graph import END, START, StateGraph

    def work(state: Any) -> dict[str, object]:
        turn()
        return {"n": state["n"] + 1, **output}

    builder: Any = StateGraph(state)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    builder.add_conditional_edges("work", lambda state: "work" if state["n"] < count else END)
    keeper = saver(path)
    graph = builder.compile(checkpointer=keeper)
    graph.invoke({"n": 0, **begin}, config("run", count + 10), durability="sync")
    keeper.conn.close()


def fanout(path: Path, agents: int, rounds: int, seconds: float) -> float:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    async def worker(_: object) -> dict[str, object]:
        await asyncio.sleep(seconds)
        return {"texts": ["done"]}

    def spread(state: Fan) -> Any:
        return [Send("worker", {}) for _ in range(agents)] if state["round"] <= rounds else END

    builder: Any = StateGraph(Fan)
    builder.add_node("turn", lambda state: {"round": state["round"] + 1})
    builder.add_node("worker", worker)
    builder.add_edge(START, "turn")
    builder.add_conditional_edges("turn", spread, ["worker", END])
    builder.add_edge("worker", "turn")

    async def all_rounds() -> float:
        async with AsyncSqliteSaver.from_conn_string(str(path)) as keeper:
            graph = builder.compile(checkpointer=keeper)
            await graph.ainvoke({"round": rounds, "texts": []}, config("warm"), durability="sync")
            begun = time.perf_counter()
            await graph.ainvoke({"round": 0, "texts": []}, config("run"), durability="sync")
            return time.perf_counter() - begun

    return asyncio.run(all_rounds())


def review_graph(keeper: Any) -> Any:
    """Two agents, a person's approval after each."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    def ask(_: Review) -> dict[str, object]:
        interrupt({"prompt": "Continue with next phase?", "options": ["Continue", "Abort"]})
        return {}

    builder: Any = StateGraph(Review)
    builder.add_node("writer", lambda _: {"draft": "done"})
    builder.add_node("ask_draft", ask)
    builder.add_node("reviewer", lambda _: {"review": "done"})
    builder.add_node("ask_review", ask)
    for before, after in zip(
        (START, "writer", "ask_draft", "reviewer", "ask_review"), ("writer", "ask_draft", "reviewer", "ask_review", END)
    ):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=keeper)


def park(graph: Any, thread: str) -> None:
    graph.invoke({"draft": "", "review": ""}, config(thread), durability="sync")


def answer(graph: Any, thread: str) -> None:
    from langgraph.types import Command

    graph.invoke(Command(resume="Continue"), config(thread), durability="sync")


def inbox(keeper: Any) -> list[str]:
    """LangGraph keeps no list of waiting threads: the newest checkpoint of each thread has to be looked at."""
    newest: dict[str, Any] = {}
    for found in keeper.list(None):
        newest.setdefault(found.config["configurable"]["thread_id"], found)
    return [
        thread
        for thread, found in newest.items()
        if any(channel == "__interrupt__" for _, channel, _ in found.pending_writes or [])
    ]
