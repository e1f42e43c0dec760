"""A checkpoint at a glance: where the run is, what is asked, what each option leads to, what the agents wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Checkpoint, Item, Option, Project, Run, Takes, Written

_MOST_WRITTEN = 12


def items_line(items: Sequence[Item]) -> str:
    """`item 2 of 5: New API`; the innermost last."""
    return ", ".join(f"item {one.number} of {one.of}: {one_line(one.title, 60)}" for one in items)


def aside(option: Option) -> str:
    """What follows from an option, what it takes and wants: `one more round of Views; 3 calls; with your words`"""
    parts = [one_line(option.leads)] if option.leads else []
    parts += [", ".join(takes_parts(option.takes))] if option.takes else []
    parts += ["with your words"] if option.remark == "required" else []
    parts += [f"asks for {', '.join(one_line(field.id) for field in option.fields)}"] if option.fields else []
    return "; ".join(parts)


def takes_parts(takes: Takes) -> list[str]:
    """`9 calls`, `47k tokens`, `under a minute`, `about $0.40`"""
    if not takes.agents:
        return ["no agent works"]
    parts = [f"{takes.calls} call{'s' * (takes.calls != 1)}"]
    if takes.tokens:
        parts.append(f"{takes.tokens / 1000:.0f}k tokens" if takes.tokens >= 1000 else f"{takes.tokens} tokens")
    if takes.minutes is None:
        return [*parts, "not measured yet"]
    parts.append("under a minute" if takes.minutes < 1 else f"about {takes.minutes:.0f} min")
    return [*parts, *([f"about ${takes.cost:.2f}"] if takes.cost else [])]


def found_lines(run: Run) -> list[str]:
    """What was changed in the workspace while agents worked: whoever decides is asked whether it is theirs."""
    if not run.found:
        return []
    names = ", ".join(one_line(path, 100) for path in run.found[:_MOST_WRITTEN])
    more = f", … and {len(run.found) - _MOST_WRITTEN} more" if len(run.found) > _MOST_WRITTEN else ""
    what = f"! changed in the workspace while agents worked, by nobody on record: {names}{more}."
    if run.checkpoint is None:
        return [f"{what} It was not taken."]
    return [f"{what} Yours? Your decision takes it as your edit. If not: put back what the log has, then decide."]


def merge_line(project: Project) -> str:
    """The command that takes the run's own commit over, and nothing that others put on its branch."""
    import shlex

    return f"git -C {shlex.quote(project.path)} merge {project.commit[:12]}"


def project_lines(project: Project | None) -> list[str]:
    """What the run changed in the person's project: its commit, the files, and what others put on its branch."""
    if project is None:
        return []
    names = [one_line(name, 100) for name in project.changed[:_MOST_WRITTEN]]
    more = f", … and {project.files - len(names)} more" if project.files > len(names) else ""
    lines = [f"in the project: commit {project.commit[:12]}" + (f": {', '.join(names)}{more}" if names else "")]
    if project.added:
        count = f"{project.added} commit{'s' * (project.added != 1)}"
        lines.append(
            f"! the branch {one_line(project.branch)} holds {count} that this run did not make (it stands at "
            f"{project.tip[:12]}): a decision here is about {project.commit[:12]}"
        )
    return lines


def written_lines(checkpoint: Checkpoint) -> list[str]:
    """Who wrote what, by first lines; and who gave nothing."""
    written = checkpoint.outputs
    lines = [
        f"{one_line(one.agent)} ({one.characters:,} characters): {one_line(' / '.join(one.lines), 200)}"
        for one in written[:_MOST_WRITTEN]
    ]
    more = len(written) - _MOST_WRITTEN
    lines += [f"… and {more} more"] if more > 0 else []
    lines += [f"{one_line(agent)}: nothing" for agent in dict.fromkeys(checkpoint.missing)]
    folder = [f"not taken from the folder: {one_line(why, 200)}" for why in checkpoint.not_taken[:_MOST_WRITTEN]]
    return [*lines, *_not_taken(written), *folder]


def _not_taken(written: Sequence[Written]) -> list[str]:
    """What agents wrote and nobody got: never passed over in silence. Of each agent what is named first comes first:
    what is kept aside for the person, and how many there are in all."""
    named = [(at, one.agent, why) for one in written for at, why in enumerate(one.not_taken)]
    found = [f"not taken of {one_line(agent)}: {one_line(why, 200)}" for _, agent, why in sorted(named, key=_place)]
    more = len(found) - _MOST_WRITTEN
    return [*found[:_MOST_WRITTEN], *([f"… and {more} more lines of this kind"] if more > 0 else [])]


def _place(named: tuple[int, str, str]) -> int:
    return named[0]
