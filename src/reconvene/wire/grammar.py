"""Every key of the workflow language, with its shape and one line of explanation: the single table of it.

The loader refuses what is not here; `reconvene schema` and the editors' completion are made from it. Other spellings
are in `spellings.py`: they are rewritten before anything is compared with this table.
"""

from __future__ import annotations

from reconvene.core.definition.field_types import TYPES
from reconvene.wire.shapes import (
    EXPRESSION,
    FLAG,
    NOTHING,
    NUMBER,
    TEXT,
    Anything,
    Key,
    ListOf,
    MapOf,
    Table,
    integer,
    one_of,
    word,
)

INPUT_TYPES = ("text", "number", "bool", "json", "file", "files", "folder", "project", "documents", "sources")
SETTING_TYPES = ("text", "number", "bool", "json")
FIELD_TYPES = (*TYPES, "item")
REMARKS = ("none", "optional", "required")
MISSING = ("ask", "go_on")
STATUSES = ("completed", "failed", "aborted")
PLACES = ("private", "project", "project.read")
SANDBOXES = ("auto", "strict", "off")
RULE_MOVES = ("retry", "ask", "continue", "again", "abort")

_WORDS = one_of(TEXT, ListOf(TEXT))
SOME_WORDS = one_of(TEXT, ListOf(TEXT, 1))
_SANDBOX = word(*SANDBOXES)
_MOVE = one_of(word("continue", "leave", "again"), Table("move"))
_SECONDS = one_of(NUMBER, TEXT)
_CONTRACT = one_of(MapOf(Anything()), TEXT)
_GATE = one_of(ListOf(one_of(Table("gate"), TEXT)), Table("gate"), TEXT)
_FIELDS = one_of(ListOf(one_of(Table("field"), TEXT)), TEXT)
_TOOLS = one_of(TEXT, ListOf(one_of(TEXT, MapOf(Anything()))), MapOf(one_of(NOTHING, MapOf(Anything()))))
_STEP = {
    "agents": Key(SOME_WORDS, "a list of agents and groups, one name, or an expression that gives a list"),
    "prompt": Key(TEXT, "what the agents are asked in this step: text, or a file beside the workflow"),
    "revise": Key(TEXT, "what they are asked instead from the second round on: text, or a file"),
    "reads": Key(_WORDS, "what the agents are shown: values, inputs.NAME, files, own.full, all.summary, …"),
    "writes": Key(_WORDS, "files the agents must write"),
    "output": Key(one_of(TEXT, Table("output")), "the name of the value that holds what the agents return"),
    "place": Key(word(*PLACES), "where the agents work: a private folder, or a worktree of the person's project"),
    "gate": Key(_GATE, "rules that the outputs of this step must pass, after those of the agent; or names of them"),
    "missing": Key(word(*MISSING), "when every agent of the step failed: ask (default), or go_on without"),
}

