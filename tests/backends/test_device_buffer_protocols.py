"""Backends without device buffers, or with half of the protocol, say so; the page about buffers runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import BackendInfo, BufferDecl, DataType, InvocationId, Program
from vyre.backends.host_memory import HostMemory
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Mapping


ID = InvocationId(0)
OUT = BufferDecl.read_write("out", 2, DataType.U32)
TWICE = Program([OUT], [64], [OUT.store(ID, OUT[ID] * 2)])


def u32s(*values: int) -> Any:
    return np.array(values, np.uint32)


class Plain:
    """A backend of the small protocol alone."""

    name = "plain"

    def describe(self) -> BackendInfo:
        return BackendInfo(name=self.name, version="1", device="memory")

    def compile(self, program: Program) -> Plain:
        return self

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        buffers["out"][:] = bytes([7]) * buffers["out"].nbytes


def test_a_backend_without_the_protocol_refuses_clearly_and_takes_arrays() -> None:
    plain = Plain()
    x = vyre.to_device(u32s(1), backend="reference")
    with pytest.raises(DispatchError, match="'plain' keeps no buffers on its device"):
        vyre.dispatch(TWICE, {"out": x}, backend=plain)
    with pytest.raises(DispatchError, match="'plain' keeps no buffers on its device"):
        vyre.to_device(u32s(1), backend=plain)
    assert vyre.dispatch(TWICE, {"out": u32s(1)}, backend=plain)["out"].tolist() == [0x07070707]


def test_a_backend_that_cannot_run_on_its_memory_says_so() -> None:
    class Half(Plain):
        def allocate(self, nbytes: int) -> HostMemory:
            return HostMemory(np.zeros(nbytes, np.uint8))

        def borrow(self, data: memoryview) -> HostMemory:
            return HostMemory(np.frombuffer(data, np.uint8))

    half = Half()
    with pytest.raises(DispatchError, match="does not run programs on device buffers"):
        vyre.dispatch(TWICE, {"out": vyre.to_device(u32s(1), backend=half)}, backend=half)


def test_the_page_about_buffers_runs_as_written(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "buffers.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    script = tmp_path / "page.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == re.findall(r"print\(.*?\) +# (.*)", code)
