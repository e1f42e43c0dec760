"""The answers file: decisions that somebody wrote down beforehand, taken in order.

Reads and checks the text, with line numbers. Whether an option is really offered is known only when its turn comes:
whoever takes the answers asks that then.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.facts.commands import RemarkIn
from reconvene.wire.problems import Problems, shown
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, Sequence, read_yaml

_KEYS = ("option", "feedback", "fields", "by")
_COMMENT = ("on", "say")
_ON_LINES = 'a comment on lines is written {on: "plan.md:12", say: "…"}'
_EXAMPLE = 'write a list: - {option: Continue, feedback: ["correction: …"]}'


class Answer(NamedTuple):
    """One decision to be. `number` counts from 1; `line` is where it stands in the file."""

    option: str
    remarks: tuple[RemarkIn, ...] = ()
    fields: dict[str, object] = {}  # noqa: RUF012 - never changed
    by: str = ""
    number: int = 0
    line: int = 0


def read_answers(text: str, file: str) -> list[Answer]:
    """Every answer of the file; WorkflowError (a UserError) with all its problems otherwise."""
    # No decisions at all is a fair answers file: the run parks at its first checkpoint.
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        return []
    root = read_yaml(text, file)
    problems = Problems(file)
    if not isinstance(root, Sequence):
        problems.add(root.line, "an answers file is a list of decisions", _EXAMPLE)
    items = root.items if isinstance(root, Sequence) else ()
    answers = [_answer(node, number, problems) for number, node in enumerate(items, 1)]
    problems.raise_any()
    return answers


def _answer(node: Node, number: int, problems: Problems) -> Answer:
    if isinstance(node, Scalar) and node.value is not None:
        return Answer(_word(node), number=number, line=node.line)
    if not isinstance(node, Mapping):
        problems.add(node.line, f"entry {number} is not a decision", _EXAMPLE)
        return Answer("")
    for key in node.entries:
        if key not in _KEYS:
            problems.add_unknown(node.line_of(key), f"entry {number}: '{shown(key)}' means nothing here", key, _KEYS)
    return Answer(
        option=_text(node, "option", number, problems, required=True),
        remarks=_remarks(node, number, problems),
        fields=_fields(node, number, problems),
        by=_text(node, "by", number, problems),
        number=number,
        line=node.line,
    )


def _word(node: Scalar) -> str:
    """A label may look like a number or like true; it is text all the same."""
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)


def _text(node: Mapping, key: str, number: int, problems: Problems, *, required: bool = False) -> str:
    value = node.get(key)
    if isinstance(value, Scalar) and value.value is not None and _word(value).strip():
        return _word(value)
    if required:
        problems.add(node.line_of(key), f"entry {number} names no option", "write {option: Continue}")
    elif value is not None and not isinstance(value, Scalar):
        problems.add(value.line, f"entry {number}: '{key}' must be text")
    return ""


def _remarks(node: Mapping, number: int, problems: Problems) -> tuple[RemarkIn, ...]:
    said = node.get("feedback")
    texts = said.items if isinstance(said, Sequence) else () if said is None else (said,)
    remarks = []
    for text in texts:
        if isinstance(text, Mapping) and {*text.entries} <= {*_COMMENT}:
            remarks.append(_comment(text, number, problems))
        elif not isinstance(text, Scalar):
            hint = f'put a remark with a colon in quotes: "correction: …"; {_ON_LINES}'
            problems.add(text.line, f"entry {number}: feedback must be text, or a list of texts", hint)
        elif text.value is not None and _word(text).strip():
            remarks.append(_typed(_word(text)))
    return tuple(remarks)


def _comment(node: Mapping, number: int, problems: Problems) -> RemarkIn:
    """About lines of a file. Whether they are there is known when its turn comes."""
    about, text = (_text(node, key, number, problems) for key in _COMMENT)
    if not about or not text:
        problems.add(node.line, f"entry {number}: a comment on lines has {' and '.join(_COMMENT)}", _ON_LINES)
        return RemarkIn("")
    return replace(_typed(text), lines=about)


def _typed(text: str) -> RemarkIn:
    """With the kind that is written; without one it is read when its turn comes."""
    found = kit_finder.reader().typed(text)
    return found if found.text != text.strip() else replace(found, kind="")


def _fields(node: Mapping, number: int, problems: Problems) -> dict[str, object]:
    fields = node.get("fields")
    if fields is None or (isinstance(fields, Scalar) and fields.value is None):
        return {}
    if not isinstance(fields, Mapping):
        problems.add(fields.line, f"entry {number}: 'fields' must name its fields", "write fields: {name: value}")
        return {}
    return node.plain("fields")
