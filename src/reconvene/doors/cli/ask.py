"""Questions on a terminal: a line of text, one of several, a checkpoint's fields. Knows nothing of runs.

Ctrl-C and Ctrl-D leave as KeyboardInterrupt and EOFError; whoever asks says what that means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from reconvene.doors.cli.text import clean, one_line, screen_width, wrapped
from reconvene.doors.shared.fields import answer_in, title_of, wrong
from reconvene.doors.shared.passages import barred
from reconvene.errors import UserError

if TYPE_CHECKING:
    from questionary import Question

    from reconvene.app.views.read_model import Field
    from reconvene.core.facts.commands import Answers

MARK = "▸"
_TICKING = "(space ticks, Enter goes on)"
_ROOM = 32  # what an answer needs beside its question
_NO_REASONS: Mapping[str, str] = {}
T = TypeVar("T")


def ask(question: Question) -> object:
    answer: object = question.unsafe_ask()
    return answer


def ask_text(title: str, default: str = "", broken_off: Callable[[str], None] = lambda _: None) -> str:
    """`broken_off`: given what stands in the line where the person leaves instead of ending it."""
    import questionary

    return _typed(questionary.text(_asked(title), default=default, qmark=MARK), broken_off)


def _typed(question: Question, broken_off: Callable[[str], None]) -> str:
    try:
        return str(ask(question))
    except (KeyboardInterrupt, EOFError):
        broken_off(question.application.current_buffer.text)
        raise


def ask_yes(title: str, *, default: bool = True) -> bool:
    import questionary

    return bool(ask(questionary.confirm(_asked(title), default=default, qmark=MARK)))


def ask_key(title: str) -> str:
    """One key, without Enter; "" for one that stands for no character."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import ANSI
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("<any>")
    def pressed(event: KeyPressEvent) -> None:
        event.app.exit(result=event.data)

    session: PromptSession[str] = PromptSession(key_bindings=keys)
    return session.prompt(ANSI(f"{MARK} {one_line(title)} "))


def pick(title: str, entries: Sequence[tuple[T, str]], default: T | None = None) -> T:
    """One of several, by arrow keys; `default` stands first."""
    import questionary

    width = max(screen_width() - 6, 20)
    choices = [questionary.Choice(one_line(label, width), index) for index, (_, label) in enumerate(entries)]
    named = zip(choices, entries) if default is not None else ()
    start = next((choice for choice, (value, _) in named if value == default), None)
    found = ask(questionary.select(_asked(title), choices=choices, default=start, qmark=MARK))
    assert isinstance(found, int)
    return entries[found][0]


def tick(
    title: str,
    names: Sequence[str],
    chosen: Sequence[object],
    reasons: Mapping[str, str],
    wrong_with: Callable[[list[str]], str] = lambda _: "",
) -> list[str]:
    """Any of several; beside each, why it is there. `wrong_with`: what is wrong with these, "" = nothing."""
    import questionary

    width = max(screen_width() - 8, 20)
    told = [one_line(f"{name} ({reasons[name]})" if name in reasons else name, width) for name in names]
    ticks = [questionary.Choice(told[at], at, checked=name in chosen) for at, name in enumerate(names)]

    def valid(picked: Sequence[object]) -> bool | str:
        return wrong_with([names[index] for index in picked if isinstance(index, int)]) or True

    found = ask(questionary.checkbox(_asked(title), choices=ticks, qmark=MARK, validate=valid, instruction=_TICKING))
    return [names[index] for index in found if isinstance(index, int)] if isinstance(found, list) else []


def _asked(title: str) -> str:
    """A question that is too long for one line is printed above, broken between words."""
    plain = one_line(title)
    if len(plain) <= max(screen_width() - _ROOM, _ROOM):
        return plain
    print(barred(wrapped(plain, 2)))
    return "Your answer:"


def ask_fields(
    fields: Sequence[Field],
    before: Answers,
    reasons: Mapping[str, str] = _NO_REASONS,
    keep: Callable[[Answers], None] = lambda _: None,
) -> Answers:
    """Ask each field in turn; what is left empty is left out. `before`: what was answered to them once. `reasons`:
    agent → why it would be chosen. `keep`: given all answers that there are, after each, and half a line as well."""
    answers: Answers = {}
    for field in fields:
        followed = str(answers.get(field.follows) or "")
        if field.follows and followed not in field.starts:
            continue
        rest = {name: value for name, value in before.items() if name not in answers and name != field.id}
        known = {**rest, **answers}
        half = partial(_keep_half, keep, known, field.id)
        answer = ask_field(field, before.get(field.id, field.starts.get(followed, field.default)), reasons, half)
        if answer is not None:
            answers[field.id] = answer
        keep({**known, **answers})
    return answers


def _keep_half(keep: Callable[[Answers], None], known: Answers, name: str, text: str) -> None:
    if text.strip():
        keep({**known, name: text})


def ask_field(
    field: Field,
    default: object,
    reasons: Mapping[str, str] = _NO_REASONS,
    broken_off: Callable[[str], None] = lambda _: None,
) -> object:
    """One answer; None = none. `broken_off`: as in `ask_text`."""
    prompt = clean(field.prompt or field.id)
    if "\n" in prompt:  # laid out: it stands above, as it is
        print(f"\n{wrapped(prompt)}\n")
        prompt = field.id
    title = one_line(prompt) + ("" if field.required or field.follows else " (optional)")
    match field.type:
        case "choice":
            return _ask_choice(field, title, None if default is None else str(default))
        case "confirm":
            return ask_yes(title, default=default if isinstance(default, bool) else True)
        case "agents":
            chosen = default if isinstance(default, list) else []
            # None ticked is an answer too: left out, it would fall back to the default that was just unticked.
            return tick(title, field.options, chosen, reasons, lambda names: wrong(field, names))
        case _:
            return _ask_line(field, title if title.endswith("?") else f"{title}:", default, broken_off)


def _ask_choice(field: Field, title: str, default: str | None) -> object:
    """One of its options; where the field allows it, in other words."""
    recommended, other = field.recommend or None, "\0"
    shown = [(one, title_of(field, one) + ("  (recommended)" if one == recommended else "")) for one in field.options]
    choices: list[tuple[str | None, str]] = list(shown)
    choices += [(other, "Something else, in my own words")] if field.other else []
    choices += [] if field.required else [(None, "(no answer)")]
    own = default is not None and default not in field.options
    found = pick(title, choices, other if own else default if default is not None else recommended)
    if found != other:
        return found
    return ask_text("In your words:", clean(default) if own else "").strip() or None


def _ask_line(field: Field, title: str, default: object, broken_off: Callable[[str], None]) -> object:
    """Whatever is typed on a line, and nothing that is no answer to the field."""
    import questionary

    def valid(text: str) -> bool | str:
        try:
            return (wrong(field, answer_in(field, text)) if text.strip() else "") or True
        except UserError as error:
            return error.message

    start = "" if default is None else clean(default)
    text = _typed(questionary.text(_asked(title), default=start, validate=valid, qmark=MARK), broken_off)
    return answer_in(field, text) if text.strip() else None
