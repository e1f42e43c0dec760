"""Which agents a set of remarks affects, and by which rule: the preview of "run only those again".

Pure rules, in order of strength; whoever is routed is shown the rule and the words that fired it:

    mention     the remark names the agent, or is aimed at it
    assumption  the remark speaks against an assumption that the agent's last output states
    remit       the remark speaks of what the agent's remit names (the same words, or the same broad subject)
    output      the agent's last output speaks of the same figure, the same name, or the same two things in one sentence
    always      the workflow wants this agent in every extra round
    everybody   no rule above found anybody for a remark: better to ask all than to miss one

What more than half of the outputs share tells the agents apart from nobody, so it routes nobody. Advice for a person,
who may choose others; knows nothing of rounds, costs or any one workflow's agents.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from reconvene.core.extensions import AgentProfile, Concerned, RemarkLike
from reconvene.kits.reading import terms, tongues
from reconvene.kits.reading.assumptions import assumptions_in, contradicted
from reconvene.kits.reading.rules import disagrees
from reconvene.kits.reading.tongues import Tongue
from reconvene.kits.reading.understanding import is_approval

RuleName = Literal["mention", "assumption", "remit", "output", "always", "everybody"]
_STRENGTH: dict[RuleName, int] = {
    "mention": 0, "assumption": 1, "remit": 2, "output": 3, "always": 4, "everybody": 5,
}  # fmt: skip
_MOST_REASONS = 3
_NOWHERE: set[int] = set()
_LONGEST_REMARK = 20_000  # characters of a remark whose words are looked at
_LONGEST_OUTPUT = 500_000  # and of an output, from its beginning


class _Hit(NamedTuple):
    agent: str
    rule: RuleName
    why: str


def affected(
    remarks: Sequence[RemarkLike], agents: Mapping[str, AgentProfile], always: tuple[str, ...] = ()
) -> tuple[Concerned, ...]:
    """In the order of `agents`. Never empty while there are agents."""
    outputs, remits = _Outputs(agents), {agent: _Remit(profile.remit) for agent, profile in agents.items()}
    assumed = {agent: assumptions_in(profile.last_output[:_LONGEST_OUTPUT]) for agent, profile in agents.items()}
    hits: list[_Hit] = []
    lost = [] if remarks else ["nothing was said that points to anybody"]
    for remark in remarks:
        if len(remark.text) > _LONGEST_REMARK:  # a whole document: to read it all takes longer than anybody waits
            lost.append(f"{_named(remark)} is too long to say whom it concerns")
            continue
        found = [
            *_mentioned(remark, agents),
            *_against(remark, assumed),
            *_by_remit(remark, remits),
            *outputs.sharing(remark),
        ]
        cited = f" [{name}]" if (name := _attribute(remark, "id")) else ""
        hits += [_Hit(agent, rule, why + cited) for agent, rule, why in found]
        if not found and not _asks_nobody(remark) and (terms.content(remark.text) or len(remarks) == 1):
            lost.append(f"no rule says whom {_named(remark)} concerns")
    hits += [_Hit(agent, "always", "part of every extra round") for agent in always if agent in agents]
    if lost or not hits:
        hits += [_Hit(agent, "everybody", lost[0] if lost else "nothing said points to anybody") for agent in agents]
    return tuple(_joined(agent, hits) for agent in agents if any(hit.agent == agent for hit in hits))


def _joined(agent: str, hits: list[_Hit]) -> Concerned:
    own = sorted((hit for hit in hits if hit.agent == agent), key=lambda hit: _STRENGTH[hit.rule])
    reasons = list(dict.fromkeys(hit.why for hit in own if hit.rule not in ("always", "everybody")))
    reasons = reasons or [own[0].why]
    more = len(reasons) - _MOST_REASONS
    rest = f"; and {more} more" if more > 0 else ""
    return Concerned(agent, own[0].rule, "; ".join(reasons[:_MOST_REASONS]) + rest)


def _named(remark: RemarkLike) -> str:
    text = " ".join(remark.text.split())
    return _attribute(remark, "id") or f"“{text[:40]}{'…' if len(text) > 40 else ''}”"


def _attribute(remark: RemarkLike, name: str) -> str:
    return str(getattr(remark, name, "") or "")


# --- by name ---


def _mentioned(remark: RemarkLike, agents: Mapping[str, AgentProfile]) -> Iterable[_Hit]:
    aimed = " ".join(remark.target.split()).casefold()
    everybody = tongues.everything().words("everybody") if aimed else ()
    for agent in agents:
        pattern = terms.name_pattern(agent)
        if aimed in everybody or (aimed and pattern.search(aimed)):
            yield _Hit(agent, "mention", "the remark is aimed at it")
        elif pattern.search(remark.text):
            yield _Hit(agent, "mention", "the remark names it")


# --- by what it takes for granted ---


def _against(remark: RemarkLike, assumed: Mapping[str, tuple[str, ...]]) -> Iterable[_Hit]:
    """What more than half of them take for granted tells nobody apart, as with outputs."""
    found = {agent: contradicted(remark.text, {agent: items}) for agent, items in assumed.items() if items}
    hits = {agent: against for agent, against in found.items() if against is not None}
    if len(found) > 2 and len(hits) > len(found) / 2:
        return
    for agent, against in hits.items():
        yield _Hit(agent, "assumption", f"it takes for granted: {_quoted([against.assumption])}")


def _asks_nobody(remark: RemarkLike) -> bool:
    """ "Looks mostly fine", or a word of praise: nothing that somebody would have to look at again."""
    kind = _attribute(remark, "kind")
    return is_approval(remark.text) or (kind == "reaction" and not disagrees(remark.text))


# --- by remit ---


class _Remit:
    def __init__(self, text: str) -> None:
        self._text = text
        self.subjects = _subjects_of(text)
        self._words: dict[Tongue, frozenset[str]] = {}

    def words(self, tongue: Tongue) -> frozenset[str]:
        if tongue not in self._words:
            loose = tongues.everything().words("loose")
            self._words[tongue] = frozenset(terms.content(self._text, tongue)) - loose
        return self._words[tongue]


def _by_remit(remark: RemarkLike, remits: Mapping[str, _Remit]) -> Iterable[_Hit]:
    tongue = tongues.of(remark.text)
    said = terms.content(_outside_phrases(remark.text), tongue)
    subjects: dict[str, list[str]] = {}
    for subject, words in _spoken(remark.text):
        subjects.setdefault(subject, []).append(words)
    for agent, remit in remits.items():
        shared = [said[key] for key in said if key in remit.words(tongue)]
        if shared:
            yield _Hit(agent, "remit", f"its remit says {_quoted(shared)}")
            continue
        for subject in sorted(remit.subjects & subjects.keys()):
            yield _Hit(agent, "remit", f"{_quoted(subjects[subject])}: its remit is about {subject}")


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"“{word}”" for word in list(dict.fromkeys(words))[:_MOST_REASONS])


# The broad subject of a word (money words → economy, law words → regulation, …), by the languages' lists. A remit is
# matched to subjects by the few words that name the subject, a remark by the many words that speak of it. Phrases are
# taken whole, so that "power plant" is not power and "working capital" is not work.


def _phrased(text: str, language: tongues.Language) -> Iterator[tuple[str, str]]:
    """The text's words with their stems; a known phrase counts as one."""
    written = terms.tokens(text)
    stems = [language.stem(word) for word in written]
    at = 0
    while at < len(written):
        for length in range(min(language.longest, len(written) - at), 0, -1):
            phrase = " ".join(stems[at : at + length])
            if length == 1 or phrase in language.phrases:
                yield " ".join(written[at : at + length]), phrase
                at += length
                break


