"""A text in sentences that know their line and their place, and how two versions of it differ.

Paragraphs, items of lists, rows of tables and headings are blocks. What an agent says about remarks, and not about its
subject, is told apart: a block that begins with the id of a remark, a section of nothing but such blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

_ID = re.compile(r"(?<![\w-])FB-\d{1,9}(?![\w-])", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_INSIDE = re.compile(r"(?<=\d)[*_]{1,3}(?=[\w.,])")  # of emphasis, within a figure
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<title>\S.*?)\s*#*\s*$")
_BOLD_TITLE = re.compile(r"\s{0,3}(?:\*\*|__)(?P<title>[^*_\n]{1,80}?):?(?:\*\*|__):?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•–—]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_ROW = re.compile(r"\s*\|.*\||[^|]*\|[^|]*\|")
_RULER = re.compile(r"[\s|:*_=–—-]+$")
_QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
_NUMBERED = re.compile(r"^\W*\d{1,3}(?:\.\d{1,3})*[.)]\s+")
_SENTENCE = re.compile(r"(?<=[.!?…])(?:[\"'”’»)\]*_]{0,4})\s+(?=[\[(*_“\"'„«`]*[^\W\d_a-zäöüß])")
_WORD = re.compile(r"\w+(?:[.,]\d+)*%?")
# "FB-001: …", "Zu FB-001: …", "A note on FB-001 and …"; not "Revenue is $900M [FB-001]."
_SPEAKS_OF = re.compile(
    r"[\W_]*(?:FB-\d|(?:\w[\w'’-]*[^\w\n]{1,4}){1,3}?[\W_]*FB-\d{1,9}[^\w\n]{1,6}\w[\w'’-]*[^\w\n]+\w)", re.IGNORECASE
)

_MOST_BLOCKS = 3000
_LONGEST = 400  # characters of a passage that is shown
_MOST_PAIRS = 40_000
_ALIKE = 0.34  # share of words that two versions of one block have in common


class Sentence(Struct, frozen=True):
    text: str
    line: int
    key: str  # its words: two sentences with the same are the same


class Block(Struct, frozen=True):
    sentences: tuple[Sentence, ...]
    line: int
    around: str = ""  # the heading above, and of a row the head of its table
    answers: bool = False  # it speaks of remarks
    title: bool = False

    @property
    def key(self) -> str:
        return " / ".join(one.key for one in self.sentences)

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.sentences)


class Change(Struct, frozen=True):
    """What became of one block: the sentences that went, and those that came."""

    line: int
    gone: tuple[Sentence, ...]
    come: tuple[Sentence, ...]
    around: str = ""

    @property
    def was(self) -> str:
        return shown(self.gone)

    @property
    def now(self) -> str:
        return shown(self.come)


def shown(sentences: Iterable[Sentence]) -> str:
    text = " ".join(one.text for one in sentences)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def key_of(text: str) -> str:
    """The words of a text, without ids, numbering, markup and capitals."""
    plain = _NUMBERED.sub("", _ID.sub(" ", text))
    return " ".join(_WORD.findall(plain.casefold().replace("’", "'")))


# --- reading ---


def blocks(text: str) -> tuple[Block, ...]:
    found = [block for block in _blocks(_as_read(text)) if block.key or block.answers][:_MOST_BLOCKS]
    return tuple(_answering(found))


def _as_read(text: str) -> str:
    """As whoever looks at it reads it: without comments of HTML, marks within a figure, and what is not seen."""
    without = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), _UNSEEN.sub("", text))
    return _INSIDE.sub("", without)


def _blocks(text: str) -> Iterator[Block]:
    title, head = "", ""
    fenced = table = False
    held: list[tuple[int, str]] = []  # lines of the block that is open

    def closed() -> Iterator[Block]:
        if held:
            yield _block(held, title)
            held.clear()

    for number, raw in enumerate(text.splitlines(), 1):
        line = _QUOTE.sub("", raw, count=1) if not fenced else raw
        if _FENCE.match(line):
            yield from closed()
            fenced = not fenced
            continue
        heading = None if fenced else _HEADING.match(line) or _BOLD_TITLE.match(line)
        row = not fenced and heading is None and _ROW.match(line)
        if row:
            yield from closed()
            if not _RULER.match(line):
                yield _block([(number, line.strip())], f"{title} {head}" if table else title, whole=True)
                head = head if table else line
                table = True
            continue
        table, head = False, ""
        if heading is not None:
            yield from closed()
            title = heading["title"]
            yield _block([(number, line.strip())], "", whole=True, title=True)
        elif fenced:
            if line.strip():
                yield _block([(number, line.strip())], title, whole=True)
        elif not line.strip() or _RULER.match(line):
            yield from closed()
        else:
            if _ITEM.match(line) or _ID.match(line.lstrip(" *_[(-")):
                yield from closed()
            held.append((number, line.strip()))
    yield from closed()


def _block(lines: Sequence[tuple[int, str]], around: str, *, whole: bool = False, title: bool = False) -> Block:
    text = " ".join(line for _, line in lines)
    starts, at = [], 0
    for number, line in lines:
        starts.append((at, number))
        at += len(line) + 1
    found, begin = [], 0
    for end in [*([] if whole else [match.end() for match in _SENTENCE.finditer(text)]), len(text)]:
        part = text[begin:end].strip()
        number = [line for start, line in starts if start <= begin][-1]
        if part:
            found.append(Sentence(part, number, key_of(part)))
        begin = end
    answers = bool(_SPEAKS_OF.match(text)) and not title
    return Block(tuple(found), lines[0][0], around, answers, title)


def _answering(found: Sequence[Block]) -> Iterator[Block]:
    """A section of nothing but words on remarks is about them with its heading, a table with its head."""
    heads = [at for at, block in enumerate(found) if block.title]
    about: set[int] = set()
    for start, end in zip([-1, *heads], [*heads, len(found)]):
        inside = range(start + 1, end)
        speaking = [at for at in inside if found[at].answers]
        rows = [at for at in inside if speaking and "|" in found[at].text]
        if speaking and all(at in speaking or at in rows for at in inside):
            about |= {start, *inside}
    for at, block in enumerate(found):
        yield replace(block, answers=True) if at in about else block


# --- comparing ---


def changes(before: Sequence[Block], after: Sequence[Block]) -> tuple[Change, ...]:
    """In the order of the text as it is now. What only moved has not changed; what speaks of remarks does not count."""
    old = [block for block in before if not block.answers]
    new = [block for block in after if not block.answers]
    stood = {one.key for block in old for one in block.sentences}
    stands = {one.key for block in new for one in block.sentences}

    def change(was: Block | None, now: Block | None, line: int) -> Change:
        gone = tuple(one for one in was.sentences if one.key not in stands) if was else ()
        come = tuple(one for one in now.sentences if one.key not in stood) if now else ()
        place = come[0].line if come else now.line if now else line
        return Change(place, gone, come, (now or was or _NOWHERE).around)

    found: list[Change] = []
    matcher = SequenceMatcher(None, [one.key for one in old], [one.key for one in new], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        line = new[min(k, len(new) - 1)].line if new else 0
        for was, now in _paired(old[i:j], new[k:m]):
            one = change(was, now, line)
            if any(each.key for each in (*one.gone, *one.come)):
                found.append(one)
    return tuple(found)


_NOWHERE = Block((), 0)


def _paired(old: Sequence[Block], new: Sequence[Block]) -> Iterator[tuple[Block | None, Block | None]]:
    """Each new block with the old one that it is a version of, as far as there is one; then what is left of the old.
    Where one stands for one, it is its version whatever the words are."""
    if len(old) == len(new) == 1 or len(old) * len(new) > _MOST_PAIRS:
        yield from zip_longest(old, new)
        return
    left = list(old)
    for now in new:
        was = max(left, key=lambda one: _likeness(one, now), default=None)
        if was is not None and _likeness(was, now) >= _ALIKE:
            left.remove(was)
            yield was, now
        else:
            yield None, now
    for was in left:
        yield was, None


def _likeness(one: Block, other: Block) -> float:
    mine, theirs = set(one.key.split()), set(other.key.split())
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))
