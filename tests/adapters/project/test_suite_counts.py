"""The words of test tools as numbers; what is not recognised has none."""

from __future__ import annotations

import pytest

from reconvene.adapters.project.suite_counts import Counts, counts

PYTEST = """\
.F.s                                                                     [100%]
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
=========================== short test summary info ============================
FAILED tests/test_a.py::test_b - assert 1 == 2
ERROR tests/test_c.py
1 failed, 2 passed, 1 skipped, 1 error in 0.12s
"""
UNITTEST = """\
.F.s
======================================================================
FAIL: test_b (test_a.Case.test_b)
----------------------------------------------------------------------
Ran 4 tests in 0.003s

FAILED (failures=1, skipped=1)
"""
NODE_TAP = """\
TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 1.2
ok 2 - takes
ok 3 - later # SKIP
1..3
# tests 3
# suites 0
# pass 1
# fail 1
# cancelled 0
# skipped 1
# todo 0
"""
NODE_SPEC = """\
✔ takes (0.3ms)
✖ adds (1.1ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1
ℹ skipped 0

✖ failing tests:

✖ adds (1.1ms)
"""
JEST = (
    "  ● Cart › adds\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 2 skipped, 4 passed, 7 total\n"
)
JEST_BROKEN = "Test Suites: 1 failed, 1 total\nTests:       0 total\n"
MOCHA = "\n  4 passing (12ms)\n  1 pending\n  1 failing\n\n  1) Cart adds:\n     AssertionError\n"
VITEST = " FAIL  a.test.ts > adds\n\n Test Files  1 failed (1)\n      Tests  1 failed | 4 passed | 1 skipped (6)\n"
CARGO = """\
test cart::adds ... FAILED
test result: FAILED. 4 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
GO = """\
--- FAIL: TestAdd (0.00s)
--- PASS: TestTake (0.00s)
FAIL
FAIL\texample.org/cart\t0.002s
ok  \texample.org/shop\t0.001s
"""
GO_SHORT = "ok  \texample.org/cart\t0.002s\nFAIL\texample.org/shop [build failed]\nok \texample.org/x\t(cached)\n"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (PYTEST, Counts("pytest", 2, 2, 1, ("tests/test_a.py::test_b", "tests/test_c.py"))),
        ("\x1b[32m\x1b[1m3 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m\n", Counts("pytest", 3)),
        ("no tests ran in 0.01s\n", Counts("pytest")),
        (UNITTEST, Counts("unittest", 2, 1, 1, ("test_b (test_a.Case.test_b)",))),
        ("Ran 1 test in 0.000s\n\nOK\n", Counts("unittest", 1)),
        (NODE_TAP, Counts("node", 1, 1, 1, ("adds",))),
        (NODE_SPEC, Counts("node", 1, 1, 0, ("adds",))),
        (JEST, Counts("jest", 4, 1, 2, ("Cart › adds",))),
        (JEST_BROKEN, Counts("jest", 0, 1)),
        (MOCHA, Counts("mocha", 4, 1, 1, ("Cart adds",))),
        (VITEST, Counts("vitest", 4, 1, 1, ("a.test.ts > adds",))),
        (CARGO, Counts("cargo", 5, 1, 2, ("cart::adds",))),
        (GO, Counts("go", 1, 1, 0, ("TestAdd",))),
        (GO_SHORT, Counts("go packages", 2, 1, 0, ("example.org/shop",))),
        ("cc -o a a.c\n./a\nall is well, 3 passed by\n", Counts()),
        ("", Counts()),
    ],
)
def test_what_a_tool_prints_is_counted(printed: str, expected: Counts):
    assert counts(printed) == expected


def test_several_runs_of_one_tool_are_added_up():
    assert counts("2 passed in 0.1s\n" + "1 failed, 3 passed in 0.2s\n") == Counts("pytest", 5, 1)
