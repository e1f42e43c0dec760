"""Reads → the documents of a prompt, those that all agents of a step are shown first. What does not fit is paged.

Nothing is cut in silence: a document says how much of it is shown, and a list says what was left out. Where its author
wrote a summary, that stands in its place. What the person said, the role, the task and the form are never cut.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.events import LeftOut, Read
from reconvene.core.shown.summaries import stated_summary, summary_of
from reconvene.prompts.marks import Section, all_tagged
from reconvene.prompts.names import named

MOST_INLINE = 60_000  # characters of one document, where nobody knows how much the agent can take
_LEAST_SHOWN = 2_000  # a smaller page of a document helps nobody: then it is left out
_STEP = 1_000  # pages end at such a number, so that those of the agents of a step end at the same
_BYTES_PER_TOKEN = 3.5
_REPLY = 0.25  # of the window stays free for the answer


class Document(Struct, frozen=True):
    """`note` instead of a text: it is not there, or not here."""

    name: str
    text: str = ""
    note: str = ""
    summary: str = ""  # its author's own, "" where there is none


class Documents(Struct, frozen=True):
    every: tuple[Document, ...]
    small: str  # names and texts in small letters: where a mark must not occur
    bytes: int
    longest: int


def said(one: LeftOut) -> str:
    """Of a name that an agent may have chosen: as it is where it is plain, else quoted."""
    one = replace(one, name=named(one.name))
    if one.summary:
        return f"{one.name}: its summary is shown, {one.shown:,} characters in place of {one.of:,}"
    if not one.shown:
        return f"{one.name}: left out, {one.of:,} characters"
    return f"{one.name}: its first {one.shown:,} of {one.of:,} characters are shown"


NONE = Documents((), "", 0, 0)


def tokens(text: str) -> int:
    """Roughly, and rather too many than too few."""
    return tokens_in(len(text.encode("utf-8", "replace")))


def tokens_in(size: int) -> int:
    return int(size / _BYTES_PER_TOKEN) + 1


def room(window: int, fixed: int, reply: int = 0) -> int:
    """Bytes that are left for documents in a window of so many tokens, beside so many fixed ones and the reply."""
    free = window - (reply or int(window * _REPLY)) - fixed
    return max(0, int(free * _BYTES_PER_TOKEN))


def of(book: Book, reads: tuple[Read, ...], *, inline: bool, what: str) -> Documents:
    """The agents of a step mostly read the same: put together once for all of them. `what`: shared or own."""
    if not reads:
        return NONE
    return book.made_of(f"documents, {what}", (reads, inline), lambda: _together(book, reads, inline))


def _together(book: Book, reads: tuple[Read, ...], inline: bool) -> Documents:
    every = tuple(document for read in reads for document in _documents(book, read, inline))
    small = "\n".join(f"{one.name}\n{one.note}\n{one.text}" for one in every).lower()
    size = sum(len(one.text.encode("utf-8", "replace")) for one in every)
    return Documents(every, small, size, max((len(one.text) for one in every), default=0))


def _documents(book: Book, read: Read, inline: bool) -> list[Document]:
    if read.kind == "project":
        return [Document(read.name, read.note)]
    if read.ref is None:
        return [Document(read.name, note=read.note)]
    if read.kind == "file" and not inline:
        return [Document(read.name, note="in your working directory")]
    if read.kind == "file" and b"\x00" in book.read(read.ref.digest)[:8000]:
        return [Document(read.name, note=f"binary, {read.ref.size} bytes")]
    if read.kind == "input":
        return _input(book, read)
    return [Document(read.name, _content(book, read).rstrip("\n"), summary=_summary(book, read))]


def _summary(book: Book, read: Read) -> str:
    return stated_summary(book, read.ref) if read.ref is not None and not read.name.endswith(".summary") else ""


def _input(book: Book, read: Read) -> list[Document]:
    """A text as it is; files and folders as one document each."""
    assert read.ref is not None
    found = book.object(read.ref.digest).get(read.name.partition(".")[2])
    files = found if isinstance(found, list) and found and all(map(_is_file, found)) else []
    if files:
        return [Document(f"{read.name}/{one['name']}", str(one["text"]).rstrip("\n")) for one in files]
    text = found if isinstance(found, str) else to_json(found).decode()
    return [Document(read.name, text.rstrip("\n"))]


def _is_file(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("text"), str)


def _content(book: Book, read: Read) -> str:
    assert read.ref is not None
    if read.kind != "output":
        return book.text(read.ref.digest)
    if read.name.endswith(".summary"):
        return summary_of(book, read)
    loaded = book.load(read.ref)
    full = loaded.get("full") if isinstance(loaded, dict) else None
    return full if isinstance(full, str) else book.text(read.ref.digest)


# --- how much of each ---


class Page(Struct, frozen=True):
    """What is shown of documents: at most so many characters of each, and nothing of those that are gone."""

    most: int = MOST_INLINE
    gone: frozenset[str] = frozenset()


def page(shared: Documents, own: Documents, room: int | None) -> Page:
    """The largest documents are shortened first, to their summaries where they have one. Where less than a useful page
    of each would be left, whole ones are left out, the largest first and of these the later. `room`: bytes that are
    free for documents, None = not known."""
    if room is None:
        return Page()
    every = [one for one in (*shared.every, *own.every) if one.text]
    size = shared.bytes + own.bytes
    if size <= room:
        return Page(max(shared.longest, own.longest))
    free = room * sum(len(one.text) for one in every) / size  # in characters
    kept, gone = sorted(every, key=lambda one: len(one.text)), set[str]()
    while kept:
        share = _share([len(one.text) for one in kept], free)
        long = [one for one in kept if len(one.text) > share]
        told = [one for one in long if one.summary and len(one.summary) <= share]
        if told or (long and share < _LEAST_SHOWN):
            last = (told or long)[-1]
            kept.remove(last)
            gone.add(last.name)
            free -= len(last.summary) if told else 0
        else:
            return Page(share, frozenset(gone))
    return Page(0, frozenset(gone))


def _share(lengths: list[int], free: float) -> int:
    """How much each gets, of lengths in order: who needs less leaves the rest to the others."""
    for number, length in enumerate(lengths):
        share = free / (len(lengths) - number)
        if length > share:
            return int(share) // _STEP * _STEP
        free -= length
    return lengths[-1]


def cuts(documents: Documents, page: Page) -> list[LeftOut]:
    if not page.gone and documents.longest <= page.most:
        return []
    return [_cut(one, page) for one in documents.every if one.name in page.gone or len(one.text) > page.most]


def _cut(one: Document, page: Page) -> LeftOut:
    gone = one.name in page.gone
    return LeftOut(one.name, len(one.summary) if gone else page.most, len(one.text), summary=gone and bool(one.summary))


def told(book: Book, documents: Documents, mark: str, page: Page, what: str) -> str:
    """As sections of a prompt."""
    if not documents.every:
        return ""
    return book.made_of(f"told, {what}", (documents.every, mark, page), lambda: _told(documents, mark, page))


def _told(documents: Documents, mark: str, page: Page) -> str:
    return all_tagged((_section(one, page) for one in documents.every), mark)


def _section(one: Document, page: Page) -> Section:
    if one.note:
        return Section("document", f"({one.note})", one.name)
    if one.name in page.gone and one.summary:
        return Section("document", one.summary, one.name, f"its summary, in place of {len(one.text)} characters")
    if one.name in page.gone:
        return Section("document", "(left out: it does not fit)", one.name, f"0 of {len(one.text)} characters")
    if len(one.text) > page.most:
        shown = f"the first {page.most} of {len(one.text)} characters"
        return Section("document", one.text[: page.most], one.name, shown)
    return Section("document", one.text or "(empty)", one.name)
