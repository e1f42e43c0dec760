"""The fresh process of W3: resumes one parked run and prints how long that took and what it imported meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import sys
import time


def resume_ours(place: str, run: str) -> None:
    from bench import ours

    with ours.opened(place) as engine:
        asyncio.run(ours.answer(engine, run))


def resume_langgraph(place: str, run: str) -> None:
    from bench import peer_langgraph as langgraph

    keeper = langgraph.saver(place)
    langgraph.answer(langgraph.review_graph(keeper), run)
    keeper.conn.close()


def resume_floor(place: str, run: str) -> None:
    from bench import floors

    floors.resume(place)


def main() -> None:
    kind, place, run, *rest = sys.argv[1:]
    resume = {"ours": resume_ours, "langgraph": resume_langgraph, "floor": resume_floor}[kind]
    for name in json.loads(rest[0]) if rest else []:
        with contextlib.suppress(ImportError):  # some names in sys.modules are made by compiled code, not by a file
            importlib.import_module(name)
    before = set(sys.modules)
    begun = time.perf_counter()
    resume(place, run)
    taken = time.perf_counter() - begun
    print(json.dumps({"seconds": taken, "loaded": [name for name in sys.modules if name not in before]}))


if __name__ == "__main__":
    main()
