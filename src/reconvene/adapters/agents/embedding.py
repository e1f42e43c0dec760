"""Vectors from a provider, hosted or local, through the model library. For `search_ports.Embedder`.

Imports the model library only when something is embedded.
"""

from __future__ import annotations

import array
import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from reconvene.adapters.agents.libraries import install_line, missing
from reconvene.search_ports import Unembedded

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel

_SECONDS = 60.0  # for one request


class ProviderVectors:
    """`redact`: takes secrets out of what is sent."""

    batch = 96

    def __init__(self, name: str, environ: Mapping[str, str], redact: Callable[[str], str]) -> None:
        self.name = name
        self._environ = environ
        self._redact = redact

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        sent = [self._redact(text) if text.strip() else "-" for text in texts]  # providers refuse empty texts
        if not sent:
            return []
        if lacks := missing(self.name):
            raise Unembedded(f"the library for {self.name} is not installed; {install_line(lacks)}")
        with ThreadPoolExecutor(1) as apart:  # whoever searches may be in an event loop of their own
            made = apart.submit(asyncio.run, self._asked(sent, query)).result()
        if len(made) != len(sent):
            raise Unembedded(f"{self.name} gave {len(made)} vectors for {len(sent)} texts")
        return [_blob(vector) if text.strip() else b"" for vector, text in zip(made, texts, strict=True)]

    async def _asked(self, texts: list[str], query: bool) -> Sequence[Sequence[float]]:
        from pydantic_ai import Embedder

        try:
            embedder = Embedder(self._model())
            asked = embedder.embed_query(texts) if query else embedder.embed_documents(texts)
            return (await asyncio.wait_for(asked, _SECONDS)).embeddings
        except TimeoutError:
            raise Unembedded(f"{self.name} did not answer within {_SECONDS:g} seconds") from None
        except Exception as error:  # the providers' libraries raise whatever an odd answer leads them to
            raise Unembedded(f"{self.name} could not be asked ({_first_line(error)})") from error

    def _model(self) -> EmbeddingModel:
        """Made for each request: its connections belong to one event loop."""
        from pydantic_ai.embeddings import infer_embedding_model

        from reconvene.adapters.agents.providers import own_server

        provider, _, name = self.name.partition(":")
        server = own_server(provider, self._environ)
        if server is None:
            return infer_embedding_model(self.name)
        from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

        return OpenAIEmbeddingModel(name, provider=server)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def _blob(vector: Sequence[float]) -> bytes:
    length = math.sqrt(sum(part * part for part in vector))
    return array.array("f", [part / length for part in vector]).tobytes() if length > 0 else b""
