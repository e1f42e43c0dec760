"""Which stars and underscores of a text are emphasis, and which belong to what it says: `calc/__init__.py`, `**kwargs`,
`2*3*4`. Pure."""

from __future__ import annotations

from reconvene.language.late_patterns import late

_CODE = late(r"`+[^`\n]*`+")
_BEFORE, _AFTER = r"(?<![\w/\\.*_])", r"(?![\w/\\*_]|\.\w)"
_STARS = late(rf"{_BEFORE}(\*{{1,3}})(?=[^\s*])([^\n]*?[\w)\]\"'”’%.,:;!?…`])\1{_AFTER}")
_UNDERSCORES = late(rf"{_BEFORE}(_{{1,3}})(?=[^\s_])([^\n_]*\s[^\n_]*[\w)\]\"'”’%.,:;!?…`])\1{_AFTER}")


def without_emphasis(text: str) -> str:
    """The words alone. What stands between backticks stays as it is, without them; so does what is no emphasis."""
    parts, at = list[str](), 0
    for found in _CODE.finditer(text):
        parts += [_plain(text[at : found.start()]), found[0].strip("`")]
        at = found.end()
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    return _UNDERSCORES.sub(r"\2", _STARS.sub(r"\2", text)) if "*" in text or "_" in text else text


def opens(before: str) -> bool:
    """Whether emphasis can begin after this character ("" = nothing stands there)."""
    return not before or not (before.isalnum() or before in "_*/\\.")


def closes(before: str, after: str) -> bool:
    """Whether it can end between these: the character before the mark, and what stands after it."""
    ended = before.isalnum() or before in ")]\"'”’%.,:;!?…`*_"
    goes_on = after[:1].isalnum() or after[:1] in ("_", "*", "/", "\\") if after else False
    return ended and not goes_on and not (after[:1] == "." and after[1:2].isalnum())


_NAME = late(r"(_+)\w*?[^\W_]\w*?\1(?!\w)")


def name_at(text: str, at: int) -> str:
    """The name with underscores around it that begins here, such as `__init__`; "" where none does."""
    found = _NAME.match(text, at)
    return found[0] if found else ""
