"""The default backend: this machine's processor, through LLVM. No compiler and no GPU needed."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections import OrderedDict
from copy import copy
from functools import cached_property, partial
from importlib import import_module
from importlib.machinery import PathFinder
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends import host_memory
from vyre.backends.canaries.examined import Examined
from vyre.backends.cores import WIDE_REGISTERS
from vyre.backends.cpu.chunks import CHUNKS_PER_TURN, Chunks
from vyre.backends.cpu.kernel import Lowering, loaded_kernel, lowered, made_kernel
from vyre.backends.cpu.names import HOST
from vyre.backends.cpu.place import place
from vyre.backends.cpu.threads import ThreadTeam
from vyre.backends.forks import renew_after_fork
from vyre.backends.host_memory import address_of
from vyre.backends.host_plan import HostPlan
from vyre.backends.interrupts import meanwhile
from vyre.backends.kernel_cache import key_of
from vyre.backends.packages import version_of
from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.errors import DispatchError, StepLimitExceeded
from vyre.ir.grid import require_grid
from vyre.ir.limits import MAX_UNIFORM_BYTES, MAX_WORKGROUP_BYTES, MAX_WORKGROUP_INVOCATIONS
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.cpu.escape import Escape
    from vyre.backends.cpu.kernel import CpuKernel, LaunchFacts
    from vyre.backends.cpu.llvm import Toolchain
    from vyre.backends.host_memory import HostMemory
    from vyre.backends.protocol import DeviceMemory
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.outline import Outline
    from vyre.ir.program import Program
    from vyre.lower.llvm import LlvmSource
    from vyre.lower.ways import Ways

_PARALLEL_WORK = 200_000
"""Program nodes to execute for each thread, below which another one costs more than it saves."""

_SOON_DONE = 1 << 25
"""Program nodes that the main thread executes in one go: within a second, whatever they are. An interrupt
would have to wait for more."""

_ALIGN = 64

LIMITS = BackendLimits(
    workgroup_invocations=MAX_WORKGROUP_INVOCATIONS,
    workgroup_bytes=MAX_WORKGROUP_BYTES,
    uniform_bytes=MAX_UNIFORM_BYTES,
)


class CpuBackend(Examined):
    """Compiles to machine code of this processor and runs on `threads` threads, all cores by default.

    The `keep` kernels used last stay compiled; one takes about 20 KB. With `cpu="x86-64-v3"` and the like the
    code is for every processor of that level; the results are the same.
    """

    name = "cpu"

    def __init__(
        self, *, threads: int | None = None, keep: int = 256, canaries: bool = True, cpu: str = HOST
    ) -> None:
        if cpu != HOST:
            from vyre.backends.cpu.llvm import refuse_foreign

            refuse_foreign(cpu)
        require_llvmlite()
        self._cpu = cpu
        self._team = ThreadTeam(threads or _cores())
        self._keep = keep
        self._kept: OrderedDict[tuple[str, Ways | None], CpuKernel] = OrderedDict()
        self._lock = Lock()
        self._info: BackendInfo | None = None
        renew_after_fork(self)
        if canaries:
            self.examine_later()

    def renew(self) -> None:
        """In the child of a fork: another thread of the parent may have held the lock."""
        self._lock = Lock()
        if self._results is not None:
            self.examine_later()

    @property
    def threads(self) -> int:
        """How many run at once."""
        return self._team.threads

    @cached_property
    def _tools(self) -> Toolchain:
        from vyre.backends.cpu.llvm import toolchain

        return toolchain(self._cpu)

    @property
    def registers(self) -> frozenset[str]:
        """Whether those of AVX-512 are there."""
        return frozenset((WIDE_REGISTERS,)) if "+avx512f" in self._tools.features else frozenset()

    @cached_property
    def ways(self) -> Ways:
        """Which float operations are native."""
        from vyre.backends.cpu.compiling import native_ways

        return native_ways(self._cpu)

    def describe(self) -> BackendInfo:
        if self._info is None:  # no cached property: its lock may be held in a fork
            self._info = self._described()
        return self._info

    def _described(self) -> BackendInfo:
        tools = self._tools
        return BackendInfo(
            name=self.name,
            version=version_of("vyre"),
            device=f"{_processor()}, {self._team.threads} threads",
            driver=f"{platform.system()} {platform.machine()}",
            toolchain=f"LLVM {tools.llvm}, llvmlite {tools.llvmlite}, {tools.cpu}, features {tools.digest}",
            limits=LIMITS,
        )

    def compile(self, program: Program, *, ways: Ways | None = None) -> CpuExecutable:
        """`ways` overrides which float operations are native."""
        from vyre.wire import meaning_digest

        key = (meaning_digest(program), ways)
        with self._lock:
            kernel = self._kept.get(key)
            if kernel is not None:
                self._kept.move_to_end(key)
        if kernel is None:
            kernel = self._new_kernel(program, *key)
            if not self._running:  # a canary: a program that is the same may still be refused
                with self._lock:
                    self._kept[key] = kernel
                    while len(self._kept) > self._keep:
                        self._kept.popitem(last=False)
        return CpuExecutable(kernel, program, self._team, lambda: self._counting(program, ways))

    def lowering_stamp(self) -> str | None:
        here = place()
        return None if here is None else key_of("lowering", here)

    def ready(
        self, outline: Outline, facts: LaunchFacts, program: Callable[[], Program]
    ) -> CpuExecutable | None:
        """What `compile` gave for a program when its facts were kept; None where the code is gone since."""
        kernel = loaded_kernel(facts, self._cpu, lambda: lowered(program(), self.ways, self.name))
        if kernel is None:
            return None
        return CpuExecutable(kernel, outline, self._team, lambda: self._counting(program(), None))

    def facts_to_keep(self, executable: object) -> LaunchFacts | None:
        """What makes a compiled program `ready` in another process; None for what only this one may use."""
        if self._cpu != HOST or not self.examines or type(executable) is not CpuExecutable:
            return None
        return executable.facts

    def _new_kernel(self, program: Program, meaning: str, ways: Ways | None) -> CpuKernel:
        from vyre.backends.cpu.ready import keep_ready, ready_kernel

        usual = ways is None and self._cpu == HOST
        if usual:
            found = ready_kernel(program, meaning, self.name, self._cpu, lambda: self.ways)
            if found is not None:
                return found
        lowering = Lowering(program, self.ways if ways is None else ways, self.name)
        with meanwhile(lowering.done):  # while LLVM is at a canary, with nothing kept
            self.require_sound(program)
        made = made_kernel(lowering, self._cpu)
        if usual and self.examines:
            keep_ready(program, meaning, made)
        return made

    def _counting(self, program: Program, ways: Ways | None) -> CpuExecutable:
        from vyre.lower.counted import counted

        return self.compile(counted(program), ways=ways)

    def allocate(self, nbytes: int) -> HostMemory:
        return host_memory.allocate(nbytes)

    def borrow(self, data: memoryview) -> HostMemory:
        return host_memory.borrow(data)

    def reserve(self, nbytes: int) -> HostMemory:
        return host_memory.reserve(nbytes)

    def located(self, value: Any) -> tuple[int, int, np.dtype[Any], object] | None:
        return host_memory.located(value)

    def fresh(
        self, kind: type, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Callable[[], tuple[NDArray[Any], int] | None] | None:
        return host_memory.fresh(kind, shape, dtype)

    def visible(self, nbytes: int) -> tuple[HostMemory, NDArray[np.uint8]]:
        memory = self.allocate(nbytes)
        return memory, memory.array

    def wait(self) -> None:
        """A launch returns when it is done."""


class CpuExecutable:
    """A kernel bound to a program's own buffer names."""

    def __init__(
        self, kernel: CpuKernel, program: Outline, team: ThreadTeam, count_turns: Callable[[], CpuExecutable]
    ) -> None:
        self._kernel = kernel
        self._team = team
        self._count_turns = count_turns
        self._size = program.workgroup_size
        self._buffers = tuple(b for b in program.buffers if b.access.bound)

    def rewritten(self, text: str) -> CpuExecutable:
        """The same program with another text as its kernel: how a wrong emitter is imitated."""
        made = copy(self)
        made._kernel = self._kernel.rewritten(text)
        return made

    @property
    def facts(self) -> LaunchFacts:
        return self._kernel.facts

    @property
    def source(self) -> LlvmSource:
        """The LLVM IR; its names are those of the first program of this meaning."""
        return self._kernel.source

    @property
    def lowering(self) -> str:
        """Which way the float operations took, in words."""
        return self.source.lowering

    def assembly(self) -> str:
        """The machine code as text."""
        from vyre.backends.cpu.compiling import assembly

        return assembly(self.source, self._kernel.cpu)

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        bound = [_bind(buffers[b.name], b) for b in self._buffers]
        self._launch([b.address for b in bound], [b.memory.nbytes for b in bound], workgroups)()
        for buffer in bound:
            if buffer.copied and buffer.decl.access.writable:
                buffers[buffer.decl.name][:] = buffer.memory.data

    def run_limited(
        self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int], step_limit: int
    ) -> None:
        """Runs another kernel, compiled when it is first asked for, so that ordinary ones count nothing."""
        from vyre.lower.counted import STEPS

        steps = np.array([step_limit, 0], np.uint32)
        self._counted.run({**buffers, STEPS: steps.view(np.uint8).data}, workgroups)
        if steps[1]:
            raise StepLimitExceeded(step_limit)

    @cached_property
    def _counted(self) -> CpuExecutable:
        return self._count_turns()

    def bind(self, memories: Sequence[DeviceMemory], workgroups: tuple[int, int, int]) -> Callable[[], None]:
        for decl, memory in zip(self._buffers, memories, strict=True):
            if memory.span[1] % min(4, decl.element.stride):
                raise DispatchError(
                    f"the memory of buffer {decl.name!r} is not aligned to its elements.",
                    fix="make a copy: vyre.to_device(x).",
                )
        return self._launch([m.span[1] for m in memories], [m.nbytes for m in memories], workgroups)

    def at(
        self, lengths: tuple[int, ...], workgroups: tuple[int, int, int]
    ) -> Callable[[Sequence[int]], None]:
        run, pointers = self._prepared(lengths, workgroups), ctypes.c_void_p * len(lengths)
        return lambda addresses: run(pointers(*addresses))

    def plan(self, program: Outline, prepare: Callable[..., Any]) -> HostPlan:
        return HostPlan(program, prepare)

    def _launch(
        self, where: Sequence[int], sizes: Sequence[int], workgroups: tuple[int, int, int]
    ) -> Callable[[], None]:
        lengths = [size // decl.element.stride for decl, size in zip(self._buffers, sizes, strict=True)]
        return partial(self._prepared(lengths, workgroups), (ctypes.c_void_p * len(where))(*where))

    def _prepared(
        self, lengths: Sequence[int], workgroups: tuple[int, int, int]
    ) -> Callable[[ctypes.Array[ctypes.c_void_p]], None]:
        """A launch that wants nothing but the addresses of its buffers."""
        require_grid(workgroups, self._size, "cpu")
        sized = zip(self._buffers, lengths, strict=True)
        words = [*workgroups, *(length for decl, length in sized if not decl.count)]
        hidden = (ctypes.c_uint32 * len(words))(*words)
        code, facts = self._kernel.code, self._kernel.facts
        scratch_bytes = facts.scratch_bytes
        count = prod(workgroups)
        invocations = count * prod(self._size)
        most = facts.most_work.most(lengths)
        work = min(facts.rough_work.about(invocations, max(lengths, default=0)), invocations * most)
        helpers = min(self._team.threads - 1, work // _PARALLEL_WORK, count - 1)
        long = invocations * most > _SOON_DONE
        # The main thread takes part where it comes back soon enough to see an interrupt.
        soon = _SOON_DONE // max(prod(self._size) * most, 1)
        away = long and soon < CHUNKS_PER_TURN
        if helpers < 1 and not long:

            def alone(addresses: ctypes.Array[ctypes.c_void_p]) -> None:
                if not scratch_bytes:
                    code.call(addresses, hidden, 0, count, None)
                    return
                scratch = np.empty(scratch_bytes + _ALIGN, np.uint8)
                code.call(addresses, hidden, 0, count, _aligned(scratch))

            return alone

        def together(addresses: ctypes.Array[ctypes.c_void_p]) -> None:
            chunks = Chunks(count, helpers + 1, soon if long and not away else None)

            def take_chunks(escape: Escape | None) -> None:
                scratch = np.empty(scratch_bytes + _ALIGN, np.uint8)
                chunks.run(code.address, addresses, hidden, _aligned(scratch), escape)

            self._team.run(take_chunks, helpers=helpers, long=away, stop=chunks.stop)

        return together


def require_llvmlite() -> None:
    """Raises `ImportError` where it is not installed; it is loaded when there is something to compile."""
    if "llvmlite" not in sys.modules and PathFinder.find_spec("llvmlite") is None:
        import_module("llvmlite")  # another finder may know it, and if none does, this is the error


def _aligned(scratch: NDArray[np.uint8]) -> int:
    return -(-address_of(scratch) // _ALIGN) * _ALIGN


@dataclass(frozen=True, slots=True)
class _Bound:
    """The memory of a buffer: the caller's own, or an aligned copy of it."""

    decl: BufferDecl
    memory: NDArray[np.uint8]
    address: int
    copied: bool


def _bind(view: memoryview, decl: BufferDecl) -> _Bound:
    memory = np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)
    address = address_of(memory)
    if address % min(4, decl.element.stride) == 0:
        return _Bound(decl, memory, address, copied=False)
    copy = memory.copy()
    return _Bound(decl, copy, address_of(copy), copied=True)


def _cores() -> int:
    """The cores that this process may use, which in a container may be fewer than there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
