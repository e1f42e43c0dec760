"""A workflow, already valid. Made by `reconvene.wire`; pinned with every run as JSON.

Nothing here checks anything: whoever holds a `Workflow` may rely on it. Expressions are kept as JavaScript source.
Pins are read for ever: `wire/pins.py` says what a change of a field, or of a default, needs.
"""

# No `from __future__ import annotations` here: annotations would be texts, which msgspec must evaluate at each start.

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field


class Input(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """type: text | number | bool | json | file | files | folder | project.

    A file's content (not its path) is the value; of a project only its absolute path, for agents to look into.
    """

    type: str = "text"
    required: bool = False
    default: object = None
    description: str = ""


class Setting(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Fixed at start: a plain value, or an expression over `inputs`, `machine` and earlier `settings` (`expr` set)."""

    type: str = "text"
    default: object = None
    expr: str = ""
    description: str = ""
    env: str = ""  # an environment variable that stands before the default


class Limits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Circuit breakers. Whatever one of them stops, it is named."""

    entries: int = 10  # how often one phase may be entered in one scope
    rounds: int = 500  # rounds in the whole run
    calls: int = 1000  # agent tasks in the whole run
    group_calls: dict[str, int] = field(default_factory=dict)  # agent tasks per group
    undo: int = 5  # undone rounds in the whole run
    concurrency: int = 8  # agents of this run working at the same time
    children: int = 50  # runs that this run may start
    cost: float = 0.0  # USD in the whole run; 0 = no limit
    costs: dict[str, float] = field(default_factory=dict)  # USD per agent or group


class Gate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One rule an output must pass. Exactly one of min_chars, headings, schema, when, kit, ask is set."""

    min_chars: int = 0
    headings: tuple[str, ...] = ()
    schema: object = None  # JSON Schema
    when: str = ""  # `if`: rejected when this expression over the usual roots and `output` {text, value, files} is true
    retry_with: str = ""  # what to tell the agent; a template
    kit: str = ""  # KIT.GATE: a rule that a kit brings
    about: tuple[str, ...] = ()  # files and inputs that the kit's rule looks at
    options: dict[str, object] = field(default_factory=dict)  # what else it is told
    ask: str = ""  # put to a model where one is configured: does the output do this?
    code: str = ""  # the first word of the reason, where the rule's own does not say enough
    example: str = ""  # an output that would pass, shown with the form
    append: str = ""  # with `when`: this is added to the output, instead of sending it back; a template


class Tool(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a model may use while it works. `name`: files, documents, sql, graph, project, shell or mcp."""

    name: str
    ask: str = ""  # always, or an expression: whether a person is asked before each call
    options: dict[str, object] = field(default_factory=dict)
    line: int = 0


class Loop(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How far one attempt may go with its tools. 0 = as far as it likes."""

    turns: int = 50
    tokens: int = 0
    cost: float = 0.0


class Agent(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A role. `kind` says which of the adapters runs it."""

    name: str
    kind: Literal["model", "command", "python", "recorded", "survey"] = "model"
    prompt: str = ""  # template text, already read from its file
    model: str = "auto"
    command: tuple[str, ...] = ()
    python: str = ""  # "package.module:function"
    recorded: str = ""  # name of a recording inside Workflow.recordings
    remit: str = ""
    schema: object = None  # output contract (JSON Schema); the reply is then parsed as JSON
    gates: tuple[Gate, ...] = ()
    retries: int = 2
    timeout: float = 1800.0
    effects: bool = False
    always: bool = False  # part of every extra round
    env: tuple[str, ...] = ()  # further environment names that a command agent may see
    options: dict[str, object] = field(default_factory=dict)  # base_url, temperature, max_tokens, … for a model
    line: int = 0
    command_line: str = ""  # instead of `command`: a template over settings and inputs, split into words
    or_model: bool = False  # where the command line comes out empty, a model does the work
    beside: str = ""  # the folder of the workflow's file, where its `python` module lies in it
    sandbox: Literal["auto", "strict", "off"] = "auto"  # of a command; already what the workflow says where it does not
    network: bool = True
    devices: tuple[str, ...] = ()  # gpu, or paths below /dev
    sockets: tuple[str, ...] = ()  # docker, own, or paths
    tools: tuple[Tool, ...] = ()  # of a model
    loop: Loop | None = None  # None = as usual
    survey: str = ""  # of a survey, what it looks at: branch, ground, tests, change, merge; "" = the project


class Continue(Struct, frozen=True, tag="continue", omit_defaults=True, forbid_unknown_fields=True):
    """On to what comes next; with `leave`, out of the phase at once, whatever rounds its plan still holds."""

    leave: bool = False


class Again(Struct, frozen=True, tag="again", omit_defaults=True, forbid_unknown_fields=True):
    agents: tuple[str, ...] = ()  # only these; () = whoever the steps name


class Goto(Struct, frozen=True, tag="goto", omit_defaults=True, forbid_unknown_fields=True):
    target: str  # a phase id, or "previous"; already resolved, never "current"
    rerun: bool = False


class End(Struct, frozen=True, tag="end", omit_defaults=True, forbid_unknown_fields=True):
    outcome: str = "completed"
    status: Literal["completed", "failed", "aborted"] = "completed"


Move = Continue | Again | Goto | End


class Field(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """type: one of `field_types.TYPES`, or item (the item itself says: {id, text, type, options})."""

    id: str = ""
    each: str = ""  # expression giving a list: one field per item
    key: str = "id"
    type: str = "text"
    prompt: str = ""
    options: tuple[str, ...] = ()
    options_expr: str = ""
    required: bool = False
    blank: object = None  # stands in for no answer when the checkpoint is left
    default: object = None
    default_expr: str = ""
    into: str = ""  # value path, "answers" or "redo.reason"; "" = recorded with the decision only
    other: bool = False  # a choice may be answered in other words than the options
    under: str = ""  # expression: an answer holds only as long as it gives the same


class Start(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One run of `workflow` for each piece that `each` gives. The workflow's own name means itself, as pinned."""

    workflow: str
    each: str
    inputs: dict[str, str] = field(default_factory=dict)  # input → expression; `item` is the piece


class Option(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    label: str
    then: Move = field(default_factory=Continue)
    when: str = ""
    recommend: str = ""
    remark: Literal["none", "optional", "required"] = "none"
    fields: tuple[Field, ...] = ()
    alias: str = ""  # `as`: the name under which context.checkpoints records it
    undo: bool = False
    set: dict[str, object] = field(default_factory=dict)  # value path → constant
    skip: tuple[str, ...] = ()
    start: Start | None = None
    line: int = 0
    why_not: str = ""  # said where `when` keeps it from being chosen; a template
    needs: int = 1  # so many different people must choose it


class Late(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What follows when nobody has decided in time: these may decide as well, or this option is taken."""

    who: tuple[str, ...] = ()
    option: str = ""


class Checkpoint(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    prompt: str = "Continue with next phase?"
    condition: str = ""
    show_files: tuple[str, ...] = ()
    status: str = ""
    feedback: str = ""  # asked first on a terminal
    fields: tuple[Field, ...] = ()
    options: tuple[Option, ...] = ()
    line: int = 0
    question: str = ""  # what is to be decided, in one sentence; a template
    who: tuple[str, ...] = ()  # names, and teams as team:NAME: only these decide; () = whoever may decide
    within: float = 0.0  # seconds from its opening to its deadline; 0 = it has none
    remind: float = 0.0  # so many seconds before the deadline
    late: Late | None = None


class Each(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    of: str
    key: str = "id"
    until: str = ""


class Rounds(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`plan` holds the standard rounds. With `until` and no plan of its own, rounds go on to `max` (`open_ended`).

    `folder` names where a round keeps its files (a template): when the round is undone they are kept beside it.
    """

    plan: tuple[str, ...] = ("main",)
    max: int = 1
    until: str = ""
    undo: int = 2
    open_ended: bool = False
    folder: str = ""


OUTPUT_WORDS = ("own", "next", "all", "round")  # in `reads`, each with one of the forms below; kits bring further ones
OUTPUT_FORMS = ("full", "summary")


class Step(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`agents` (literal, groups already spread) or `agents_expr`. `reads` None = everything the run has produced."""

    agents: tuple[str, ...] = ()
    agents_expr: str = ""
    when: str = ""
    prompt: str = ""
    revise: str = ""  # what is asked instead from the second round on
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] = ()  # patterns, templates; each must be written, nothing else is taken into the workspace
    output: str = ""  # value name
    output_file: str = ""  # the output's text is also this file; a template
    schema: object = None
    line: int = 0
    place: Literal["", "project", "project.read"] = ""  # where the agents work; "" = each in a private folder
    missing: Literal["ask", "go_on"] = "ask"  # when every agent of the step failed: ask the person, or go on without
    gates: tuple[Gate, ...] = ()  # after those of the agent


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of a check. then: a move, or None = ask the person (escalate)."""

    when: str
    then: Move | None = None
    say: str = ""


class Check(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The gap check: `rules` (first true one wins) or a `script` that answers {"action", "agents", "say"}."""

    rules: tuple[Rule, ...] = ()
    script: tuple[str, ...] = ()
    max: int = 2
    timeout: float = 300.0


class Track(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a kit's tracker follows. The keys of `given`, `outputs` and `documents` are the kit's own."""

    into: str  # the value that holds what it knows
    kit: str
    given: dict[str, str] = field(default_factory=dict)  # expressions
    outputs: dict[str, str] = field(default_factory=dict)  # names of outputs of the phase's steps
    documents: dict[str, str] = field(default_factory=dict)  # paths of files


class Phase(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    id: str
    when: str = ""
    each: Each | None = None
    rounds: Rounds = field(default_factory=Rounds)
    steps: tuple[Step, ...] = ()
    phases: "tuple[Phase, ...]" = ()
    check: Check | None = None
    checkpoint: Checkpoint | None = None
    title: str = ""
    line: int = 0
    track: Track | None = None


class Replan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where planning begins anew when a person says so at a stop, and the values that are set then."""

    phase: str
    set: dict[str, object] = field(default_factory=dict)


class FileSpec(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A file the engine renders from views of the log. `each` = "tasks": one per accepted task, from `source`;
    "rejected": one per output that a gate sent back; "tools":
    `path` is a folder, with a page for each tool that agents have. `after`: only when this phase ends."""

    path: str
    template: str = ""  # name in Workflow.templates
    each: str = ""
    source: str = ""
    section: str = ""  # a heading: only what stands below it is the engine's, the rest of the file is others'
    after: str = ""

    @property
    def for_people(self) -> str:
        """A pattern of the files that no agent is shown with `files`; "" where they are for everybody."""
        if self.each == "tools":
            return f"{self.path}/"
        return re.sub(r"\{[{%].*?[%}]\}", "*", self.path) if self.each == "rejected" else ""


class Workflow(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    name: str
    phases: tuple[Phase, ...]
    description: str = ""
    file: str = ""  # the file name it came from, for messages (never a full path)
    source: str = ""  # its text, as written
    inputs: dict[str, Input] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    agents: dict[str, Agent] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[FileSpec, ...] = ()
    templates: dict[str, str] = field(default_factory=dict)  # name → text
    recordings: dict[str, object] = field(default_factory=dict)  # name → parsed recording
    names: dict[str, str] = field(default_factory=dict)  # value name → id of the `each` phase it lives in, "" = the run
    run_id: str = ""  # template of ids, "" = "<name>-<n>"
    workspace: str = ""  # template of the folder, "" = "runs/<run id>" beside the state
    reopen: str = ""
    closing: str = ""  # template of what is said when a run has ended
    kits: tuple[str, ...] = ()  # besides the packaged ones
    outcome: str = ""  # expression: what a run that reached its end came to, a text or {outcome, status}
    completeness: str = ""  # expression: what the person says to "did we capture everything?"
    sandbox: Literal["auto", "strict", "off"] = "auto"  # for the scripts of its checks
    replan: Replan | None = None


def every_phase(workflow: Workflow) -> Iterator[Phase]:
    """All of them, the nested ones too, in the order in which they are written."""

    def walk(phases: tuple[Phase, ...]) -> Iterator[Phase]:
        for phase in phases:
            yield phase
            yield from walk(phase.phases)

    return walk(workflow.phases)
