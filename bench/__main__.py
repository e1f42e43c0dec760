"""`python -m bench`: runs the workloads and prints one table. With `--strict`, exit code 1 where a target is missed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

from bench.harness import PEERS, ROOT, SIDES, Options, Row, as_json, progress, table

WORKLOADS = {
    "W1": "bench.w1_steps",
    "W2": "bench.w2_fanout",
    "W3": "bench.w3_resume",
    "W4": "bench.w4_parked",
    "W5": "bench.w5_growth",
    "W6": "bench.w6_start",
    "W7": "bench.w7_prompts",
    "W8": "bench.w8_growth",
    "W9": "bench.w9_service",
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", metavar="W1,W3", help="these workloads alone")
    parser.add_argument(
        "--quick", action="store_true", help="fewer samples and smaller workloads: a look, not a result"
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--sides", default=",".join(SIDES), help="who takes part (default: %(default)s)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a target is missed")
    parser.add_argument("--dir", default=str(ROOT / "build" / "bench"), help="where databases go; must be a real disk")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    chosen = [name.strip().upper() for name in given.only.split(",") if name.strip()] or list(WORKLOADS)
    unknown = [name for name in chosen if name not in WORKLOADS]
    if unknown:
        print(f"no such workload: {', '.join(unknown)}. There are {', '.join(WORKLOADS)}.", file=sys.stderr)
        return 64
    Path(given.dir).mkdir(parents=True, exist_ok=True)
    options = Options(folder=Path(given.dir), quick=given.quick, sides=_sides(given.sides.split(",")))
    rows: list[Row] = []
    for name in chosen:
        module = importlib.import_module(WORKLOADS[name])
        progress(f"{name}: {module.TITLE} …")
        rows += module.measure(options)
    print(as_json(rows) if given.json else table(rows))
    return 1 if given.strict and any(row.mark == "over" for row in rows) else 0


def _sides(asked: list[str]) -> tuple[str, ...]:
    missing = [peer for peer in PEERS if peer in asked and importlib.util.find_spec(peer) is None]
    for peer in missing:
        progress(f"{PEERS[peer]} is not installed (make bench installs it): its columns stay empty")
    return tuple(side for side in asked if side not in missing)


if __name__ == "__main__":
    sys.exit(main())
