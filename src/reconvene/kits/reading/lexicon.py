"""Which broad subject a word belongs to (money words → economy, law words → regulation, …).

The words are those of the languages' lists. Knows nothing of agents: a remit is matched to subjects by the few words
that name the subject, a remark by the many words that speak of it. Phrases are taken whole, so that "power plant" is
not power and "working capital" is not work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reconvene.kits.reading import tongues
from reconvene.kits.reading.terms import tokens
from reconvene.kits.reading.tongues import Language


class Spoken(NamedTuple):
    subject: str
    words: str  # as written


def _pieces(text: str, spoken_in: Language) -> Iterator[tuple[str, str]]:
    """The text's words with their stems; a known phrase is one piece."""
    written = tokens(text)
    stems = [spoken_in.stem(word) for word in written]
    at = 0
    while at < len(written):
        for length in range(min(spoken_in.longest, len(written) - at), 0, -1):
            piece = " ".join(stems[at : at + length])
            if length == 1 or piece in spoken_in.phrases:
                yield " ".join(written[at : at + length]), piece
                at += length
                break


def spoken(text: str) -> list[Spoken]:
    """Which subjects this text speaks of, each with the words that say so, in the order of the text."""
    found: dict[Spoken, None] = {}
    for each in tongues.of(text).languages:
        silent = each.words.get("only_in_remits", frozenset())
        for written, stem in _pieces(text, each):
            if " " in stem:
                if subject := each.phrases[stem]:
                    found[Spoken(subject, written)] = None
            elif stem not in silent:
                found.update(
                    (Spoken(name, written), None)
                    for name, subject in each.subjects.items()
                    if subject.spoken.holds(written, stem)
                )
    return list(found)


def subjects_of(remit: str) -> frozenset[str]:
    """Which subjects a remit names; where it names none, those it speaks of."""
    named = {
        name
        for each in tongues.of(remit).languages
        for word in tokens(remit)
        for name, subject in each.subjects.items()
        if subject.named.holds(word, each.stem(word))
    }
    return frozenset(named or {found.subject for found in spoken(remit)})


def outside_phrases(text: str) -> str:
    """The text without its known phrases, so that their single words are not taken by themselves."""
    for each in tongues.of(text).languages:
        text = " ".join(written for written, stem in _pieces(text, each) if " " not in stem)
    return text
