"""The workflows that are simulated. Each has what another lacks: agents that act on the world, rounds, files, several
approvers, deadlines, outputs that are sent back."""

from __future__ import annotations

from functools import cache

from reconvene.core.definition.workflow import Workflow
from reconvene.wire.workflow_file import parse_workflow

_ACTING = """
name: acting
limits: {calls: 60, rounds: 20}
agents:
  writer: {retries: 2}
  sender: {python: "simulated:send", effects: true, retries: 2}
phases:
  - id: draft
    steps: [{agents: [writer], writes: [draft.md]}]
    checkpoint:
      prompt: Send it?
      options:
        - {label: Send}
        - {label: Again, then: again, remark: optional}
    rounds: {max: 3}
  - id: send
    agents: [sender, writer]
    checkpoint:
      options:
        - {label: Continue}
        - {label: Back, then: {goto: draft, rerun: true}, when: "context.subagents_spawned < 12"}
  - {id: close, agents: [writer]}
"""

_APPROVED = """
name: approved
limits: {calls: 60, rounds: 20}
agents:
  clerk: {retries: 1}
  checker: {retries: 2, gate: {min_chars: 12}}
  payer: {python: "simulated:pay", effects: true}
phases:
  - id: prepare
    steps: [{agents: [clerk, checker], writes: [bill.md]}]
    checkpoint:
      question: Pay?
      within: 9
      remind: 4
      late: {option: Wait}
      options:
        - {label: Pay, needs: 2, remark: optional}
        - {label: Wait, remark: optional}
        - {label: Take it back, undo: true, then: again, when: "context.subagents_spawned < 10"}
    rounds: {max: 3}
  - id: pay
    agents: [payer]
    checkpoint: true
  - {id: file, agents: [clerk, payer]}
"""

_PLAIN = """
name: plain
limits: {calls: 60, rounds: 20, concurrency: 2}
agents: {a: {}, b: {}, c: {retries: 2}}
phases:
  - id: p
    steps: [{agents: [a, b], writes: ["*.md"]}, {agents: [c], writes: [sum.md]}]
    checkpoint: {approval_required: true}
  - {id: q, agents: [a, c], rounds: {plan: [first, second]}, checkpoint: {approval_required: true}}
"""

TEXTS = {"acting": _ACTING, "approved": _APPROVED, "plain": _PLAIN}


@cache
def flow(name: str) -> Workflow:
    return parse_workflow(TEXTS[name])
