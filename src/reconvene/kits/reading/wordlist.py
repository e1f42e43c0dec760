"""A language's YAML file, made ready for use: stems worked out, turns of phrase as regular expressions.

A turn of phrase is a regular expression with a few signs of its own, so that it can be read:

    (a|b)     groups, never captures          '     either apostrophe
    blank     any white space                 word*   every word that begins so;  *word  every word that ends so
    …         up to four words                ..    up to two words
    _         perhaps one word                ^     the beginning of the text, whatever signs come before it
    {part}    one of the list `parts: part`

Words are bounded on both sides. Only `make words` and tests come here: what is loaded is the ready form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from reconvene.errors import UserError
from reconvene.kits.reading.feedback import KINDS
from reconvene.kits.reading.tongues import Language, Match, Subject
from reconvene.language.closest import closest

if TYPE_CHECKING:
    from yaml import Node

# What a list may hold. Everything is optional: what a language lacks is not found in its texts.
WORDS = (
    "stop", "homographs", "dates", "everyday", "faint", "negations", "negation_endings", "agreeing", "after_agreeing",
    "everybody", "no_assumption", "claiming", "waving_off", "doubting",
    "not_units", "ordinals",
)  # fmt: skip
STEMS = ("general", "loose", "only_in_remits")
CUES = (
    # what kind of remark
    "moved", "missing", "shift", "agreement", "disagreement", "verdict", "request", "clarifies", "denies", "news",
    "reminded",
    "about_the_text", "states", "approval", "reaction_to", "impression", "event", "courtesy", "announces", "supposed",
    # orders to the engine, and what may stand around one
    "order_again", "order_pause", "order_skip", "order_no_round", "order_proceed", "order_opens", "order_closes",
    # how much it weighs
    "small", "game_changing", "open_dispute", "assumption_title", "trifle", "holds_until", "not_ours",
    # where one ends and the next begins
    "also", "refers_back", "abbreviations", "joins",
    # figures relative to a known one
    "more_than_known", "less_than_known", "points_of_share", "than_before", "as_known",
    # figures
    "denied_before", "reported_before", "denied_after", "earlier_before", "stated_before", "plainly", "nearly",
    "percent", "percentage_points", "dated", "range", "range_opens", "range_closes", "range_denied", "from", "wide",
    "to", "but", "replaces", "replaced_by", "denied_clause", "reported_clause", "denied_figure",
    # what became of a remark
    "declined", "declined_word", "makes_a_verdict", "fell", "not_declined", "clause", "because",
)  # fmt: skip

_FEW = r"\W{1,3}(?:[\w'’-]{1,20}\W{1,3}){0,4}?"
_ONE = r"\W{1,3}(?:[\w'’-]{1,20}\W{1,3}){0,2}?"
_FEW_FIRST = r"(?:[^\W\d_]{1,14}\W{1,3}){0,5}?"
_ONE_FIRST = r"(?:[^\W\d_]{1,14}\W{1,3}){0,2}?"
_SIGNS = re.compile(
    r"(?P<kept>\\.|\[(?:\\.|[^\]\\])+\]|\{\d*,?\d*\}|\(\?)|\{(?P<part>\w+)\}| ?(?P<gap>…|\.\.|(?<= )_(?= )) ?"
    r"|(?P<sign>[(' *^])"
)
_WRITTEN = {"(": "(?:", "'": "['’]", " ": r"\s", "*": r"\w{0,20}", "^": r"^\W*"}
_GAPS = {"…": _FEW, "..": _ONE, "_": r"\s(?:\w{1,12}\s)?"}
_GAPS_FIRST = {"…": _FEW_FIRST, "..": _ONE_FIRST}

_Words = str | tuple[str, ...]


class _Subject(Struct, forbid_unknown_fields=True):
    named: _Words = ()
    spoken: _Words = ()
    phrases: tuple[str, ...] = ()


class _File(Struct, forbid_unknown_fields=True):
    stemmer: str = ""
    nouns_have_capitals: bool = False
    decimal_comma: bool = False
    kinds: dict[str, tuple[str, ...]] = {}
    words: dict[str, _Words] = {}
    subjects: dict[str, _Subject] = {}
    neutral: tuple[str, ...] = ()  # phrases that speak of nothing in particular although one of their words would
    opposites: dict[str, tuple[_Words, _Words]] = {}
    numbers: dict[str, float] = {}
    number_parts: dict[str, float] = {}  # what stands in a number of several words or parts, and never alone
    fractions: dict[str, float] = {}  # "a third" (higher), "double" (what you say): the change
    scales: dict[str, float] = {}
    currencies: dict[str, _Words] = {}
    called: dict[str, _Words] = {}  # agent → how this language calls one of that profession
    units: dict[str, dict[float, _Words]] = {}
    parts: dict[str, tuple[str, ...]] = {}
    cues: dict[str, tuple[str, ...]] = {}


def make(name: str, source: str) -> Language:
    """`name`: of the file, for what is said about mistakes in it."""
    return _Maker(name, source).language()


class _Maker:
    def __init__(self, name: str, source: str) -> None:
        import yaml

        self._name, self._source = name, source
        try:
            self._refuse_twice(yaml.compose(source, yaml.SafeLoader))
            self._file = msgspec.convert(yaml.safe_load(source), _File, strict=False)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise UserError(f"{name}:{line}: {error.problem}.", hint="Mend the YAML there.") from None
        except msgspec.ValidationError as error:
            raise UserError(f"{name}: {error}.", hint="`languages/en.yaml` shows what a list holds.") from None
        file = self._file
        for written, known in ((file.words, (*WORDS, *STEMS)), (file.cues, CUES), (file.kinds, KINDS)):
            for key in written:
                if key not in known:
                    self._refuse(key, f"{key!r} is no list that is read.{_meant(key, known)}")

    def language(self) -> Language:
        file = self._file
        self._language = Language(stemmer=file.stemmer)
        try:
            self._language.stem("word")
        except KeyError:
            self._refuse(file.stemmer, f"Snowball knows no algorithm {file.stemmer!r}.")
        parts = file.numbers | file.number_parts
        lists = {"numbers": file.numbers, "scales": file.scales, "number_parts": parts, "fractions": file.fractions}
        # Longest first, so that "millions" is not "million" and a rest.
        numbers = {name: "|".join(sorted(words, key=len, reverse=True)) for name, words in lists.items() if words}
        phrases = dict(self._phrases())
        return Language(
            stemmer=file.stemmer,
            nouns_have_capitals=file.nouns_have_capitals,
            decimal_comma=file.decimal_comma,
            kinds={name: kind for kind, names in file.kinds.items() for name in names},
            words={
                name: frozenset(self._stems(words) if name in STEMS else _split(words))
                for name, words in file.words.items()
            },
            known=frozenset(self._known()),
            cues={name: "|".join(map(self._bounded, phrases)) for name, phrases in file.cues.items()} | numbers,
            subjects={name: self._subject(subject) for name, subject in file.subjects.items()},
            phrases=phrases,
            longest=max((phrase.count(" ") + 1 for phrase in phrases), default=1),
            points=self._points(),
            numbers=file.numbers,
            number_parts=parts,
            fractions=file.fractions,
            called={name: _split(words) for name, words in file.called.items()},
            scales=file.scales,
            currencies={word: code for code, words in file.currencies.items() for word in _split(words)},
            units={
                word: (unit, factor)
                for unit, factors in file.units.items()
                for factor, words in factors.items()
                for word in _split(words)
            },
        )

    def _refuse_twice(self, node: Node | None) -> None:
        """YAML lets the last of two equal keys win; what the first held would be lost."""
        from yaml import MappingNode

        seen: set[str] = set()
        for key, value in node.value if isinstance(node, MappingNode) else ():
            if key.value in seen:
                why = f"{self._name}:{key.start_mark.line + 1}: {key.value!r} stands here twice."
                raise UserError(why, hint="Join the two.")
            seen.add(key.value)
            self._refuse_twice(value)

    def _refuse(self, where: str, why: str) -> None:
        line = self._source[: max(0, self._source.find(where))].count("\n") + 1
        raise UserError(f"{self._name}:{line}: {why}", hint="`languages/en.yaml` shows what a list holds.")

    def _stems(self, words: _Words) -> Iterable[str]:
        return (self._language.stem(word) for word in _split(words))

    def _known(self) -> Iterable[str]:
        """The words by which a text is told to be in this language, as written."""
        lists = [self._file.words.get(name, ()) for name in ("stop", "homographs", "general", "faint", "negations")]
        lists += [words for subject in self._file.subjects.values() for words in (subject.named, subject.spoken)]
        lists += [way for ways in self._file.opposites.values() for way in ways]
        lists += [tuple(self._file.numbers)]
        return (word for words in lists for word in _split(words) if word.isalpha() and not word.isupper())

    # --- subjects ---

    def _subject(self, subject: _Subject) -> Subject:
        named = _split(subject.named)
        return Subject(self._match(named), self._match((*named, *_split(subject.spoken))))

    def _match(self, words: tuple[str, ...]) -> Match:
        plain = [word for word in words if "*" not in word and not word.isupper()]
        return Match(
            frozenset(self._stems(tuple(plain))),
            tuple(word[:-1] for word in words if word.endswith("*")),
            tuple(word[1:] for word in words if word.startswith("*")),
            frozenset(word for word in words if word.isupper()),
        )

    def _phrases(self) -> Iterable[tuple[str, str]]:
        for name, subject in (*self._file.subjects.items(), ("", _Subject(phrases=self._file.neutral))):
            for phrase in subject.phrases:
                yield " ".join(self._stems(phrase)), name

    def _points(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        found: dict[str, tuple[tuple[str, int], ...]] = {}
        for axis, ways in self._file.opposites.items():
            for way, words in zip((1, -1), ways):
                for stem in dict.fromkeys(self._stems(words)):
                    found[stem] = (*found.get(stem, ()), (axis, way))
        return found

    # --- turns of phrase ---

    def _bounded(self, phrase: str) -> str:
        left = r"\b" if phrase[0].isalnum() or phrase[0] in "({" else ""
        right = r"\b" if (phrase[-1].isalnum() or phrase[-1] in ")}?") and phrase[-2:-1] != "\\" else ""
        written = self._expanded(phrase.removeprefix("*"))
        alone = f"(?:{written})" if "|" in phrase else written
        try:
            re.compile(alone)
        except re.error as error:
            self._refuse(phrase, f"{phrase!r} cannot be read: {error}.")
        return f"{left}{alone}{right}"

    def _expanded(self, phrase: str) -> str:
        def written(found: re.Match[str]) -> str:
            if found["kept"]:
                return found[0]
            if part := found["part"]:
                return f"(?:{'|'.join(self._expanded(each) for each in self._part(part))})"
            if gap := found["gap"]:
                return _GAPS_FIRST[gap] if not found.start() else _GAPS[gap]
            return _WRITTEN[found["sign"]]

        return _SIGNS.sub(written, phrase)

    def _part(self, name: str) -> tuple[str, ...]:
        if name == "numbers":
            return tuple(self._file.numbers)
        if name not in self._file.parts:
            self._refuse("{" + name + "}", f"There is no part {name!r}.{_meant(name, self._file.parts)}")
        return self._file.parts[name]


def _meant(word: str, known: Iterable[str]) -> str:
    return "".join(f" Did you mean {near!r}?" for near in closest(word, known))


def _split(words: _Words) -> tuple[str, ...]:
    return tuple(words.split()) if isinstance(words, str) else words
