"""Runs the tests of a project in a worktree of the agents' work, and says what came of it.

The commands are those that a person confirmed. They run as any command of an agent does: in the sandbox, within a
limit, with all they started ended. What they print is not believed beyond their exit code and the counts in it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from secrets import token_hex

from msgspec.structs import replace

from reconvene.adapters.project import suite_commands, suite_verdict
from reconvene.adapters.project import worktree_files as disk
from reconvene.adapters.project.suite_verdict import Ran
from reconvene.adapters.project.worktree import Worktree
from reconvene.errors import AgentError
from reconvene.ports import AgentRunner, Assignment, Listener, Progress

# the exit code comes last, after a word that no test can know; nothing is read from a terminal
_SCRIPT = 'CI=1 NO_COLOR=1 sh -c "$1" </dev/null 2>&1; printf "\\n%s %s\\n" "$2" "$?"'
_STAMP = "setup"


async def run(
    runner: AgentRunner, assignment: Assignment, tree: Worktree, asked: Mapping[str, object], listener: Listener
) -> tuple[dict[str, object], str]:
    """What came of it, and what kept the commands in."""
    test, setup = str(asked.get("test") or "").strip(), str(asked.get("setup") or "").strip()
    if not test:
        return suite_verdict.none(), ""
    suite = _Suite(runner, assignment, tree, listener)
    if setup:
        made = await suite.set_up(setup)
        if made is not None:
            found = suite_verdict.not_run(f"the set-up failed ({setup}): {made.why}", made.printed)
            return {**found, "command": test, "setup": setup}, suite.level
    before = asked.get("before")
    known = before if isinstance(before, dict) else None
    first = await suite.once(test)
    second = None
    if first.code is not None and suite_verdict.new_failures(known, first) and known is not None:
        suite.say(f"{test}: failing as it did not before; once more, to see whether it is a flake")
        second = await suite.once(test)
    found = suite_verdict.judged(known, first, second)
    suite.say(f"{test}: {found['line']}")
    return {**found, "command": test, "setup": setup}, suite.level


class _Suite:
    def __init__(self, runner: AgentRunner, assignment: Assignment, tree: Worktree, listener: Listener) -> None:
        self._runner = runner
        self._assignment = assignment
        self._tree = tree
        self._listener = listener
        self.level = ""

    def say(self, text: str) -> None:
        work = self._assignment
        self._listener(Progress(work.run, work.task, work.agent.name, "note", text))

    async def set_up(self, command: str) -> Ran | None:
        """None where all is made, now or before. It is made anew when what it is made of has changed."""
        stamp, made_of = os.path.join(self._tree.root, _STAMP), self._made_of(command)
        if disk.read_small(stamp, 100).decode("ascii", "replace") == made_of:
            return None
        disk.remove(stamp)
        ran = await self.once(command)
        if ran.code == 0:
            disk.save(stamp, made_of.encode())
            return None
        return ran if ran.code is None else ran._replace(why=f"exit code {ran.code}")

    def _made_of(self, command: str) -> str:
        listed = self._tree.engine.names("ls-files", "--stage", "-z")
        kept = [line for line in listed if suite_commands.says_what_is_needed(line.partition("\t")[2])]
        return hashlib.sha256("\0".join([command, *kept]).encode("utf-8", "surrogateescape")).hexdigest()

    async def once(self, command: str) -> Ran:
        mark = token_hex(16)
        agent = replace(
            self._assignment.agent,
            kind="command",
            command=("sh", "-c", _SCRIPT, "sh", command, mark),
            survey="",
            schema=None,
        )
        work = self._assignment._replace(
            agent=agent, prompt="", system="", files={}, schema=None, folder=self._tree.folder, ground=self._tree.ground
        )
        began = time.monotonic()
        try:
            answer = await self._runner.run(work, self._listener)
        except AgentError as error:
            if error.of_provider:
                raise
            self.level = error.sandbox or self.level
            printed = getattr(error, "reply", b"").decode("utf-8", "replace")
            return Ran(None, printed, time.monotonic() - began, error.message)
        self.level = answer.sandbox or self.level
        printed, code = _ended(answer.reply.decode("utf-8", "replace"), mark)
        why = "" if code is not None else "it was ended before it could say how it went"
        return Ran(code, printed, time.monotonic() - began, why)


def _ended(printed: str, mark: str) -> tuple[str, int | None]:
    text, found, rest = printed.rpartition(f"\n{mark} ")
    code = rest.strip()
    return (text, int(code)) if found and code.isdecimal() else (printed, None)