TABLES: dict[str, dict[str, Key]] = {
    "workflow": {
        "name": Key(TEXT, "the name of the workflow, one word", required=True),
        "description": Key(TEXT, "one line for lists"),
        "run_id": Key(TEXT, "template of run ids"),
        "workspace": Key(TEXT, "template of the folder of a run"),
        "inputs": Key(MapOf(one_of(NOTHING, word(*INPUT_TYPES), Table("input"))), "what a run is given at its start"),
        "settings": Key(MapOf(Table("setting")), "values fixed at the start of a run"),
        "limits": Key(Table("limits"), "circuit breakers"),
        "agents": Key(MapOf(one_of(NOTHING, Table("agent"))), "the roles"),
        "groups": Key(MapOf(ListOf(TEXT, 1)), "names for lists of agents"),
        "gates": Key(MapOf(one_of(ListOf(Table("gate"), 1), Table("gate"))), "gates that agents and steps use by name"),
        "fields": Key(MapOf(ListOf(Table("field"), 1)), "sets of fields that checkpoints and options use by name"),
        "checkpoints": Key(MapOf(Table("checkpoint")), "checkpoints that several phases share"),
        "phases": Key(ListOf(Table("phase"), 1), "the work, in order", required=True),
        "files": Key(ListOf(Table("file")), "files rendered from the run's record"),
        "kits": Key(ListOf(TEXT), "kits besides the packaged ones, by name"),
        "sandbox": Key(_SANDBOX, "whether commands are kept in: auto (default), strict or off"),
        "reopen": Key(TEXT, "the phase at which a completed run may be taken up again"),
        "replan": Key(one_of(TEXT, Table("replan")), "the phase to which `reconvene replan` goes back"),
        "closing": Key(TEXT, "what is said when a run has ended; a template"),
        "outcome": Key(EXPRESSION, "what a run that reached its end came to: a text, or {outcome, status, why}"),
        "completeness": Key(EXPRESSION, "what the person says to “did we capture everything?”, for stats"),
    },
    "replan": {
        "phase": Key(TEXT, "where planning begins anew", required=True),
        "set": Key(MapOf(Anything()), "values to set"),
    },
    "input": {
        "type": Key(word(*INPUT_TYPES), "what kind of value; default text"),
        "required": Key(FLAG, "a run cannot start without it"),
        "default": Key(Anything(), "the value where none is given"),
        "description": Key(TEXT, "one line for people"),
    },
    "setting": {
        "type": Key(word(*SETTING_TYPES), "what kind of value; default text"),
        "default": Key(Anything(), "the value; for types other than text, a string is an expression over inputs"),
        "expr": Key(EXPRESSION, "an expression over inputs, machine and the settings before it"),
        "env": Key(TEXT, "an environment variable that stands before the default"),
        "description": Key(TEXT, "one line for people"),
    },
    "limits": {
        "entries": Key(integer(1), "how often one phase may be entered in one scope"),
        "rounds": Key(integer(1), "rounds in the whole run"),
        "calls": Key(one_of(integer(1), MapOf(integer(0))), "agent tasks in the whole run, or {group: n, total: n}"),
        "cost": Key(one_of(NUMBER, MapOf(NUMBER)), "USD in the whole run, or {agent: n, group: n, total: n}"),
        "undo": Key(integer(0), "undone rounds in the whole run"),
        "concurrency": Key(integer(1), "agents that work at the same time"),
        "children": Key(integer(1), "runs that one run may start"),
    },
    "agent": {
        "prompt": Key(TEXT, "the role's prompt: text, or a file beside the workflow; default prompts/NAME.md"),
        "model": Key(TEXT, "the model, as provider:name; default auto"),
        "command": Key(SOME_WORDS, 'a program that gets the prompt on stdin, or "{{ settings.NAME }}"'),
        "python": Key(TEXT, "package.module:function"),
        "recorded": Key(one_of(FLAG, TEXT), "replay recorded/NAME.yaml"),
        "survey": Key(
            word("project", "branch", "ground", "tests", "change", "merge"),
            "what the engine itself finds out in the person's project; no model is asked",
        ),
        "remit": Key(TEXT, "what the agent is responsible for; remarks are routed by it"),
        "always": Key(FLAG, "part of every extra round, whomever the remarks affect"),
        "contract": Key(_CONTRACT, "JSON Schema of the output, or a .json or .yaml file with it"),
        "gate": Key(_GATE, "rules an output must pass, or names of them"),
        "retries": Key(integer(0), "further attempts after a rejected output; default 2"),
        "timeout": Key(_SECONDS, 'seconds, or "10m"'),
        "effects": Key(FLAG, "acts on the outside world: never run twice without asking"),
        "env": Key(_WORDS, "names of environment variables that a command may see"),
        "sandbox": Key(_SANDBOX, "whether a command is kept in: auto, strict or off; default what the workflow says"),
        "network": Key(FLAG, "false: a command reaches no network"),
        "devices": Key(_WORDS, "devices that a command may use: gpu, or paths below /dev"),
        "sockets": Key(_WORDS, "sockets that a command may use: docker, paths, or own: those it makes itself"),
        "options": Key(MapOf(Anything()), "options of the model: base_url, temperature, max_tokens and others"),
        "tools": Key(_TOOLS, "what the model may use while it works: files, shell, mcp and others, each with options"),
        "loop": Key(Table("loop"), "how far one attempt may go with its tools"),
    },
    "loop": {
        "turns": Key(integer(1), "how often the model is asked in one attempt; default 50"),
        "tokens": Key(integer(1), "tokens, in and out, of one attempt"),
        "cost": Key(NUMBER, "USD of one attempt"),
    },
    "gate": {
        "min_chars": Key(integer(1), "the shortest output that is accepted"),
        "headings": Key(_WORDS, "headings that must be there"),
        "if": Key(EXPRESSION, "reject when this expression over `output` is true"),
        "specific_to": Key(_WORDS, "files and inputs of which the output must name something"),
        "kit": Key(TEXT, "a gate that a kit brings, as KIT.GATE"),
        "about": Key(_WORDS, "for a kit's gate: files and inputs that it looks at"),
        "options": Key(MapOf(Anything()), "for a kit's gate: what else it is told"),
        "ask": Key(TEXT, "put to a model, where RECONVENE_GATE_MODEL names one: does the output do this?"),
        "code": Key(TEXT, "the first word of the reason, such as NO_GAPS_ADDRESSED"),
        "example": Key(TEXT, "an output that would pass, shown with the form: text, or a file beside the workflow"),
        "append": Key(TEXT, "with if: added to the output where it is true, instead of sending it back; a template"),
        "retry_with": Key(TEXT, "what to tell the agent; a template"),
    },
    "phase": {
        "id": Key(TEXT, "unique, one word", required=True),
        "title": Key(TEXT, "what people see instead of the id"),
        "when": Key(EXPRESSION, "enter only if this is true"),
        "each": Key(Table("each"), "go through a list, one item after the other"),
        "rounds": Key(Table("rounds"), "how often the steps run"),
        **_STEP,
        "reads": Key(_WORDS, "what the agents are shown; beside steps or phases: what all of them are shown first"),
        "steps": Key(ListOf(Table("step"), 1), "one after the other; the agents of a step work at the same time"),
        "phases": Key(ListOf(Table("phase"), 1), "phases inside this one"),
        "check": Key(Table("check"), "what must hold before the phase may end"),
        "checkpoint": Key(one_of(FLAG, TEXT, Table("checkpoint")), "where the run waits for a person"),
        "track": Key(MapOf(EXPRESSION), "follow something through the rounds: kit, into, and the keys of the kit"),
    },
    "each": {
        "of": Key(EXPRESSION, "an expression that gives a list", required=True),
        "key": Key(TEXT, "the property that identifies an item; default id"),
        "until": Key(EXPRESSION, "stop after an item when this is true"),
    },
    "rounds": {
        "plan": Key(ListOf(TEXT, 1), "the names of the standard rounds"),
        "max": Key(integer(1), "the most rounds of one entry"),
        "until": Key(EXPRESSION, "stop after a round when this is true"),
        "undo": Key(integer(0), "how often one round may be undone"),
        "folder": Key(TEXT, "a round's own folder, a template; kept beside it when the round is undone"),
    },
    "step": {
        **_STEP,
        "on": Key(SOME_WORDS, "run this step only in the rounds of these names, or in extra ones"),
        "when": Key(EXPRESSION, "run this step only if this is true"),
    },
    "output": {
        "name": Key(TEXT, "the name of the value"),
        "file": Key(TEXT, "the text is also written to this file"),
        "schema": Key(_CONTRACT, "JSON Schema of the output"),
    },
    "check": {
        "rules": Key(ListOf(Table("rule"), 1), "the first true one wins"),
        "script": Key(SOME_WORDS, 'a program that prints {"action": …}'),
        "max": Key(integer(0), "how often the check may send the phase back; default 2"),
        "timeout": Key(_SECONDS, 'how long the script may take: seconds, or "10m"'),
    },
    "rule": {
        "if": Key(EXPRESSION, "the rule applies when this is true"),
        "then": Key(one_of(word(*RULE_MOVES), Table("move")), "a move, retry, ask or abort"),
        "say": Key(TEXT, "why, for people and agents"),
    },
    "checkpoint": {
        "condition": Key(EXPRESSION, "ask only if this is true"),
        "question": Key(TEXT, "what is to be decided, in one sentence that ends with a question mark; a template"),
        "prompt": Key(TEXT, "what there is to know before one decides; a template"),
        "show_files": Key(_WORDS, "files to look at first; templates"),
        "status": Key(TEXT, "the checkpoint's own status word"),
        "feedback": Key(TEXT, "asked first on a terminal: what the person has to say; a template"),
        "fields": Key(_FIELDS, "what else is asked, or names of sets of fields"),
        "options": Key(ListOf(Table("option"), 1), "what can be chosen"),
        "who": Key(SOME_WORDS, "who decides: names of people, and teams as team:NAME; without it, every decider"),
        "within": Key(_SECONDS, "how long they have, such as 2d: then `late` says what follows"),
        "remind": Key(_SECONDS, "how long before the deadline they are reminded, such as 8h"),
        "late": Key(Table("late"), "what follows when nobody has decided in time"),
    },
    "late": {
        "who": Key(SOME_WORDS, "who may decide as well from the deadline on"),
        "option": Key(TEXT, "the label of the option that is taken then, as the deadline's and nobody's"),
    },
    "field": {
        "id": Key(TEXT, "the name of one field"),
        "each": Key(EXPRESSION, "an expression that gives a list: one field for each item"),
        "key": Key(TEXT, "the property that identifies an item; default id"),
        "type": Key(word(*FIELD_TYPES), "default text"),
        "prompt": Key(TEXT, "the question"),
        "options": Key(one_of(ListOf(TEXT, 1), TEXT), "the choices: a list, or an expression that gives one"),
        "required": Key(FLAG, "must be answered"),
        "blank": Key(Anything(), "stands in for no answer"),
        "default": Key(Anything(), "offered as the answer; for types other than text, a string is an expression"),
        "expr": Key(EXPRESSION, "an expression that gives the default"),
        "into": Key(TEXT, "the value that takes the answer"),
        "other": Key(FLAG, "a choice may be answered in other words than the options"),
        "under": Key(EXPRESSION, "an answer holds only as long as this gives the same"),
    },
    "option": {
        "label": Key(TEXT, "what the person reads and chooses", required=True),
        "then": Key(_MOVE, "continue, leave, again, {goto: phase}, {goto: phase, rerun: true} or {end: outcome}"),
        "when": Key(EXPRESSION, "offered only if this is true"),
        "why_not": Key(TEXT, "what is said where it is not; a template"),
        "recommend": Key(EXPRESSION, "recommended if this is true"),
        "remark": Key(word(*REMARKS), "whether a remark goes with it; default none"),
        "fields": Key(_FIELDS, "what is asked with this option, or names of sets of fields"),
        "as": Key(TEXT, "the name under which context.checkpoints records it"),
        "undo": Key(FLAG, "take the round back first"),
        "set": Key(MapOf(Anything()), "values to set"),
        "skip": Key(_WORDS, "phases to skip"),
        "start": Key(Table("start"), "runs to put into the queue, one for each piece"),
        "needs": Key(integer(1), "how many different people must choose it; default 1"),
    },
    "start": {
        "workflow": Key(TEXT, "this workflow's own name, or that of a packaged one", required=True),
        "each": Key(
            EXPRESSION, "an expression that gives the pieces, {id, title, description} or texts", required=True
        ),
        "inputs": Key(MapOf(EXPRESSION), "inputs of each run, as expressions; item is the piece"),
    },
    "move": {
        "again": Key(one_of(FLAG, TEXT, ListOf(TEXT, 1)), "another round, with these agents only"),
        "goto": Key(TEXT, 'a phase, "previous" or "current"'),
        "rerun": Key(FLAG, "run the phase anew instead of reopening its last visit"),
        "end": Key(TEXT, "end the run with this outcome"),
        "status": Key(word(*STATUSES), "how an ended run counts; default from the outcome"),
    },
    "file": {
        "path": Key(TEXT, "where in the workspace; a template", required=True),
        "template": Key(TEXT, "a file in templates/, or the template itself"),
        "each": Key(
            word("tasks", "rejected", "tools"),
            "one file for each accepted task, for each rejected output; or for each tool, in the folder `path`",
        ),
        "after": Key(TEXT, "a phase: the file is rendered when it ends, and at no other time"),
        "from": Key(TEXT, "with each: the part of the output to write, such as output.full"),
        "section": Key(TEXT, "the heading in a file of others below which it is rendered, such as ## Feedback"),
    },
}

# Keys that were taken out, and what to write instead (docs/decisions/0022).
REMOVED: dict[str, dict[str, str]] = {
    "workflow": {"language": "remove it: there is one version of the language"},
    "limits": {"model_concurrency": "write concurrency: it bounds all agents of the run that work at the same time"},
    "agent": {
        "schema": "write contract",
        "base_url": "write options: {base_url: …}",
        "temperature": "write options: {temperature: …}",
        "max_tokens": "write options: {max_tokens: …}",
    },
    "gate": {"schema": "write contract at the agent, or output: {name: …, schema: …} at the step"},
}
