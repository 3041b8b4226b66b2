"""Arrays of the host on a device with memory of its own: copied there once, and the results back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre import engines
from vyre.backends.cpu.backend import CpuBackend
from vyre.engines import memory
from vyre.engines.run import Runner
from vyre.errors import DispatchError


class Apart(CpuBackend):
    """A device that is not the host, as far as anyone is told."""

    name = "apart"


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the arrays that are copied to the device."""
    seen: list[int] = []
    copy = memory.to_device

    def counted(array: Any, **given: Any) -> Any:
        seen.append(len(array))
        return copy(array, **given)

    monkeypatch.setattr(memory, "to_device", counted)
    return seen


def test_an_array_is_copied_once_however_many_steps_read_it(copies: list[int]) -> None:
    x = np.random.default_rng(1).integers(0, 1 << 32, 70_001, np.uint64).astype(np.uint32)
    found = engines.sort(x, backend=Apart())
    assert isinstance(found, np.ndarray)
    assert (found == np.sort(x)).all()
    assert copies == [len(x)]
    flags = (x & 1).astype(np.uint32)
    assert (engines.compact(x, flags, backend=Apart()) == x[flags == 1]).all()
    assert copies == [len(x)] * 3


def test_results_are_written_where_they_are_wanted(copies: list[int]) -> None:
    x = np.arange(5000, dtype=np.uint32)
    out = np.empty_like(x)
    assert engines.scan(x, out=out, backend=Apart()) is out
    assert (out == np.cumsum(x, dtype=np.uint32)).all()
    assert copies == [len(x)]
    with pytest.raises(DispatchError, match="may not be written"):
        engines.scan(x, out=x, backend=Apart())
    with pytest.raises(DispatchError, match="cannot be written into"):
        engines.scan(x, out=np.empty(4999, np.uint32), backend=Apart())


def test_a_prepared_engine_sees_what_its_inputs_become() -> None:
    """Its arrays stay those of the host, so that it can be called again after they have changed."""
    from vyre.engines.prefix import scan_engine

    x = np.ones(300, np.uint32)
    ready = Runner(Apart()).prepare(scan_engine(), {"input": x})
    ready()
    x[:] = 2
    ready()
    assert ready.outputs()["output"][-1] == 600
