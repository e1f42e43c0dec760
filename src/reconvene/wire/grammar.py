"""Every key of the workflow language, with its shape and one line of explanation: the single table of it.

The loader refuses what is not here; `reconvene schema` and the editors' completion are made from it. Other spellings
are in `spellings.py`: they are rewritten before anything is compared with this table.
"""

from __future__ import annotations

from reconvene.core.definition.field_types import TYPES
from reconvene.wire.shapes import (
    Anything,
    Expression,
    Flag,
    Integer,
    Key,
    Later,
    ListOf,
    MapOf,
    Nothing,
    Number,
    Table,
    Text,
    Word,
    one_of,
)

INPUT_TYPES = ("text", "number", "bool", "json", "file", "files", "folder", "project")
SETTING_TYPES = ("text", "number", "bool", "json")
FIELD_TYPES = (*TYPES, "item")
REMARKS = ("none", "optional", "required")
MISSING = ("ask", "go_on")
STATUSES = ("completed", "failed", "aborted")
PLACES = ("private", "project", "project.read")
RULE_MOVES = ("retry", "ask", "continue", "again", "abort")

_EXPRESSION = Expression()
_WORDS = one_of(Text(), ListOf(Text()))
_SOME_WORDS = one_of(Text(), ListOf(Text(), 1))
_MOVE = one_of(Word(("continue", "leave", "again")), Table("move"))
_SECONDS = one_of(Number(), Text())
_CONTRACT = one_of(MapOf(Anything()), Text())
_GATE = one_of(ListOf(one_of(Table("gate"), Text())), Table("gate"), Text())
_FIELDS = one_of(ListOf(one_of(Table("field"), Text())), Text())
_STEP = {
    "agents": Key(_SOME_WORDS, "a list of agents and groups, one name, or an expression that gives a list"),
    "prompt": Key(Text(), "what the agents are asked in this step: text, or a file beside the workflow"),
    "revise": Key(Text(), "what they are asked instead from the second round on: text, or a file"),
    "reads": Key(_WORDS, "what the agents are shown: values, inputs.NAME, files, own.full, all.summary, …"),
    "writes": Key(_WORDS, "files the agents must write"),
    "output": Key(one_of(Text(), Table("output")), "the name of the value that holds what the agents return"),
    "place": Key(Word(PLACES), "where the agents work: a private folder, or a worktree of the person's project"),
    "gate": Key(_GATE, "rules that the outputs of this step must pass, after those of the agent; or names of them"),
    "missing": Key(Word(MISSING), "when every agent of the step failed: ask (default), or go_on without"),
}

