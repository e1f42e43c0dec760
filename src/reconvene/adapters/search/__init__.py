"""What finds passages of runs again: an index of their words, and vectors of what they mean."""

from reconvene.adapters.search.passage_index import PassageIndex

__all__ = ["PassageIndex"]
