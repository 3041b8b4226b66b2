"""The loop around a kernel: chunks of the grid, taken by whichever thread is free.

The loop is machine code too, so that a thread holds Python's lock once for many chunks; small chunks even
out threads of unequal speed at the end. It comes back now and then, so that an interrupt is not kept
waiting for the whole grid.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from typing import TYPE_CHECKING

from vyre.backends.cpu.loading import MachineCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.cpu.escape import Escape

_CHUNKS_PER_THREAD = 32
CHUNKS_PER_TURN = 8
_MORE = 1

_LOOP = """
declare i64 @llvm.umin.i64(i64, i64)
define i32 @vyre_chunks(ptr %entry, ptr %buffers, ptr %hidden, ptr %scratch, ptr %next, i64 %count, i64 %size,
                        i64 %turns) nounwind {
start:
  br label %take
take:
  %turn = phi i64 [ 0, %start ], [ %turned, %run ]
  %first = atomicrmw add ptr %next, i64 %size monotonic
  %some = icmp ult i64 %first, %count
  br i1 %some, label %run, label %done
run:
  %end = add i64 %first, %size
  %last = call i64 @llvm.umin.i64(i64 %end, i64 %count)
  call void %entry(ptr %buffers, ptr %hidden, i64 %first, i64 %last, ptr %scratch)
  %turned = add i64 %turn, 1
  %again = icmp ult i64 %turned, %turns
  br i1 %again, label %take, label %pause
pause:
  ret i32 1
done:
  ret i32 0
}
"""


class Chunks:
    """The grid of one run, `0..count`, which several threads empty together."""

    def __init__(self, count: int, threads: int, most: int | None = None) -> None:
        """With `most`, a thread comes back after at most so many workgroups."""
        self.count = count
        self.size = -(-count // min(count, threads * _CHUNKS_PER_THREAD))
        if most is not None:
            self.size = max(1, min(self.size, most // CHUNKS_PER_TURN))
        self._next = ctypes.c_int64(0)
        self._loop = _loop()

    def run(
        self, entry: int, buffers: object, hidden: object, scratch: int, escape: Escape | None = None
    ) -> None:
        """Calls the kernel at address `entry` for chunk after chunk until none is left."""
        (loop, code), place = self._loop, ctypes.byref(self._next)
        if escape is not None and escape.enter is not None:
            loop = partial(escape.enter, escape.address, code.address)
        while loop(entry, buffers, hidden, scratch, place, self.count, self.size, CHUNKS_PER_TURN) == _MORE:
            pass

    def stop(self) -> None:
        """No further chunk is begun."""
        self._next.value = self.count


@cache
def _loop() -> tuple[Callable[..., int], MachineCode]:
    """The function, and the code that it needs: who calls the one holds both.

    Two threads may make it at once, and only one result is kept.
    """
    from vyre.backends.cpu.llvm import OBJECT, toolchain
    from vyre.backends.cpu.translator import translator
    from vyre.backends.kernel_cache import kept

    image = kept("cpu", [_LOOP, toolchain().digest], lambda: translator()(_LOOP, OBJECT))
    code = MachineCode(image, "vyre_chunks")
    i64, pointer = ctypes.c_int64, ctypes.c_void_p
    shape = ctypes.CFUNCTYPE(ctypes.c_int32, *[pointer] * 5, *[i64] * 3)
    return shape(code.address), code
