"""Output → accepted, or rejected with what to change in the retry."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Gate
from reconvene.core.extensions import Judged, Objection
from reconvene.core.paths import matches
from reconvene.language.expressions import ExpressionError


class Output(NamedTuple):
    """What is judged. `first`: no output of this task has been sent back before."""

    text: str
    value: object
    has_value: bool
    files: tuple[str, ...]
    first: bool
    commit: str = ""  # what it changed in the person's project
    diff: str = ""


class Rejection(NamedTuple):
    """Why an output is sent back, in words for the agent. `failures`: how many rules it broke in all.

    The words begin with the code, where there is one.
    """

    why: str
    code: str = ""
    example: str = ""
    failures: int = 1


class Judge(NamedTuple):
    """What the gates may ask of the run."""

    evaluate: Callable[[str, Mapping[str, object]], bool]
    validate: Callable[[object, object], list[str]]
    documents: Callable[[tuple[str, ...]], list[str]]  # files and inputs by name → their texts, those that exist
    tracker: Callable[[str], Objection | None]  # what a kit's tracker objects to in this text
    fill: Callable[[str], str]  # a template over the run


def rejection(
    gates: tuple[Gate, ...],
    schema: object,
    writes: tuple[str, ...],
    output: Output,
    objections: tuple[str, ...],
    judge: Judge,
) -> Rejection | None:
    """None = accepted. All rules are tried, the first that fails is the reason; a model's objections come last."""
    missing = [pattern for pattern in writes if not any(matches(path, pattern) for path in output.files)]
    found: list[Rejection] = []
    if missing:
        names = ", ".join(missing)
        told = (
            f"{names} is not there. Write the file {names}, whole, under exactly this name, relative to your working "
            "directory; produce it even if parts are uncertain."
        )
        found.append(_sent_back(Objection("FILE_MISSING", told)))
    if schema is not None and (wrong := _against_schema(schema, output, judge)):
        found.append(_sent_back(wrong))
    for gate in gates:
        if wrong := _broken(gate, output, judge):
            wrong = wrong._replace(code=gate.code or wrong.code)
            found.append(_sent_back(wrong, judge.fill(gate.retry_with), gate.example))
    if not found and (wrong := judge.tracker(output.text)) is not None:
        example = next((gate.example for gate in gates if gate.example), "")
        found.append(_sent_back(wrong, example=example if wrong.code == "WRONG_FORMAT" else ""))
    found += [_sent_back(Objection("LOW_QUALITY", why)) for why in objections if not found]
    return found[0]._replace(failures=len(found)) if found else None


def _sent_back(wrong: Objection, instead: str = "", example: str = "") -> Rejection:
    return Rejection(f"{wrong.said} {instead}".strip(), wrong.code, example)


def _against_schema(schema: object, output: Output, judge: Judge) -> Objection | None:
    if not output.has_value:
        return Objection(
            "WRONG_FORMAT", "the output is not JSON. Answer with JSON that fits the schema you were given."
        )
    problems = judge.validate(schema, output.value)
    return Objection("WRONG_FORMAT", f"{'; '.join(problems[:5])}.") if problems else None


def _broken(gate: Gate, output: Output, judge: Judge) -> Objection | None:
    text = output.text
    if gate.min_chars and len(text.strip()) < gate.min_chars:
        return Objection(
            "EMPTY_OUTPUT",
            f"{len(text.strip())} characters, at least {gate.min_chars} are needed. "
            "Produce an output even if you are uncertain, and say what you are uncertain about.",
        )
    if gate.headings:
        absent = [heading for heading in gate.headings if not _has_heading(text, heading)]
        if absent:
            return Objection("WRONG_FORMAT", f"these headings are missing: {', '.join(absent)}.")
    if gate.schema is not None:
        return _against_schema(gate.schema, output, judge)
    if gate.kit:
        documents = tuple(judge.documents(gate.about))
        shown = Judged(text, output.value, output.files, documents, gate.about, output.first, gate.options)
        return _judged(gate.kit, shown)
    judged = {"text": text, "value": output.value, "files": list(output.files)}
    seen = {"output": {**judged, "commit": output.commit, "diff": output.diff}}
    if gate.when and judge.evaluate(gate.when, seen):
        return Objection("REJECTED", "" if gate.retry_with else f"the output fails the rule `{gate.when}`.")
    return None


def _judged(name: str, shown: Judged) -> Objection | None:
    gate = kit_finder.gate(name)
    try:
        return gate(shown)
    except Exception as error:  # a kit is another's code: whatever it raises
        raise ExpressionError(f"{name}: {type(error).__name__}: {error}") from error


def _has_heading(text: str, heading: str) -> bool:
    """A heading stands at the start of a line; "## Review" also accepts "## Review: more words"."""
    wanted = heading.strip()
    marks = "" if wanted.startswith("#") else r"#{1,6}\s+"
    return re.search(rf"^\s{{0,3}}{marks}{re.escape(wanted)}", text, re.MULTILINE | re.IGNORECASE) is not None
