"""The first lines of a program in a box: it takes on its limits, then calls `main` of the module that it is to be.

Started by path: `boxed_entry.py "MEMORY SECONDS WRITES" MODULE WORD …`.
"""

from __future__ import annotations

import os
import sys

OUT_OF_MEMORY = 71  # exit code


def confine(memory: int, seconds: int, writes: int) -> None:
    import resource

    kinds = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, writes),
        (resource.RLIMIT_NOFILE, 128),
        (resource.RLIMIT_AS, memory),
    )
    for kind, most in kinds:
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):  # not every system knows every limit
            continue


def main() -> None:
    limits, module, *words = sys.argv[1:]
    confine(*map(int, limits.split()))
    del sys.path[0]  # the folder of this file
    try:
        from importlib import import_module

        import_module(module).main(words)
        sys.stdout.flush()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    # Nothing is taken apart: what a library would still write now, such as a checkpoint of a database, is not wanted.
    os._exit(0)


if __name__ == "__main__":
    main()
