"""Reports every name in a workflow's expressions and templates that is not there, with its line and the nearest one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from reconvene.core.definition.run_inputs import ALWAYS
from reconvene.core.definition.workflow import Workflow
from reconvene.wire.names import in_expressions, in_templates
from reconvene.wire.names.kinds import Miss
from reconvene.wire.names.known import Known
from reconvene.wire.problems import Problems, did_you_mean
from reconvene.wire.reading import Use

_DECLARED = {
    "inputs.": "name it under inputs",
    "settings.": "name it under settings",
    "groups.": "name it under groups",
    "items.": "no phase has an each",
    "kit.": "name it under kits",
}
_LAST_WORD = re.compile(r"\w+(?=\W*$)")
_CALLED = {"text": "a text", "number": "a number", "flag": "true or false", "list": "a list"}
_CALLED["outside"] = "known only inside an each"
_INSTEAD = {
    "replace": "use the filter: … | replace('old', 'new')",
    "join": "use the filter: list | join(', ')",
    "format": "join the parts with '~'",
}


def check_names(workflow: Workflow, uses: Iterable[Use], problems: Problems) -> None:
    known = Known(workflow)
    for use in dict.fromkeys(uses):
        scope = known.scope(use)
        if use.template:
            found = in_templates.misses(use.text, scope, workflow.templates)
        else:
            found = in_expressions.misses(use.text, scope)
        seen: Counter[str] = Counter()
        for miss in found:
            seen[miss.path] += 1
            _report(use, miss, seen[miss.path], workflow, problems)


def _report(use: Use, miss: Miss, count: int, workflow: Workflow, problems: Problems) -> None:
    hint = "" if problems.full else _hint(use, miss, workflow)
    if miss.file:  # a template that this one takes in
        problems.add(miss.line, f"template: {_sentence(miss)}", hint, file=f"templates/{miss.file}")
    elif use.file:
        problems.add(miss.line, f"{use.what}: {_sentence(miss)}", hint, file=use.file)
    else:
        line, column = (use.line, use.column) if problems.full else _position(use, miss, count, workflow.source)
        problems.add(line, f"{use.what}: {_sentence(miss)}", hint, column=column)


def _sentence(miss: Miss) -> str:
    before = miss.path.removesuffix(miss.name).rstrip(".")
    if miss.word in ("template", "filter"):
        return f"there is no {miss.word} '{miss.name}'"
    if miss.word:
        return f"'{miss.path}' is not there: {before} is {_CALLED[miss.word]}"
    if before == "context":
        return f"nothing writes '{miss.path}'"
    return f"'{miss.path}' is not known" + ("" if before else " here")


def _hint(use: Use, miss: Miss, workflow: Workflow) -> str:
    before = miss.path.removesuffix(miss.name)
    if use.template and miss.word == "text" and miss.name in _INSTEAD:
        return _INSTEAD[miss.name]
    if before == "settings." and use.where.setting and miss.name in workflow.settings:
        return "a setting sees only those that are written before it"
    if before in _DECLARED and not set(miss.known) - {ALWAYS}:
        return f"there are none: {_DECLARED[before]}"
    nearest = did_you_mean(miss.name, miss.known, cutoff=0.8 if miss.word else 0.6)
    if nearest.startswith("did"):
        nearest = nearest.replace("did you mean '", f"did you mean '{before}")
        return f"{nearest} If not, name it in the contract" if miss.contract else nearest
    if miss.contract:
        return "name it in the contract, or say additionalProperties: true there"
    if before == "context." and not nearest:
        return f"a step writes it with output: {miss.name}"
    if before.startswith("kit.") and not miss.known:
        return "that kit brings no fields"
    return "" if miss.word else nearest


def _position(use: Use, miss: Miss, count: int, source: str) -> tuple[int, int]:
    """Line and column of the misspelt name: the text of a scalar may be folded or quoted over several lines, so the
    name is looked for from where the scalar begins."""
    start = _offset(source, use.line, use.column)
    before = _LAST_WORD.search(miss.path.removesuffix(miss.name))
    parents = [rf"{before[0]}\W{{1,20}}"] if before else []
    for parent in (*parents, ""):
        words = re.compile(rf"(?<![\w$]){parent}({re.escape(miss.name)})(?![\w$])")
        found = next(islice(words.finditer(source, start), count - 1, None), None)
        if found is not None:
            return source.count("\n", 0, found.start(1)) + 1, found.start(1) - source.rfind("\n", 0, found.start(1))
    return use.line, use.column


def _offset(source: str, line: int, column: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = source.find("\n", at) + 1
    return at + max(column - 1, 0)
