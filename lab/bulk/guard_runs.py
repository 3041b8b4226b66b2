"""Kernels of the `cpu` backend run where an access outside of a buffer cannot go unnoticed.

Twice: as they are, with every buffer next to gigabytes of inaccessible memory on both sides, so that an
access outside ends the process; and watched, with the checks that had been left out back in place and a
record of what they saw.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.bulk.guard_programs import guard_case
from vyre.backends.cpu.compiling import MachineCode, kept_image, native_ways
from vyre.lower.llvm import emit
from vyre.lower.llvm.watch import ESCAPED, LAST, RAN, TABLE, Watch
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from lab.bulk.guard_programs import GuardCase, Setting
    from vyre.ir import BufferDecl
    from vyre.lower.llvm import LlvmSource

GAP = 64 << 30
"""Farther than any index of 32 bits reaches with elements of 16 bytes."""
WINDOW = 1 << 20
_NO_ACCESS, _READ_WRITE = 0, 3
_PRIVATE, _ANONYMOUS, _NO_RESERVE = 0x02, 0x20, 0x4000


class Reservation:
    """A window of memory with `GAP` bytes on either side that nobody may touch."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        flags = _PRIVATE | _ANONYMOUS | _NO_RESERVE
        whole = libc.mmap(None, 2 * GAP + WINDOW, _NO_ACCESS, flags, -1, 0)
        if whole in (None, ctypes.c_void_p(-1).value):
            raise MemoryError("could not reserve addresses")
        self.start = whole + GAP
        assert self.start % mmap.PAGESIZE == 0
        if libc.mprotect(self.start, WINDOW, _READ_WRITE):
            raise MemoryError("could not open the window")

    def place(self, nbytes: int, *, left: bool) -> int:
        """The address of so many zero bytes at one end of the window."""
        at = self.start if left else self.start + WINDOW - nbytes
        ctypes.memset(at, 0, nbytes)
        return at


@dataclass(frozen=True, slots=True)
class Tally:
    """Checks that had been left out: all, those that ran, those that saw the last index, those escaped."""

    sites: int = 0
    ran: int = 0
    last: int = 0
    escaped: int = 0

    def plus(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, f) + getattr(other, f) for f in ("sites", "ran", "last", "escaped")))


class Runner:
    """Runs kernels in reserved memory."""

    def __init__(self) -> None:
        self._arenas: dict[int, Reservation] = {}

    def run(self, case: GuardCase, *, plain: bool = True) -> Tally:
        """The kernel as it is, at both ends of its memory, then watched."""
        prepared = prepare(case.program, ways=native_ways())
        if plain:
            source = emit(prepared)
            code = MachineCode(kept_image(source)[0], source.entry)
            for setting in case.settings:
                for left in (False, True):
                    self._call(code, source, setting, left=left)
        watch = Watch()
        source = emit(prepared, watch=watch)
        code = MachineCode(kept_image(source)[0], source.entry)
        for setting in case.settings:
            self._call(code, source, setting, left=False)
        table = ctypes.string_at(code.function(TABLE), watch.sites)
        return Tally(
            watch.sites,
            sum(bool(byte & RAN) for byte in table),
            sum(bool(byte & LAST) for byte in table),
            sum(bool(byte & ESCAPED) for byte in table),
        )

    def _call(self, code: MachineCode, source: LlvmSource, setting: Setting, *, left: bool) -> None:
        where: list[int] = []
        for number, decl in enumerate(source.buffers):
            if number not in self._arenas:
                self._arenas[number] = Reservation()
            where.append(
                self._arenas[number].place(_elements(decl, setting) * decl.element.stride, left=left)
            )
        addresses = (ctypes.c_void_p * len(where))(*where)
        lengths = [_elements(decl, setting) for decl in source.buffers if not decl.count]
        words = [*setting.workgroups, *lengths]
        hidden = (ctypes.c_uint32 * len(words))(*words)
        scratch = ctypes.create_string_buffer(source.scratch_bytes + 64)
        aligned = -(-ctypes.addressof(scratch) // 64) * 64
        x, y, z = setting.workgroups
        code.call(addresses, hidden, 0, x * y * z, aligned)


def _elements(decl: BufferDecl, setting: Setting) -> int:
    return decl.count or setting.lengths[decl.name]


def main(first: int, last: int) -> None:
    """Runs the programs of the seeds, and prints after each what was counted so far."""
    runner, total = Runner(), Tally()
    for seed in range(first, last):
        print(f"seed {seed}", flush=True)
        found = runner.run(guard_case(seed))
        total = total.plus(found)
        if found.escaped:
            print(f"escaped: seed {seed}", flush=True)
    print(f"total {total.sites} {total.ran} {total.last} {total.escaped}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
