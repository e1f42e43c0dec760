"""What finds passages of runs again."""

from reconvene.adapters.search.word_index import WordIndex

__all__ = ["WordIndex"]
