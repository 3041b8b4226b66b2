"""Finding a driver's error: a device that flushes subnormals is caught, and the first wrong value is shown.

    python examples/driver_error.py

No driver here is wrong, so one is made up: it computes as `cpu` does and flushes every float that it
stores. `diverge`, which is behind `vyre diff FILE cpu mine`, runs a program on both and names what wrote
the first value that differs.
"""

from __future__ import annotations

import struct
from typing import Any

import vyre
from vyre import In, Out, backends, f32
from vyre.conform.diff.divergence import diverge


@vyre.kernel
def scaled(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    product = a[i] * b[i]
    out[i] = product + a[i] * 0.5


class Flushing:
    """The cpu, but a float below the normal ones is stored as zero."""

    name = "flushing"

    def __init__(self) -> None:
        self._right = backends.get("cpu")

    def describe(self) -> vyre.BackendInfo:
        return vyre.BackendInfo(name=self.name, version="1", device="a made-up device that flushes")

    def compile(self, program: vyre.Program) -> Any:
        right = self._right.compile(program)
        outputs = [b.name for b in program.buffers if b.access.writable and b.element is vyre.DataType.F32]

        class Run:
            def run(self, buffers: Any, workgroups: tuple[int, int, int]) -> None:
                right.run(buffers, workgroups)
                for name in outputs:
                    words = memoryview(buffers[name]).cast("B").cast("I")
                    for k, word in enumerate(words):
                        if word & 0x7F800000 == 0:
                            words[k] = word & 0x80000000

        return Run()


def main() -> None:
    data = {
        "a": struct.pack("4f", 1.0, 2.0**-70, 3.5, 2.0**-126),
        "b": struct.pack("4f", 2.0, 2.0**-70, 0.25, 0.0),
        "out": bytes(16),
    }
    found = diverge(scaled.program, data, (1, 1, 1), backends.get("cpu"), Flushing())
    if found is None:
        raise SystemExit("the planted error was not found")
    print(f"{found.buffer}[{found.element}]: cpu {found.first:#010x}, flushing {found.second:#010x}")
    for writer in found.writers:
        print(f"written by {writer.path}: {writer.text}")
    if found.intermediate is not None:
        value = found.intermediate
        print(f"first value that differs: {value.expression} in {value.path}")
        print(f"  cpu {value.first:#010x}, flushing {value.second:#010x}")


if __name__ == "__main__":
    main()
