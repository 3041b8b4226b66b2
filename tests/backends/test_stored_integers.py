"""Buffers of I8, U8, I16, U16 and I64: every backend gives the bytes of the reference, and no store of one
invocation harms the neighbour of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.backends.stored_integers import STORED, cases, low_bits, widened
from vyre.backends import get
from vyre.backends.host import STORAGE
from vyre.conform.diff.differential import compare
from vyre.conform.generate.programs import GeneratedProgram
from vyre.errors import DispatchError
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.reference import run
from vyre.validate import check

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

CASES = cases()
ID = InvocationId(0)


@pytest.fixture(params=["cpu", "opencl", "wgpu", "dawn", "cuda"], scope="module")
def backend(request: pytest.FixtureRequest) -> Backend:
    try:
        return get(request.param)
    except DispatchError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", CASES)
def test_every_backend_gives_the_bytes_of_the_reference(backend: Backend, name: str) -> None:
    program, inputs, grid = CASES[name]
    check(program)
    assert compare(GeneratedProgram(0, program, inputs, grid), backend) is None


@pytest.mark.parametrize("name", CASES)
def test_the_cases_have_one_result(name: str) -> None:
    assert run(*CASES[name], detect=True).report.races == ()


@pytest.mark.parametrize("element", STORED)
def test_the_reference_widens_and_cuts_like_numpy(element: DataType) -> None:
    program, inputs, grid = widened(element)
    found = run(program, inputs, grid).buffers
    given = np.frombuffer(inputs["data"], STORAGE[element])
    wide = np.dtype(np.int64 if element is DataType.I64 else np.int32)
    assert found["out0"] == given.astype(wide).tobytes()
    words = (np.arange(48, dtype=np.uint64) * 0x89ABCDEF + 0x12345678).astype(np.uint32)
    program, inputs, grid = low_bits(element, element.loaded)
    stored = np.frombuffer(run(program, inputs, grid).buffers["out"], STORAGE[element])
    if element is DataType.I64:
        upper = words * np.uint32(0x9E3779B1) + np.uint32(1)
        words = words.astype(np.uint64) | upper.astype(np.uint64) << 32
    assert stored.tolist() == words.astype(STORAGE[element]).tolist()


@pytest.mark.parametrize("element", STORED)
@pytest.mark.parametrize("length", [0, 1, 5, 67])
def test_arrays_go_in_and_out_in_their_dtype(backend: Backend, element: DataType, length: int) -> None:
    data, out = BufferDecl.read("data", 0, element), BufferDecl.read_write("out", 1, element)
    program = Program([data, out], (64,), [out.store(ID, data[ID])])
    dtype = STORAGE[element]
    array: Any = (np.arange(length) * 12_345 - 90).astype(dtype)
    kept = np.zeros(length, dtype)
    result = vyre.dispatch(program, {"data": array, "out": kept}, backend=backend)["out"]
    assert (result.dtype, result.tolist()) == (dtype, array.tolist())
    held = vyre.to_device(array, backend=backend)
    assert (held.dtype, held.shape) == (dtype, (length,))
    there = vyre.device_zeros(length, element, backend=backend)
    vyre.dispatch(program, {"data": held, "out": there}, backend=backend)
    assert there.numpy().tolist() == array.tolist()


def test_another_dtype_is_refused_with_a_conversion_that_loses_nothing() -> None:
    program = Program([BufferDecl.read_write("x", 0, DataType.U8)], (1,), [])
    with pytest.raises(DispatchError, match=r"holds U8 and got int32.*vyre.array\(x, vyre.u8\)"):
        vyre.dispatch(program, {"x": np.zeros(4, np.int32)}, backend="reference")
