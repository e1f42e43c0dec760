"""Which tools the companion has when: the stage of the run sets them, tiers add to them, the person overrides.

| stage | what sets it |
|---|---|
| pre_job | there is no run yet, only a draft |
| plan_review | it waits at a checkpoint of its workflow |
| mid_run | agents work, it is queued or paused, or something needs attention |
| result_review | it is complete, or waits at a checkpoint whose status is `result_review` |
| post_mortem | it failed or was aborted |
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from reconvene.app.views.read_model import Run
from reconvene.companion.catalogue import TOOLS
from reconvene.companion.tool_scope import CompanionTool, Tier

Stage = Literal["pre_job", "plan_review", "mid_run", "result_review", "post_mortem"]

_DEBUG = tuple(tool.name for tool in TOOLS if tool.tier == "debug")
_BASIC = tuple(tool.name for tool in TOOLS if tool.tier == "basic")
_HISTORY = tuple(tool.name for tool in TOOLS if tool.tier == "history")
_OF_STAGE: dict[Stage, tuple[str, ...]] = {
    "pre_job": ("web_search", "update_instructions"),
    "plan_review": (*_BASIC, *_HISTORY),
    "mid_run": (*_BASIC, "get_todos", "get_job"),
    "result_review": (*_BASIC, *_HISTORY, *_DEBUG),
    "post_mortem": (*_BASIC, *_DEBUG),
}


def stage_of(run: Run | None) -> Stage:
    """`run`: as `app.queries` tells it; None = before the job."""
    if run is None:
        return "pre_job"
    if run.status in ("failed", "aborted"):
        return "post_mortem"
    if run.status == "completed":
        return "result_review"
    if run.status != "waiting" or run.checkpoint is None or run.checkpoint.attention:
        return "mid_run"
    return "result_review" if run.checkpoint.status == "result_review" else "plan_review"


def tools_for(
    stage: Stage,
    *,
    documents: bool,
    history: bool,
    errors: bool,
    chosen: Collection[Tier] = (),
    web: bool = False,
) -> tuple[CompanionTool, ...]:
    """`documents`: some are attached. `history`: there is a commit. `errors`: something went wrong. `web`: a source
    that searches the web is configured. `chosen`: the person names the tiers; these count then, and the basic ones."""
    if chosen:
        names = {tool.name for tool in TOOLS if tool.tier == "basic" or tool.tier in chosen}
    else:
        added = {"research": documents, "history": history, "debug": errors}
        names = {*_OF_STAGE[stage], *(tool.name for tool in TOOLS if added.get(tool.tier))}
    return tuple(tool for tool in TOOLS if tool.name in names and _has_use(tool, stage, history=history, web=web))


def _has_use(tool: CompanionTool, stage: Stage, *, history: bool, web: bool) -> bool:
    if tool.name == "web_search":
        return web
    if tool.tier == "drafting" or stage == "pre_job":
        return tool.tier == "drafting" and stage == "pre_job"
    return tool.tier != "history" or history
