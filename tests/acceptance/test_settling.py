"""At a real pseudo-terminal: what an agent only claims is shown with what changed, and the person settles it."""

from __future__ import annotations

from pathlib import Path

from commands import Command
from terminals import ENTER, UP, Terminal, answer, ending

CLAIMS = """\
name: claims
agents:
  writer:
    command: [sh, -c, "if grep -q FB-001; then echo 'Deliveries are slow in winter. FB-001: taken up.'; \
else echo 'Deliveries are slow.'; fi"]
phases:
  - id: draft
    rounds: {max: 3}
    agents: [writer]
    checkpoint:
      question: Is it good?
      options: [{label: Go on, then: continue}, {label: Again, then: again}]
"""


def test_what_an_agent_claims_is_shown_and_settled_at_the_checkpoint(
    reconvene: Command, terminal: Terminal, folder: Path
) -> None:
    (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    assert reconvene("run", "claims.yaml").code == 3
    words = "Name who delivers, and why it takes so long"
    assert reconvene("decide", "claims-1", "--option", "Again", "--latest", "--feedback", words).code == 3
    assert reconvene("ledger", "claims-1").out.startswith("FB-001 ◐ claimed")
    child = terminal("resume", "claims-1", size=(50, 120), RECONVENE_BY="Ada")
    answer(child, "Pause here", UP * 4 + ENTER)
    child.expect("FB-001 Name who delivers")
    child.expect("was: Deliveries are slow")
    child.expect("is: +Deliveries are slow in winter")
    answer(child, "Settle which", ENTER)
    child.expect("settled: FB-001")
    child.expect("Pause here")
    assert "Settle a remark" not in child.before
    child.send(ENTER)
    assert ending(child) == 0
    assert reconvene("ledger", "claims-1").out.startswith("FB-001 ✓ addressed")
