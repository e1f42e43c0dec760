"""The key with which a person signs what they do."""

from reconvene.adapters.keys.own_key import OwnKey

__all__ = ["OwnKey"]
