"""Bindings: who carries an agent out, in place of what the workflow says. Its prompt, contract and gates stay.

A binding is for one agent, or for every agent that a model carries out. The one for the agent itself counts first.
"""

# No `from __future__ import annotations` here: annotations would be texts, which msgspec must evaluate at each start.

import shlex
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.definition.workflow import Agent, Workflow
from reconvene.errors import Refused
from reconvene.language.closest import closest
from reconvene.language.late_patterns import late

EVERYONE = ""

_FUNCTION = late(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_MODEL = late(r"auto|[A-Za-z][\w-]*:[^\s=]\S*")
_PLAIN = late(r"[\w@%+:,./\s'\"-][\w@%+=:,./\s'\"-]*")  # means the same with and without a shell
_VARIABLE_FIRST = late(r"\s*\w+=")
_OF_ANY_PROVIDER = frozenset(
    "max_tokens temperature top_p seed stop_sequences presence_penalty frequency_penalty tools stream "
    "timeout connect_timeout first_token_timeout token_timeout".split()
)


class Binding(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Exactly one of model, command and python is set."""

    agent: str = EVERYONE  # whom it is for; in what a person asks for, also a group
    model: str = ""
    command: tuple[str, ...] = ()
    python: str = ""
    fallback: bool = False  # of EVERYONE: only for agents whose model the workflow leaves open
    source: str = ""  # the file and line that says so; "" = a person did
    beside: str = ""  # the folder in which the module of `python` lies; "" = Python finds it

    @property
    def who(self) -> str:
        """In words that can be given again."""
        return self.model or (f"python:{self.python}" if self.python else _as_line(self.command))


def _as_line(command: tuple[str, ...]) -> str:
    return command[2] if command[:2] == ("sh", "-c") and len(command) == 3 else shlex.join(command)


def runs(text: str, agent: str) -> Binding:
    """What `--agent` is given for this agent: a command line, or python:package.module:function."""
    said = text.strip()
    if said.startswith("python:"):
        function = said.removeprefix("python:")
        if not _FUNCTION.fullmatch(function):
            raise Refused(f"{said!r} does not name a function", hint="write python:package.module:function")
        return Binding(agent, python=function)
    try:
        words = shlex.split(said)
    except ValueError as error:
        problem = f"{said!r} is no command line: {str(error).lower()}"
        raise Refused(problem, hint="quote it as a shell wants it") from None
    if not words:
        raise Refused(f"there is no command for {agent}", hint=f"write it as in --agent '{agent}=claude -p'")
    if _PLAIN.fullmatch(said) and not _VARIABLE_FIRST.match(said):
        return Binding(agent, command=tuple(words))
    return Binding(agent, command=("sh", "-c", said))


def either(text: str, agent: str) -> Binding:
    """A model, a command line or a function, whichever this is."""
    said = text.strip()
    if _MODEL.fullmatch(said) and not said.startswith("python:"):
        return Binding(agent, model=said)
    return runs(said, agent)


def expanded(workflow: Workflow, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """These with groups spread, what is said of one agent last; Refused where there is nobody to bind."""
    found: dict[str, Binding] = {}
    for each in sorted(bindings, key=lambda one: (one.agent != EVERYONE, one.agent not in workflow.groups)):
        for name in _meant(workflow, each):
            found[name] = replace(each, agent=name)
    return tuple(found.values())


def fitting(workflow: Workflow, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Of these defaults, the ones that there is somebody for in this workflow."""
    kept = []
    for each in bindings:
        try:
            _meant(workflow, each)
        except Refused:
            continue
        kept.append(each)
    return expanded(workflow, kept)


def _meant(workflow: Workflow, binding: Binding) -> tuple[str, ...]:
    name, agents = binding.agent, workflow.agents
    if name == EVERYONE:
        if not any(agent.kind == "model" or agent.or_model for agent in agents.values()):
            raise _nobody(workflow)
        return (EVERYONE,)
    members = (name,) if name in agents else workflow.groups.get(name, ())
    if not members:
        known = f"agents: {', '.join(agents)}" + (
            f"; groups: {', '.join(groups)}" if (groups := workflow.groups) else ""
        )
        near = closest(name, [*agents, *groups], 1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise Refused(f"{workflow.name} has no agent or group {name!r}", hint=f"{meant}{known}")
    for member in members:
        if why := _why_not(agents[member]):
            raise Refused(f"{member} cannot be bound to {binding.who}: {why}")
    return members


def _why_not(agent: Agent) -> str:
    match agent.kind:
        case "recorded":
            return "it answers from a recording"
        case "survey":
            return "it looks through the project by itself, and nobody is asked"
    return ""


def _nobody(workflow: Workflow) -> Refused:
    kinds = {agent.name: agent.kind for agent in workflow.agents.values()}
    if set(kinds.values()) <= {"recorded", "survey"}:
        return Refused("every agent of this run answers from a recording: no model is asked")
    told = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
    first = next(name for name, kind in kinds.items() if kind not in ("recorded", "survey"))
    return Refused(
        f"no agent of {workflow.name} is carried out by a model: {told}",
        hint=f"name one: --model {first}=provider:name",
    )


def combined(before: Mapping[str, Binding], added: Iterable[Binding]) -> dict[str, Binding]:
    """What holds afterwards. A model for everyone is for those, too, that had a model of their own until then."""
    found = dict(before)
    for each in added:
        if each.agent == EVERYONE and not each.fallback:
            found = {name: replace(each, agent=name) if one.model else one for name, one in found.items()}
        found[each.agent] = each
    return found


def bound(workflow: Workflow, bindings: Iterable[Binding]) -> Workflow:
    """The workflow with its agents as these have them."""
    held = {one.agent: one for one in bindings}
    return replace(workflow, agents={name: carried_out(agent, held) for name, agent in workflow.agents.items()})


def carried_out(agent: Agent, bindings: Mapping[str, Binding]) -> Agent:
    """The agent as the bindings have it. Its command line is filled in before, where nothing is bound to it alone."""
    own = bindings.get(agent.name)
    if own is not None:
        return _bound(agent, own)
    everyone = bindings.get(EVERYONE)
    if everyone is None or agent.kind != "model":
        return agent
    left_open = agent.model == "auto" and not agent.options.get("base_url")
    return _bound(agent, everyone) if left_open or not everyone.fallback else agent


def _bound(agent: Agent, binding: Binding) -> Agent:
    # no line: what is wrong with it now does not stand in the workflow's file
    kept = replace(agent, command=(), command_line="", or_model=False, python="", line=0)
    if binding.command:
        return replace(kept, kind="command", command=binding.command)
    if binding.python:
        return replace(kept, kind="python", python=binding.python, beside=binding.beside or agent.beside)
    same = _provider(agent.model) == _provider(binding.model)
    options = {name: value for name, value in agent.options.items() if same or name in _OF_ANY_PROVIDER}
    return replace(kept, kind="model", model=binding.model, options=options)


def _provider(model: str) -> str:
    return model.partition(":")[0] if ":" in model else ""
