"""Stems of words, by the Snowball algorithm of a language.

`snowballstemmer` loads all of its thirty algorithms as soon as it is imported, which takes longer than reading a
remark. So this module looks for its modules in the folder of `snowballstemmer`, and only the one asked for is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec

_found = find_spec("snowballstemmer")
__path__ = list(_found.submodule_search_locations or ()) if _found else []


_LONGEST = 100  # letters; the longest words of German and Finnish have fewer


@cache
def stemmer(algorithm: str) -> Callable[[str], str]:
    """Stems words in small letters, and remembers them: one word takes longer than a look into a table of thousands.
    What is longer than any word of a language is left as it is: an algorithm's time grows with the square of it.

    KeyError: there is no such algorithm.
    """
    try:
        module = import_module(f"{__name__}.{algorithm}_stemmer")
    except ImportError:
        raise KeyError(algorithm) from None
    name = "".join(part.capitalize() for part in algorithm.split("_"))
    stem: Callable[[str], str] = getattr(module, f"{name}Stemmer")().stemWord
    known = lru_cache(maxsize=20_000)(stem)
    return lambda word: known(word) if len(word) <= _LONGEST else word
