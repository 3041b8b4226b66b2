"""Arrays of other classes than NumPy's plain one: their elements, or one clear error."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, u32
from vyre.backends.device_buffer import to_device
from vyre.backends.dispatch import dispatch
from vyre.engines.automaton import Dfa
from vyre.engines.memory import as_array
from vyre.errors import VyreError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BACKEND = "reference"


@vyre.kernel
def doubled(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] + x[i]


@vyre.kernel
def raised(x: InOut[u32]) -> None:
    i = vyre.invocation_id(0)
    x[i] += 1


NUMBERS = np.arange(8, dtype=np.uint32)
MASKED: Any = np.ma.masked_array(NUMBERS, NUMBERS > 3)


def run(x: Any) -> Any:
    return dispatch(doubled.program, {"x": x, "out": np.zeros(8, np.uint32)}, backend=BACKEND)["out"]


def on_a_device(x: Any) -> Any:
    return to_device(x, backend=BACKEND)


def of_an_engine(x: Any) -> Any:
    return as_array("x", DataType.U32, x)


def of_an_automaton(x: Any) -> Any:
    return Dfa.of(x, ())


@pytest.mark.parametrize("take", [run, on_a_device, of_an_engine, of_an_automaton])
def test_a_masked_array_is_one_clear_error(take: Callable[[Any], Any]) -> None:
    with pytest.raises(VyreError, match=r"is a masked array, .* Fix: pass x\.filled"):
        take(MASKED)


def test_the_two_fixes_work() -> None:
    assert run(MASKED.filled(7)).tolist() == [0, 2, 4, 6, 14, 14, 14, 14]
    assert run(MASKED.data).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_an_array_without_a_mask_is_still_masked() -> None:
    with pytest.raises(VyreError, match="masked array"):
        run(np.ma.masked_array(NUMBERS))


def test_mapped_files_and_matrices_are_their_elements(tmp_path: Path) -> None:
    mapped: Any = np.memmap(tmp_path / "x", np.uint32, "w+", shape=(8,))
    mapped[:] = NUMBERS
    found = run(mapped)
    assert type(found) is np.ndarray
    assert found.tolist() == (2 * NUMBERS).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix: Any = np.matrix(NUMBERS)
    assert run(matrix).tolist() == (2 * NUMBERS).tolist()


def test_a_mapped_file_is_changed_in_place(tmp_path: Path) -> None:
    mapped: Any = np.memmap(tmp_path / "x", np.uint32, "w+", shape=(8,))
    assert dispatch(raised.program, {"x": mapped}, backend=BACKEND)["x"] is mapped
    assert mapped.tolist() == [1] * 8


@pytest.mark.parametrize(
    "odd",
    [
        np.array([1, 2], object),
        np.array([(1, 2)], [("a", np.uint32), ("b", np.uint32)]),
        np.array([(1,)], [("a", np.uint32)]).view(np.recarray),
        np.array(["a", "b"]),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.array([1j]),
        np.array(5, np.uint32),
        np.array([1, 2], ">u4"),
    ],
    ids=["object", "structured", "records", "text", "dates", "complex", "a number", "other byte order"],
)
def test_other_kinds_of_elements_are_refused(odd: Any) -> None:
    with pytest.raises(VyreError, match="Fix: "):
        run(odd)
