"""What a model said in a turn, of the messages that are kept of it.

They are the library's own, with its version beside them (`adapters/agents/loop_messages.py`). Here only the texts of
answers are looked for, so that they can be shown without the library; what has another shape says nothing.
"""

from __future__ import annotations

import msgspec


def said(stored: bytes) -> str:
    """The words of the answers, without what the model thought and what it called."""
    try:
        kept = msgspec.json.decode(stored)
    except msgspec.DecodeError:
        return ""
    messages = kept.get("messages") if isinstance(kept, dict) else None
    found = list[str]()
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) and message.get("kind") == "response" else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("part_kind") == "text" and isinstance(part.get("content"), str):
                found.append(part["content"])
    return "\n\n".join(filter(None, found))
