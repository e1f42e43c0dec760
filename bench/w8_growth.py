"""W8: what ten times the work costs: remarks, files, gaps, rounds. Work that is linear costs ten times as much; the
bound is twelve. What should not depend on the size at all is bounded by two, and what handles a hundred times the text
by twenty.

Small and large take turns. Every operation opens the home anew, as a command does; its own preparation (copying the
home, deciding before a drive) is left out of the time.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.harness import Options, Row, in_turn, progress

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.ports import Answer, Assignment, Listener

TITLE = "growth: ten times the remarks, files, gaps, rounds"
LINEAR, FLAT, SQUARE = 12.0, 2.0, 20.0
AGENTS, SAID = 7, 5  # agents of a round, remarks after each
BENCH = "bench"

Prepare = Callable[[Path, int], None]
Timed = Callable[[Path, int], float]


class Operation(NamedTuple):
    what: str
    run: Timed  # gives seconds, or bytes
    bound: float = LINEAR
    unit: str = "ms"
    again: bool = False  # on the home as the sample before left it; otherwise as it was prepared
    once: bool = False  # costs much, or is no time: fewer samples


class Dimension(NamedTuple):
    name: str
    sizes: tuple[int, int]
    prepare: Prepare
    operations: tuple[Operation, ...]


# --- the workflows and those who work in them ---

_NAMES = [f"a{number}" for number in range(1, AGENTS + 1)]
ROUNDS = f"""
name: rounds
limits: {{rounds: 100000, calls: 1000000, concurrency: 1000}}
files: [{{path: context.md, template: context.md}}]
agents: {{{", ".join(f"{name}: {{prompt: You are {name}.}}" for name in _NAMES)}}}
phases:
  - id: work
    agents: [{", ".join(_NAMES)}]
    rounds: {{max: 100000}}
    checkpoint:
      options:
        - {{label: Again, remark: optional, recommend: feedback.major, then: again}}
        - {{label: Continue, then: continue}}
"""
CONTEXT = """# Context
{% for said in feedback.all %}
## {{ said.id }} ({{ said.kind }}, {{ said.phase }} round {{ said.round }})

{{ said.text }}
{% endfor %}"""
FILES = """
name: files
limits: {rounds: 100000, calls: 1000000}
agents: {a1: {}, a2: {}}
phases:
  - {id: write, agents: [a1], checkpoint: {approval_required: true}}
  - id: read
    agents: [a2]
    rounds: {max: 100000}
    checkpoint: {options: [{label: Again, remark: optional, then: again}]}
"""
GAPS = """
name: gaps
inputs: {gaps: text}
limits: {rounds: 100000, calls: 1000000}
agents: {engineer: {retries: 0}, reviewer: {retries: 0}}
phases:
  - id: refine
    rounds: {max: 100000}
    track: {kit: gaps, into: gaps, given: inputs.gaps, proposals: proposals, review: review}
    steps: [{agents: [engineer], output: proposals}, {agents: [reviewer], output: review}]
    checkpoint: {options: [{label: Again, remark: optional, then: again}]}
