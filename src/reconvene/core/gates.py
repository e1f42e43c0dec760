"""Output → accepted, or rejected with what to change in the retry."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from reconvene.core.paths import matches
from reconvene.core.workflow import Gate

Evaluate = Callable[[str, Mapping[str, object]], bool]
Validate = Callable[[object, object], list[str]]


def rejection(
    gates: tuple[Gate, ...],
    schema: object,
    writes: tuple[str, ...],
    *,
    text: str,
    value: object,
    has_value: bool,
    files: tuple[str, ...],
    evaluate: Evaluate,
    validate: Validate,
) -> str:
    """Why this output is sent back, in words for the agent; "" = accepted. First failing rule wins."""
    missing = [pattern for pattern in writes if not any(matches(path, pattern) for path in files)]
    if missing:
        return f"FILE_MISSING: write {', '.join(missing)}. Produce it even if parts are uncertain."
    if schema is not None:
        wrong = _against_schema(schema, value, has_value, validate)
        if wrong:
            return wrong
    for gate in gates:
        wrong = _one(gate, text, value, has_value, files, evaluate, validate)
        if wrong:
            return f"{wrong} {gate.retry_with}".strip()
    return ""


def _against_schema(schema: object, value: object, has_value: bool, validate: Validate) -> str:
    if not has_value:
        return "WRONG_FORMAT: the output is not JSON. Answer with JSON that fits the schema you were given."
    problems = validate(schema, value)
    return f"WRONG_FORMAT: {'; '.join(problems[:5])}." if problems else ""


def _one(
    gate: Gate,
    text: str,
    value: object,
    has_value: bool,
    files: tuple[str, ...],
    evaluate: Evaluate,
    validate: Validate,
) -> str:
    if gate.min_chars and len(text.strip()) < gate.min_chars:
        return (
            f"EMPTY_OUTPUT: {len(text.strip())} characters, at least {gate.min_chars} are needed. "
            "Produce an output even if you are uncertain, and say what you are uncertain about."
        )
    if gate.headings:
        absent = [heading for heading in gate.headings if not _has_heading(text, heading)]
        if absent:
            return f"WRONG_FORMAT: these headings are missing: {', '.join(absent)}."
    if gate.schema is not None:
        return _against_schema(gate.schema, value, has_value, validate)
    if gate.when and evaluate(gate.when, {"output": {"text": text, "value": value, "files": list(files)}}):
        return "REJECTED:" if gate.retry_with else f"REJECTED: the output fails the rule `{gate.when}`."
    return ""


def _has_heading(text: str, heading: str) -> bool:
    """A heading stands at the start of a line; "## Review" also accepts "## Review: more words"."""
    wanted = heading.strip()
    pattern = (
        rf"^\s{{0,3}}{re.escape(wanted)}" if wanted.startswith("#") else rf"^\s{{0,3}}#{{1,6}}\s+{re.escape(wanted)}"
    )
    return re.search(pattern, text, re.MULTILINE | re.IGNORECASE) is not None
