"""The order of a prompt: what all agents of a step are shown comes first and is the same; the form comes last."""

from __future__ import annotations

from itertools import takewhile

from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: order
inputs: {brief: {type: text}, folder: {type: folder}}
groups: {team: [a, b, c]}
agents:
  a: {prompt: "You are A.", remit: ferries}
  b: {prompt: "You are B, and this role is longer than the others."}
  c: {prompt: "You are C."}
  mod: {prompt: "Sum up."}
phases:
  - id: p
    rounds: {plan: [alone, together]}
    reads: [inputs.brief, inputs.folder]
    steps:
      - {on: alone, agents: team, prompt: "Say what you think.", output: views, gate: {min_chars: 5, headings: [F]}}
      - {on: together, agents: team, prompt: "Look again.", reads: [own.full, all.summary], output: views}
      - {agents: [mod], reads: [round.full], output: synthesis}
    checkpoint: {options: [{label: Next, remark: optional, then: continue}]}
"""


def play() -> Play:
    files = [{"name": "one.md", "text": "first file"}, {"name": "two.md", "text": "second file"}]
    return Play(parse_workflow(WORKFLOW), {"brief": "THE BRIEF " * 200, "folder": files})


def prompts(game: Play) -> dict[str, str]:
    return {effect.agent: shown(game.state, game.book, effect.task).prompt for effect in game.effects()}


def beginning(*texts: str) -> str:
    """What all of them begin with."""
    same = takewhile(lambda each: len(set(each)) == 1, zip(*texts, strict=False))
    return "".join(each[0] for each in same)


def in_order(text: str, *parts: str) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_documents_come_first_then_role_task_what_the_person_said_and_the_form() -> None:
    game = play()
    for agent in "abc":
        game.finish(agent, f"## Findings\n{agent} found it.")
    game.finish("mod")
    game.decide("Next", "Revenue is nine.")
    text = prompts(game)["a"]
    in_order(text, "THE BRIEF", "a found it.", "You are A.", "Your remit: ferries", "Look again.", "Revenue is nine.")


def test_the_form_with_the_gates_in_plain_words_is_the_end_of_a_prompt() -> None:
    text = prompts(play())["b"]
    form = text[text.index("<form-") :]
    assert "- it has fewer than 5 characters\n" in form
    assert "- one of these headings is missing: F\n" in form
    assert form.rstrip().splitlines()[-1].startswith("</form-")


def test_the_files_of_a_folder_are_documents_of_their_own() -> None:
    text = prompts(play())["a"]
    assert ' name="inputs.folder/one.md">\nfirst file\n</document-' in text
    assert ' name="inputs.folder/two.md">\nsecond file\n</document-' in text


def test_the_agents_of_a_step_share_all_documents_up_to_their_own() -> None:
    game = play()
    alone = prompts(game)
    for agent in "abc":
        game.finish(agent, f"## Findings\n{agent} found it.")
    game.finish("mod")
    game.decide("Next")
    together = prompts(game)
    for found, last in ((alone, "second file"), (together, "c found it.")):
        shared = beginning(*found.values())
        assert len(found) == 3
        assert last in shared
        assert "THE BRIEF" in shared
        assert "You are A" not in shared


def test_another_attempt_begins_as_the_first_one_did() -> None:
    game = play()
    before = prompts(game)["a"]
    game.finish("a", "no")
    again = prompts(game)["a"]
    assert "EMPTY_OUTPUT" in again
    assert "Say what you think." in beginning(before, again)


def test_a_prompt_is_the_same_whenever_it_is_made() -> None:
    assert prompts(play()) == prompts(play())
