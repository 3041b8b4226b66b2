"""Bits of elements and arrays, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.backends.storage import STORAGE, array_of_bits, bits_of
from vyre.errors import DispatchError
from vyre.graph.types import ELEMENTS

if TYPE_CHECKING:
    from vyre.ir.types import DataType


@pytest.mark.parametrize("element", ELEMENTS)
def test_bits_become_arrays_and_bits_again(element: DataType) -> None:
    top = 1 << (element.stride * 8)
    bits = [0, 1, top - 1, top // 2, top // 3, 5]
    made = array_of_bits(element, bits, (2, 3))
    assert (made.dtype, made.shape) == (STORAGE[element], (2, 3))
    assert bits_of(made) == bits
    assert bits_of(made.T) == [bits[k] for k in (0, 3, 1, 4, 2, 5)]


def test_arrays_as_others_have_them() -> None:
    assert bits_of(np.array([True, False])) == [1, 0]
    assert bits_of(np.array([1.0, -2.0], ">f4")) == [0x3F800000, 0xC0000000]
    assert bits_of(np.array(1.0, np.float32)) == [0x3F800000]
    bfloat16: Any = pytest.importorskip("ml_dtypes").bfloat16
    assert bits_of(np.ones(2, bfloat16)) == [0x3F80, 0x3F80]


@pytest.mark.parametrize("shape", [4.0, "4", (2, 1.5), None])
def test_what_is_not_a_shape_is_refused(shape: Any) -> None:
    with pytest.raises(DispatchError, match=r"is not a shape .* Fix: pass whole numbers"):
        vyre.device_zeros(shape, np.uint32)


def test_what_is_not_a_dtype_is_refused() -> None:
    with pytest.raises(DispatchError, match=r"'words' is not a dtype\. Fix: pass one of NumPy's"):
        vyre.device_zeros(4, "words")


def test_buffers_go_by_name() -> None:
    head = "vyre 1\nworkgroup 1 1 1\nbuffer a: readwrite U32 @0\n"
    program = vyre.Program.from_text(head + "entry { a[0] = 1 }")
    listed: Any = [np.zeros(1, np.uint32)]
    with pytest.raises(DispatchError) as caught:
        vyre.dispatch(program, listed)
    assert caught.value.message == "the buffers of a call are a list, and they go by name."
    assert caught.value.fix == 'pass a dict: {"a": a}.'
