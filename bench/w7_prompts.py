"""W7: building the prompts of a round: seven agents, 200 remarks, 100 files to read. The floor reads and joins them."""

from __future__ import annotations

import time

from bench.harness import FLOOR, OURS, Options, Row, medians

TITLE = "seven prompts with 200 remarks and 100 files"
AGENTS, REMARKS, FILES = 7, 200, 100
TARGET = 50.0


def measure(options: Options) -> list[Row]:
    from reconvene.core.facts.commands import AddRemark, RemarkIn
    from reconvene.core.run.plan import RunTask
    from reconvene.prompts.context import shown
    from reconvene.testing.play import Play
    from reconvene.wire.workflow_file import parse_workflow

    names = ", ".join(f"a{number}" for number in range(AGENTS))
    declared = ", ".join(f"a{number}: {{prompt: 'You are number {number}.'}}" for number in range(AGENTS))
    text = (
        f"name: prompts\nagents: {{w: {{}}, {declared}}}\n"
        "phases:\n  - {id: files, agents: [w], checkpoint: {approval_required: true}}\n"
        f"  - {{id: work, agents: [{names}]}}\n"
    )
    play = Play(parse_workflow(text, "bench.yaml"))
    play.finish("w", files={f"notes/{n}.md": f"# Note {n}\n" + "Something was found out. " * 60 for n in range(FILES)})
    for number in range(REMARKS):
        play.do(AddRemark(RemarkIn(f"Remark {number}: the harbour is closed for {number} days."), by="bench"))
    play.decide("Continue")
    tasks = [effect.task for effect in play.effects() if isinstance(effect, RunTask)]

    def ours() -> float:
        begun = time.perf_counter()
        for task in tasks:
            assert len(shown(play.state, play.book, task).remarks) == REMARKS
        return time.perf_counter() - begun

    def floor() -> float:
        begun = time.perf_counter()
        for _ in tasks:
            parts = [play.book.text(version.digest) for version in play.state.world.files.values()]
            parts += [remark.text for remark in play.state.record.remarks.values()]
            assert "\n".join(parts)
        return time.perf_counter() - begun

    found = medians(options.chosen({OURS: ours, FLOOR: floor}), options.samples(25, 7), 1000)
    return [
        Row(
            workload="W7",
            what="seven prompts of a round",
            unit="ms",
            ours=found.get(OURS),
            floor=found.get(FLOOR),
            score=found.get(OURS),
            target=TARGET,
            of="ms",
        )
    ]