TABLES: dict[str, dict[str, Key]] = {
    "workflow": {
        "name": Key(Text(), "the name of the workflow, one word", required=True),
        "description": Key(Text(), "one line for lists"),
        "run_id": Key(Text(), "template of run ids"),
        "workspace": Key(Text(), "template of the folder of a run"),
        "inputs": Key(MapOf(one_of(Nothing(), Word(INPUT_TYPES), Table("input"))), "what a run is given at its start"),
        "settings": Key(MapOf(Table("setting")), "values fixed at the start of a run"),
        "limits": Key(Table("limits"), "circuit breakers"),
        "agents": Key(MapOf(one_of(Nothing(), Table("agent"))), "the roles"),
        "groups": Key(MapOf(ListOf(Text(), 1)), "names for lists of agents"),
        "gates": Key(MapOf(one_of(ListOf(Table("gate"), 1), Table("gate"))), "gates that agents and steps use by name"),
        "fields": Key(MapOf(ListOf(Table("field"), 1)), "sets of fields that checkpoints and options use by name"),
        "checkpoints": Key(MapOf(Table("checkpoint")), "checkpoints that several phases share"),
        "phases": Key(ListOf(Table("phase"), 1), "the work, in order", required=True),
        "files": Key(ListOf(Table("file")), "files rendered from the run's record"),
        "kits": Key(ListOf(Text()), "kits besides the packaged ones, by name"),
        "reopen": Key(Text(), "the phase at which a completed run may be taken up again"),
        "closing": Key(Text(), "what is said when a run has ended; a template"),
        "outcome": Key(_EXPRESSION, "what a run that reached its end came to: a text, or {outcome, status, why}"),
        "completeness": Key(_EXPRESSION, "what the person says to “did we capture everything?”, for stats"),
    },
    "input": {
        "type": Key(Word(INPUT_TYPES), "what kind of value; default text"),
        "required": Key(Flag(), "a run cannot start without it"),
        "default": Key(Anything(), "the value where none is given"),
        "description": Key(Text(), "one line for people"),
    },
    "setting": {
        "type": Key(Word(SETTING_TYPES), "what kind of value; default text"),
        "default": Key(Anything(), "the value; for types other than text, a string is an expression over inputs"),
        "expr": Key(_EXPRESSION, "an expression over inputs, machine and the settings before it"),
        "env": Key(Text(), "an environment variable that stands before the default"),
        "description": Key(Text(), "one line for people"),
    },
    "limits": {
        "entries": Key(Integer(1), "how often one phase may be entered in one scope"),
        "rounds": Key(Integer(1), "rounds in the whole run"),
        "calls": Key(one_of(Integer(1), MapOf(Integer(0))), "agent tasks in the whole run, or {group: n, total: n}"),
        "undo": Key(Integer(0), "undone rounds in the whole run"),
        "concurrency": Key(Integer(1), "agents that work at the same time"),
        "children": Key(Integer(1), "runs that one run may start"),
    },
    "agent": {
        "prompt": Key(Text(), "the role's prompt: text, or a file beside the workflow; default prompts/NAME.md"),
        "model": Key(Text(), "the model, as provider:name; default auto"),
        "command": Key(_SOME_WORDS, 'a program that gets the prompt on stdin, or "{{ settings.NAME }}"'),
        "python": Key(Text(), "package.module:function"),
        "recorded": Key(one_of(Flag(), Text()), "replay recorded/NAME.yaml"),
        "survey": Key(Word(("project",)), "look through the person's project; no model is asked"),
        "remit": Key(Text(), "what the agent is responsible for; remarks are routed by it"),
        "always": Key(Flag(), "part of every extra round, whomever the remarks affect"),
        "contract": Key(_CONTRACT, "JSON Schema of the output, or a .json or .yaml file with it"),
        "gate": Key(_GATE, "rules an output must pass, or names of them"),
        "retries": Key(Integer(0), "further attempts after a rejected output; default 2"),
        "timeout": Key(_SECONDS, 'seconds, or "10m"'),
        "effects": Key(Flag(), "acts on the outside world: never run twice without asking"),
        "env": Key(_WORDS, "names of environment variables that a command may see"),
        "options": Key(MapOf(Anything()), "options of the model: base_url, temperature, max_tokens and others"),
        "tools": Key(Anything(), "tools the model may use"),
    },
    "gate": {
        "min_chars": Key(Integer(1), "the shortest output that is accepted"),
        "headings": Key(_WORDS, "headings that must be there"),
        "if": Key(_EXPRESSION, "reject when this expression over `output` is true"),
        "specific_to": Key(_WORDS, "files and inputs of which the output must name something"),
        "kit": Key(Text(), "a gate that a kit brings, as KIT.GATE"),
        "about": Key(_WORDS, "for a kit's gate: files and inputs that it looks at"),
        "options": Key(MapOf(Anything()), "for a kit's gate: what else it is told"),
        "ask": Key(Text(), "put to a model, where RECONVENE_GATE_MODEL names one: does the output do this?"),
        "code": Key(Text(), "the first word of the reason, such as NO_GAPS_ADDRESSED"),
        "example": Key(Text(), "an output that would pass, shown with the retry: text, or a file beside the workflow"),
        "retry_with": Key(Text(), "what to tell the agent; a template"),
    },
    "phase": {
        "id": Key(Text(), "unique, one word", required=True),
        "title": Key(Text(), "what people see instead of the id"),
        "when": Key(_EXPRESSION, "enter only if this is true"),
        "each": Key(Table("each"), "go through a list, one item after the other"),
        "rounds": Key(Table("rounds"), "how often the steps run"),
        **_STEP,
        "reads": Key(_WORDS, "what the agents are shown; beside steps or phases: what all of them are shown first"),
        "steps": Key(ListOf(Table("step"), 1), "one after the other; the agents of a step work at the same time"),
        "phases": Key(ListOf(Table("phase"), 1), "phases inside this one"),
        "check": Key(Table("check"), "what must hold before the phase may end"),
        "checkpoint": Key(one_of(Flag(), Text(), Table("checkpoint")), "where the run waits for a person"),
        "track": Key(MapOf(_EXPRESSION), "follow something through the rounds: kit, into, and the keys of the kit"),
    },
    "each": {
        "of": Key(_EXPRESSION, "an expression that gives a list", required=True),
        "key": Key(Text(), "the property that identifies an item; default id"),
        "until": Key(_EXPRESSION, "stop after an item when this is true"),
    },
    "rounds": {
        "plan": Key(ListOf(Text(), 1), "the names of the standard rounds"),
        "max": Key(Integer(1), "the most rounds of one entry"),
        "until": Key(_EXPRESSION, "stop after a round when this is true"),
        "undo": Key(Integer(0), "how often one round may be undone"),
        "folder": Key(Text(), "a round's own folder, a template; kept beside it when the round is undone"),
    },
    "step": {
        **_STEP,
        "on": Key(_SOME_WORDS, "run this step only in the rounds of these names, or in extra ones"),
        "when": Key(_EXPRESSION, "run this step only if this is true"),
    },
    "output": {
        "name": Key(Text(), "the name of the value"),
        "file": Key(Text(), "the text is also written to this file"),
        "schema": Key(_CONTRACT, "JSON Schema of the output"),
    },
    "check": {
        "rules": Key(ListOf(Table("rule"), 1), "the first true one wins"),
        "script": Key(_SOME_WORDS, 'a program that prints {"action": …}'),
        "max": Key(Integer(0), "how often the check may send the phase back; default 2"),
        "timeout": Key(_SECONDS, 'how long the script may take: seconds, or "10m"'),
    },
    "rule": {
        "if": Key(_EXPRESSION, "the rule applies when this is true"),
        "then": Key(one_of(Word(RULE_MOVES), Table("move")), "a move, retry, ask or abort"),
        "say": Key(Text(), "why, for people and agents"),
    },
    "checkpoint": {
        "condition": Key(_EXPRESSION, "ask only if this is true"),
        "prompt": Key(Text(), "the question; a template"),
        "show_files": Key(_WORDS, "files to look at first; templates"),
        "status": Key(Text(), "the checkpoint's own status word"),
        "feedback": Key(Text(), "asked first on a terminal: what the person has to say; a template"),
        "fields": Key(_FIELDS, "what else is asked, or names of sets of fields"),
        "options": Key(ListOf(Table("option"), 1), "what can be chosen"),
    },
    "field": {
        "id": Key(Text(), "the name of one field"),
        "each": Key(_EXPRESSION, "an expression that gives a list: one field for each item"),
        "key": Key(Text(), "the property that identifies an item; default id"),
        "type": Key(Word(FIELD_TYPES), "default text"),
        "prompt": Key(Text(), "the question"),
        "options": Key(one_of(ListOf(Text(), 1), Text()), "the choices: a list, or an expression that gives one"),
        "required": Key(Flag(), "must be answered"),
        "blank": Key(Anything(), "stands in for no answer"),
        "default": Key(Anything(), "offered as the answer; for types other than text, a string is an expression"),
        "expr": Key(_EXPRESSION, "an expression that gives the default"),
        "into": Key(Text(), "the value that takes the answer"),
    },
    "option": {
        "label": Key(Text(), "what the person reads and chooses", required=True),
        "then": Key(_MOVE, "continue, leave, again, {goto: phase}, {goto: phase, rerun: true} or {end: outcome}"),
        "when": Key(_EXPRESSION, "offered only if this is true"),
        "why_not": Key(Text(), "what is said where it is not; a template"),
        "recommend": Key(_EXPRESSION, "recommended if this is true"),
        "remark": Key(Word(REMARKS), "whether a remark goes with it; default none"),
        "fields": Key(_FIELDS, "what is asked with this option, or names of sets of fields"),
        "as": Key(Text(), "the name under which context.checkpoints records it"),
        "undo": Key(Flag(), "take the round back first"),
        "set": Key(MapOf(Anything()), "values to set"),
        "skip": Key(_WORDS, "phases to skip"),
        "start": Key(Table("start"), "runs to put into the queue, one for each piece"),
    },
    "start": {
        "workflow": Key(Text(), "this workflow's own name, or that of a packaged one", required=True),
        "each": Key(
            _EXPRESSION, "an expression that gives the pieces, {id, title, description} or texts", required=True
        ),
        "inputs": Key(MapOf(_EXPRESSION), "inputs of each run, as expressions; item is the piece"),
    },
    "move": {
        "again": Key(one_of(Flag(), Text(), ListOf(Text(), 1)), "another round, with these agents only"),
        "goto": Key(Text(), 'a phase, "previous" or "current"'),
        "rerun": Key(Flag(), "run the phase anew instead of reopening its last visit"),
        "end": Key(Text(), "end the run with this outcome"),
        "status": Key(Word(STATUSES), "how an ended run counts; default from the outcome"),
    },
    "file": {
        "path": Key(Text(), "where in the workspace; a template", required=True),
        "template": Key(Text(), "a file in templates/, or the template itself"),
        "each": Key(Word(("tasks",)), "one file for each accepted task"),
        "from": Key(Text(), "with each: the part of the output to write, such as output.full"),
        "section": Key(Later()),
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
