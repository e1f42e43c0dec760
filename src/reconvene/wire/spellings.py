"""The checkpoint flow's own spellings, rewritten into those of `grammar.py` before anything is compared with it.

What is rewritten keeps its lines, and remembers how the file spells it (`Mapping.word`): messages speak of the file as
it was written. Nothing after this knows that there is another spelling.
"""

from __future__ import annotations

from dataclasses import replace

from reconvene.wire.grammar import RULE_MOVES, SOME_WORDS
from reconvene.wire.problems import Problems, shown
from reconvene.wire.shapes import EXPRESSION, FLAG, TEXT, Grammar, Key, ListOf, Table, Tables, fit, one_of, word
from reconvene.wire.yaml_reader import Mapping, Node, Scalar

_ACTIONS = ("continue", "repeat_phase", "skip_phases", "abort")
_RULE_WORDS = {"retry_phase": "retry", "spawn_additional": "again", "escalate": "ask"}
_THEN = one_of(word(*RULE_MOVES, *_RULE_WORDS), Table("move"))

SPELLINGS: Tables = {
    "phase": {"gap_check": Key(Table("check"), "another word for check")},
    "check": {"criteria": Key(ListOf(Table("rule"), 1), "another word for rules")},
    "rule": {
        "condition": Key(EXPRESSION, "another word for if"),
        "action": Key(_THEN, "another word for then"),
        "then": Key(_THEN, "a move, retry, ask or abort"),
        "agents": Key(SOME_WORDS, "for spawn_additional: who runs in the extra round"),
        "message": Key(TEXT, "another word for say"),
    },
    "checkpoint": {"approval_required": Key(FLAG, "true: offers Continue and Abort, as checkpoint: true does")},
    "option": {
        "on_select": Key(Table("on_select"), "another way to write then and skip"),
        "with_feedback": Key(FLAG, "another way to write remark: optional"),
    },
    "on_select": {
        "action": Key(word(*_ACTIONS), "continue, repeat_phase, skip_phases or abort", required=True),
        "target": Key(TEXT, 'for repeat_phase: a phase, or "current"'),
        "phases": Key(SOME_WORDS, "for skip_phases: which"),
    },
}
_RENAMED = {
    "phase": {"gap_check": "check"},
    "check": {"criteria": "rules"},
    "rule": {"condition": "if", "action": "then", "message": "say"},
}
_OWN = Grammar(SPELLINGS)


def rewritten(table: str, node: Mapping, problems: Problems) -> Mapping:
    """This part of a workflow in the language's own words."""
    for old, new in _RENAMED.get(table, {}).items():
        node = _renamed(node, old, new, problems)
    match table:
        case "phase":
            return _unasked(node)
        case "rule":
            return _rule(node, problems)
        case "checkpoint" if "approval_required" in node.entries:
            return _approval(node, problems)
        case "option":
            return _on_select(_with_feedback(node, problems), problems)
        case _:
            return node


def _rule(node: Mapping, problems: Problems) -> Mapping:
    then, word, line = node.get("then"), node.word("then"), node.line_of("then")
    if isinstance(then, Scalar) and isinstance(then.value, str) and then.value in _RULE_WORDS:
        node = _with(node, "then", replace(then, value=_RULE_WORDS[then.value]), line, word)
    elif word == "action" and isinstance(then, Scalar) and then.value not in RULE_MOVES:
        known = (*_RULE_WORDS, "abort")
        message = f"'action' must be {' or '.join(known)}, not '{shown(then.value)}'"
        problems.add_unknown(line, message, str(then.value), (*known, *RULE_MOVES), column=then.column)
        return _without(_with(node, "then", replace(then, value="retry"), line, word), "agents")
    if "agents" not in node.entries:
        return node
    agents, at = fit(node.entries["agents"], SOME_WORDS, "'agents'", _OWN, problems), node.line_of("agents")
    node = _without(node, "agents")
    match node.get("then"):
        case Scalar(value="again") as again if agents is not None:
            move = Mapping({"again": agents}, again.line, again.column, {"again": at}, {"again": "agents"})
            return _with(node, "then", move, line, word)
        case Scalar(value="again"):
            return node
        case _:
            problems.add(at, "'agents' belongs to spawn_additional", "remove it, or use spawn_additional")
            return node


