"""A home with runs that wait at very different checkpoints, made from the packaged recordings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from commands import call

CALLS = "job-1-fork-1"
DEBT = "correction: Debt is £150M, not £100M"
GAP = "Does the all-electric furnace still fit inside the covenant?"
CONTEXT = "new context: Some pages are only a warning and a drawing, less than 200 characters in all."


class Waits(NamedTuple):
    """A workflow, and what is decided until the stop that is wanted."""

    workflow: str
    run: str
    answers: str = ""


STOPS = (
    Waits("job", "job-1"),  # first: what it is given lies in the home, and a home with runs in it gives no material
    Waits(
        "scenario-planning", "SCENARIO-2026-001",
        f'- {{option: That is right}}\n- {{option: One more round, feedback: ["{DEBT}"], fields: {{gap: "{GAP}"}}}}\n',
    ),
    Waits("spec-refinement", "SPEC-2026-001", f'- option: Begin\n- {{option: Continue, feedback: ["{CONTEXT}"]}}\n'),
    Waits("market-entry", "market-entry-1"),
    Waits("quality-gate", "quality-gate-1"),
    Waits("review-before-changes", "review-before-changes-1"),
    Waits("brainstorm", "brainstorm-1"),
)  # fmt: skip
TO_DECIDE = tuple(Waits("quality-gate", f"quality-gate-{number}") for number in range(2, 9))


def furnish(folder: Path, stops: tuple[Waits, ...] = STOPS) -> Path:
    """The home below this folder. One call of the command line each, in this process."""
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / ".reconvene"
    for stop in stops:
        given: list[str] = []
        if stop.answers:
            file = folder / f"{stop.workflow}.yaml"
            file.write_text(stop.answers, encoding="utf-8")
            given = ["--answers", str(file)]
        done = call(
            "--home", str(home), "run", stop.workflow, "--recorded", "--no-input", "--by", "ann", *given,
            cwd=folder, RECONVENE_DEMO_SPEED="0", RECONVENE_SANDBOX="off",
        )  # fmt: skip
        assert done.code == 3, (stop.workflow, done)
    return home


def wait_at_a_call(folder: Path, home: Path) -> None:
    """A fork of the job whose plan is approved: its worker soon wants to run a command."""
    own = {"cwd": folder, "RECONVENE_DEMO_SPEED": "0", "RECONVENE_SANDBOX": "off"}
    events = call("--home", str(home), "log", "job-1", "--json", **own).out.splitlines()
    call("--home", str(home), "fork", "job-1", "--at", str(len(events)), "--by", "ann", **own)
    words = ("decide", CALLS, "--option", "Approve", "--latest", "--by", "ann")
    done = call("--home", str(home), *words, **own)
    assert "Shall this call be made?" in done.out, done
