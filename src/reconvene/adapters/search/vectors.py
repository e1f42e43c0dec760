"""Vectors compared: the nearest first. Imports numpy when it is imported itself."""

from __future__ import annotations

import os
from collections.abc import Sequence

# Its library of linear algebra reads this once, when it is loaded. With a thread per core it is ten times slower on a
# machine that has other things to do: the threads wait for each other.
_THREADS = "OPENBLAS_NUM_THREADS"
_said = os.environ.get(_THREADS)
os.environ[_THREADS] = _said or "1"
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

if _said is None:
    del os.environ[_THREADS]  # programs that are started from here are not concerned

__all__ = ["Matrix", "as_blobs", "nearest", "np"]

Matrix = NDArray[np.float32]


def nearest(asked: bytes, kept: Sequence[tuple[int, bytes]], most: int) -> list[int]:
    """The numbers of those that point the same way, at most so many; vectors of another length are left out."""
    fitting = [(number, vector) for number, vector in kept if len(vector) == len(asked)]
    if not fitting:
        return []
    matrix = np.frombuffer(b"".join(vector for _, vector in fitting), np.float32).reshape(len(fitting), -1)
    likeness = matrix @ np.frombuffer(asked, np.float32)
    best = np.argsort(-likeness, kind="stable")[:most]
    return [fitting[int(at)][0] for at in best if likeness[at] > 0]


def as_blobs(matrix: Matrix) -> list[bytes]:
    """Each row at length one; b"" for a row that points nowhere."""
    lengths = np.linalg.norm(matrix, axis=1)
    return [
        (row / length).astype(np.float32).tobytes() if length > 0 and np.isfinite(length) else b""
        for row, length in zip(matrix, lengths, strict=True)
    ]
