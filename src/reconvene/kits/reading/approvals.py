"""Whether a text says no more than "go on": such a text is an answer, not a remark.

Pure. The short ways of agreeing are words of the languages. When in doubt it is a remark: "looks good, but revenue is
$900M" says something.
"""

from __future__ import annotations

import re

from reconvene.kits.reading import tongues

_LONGEST = 200
_THUMBS = re.compile(r"[\s👍👌✅✔🆗🙂😊💯🎉\ufe0f\U0001f3fb-\U0001f3ff.!]+")
_PIECES = re.compile(r"[,.!;:\n…。！，、—–()\"“”]+|\s-+\s")
_NOT_WORDS = re.compile(r"[^\w\s'/]+")

_PHRASE = "<<approval>>"


def is_approval(text: str) -> bool:
    """ "looks good", "lgtm", "no, nothing to add", "passt so", "👍": nothing that an agent would need to read."""
    if len(text) > _LONGEST or not text.strip():
        return False
    if _THUMBS.fullmatch(text):
        return any(not (character.isspace() or character in ".!") for character in text)
    pieces = [_plain(piece) for piece in _PIECES.split(text.casefold().replace("’", "'"))]
    said = [piece for piece in pieces if piece]
    if not said or "?" in text:
        return False
    tongue = tongues.of(text)
    return all(_agrees(piece, tongue) for piece in said)


def _plain(piece: str) -> str:
    return " ".join(_NOT_WORDS.sub(" ", piece).split())


def _agrees(piece: str, tongue: tongues.Tongue) -> bool:
    """Short words, one after the other, then perhaps a phrase: "ok great looks good to me"."""
    phrase, short = tongue.pattern(_PHRASE), tongue.words("agreeing")
    words = _without_trailing(piece, tongue.words("after_agreeing")).split()
    for index in range(len(words)):
        if phrase.fullmatch(" ".join(words[index:])):
            return True
        if words[index] not in short:
            return False
    return True


def _without_trailing(piece: str, endings: frozenset[str]) -> str:
    shorter = True
    while shorter:
        shorter = False
        for ending in endings:
            if piece.endswith(" " + ending):
                piece, shorter = piece[: -len(ending) - 1], True
    return "" if piece in endings else piece
