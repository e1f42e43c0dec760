"""The turns of one answer, in memory: `tool_ports.Turns`. The companion only looks; what came of it goes on record with
the answer."""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.core.facts.events import Usage
from reconvene.core.facts.loops import plus
from reconvene.tool_ports import Known, Outcome, Recorded, ToolResult, Wanted


class InMemory:
    def __init__(self) -> None:
        self._so_far = Recorded(usage=Usage())

    def so_far(self) -> Recorded:
        return self._so_far

    async def turned(
        self,
        turn: int,
        messages: bytes,
        calls: tuple[Wanted, ...],
        usage: Usage,
        request: bytes,
        reply: bytes,
        said: str = "",
    ) -> tuple[Known, ...]:
        known = tuple(Known(call.id, call.tool, call.arguments, "due") for call in calls)
        before = self._so_far
        self._so_far = replace(
            before,
            turn=turn,
            messages=(*before.messages, messages),
            calls=known,
            usage=plus(before.usage or Usage(), usage),
            fresh=False,
        )
        return known

    async def started(self, call: str) -> None:
        return None

    async def ended(self, call: str, outcome: Outcome, result: ToolResult, seconds: float) -> str:
        calls = tuple(
            replace(one, state="over", outcome=outcome, result=result.text) if one.id == call else one
            for one in self._so_far.calls
        )
        self._so_far = replace(self._so_far, calls=calls)
        return result.text

    async def compacted(self, turn: int, messages: bytes, why: str) -> None:
        self._so_far = replace(self._so_far, messages=(messages,))
