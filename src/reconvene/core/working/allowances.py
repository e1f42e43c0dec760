"""Calls that a person allowed for good: which ones that covers, and a pattern that would cover the like of one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache

from reconvene.core.facts.events import ToolAllowed

# What a shell gives a meaning to, and lines: a star never stands for these. "git diff *" allows no second command.
_MEANT = ";&|<>$`\\\\\n\r(){}\\[\\]!#~*?'\"\x00"
_SHOWN = 60  # characters of a value or a pattern in a sentence
_STAR = f"[^{_MEANT}]*"


def allows(rule: ToolAllowed, agent: str, tool: str, arguments: Mapping[str, object]) -> bool:
    """Every argument must be named by the rule, and fit."""
    if (rule.agent, rule.tool) != (agent, tool) or set(rule.arguments) != set(arguments):
        return False
    return all(
        _pattern(rule.arguments[name]).fullmatch(as_text(value)) is not None for name, value in arguments.items()
    )


def why_not(pattern: Mapping[str, str], arguments: Mapping[str, object]) -> str:
    """Why a pattern does not allow the call that it was made from, in a sentence."""
    if missing := [name for name in arguments if name not in pattern]:
        return f"Every argument must be named: {', '.join(missing)} is missing."
    if unknown := [name for name in pattern if name not in arguments]:
        return f"The call has no argument {', '.join(unknown)}."
    name = next(name for name, value in arguments.items() if not _pattern(pattern[name]).fullmatch(as_text(value)))
    text = as_text(arguments[name])
    if _loosely(pattern[name]).fullmatch(text):
        held = dict.fromkeys(re.findall(f"[{_MEANT}]", text))
        here = [one for one in held if one not in pattern[name]] or held
        shown = " ".join(one if one.isprintable() else repr(one) for one in here)
        return f"In {name}, * stands for nothing that a shell gives a meaning to, here {shown}: write it out."
    return f"{name} is {text[:_SHOWN]!r}, which does not have the form {pattern[name][:_SHOWN]!r}."


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def exactly(arguments: Mapping[str, object]) -> dict[str, str]:
    """These arguments and no others."""
    return {name: as_text(value).replace("\\", "\\\\").replace("*", "\\*") for name, value in arguments.items()}


def alike(arguments: Mapping[str, object]) -> dict[str, str]:
    """A pattern to offer: of a text with several words or folders, all but the last part; of the rest, itself."""
    exact = exactly(arguments)
    for name, value in arguments.items():
        text = exact[name]
        if isinstance(value, str) and len(value) < 200 and _pattern("*").fullmatch(value):
            cut = max(text.rfind(" "), text.rfind("/"))
            exact[name] = f"{text[: cut + 1]}*" if cut > 0 else text
    return exact


def _loosely(written: str) -> re.Pattern[str]:
    """As if a star stood for anything."""
    return _compiled(written, ".*")


@lru_cache(maxsize=256)
def _pattern(written: str) -> re.Pattern[str]:
    return _compiled(written, _STAR)


def _compiled(written: str, star: str) -> re.Pattern[str]:
    """`*` is a star, `\\*` an asterisk, `\\\\` a backslash."""
    pieces = re.findall(r"\\.|\*|[^\\*]+|\\", written, re.DOTALL)
    made = [star if one == "*" else re.escape(one[1:] if len(one) == 2 and one[0] == "\\" else one) for one in pieces]
    return re.compile("".join(made), re.DOTALL)
