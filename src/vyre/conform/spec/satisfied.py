"""Which of many cases satisfy the equations of a law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.spec.evaluate import holds
from vyre.semantics.arrays import NUMPY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.term import Equation
    from vyre.semantics.arrays import Words


def satisfied(
    equations: Sequence[Equation], values: Sequence[Sequence[Words]], size: int, lookup: Lookup
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """True at every case that satisfies all equations."""
    good = np.ones(size, np.bool_)
    for equation in equations:
        good &= holds(equation, NUMPY, values, lookup) != 0
    return good
