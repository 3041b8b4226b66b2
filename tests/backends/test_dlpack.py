"""DLPack capsules, held against NumPy's own: what one side writes the other reads."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from vyre.backends import dlpack

if TYPE_CHECKING:
    from collections.abc import Iterator


class Exporter:
    """The host's memory through our own capsules."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (dlpack.CPU, 0)

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **_: Any) -> Any:
        x = self.array
        readonly = not x.flags.writeable
        return dlpack.export(x, x.ctypes.data, x.dtype, x.shape, (dlpack.CPU, 0), readonly, max_version)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    before = len(dlpack._given)
    yield
    gc.collect()
    assert len(dlpack._given) == before


ARRAYS = [
    np.arange(6, dtype=dtype).reshape(2, 3)
    for dtype in ("uint32", "int32", "uint64", "float16", "float32", "float64", "uint8", "uint16")
]


@pytest.mark.parametrize("array", [*ARRAYS, np.zeros((0, 4), np.uint32)], ids=lambda a: str(a.dtype))
def test_numpy_reads_what_we_write(array: Any) -> None:
    seen = np.from_dlpack(Exporter(array))
    assert (seen.dtype, seen.shape) == (array.dtype, array.shape)
    assert seen.tolist() == array.tolist()
    assert array.size == 0 or seen.ctypes.data == array.ctypes.data


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}], ids=["old", "versioned"])
@pytest.mark.parametrize("array", [*ARRAYS, ARRAYS[0].T, ARRAYS[1][:, 1:]], ids=lambda a: str(a.dtype))
def test_we_read_what_numpy_writes(array: Any, options: dict[str, Any]) -> None:
    taken = dlpack.take(array.__dlpack__(**options))
    assert (taken.address, taken.shape, taken.dtype) == (array.ctypes.data, array.shape, array.dtype)
    assert taken.device == (dlpack.CPU, 0)
    if taken.strides is not None:
        assert [n * array.itemsize for n in taken.strides] == list(array.strides)
    references = sys.getrefcount(array)
    taken.release()
    assert sys.getrefcount(array) == references - 1


def test_read_only_is_kept_or_refused() -> None:
    x = np.arange(3, dtype=np.uint32)
    x.flags.writeable = False
    taken = dlpack.take(x.__dlpack__(max_version=(1, 0)))
    assert taken.readonly
    taken.release()
    assert not np.from_dlpack(Exporter(x)).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        Exporter(x).__dlpack__()


def test_bfloat16_and_bool_are_named() -> None:
    for array, name in [
        (np.zeros(2, ml_dtypes.bfloat16), "bfloat16"),
        (np.zeros(2, np.bool_), np.dtype("?")),
    ]:
        taken = dlpack.take(Exporter(array).__dlpack__())
        assert taken.dtype == name
        taken.release()
    taken = dlpack.take(np.zeros(2, np.complex64).__dlpack__())
    assert taken.dtype == "DLPack type 5 of 64 bits x 1"
    taken.release()


def test_a_capsule_is_taken_once() -> None:
    capsule = Exporter(np.zeros(2, np.uint32)).__dlpack__()
    taken = dlpack.take(capsule)
    with pytest.raises(BufferError, match="not an unused DLPack capsule"):
        dlpack.take(capsule)
    taken.release()
    with pytest.raises(BufferError, match="not an unused"):
        dlpack.take("capsule")


def test_the_owner_lives_as_long_as_the_capsule() -> None:
    gone: list[bool] = []

    class Keeper:
        def __del__(self) -> None:
            gone.append(True)

    x = np.zeros(2, np.uint32)
    capsule = dlpack.export(Keeper(), x.ctypes.data, x.dtype, x.shape, (dlpack.CPU, 0), False, None)
    assert not gone
    taken = dlpack.take(capsule)
    del capsule
    assert not gone
    taken.release()
    assert gone


def test_a_consumer_may_outlive_the_interpreter() -> None:
    code = (
        "import atexit, builtins, numpy as np, vyre\n"
        "from vyre.backends import dlpack\n"
        "x = vyre.to_device(np.arange(4, dtype=np.uint32), backend='reference')\n"
        "builtins.kept = np.from_dlpack(x)\n"
        "taken = dlpack.take(x.__dlpack__())\n"
        "atexit._run_exitfuncs()\n"
        "taken.release()\n"
        "print(builtins.kept.sum(), len(dlpack._given))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "6 2\n", ""), "nobody calls into it any more"
