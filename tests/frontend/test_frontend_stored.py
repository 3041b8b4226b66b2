"""Kernels over i8, u8, i16, u16 and i64: elements of buffers that no value of a kernel ever is."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre
from vyre import In, InOut, KernelError, Out, i8, i16, i32, i64, u8, u16, u32
from vyre.ir.types import STORED_TYPES


@vyre.kernel(workgroup_size=64)
def brighten(image: In[u8], out: Out[u8], by: i32) -> None:
    k = vyre.invocation_id(0)
    if k < len(out):
        wanted = i32(image[k]) + by
        out[k] = vyre.min(vyre.max(wanted, 0), 255)


@vyre.kernel(workgroup_size=64)
def widths(a: In[i8], b: In[u16], out: Out[i32], low: Out[i16], same: InOut[i64]) -> None:
    k = vyre.invocation_id(0)
    out[k] = a[k] * 3
    low[k] = u32(b[k]) + 1
    same[k] = same[k] + 1


@vyre.kernel(workgroup_size=8)
def turned(data: In[u8], out: Out[u8]) -> None:
    tile = vyre.shared(u8, 8)
    tile[vyre.local_id(0)] = data[vyre.invocation_id(0)]
    vyre.barrier()
    out[vyre.invocation_id(0)] = tile[7 - vyre.local_id(0)]
    out[vyre.invocation_id(0)] += 250


@pytest.fixture(params=["reference", "cpu"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def test_bytes_in_and_bytes_out(backend: str) -> None:
    image = np.arange(201, dtype=np.uint8)
    found = brighten(image, by=-40, backend=backend)
    assert found.dtype == np.uint8
    assert found.tolist() == np.clip(image.astype(int) - 40, 0, 255).tolist()


def test_each_width_loads_and_keeps_its_low_bits(backend: str) -> None:
    a = np.array([-128, -1, 0, 127], np.int8)
    b = np.array([65535, 32767, 0, 7], np.uint16)
    same = np.array([-1, 2**40, -(2**63), 2**63 - 1], np.int64)
    out, low, same = widths(a, b, same=same, backend=backend)
    assert (out.dtype, out.tolist()) == (np.int32, [-384, -3, 0, 381])
    assert (low.dtype, low.tolist()) == (np.int16, [0, -32768, 1, 8])
    assert (same.dtype, same.tolist()) == (np.int64, [0, 2**40 + 1, -(2**63) + 1, -(2**63)])


def test_workgroup_memory_and_wrapping_updates(backend: str) -> None:
    data = np.arange(16, dtype=np.uint8)
    expected = (data.reshape(2, 8)[:, ::-1].reshape(-1).astype(int) + 250) % 256
    assert turned(data, backend=backend).tolist() == expected.tolist()


def test_a_written_number_must_fit(backend: str) -> None:
    @vyre.kernel(workgroup_size=1)
    def ends(a: Out[i8, Literal[2]], b: Out[u16, Literal[2]], c: Out[i64, Literal[2]]) -> None:
        a[0] = -128
        a[1] = 127
        b[0] = 0
        b[1] = 65535
        c[0] = -(2**63)
        c[1] = 2**63 - 1

    a, b, c = ends(workgroups=1, backend=backend)
    assert [x.tolist() for x in (a, b, c)] == [[-128, 127], [0, 65535], [-(2**63), 2**63 - 1]]


def refused(kernel: Any) -> KernelError:
    with pytest.raises(KernelError) as caught:
        _ = vyre.kernel(workgroup_size=1)(kernel).program
    return caught.value


def test_a_number_that_does_not_fit_is_refused_with_its_low_bits() -> None:
    def byte(out: Out[u8]) -> None:
        out[0] = 300

    def negative(out: Out[u16]) -> None:
        out[0] = -1

    def signed(out: Out[i8]) -> None:
        out[0] = 200

    assert "300 does not fit in u8, which holds 0 to 255" in str(refused(byte))
    assert "write 44," in str(refused(byte))
    assert "write 65535," in str(refused(negative))
    assert "write -56," in str(refused(signed))


def test_a_float_is_not_stored_as_a_byte() -> None:
    def halves(x: In[vyre.f32], out: Out[u8]) -> None:
        out[0] = x[0]  # type: ignore[call-overload] # refused

    assert "is U32 and got F32" in str(refused(halves))
    assert "write vyre.convert(x[0], u32)" in str(refused(halves))


def test_no_value_of_a_kernel_is_of_such_a_type() -> None:
    def parameter(out: Out[u32], n: u8) -> None:
        out[0] = 1

    def annotated(out: Out[u32]) -> None:
        x: i16 = 1  # type: ignore[assignment] # refused
        out[0] = x  # type: ignore[call-overload] # refused

    def made(out: Out[u8]) -> None:
        out[0] = u8(3)  # type: ignore[call-overload] # refused

    def cast(out: Out[u8], n: u32) -> None:
        out[0] = vyre.cast(n, u8)  # type: ignore[call-overload] # refused

    for kernel, name, wide in [
        (parameter, "u8", "u32"),
        (annotated, "i16", "i32"),
        (made, "u8", "u32"),
        (cast, "u8", "u32"),
    ]:
        text = str(refused(kernel))
        assert f"{name} is a type of buffer elements; a value in a kernel cannot have it" in text
        assert f"use {wide}; a store into a buffer of {name} keeps its low" in text


def test_a_helper_does_not_give_out_an_element_type() -> None:
    def low(x: u32) -> u8:
        return x  # type: ignore[return-value] # refused

    def kernel(out: Out[u8]) -> None:
        out[0] = low(u32(3))  # type: ignore[call-overload] # refused

    assert "u8 is a type of buffer elements" in str(refused(kernel))


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int64"])
def test_an_element_of_numpy_is_told_its_name(name: str) -> None:
    def kernel(out: Any) -> None:
        out[0] = 1

    kernel.__annotations__["out"] = Out[getattr(np, name)]
    short = name.replace("uint", "u").replace("int", "i")
    assert f"write out: Out[{short}]" in str(refused(kernel))


def test_every_stored_type_has_a_name() -> None:
    assert {t.__vyre_type__ for t in (i8, u8, i16, u16, i64)} == STORED_TYPES