def _unasked(phase: Mapping) -> Mapping:
    """`checkpoint: {approval_required: false}` is `checkpoint: false`."""
    match phase.get("checkpoint"):
        case Mapping(entries={"approval_required": Scalar(value=False) as off} as entries) if len(entries) == 1:
            return _with(phase, "checkpoint", off, phase.line_of("checkpoint"))
        case _:
            return phase


def _approval(node: Mapping, problems: Problems) -> Mapping:
    asked = _flag(node, "approval_required", problems)
    if asked and node.wrote("options"):
        message = "'approval_required' brings its own options, Continue and Abort"
        problems.add(node.line_of("options"), message, "remove one of the two")
    elif asked is False and len(node.entries) == 1:
        message = "a checkpoint with 'approval_required: false' is never asked"
        problems.add(node.line_of("approval_required"), message, "remove it")
    return _without(node, "approval_required")


def _with_feedback(option: Mapping, problems: Problems) -> Mapping:
    if "with_feedback" not in option.entries:
        return option
    asked, line = _flag(option, "with_feedback", problems), option.line_of("with_feedback")
    option = _without(option, "with_feedback")
    if not asked or option.wrote("remark"):
        return option
    return _with(option, "remark", Scalar("optional", line), line, "with_feedback")


def _on_select(option: Mapping, problems: Problems) -> Mapping:
    written = option.get("on_select")
    if written is None:
        return option
    line = option.line_of("on_select")
    option = _without(option, "on_select")
    select = fit(written, Table("on_select"), "'on_select'", _OWN, problems)
    if option.wrote("then"):
        problems.add(option.line_of("then"), "'then' and 'on_select' say the same", "keep one")
        return option
    if not isinstance(select, Mapping) or not isinstance(action := select.get("action"), Scalar):
        return option
    for key, owner in (("target", "repeat_phase"), ("phases", "skip_phases")):
        if select.get(key) is not None and action.value != owner:
            message = f"'{key}' belongs to {owner}, not to {action.value}"
            problems.add(select.line_of(key), message, "remove it, or change the action")
    if action.value == "skip_phases":
        option = _skipping(option, select, problems)
    option = _with(option, "then", _move(action, select), line, "on_select")
    return option if option.wrote("as") else _with(option, "as", action, action.line, "action")


def _skipping(option: Mapping, select: Mapping, problems: Problems) -> Mapping:
    line, phases = select.line_of("phases"), select.get("phases")
    if not select.wrote("phases"):
        problems.add(select.line, "skip_phases needs 'phases'", "name the phases to skip")
    elif option.wrote("skip"):
        problems.add(line, "'skip' and 'phases' say the same", "keep one")
    return _with(option, "skip", phases, line, "phases") if phases is not None else option


def _move(action: Scalar, select: Mapping) -> Node:
    match action.value:
        case "repeat_phase":
            target = select.get("target") or replace(action, value="current")
            goto: dict[str, Node] = {"goto": target, "rerun": replace(action, value=True)}
            return Mapping(goto, select.line, select.column, {"goto": target.line}, {"goto": "target"})
        case "abort":
            aborted = replace(action, value="aborted")
            return Mapping({"end": aborted, "status": aborted}, select.line, select.column)
        case _:
            return replace(action, value="continue")


# --- parts of a mapping -----------------------------------------------------------------------------------------------


def _flag(node: Mapping, key: str, problems: Problems) -> bool | None:
    value = fit(node.entries[key], FLAG, f"'{key}'", _OWN, problems)
    return value.value is True if isinstance(value, Scalar) else None


def _renamed(node: Mapping, old: str, new: str, problems: Problems) -> Mapping:
    if old not in node.entries:
        return node
    if node.wrote(new):
        message = f"'{new}' and '{old}' are two words for the same thing"
        problems.add(node.line_of(old), message, "keep one of them")
        return _without(node, old)
    return _with(_without(node, old), new, node.entries[old], node.line_of(old), old)


def _without(node: Mapping, key: str) -> Mapping:
    entries, lines = dict(node.entries), dict(node.key_lines)
    entries.pop(key, None)
    lines.pop(key, None)
    return replace(node, entries=entries, key_lines=lines)


def _with(node: Mapping, key: str, value: Node, line: int, word: str = "") -> Mapping:
    return replace(
        node,
        entries={**node.entries, key: value},
        key_lines={**node.key_lines, key: line},
        words={**node.words, key: word} if word and word != key else node.words,
    )
