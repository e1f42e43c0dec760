"""A line of a diff leads to the file and line that it is about."""

from __future__ import annotations

import pytest

from reconvene.language.diff_places import place_in

DIFF = """\
diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -10,4 +10,5 @@ def add(one, two):
     kept
-    gone
+    new
+    newer
     kept too
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1,1 +0,0 @@
-all of it
"""


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (1, ("", 0)),
        (4, ("calc.py", 0)),
        (6, ("calc.py", 10)),
        (7, ("calc.py", 11)),
        (8, ("calc.py", 11)),
        (9, ("calc.py", 12)),
        (10, ("calc.py", 13)),
        (16, ("old.txt", 1)),
        (99, ("", 0)),
    ],
)
def test_each_line_has_its_place(line: int, place: tuple[str, int]):
    assert place_in(DIFF, line) == place
