"""Which index finds the passages of a home's runs, and who turns texts into vectors for it."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from reconvene.errors import UserError
from reconvene.home import INDEX
from reconvene.settings import SEARCH_MODEL_VARIABLE

if TYPE_CHECKING:
    from reconvene.search_ports import Embedder, SearchIndex

_CHOICES = ("minilm", "wordllama", "none")


def opened(home: str, model: str, *, foreign: bool = False) -> SearchIndex:
    """`model`: as `settings.search_model` says. `foreign`: this home was not made by the person. What lies there as an
    index is left alone then, and one is made in memory."""
    from reconvene.adapters.search import PassageIndex, index_file

    path = index_file.MEMORY if foreign else os.path.join(home, INDEX)
    return PassageIndex(path, *_embedder(model))


def forget(home: str, run: str) -> None:
    """The run was deleted. Where there is no index, none is made."""
    path = os.path.join(home, INDEX)
    if os.path.lexists(path):
        from reconvene.adapters.search import PassageIndex

        with closing(PassageIndex(path)) as index:
            index.forget(run)


def _embedder(model: str) -> tuple[Embedder | None, str]:
    """Who turns texts into vectors, or why nobody does. UserError where there is no such model."""
    from reconvene.adapters.search import minilm_vectors, wordllama_vectors

    if ":" in model:
        from reconvene.adapters.agents.embedding import ProviderVectors
        from reconvene.secrets import redact_text

        environ = dict(os.environ)
        return ProviderVectors(model, environ, partial(redact_text, environ=environ)), ""
    if model not in ("", *_CHOICES):
        hint = f"name it as provider:name, or one of {', '.join(_CHOICES)}; docs/search.md tells more"
        raise UserError(f"searches know no model {model!r} ({SEARCH_MODEL_VARIABLE}, or search_model)", hint=hint)
    if model == "none":
        return None, "words alone were compared, as the settings say"
    if model in ("", "minilm") and (folder := minilm_vectors.folder()):
        return minilm_vectors.MiniLmVectors(folder), ""
    if model in ("", "wordllama") and (folder := wordllama_vectors.folder()):
        return wordllama_vectors.WordLlamaVectors(folder), ""
    name, install = model or "wordllama", wordllama_vectors.INSTALL
    line = f"{install} && {minilm_vectors.INSTALL}" if model == "minilm" else install
    return None, f"words alone were compared: {name} is not installed ({line})"
