"""Which option of a checkpoint is meant. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconvene.app.views.read_model import Checkpoint, Field, Option
from reconvene.doors.shared.harmless import clean
from reconvene.errors import Refused


def match_option(checkpoint: Checkpoint, wanted: str) -> Option:
    """By its label: exact, then whatever the case, then a unique beginning; or by its number."""
    options = checkpoint.options
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
            found = [option for option in among if test(option.label)]
            if len(found) == 1:
                return found[0]
    if word.isdecimal() and 1 <= int(word) <= len(numbered):
        return numbered[int(word) - 1]
    meant = [clean(option.label) for option in numbered if tests[-1](option.label)]
    why = f"may be {' or '.join(f'“{label}”' for label in meant)}" if len(meant) > 1 else "is not offered here"
    raise Refused(f"option {wanted!r} {why}", hint="the options are: " + "; ".join(listed(numbered)))


def on_offer(options: Iterable[Option]) -> list[Option]:
    """Those that a person is shown: what cannot be chosen here, and needs no word about it, is left out."""
    return [option for option in options if option.offered]


def listed(options: Iterable[Option]) -> list[str]:
    """Each option with its number and, where it cannot be taken, why."""
    return [
        f"{number}. {clean(option.label)}"
        + ("" if option.available else f" (not available: {clean(option.why_not or 'not now')})")
        for number, option in enumerate(options, 1)
    ]


def fields_of(checkpoint: Checkpoint, option: Option | None) -> dict[str, Field]:
    """Everything that may be filled in, by id."""
    return {field.id: field for field in (*checkpoint.fields, *(option.fields if option else ()))}


def recommended(checkpoint: Checkpoint) -> Option | None:
    """The option that is recommended, else the first that can be chosen, else the first."""
    free = [option for option in checkpoint.options if option.available] or list(checkpoint.options)
    return next((option for option in free if option.recommend), free[0] if free else None)
