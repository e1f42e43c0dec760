"""Which option of a checkpoint is meant, and the command that would choose one.

Works on the JSON shape of a checkpoint (`queries.summary`); decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict, cast

from reconvene.doors.cli.common import split_pair, unknown
from reconvene.doors.cli.text import clean
from reconvene.errors import Refused


class FieldShape(TypedDict, total=False):
    id: str
    type: str
    prompt: str
    options: list[str]
    required: bool
    blank: object
    default: object
    titles: list[str]
    recommend: str
    note: str
    other: bool


class OptionShape(TypedDict, total=False):
    label: str
    available: bool
    offered: bool
    why_not: str
    recommend: bool
    remark: str
    fields: list[FieldShape]


class CheckpointShape(TypedDict, total=False):
    id: str
    prompt: str
    options: list[OptionShape]
    fields: list[FieldShape]
    feedback: str
    show_files: list[str]
    digest: str
    status: str
    attention: bool
    answers: dict[str, object]  # so far, by field
    changed: list[dict[str, str]]  # agent, was, is: what another round changed


def checkpoint_in(summary: Mapping[str, object]) -> CheckpointShape | None:
    """The open checkpoint of `queries.summary`, if there is one."""
    found = summary.get("checkpoint")
    return cast(CheckpointShape, found) if isinstance(found, dict) else None


def match_option(checkpoint: CheckpointShape, wanted: str) -> OptionShape:
    """By its label: exact, then whatever the case, then a unique beginning; or by its number."""
    options = checkpoint.get("options", [])
    numbered = on_offer(options)
    word = wanted.strip()
    folded = word.casefold()
    tests: tuple[Callable[[str], bool], ...] = (
        lambda label: label == wanted,
        lambda label: label.strip().casefold() == folded,
        lambda label: bool(folded) and label.strip().casefold().startswith(folded),
    )
    for test in tests:
        for among in (numbered, options):  # what is hidden here is no reason to doubt what is meant
            found = [option for option in among if test(option["label"])]
            if len(found) == 1:
                return found[0]
    if word.isdecimal() and 1 <= int(word) <= len(numbered):
        return numbered[int(word) - 1]
    meant = [clean(option["label"]) for option in numbered if tests[-1](option["label"])]
    why = f"may be {' or '.join(f'“{label}”' for label in meant)}" if len(meant) > 1 else "is not offered here"
    raise Refused(f"option {wanted!r} {why}", hint="the options are: " + "; ".join(listed(numbered)))


def on_offer(options: Iterable[OptionShape]) -> list[OptionShape]:
    """Those that a person is shown: what cannot be chosen here, and needs no word about it, is left out."""
    return [option for option in options if option.get("offered", True)]


def listed(options: Iterable[OptionShape]) -> list[str]:
    """Each option with its number and, where it cannot be taken, why."""
    return [
        f"{number}. {clean(option['label'])}"
        + ("" if option.get("available", True) else f" (not available: {clean(option.get('why_not') or 'not now')})")
        for number, option in enumerate(options, 1)
    ]


def fields_of(checkpoint: CheckpointShape, option: OptionShape | None) -> dict[str, FieldShape]:
    """Everything that may be filled in, by id."""
    every = [*checkpoint.get("fields", []), *((option or {}).get("fields") or [])]
    return {field["id"]: field for field in every}


def read_fields(fields: Mapping[str, FieldShape], pairs: Iterable[str]) -> dict[str, object]:
    """`--field id=value` → answers in the fields' own types."""
    answers: dict[str, object] = {}
    for pair in pairs:
        from reconvene.doors.cli.inputs import field_value

        name, text = split_pair(pair, "--field")
        if name not in fields:
            raise unknown("field", name, list(fields))
        answers[name] = field_value(name, fields[name].get("type", "text"), text)
    return answers


def example(checkpoint: CheckpointShape, run: str) -> list[str]:
    """The words of a `decide` that would be accepted, once its dots are filled in."""
    options = checkpoint.get("options", [])
    free = [option for option in options if option.get("available", True)] or options
    chosen = next((option for option in free if option.get("recommend")), free[0] if free else None)
    if chosen is None:
        return ["show", run]
    words = ["decide", run, "--option", chosen["label"]]
    for name, field in fields_of(checkpoint, chosen).items():
        if field.get("required"):
            words += ["--field", f"{name}=…"]
    if chosen.get("remark") == "required":
        words += ["--feedback", "comment: …"]
    return words
