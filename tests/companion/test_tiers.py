"""Which tools the companion has at which stage, what adds to them, and what the person may override."""

from __future__ import annotations

from collections.abc import Collection

from tests.companion.planned_job import Two

from reconvene.app import queries
from reconvene.companion.tiers import Stage, stage_of, tools_for
from reconvene.companion.tool_scope import Tier

BASIC = {"read_workspace_file", "list_workspace_files", "search_workspace"}
HISTORY = {"git_log", "git_diff", "git_show"}
DEBUG = {
    *("get_job", "get_audit_trail", "get_chat_history", "get_todos"),
    *("get_graph_changes", "get_llm_request", "search_audit"),
}


def names(
    stage: Stage,
    *,
    documents: bool = False,
    history: bool = True,
    errors: bool = False,
    chosen: Collection[Tier] = (),
    web: bool = False,
) -> set[str]:
    found = tools_for(stage, documents=documents, history=history, errors=errors, chosen=chosen, web=web)
    return {tool.name for tool in found}


def test_the_stage_sets_the_tools_of_the_table() -> None:
    assert names("pre_job", web=True) == {"web_search", "update_instructions"}
    assert names("plan_review") == BASIC | HISTORY
    assert names("mid_run", history=False) == BASIC | {"get_todos", "get_job"}
    assert names("result_review") == BASIC | HISTORY | DEBUG
    assert names("post_mortem", history=False) == BASIC | DEBUG


def test_tiers_add_what_the_run_gives_a_use_for() -> None:
    assert "vector_search" in names("plan_review", documents=True)
    assert names("plan_review", errors=True) == BASIC | HISTORY | DEBUG
    assert names("mid_run") >= HISTORY
    assert not names("result_review", history=False) & HISTORY


def test_the_person_overrides_and_the_basic_tools_stay() -> None:
    assert names("plan_review", errors=True, documents=True, chosen=("history",)) == BASIC | HISTORY
    assert names("mid_run", chosen=("debug",)) == BASIC | DEBUG
    assert names("plan_review", chosen=("history",), history=False) == BASIC


def test_nothing_searches_the_web_before_it_is_configured_and_nothing_looks_at_a_run_that_is_not_there() -> None:
    every: tuple[Tier, ...] = ("basic", "research", "history", "debug", "drafting")
    assert "web_search" not in names("plan_review", documents=True, chosen=every)
    assert "web_search" in names("plan_review", documents=True, web=True)
    assert names("pre_job", chosen=every, documents=True, errors=True) == {"update_instructions"}
    assert "update_instructions" not in names("plan_review", chosen=every)


def test_the_stage_of_a_run_follows_from_where_it_stands(two: Two) -> None:
    assert stage_of(None) == "pre_job"
    assert stage_of(queries.summary(two.job.engine, two.job.run)) == "result_review"
    assert stage_of(queries.summary(two.other.engine, two.other.run)) == "plan_review"
