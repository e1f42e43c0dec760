"""The way of every packaged workflow past every stop that it can reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts import commands as c

from .journey import PERSON, Journey


def early_exit(go: Journey) -> None:
    go.start().keep("new").drive().keep("waiting.validation")
    go.decide("Fix and retry", drive=False).keep("decided.validation")
    go.crash("validator", "validation").keep("crashed.validation")
    go.drive().keep("waiting.validation.again").decide("Fix and retry").keep("completed")
    go.back("waiting.validation.again").edit("validation-report.md", "# Validation 9\n\nI looked myself.\n")
    go.keep("waiting.validation.edited")
    go.decide("Abort workflow", "Two customers with one number must be settled first.").keep("aborted")
    go.back("waiting.validation").fork().keep("forked")
    go.afresh().start().drive_failing("validator").keep("attention.validation")
    go.decide("Try again").keep("waiting.validation.recovered")
    go.afresh().start().drive_pausing("validator").keep("paused.validation")


def quality_gate(go: Journey) -> None:
    go.start().keep("new").drive().keep("waiting.testing")
    go.decide("No, fix tests", "an expired cart must be refused", drive=False).keep("decided.testing")
    go.drive_pausing("tester", now=True).keep("paused.testing.now")
    go.drive().crash_after("No, fix tests", "tester", "testing").keep("crashed.testing")
    go.drive().decide("Yes, continue").keep("completed")
    go.back("waiting.testing").do(c.Abort(by=PERSON, door="golden")).keep("aborted")
    go.back("waiting.testing").fork().keep("forked")
    go.back("decided.testing").drive_failing("developer").keep("attention.testing")
    go.afresh().start({"feature": {"name": "colours", "flags": []}}).drive().keep("completed.unasked")
    go.afresh().start().drive_pausing("tester").keep("paused.testing")


def skip_optional(go: Journey) -> None:
    go.start().keep("new").drive().keep("waiting.optimization")
    go.decide("Skip for now", "The report runs once a month, at night.", drive=False).keep("decided.documentation")
    go.drive().keep("completed.skipped")
    go.back("waiting.optimization").decide_pausing("Optimize now", "writer").keep("paused.documentation")
    go.drive().keep("completed")
    go.back("waiting.optimization").fork().keep("forked").decide("Skip for now").keep("completed.forked")
    go.back("waiting.optimization").crash_after("Optimize now", "writer", "documentation").keep("crashed.documentation")
    go.back("waiting.optimization").do(c.Abort(by=PERSON, remarks=(c.RemarkIn("Not needed any more."),)))
    go.keep("aborted")
    go.back("decided.documentation").drive_failing("writer").keep("attention.documentation")


def review_before_changes(go: Journey) -> None:
    go.start().keep("new").drive().keep("waiting.implementation")
    go.say("new context: Support must be able to switch it off.").keep("waiting.implementation.said")
    go.decide("Revise plan", drive=False).keep("decided.planning")
    go.crash("planner", "planning").keep("crashed.planning").drive().keep("waiting.implementation.again")
    go.decide("Looks good, proceed").keep("completed")
    go.back("waiting.implementation").edit("plan.md", "# My plan\n\nKeep it behind a flag.\n")
    go.keep("waiting.implementation.edited")
    go.back("waiting.implementation").decide_failing("Looks good, proceed", "developer").keep("attention.changes")
    go.decide("Stop the run").keep("aborted")
    go.back("waiting.implementation").fork().keep("forked")
    go.back("waiting.implementation").decide_pausing("Looks good, proceed", "developer").keep("paused.changes")


def market_entry(go: Journey) -> None:
    correction = "correction: Revenue is $900M, not $850M. The brief has last year's figure."
    go.start().keep("new").crash("moderator", "assess").keep("crashed.assess.moderator").drive().keep("waiting.assess")
    go.say(correction).keep("waiting.assess.said").decide("Look again", correction, drive=False).keep("decided.assess")
    go.crash("operations", "assess").keep("crashed.assess").drive().keep("waiting.assess.again")
    go.decide("Accept the memo").keep("completed")
    go.back("waiting.assess.again").decide("Drop the plan", "The board has changed its mind.").keep("aborted")
    go.back("waiting.assess.again").fork().keep("forked")
    go.back("decided.assess").drive_failing("sceptic").keep("waiting.assess.missing")
    go.back("decided.assess").drive_failing("moderator").keep("attention.assess")
    go.decide("Go on without it").keep("waiting.assess.without")
    go.back("decided.assess").drive_pausing("finance").keep("paused.assess")
    go.back("waiting.assess.again").do(c.Rollback(by=PERSON, remarks=(c.RemarkIn("Again, please."),)))
    go.keep("decided.assess.undone").drive().keep("waiting.assess.undone")


def spec_refinement(go: Journey) -> None:
    given = {**go.packaged_inputs(), "spec_name": "drafting"}
    context = "new context: Some pages are only a warning and a drawing, less than 200 characters in all."
    go.start(given).keep("new").drive().keep("waiting.find")
    go.decide("Begin", drive=False).keep("decided.refine")
    go.crash("reviewer", "refine").keep("crashed.refine").drive().keep("waiting.refine")
    go.decide("Continue", context).keep("waiting.refine.conflict")
    go.draft(**{"ISSUE-R1-001": "C"}).keep("waiting.refine.draft")
    redo = {"reason": "The second proposal misses the point.", "adjust": "narrower"}
    go.decide("Redo this round", **redo).keep("waiting.refine.redone")
    go.decide("Redo this round", **redo).keep("waiting.refine.redone_twice")
    go.back("waiting.refine.conflict").decide("Continue", **{"ISSUE-R1-001": "C"}).keep("waiting.final")
    go.decide("Accept").keep("completed")
    go.back("waiting.refine.conflict").decide("Drop this round and go on").keep("waiting.refine.dropped")
    go.back("waiting.refine.conflict").fork().keep("forked").decide("Abandon").keep("aborted.forked")
    go.back("waiting.refine.conflict").decide_failing("Continue", "mediator").keep("waiting.refine.missing")
    go.back("waiting.refine").decide("Abandon", "It is not worth it.").keep("aborted")
    go.back("waiting.refine").decide_pausing("Continue", "reviewer").keep("paused.refine")
    go.afresh().start(given).drive_failing("reviewer").keep("attention.find")
    go.afresh().start({**given, "spec": " \n"}).keep("failed.empty")
    listed = "- GAP-FLOW-001 (HIGH, blocking): What if there is no page?\n- [x] GAP-FLOW-009 (LOW): Who is the clerk?\n"
    go.afresh().start({**given, "gaps": listed}).drive().keep("waiting.confirm")
    go.afresh().start(given, {"auto": True, "max_rounds": 1}).drive().keep("failed")
    go.afresh().start(given, recorded=False).keep("new.packaged")


def scenario_planning(go: Journey) -> None:
    given = go.packaged_inputs()
    debt = "correction: Debt is £150M, not £100M"
    gap = {"gap": "Does the all-electric furnace still fit inside the covenant?"}
    go.start(given).keep("new").drive().keep("waiting.focal_question")
    go.decide("That is right").keep("waiting.predetermined")
    go.say(debt).decide("One more round", drive=False, **gap).keep("decided.predetermined")
    go.crash("contrarian", "predetermined").keep("crashed.predetermined").drive()
    go.keep("waiting.predetermined.extra")
    go.decide("Looks good").keep("waiting.uncertainties").decide("Looks good").keep("waiting.uncertainties.convergence")
    go.decide("Looks good").decide("Looks good").keep("waiting.scenarios.cluster").decide("Looks good")
    go.keep("waiting.scenarios").decide("Looks good").keep("waiting.signals")
    go.decide("Looks good").keep("waiting.strategy").decide("Looks good").keep("waiting.completeness")
    go.decide("Finish", captured="yes", words="Yes, everything.").keep("completed")
    go.back("waiting.uncertainties").decide("Skip, I'm good").keep("waiting.scenarios.left")
    go.back("waiting.uncertainties").do(c.Abort(by=PERSON, door="golden")).keep("aborted")
    go.back("waiting.uncertainties").fork().keep("forked")
    go.back("waiting.uncertainties").decide_failing("Looks good", "ecologist").keep("waiting.uncertainties.missing")
    go.back("waiting.uncertainties").decide_failing("Looks good", "moderator").keep("attention.uncertainties")
    go.back("waiting.uncertainties").decide_pausing("Looks good", "sociologist").keep("paused.uncertainties")
    go.afresh().start(recorded=False).drive().keep("waiting.company_interview.packaged")
    go.afresh().start().drive().draft(name="Aldermoor Glass").keep("waiting.company_interview")
    go.decide("That is the company", name="Aldermoor Glass", business="Glass bottles, for brewers, in one place.")
    go.keep("waiting.company").decide("That is right").keep("waiting.focal_interview")


def brainstorm(go: Journey) -> None:
    small = go.packaged_inputs("cases", "1-straightforward")
    large = go.packaged_inputs("cases", "2-complex")
    can = {"can_execute": True}
    go.start(large, can).keep("new").drive().keep("waiting.triage")
    go.decide("Discuss", "Could this be one batch?").keep("waiting.triage.discussed")
    go.decide("Agree — more questions, deeper design", drive=False).keep("decided.questions").drive()
    go.keep("waiting.questions").draft(who="the account on the computer").keep("waiting.questions.draft")
    go.decide("Discuss", "Nobody needs to see it at once, we meet at breakfast", below="nothing is left")
    go.decide("Done", transport="a shared folder").keep("waiting.approaches")
    go.decide("Back to questions").keep("waiting.questions.back")
    go.decide("Done", old="no").decide("Choose").keep("waiting.design")
    go.decide("Revise", "Say how large the file becomes").keep("waiting.design.revised")
    go.decide("Approve").keep("waiting.design.second").decide("Approve").decide("Approve").keep("waiting.plan_review")
    go.decide_failing("Build it", "coder").keep("attention.code").decide("Try again").keep("waiting.reassess")
    go.decide("Continue to the next batch").keep("waiting.plan_review.second")
    go.decide("Build it").keep("waiting.finish").decide("Finish").keep("completed")
    go.back("waiting.plan_review").crash_after("Build it", "coder", "code").keep("crashed.code")
    go.back("waiting.plan_review").crash_after("Build it", "quality", "task_review").keep("crashed.task_review")
    go.back("waiting.plan_review").decide_pausing("Build it", "specification").keep("paused.task_review")
    go.back("waiting.plan_review").decide("Stop here, with the plan").keep("completed.planned")
    go.back("waiting.plan_review.second")
    for _ in range(4):
        go.decide("Discuss the plan", "Smaller tasks, please.")
    go.keep("waiting.plan_review.long")  # so many events that it is not read from its log alone
    go.back("waiting.reassess").fork().keep("forked")
    go.back("waiting.reassess").do(c.Abort(by=PERSON, door="golden")).keep("aborted")
    go.afresh().start(small, can, change=_doubting).drive().decide("Agree — quick design outline").decide("Approve")
    go.decide("Build it").keep("waiting.task_review")
    go.afresh().start(large, can, change=_splitting).drive().keep("waiting.triage.split")
    go.decide("Split into separate runs", sure=True, drive=False).keep("completed.unmade")
    go.drive().keep("completed.split")
    go.turn_to("store").keep("queued").turn_to("names").do(c.MoveInQueue("0", by=PERSON)).keep("queued.moved").drive()
    go.keep("waiting.triage.child").turn_to("store").do(c.DropQueued(by=PERSON)).keep("aborted.dropped")
    go.afresh().start(small, can).unfinished("half-done.txt").drive().keep("waiting.ground").decide("Leave them out")
    go.decide("Skip to planning", test="false").keep("waiting.baseline")
    go.afresh().start(small, recorded=False).keep("new.packaged")


def job(go: Journey) -> None:
    given = {**go.packaged_inputs(), **go.material()}
    promise = "correction: Since February we promise 3 days, not 5 days. The letter is older."
    go.start(given).keep("new").drive().keep("waiting.strategy")
    go.say(promise).keep("waiting.strategy.said").decide("Approve", audience="only me", drive=False)
    go.keep("decided.tactics").crash("worker", "tactics").keep("crashed.tactics").drive().keep("attention.tactics")
    go.decide("Approve").keep("waiting.result").decide("Accept").keep("completed")
    go.back("waiting.strategy").decide("Request changes", promise).keep("waiting.strategy.again")
    go.back("waiting.strategy").decide_pausing("Skip review and run", "worker").keep("paused.tactics")
    go.back("waiting.strategy").fork().keep("forked").do(c.Abort(by=PERSON, door="golden")).keep("aborted")


def troubles(go: Journey) -> None:
    go.start().keep("new").drive_failing("reader").keep("attention.missing").decide("Try again", drive=False)
    go.crash("sender", "doubt").keep("crashed.doubt").drive().keep("attention.doubt")
    go.decide("Try again").keep("attention.conflict").decide("Use right's version").keep("attention.expression")
    go.decide("Count it as true").keep("attention.check").decide("Go on without it").keep("attention.escalated")
    go.decide("Go on without it").keep("attention.limit").decide("Raise the limit").keep("completed")


# workflow → how its homes are made
JOURNEYS: Mapping[str, Callable[[Journey], None]] = {
    "brainstorm": brainstorm,
    "early-exit": early_exit,
    "job": job,
    "market-entry": market_entry,
    "quality-gate": quality_gate,
    "review-before-changes": review_before_changes,
    "scenario-planning": scenario_planning,
    "skip-optional": skip_optional,
    "spec-refinement": spec_refinement,
    "troubles": troubles,
}


def _first_of_all(workflow: Workflow, *entries: dict[str, object]) -> Workflow:
    """With these entries in front of all others in the recording."""
    team = workflow.recordings["team"]
    assert isinstance(team, dict)
    return replace(workflow, recordings={"team": {**team, "entries": [*entries, *team["entries"]]}})


def _splitting(workflow: Workflow) -> Workflow:
    """A triage that finds two pieces in what was wished for; not in the pieces themselves."""
    pieces = [
        {"id": "store", "title": "Keep the file", "description": "Milk and flour outlive the program."},
        {"id": "names", "title": "One spelling", "description": "“Milk ” and “milk” should be the same item."},
    ]
    value = {"level": "complex", "reasoning": "Two things in one wish.", "suggestedSkips": [], "split": pieces}
    return _first_of_all(workflow, {"when": {"phase": "triage", "prompt": "two people"}, "value": value})


def _doubting(workflow: Workflow) -> Workflow:
    """A reviewer who is never content."""
    value = {"verdict": "REVISE", "summary": "Not yet.", "checked": ["the tests"], "findings": [{"text": "Too long."}]}
    content = {"when": {"phase": "code", "prompt": "Too long"}, "says": "NO CHANGE NEEDED: it cannot be shorter."}
    return _first_of_all(workflow, {"when": {"phase": "task_review", "agent": "quality"}, "value": value}, content)
