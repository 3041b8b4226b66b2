"""Every value of F16 and BF16 through every operation of one operand, on the default backend."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.backends import get
from vyre.conform.oracle.floats.operations import OUT, WORKGROUP, Operation, operations
from vyre.ir.types import DataType

VALUES = np.arange(1 << 16, dtype=np.uint32)
HALVES = [o for o in operations() if o.arity == 1 and o.source in (DataType.F16, DataType.BF16)]


@pytest.mark.parametrize("operation", HALVES, ids=lambda o: o.name)
def test_all_values_are_exact(operation: Operation) -> None:
    out = np.full(VALUES.size, 0xA5A5_A5A5, np.uint32)
    executable = get("cpu").compile(operation.program())
    views = {"a": VALUES.view(np.uint8).data.toreadonly(), OUT: out.view(np.uint8).data}
    executable.run(views, (VALUES.size // WORKGROUP[0], 1, 1))
    wrong = np.flatnonzero(out != operation.expected(VALUES))
    assert [hex(x) for x in wrong[:4]] == []


def test_all_of_them_are_here() -> None:
    assert len(HALVES) == 2 * (28 + 8 + 1)
