"""Which language a text is in, what a word list may hold, and that a language is one file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.kits.reading.words import LANGUAGES, ready

from reconvene.core.extensions import AgentProfile
from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import UserError
from reconvene.kits.reading import tongues
from reconvene.kits.reading.assumptions import assumptions_in
from reconvene.kits.reading.figures import corrections_in
from reconvene.kits.reading.kit import KIT
from reconvene.kits.reading.quantities import figures_in
from reconvene.kits.reading.routing import affected
from reconvene.kits.reading.significance import assess
from reconvene.kits.reading.terms import StatedIn, content, names
from reconvene.kits.reading.understanding import remarks_in
from reconvene.kits.reading.wordlist import make

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "feedback"


def codes(text: str) -> list[str]:
    known = {id(each): code for code, each in tongues._read().items()}
    return [known[id(each)] for each in tongues.of(text).languages]


def test_the_ready_lists_are_made_of_the_yaml_files() -> None:
    assert (LANGUAGES / "ready.json").read_bytes() == ready(), "run: make words"


# --- which language ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The board has approved it.", ["en", "any"]),
        ("Der Vorstand hat es genehmigt.", ["de", "any"]),
        ("Umsatz war schlecht", ["de", "any"]),
        ("Patients die in there", ["en", "any"]),
        ("EBITDA 900 → 950", ["en", "de", "any"]),
        ("好的", ["en", "de", "any"]),
        ("We decided it. Wir haben es beschlossen, und das ist gut so.", ["de", "en", "any"]),
    ],
)
def test_a_text_is_told_by_the_words_that_only_one_language_knows(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_a_word_of_one_language_is_not_read_as_the_same_letters_in_another() -> None:
    assert assess("comment", "Die Umsätze: das war schlecht.").level == "minor"
    assert assess("comment", "There is a war at the border.").level == "major"
    assert [kind.kind for kind in remarks_in("Die casting is what we do.")] == ["new context"]
    assert "die" in content("Many patients die of it")
    assert content("Die Zinsen steigen") == {"zins": "Zinsen", "steig": "steigen"}


@pytest.mark.parametrize(
    ("text", "value"),
    [("It costs 3 billion dollars", 3e9), ("Es kostet 3 Billionen Dollar", 3e12), ("Es sind 1.250 Stück", 1250)],
)
def test_a_figure_is_read_as_its_language_means_it(text: str, value: float) -> None:
    assert figures_in(text)[0].value == value


def test_a_text_in_two_languages_loses_nothing() -> None:
    mixed = "We have revenue of 900, nicht 850, und das ist die richtige Zahl."
    (found,) = corrections_in(mixed)
    assert (found.was_text, found.now_text) == ("850", "900")
    first, second = remarks_in("The board approved the plan. Außerdem fehlen die Wasserrechte völlig.")
    assert (first.kind, second.kind) == ("strategic shift", "missing factor")
    agents = {"a": AgentProfile("a", "economy and capital"), "b": AgentProfile("b", "Umwelt und Klima")}
    said = RemarkIn("Our debt is higher than you think, und der Strom wird für uns alle teurer.")
    assert [each.agent for each in affected([said], agents)] == ["a", "b"]


def test_remits_and_remarks_may_be_in_different_languages() -> None:
    agents = {
        "economist": AgentProfile("economist", "macro-economy and capital"),
        "ecologist": AgentProfile("ecologist", "climate, energy, resources"),
    }
    (found,) = affected([RemarkIn("Die Zinsen auf unsere Schulden steigen.")], agents)
    assert (found.agent, found.why) == ("economist", "“Zinsen”, “Schulden”: its remit is about economy")


def test_forms_of_a_word_are_one_word_in_german_too() -> None:
    agents = {
        "a": AgentProfile("a", "", "Der Hafen braucht neue Kräne an den Kais."),
        "b": AgentProfile("b", "", "Die Häfen sind schön. Ein Kran fehlt nicht."),
    }
    (found,) = affected([RemarkIn("Ein Kran im Hafen ist umgestürzt.")], agents)
    assert (found.agent, found.why) == ("a", "its last output speaks of “Kran”, “Hafen”")


def test_german_nouns_are_no_names_and_german_amounts_are_found_again() -> None:
    assert names("Der Umsatz der EnBW stieg, sagt die Presse.").any == {"EnBW"}
    stated = StatedIn("Die Verluste belaufen sich auf 1,2 Milliarden Euro.")
    assert stated.holds("1,2 Mrd. €")
    assert not stated.holds("1,3 Mrd. €")


def test_assumptions_are_found_under_a_heading_of_either_language() -> None:
    assert assumptions_in("## Annahmen\n- Die Nachfrage wächst\n") == ("Die Nachfrage wächst",)
    assert assumptions_in("## Assumptions\n- Die Nachfrage wächst\n") == ("Die Nachfrage wächst",)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("Die Zahl wurde übernommen [FB-001].", "addressed"),
        ("[FB-001] abgelehnt, weil die Quelle fehlt.", "declined"),
        ("FB-001 wurde nicht berücksichtigt: außerhalb unseres Auftrags.", "declined"),
        ("FB-001 wurde nicht abgelehnt, sondern übernommen.", "addressed"),
    ],
)
def test_a_german_output_says_what_became_of_a_remark(text: str, how: str) -> None:
    assert KIT.judge is not None
    assert [each.how for each in KIT.judge(text)] == [how]


# --- German remarks ---


def judged(row: dict[str, object]) -> dict[str, object]:
    """What the rules make of a row, under the keys that the row has."""
    agents, given = row.get("agents", []), row.get("assumptions", {})
    assert isinstance(agents, list)
    assert isinstance(given, dict)
    found = remarks_in(str(row["text"]), tuple(agents))
    if "approval" in row:
        return {"approval": found == ()}
    first = found[0]
    assumed = {agent: tuple(items) for agent, items in given.items()}
    level = assess(first.kind, first.text, assumed, was=first.was, now=first.now).level
    read = {"kind": first.kind if len(found) == 1 else f"{len(found)} remarks", "significance": level}
    return {**read, "was": first.was, "now": first.now, "target": first.target}


def wrong(rows: list[dict[str, object]]) -> list[str]:
    missed: list[str] = []
    for row in rows:
        got = judged(row)
        missed += [f"{row['text']} {key}: {got[key]}" for key in got if key in row and got[key] != row[key]]
    return missed


def test_german_remarks_are_read_as_written_down_before_the_rules() -> None:
    rows = json.loads((GOLDEN / "german.json").read_text(encoding="utf-8"))
    assert len([row for row in rows if "kind" in row]) >= 60
    assert wrong(rows) == []


def test_german_remarks_written_after_the_rules_are_counted() -> None:
    rows = json.loads((GOLDEN / "german_held_out.json").read_text(encoding="utf-8"))
    missed = wrong(rows)
    print(f"held out: {len(missed)} wrong of {len(rows)}", *missed, sep="\n")
    assert len(rows) == 30


def test_a_kind_may_be_written_in_german() -> None:
    typed = "Korrekturen:\n- Der Umsatz ist 900\n- Reaktion auf den economist: zu düster\n\nKlarstellung: nur Norden"
    assert [(found.kind, found.target, found.text) for found in remarks_in(typed, ("economist",))] == [
        ("correction", "", "Der Umsatz ist 900"),
        ("reaction", "economist", "zu düster"),
        ("clarification", "", "nur Norden"),
    ]


# --- a language is one file ---


@pytest.fixture
def french(tmp_path: Path) -> Iterator[None]:
    for path in LANGUAGES.glob("*.yaml"):
        shutil.copy(path, tmp_path)
    shutil.copy(Path(__file__).parent / "fr.yaml", tmp_path)
    with tongues.instead(ready(tmp_path)):
        yield


FRENCH = [
    ("Le chiffre d'affaires est de 900 millions d'euros, et non de 850 millions.", "correction"),
    ("Notre principal client a résilié son contrat hier.", "new context"),
    ("Vous avez oublié les droits d'eau.", "missing factor"),
    ("Le conseil a décidé d'abandonner le diesel.", "strategic shift"),
    ("Je ne suis pas d'accord avec cette analyse.", "reaction"),
    ("C'est faux.", "correction"),
    ("Plus court, s'il vous plaît.", "comment"),
]


def test_french_is_read_once_its_file_is_there(french: None) -> None:
    assert [(text, [found.kind for found in remarks_in(text)]) for text, _ in FRENCH] == [
        (text, [kind]) for text, kind in FRENCH
    ]
    (found,) = corrections_in(FRENCH[0][0])
    assert (found.was, found.now) == (850e6, 900e6)
    assert remarks_in("Rien à redire, on continue") == ()
    assert assess("comment", "Il y a une guerre à la frontière.").level == "major"
    agents = {"a": AgentProfile("a", "macro-economy and capital"), "b": AgentProfile("b", "énergie et climat")}
    assert [each.agent for each in affected([RemarkIn("Les intérêts de nos dettes augmentent.")], agents)] == ["a"]
    assert [each.agent for each in affected([RemarkIn("Le prix des énergies monte.")], agents)] == ["b"]


def test_without_its_file_french_is_kept_but_not_understood() -> None:
    read = [[found.kind for found in remarks_in(text)] for text, _ in FRENCH]
    assert read != [[kind] for _, kind in FRENCH]
    assert remarks_in("Rien à redire, on continue") != ()


# --- mistakes in a list ---


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("stemmer: english\nwords:\n  stopp: the\n", "x.yaml:3: 'stopp' is no list that is read. Did you mean 'stop'?"),
        ("stemmer: english\ncues:\n  small:\n    - (fyi\n", "x.yaml:4: '(fyi' cannot be read: missing )"),
        ("stemmer: english\ncues: {small: ['{parts}']}\n", "x.yaml:2: There is no part 'parts'."),
        ("stemmer: english\nstemmer: german\n", "x.yaml:2: 'stemmer' stands here twice."),
        ("stemmer: klingon\n", "x.yaml:1: Snowball knows no algorithm 'klingon'."),
        ("stemmer: [\n", "x.yaml:2: expected the node content, but found"),
        ("steamer: english\n", "x.yaml: Object contains unknown field `steamer`"),
        ("words: {stop: [the, no]}\n", "x.yaml: Expected `str`, got `bool`"),
    ],
)
def test_a_mistake_in_a_list_is_named_with_its_file(source: str, expected: str) -> None:
    with pytest.raises(UserError) as refused:
        make("x.yaml", source)
    assert str(refused.value).startswith(expected)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("phrase", "matches", "not_matches"),
    [
        ("left out", "It was left\nout.", "cleft outing"),
        ("exaggerat*", "exaggerated", "unexaggerated"),
        ("*n't", "don’t", "not"),
        ("has … point", "she has what I call a point", "has one two three four five point"),
        ("is _ wrong", "is plainly wrong", "is very plainly wrong"),
        ("^only", "… only here", "not only"),
        ("{sure}ly", "surely", "certain"),
        (r"what\?", "what?", "whatever"),
    ],
)
def test_a_turn_of_phrase_says_what_it_matches(phrase: str, matches: str, not_matches: str) -> None:
    source = json.dumps({"parts": {"sure": ["sure", "certain"]}, "cues": {"small": [phrase]}})
    with tongues.instead(msgspec.json.encode({"en": make("x.yaml", source), "any": make("any.yaml", "{}")})):
        pattern = tongues.everything().pattern("<<small>>")
        assert pattern.search(matches)
        assert not pattern.search(not_matches)
