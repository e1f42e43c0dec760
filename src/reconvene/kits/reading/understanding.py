"""A free text typed in one go, as remarks: where each begins, what kind it is, and which rule said so.

A kind the person wrote always wins over the rules. No word is ever dropped but a kind's own name, list markers aside,
and none is moved; when in doubt two sentences are one remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from reconvene.kits.reading import tongues
from reconvene.kits.reading.feedback import Understood, kind_named, parse_remark
from reconvene.kits.reading.rules import Ruling, classify, named
from reconvene.kits.reading.splitting import MOST_PIECES, Block, Sentence, blocks, sentences

_MOST_REMARKS = 60
_LONGEST_APPROVAL = 200
_THUMBS = re.compile(r"[\s👍👌✅✔🆗🙂😊💯🎉\ufe0f\U0001f3fb-\U0001f3ff.!]+")
_SAID_APART = re.compile(r"[,.!;:\n…。！，、—–()\"“”]+|\s-+\s")
_NOT_WORDS = re.compile(r"[^\w\s'/]+")
_EMPHASIS = re.compile(r"(?P<mark>\*\*|__|\*|_)(?P<name>[^*_:\n]{3,80})(?:(?P=mark)\s*:|:\s*(?P=mark))\s*")
_TITLE = re.compile(r"(?:#{1,6}[ \t]*)?(?:\*\*|__)?(?P<name>[^\W\d_](?:[^\W\d]|[ -]){4,24}?)(?:\*\*|__|:)*[ \t]*")
_ALSO, _REFERS_BACK = r"\W*<<also>>", r"\W*<<refers_back>>"


def remarks_in(text: str, agents: tuple[str, ...] = ()) -> tuple[Understood, ...]:
    """The remarks in a free text, in its own order and words. "looks good" is none at all: `()`."""
    whole = text.strip()
    if not whole or is_approval(whole):
        return ()
    if whole.count("\n") > MOST_PIECES:
        return (_kept_whole(whole, agents),)
    remarks: list[Understood] = []
    waiting = ""
    for block, kind in _under_titles(blocks(whole)):
        if is_approval(block.text):
            # Not worth a remark, but no word is dropped: it goes with the remark that follows, or the one before.
            waiting = f"{waiting}\n{block.text}".strip()
            continue
        found = _of_block(block, kind, agents)
        found[0] = replace(found[0], text=f"{waiting}\n{found[0].text}".strip())
        waiting = ""
        remarks.extend(found)
    if not 0 < len(remarks) <= _MOST_REMARKS:
        return (_kept_whole(whole, agents),)
    remarks[-1] = replace(remarks[-1], text=f"{remarks[-1].text}\n{waiting}".strip())
    return tuple(remarks)


def _under_titles(found: list[Block]) -> Iterator[tuple[Block, str]]:
    """Blocks with the kind their title gives them: "Corrections:" above a list."""
    kind = ""
    for index, block in enumerate(found):
        if index + 1 < len(found) and found[index + 1].listed and (title := _title(block)):
            kind = title
            continue
        kind = kind if block.listed else ""
        yield block, kind


def _title(block: Block) -> str:
    match = None if block.listed else _TITLE.fullmatch(block.text)
    return kind_named(match["name"]) if match else ""


def _of_block(block: Block, kind: str, agents: tuple[str, ...]) -> list[Understood]:
    if written := _written(block.text, agents):
        return [written]
    if kind:
        return [_with_kind(block.text, kind, "", agents, f"it stands under “{kind}”")]
    if block.whole:
        return [_by_rules(block.text, agents)]
    return [_written(text, agents) or _by_rules(text, agents) for text in _grouped(block.text, agents)]


def _written(text: str, agents: tuple[str, ...]) -> Understood | None:
    """A remark whose kind the person wrote: "correction: …", "**Reaction to economist:** …"."""
    plain = _EMPHASIS.match(text)
    spelled = f"{plain['name']}: {text[plain.end() :]}" if plain else text
    remark = parse_remark(spelled)
    if remark.text == spelled.strip():
        return None
    name = spelled.strip().removesuffix(remark.text).strip()
    return _with_kind(remark.text, remark.kind, remark.target, agents, f"you wrote “{name}”")


def _with_kind(text: str, kind: str, target: str, agents: tuple[str, ...], rule: str) -> Understood:
    ruling = classify(text)
    if kind == "reaction":
        target = ", ".join(named(target, agents)) or target or ", ".join(named(text, agents))
    return Understood(text, kind, target, ruling.was, ruling.now, rule)


def _by_rules(text: str, agents: tuple[str, ...]) -> Understood:
    ruling = classify(text, agents)
    return Understood(text, ruling.kind, ruling.target, ruling.was, ruling.now, ruling.rule)


def _kept_whole(text: str, agents: tuple[str, ...]) -> Understood:
    understood = _by_rules(text, agents)
    return replace(understood, rule=f"a long text is kept whole; {understood.rule}")


def _grouped(text: str, agents: tuple[str, ...]) -> list[str]:
    """The sentences put together again, save where a new remark clearly begins."""
    found = list(sentences(text))
    if len(found) > MOST_PIECES:
        return [text]
    starts: list[int] = []
    last = Ruling("comment", "")
    for sentence in found:
        ruling = classify(sentence.text, agents)
        only_approval = len(starts) == 1 and is_approval(text[: sentence.start])
        if not starts or (not only_approval and _begins_anew(sentence, ruling, last)):
            starts.append(sentence.start)
            last = ruling
        elif not last.definite:
            last = ruling
    ends = [*starts[1:], len(text)]
    groups = [text[start:end].strip().rstrip(";").rstrip() for start, end in zip(starts, ends)]
    return [group for group in groups if group] or [text]


def _begins_anew(sentence: Sentence, ruling: Ruling, last: Ruling) -> bool:
    """Conservative: two sentences are one remark unless the second says "also", or is clearly of another kind."""
    if is_approval(sentence.text):
        return False
    tongue = tongues.of(sentence.text)
    if _written(sentence.text, ()) or tongue.pattern(_ALSO).match(sentence.text):
        return True
    if not sentence.strong or tongue.pattern(_REFERS_BACK).match(sentence.text):
        return False
    both = ruling.definite and last.definite
    return both and (ruling.kind != last.kind or bool(ruling.corrections and last.corrections))


# --- no more than "go on" ---


def is_approval(text: str) -> bool:
    """ "looks good", "lgtm", "no, nothing to add", "passt so", "👍": nothing that an agent would need to read.

    When in doubt it is a remark: "looks good, but revenue is $900M" says something.
    """
    if len(text) > _LONGEST_APPROVAL or not text.strip():
        return False
    if _THUMBS.fullmatch(text):
        return any(not (character.isspace() or character in ".!") for character in text)
    parts = _SAID_APART.split(text.casefold().replace("’", "'"))
    said = [words for part in parts if (words := " ".join(_NOT_WORDS.sub(" ", part).split()))]
    tongue = tongues.of(text)
    return bool(said) and "?" not in text and all(_agrees(part, tongue) for part in said)


def _agrees(part: str, tongue: tongues.Tongue) -> bool:
    """Short words, one after the other, then perhaps a phrase: "ok great looks good to me"."""
    phrase, short = tongue.pattern("<<approval>>"), tongue.words("agreeing")
    words = _without_trailing(part, tongue.words("after_agreeing")).split()
    for index in range(len(words)):
        if phrase.fullmatch(" ".join(words[index:])):
            return True
        if words[index] not in short:
            return False
    return True


def _without_trailing(part: str, endings: frozenset[str]) -> str:
    while ending := next((each for each in endings if part.endswith(" " + each)), ""):
        part = part[: -len(ending) - 1]
    return "" if part in endings else part
