"""What is asked, as words that SQLite's full text search understands. Pure.

A query is data: nothing in it is an operator. Scripts that put no space between words are indexed letter by letter, and
found as the letters that follow each other.
"""

from __future__ import annotations

from reconvene.language.late_patterns import late

_MOST = 48  # words of a query
_WORD = late(r"\w+")
# Chinese and Japanese, Thai, Lao, Myanmar, Khmer
_UNSPACED = late("([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")

# Words with which English asks, and which say nothing of what is looked for. Left out, unless there are no others.
_ASKING = frozenset(
    "a about an and any are as at be been but by can could did do does for from had has have he her his how i if "
    "in into is it its may me might must my no not of on or our ours shall she should so some than that the their "
    "them then there these they this those to us was we were what when where whether which who whom whose why "
    "will with would you your".split()
)


def spaced(text: str) -> str:
    """As it is indexed."""
    return _UNSPACED.sub(r" \1 ", text)


def telling(query: str) -> list[str]:
    """The words that say what is looked for, each once, as phrases for MATCH."""
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(query)))
    left = [word for word in words if word not in _ASKING] or words
    return [f'"{spaced(word).strip()}"' for word in left[:_MOST]]
