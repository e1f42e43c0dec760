"""How something that does not fit is told: where, what was expected, what was found, and what to do next."""

from __future__ import annotations

from reconvene.app.views.soundness import Misfit
from reconvene.errors import ReconveneError

RESTORE = "Restore the store from a backup. reconvene log {run} still shows what can be read."


class DoesNotFit(Exception):
    def __init__(self, misfit: Misfit) -> None:
        super().__init__(misfit.where)
        self.misfit = misfit


def misfit(run: str, seq: int, where: str, expected: str, found: object, next: str = "") -> DoesNotFit:
    told = found.message if isinstance(found, ReconveneError) else str(found)
    return DoesNotFit(Misfit(where, expected, told, next or RESTORE.format(run=run), seq))
