"""Calling conventions are declared by a backend and refused at compile time if missing (decision 23)."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre import V1, V2, BackendInfo, BufferDecl, DataType, Program
from vyre.backends.reference import ReferenceBackend
from vyre.errors import DispatchError, UnsupportedByBackend

TABLE = BufferDecl.read("table", 3, DataType.U32)
OUT = BufferDecl.read_write("out", 0, DataType.U32, count=1)
PROGRAM = Program([OUT, TABLE], [1], [OUT.store(0, TABLE[1])])
ARRAYS = {"table": np.array([5, 7], np.uint32)}


class OnlyV1(ReferenceBackend):
    name = "only-v1"

    def describe(self) -> BackendInfo:
        return BackendInfo("only-v1", "1", "none", conventions=("V1",))


@pytest.mark.parametrize("convention", [None, V1(), V2(lookup_binding=3)])
def test_a_declared_convention_changes_nothing(convention: V1 | V2 | None) -> None:
    result = vyre.dispatch(PROGRAM, ARRAYS, backend="reference", convention=convention)
    assert result["out"].tolist() == [7]


def test_a_missing_convention_is_refused_before_anything_is_compiled() -> None:
    assert vyre.compile_program(PROGRAM, backend=OnlyV1(), convention=V1())
    with pytest.raises(UnsupportedByBackend, match="convention V2 is not supported by the backend only-v1"):
        vyre.compile_program(PROGRAM, backend=OnlyV1(), convention=V2(lookup_binding=3))


def test_the_lookup_table_must_be_there() -> None:
    with pytest.raises(DispatchError, match="ReadOnly buffers are on 3"):
        vyre.compile_program(PROGRAM, backend="reference", convention=V2(lookup_binding=0))
