"""Comments on to-dos: a comment follows its to-do, also into the list that was kept, and is not applied by the next."""

from __future__ import annotations

from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.ledger import ledger
from reconvene.app.views.threads import thread
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import Lines
from reconvene.core.facts.ids import digest_of
from reconvene.core.shown.anchors import standing
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: small
kits: [planning]
agents: {keeper: {prompt: "Keep."}, planner: {prompt: "Plan."}}
phases:
  - id: p
    rounds: {max: 9}
    steps:
      - {agents: [keeper]}
      - {agents: [planner], reads: [todos.yaml], writes: [todos.yaml]}
    checkpoint:
      options:
        - {label: Next, then: continue}
        - {label: More, then: again}
"""
TODOS = """\
- id: load
  text: Load the figures
  after: []
- id: report
  text: Write the report
  after: [load]
"""
KEPT = """\
# What was to do
- id: "report"
  text: "Write the report"
  after: ["load"]
  done: true
- {id: "load", text: "Load the figures", after: [], done: true}
"""
NEXT = "- id: fix\n  text: Mend what is wrong\n  after: []\n"


def listed(todos: str = TODOS) -> Play:
    game = Play(parse_workflow(WORKFLOW))
    game.finish("keeper")
    game.finish("planner", files={"todos.yaml": todos})
    return game


def say(game: Play, first: int = 4, last: int = 6, todos: str = TODOS) -> None:
    on = Lines("todos.yaml", digest_of(todos.encode()), first, last)
    game.do(c.AddRemark(c.RemarkIn("Two pages at most", on=on), by="ann"))


def again(game: Play, todos: str, kept: dict[str, str] | None = None) -> None:
    game.decide("More")
    game.finish("keeper", files=kept)
    game.finish("planner", files={"todos.yaml": todos})


def comment(game: Play) -> Comment:
    (entry,) = ledger(game.log, lambda ref: game.blobs[ref.digest].decode(), ("planning",)).entries
    assert entry.anchor is not None
    return thread(entry, entry.anchor, standing(game.state, game.book, entry.anchor, entry.at))


def told(one: Comment) -> tuple[str, str, int, int, bool]:
    return one.status, one.file, one.first, one.last, one.outdated


def test_the_next_list_applies_nothing_and_the_comment_is_outdated_with_the_old_text() -> None:
    game = listed()
    say(game)
    again(game, NEXT)
    assert told(comment(game)) == ("open", "todos.yaml", 0, 0, True)
    assert comment(game).quote == "- id: report\n  text: Write the report\n  after: [load]"


def test_a_comment_follows_its_to_do_into_the_list_that_was_kept() -> None:
    game = listed()
    say(game)
    again(game, NEXT, {"todos/phase_01.yaml": KEPT})
    assert told(comment(game)) == ("open", "todos/phase_01.yaml", 2, 5, False)
    game.decide("More")
    game.finish("keeper")
    effect = next(effect for effect in game.effects() if effect.agent == "planner")
    prompt = shown(game.state, game.book, effect.task).prompt
    assert '[FB-001] todos/phase_01.yaml, lines 2 to 5:\n> - id: "report"' in prompt


def test_another_to_do_with_the_same_id_in_the_next_list_is_not_what_became_of_it() -> None:
    game = listed()
    say(game)
    again(game, "- id: report\n  text: Send the letters\n  after: []\n", {"todos/phase_01.yaml": KEPT})
    assert told(comment(game)) == ("open", "todos/phase_01.yaml", 2, 5, False)


def test_a_to_do_that_was_reworded_in_its_own_list_is_applied_and_stays_so_in_the_next() -> None:
    game = listed()
    say(game)
    again(game, TODOS.replace("Write the report", "Write two pages at most"))
    assert told(comment(game)) == ("applied", "todos.yaml", 4, 6, False)
    again(game, NEXT, {"todos/phase_01.yaml": KEPT.replace("Write the report", "Write two pages at most")})
    assert told(comment(game)) == ("applied", "todos/phase_01.yaml", 2, 5, False)


def test_a_to_do_that_lives_on_in_the_next_list_is_applied_where_it_changes_there() -> None:
    game = listed()
    say(game)
    carried = NEXT + "- {id: report, text: Write the report, after: [load]}\n- {id: load, text: x, done: true}\n"
    again(game, carried, {"todos/phase_01.yaml": KEPT})
    assert told(comment(game)) == ("open", "todos.yaml", 4, 4, False)
    again(game, carried.replace("Write the report", "Write two pages"))
    assert comment(game).status == "applied"


def test_a_mark_that_it_is_done_or_another_spelling_changes_nothing_in_a_to_do() -> None:
    game = listed()
    say(game)
    again(game, TODOS.replace("text: Write the report", 'text: "Write the report"\n  done: true'))
    assert told(comment(game)) == ("open", "todos.yaml", 4, 7, False)


def test_what_a_person_changed_in_a_to_do_applies_nothing() -> None:
    game = listed()
    say(game)
    changed = TODOS.replace("Write the report", "Write two pages").encode()
    edit = c.EditIn("todos.yaml", game.keep(changed), len(changed), game.keep(b"diff"), "+1 −1 lines")
    game.do(c.RecordEdits((edit,), by="ann"))
    first = ledger(game.log, lambda ref: game.blobs[ref.digest].decode(), ("planning",)).entries[0]
    assert [one.by for one in first.reflected] == []


def test_a_comment_on_one_line_of_a_to_do_stays_on_that_line() -> None:
    game = listed()
    say(game, 5, 5)
    again(game, TODOS.replace("- id: load", "# What is to do\n- id: load"))
    assert told(comment(game)) == ("open", "todos.yaml", 6, 6, False)


def test_a_number_is_no_id() -> None:
    plain = "- Load the figures\n- Write the report\n"
    game = listed(plain)
    say(game, 2, 2, plain)
    again(game, "- Mend it\n- Send the letters\n")
    assert told(comment(game)) == ("open", "todos.yaml", 0, 0, True)
