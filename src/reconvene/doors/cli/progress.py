"""What agents are doing, while they do it: live lines on a terminal, plain ones on stderr elsewhere, none for scripts.

Shows and forgets. rich is imported only where there is a terminal to draw on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self

from reconvene.doors.cli.common import Call, note
from reconvene.doors.cli.text import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

    from reconvene.ports import Progress


EVERYBODY = "all"
_LONGEST_LINE = 2000


def watcher(call: Call) -> Watcher:
    if call.as_json:
        return Watcher()
    return Drawn(call.live) if sys.stdout.isatty() else Written(live=call.live)


class Watcher(AbstractContextManager["Watcher", None]):
    """Listens while a run is driven. This one is for scripts: only a warning is told, on stderr."""

    def __call__(self, progress: Progress) -> None:
        if progress.what == "warning":
            self.say(f"! {one_line(progress.detail, 300)}")

    def say(self, text: str) -> None:
        """A line above whatever is drawn."""
        note(text)

    def __exit__(self, *error: object) -> None:
        pass


class Works:
    """One agent at work: since when, how many tokens, what it last said."""

    def __init__(self, agent: str, now: float) -> None:
        self.agent = one_line(agent)
        self.since = now
        self.tokens = 0
        self.detail = ""
        self._begun = ""  # a line that is not complete yet

    def hear(self, progress: Progress) -> None:
        self.tokens = max(self.tokens, progress.tokens)
        if progress.detail:
            self.detail = one_line(progress.detail, 120)

    def lines(self, piece: str) -> list[str]:
        """The lines that this piece of its text completes; a very long one is broken."""
        *whole, self._begun = (self._begun + piece).split("\n")
        self.detail = one_line(self._begun)[-120:] or self.detail
        while len(self._begun) > _LONGEST_LINE:
            whole.append(self._begun[:_LONGEST_LINE])
            self._begun = self._begun[_LONGEST_LINE:]
        return whole

    def rest(self) -> list[str]:
        begun, self._begun = self._begun, ""
        return [begun] if begun.strip() else []

    def figures(self, now: float) -> str:
        tokens = f", {self.tokens:,} tokens" if self.tokens else ""
        return f"{spell_seconds(now - self.since)}{tokens}"


def spell_seconds(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Written(Watcher):
    """A line on stderr when somebody starts, tries again or ends."""

    def __init__(
        self,
        put: Callable[[str], None] = note,
        clock: Callable[[], float] = time.monotonic,
        live: Sequence[str] = (),
    ) -> None:
        self._put = put
        self._clock = clock
        self._live_agents = live  # the agents whose text is shown as it comes
        self._working: dict[str, Works] = {}

    def __call__(self, progress: Progress) -> None:
        if progress.what in ("note", "warning"):
            self._put(f"! {one_line(progress.detail, 300)}")
            return
        now = self._clock()
        works = self._working.setdefault(progress.task, Works(progress.agent, now))
        if progress.what == "text":
            self._tell_lines(works, works.lines(progress.detail))
            return
        if progress.what != "output":
            self._tell_lines(works, works.rest())
        works.hear(progress)
        why = f": {one_line(progress.detail, 300)}" if progress.detail else ""
        match progress.what:
            case "started":
                works.since = now
                self._started(works, why)
            case "retry":
                self._put(f"↻ {works.agent} tries again{why}")
            case "waiting":
                self._put(f"↻ {works.agent}{why}")
            case "countdown" if not progress.detail:
                self._working.pop(progress.task, None)
            case "done":
                self._ended(progress.task, f"✓ {works.agent} done ({works.figures(now)})")
            case "sent back":
                self._ended(progress.task, f"✗ {works.agent} sent back{why}")
            case "late":
                self._ended(progress.task, f"– {works.agent} came too late: kept, without effect")
            case "failed" if progress.detail == "cancelled":
                self._ended(progress.task, f"– {works.agent} cancelled ({works.figures(now)})")
            case "failed":
                self._ended(progress.task, f"✗ {works.agent} failed ({works.figures(now)}){why}")
            case _:
                pass

    def _ended(self, task: str, line: str) -> None:
        self._working.pop(task, None)
        self._put(line)

    def _started(self, works: Works, why: str) -> None:
        self._put(f"· {works.agent} works{why}")

    def _tell_lines(self, works: Works, lines: Sequence[str]) -> None:
        if works.agent in self._live_agents or EVERYBODY in self._live_agents:
            for line in lines:
                self._put(f"  {works.agent} │ {clean(line)}".rstrip())


class Drawn(Written):
    """The same on a terminal: a moving line for each agent at work, and what is done stays above."""

    def __init__(self, live: Sequence[str] = ()) -> None:
        from rich.console import Console

        super().__init__(self.say, live=live)
        self._console: Console = Console(highlight=False)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        from rich.live import Live

        self._live = Live(self, console=self._console, refresh_per_second=8, transient=True, redirect_stdout=False)
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def say(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text(clean(text)))

    def _started(self, works: Works, why: str) -> None:
        """Its moving line says so."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        now = self._clock()
        frame = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[int(now * 8) % 10]
        for works in list(self._working.values())[: max(options.max_height - 4, 4)]:
            line = Text(f"{frame} {works.agent}  {works.figures(now)}", no_wrap=True, overflow="ellipsis")
            if works.detail:
                line.append(f"  {works.detail}", style="dim")
            yield line
