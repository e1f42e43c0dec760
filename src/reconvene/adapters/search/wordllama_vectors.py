"""Vectors from the weights that the wheel of `wordllama` holds: the mean of what each token of a text stands for.

Its own loader is not used: it looks for the tokenizer in another folder than its wheel's, and goes to the network for
it. Its files are read here, where they lie, and nothing else of it is imported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from reconvene.search_ports import Unembedded

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from reconvene.adapters.search.vectors import Matrix

_WEIGHTS = os.path.join("weights", "l2_supercat_256.safetensors")
_TOKENIZER = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")
INSTALL = "pip install 'reconvene[search]'"


def folder() -> str:
    """Of the installed package; "" where it is not there, or what is needed of it."""
    spec = find_spec("wordllama")
    found = next(iter(spec.submodule_search_locations or ()), "") if spec else ""
    there = found and all(os.path.isfile(os.path.join(found, name)) for name in (_WEIGHTS, _TOKENIZER))
    needed = all(find_spec(name) for name in ("numpy", "safetensors", "tokenizers"))
    return found if there and needed else ""


class WordLlamaVectors:
    name = "wordllama l2_supercat 256"
    batch = 256

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        from reconvene.adapters.search.vectors import as_blobs, np

        if not texts:
            return []
        means = [self._mean(one.ids) for one in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        made = as_blobs(np.stack(means))
        return [vector if text.strip() else b"" for vector, text in zip(made, texts, strict=True)]

    def _mean(self, tokens: Sequence[int]) -> Matrix:
        from reconvene.adapters.search.vectors import np

        if not tokens:
            return np.zeros(self._weights.shape[1], np.float32)
        mean: Matrix = self._weights[np.minimum(tokens, len(self._weights) - 1)].mean(axis=0)
        return mean

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        try:
            found = Tokenizer.from_file(os.path.join(self._folder, _TOKENIZER))
        except Exception as error:  # the library raises nothing narrower
            raise Unembedded(f"the tokenizer of wordllama cannot be read ({error})") from error
        found.no_truncation()
        return found

    @cached_property
    def _weights(self) -> Matrix:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        from reconvene.adapters.search.vectors import np

        try:
            return load_file(os.path.join(self._folder, _WEIGHTS))["embedding.weight"].astype(np.float32)
        except (SafetensorError, OSError, KeyError) as error:
            raise Unembedded(f"the weights of wordllama cannot be read ({error})") from error