"""
_WORDS = """
recovery agent failure retry queue order limit timeout digest prompt schema report figure budget owner review
verdict section header payload encoding locale currency rounding archive backup restore token session login
password account invoice refund shipment carrier address region language font margin colour contrast keyboard
screen reader export import filter search index cache replica leader quorum clock drift lease heartbeat signal
handler buffer socket proxy certificate cipher key rotation audit trail retention consent deletion anonymity
sampling threshold alert pager runbook deploy rollback canary toggle migration column table view trigger
cursor batch stream window watermark
""".split()


def remark(number: int) -> str:
    word = _WORDS[number * 7 % len(_WORDS)]
    return f"The harbour of region {number} stays closed for {number % 29 + 2} weeks, and the {word} was left out."


def note(work: Assignment) -> str:
    """What an agent of a round says: of one length, never twice the same."""
    random_ = random.Random(f"{work.task}")
    return f"# {work.task}\n\n" + " ".join(random_.choices(_WORDS, k=60))


def listed_gaps(count: int) -> str:
    random_ = random.Random(count)
    lines = []
    for number in range(1, count + 1):
        words = random_.sample(_WORDS, 5)
        lines.append(
            f"- GAP-FLOW-{number:03d} (HIGH): The {words[0]} {words[1]} has no {words[2]} for {words[3]} {words[4]}"
        )
    return "# Gaps\n\n" + "\n".join(lines) + "\n"


def proposals(count: int) -> str:
    parts = [
        f"## Gap Resolution: GAP-FLOW-{number:03d}\n\n**Gap:** {_WORDS[number % 90]}\n\n**Confidence:** HIGH\n\n"
        f"### Proposed Solution\nKeep the {_WORDS[number * 3 % 90]} for {number} hours, then ask.\n\n"
        "### Examples\n```\nretry = 2\n```\n\n### Trade-offs\nIt takes longer.\n\n### New Gaps Introduced\nNone.\n"
        for number in range(1, count + 1)
    ]
    return "\n".join(parts)


def review(count: int) -> str:
    verdicts = [f"{number}. GAP-FLOW-{number:03d}: it - **needs revision**: say who" for number in range(1, count + 1)]
    return "## Review: Round 1\n\n" + "\n".join(verdicts) + "\n\n- [x] Examples are there\n\n**REVISE**\n"


@contextmanager
def opened(home: Path, size: int) -> Iterator[Engine]:
    """An engine of its own, with agents that answer at once and keep nothing of what they were asked."""
    from reconvene.testing.scripted import ScriptedAgents
    from reconvene.wiring import open_engine

    class Forgetful(ScriptedAgents):
        async def run(self, assignment: Assignment, listener: Listener) -> Answer:
            self.calls.clear()
            return await super().run(assignment, listener)

    files = {f"notes/{n % 20:02d}/{n:04d}.md": f"# Note {n}\n" + f"Found out: {n}. " * 8 for n in range(size)}
    replies = {
        "a1": lambda work: {"text": "done", "files": files} if work.phase == "write" else note(work),
        "engineer": lambda work: proposals(size),
        "reviewer": lambda work: review(size),
    }
    engine = open_engine(str(home), runner=Forgetful(replies, default=note))
    try:
        yield engine
    finally:
        asyncio.run(engine.close())


def the_run(engine: Engine) -> str:
    (row,) = engine.log.index()
    return row.run


def start(engine: Engine, text: str, inputs: dict[str, object] | None = None) -> str:
    from reconvene.wire.workflow_file import parse_workflow

    made = parse_workflow(text, "bench.yaml", {"templates/context.md": CONTEXT})
    return engine.start(made, inputs or {}, by=BENCH, door=BENCH)


def drive(engine: Engine, run: str) -> None:
    state = asyncio.run(engine.drive(run))
    assert state.status == "waiting", f"the run is {state.status}, not waiting"


def say(engine: Engine, run: str, number: int) -> None:
    from reconvene.core.facts.commands import AddRemark, RemarkIn

    engine.submit(run, AddRemark(RemarkIn(remark(number)), by=BENCH, door=BENCH))


def decide(engine: Engine, run: str, option: str = "Again", said: range = range(0)) -> None:
    from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn

    remarks = tuple(RemarkIn(remark(number)) for number in said)
    engine.submit(run, AnswerCheckpoint(checkpoint="", option=option, remarks=remarks, by=BENCH, door=BENCH))


def rounds(home: Path, count: int, said: int = SAID * 1_000_000) -> float:
    """Seconds of `count` rounds in one process, with remarks after each until so many are said."""
    with opened(home, count) as engine:
        begun = time.perf_counter()
        run = start(engine, ROUNDS)
        drive(engine, run)
        for number in range(1, count):
            decide(engine, run, said=range(number * SAID, min(said, (number + 1) * SAID)))
            drive(engine, run)
        return time.perf_counter() - begun


# --- preparing a home of a size ---


def with_remarks(home: Path, count: int) -> None:
    """All said at the first checkpoint, and one round with them."""
    with opened(home, count) as engine:
        run = start(engine, ROUNDS)
        drive(engine, run)
        decide(engine, run, said=range(count - 1))
        drive(engine, run)


def with_files(home: Path, count: int) -> None:
    with opened(home, count) as engine:
        run = start(engine, FILES)
        drive(engine, run)
        decide(engine, run, "Continue")
        drive(engine, run)
        engine.commit_history(run)


def with_gaps(home: Path, count: int) -> None:
    with opened(home, count) as engine:
        run = start(engine, GAPS, {"gaps": listed_gaps(count)})
        drive(engine, run)


def with_rounds(home: Path, count: int) -> None:
    rounds(home, count)
    with opened(home, count) as engine:
        engine.commit_history(the_run(engine))


# --- what is timed ---


def one_by_one(home: Path, count: int) -> float:
    """All remarks at one checkpoint, each on its own."""
    with opened(home / "anew", count) as engine:
        run = start(engine, ROUNDS)
        drive(engine, run)
        begun = time.perf_counter()
        for number in range(count):
            say(engine, run, number)
        return time.perf_counter() - begun


Work = Callable[["Engine", str], object]


def timed(work: Work, before: Work | None = None, clock: Callable[[], float] = time.perf_counter) -> Timed:
    def run(home: Path, size: int) -> float:
        if before is not None:
            with opened(home, size) as engine:
                before(engine, the_run(engine))
        with opened(home, size) as engine:
            found = the_run(engine)
            begun = clock()
            work(engine, found)
            return clock() - begun

    return run


def reckoned(work: Work) -> Timed:
    """What only reads and reckons, by the processor's clock: on a busy machine the small one fits into a slice of its
    time and the large one does not, which says nothing of either."""
    return timed(work, clock=time.process_time)


def add_remark(engine: Engine, run: str) -> None:
    say(engine, run, 123_456)


def ledger(engine: Engine, run: str) -> None:
    from reconvene.app.measures import ledger as of

    of(engine, run).lines()


def show(engine: Engine, run: str) -> None:
    """What `show` reads: where the run stands, and what is to be known before a decision."""
    from reconvene.app import measures as review
    from reconvene.app import queries

    queries.show(engine, run)
    review.review(engine, run)


def stats(engine: Engine, run: str) -> None:
    from reconvene.app.measures import stats as of

    of(engine, run)


def history(engine: Engine, run: str) -> None:
    engine.commit_history(run)


def look(engine: Engine, run: str) -> None:
    assert engine.scan(run, by=BENCH, door=BENCH) == [], "files changed that nobody touched"


def look_at_edit(engine: Engine, run: str) -> None:
    assert len(engine.scan(run, by=BENCH, door=BENCH)) == 1, "one file was edited"


def edit_one(engine: Engine, run: str) -> None:
    path = Path(engine.load(run).workspace) / "notes" / "00" / "0000.md"
    path.write_text(f"edited at {time.time_ns()}\n")


def view_gaps(engine: Engine, run: str) -> None:
    from reconvene.app.kit_views import tracked
    from reconvene.kits.gaps.records import opened

    assert opened(tracked(engine, run, "gaps").value).gaps


def take_in(home: Path, size: int) -> float:
    from reconvene.kits.gaps.tracker import Config, Sources, track

    text = listed_gaps(size)
    begun = time.process_time()
    value = track(None, Sources(round=0, given=text), Config())
    taken = time.process_time() - begun
    assert value["total"] == size, f"{value['total']} gaps, not {size}"
    return taken


def decide_and_drive(engine: Engine, run: str) -> None:
    decide(engine, run)
    drive(engine, run)


def all_rounds(home: Path, size: int) -> float:
    return rounds(home / "anew", size, said=20 * SAID)


def all_rounds_and_remarks(home: Path, size: int) -> float:
    return rounds(home / "anew", size)


def decide_in_process(home: Path, size: int) -> float:
    """By the process that drove the round before."""
    with opened(home, size) as engine:
        run = the_run(engine)
        decide(engine, run)
        drive(engine, run)
        begun = time.perf_counter()
        decide(engine, run)
        return time.perf_counter() - begun


def in_use(home: Path, size: int = 0) -> float:
    """Bytes of the rows: pages would hide what a short run costs."""
    reader = sqlite3.connect(home / "reconvene.db")
    pages, page, free = (
        reader.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size", "freelist_count")
    )
    reader.close()
    return float((pages - free) * page)


def last_round_bytes(home: Path, size: int) -> float:
    """What one more round with remarks adds, as the mean of eight: pages come whole."""
    before = in_use(home)
    more = 8
    with opened(home, size) as engine:
        run = the_run(engine)
        for number in range(size, size + more):
            decide(engine, run, said=range(number * SAID, (number + 1) * SAID))
            drive(engine, run)
    return (in_use(home) - before) / more


DIMENSIONS = (
    Dimension(
        "remarks",
        (100, 1_000),
        with_remarks,
        (
            Operation("all of them, one by one", one_by_one, once=True),
            Operation("one more remark", timed(add_remark)),
            Operation("the next round: seven prompts", timed(drive, before=decide)),
            Operation("ledger", reckoned(ledger)),
            Operation("show", reckoned(show)),
            Operation("database", in_use, unit="KB", once=True),
        ),
    ),
    Dimension(
        "files",
        (100, 1_000),
        with_files,
        (
            Operation("a look, nothing changed", reckoned(look), again=True),
            Operation("a look, one changed", timed(look_at_edit, before=edit_one), again=True),
            Operation("decide and drive, nothing changed", timed(decide_and_drive), again=True),
            Operation("history with nothing new", reckoned(history), again=True),
            Operation("database", in_use, unit="KB", once=True, again=True),
        ),
    ),
    Dimension(
        "gaps",
        (50, 500),
        with_gaps,
        (
            Operation("taking in a list", take_in, again=True),
            Operation("a round", timed(drive, before=decide)),
            Operation("gaps", reckoned(view_gaps)),
            Operation("show", reckoned(show)),
            Operation("database", in_use, unit="KB", once=True),
        ),
    ),
    Dimension(
        "rounds",
        (20, 200),
        with_rounds,
        (
            Operation("all of them, the same 100 remarks", all_rounds, once=True),
            # Ten times the remarks in ten times the rounds: agents are shown a hundred times the text.
            Operation("all of them, five remarks each", all_rounds_and_remarks, bound=SQUARE, once=True),
            Operation("decide in the last", timed(decide)),
            Operation("decide in the last, same process", decide_in_process, bound=FLAT),
            Operation("drive in the last", timed(drive, before=decide)),
            Operation("ledger", reckoned(ledger)),
            Operation("show", reckoned(show)),
            Operation("stats", reckoned(stats)),
            Operation("history with nothing new", reckoned(history), bound=LINEAR),
            Operation("database", in_use, unit="KB", once=True),
            Operation("bytes of one more round", last_round_bytes, bound=FLAT, unit="KB", once=True),
        ),
    ),
)


def measure(options: Options) -> list[Row]:
    rows: list[Row] = []
    for dimension in DIMENSIONS:
        small, large = (size // 5 if options.quick else size for size in dimension.sizes)
        progress(f"    {small:,} and {large:,} {dimension.name}")
        with options.scratch() as folder:
            homes = {size: folder / str(size) for size in (small, large)}
            for size, home in homes.items():
                dimension.prepare(home, size)
                shutil.copytree(home, folder / f"kept-{size}", symlinks=True)
            for operation in dimension.operations:
                rows.append(_row(dimension.name, operation, _costs(operation, homes, folder, options)))
    return rows


def _costs(operation: Operation, homes: dict[int, Path], folder: Path, options: Options) -> dict[int, float]:
    samples = 1 if operation.unit != "ms" else options.samples(3, 1) if operation.once else options.samples(9, 3)
    taken: dict[int, list[float]] = {size: [] for size in homes}
    for turn in range(samples):
        for name in in_turn(map(str, homes), turn):
            size = int(name)
            if not operation.again:  # in its own place: a run knows where its workspace is
                shutil.rmtree(homes[size])
                shutil.copytree(folder / f"kept-{name}", homes[size], symlinks=True)
            taken[size].append(operation.run(homes[size], size))
    return {size: statistics.median(costs) for size, costs in taken.items()}


def _row(name: str, operation: Operation, costs: dict[int, float]) -> Row:
    (small, low), (large, high) = sorted(costs.items())
    scale = 1000 if operation.unit == "ms" else 1 / 1024
    return Row(
        workload="W8",
        what=f"{large:,} {name}: {operation.what}",
        unit=operation.unit,
        ours=high * scale,
        score=high / low,
        target=operation.bound,
        of=f"× {small:,} {name} ({low * scale:.3g})",
    )
