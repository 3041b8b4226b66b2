"""Bits of elements and arrays, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.backends.storage import STORAGE, array_of_bits, bits_of
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
