"""A query is data: whatever a person types becomes words for the full text, and never an operator."""

from __future__ import annotations

import sqlite3

from hypothesis import example, given
from hypothesis import strategies as st

from reconvene.adapters.search.query_words import spaced, telling

TABLE = "CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')"


def matching(query: str, *texts: str) -> list[int]:
    """The numbers of the texts that hold a word of the query."""
    asked = telling(query)
    with sqlite3.connect(":memory:") as db:
        db.execute(TABLE)
        db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", [*enumerate(map(spaced, texts))])
        return [row[0] for row in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (" OR ".join(asked),))]


@given(st.text(max_size=200))
@example('"')
@example("NEAR(a b, 3)")
@example("heading : x AND NOT y OR *")
@example("a\0b ^c {d e} : f - g + (h")
@example("'; DROP TABLE words; --")
def test_nothing_that_is_typed_is_a_syntax_error(query: str):
    if telling(query):
        matching(query, "some text")


def test_words_with_which_people_ask_are_left_out_unless_there_are_no_others():
    assert telling("What is the covenant?") == ['"covenant"']
    assert telling("who is it") == ['"who"', '"is"', '"it"']
    assert telling(" ?! ") == []


def test_a_query_is_not_endless():
    assert len(telling(" ".join(f"word{number}" for number in range(1000)))) < 100


def test_endings_and_accents_do_not_matter():
    assert matching("delays", "it was delayed", "something else") == [0]
    assert matching("resume", "das Résumé", "x") == [0]


def test_parts_of_names_are_found():
    assert matching("price_history.csv", "path: price_history.csv", "price alone") == [0]


def test_scripts_without_spaces_are_found_inside_of_sentences():
    assert matching("合同", "供应合同于2031年到期", "没有") == [0]
    assert matching("ボトル", "新しいボトルの価格", "なし") == [0]
    assert matching("договор", "Срок договора — договор до 2031", "нет") == [0]