def _spoken(text: str) -> list[tuple[str, str]]:
    """Which subjects this text speaks of, each with the words that say so, in the order of the text."""
    found: dict[tuple[str, str], None] = {}
    for each in tongues.of(text).languages:
        silent = each.words.get("only_in_remits", frozenset())
        for written, stem in _phrased(text, each):
            if " " in stem:
                if subject := each.phrases[stem]:
                    found[(subject, written)] = None
            elif stem not in silent:
                found.update(
                    ((name, written), None)
                    for name, subject in each.subjects.items()
                    if subject.spoken.holds(written, stem)
                )
    return list(found)


def _subjects_of(remit: str) -> frozenset[str]:
    """Which subjects a remit names; where it names none, those it speaks of."""
    named = {
        name
        for each in tongues.of(remit).languages
        for word in terms.tokens(remit)
        for name, subject in each.subjects.items()
        if subject.named.holds(word, each.stem(word))
    }
    return frozenset(named or {subject for subject, _ in _spoken(remit)})


def _outside_phrases(text: str) -> str:
    """The text without its known phrases, so that their single words are not taken by themselves."""
    for each in tongues.of(text).languages:
        text = " ".join(written for written, stem in _phrased(text, each) if " " not in stem)
    return text


# --- by what the last output says ---


