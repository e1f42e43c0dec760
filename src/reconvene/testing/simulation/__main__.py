"""Replays one seed, or tries many and names the first that fails."""

from __future__ import annotations

import argparse
import sys

from reconvene.testing.simulation import Outcome, simulate


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m reconvene.testing.simulation", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", help="replay this one, with its trace")
    parser.add_argument("--seeds", type=int, default=200, help="try so many (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default: 0)")
    given = parser.parse_args(arguments)
    if given.seed is not None:
        outcome = simulate(given.seed)
        print("\n".join(outcome.trace))
        print(_told(outcome))
        return 1 if outcome.wrong else 0
    failed = 0
    for seed in range(given.first, given.first + given.seeds):
        outcome = simulate(seed)
        if outcome.wrong:
            failed += 1
            print(_told(outcome), flush=True)
    print(f"{given.seeds} seeds, {failed} failed")
    return 1 if failed else 0


def _told(outcome: Outcome) -> str:
    rates = ", ".join(f"{kind} {rate:.3f}" for kind, rate in outcome.faults.items())
    lines = [f"seed {outcome.seed}: {outcome.events} events in {outcome.seconds:.0f} s; {rates}; {outcome.digest[:16]}"]
    lines += [f"  does not hold: {what}" for what in outcome.wrong]
    if outcome.wrong:
        lines.append(f"  to replay exactly this: python -m reconvene.testing.simulation {outcome.seed}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
