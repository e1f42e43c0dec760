"""The evidence that a text holds what was resolved: changed lines with its names and figures; and what is not there."""

from __future__ import annotations

import pytest

from reconvene.kits.gaps.names_and_figures import marks, words
from reconvene.kits.gaps.worked_in import Need, invented, is_shortened, proofs, still_held, unlisted

DRAFT = """# Lockers

## Flow

The courier opens a box and puts the parcel in. The customer fetches it.

## Limits

A parcel stays for a while. There are 40 boxes.
"""
RULE = "After 72 hours `return_parcel` is called, and the courier takes the parcel to depot 9."
PLAIN = "Nobody but the customer may open a locked door, and neighbours are refused politely."


def need(name: str, text: str) -> Need:
    return Need(name, name, marks(text), words(text))


def test_names_and_figures_are_found_with_small_numbers_as_figures():
    assert marks("Within six hours `full.log` goes to MAX_ROUNDS, says “Closed now”. 1. GAP-A-001 of ISSUE-R1-001") == (
        "full.log", "closed now", "max_rounds", "6",
    )  # fmt: skip


def test_the_lines_that_changed_and_hold_a_rule_are_named():
    text = DRAFT.replace("A parcel stays for a while.", f"A parcel stays for three days.\n{RULE}")
    (proof,) = proofs(DRAFT, text, [need("GAP-A-001", RULE)])
    assert (proof.ok, proof.lines, proof.held) == (True, "10", ("return_parcel", "72", "9"))


@pytest.mark.parametrize(
    "text",
    [DRAFT, DRAFT.replace(" in. ", " in.\n"), DRAFT + "\nA parcel goes back when it has been there for too long.\n"],
    ids=["unchanged", "wrapped anew", "without its figures"],
)
def test_a_text_without_them_holds_nothing(text: str):
    (proof,) = proofs(DRAFT, text, [need("GAP-A-001", RULE)])
    assert not proof.ok
    assert proof.missing == ("return_parcel", "72", "9")


def test_a_rule_without_figures_is_found_by_its_words():
    assert proofs(DRAFT, f"{DRAFT}\n{PLAIN}\n", [need("GAP-A-002", PLAIN)])[0].ok
    assert not proofs(DRAFT, f"{DRAFT}\n{RULE}\n", [need("GAP-A-002", PLAIN)])[0].ok


def test_figures_of_another_rule_prove_nothing():
    both = [need("GAP-A-001", RULE), need("GAP-A-002", "After 72 hours the clerk is told by `page_clerk`, 9 times.")]
    told = proofs(DRAFT, f"{DRAFT}\n{RULE}\n", both)
    assert [one.ok for one in told] == [True, False]


def test_what_is_to_come_out_is_found_while_it_is_there():
    gone, other = need("GAP-A-001", RULE), need("GAP-A-002", "There are 9 clerks.")
    assert still_held(DRAFT, f"{DRAFT}\n{RULE}\nThere are 9 clerks.\n", gone, [other]) == [11]
    assert still_held(DRAFT, f"{DRAFT}\nThere are 9 clerks.\n", gone, [other]) == []


def test_a_lost_section_and_a_much_shorter_text_are_told():
    assert "Limits" in is_shortened(DRAFT, DRAFT.partition("## Limits")[0] + RULE * 3)
    assert is_shortened(DRAFT, f"{DRAFT}\n{RULE}\n") == ""
    long = DRAFT + "".join(f"Box {n} has a door of its own, painted in colour {n}.\n" for n in range(50, 90))
    assert "is gone" in is_shortened(long, DRAFT + RULE)


def test_figures_and_names_of_nobody_are_invented():
    text = f"{DRAFT}\n{RULE} Every 45 days `audit.log` is sent.\n\n## Known Limitations\n\n- GAP-A-009: 7 things\n"
    assert invented(DRAFT, text, [RULE]) == ["audit.log", "45"]
    assert invented(DRAFT, f"{DRAFT}\n{RULE}\n", [RULE]) == []
    dream = "Astronauts deliver hologram postcards to volcano villages while dolphins sing operas about tax reform.\n"
    assert invented(DRAFT, DRAFT + dream, [RULE])[0].startswith("line 10: ")


def test_known_limitations_name_every_gap_that_is_left():
    text = f"{DRAFT}\nGAP-A-001 is told elsewhere.\n\n## Known Limitations\n\n- GAP-A-002: later\n"
    assert unlisted(text, ["GAP-A-001", "GAP-A-002"]) == ["GAP-A-001"]
    assert unlisted(DRAFT, ["GAP-A-002"]) == ["GAP-A-002"]
