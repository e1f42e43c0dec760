"""A free text typed in one go, as remarks: where each begins, what kind it is, and which rule said so.

A kind the person wrote always wins over the rules. No word is ever dropped but a kind's own name, list markers aside,
and none is moved; when in doubt two sentences are one remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from reconvene.kits.reading import engine_orders, tongues
from reconvene.kits.reading.feedback import Understood, kind_named, parse_remark
from reconvene.kits.reading.quantities import figures_in
from reconvene.kits.reading.rules import Ruling, classify, named
from reconvene.kits.reading.splitting import MOST_PIECES, Block, Sentence, blocks, sentences

_MOST_REMARKS = 60
_LONGEST_APPROVAL = 200
_THUMBS = re.compile(r"[\s👍👌✅✔🆗🙂😊💯🎉\ufe0f\U0001f3fb-\U0001f3ff.!]+")
_LONGEST_COURTESY = 200
_LONGEST_SENTENCE = 600  # whose clauses are looked at one by one
_COURTESY = r"\W*<<courtesy>>"
_CUT = r",\s+|:\s+|\s[–—-]+\s+|\s+(?=<<joins>>\s)"
_JOINS = r"\W*<<joins>>\s+"
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
    return [
        _written(group.text, agents) or _by_rules(group.text, agents, group.core)
        for group in _grouped(block.text, agents)
    ]


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


def _by_rules(text: str, agents: tuple[str, ...], core: str = "") -> Understood:
    """`core`: the text without what is only courtesy, agreement or an order. By it the kind is told."""
    ruling = classify(core or text, agents)
    return Understood(text, ruling.kind, ruling.target, ruling.was, ruling.now, ruling.rule)


def _kept_whole(text: str, agents: tuple[str, ...]) -> Understood:
    understood = _by_rules(text, agents)
    return replace(understood, rule=f"a long text is kept whole; {understood.rule}")


# --- where one remark ends and the next begins ---


class _Unit(Struct, frozen=True):
    """A sentence, or a clause that says something of its own. `core`: less what is only agreement or an order."""

    start: int
    text: str
    core: str  # "" = nothing is left
    strong: bool = True  # it follows a full stop
    apart: bool = False  # it was told apart within its sentence


class _Group(Struct):
    text: str
    core: str


def _grouped(text: str, agents: tuple[str, ...]) -> list[_Group]:
    """The sentences put together again, save where a new remark clearly begins. Only ends of it are trimmed."""
    found = list(sentences(text))
    if len(found) > MOST_PIECES:
        return [_Group(text, text)]
    units = [unit for sentence in found for unit in _units(sentence, agents)]
    starts: list[int] = []
    cores: list[list[str]] = []
    last = Ruling("comment", "")
    for unit in units:
        if not unit.core:
            continue
        ruling = classify(unit.core, agents)
        if not starts or unit.apart or _begins_anew(unit, ruling, last):
            starts.append(unit.start if starts else 0)
            cores.append([unit.core])
            last = ruling
        else:
            cores[-1].append(unit.core)
            last = last if last.definite else ruling
    if not starts:
        return [_Group(text, text)]
    ends = [*starts[1:], len(text)]
    groups = [
        _Group(text[start:end].strip().rstrip(";,").rstrip(), " ".join(core))
        for start, end, core in zip(starts, ends, cores, strict=True)
    ]
    return [group for group in groups if group.text] or [_Group(text, text)]


def _units(sentence: Sentence, agents: tuple[str, ...]) -> Iterator[_Unit]:
    """The sentence cut where both sides are firmly of another kind, and of each what is no courtesy and no order."""
    if len(sentence.text) > _LONGEST_SENTENCE:
        yield _Unit(sentence.start, sentence.text, sentence.text, sentence.strong)
        return
    tongue = tongues.of(sentence.text)
    courteous = len(sentence.text) <= _LONGEST_COURTESY and tongue.pattern(_COURTESY).match(sentence.text)
    if courteous and not named(sentence.text, agents) and not re.search(r"\d", sentence.text):
        yield _Unit(sentence.start, sentence.text, "", sentence.strong)
        return
    cuts = [0, *(match.end() for match in tongue.pattern(_CUT).finditer(sentence.text)), len(sentence.text)]
    pieces = [(start, end) for start, end in pairwise(cuts) if sentence.text[start:end].strip()]
    said = [span for span in pieces if not _neutral(sentence.text[span[0] : span[1]], tongue)]
    begin, apart = 0, False
    for number, (start, _) in enumerate(said):
        rest = [span for span in said[number:] if span[0] == start or not _joined(sentence.text, span[0], tongue)]
        if number and _joined(sentence.text, start, tongue):
            left, right = _core(sentence.text, begin, start, said, tongue), sentence.text[start : rest[-1][1]]
            if _apart(left, _bare(right, tongue), agents):
                yield _Unit(sentence.start + begin, left, left, sentence.strong, apart)
                begin, apart = start, True
    core = _core(sentence.text, begin, len(sentence.text), said, tongue)
    yield _Unit(sentence.start + begin, sentence.text[begin:], core, sentence.strong, apart)


def _joined(text: str, start: int, tongue: tongues.Tongue) -> bool:
    return bool(tongue.pattern(_JOINS).match(text, start))


def _core(text: str, begin: int, end: int, said: list[tuple[int, int]], tongue: tongues.Tongue) -> str:
    own = [span for span in said if begin <= span[0] < end]
    if not own:
        return ""
    core = text[own[0][0] : own[-1][1]].strip().rstrip(",;:").rstrip()
    return _bare(core, tongue) if own[0][0] else core


def _bare(text: str, tongue: tongues.Tongue) -> str:
    """Without the word that joins it to what stood before."""
    return text[match.end() :] if (match := tongue.pattern(_JOINS).match(text)) else text


def _apart(left: str, right: str, agents: tuple[str, ...]) -> bool:
    """Whether two clauses of one sentence are two remarks: both are firmly of a kind, and not of the same."""
    tongue = tongues.of(right)
    if tongue.pattern(_REFERS_BACK).match(right) or not left:
        return False
    one, two = classify(left, agents), classify(right, agents)
    if tongue.pattern(_ALSO).match(right):
        return one.definite and two.definite
    both = _firm(one, left) and _firm(two, right)
    return both and (one.kind != two.kind or bool(one.corrections and two.corrections))


def _firm(ruling: Ruling, text: str) -> bool:
    if ruling.kind == "correction":
        return bool(ruling.now or figures_in(text))
    if ruling.kind == "new context":
        return bool(tongues.of(text).pattern("<<event>>|<<game_changing>>").search(text))
    return ruling.kind in ("missing factor", "strategic shift", "reaction")


def _begins_anew(unit: _Unit, ruling: Ruling, last: Ruling) -> bool:
    """Conservative: two sentences are one remark unless the second says "also", or is clearly of another kind."""
    tongue = tongues.of(unit.text)
    bare = _bare(unit.core, tongue)
    if _written(unit.text, ()) or any(tongue.pattern(_ALSO).match(text) for text in (unit.text, unit.core, bare)):
        return True
    if not unit.strong or tongue.pattern(_REFERS_BACK).match(bare):
        return False
    if last.kind == "missing factor" and ruling.kind == "new context":
        return False  # it says why that matters
    if last.kind == "correction" and not last.now and ruling.corrections == 0 and figures_in(unit.core):
        return False  # "Headcount is wrong. 420 people work here."
    both = ruling.definite and last.definite
    return both and (ruling.kind != last.kind or bool(ruling.corrections and last.corrections))


# --- no more than "go on" ---


def is_approval(text: str) -> bool:
    """ "looks good", "lgtm", "no, nothing to add", "passt so", "👍", "one more round": nothing that an agent would need
    to read. What it tells the engine to do, `orders` says.

    When in doubt it is a remark: "looks good, but revenue is $900M" says something.
    """
    if len(text) > _LONGEST_APPROVAL or not text.strip():
        return False
    if _THUMBS.fullmatch(text):
        return any(not (character.isspace() or character in ".!") for character in text)
    said, tongue = engine_orders.clauses(text), tongues.of(text)
    told = [bool(engine_orders.order_of(part, tongue)) for part in said]
    if "?" in text and not any(told):
        return False
    opens = tongue.pattern(r"<<order_opens>>") if any(told) else None
    return bool(said) and all(
        order or _agrees(part, tongue) or (opens is not None and bool(opens.fullmatch(part)))
        for part, order in zip(said, told, strict=True)
    )


def _neutral(text: str, tongue: tongues.Tongue) -> bool:
    """Nothing to read, beside something that is: also "two things", and a bare "and"."""
    said = engine_orders.clauses(_bare(text, tongue))
    return not said or all(
        engine_orders.order_of(part, tongue) or tongue.pattern("<<announces>>").fullmatch(part) or _agrees(part, tongue)
        for part in said
    )


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
