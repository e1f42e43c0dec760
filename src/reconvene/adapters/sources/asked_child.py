"""The frame of a process that asks a database: the question comes in, one answer goes out, whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Callable

import msgspec

from reconvene.adapters.sources.questions import Question, Refused, Reply


def serve(answer: Callable[[Question], Reply], redacted: Callable[[str, Question], str] | None = None) -> None:
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=Question)
    try:
        reply = answer(question)
    except Refused as error:
        refusal = error.refusal
        if redacted is not None:
            refusal = msgspec.structs.replace(refusal, problem=redacted(refusal.problem, question))
        reply = Reply(refusal=refusal)
    except ModuleNotFoundError as error:
        reply = Reply(refusal=Refused("library", str(error.name)).refusal)
    sys.stdout.buffer.write(msgspec.json.encode(reply))
    sys.stdout.buffer.flush()
