"""What a run of the tests says beside the one before: a claim is nothing, a count that fell is a failure."""

from __future__ import annotations

from reconvene.adapters.project.suite_verdict import Ran, judged

GREEN = Ran(0, "3 passed in 0.1s\n")
RED = Ran(1, "FAILED test_a.py::test_b - assert\n1 failed, 2 passed in 0.1s\n")
BROKEN = Ran(2, "make: *** [test] Error 1\n")


def verdict(before: Ran | None, now: Ran, once_more: Ran | None = None) -> tuple[object, object, object]:
    found = judged(judged(None, before) if before else None, now, once_more)
    return found["verdict"], found["ok"], found["line"]


def test_all_that_ran_passed():
    assert verdict(GREEN, GREEN) == ("passed", True, "3 passed, 0 failed")


def test_a_new_failure_is_named():
    line = "2 passed, 1 failed; failing now and not before: test_a.py::test_b"
    assert verdict(GREEN, RED, RED) == ("failed", False, line)


def test_what_failed_before_may_go_on_failing():
    line = "2 passed, 1 failed; nothing fails that did not fail before"
    assert verdict(RED, RED) == ("as before", True, line)


def test_another_failure_in_the_place_of_an_old_one_is_new():
    other = RED._replace(printed=RED.printed.replace("test_b", "test_c"))
    assert verdict(RED, other, other)[0] == "failed"


def test_a_failure_that_is_gone_the_second_time_is_a_flake():
    line = "3 passed, 0 failed; flaky (failed once, then passed): test_a.py::test_b"
    assert verdict(GREEN, RED, GREEN) == ("passed", True, line)


def test_fewer_tests_than_before_are_a_failure():
    gone = Ran(0, "2 passed in 0.1s\n")
    skipped = Ran(0, "2 passed, 1 skipped in 0.1s\n")
    assert verdict(GREEN, gone) == ("fewer", False, "2 passed, 0 failed; 2 tests ran, 3 before")
    assert verdict(GREEN, skipped)[:2] == ("fewer", False)
    assert verdict(GREEN, Ran(0, ""))[:2] == ("fewer", False)  # it ended well, and counted nothing


def test_what_was_not_run_has_not_passed():
    late = Ran(None, "", 0.0, "it did not end within 5 s")
    assert verdict(GREEN, late) == ("not run", False, "not run: it did not end within 5 s")
    assert verdict(GREEN, Ran(127, "sh: pytest: not found\n"))[2] == "not run: there is no such command"


def test_without_counts_the_exit_code_speaks():
    fine = Ran(0, "ok\n")
    assert verdict(fine, fine)[:2] == ("passed", True)
    assert verdict(fine, BROKEN, BROKEN)[2] == "exit code 2; failing now and not before: exit code 2"
    assert verdict(BROKEN, BROKEN)[:2] == ("unclear", False)
    assert verdict(BROKEN, fine)[:2] == ("passed", True)


def test_a_long_output_keeps_its_end_and_says_what_is_left_out():
    found = judged(None, Ran(1, "noise\n" * 10_000 + "the last line\n"))
    assert str(found["output"]).endswith("the last line")
    assert "characters before this are not shown" in str(found["output"])
