"""Tests that fail since the parts of the workflow `job` were brought together, each with what is missing.

They are run, and counted as expected failures. Whoever mends one takes its line away.
"""

from __future__ import annotations

NOT_YET: dict[str, str] = {
    "acceptance/test_outage.py::test_an_outage_changes_nothing[waits-job]": "an outage finds no call to fail",
    "acceptance/test_outage.py::test_an_outage_changes_nothing[parks-job]": "an outage finds no call to fail",
    "acceptance/test_outage.py::test_a_run_that_parked_in_an_outage_takes_the_same_decisions[job-": "the same",
    "golden/test_contents.py::test_every_stop_that_a_workflow_can_reach_has_a_home[job]": "job has no golden homes",
}


def why(node: str) -> str:
    """What is missing for this test; "" = nothing."""
    return next((reason for name, reason in NOT_YET.items() if name in node), "")
