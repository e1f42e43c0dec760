"""What an output is held against, told before the work: files to write, gates in plain words, one worked example."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Agent, Gate, Step
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.state import RunState
from reconvene.core.shown import scope
from reconvene.errors import UserError
from reconvene.language.expressions import ExpressionError, truth
from reconvene.language.late_patterns import late
from reconvene.prompts.compact_schema import compact, worked_example

_IN_PROJECT = {
    "project": "Your working directory is a worktree of the project, on a branch of its own. Change the files there; "
    "whatever you change is committed for you when you are done.",
    "project.read": "Your working directory is a worktree of the project. You may run things there; whatever you "
    "change in it is thrown away.",
}
_AS_BLOCKS = (
    "Change the project by handing over whole files, each in its own block,\n\n"
    '<file path="folder/name">\ncontent\n</file>\n\nwith paths from the project\'s folder. Files that you do not '
    "name stay as they are. Everything outside such blocks is your answer itself."
)
_FILE = late(r'<file path="([^"]+)">\n(.*?)\n</file>', re.DOTALL)
_CHECKED = "Your answer is checked before anybody reads it."
_NOTHING: dict[str, object] = {"text": "", "value": None, "files": [], "commit": "", "diff": ""}


def form(state: RunState, book: Book, agent: Agent, step: Step, writes: tuple[str, ...], schema: object) -> str:
    """For the end of a prompt. `agent` has the step's gates among its own."""
    parts = [_in_project(step, agent) or _files(writes, agent, schema)]
    if not agent.gates:
        return parts[0]
    rules, sentences = list(_rules(agent.gates)), list(_sentences(state, book, agent.gates))
    added = list(_added(state, book, agent.gates))
    if rules:
        parts.append("\n".join([f"{_CHECKED} It is refused if", *(f"- {rule}" for rule in rules)]))
    if sentences:
        which = "It is also refused" if rules else f"{_CHECKED} It is refused"
        parts.append("\n".join([f"{which} with one of these sentences, where it applies:", *sentences]))
    if added:
        parts.append("\n".join(["This is added to your answer for you. Do not write it yourself:", *added]))
    return "\n\n".join(part for part in parts if part)


def example(agent: Agent, schema: object, instead: str = "") -> str:
    """The first that the gates have, else the first of the contract. `instead`: of the gate that sent it back."""
    found = instead or next((gate.example for gate in agent.gates if gate.example), "").strip()
    known = worked_example(schema)
    if found and agent.kind != "model":  # it leaves its files in a folder
        found = _FILE.sub(r"(the file \1)\n\2\n(the end of the file \1)", found)
    return found or ("" if known is None else to_json(known).decode())


def _in_project(step: Step, agent: Agent) -> str:
    if step.place and agent.kind != "model":
        return _IN_PROJECT[step.place]
    return _AS_BLOCKS if step.place == "project" else ""


def _files(writes: tuple[str, ...], agent: Agent, schema: object) -> str:
    if not writes:
        return ""
    names = ", ".join(writes)
    if agent.tools and agent.kind == "model":
        return f"Write these files with your tools: {names}. Your answer itself is short."
    one = len(writes) == 1 and not set(writes[0]) & set("*?[")
    if agent.kind == "model" and (schema is not None or not one):
        rest = "keep anything else short" if schema is None else "give your answer after the last one"
        return (
            f"Write these files: {names}. Put each into its own block, "
            f'<file path="name">…</file>, with the closing tag on a line of its own, and {rest}.'
        )
    if agent.kind == "model":
        return f"Answer with the whole content of {names}, and nothing else."
    return f"Write these files into your working directory: {names}."


# --- gates in plain words ---


def _rules(gates: tuple[Gate, ...]) -> Iterator[str]:
    for gate in gates:
        if gate.min_chars:
            yield f"it has fewer than {gate.min_chars} characters"
        elif gate.headings:
            yield f"one of these headings is missing: {', '.join(gate.headings)}"
        elif gate.schema is not None:
            yield f"it is not JSON that fits this schema: {to_json(compact(gate.schema)).decode()}"
        elif gate.kit:
            yield _of_kit(gate)
        elif gate.ask:
            yield f"the answer to this question about it is no: {gate.ask.strip()}"
        elif gate.when and not gate.append and not gate.retry_with:
            yield f"this is true of it: `{gate.when}`"


def _of_kit(gate: Gate) -> str:
    try:
        said = kit_finder.asks(gate.kit)
    except UserError:  # a run is shown also where its kit is missing
        said = ""
    about = ", ".join(gate.about)
    return said.replace("{about}", about) if said else f"the rule {gate.kit}{f' ({about})' if about else ''} refuses it"


def _sentences(state: RunState, book: Book, gates: tuple[Gate, ...]) -> Iterator[str]:
    """Only a rule that would refuse an empty output asks for something now."""
    for gate in gates:
        if gate.when and gate.retry_with and not gate.append and _holds(state, book, gate):
            said = " ".join(_filled(state, book, gate.retry_with).split())
            yield from [f"- “{said}”"] if said else []


def _holds(state: RunState, book: Book, gate: Gate) -> bool:
    try:
        return truth(gate.when, scope.for_expression(state, book, gate.when, {"output": _NOTHING}))
    except ExpressionError:  # it needs a real output: then it may apply
        return True


def _added(state: RunState, book: Book, gates: tuple[Gate, ...]) -> Iterator[str]:
    for gate in gates:
        if gate.append and _holds(state, book, gate):
            yield f"- “{_filled(state, book, gate.append)}”"


def _filled(state: RunState, book: Book, text: str) -> str:
    """What cannot be filled in is not said."""
    wrong: list[str] = []
    said = scope.render(text, state, book, wrong.append).strip()
    return "" if wrong else said
