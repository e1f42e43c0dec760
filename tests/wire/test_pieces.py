"""Long contents in pieces: whole again to the byte, and versions of one text share all but what changed."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError
from reconvene.wire.content_pieces import Cutter, Laid, put_together

WORDS = "the harbour stays closed for weeks and nobody has asked the carrier about it".split()


def text(lines: int, seed: int = 1, width: int = 12) -> list[bytes]:
    chance = random.Random(seed)
    return [f"- [{n}] {' '.join(chance.choices(WORDS, k=width))}\n".encode() for n in range(lines)]


def kept(*laid: Laid) -> dict[str, bytes]:
    return {name: data for one in laid for parts in (one.pieces, one.lists) for name, data in parts.items()}


def whole(laid: Laid, there: Mapping[str, bytes]) -> bytes:
    return put_together(laid.top, lambda names: {name: there[name] for name in names if name in there})


CONTENTS = st.one_of(
    st.integers(0, 1 << 30).map(lambda seed: b"".join(text(seed % 900, seed, seed % 40))),
    st.integers(0, 1 << 30).map(lambda seed: random.Random(seed).randbytes(seed % 60_000)),
    st.tuples(st.sampled_from([b"a", b"\n", b"}", b"\\n", b"ab\n"]), st.integers(1, 90_000)).map(lambda p: p[0] * p[1]),
)


@given(st.lists(CONTENTS, min_size=1, max_size=4))
def test_every_content_comes_back_and_is_cut_as_if_it_were_the_only_one(contents: list[bytes]) -> None:
    cutter = Cutter()
    for data in [*contents, *contents]:
        laid = cutter.lay_out(data)
        assert laid == Cutter().lay_out(data)
        assert whole(laid, kept(laid)) == data
        assert all(name == digest_of(piece) for name, piece in laid.pieces.items())
        assert all(name == "+" + digest_of(names) for name, names in laid.lists.items())
        assert all(len(piece) <= 8 * 1024 for piece in laid.pieces.values())
        assert all(len(names) <= 1 + 16 * 32 for names in (laid.top, *laid.lists.values()))


@pytest.mark.parametrize("at", [0, 1, 700, 1999, 2000])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_put_in_changes_only_the_pieces_around_it(at: int, as_json: bool) -> None:
    lines = text(2000)
    more = [*lines[:at], b"- [new] and one thing more\n", *lines[at:]]
    before, after = (b"".join(each) for each in (lines, more))
    if as_json:  # as a request to a model holds its prompt
        before, after = (data.replace(b"\n", b"\\n") for data in (before, after))
    one, other = Cutter().lay_out(before), Cutter().lay_out(after)
    new = kept(other).keys() - kept(one).keys()
    assert len(one.pieces) > 50
    assert len(new & other.pieces.keys()) <= 3
    assert len(new & other.lists.keys()) <= 4
    assert sum(len(kept(other)[name]) for name in new) + len(other.top) < 20_000


def test_a_text_that_grows_costs_the_same_each_time() -> None:
    """Round by round a prompt gets five remarks more, at its end and in a section of its own near its beginning."""
    lines, cutter, there, costs = text(1500, width=9), Cutter(), set[str](), []
    for said in range(100, 1500, 5):
        data = b"".join([b"# Role\n\n## New\n", *lines[said - 5 : said], b"\n## Earlier\n", *lines[: said - 5]])
        laid = cutter.lay_out(data)
        costs.append(len(laid.top) + sum(len(part) for name, part in kept(laid).items() if name not in there))
        there |= kept(laid).keys()
    early, late = sum(costs[10:50]), sum(costs[-40:])
    assert late < early * 1.5, "a version costs more when the text is longer"
    assert late / 40 < 9_000


def test_a_part_that_is_not_there_is_named() -> None:
    laid = Cutter().lay_out(b"".join(text(3000)))
    for parts in (laid.pieces, laid.lists):
        name = next(iter(parts))
        there = {other: data for other, data in kept(laid).items() if other != name}
        with pytest.raises(StoreError) as caught:
            whole(laid, there)
        assert name in caught.value.message
        assert "restore it from a backup" in caught.value.hint
