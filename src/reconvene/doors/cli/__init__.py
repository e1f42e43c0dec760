"""The command line."""

import gc

# A command makes its objects once and ends: looking through them again and again for garbage takes longer than some
# commands do. A process that lives on still looks, after so many more.
gc.set_threshold(100_000)
