"""What a message says, as the outbox keeps it: a JSON object of the fields that say something.

Fields are added, with a default, and never taken away; what a newer release added is passed over here.
"""

from __future__ import annotations

import json

from reconvene.message_ports import Notice


def encode_notice(notice: Notice) -> str:
    return json.dumps({name: value for name, value in notice._asdict().items() if value}, ensure_ascii=False)


def decode_notice(doc: str) -> Notice:
    found = json.loads(doc)
    known = {name: found[name] for name in Notice._fields if name in found}
    return Notice(**{**known, "who": tuple(known.get("who", ()))})
