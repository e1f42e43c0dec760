"""Projections of a state for people and scripts. Pure; their shapes are promises to users."""

from __future__ import annotations

from reconvene.core.facts import events as e
from reconvene.core.facts.state import PassedOver, RunState, children_of
from reconvene.core.person.checkpoint import current_digest


def field(asked: e.FieldAsked) -> dict[str, object]:
    row: dict[str, object] = {"id": asked.id, "type": asked.type, "prompt": asked.prompt or asked.id}
    if asked.options:
        row["options"] = list(asked.options)
    if asked.required:
        row["required"] = True
    for name, value in (("blank", asked.blank), ("default", asked.default)):
        if value is not None:
            row[name] = value
    if asked.titles:
        row["titles"] = list(asked.titles)
    for name, text in (("recommend", asked.recommend), ("note", asked.note)):
        if text:
            row[name] = text
    if asked.other:
        row["other"] = True
    return row


def option(offered: e.OptionOffered) -> dict[str, object]:
    row: dict[str, object] = {"label": offered.label, "available": offered.available}
    if offered.why_not:
        row["why_not"] = offered.why_not
    if not offered.offered:
        row["offered"] = False
    if offered.recommend:
        row["recommend"] = True
    if offered.remark != "none":
        row["remark"] = offered.remark
    if offered.fields:
        row["fields"] = [field(asked) for asked in offered.fields]
    return row


def checkpoint(state: RunState) -> dict[str, object] | None:
    point = state.world.open
    if point is None:
        return None
    row: dict[str, object] = {
        "id": point.id,
        "prompt": point.prompt,
        "options": [option(offered) for offered in point.options],
        "show_files": [_place(state, path) for path in point.show_files],
        "digest": current_digest(state),
        "status": point.status or ("attention" if point.attention else "waiting"),
        "attention": point.attention,
        "opened": point.at,
    }
    if point.feedback:
        row["feedback"] = point.feedback
    if point.fields:
        row["fields"] = [field(asked) for asked in point.fields]
    return row


def _place(state: RunState, path: str) -> str:
    return path if path.startswith("/") else f"{state.workspace}/{path}"


def summary(state: RunState) -> dict[str, object]:
    """{"run", "status", "phase", "round", "checkpoint"} and a little more; the index row is exactly this."""
    frame = state.world.top if state.world.cursor else None
    row: dict[str, object] = {
        "run": state.run,
        "status": state.status,
        "phase": frame.phase if frame and frame.phase else None,
        "round": frame.round.n if frame and frame.round else None,
        "checkpoint": checkpoint(state),
        "workflow": state.name,
        "started": state.started,
        "updated": state.updated,
    }
    if state.outcome:
        row["outcome"] = state.outcome
    if state.why:
        row["why"] = state.why
    if passed := passed_since(state):
        row["passed_over"] = [_passed(one) for one in passed]
    if state.record.project is not None and state.world.head:
        project = state.record.project
        import shlex

        merge = f"git -C {shlex.quote(project.path)} merge {project.branch or state.world.head}"
        row["project"] = {
            "path": project.path,
            "branch": project.branch,
            "commit": state.world.head,
            "merge": merge,
        }
    return row | _family(state)


def passed_over(state: RunState) -> list[dict[str, object]]:
    """Every checkpoint that was not asked because its condition failed, the latest few."""
    return [_passed(one) for one in state.record.passed_over]


def passed_since(state: RunState) -> list[PassedOver]:
    """Those since the last checkpoint that the person could see, the open one left aside."""
    before = state.record.checkpoints - (state.world.open is not None)
    return [one for one in state.record.passed_over if one.before == before]


def _passed(one: PassedOver) -> dict[str, object]:
    return {"phase": one.phase, "round": one.n, "at": one.at, "why": one.why, "text": passed_text(one)}


def passed_text(one: PassedOver) -> str:
    return f"the checkpoint of {one.phase}, round {one.n}, was not asked: its condition failed: {one.why}"


def _family(state: RunState) -> dict[str, object]:
    """Where the run comes from, its place in the queue, the runs it started; `unmade` counts those still missing."""
    row: dict[str, object] = {}
    if state.parent:
        row |= {"parent": state.parent, "piece": state.piece, "title": state.title}
    if state.place:
        row["place"] = state.place
    children = children_of(state)
    if children:
        row["children"] = [{"run": one.run or one.child.run, "title": one.child.title} for one in children]
        unmade = sum(not one.run for one in children)
        row |= {"unmade": unmade} if unmade else {}
    return row
