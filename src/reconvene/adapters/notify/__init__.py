"""Sends messages: through Apprise, or as a signed webhook. Each batch in a process of its own, which can be ended."""

from reconvene.adapters.notify.sending import ChildSender

__all__ = ["ChildSender"]