class _Read:
    """One agent's last output, made ready for many remarks."""

    def __init__(self, output: str) -> None:
        output = output[:_LONGEST_OUTPUT]
        self.text = output
        self.names = terms.names(output)
        self.figures: dict[str, list[tuple[terms.Figure, int]]] = {}  # by value, with the number of the sentence
        self._words: dict[str, dict[str, set[int]]] = {}  # by their beginning: word → numbers of its sentences
        self._stems: dict[tuple[Tongue, str], dict[str, set[int]]] = {}
        tongue = tongues.of(output)
        for number, sentence in enumerate(terms.sentences(output)):
            for figure in terms.figures(sentence, tongue):
                self.figures.setdefault(figure.key, []).append((figure, number))
            for word in terms.tokens(sentence):
                if bare := terms.meaning(word, tongue):
                    self._words.setdefault(_beginning(bare), {}).setdefault(bare, set()).add(number)

    def sentences(self, word: str, stem: str, tongue: Tongue) -> set[int]:
        """The numbers of the sentences that use the word in any form. Words of one stem begin alike, so only those
        that begin as this one does are stemmed."""
        start = _beginning(word.casefold())
        if (tongue, start) not in self._stems:
            found = self._stems[tongue, start] = {}
            for other, numbers in self._words.get(start, {}).items():
                found.setdefault(tongue.stem(other), set()).update(numbers)
        return self._stems[tongue, start].get(stem, _NOWHERE)


def _beginning(word: str) -> str:
    """Two letters without their marks: "Märkte" is a form of "Markt"."""
    start = word[:2]
    if start.isascii():
        return start
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in start)


class _Outputs:
    def __init__(self, agents: Mapping[str, AgentProfile]) -> None:
        self._read = {agent: _Read(profile.last_output) for agent, profile in agents.items() if profile.last_output}
        self._names = [word for agent in agents for word in re.split(r"[\s_-]+", agent)]
        self._most = len(self._read) / 2 if len(self._read) > 2 else len(self._read)

    def sharing(self, remark: RemarkLike) -> Iterable[_Hit]:
        tongue = tongues.of(remark.text)
        own = {tongue.stem(word) for word in self._names}
        said = {key: word for key, word in terms.telling(remark.text, tongue).items() if key not in own}
        where = {agent: _where(said, read, tongue) for agent, read in self._read.items()}
        rare = self._rare(where)
        where = {agent: {key: found[key] for key in found if key in rare} for agent, found in where.items()}
        amounts, named = list(terms.figures(remark.text, tongue)), terms.names(remark.text)
        figures = {agent: _same_figures(amounts, read, where[agent]) for agent, read in self._read.items()}
        names = {
            agent: ((named.certain & read.names.any) | (named.any & read.names.certain)) - own
            for agent, read in self._read.items()
        }
        rare_figures, rare_names = self._rare(figures), self._rare(names)
        path = _attribute(remark, "path")
        for agent, read in self._read.items():
            if path and path in read.text:
                yield _Hit(agent, "output", f"its last output speaks of {path}")
            elif shared := sorted(figures[agent] & rare_figures) + sorted(names[agent] & rare_names):
                yield _Hit(agent, "output", f"its last output also says {_quoted(shared)}")
            elif pair := _same_sentence(where[agent]):
                yield _Hit(agent, "output", f"its last output speaks of {_quoted(said[key] for key in pair)}")

    def _rare(self, found: Mapping[str, Iterable[str]]) -> set[str]:
        counts = Counter(term for shared in found.values() for term in set(shared))
        return {term for term, count in counts.items() if count <= self._most}


def _where(said: Mapping[str, str], read: _Read, tongue: Tongue) -> dict[str, set[int]]:
    """In which sentences of the output each of these stems stands."""
    found = ((key, read.sentences(word, key, tongue)) for key, word in said.items())
    return {key: numbers for key, numbers in found if numbers}


def _same_figures(amounts: Iterable[terms.Figure], read: _Read, where: Mapping[str, set[int]]) -> set[str]:
    """A figure that could be shared by chance counts only beside a word that is shared too."""
    found: set[str] = set()
    for figure in amounts:
        for other, sentence in read.figures.get(figure.key, ()):
            near = any(sentence in numbers for numbers in where.values())
            if figure.same(other) and (figure.distinctive or (near and not figure.is_year)):
                found.add(figure.written)
                break
    return found


def _same_sentence(where: Mapping[str, set[int]]) -> list[str]:
    """At least two telling words of the remark within one sentence of the output."""
    counts = Counter(number for numbers in where.values() for number in numbers)
    best = max(counts, key=lambda number: (counts[number], -number), default=None)
    if best is None or counts[best] < 2:
        return []
    return [key for key, numbers in where.items() if best in numbers]
