"""One conversation at the terminal: what is typed is a question, or a command that begins with a slash."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import DOOR, Call, note, put, put_json, say
from reconvene.doors.cli.companion import (
    TIERS,
    as_json,
    cost_line,
    listener,
    marked,
    put_cites,
    put_proposals,
)
from reconvene.doors.cli.text import clean, nearest, one_line
from reconvene.doors.cli.unsent_answers import Unsent
from reconvene.doors.shared import carried_out
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.companion_talk import Proposed, Said
    from reconvene.companion.one_question import Companion
    from reconvene.companion.tool_scope import Tier
    from reconvene.core.definition.workflow import Workflow

_FAILED = 1
_STAGES = {
    "pre_job": "before the job",
    "plan_review": "plan review",
    "mid_run": "mid-run",
    "result_review": "result review",
    "post_mortem": "post-mortem",
}
_OF_RUN = {
    "/send": "[N]  send draft N to the agents, as your remark; `s` does the same",
    "/apply": "[N]  apply edit N, as your edit; `a` does the same",
    "/show": "[N]  the drafts and edits of the last answer once more",
}
_OF_DRAFT = {
    "/instructions": "  the instructions so far",
    "/write": "TEXT  these are the instructions now",
    "/input": "NAME=VALUE  an input of the run; NAME=@FILE reads a file",
    "/start": "  start the run",
}
_ALWAYS = {
    "/open": "N  what citation N of the last answer names",
    "/tools": "  which tools the companion has now",
    "/tier": "NAME on|off  tools of a tier: research, history, debug",
    "/help": "  this list",
    "/quit": "  leave; the conversation stays",
}


class Chat:
    """`hear` takes a line and says whether the conversation goes on. `starts`: the person said /start."""

    def __init__(
        self,
        call: Call,
        engine: Engine,
        companion: Companion,
        *,
        run: str = "",
        draft: str = "",
        workflow: Workflow | None = None,
    ) -> None:
        self._call = call
        self._engine = engine
        self._companion = companion
        self._run = run
        self._draft = draft
        self._workflow = workflow
        self._cites: tuple[str, ...] = ()
        self._proposals: tuple[Proposed, ...] = ()
        self._newest = 1  # the number of the first that came last
        self._seen = 0  # entries of the conversation that were on the screen
        self._unsent = Unsent(call.home, run or draft, "chat", "")
        self.starts = False
        self.code = 0

    @property
    def again(self) -> str:
        return (
            self._call.command("chat", self._run) if self._run else self._call.command("chat", "--draft", self._draft)
        )

    @property
    def prompt(self) -> str:
        return "you:"

    def unsent(self) -> str:
        """What was typed and not sent the last time."""
        text = str(self._unsent.before().get("text") or "")
        self._unsent.drop()
        return text

    def keep(self, text: str) -> None:
        if text.strip():
            self._unsent.keep({"text": text})

    def greet(self) -> None:
        entries = self._companion.conversation.entries()
        who = self._companion.model or "no model: the record answers"
        stage = _STAGES[self._companion.stage]
        say(f"{self._run or self._draft}, {stage} ({who}). /help says what can be typed.")
        if entries:
            say(f"{len(entries)} entries so far; the last one:")
            self._put_entry(entries[-1])
        self._seen = len(entries)
        self._proposals, self._newest = carried_out.proposed(entries)
        self._cites = next((one.cites for one in reversed(entries) if one.cites), ())

    # --- a line ---

    def hear(self, line: str) -> bool:
        text = line.strip()
        word, _, rest = text.partition(" ")
        try:
            if text in ("s", "a") and self._proposals and self._run:
                self._carry_out("send" if text == "s" else "apply", "")
            elif text.startswith("/"):
                return self._command(word.lower(), rest.strip())
            elif text:
                self._ask(text)
        except ReconveneError as error:
            self._complain(error)
        return True

    def _complain(self, error: ReconveneError) -> None:
        """A slip ends no conversation; of a script it ends up in the exit code."""
        self.code = 0 if self._call.interactive else _FAILED
        if self._call.as_json:
            put_json({"error": error.message, "hint": error.hint})
        else:
            note(f"error: {clean(error.message)}" + (f"\nhint: {clean(error.hint)}" if error.hint else ""))

    def _command(self, word: str, rest: str) -> bool:
        known = {**(_OF_RUN if self._run else _OF_DRAFT), **_ALWAYS}
        if word not in known:
            raise UserError(f"there is no command {clean(word)!r}; {nearest(word, known)}", hint="/help lists them")
        if word in ("/quit", "/start"):
            self.starts = word == "/start"
            return False
        does: dict[str, Callable[[str], None]] = {
            "/help": self._help,
            "/tools": self._tools,
            "/tier": self._tier,
            "/open": self._open,
            "/send": lambda rest: self._carry_out("send", rest),
            "/apply": lambda rest: self._carry_out("apply", rest),
            "/show": self._show,
            "/instructions": self._instructions,
            "/write": self._write,
            "/input": self._input,
        }
        does[word](rest)
        return True

    # --- questions ---

    def _ask(self, text: str) -> None:
        before = self._drafted()
        self._put_others()
        reply = self._companion.ask(text, listener(self._call))
        self._seen = reply.said.number
        said = reply.said
        self._cites = said.cites
        first = len(self._proposals) + 1
        if said.proposals:  # numbers go on: what was kept for later keeps its own
            self._proposals, self._newest = (*self._proposals, *said.proposals), first
        if said.fault:
            self.code = 0 if self._call.interactive else _FAILED
        if self._call.as_json:
            put_json(as_json(self._call, self._run, reply))
            return
        if said.fault:
            note(f"! {said.fault}" + (f" {reply.hint}" if reply.hint else "") + "\nThis is what the record says:")
        say(marked(said))
        put_cites(self._call, self._run, said, command="/open 1")
        put_proposals(self._engine, self._run, said.proposals, first)
        if told := cost_line(said):
            note(told)
        if (now := self._drafted()) != before:
            say(f"\nthe instructions now:\n{now}")
        if said.proposals:
            self._offer(said.proposals, first)
        put()

    def _put_others(self) -> None:
        """What somebody else said in the same conversation meanwhile."""
        entries = self._companion.conversation.entries()
        for one in entries[self._seen :]:
            if not self._call.as_json:
                self._put_entry(one)
        self._seen = len(entries)

    def _put_entry(self, one: Said) -> None:
        who = (one.by or "a person") if one.role == "person" else f"to {one.by or 'a person'}"
        say(f"  {one_line(who)}: {one_line(one.text, 400)}")

    # --- what was proposed ---

    def _offer(self, made: tuple[Proposed, ...], first: int) -> None:
        """One key carries out what was proposed; any other leaves it for later."""
        if not self._call.interactive:
            return
        from reconvene.doors.cli.ask import ask_key, ask_text

        for number, one in enumerate(made, first):
            key, what = ("s", "sends it as your remark") if one.kind == "remark" else ("a", "applies it as your edit")
            more = ", e lets you change it first" if one.kind == "remark" else ""
            named = f"draft {number}" if one.kind == "remark" else f"edit {number}"
            typed = ask_key(f"{named}: {key} {what}{more}, any other key keeps it for later")
            if typed == key:
                self._carry_out("send" if key == "s" else "apply", str(number))
            elif typed == "e" and one.kind == "remark":
                self._carry_out("send", str(number), ask_text("Your words:", one_line(one.text, 10_000)))

    def _carry_out(self, what: str, rest: str, words: str = "") -> None:
        kind = "remark" if what == "send" else "edit"
        one = self._chosen(rest, kind)
        if what == "send":
            made = carried_out.send(self._engine, self._run, one, self._call.by, DOOR, words)
            told, facts = f"sent as your remark {made}", {"sent": made}
        else:
            made = carried_out.apply(self._engine, self._run, one, self._call.by, DOOR)
            told, facts = f"{made} is changed, as your edit; the agents will be told", {"applied": made}
        put_json(facts) if self._call.as_json else say(told)

    def _chosen(self, rest: str, kind: str) -> Proposed:
        fitting = [number for number, one in enumerate(self._proposals, 1) if one.kind == kind]
        what, number = "draft" if kind == "remark" else "edit", rest.strip()
        if not fitting:
            raise UserError(f"there is no {what} yet", hint="say what you want changed")
        newest = [one for one in fitting if one >= self._newest]
        if not number and len(newest) != 1:
            raise UserError(f"which {what}?", hint=f"one of: {', '.join(map(str, fitting))}")
        chosen = number or str(newest[0])
        if not chosen.isdecimal() or not 1 <= int(chosen) <= len(self._proposals):
            raise UserError(f"there is no {what} {clean(chosen)}", hint=f"there is: {', '.join(map(str, fitting))}")
        return self._proposals[int(chosen) - 1]

    def _show(self, rest: str) -> None:
        if not self._proposals:
            raise UserError("nothing was proposed yet", hint="say what you want changed")
        put_proposals(self._engine, self._run, self._proposals)

    # --- the rest ---

    def _help(self, rest: str) -> None:
        put("What begins with no slash is said to the companion.")
        for name, what in {**(_OF_RUN if self._run else _OF_DRAFT), **_ALWAYS}.items():
            put(f"  {name} {what}")

    def _tools(self, rest: str) -> None:
        chosen = f", tiers chosen by you: {', '.join(self._companion.chosen)}" if self._companion.chosen else ""
        put(f"{_STAGES[self._companion.stage]}{chosen}")
        for tool in self._companion.tools():
            say(f"  {tool.name} ({tool.tier}): {tool.description}")
        if not self._companion.model:
            say("No model uses them: the record answers. --model provider:name asks one.")

    def _tier(self, rest: str) -> None:
        name, _, switch = rest.partition(" ")
        switch = switch.strip().lower()
        if name not in TIERS or switch not in ("on", "off"):
            raise UserError("write /tier NAME on, or off", hint=f"tiers: {', '.join(TIERS)}")
        now: set[Tier] = set(self._companion.chosen) or {tool.tier for tool in self._companion.tools()}
        now = {*now, name} if switch == "on" else now - {name}
        self._companion.chosen = tuple(tier for tier in TIERS if tier in {*now, "basic"})
        put(f"tools of: {', '.join(self._companion.chosen)}")

    def _open(self, rest: str) -> None:
        from reconvene.companion.open_cites import open_cite
        from reconvene.doors.cli import pager

        if not self._cites:
            raise UserError("the last answer cites nothing")
        if not rest.isdecimal() or not 1 <= int(rest) <= len(self._cites):
            raise UserError(f"write /open N, from 1 to {len(self._cites)}")
        cite, scope = self._cites[int(rest) - 1], self._companion.scope
        opened = open_cite(scope, cite)
        if opened.failed:
            raise UserError(f"{cite} is not found: {opened.text}")
        if self._call.as_json:
            put_json({"cite": cite, "text": opened.text})
        else:
            whole = self._call.command("cite", scope.run, cite, "--json")
            recorded = f"\n\nall that is on record of it: {whole}" if cite.startswith("event ") else ""
            pager.show(opened.text + recorded)

    # --- of a draft ---

    def _drafted(self) -> str:
        scope = self._companion.scope
        return scope.drafts.read(self._draft) if scope.drafts is not None and self._draft else ""

    def _instructions(self, rest: str) -> None:
        text = self._drafted()
        if self._call.as_json:
            put_json({"draft": self._draft, "instructions": text})
        else:
            say(text or "none yet; /write TEXT sets them")

    def _write(self, rest: str) -> None:
        if not rest:
            raise UserError("write /write and then the instructions")
        scope = self._companion.scope
        assert scope.drafts is not None
        scope.drafts.write(self._draft, rest)
        self._instructions("")

    def _input(self, rest: str) -> None:
        from reconvene.companion_wiring import drafts_of
        from reconvene.doors.cli.drafted import inputs_named

        assert self._workflow is not None
        given = inputs_named(self._workflow, (rest,))
        drafts_of(self._call.home).give(self._draft, given)
        put_json({"inputs": list(given)}) if self._call.as_json else put(f"noted: {one_line(given[0])}")
