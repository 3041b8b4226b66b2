"""What a mutant is, and what became of it.

A mutant is a wrong backend made from a right one. Its witness is the name of a case (as `--case` takes it)
that fails on it and passes on the right one: so it is wrong beyond doubt, whether or not a run finds that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Make = Callable[[Any], Any]
"""From a right backend to a wrong one."""

IR, LOWERING, RUNTIME = "program", "lowering", "runtime"

USUAL_CASES = 1 << 16
"""Random cases of an op, where a fault does not need more to be met."""

DENSE_CASES = 5 << 20
"""Random cases that meet a fault of density 10^-6 with more than 99 %."""


EVERY = "*"
"""Instead of the number of a witness of the stage `engines`: any case of a run about this subject."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong backend.

    `kind` is what is wrong in a few words, `where` the op or part it is wrong in; together they name it.
    `density` is the share of the inputs of that op that come out wrong, None where the fault is not one of
    inputs. `promised` says whether a run must find it.
    """

    kind: str
    where: str
    layer: str
    make: Make
    witness: str
    density: float | None = None
    promised: bool = True
    cases: int = USUAL_CASES
    exhaustive: bool = False
    hunted: str = ""
    """The op to look in, where the witness does not say it."""

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.where}"

    @property
    def op(self) -> str:
        """The op to look in, or nothing where a case of a stage shows the fault."""
        head, _, rest = self.witness.partition("/")
        return self.hunted or (head if rest.startswith("inputs/") else "")


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: whether its witness fails, and the first case of a run that does."""

    mutant: Mutant
    witnessed: bool
    found: str
    cases: int
    seconds: float

    @property
    def caught(self) -> bool:
        return bool(self.found)

    @property
    def as_promised(self) -> bool:
        """A real fault, and found if that was promised."""
        return self.witnessed and (self.caught or not self.mutant.promised)
