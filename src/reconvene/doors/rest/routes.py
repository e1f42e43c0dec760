"""The addresses of the API, each with its operations. The OpenAPI document is made from the same table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Mount, Route, Router

from reconvene.app.compared_runs import Compared
from reconvene.app.views.metrics import MetricsShown
from reconvene.app.views.news import Since
from reconvene.app.views.read_model import Checkpoint, Run
from reconvene.app.views.remark_lives import Ledger
from reconvene.doors.http.told_errors import problem
from reconvene.doors.rest import bodies, changing, giving, looking, record_bodies, streams, whole_run_bodies, whole_runs
from reconvene.doors.rest.answering import Endpoint
from reconvene.doors.rest.openapi import document, page
from reconvene.doors.rest.operations import Operation as Op

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from reconvene.doors.http.service import Service
    from reconvene.doors.rest.operations import Asked

PREFIX = "/api/v1"
_RUN = "/runs/{run}"
_DONE = changing.done_before

OPERATIONS: tuple[Op, ...] = (
    Op("GET", "/me", "me", "people", "Who you are here, and your role.", looking.me, bodies.Me),
    Op("GET", "/inbox", "inbox", "lists", "Runs that wait for a person, or for a provider.", looking.inbox,
       bodies.RunPage, bodies.Inbox),
    Op("GET", "/runs", "runs", "lists", "Every run, the one started last first.", looking.runs, bodies.RunPage,
       bodies.Runs),
    Op("POST", "/runs", "start", "runs", "Start a workflow.", giving.start, Run, body=bodies.StartBody, status=201,
       once=giving.started, refuses=(404,)),
    Op("GET", "/workflows", "workflows", "lists", "What may be started here.", giving.workflows, bodies.Workflows),
    Op("GET", "/workflows/{workflow}", "workflow", "lists", "One of them: its inputs and settings.", giving.workflow,
       bodies.WorkflowShown, refuses=(404,)),
    Op("GET", "/stats", "stats_of_all", "lists", "How well the checkpoints serve you, over all runs.",
       looking.all_stats, dict),
    Op("GET", "/queue", "queue", "queue", "Runs that wait for their turn.", looking.queue, bodies.Queue),
    Op("PUT", "/queue/{run}", "move_in_queue", "queue", "Give a queued run another place.", changing.move_in_queue,
       bodies.Position, body=bodies.PositionBody, refuses=(404,)),
    Op("DELETE", "/queue/{run}", "drop_from_queue", "queue", "Take a run out of the queue for good.",
       changing.drop_from_queue, Run, refuses=(404,)),
    Op("GET", "/uploads", "uploads", "uploads", "What you have uploaded.", giving.uploads, bodies.UploadList),
    Op("POST", "/uploads", "upload", "uploads", "Upload a file, to start a run with.", giving.upload,
       bodies.UploadShown, status=201, upload=True, refuses=(413,)),
    Op("DELETE", "/uploads/{digest}", "drop_upload", "uploads", "Throw an upload away.", giving.drop_upload,
       status=204, refuses=(404,)),
    Op("GET", "/stream", "stream_of_all", "events", "That any run has changed, as server-sent events.",
       streams.of_any_run, media="text/event-stream"),
    Op("GET", _RUN, "show", "runs", "Where a run stands, in full.", looking.show, bodies.RunShown, refuses=(404,)),
    Op("GET", f"{_RUN}/checkpoint", "checkpoint", "decisions",
       "The open checkpoint; its ETag is the version that a decision names.", looking.checkpoint, Checkpoint,
       tagged=True, refuses=(404,)),
    Op("GET", f"{_RUN}/since", "since", "decisions", "What changed since you last decided, remarked or read it.",
       looking.since, Since, refuses=(404,)),
    Op("GET", f"{_RUN}/shown", "shown", "decisions", "The version of a checkpoint that was last shown to you.",
       looking.shown, bodies.LastShown, refuses=(404,)),
    Op("POST", f"{_RUN}/decision", "decide", "decisions", "Answer the open checkpoint.", changing.decide, Run,
       body=bodies.DecisionBody, bound=True, once=_DONE, refuses=(404,)),
    Op("POST", f"{_RUN}/calls/decision", "decide_calls", "decisions", "Decide on calls of tools that wait.",
       changing.decide_calls, Run, body=bodies.RulingsBody, bound=True, once=_DONE, refuses=(404,)),
    Op("POST", f"{_RUN}/rollback", "roll_back", "decisions", "Undo the round that you are looking at.",
       changing.roll_back, Run, body=bodies.RollbackBody, bound=True, once=_DONE, refuses=(404,)),
    Op("PUT", f"{_RUN}/answers", "answers", "decisions", "Answers to fields so far, which everybody sees.",
       changing.answers, Run, body=bodies.AnswersBody, refuses=(404,)),
    Op("PUT", f"{_RUN}/assignees", "assign", "decisions", "Hand the open checkpoint over to others.",
       changing.assign, Run, body=bodies.AssignBody, refuses=(404,)),
    Op("PUT", f"{_RUN}/limits", "set_limits", "decisions", "What the run may cost, and which tools ask first.",
       changing.set_limits, Run, body=bodies.LimitsBody, refuses=(404,)),
    Op("GET", f"{_RUN}/remarks", "remarks", "remarks", "What people said.", looking.all_remarks, bodies.Remarks,
       refuses=(404,)),
    Op("POST", f"{_RUN}/remarks", "remark", "remarks", "Say something that every later agent is shown.",
       changing.remark, bodies.RunWithRemarks, body=bodies.RemarksBody, status=201,
       once=changing.said_before, refuses=(404,)),
    Op("PATCH", f"{_RUN}/remarks/{{id}}", "read_remark", "remarks", "What a remark is after all.",
       changing.read_remark, bodies.RunWithRemarks, body=bodies.ReadingBody, refuses=(404,)),
    Op("DELETE", f"{_RUN}/remarks/{{id}}", "withdraw", "remarks", "Take a remark back; agents that saw it are told.",
       changing.withdraw, bodies.RunWithRemarks, refuses=(404,)),
    Op("POST", f"{_RUN}/remarks/{{id}}/settle", "settle_remark", "remarks", "Say that a remark is answered.",
       changing.settle, bodies.RunWithRemarks, body=bodies.NothingBody, refuses=(404,)),
    Op("POST", f"{_RUN}/pause", "pause", "runs", "Let agents finish, start nothing new.", changing.pause, Run,
       body=bodies.PauseBody, refuses=(404,)),
    Op("POST", f"{_RUN}/resume", "resume", "runs", "Go on.", changing.resume, Run, body=bodies.NothingBody,
       refuses=(404,)),
    Op("POST", f"{_RUN}/abort", "abort", "runs", "End a run for good.", changing.abort, Run, body=bodies.SaidBody,
       refuses=(404,)),
    Op("POST", f"{_RUN}/replan", "replan", "runs", "Go back to planning.", changing.replan, Run,
       body=bodies.AgainBody, once=_DONE, refuses=(404,)),
    Op("POST", f"{_RUN}/reopen", "reopen", "runs", "Take a run up again after its end.", changing.reopen, Run,
       body=bodies.ReopenBody, once=_DONE, refuses=(404,)),
    Op("POST", f"{_RUN}/fork", "fork", "runs", "A new run that shares this one's history up to an event.",
       changing.fork, Run, body=bodies.ForkBody, status=200, once=_DONE, refuses=(404,)),
    Op("GET", f"{_RUN}/events", "events", "events", "A run's events.", looking.events, bodies.Events,
       bodies.EventsAfter, refuses=(404,)),
    Op("GET", f"{_RUN}/stream", "stream", "events",
       "The same as they come, as server-sent events; Last-Event-ID is the number of the last one received.",
       streams.of_one_run, query=bodies.StreamAfter, media="text/event-stream", refuses=(404,)),
    Op("GET", f"{_RUN}/files", "files", "files", "A run's files.", looking.files, bodies.Files, refuses=(404,)),
    Op("GET", f"{_RUN}/files/{{path}}", "file", "files", "The content of one, now or in an earlier version.",
       looking.file, query=bodies.OneVersion, media="application/octet-stream", refuses=(404,)),
    Op("GET", f"{_RUN}/versions", "versions", "files", "The versions that files had.", looking.file_versions,
       bodies.Versions, bodies.OfFile, refuses=(404,)),
    Op("GET", f"{_RUN}/aside", "kept_aside", "files", "Files that agents wrote and that were kept aside.",
       looking.kept_aside, record_bodies.KeptAside, refuses=(404,)),
    Op("POST", f"{_RUN}/aside", "take", "files", "Take one of them into the run, as your edit.", changing.take_aside,
       Run, body=record_bodies.TakeBody, refuses=(404,)),
    Op("GET", f"{_RUN}/diff", "diff", "files", "What changed between two rounds, or since the last.", looking.diff,
       bodies.Diff, bodies.Between, refuses=(404,)),
    Op("GET", f"{_RUN}/compare", "compare", "record",
       "This run beside another: where they part, what differs, what each took.", looking.compare, Compared,
       bodies.WithOther, refuses=(404,)),
    Op("GET", f"{_RUN}/comments", "comments", "files", "Comments on lines of files, and what became of them.",
       looking.comments, bodies.Comments, bodies.OfFile, refuses=(404,)),
    Op("GET", f"{_RUN}/outputs", "outputs", "record", "What agents were sent and wrote in a round.",
       looking.outputs, record_bodies.AttemptsShown, record_bodies.Outputs, refuses=(404,)),
    Op("GET", f"{_RUN}/rounds", "rounds", "record", "Every round, those rolled back included.", looking.rounds,
       bodies.Rounds, refuses=(404,)),
    Op("GET", f"{_RUN}/ledger", "ledger", "record", "What became of every remark.", looking.ledger, Ledger,
       bodies.LedgerPage, refuses=(404,)),
    Op("GET", f"{_RUN}/talk", "talk", "record", "What agents and people say to each other in this phase.",
       looking.talk, bodies.Talk, refuses=(404,)),
    Op("GET", f"{_RUN}/calls", "calls", "record", "What agents did with their tools.", looking.calls, bodies.Calls,
       bodies.OfAgent, refuses=(404,)),
    Op("GET", f"{_RUN}/allowed", "allowed", "record", "Calls that are not asked about any more.", looking.allowed,
       bodies.AllowedCalls, refuses=(404,)),
    Op("DELETE", f"{_RUN}/allowed/{{id}}", "disallow", "record", "Ask about such calls again.", changing.disallow,
       Run, refuses=(404,)),
    Op("GET", f"{_RUN}/gaps", "gaps", "record", "The gaps that a run follows, and how they converge.", looking.gaps,
       dict, refuses=(404,)),
    Op("POST", f"{_RUN}/gaps", "edit_gaps", "record", "Change the list of gaps, where the run stops.",
       changing.edit_list, Run, body=record_bodies.ListEditBody, once=_DONE, refuses=(404,)),
    Op("GET", f"{_RUN}/views", "views", "record", "What kits of the workflow show.", looking.views, bodies.Views,
       refuses=(404,)),
    Op("GET", f"{_RUN}/views/{{view}}", "view", "record", "One of these views, as rows.", looking.view,
       bodies.ViewRows, refuses=(404,)),
    Op("GET", f"{_RUN}/stats", "stats", "record", "How well the checkpoints of a run serve you.", looking.stats,
       MetricsShown, refuses=(404,)),
    Op("GET", f"{_RUN}/questions", "conversation", "companion", "The conversation with the companion.",
       looking.conversation, bodies.Conversation, refuses=(404,)),
    Op("POST", f"{_RUN}/questions", "ask", "companion", "Ask the companion about a run. It decides nothing.",
       giving.ask, bodies.Answered, body=bodies.QuestionBody, refuses=(404,)),
    Op("GET", f"{_RUN}/search", "search", "record", "Passages of a run that answer a question.", whole_runs.search,
       whole_run_bodies.FoundPassages, whole_run_bodies.Search, refuses=(404,)),
    Op("GET", f"{_RUN}/cite", "cite", "record", "What a search or an agent cites, opened.", whole_runs.cite, dict,
       whole_run_bodies.Cited, refuses=(404,)),
    Op("GET", f"{_RUN}/verify", "verify", "record", "Whether what is stored of a run fits together.", whole_runs.verify,
       dict, refuses=(404,)),
    Op("GET", f"{_RUN}/export", "export", "runs", "The run as one file, to take it elsewhere.", whole_runs.export,
       media="application/zip", refuses=(404,)),
    Op("POST", "/import", "import", "runs", "Take a run in that was exported elsewhere.", whole_runs.take_in,
       whole_run_bodies.Imported, whole_run_bodies.ImportAs, upload=True, refuses=(413,)),
    Op("POST", f"{_RUN}/upgrade", "upgrade", "runs", "Go on with a mended workflow, as the same run.",
       whole_runs.upgrade, whole_run_bodies.Upgraded, body=whole_run_bodies.UpgradeBody, refuses=(404,)),
    Op("DELETE", _RUN, "delete", "runs", "Delete a run for good, with what no other run needs; for an admin.",
       whole_runs.delete, dict, refuses=(404,)),
    Op("GET", "/people", "people", "people", "Who may do what here, and their tokens; for an admin.",
       whole_runs.everyone, whole_run_bodies.Everyone, refuses=(403,)),
    Op("POST", "/people", "add_person", "people", "Add somebody.", whole_runs.add_person, whole_run_bodies.PersonShown,
       body=whole_run_bodies.PersonBody, status=201),
    Op("PATCH", "/people/{name}", "change_person", "people", "Another role, other teams, another account.",
       whole_runs.change_person, whole_run_bodies.PersonShown, body=whole_run_bodies.PersonChanged, refuses=(404,)),
    Op("DELETE", "/people/{name}", "remove_person", "people", "Remove somebody, with all tokens.",
       whole_runs.remove_person, whole_run_bodies.PersonShown, refuses=(404,)),
    Op("POST", "/people/{name}/tokens", "make_token", "people", "A new token, which is told this once.",
       whole_runs.make_token, whole_run_bodies.TokenShown, body=whole_run_bodies.TokenBody, status=201, refuses=(404,)),
    Op("DELETE", "/tokens/{id}", "revoke_token", "people", "Revoke a token: it admits nobody any more.",
       whole_runs.revoke_token, whole_run_bodies.TokenShown, refuses=(404,)),
)  # fmt: skip


def routes(service: Service) -> list[Route | Mount]:
    async def health(asked: Asked) -> object:
        """At once, whatever is being worked out: who watches the server must not take a slow page for a dead one."""
        return bodies.Health("ok", service.busy)

    async def described(asked: Asked) -> object:
        return document(OPERATIONS, PREFIX)

    async def reference(asked: Asked) -> object:
        return page(OPERATIONS, PREFIX)

    beside = (
        Op("GET", "/openapi.json", "openapi", "api", "This document.", described, dict),
        Op("GET", "/docs", "docs", "api", "It as a page.", reference, media="text/html"),
    )
    by_path: dict[str, dict[str, Op]] = {}
    for one in (*OPERATIONS, *beside):
        by_path.setdefault(one.path, {})[one.method] = one
    own = [Route(path.replace("{path}", "{path:path}"), Endpoint(service, found)) for path, found in by_path.items()]
    alive = Op("GET", "/health", "health", "api", "Whether the server answers.", health, bodies.Health)
    return [
        Route("/health", Endpoint(service, {"GET": alive})),
        Mount(PREFIX, Router(own, default=_nothing, redirect_slashes=False)),
    ]


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    answer: Response = problem(404, "There is nothing at this address.", f"{PREFIX}/docs lists what there is.")
    await answer(scope, receive, send)
