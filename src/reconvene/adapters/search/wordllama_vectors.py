"""Vectors from the weights that the wheel of `wordllama` holds: the mean of what each token of a text stands for.

Its own loader is not used: it looks for the tokenizer in another folder than its wheel's, and goes to the network for
it. Its files are read here, where they lie, and nothing else of it is imported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from reconvene.adapters.search.wheel_files import folder_of, tokenizer, weights
from reconvene.search_ports import Unembedded

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from reconvene.adapters.search.vectors import Matrix

_WEIGHTS = os.path.join("weights", "l2_supercat_256.safetensors")
_TOKENIZER = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")
_EMBEDDING = "embedding.weight"
INSTALL = "pip install 'reconvene[search]'"


def folder() -> str:
    """Of the installed package; "" where it is not there, or what is needed of it."""
    return folder_of("wordllama", (_WEIGHTS, _TOKENIZER))


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
        found = tokenizer(os.path.join(self._folder, _TOKENIZER), "wordllama")
        found.no_truncation()
        return found

    @cached_property
    def _weights(self) -> Matrix:
        from reconvene.adapters.search.vectors import np

        found = weights(os.path.join(self._folder, _WEIGHTS), "wordllama")
        if _EMBEDDING not in found:
            raise Unembedded(f"the weights of wordllama cannot be read ({_EMBEDDING} is not there)")
        return found[_EMBEDDING].astype(np.float32)
