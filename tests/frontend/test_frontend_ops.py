"""Functions that a kernel calls: plain ones become ops, and ops are called by object and by id."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vyre
from vyre import (
    In,
    Out,
    VyreError,
    u32,
)


def u32s(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def double(x: u32) -> u32:
    return x * 2


def twice(x: u32, times: u32) -> u32:
    """Doubles again and again."""
    total = x
    for _ in range(times):
        total = double(total)
    return total


@vyre.op(id="acme.clamp_add")
def clamp_add(x: u32, y: u32) -> u32:
    total = x + y
    if total < x:
        total = u32(0xFFFFFFFF)
    return total


@vyre.kernel
def helpers(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = clamp_add(twice(x[i], u32(3)), double(double(u32(1))))


def test_helpers_call_helpers_and_become_ops() -> None:
    assert helpers(u32s(1, 0x1FFFFFFF)).tolist() == [12, 0xFFFFFFFC]
    ids = {op.id for op in helpers.registry}
    assert {"local.double", "local.twice", "acme.clamp_add"} <= ids
    assert "acme.clamp_add" not in vyre.default_registry()


def test_the_program_of_a_kernel_is_whole_in_itself() -> None:
    result = vyre.dispatch(helpers.program, {"x": u32s(5), "out": u32s(0)})
    assert result["out"].tolist() == [44]
    assert helpers.program != helpers.source_program


def test_two_helpers_of_one_name_stay_apart(tmp_path: Path) -> None:
    def scaled(factor: int) -> Any:
        def f(x: u32) -> u32:
            return x * factor

        return f

    two, three = scaled(2), scaled(3)

    @vyre.kernel
    def both(x: In[u32], out: Out[u32]) -> None:
        out[0] = two(x[0]) + three(x[0])

    assert both(u32s(10)).tolist() == [50]


def test_ops_by_object_and_by_id() -> None:
    bump = vyre.Op("acme.bump", (vyre.Param("x", vyre.DataType.U32),), vyre.DataType.U32, vyre.Var("x") + 1)
    call: Any = bump

    @vyre.kernel
    def both(x: In[u32], out: Out[u32]) -> None:
        out[0] = call(x[0]) + vyre.call("integer.max", x[0], 7)

    assert both(u32s(3)).tolist() == [11]


def test_functions_of_the_language_raise_outside_a_kernel() -> None:
    outside: Any = clamp_add
    attempts: list[Any] = [
        lambda: vyre.popcount(3),
        vyre.barrier,
        lambda: u32(3),
        lambda: outside(1, 2),
    ]
    for attempt in attempts:
        with pytest.raises(VyreError, match=r"only inside @vyre\.kernel"):
            attempt()
