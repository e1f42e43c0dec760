"""Whether a text says no more than "go on": such a text is an answer, not a remark.

Pure. Knows the short ways of agreeing (English first, a few other languages). When in doubt it is a remark: "looks
good, but revenue is $900M" says something.
"""

from __future__ import annotations

import re

_LONGEST = 200
_THUMBS = re.compile(r"[\s👍👌✅✔🆗🙂😊💯🎉\ufe0f\U0001f3fb-\U0001f3ff.!]+")
_PIECES = re.compile(r"[,.!;:\n…。！，、—–()\"“”]+|\s-+\s")
_NOT_WORDS = re.compile(r"[^\w\s'/]+")

_SHORT = frozenset(
    "yes yep yeah yup ok okay okey k kk no nope nah great fine good perfect excellent nice cool sure right alright"
    " thanks"
    " thx correct true wonderful lovely super ja nein gut danke jawohl oui si sí bien genau klasse prima"
    " lgtm proceed continue complete completed done next approve approved accept accepted agree agreed skip none na n/a"
    " nothing finished passt weiter nichts weitermachen einverstanden continuer continuez adelante nada"
    " 好 好的 可以 继续 繼續 没问题 沒問題 同意 はい 大丈夫 続けて 了解 問題ありません 네 좋아요 계속 да хорошо"
    " продолжай продолжайте".split()
)
_TRAILING = (
    "please", "thanks", "thank you", "for now", "to me", "from me", "for me", "then", "now", "with this", "with that",
    "with it", "as is", "as planned", "so far", "here", "today", "from my side", "at this point", "right now",
    "overall",
)  # fmt: skip
_THING = r"(?:(?:it|this|that|everything|(?:the|this) (?:synthesis|summary|plan|draft|report|analysis|result|round)) )?"
_PHRASES = re.compile(
    "|".join(
        (
            rf"{_THING}(?:all )?(?:looks?|sounds?|seems?|is|are|it's|that's) (?:all )?(?:very |really |quite |just "
            rf"|pretty )?"
            r"(?:good|fine|great|right|ok|okay|perfect|correct|complete|excellent|well|solid|done)",
            r"(?:it's|that's|all|i'm|im|i am|we're|we are) (?:all )?(?:good|fine|clear|set|ok|okay|done|happy"
            r"|satisfied)",
            r"(?:(?:let's|lets|let us|please|just|you can|we can|you may|happy to|ready to) )?"
            r"(?:proceed|continue|go on|go ahead|carry on|move on|keep going|ship it|skip(?: (?:the checkpoint|this"
            r"|it))?)",
            r"thank you|many thanks|well done|good (?:work|job)|great (?:work|job)|nice (?:work|job)",
            r"(?:i have |there is |there's )?nothing (?:(?:else|more|further|significant|new) )?(?:to (?:add|change"
            r"|correct|say|report))?",
            r"(?:i have |there are )?no (?:(?:more|further|other|new) )?"
            r"(?:changes?|comments?|corrections?|feedback|remarks?|additions?|rounds?|notes?|objections?|questions?"
            r"|input)",
            rf"{_THING}captures (?:everything|it all|it)(?: (?:i'm|i am|i was|we were) thinking)?",
            r"not (?:that i (?:know|can think) of|really)",
            r"passt (?:so|schon|für mich)|alles (?:gut|klar|bestens|in ordnung|richtig)|sieht gut aus|in ordnung"
            r"|weiter so"
            r"|mach(?:t)? weiter|nichts (?:hinzuzufügen|zu ergänzen|weiter)|keine (?:anmerkungen|änderungen"
            r"|ergänzungen)",
            r"c'est bon|d'accord|rien à (?:ajouter|signaler)|tout va bien|de acuerdo|está bien|todo bien|nada (?:más"
            r"|que añadir)"
            r"|va bene|tutto bene",
        )
    )
)


def is_approval(text: str) -> bool:
    """ "looks good", "lgtm", "no, nothing to add", "passt so", "👍": nothing that an agent would need to read."""
    if len(text) > _LONGEST or not text.strip():
        return False
    if _THUMBS.fullmatch(text):
        return any(not (character.isspace() or character in ".!") for character in text)
    pieces = [_plain(piece) for piece in _PIECES.split(text.casefold().replace("’", "'"))]
    said = [piece for piece in pieces if piece]
    return bool(said) and "?" not in text and all(_agrees(piece) for piece in said)


def _plain(piece: str) -> str:
    return " ".join(_NOT_WORDS.sub(" ", piece).split())


def _agrees(piece: str) -> bool:
    """Short words, one after the other, then perhaps a phrase: "ok great looks good to me"."""
    words = _without_trailing(piece).split()
    for index in range(len(words)):
        if _PHRASES.fullmatch(" ".join(words[index:])):
            return True
        if words[index] not in _SHORT:
            return False
    return True


def _without_trailing(piece: str) -> str:
    shorter = True
    while shorter:
        shorter = False
        for ending in _TRAILING:
            if piece.endswith(" " + ending):
                piece, shorter = piece[: -len(ending) - 1], True
    return "" if piece in _TRAILING else piece
