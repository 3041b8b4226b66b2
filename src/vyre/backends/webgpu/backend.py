"""What the WebGPU backends share: limits, kernels, launches. A library stands behind each.

A device that is lost takes its buffers with it, and the next call opens another: a run on the host's memory
goes on there by itself, as long as it has given nothing back yet. A device whose work was interrupted is
abandoned where that can be done: it is kept, with its buffers, until its work is done, and counts as lost.
"""

from __future__ import annotations

import struct
import sys
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any

from vyre.backends.canaries.run import examine, refuse_lost_features
from vyre.backends.forks import Home, abandon
from vyre.backends.probe.version import questions_version
from vyre.backends.protocol import BackendInfo
from vyre.backends.subgroups import webgpu_hardware
from vyre.backends.webgpu.device import STORAGE, UNIFORM, DeviceFault, Launch, RejectedSource
from vyre.backends.webgpu.memory import Pool, WebGpuMemory, download, padded, upload
from vyre.errors import (
    DeviceError,
    DeviceLost,
    DeviceOutOfMemory,
    DispatchError,
    SourceRejected,
    UnsupportedByBackend,
)
from vyre.ir.grid import require_grid
from vyre.lower.intrinsics import check_intrinsics
from vyre.lower.prepare import prepare
from vyre.lower.source import launches
from vyre.lower.version import lowering_version
from vyre.lower.ways import SOFT, may_be_guarded
from vyre.lower.wgsl import emit, workgroup_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from vyre.backends.protocol import CanaryVerdict
    from vyre.backends.webgpu.device import WebGpuDevice
    from vyre.ir.program import Program
    from vyre.lower.source import Source
    from vyre.lower.ways import Ways

_LAUNCHES = 512


class WebGpuBackend:
    """Programs as WGSL on one device."""

    name: str

    def __init__(self, open_device: Callable[[], WebGpuDevice], *, canaries: bool = True) -> None:
        self.home = Home(self.name)
        self._open = open_device
        self._lost = False
        self._abandoned: list[WebGpuDevice] = []
        self._discarded: deque[tuple[WebGpuDevice, Any]] = deque()
        self.device = open_device()
        self.limits = self.device.limits
        self.pool = Pool(self.device)
        self.lock = RLock()
        self._ways: Ways | None = None
        self.verdict: CanaryVerdict | None = None
        if canaries:
            # The canaries run floats in the way that the probe's questions led to.
            self.verdict = examine(self, lowering=f"{lowering_version()} {questions_version()}")

    def describe(self) -> BackendInfo:
        facts = self.device.facts
        return BackendInfo(
            name=self.name,
            version=facts.version,
            device=facts.device,
            driver=facts.driver,
            toolchain=facts.toolchain,
            limits=self.limits.declared(),
            categories=("A", "C") if self.hardware else ("A",),
            hardware=self.hardware,
        )

    @cached_property
    def hardware(self) -> frozenset[str]:
        """The instructions that the device was seen to have."""
        return webgpu_hardware(self, lambda source: WebGpuExecutable(self, source).run)

    @property
    def buffer_bytes(self) -> int:
        return min(self.limits.buffer_bytes, self.limits.binding_bytes)

    @property
    def ways(self) -> Ways:
        """WGSL promises no float result, so none is native; guarded is what this device was seen to keep."""
        if self._ways is None:
            from vyre.backends.probe.admission import admitted_ways

            self._ways = admitted_ways(self)
        return self._ways

    def compile(self, program: Program, *, ways: Ways | None = None) -> WebGpuExecutable:
        """`ways` overrides which float operations are native or guarded; the probe asks what it gives."""
        self.home.require()
        refuse_lost_features(program, self.verdict, self.name)
        self._require_room(program)
        if ways is None:  # a device is not asked about floats before somebody needs them
            ways = self.ways if may_be_guarded(program) else SOFT
        prepared = prepare(program, ways=ways)
        if prepared.intrinsics:
            check_intrinsics(prepared.intrinsics, self.name, self.hardware)
        executable = WebGpuExecutable(self, emit(prepared, backend=self.name))
        try:
            executable.build()
        except DeviceLost:
            executable.build()
        return executable

    def allocate(self, nbytes: int) -> WebGpuMemory:
        self.limits.declared().require_room(nbytes, self.name)
        with self.using() as device:
            return WebGpuMemory(self, device, nbytes)

    def borrow(self, data: memoryview) -> WebGpuMemory:
        memory = self.allocate(data.nbytes)
        try:
            memory.write(data)
        except BaseException:
            memory.free()
            raise
        return memory

    @contextmanager
    def using(self, *memories: WebGpuMemory) -> Generator[WebGpuDevice]:
        """The open device, for this thread alone; its faults become errors, and `memories` are on it."""
        self.home.require()
        with self.lock:
            self._reopen()
            self._free_discarded()
            try:
                for memory in memories:
                    self._require_alive(memory.device, [memory.cell])
                yield self.device
            except DeviceFault as fault:
                raise self._failed(fault) from None
            except Exception:
                raise
            except BaseException:
                self._interrupted()
                raise

    def _interrupted(self) -> None:
        """After Ctrl-C in the middle of a call: the device may work for days, and nobody waits for it."""
        if self.device not in self._abandoned and self.device.abandon():
            self._abandoned.append(self.device)
            self._lost = True

    def _failed(self, fault: DeviceFault) -> DeviceError:
        self._lost |= fault.lost
        return _error(self, fault)

    def _reopen(self) -> None:
        if self._lost:
            self.device = self._open()
            self.limits = self.device.limits
            self.pool = Pool(self.device)
            self._lost = False
        if self._abandoned:
            self._abandoned = [device for device in self._abandoned if not device.idle()]

    def _require_alive(self, device: WebGpuDevice, cells: Sequence[list[Any]]) -> None:
        if device is not self.device:
            raise DeviceLost(
                f"the buffers were on a device of the backend {self.name} that was lost, or left alone with "
                "work that was interrupted.",
                fix="make them again with vyre.to_device; another device is open.",
            )
        if not all(cells):
            raise DispatchError("a device buffer was closed.", fix="make a new one with vyre.to_device.")

    def discard(self, device: WebGpuDevice, *buffers: Any) -> None:
        """Frees buffers, now or at the next call: no library is entered by two threads at once."""
        if not self.home.here:
            abandon(buffers)
            return
        self._discarded.extend((device, buffer) for buffer in buffers)
        if self.lock.acquire(blocking=False):
            try:
                self._free_discarded()
            finally:
                self.lock.release()

    def _free_discarded(self) -> None:
        while self._discarded:
            device, buffer = self._discarded.popleft()
            device.free(buffer)

    def _require_room(self, program: Program) -> None:
        limits = self.limits
        device = self.device.facts.device
        x, y, z = program.workgroup_size
        if any(n > m for n, m in zip((x, y, z), limits.workgroup_size, strict=True)):
            most = " x ".join(map(str, limits.workgroup_size))
            self._refuse(
                f"a workgroup of {x} x {y} x {z}", f"{device} has at most {most}", "use a smaller workgroup."
            )
        if x * y * z > limits.invocations:
            self._refuse(
                f"a workgroup of {x * y * z} invocations",
                f"{device} has at most {limits.invocations}",
                f"use a workgroup of at most {limits.invocations} invocations.",
            )
        shared = sum(workgroup_bytes(b) for b in program.buffers if b.access.shared)
        if shared > limits.workgroup_bytes:
            self._refuse(
                f"{shared} bytes of workgroup memory",
                f"{device} has {limits.workgroup_bytes}",
                "use smaller workgroup buffers.",
            )
        bound = sum(b.access.bound for b in program.buffers)
        if bound > limits.storage_buffers:
            self._refuse(
                f"a program of {bound} storage and uniform buffers",
                f"{device} binds at most {limits.storage_buffers}",
                "pack several buffers into one.",
            )

    def _refuse(self, what: str, why: str, fix: str) -> None:
        raise UnsupportedByBackend(what, self.name, why=why, fix=fix)


class WebGpuExecutable:
    """A pipeline, built anew on a new device. `run` works on copies; ReadWrite buffers are copied back."""

    def __init__(self, backend: WebGpuBackend, source: Source) -> None:
        self._backend = backend
        self._kernel: Any = None
        self._device: WebGpuDevice | None = None
        self.source = source

    @property
    def lowering(self) -> str:
        """Which way the float operations took, in words."""
        return self.source.lowering

    def build(self) -> Any:
        """The kernel on the open device."""
        with self._backend.using() as device:
            if self._device is not device:
                try:
                    self._kernel = device.build(self.source)
                except RejectedSource as error:
                    compiler = f"the compiler of {device.facts.toolchain}"
                    raise SourceRejected(compiler, str(error), self.source.text) from None
                self._device = device
            return self._kernel

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._backend.home.require()
        require_grid(workgroups, self.source.workgroup_size, self._backend.name)
        self._require_room(buffers)
        try:
            returned = self._run(buffers, workgroups)
        except DeviceLost:
            returned = self._run(buffers, workgroups)
        if returned is not None:
            raise returned

    def _run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> DeviceError | None:
        """Raises `DeviceLost` only while the caller's memory is as it was; later it is given back."""
        backend = self._backend
        with backend.lock:
            kernel = self.build()
            with backend.using() as device, backend.pool.lease() as lease:
                bound: list[tuple[Any, int]] = []
                for decl in self.source.buffers:
                    size = padded(buffers[decl.name].nbytes)
                    bound.append((lease.buffer(STORAGE, size), size))
                    upload(device, bound[-1][0], buffers[decl.name])
                sizes = [buffers[decl.name].nbytes for decl in self.source.buffers]
                uniform: Any = None
                for batch in self._batches(sizes, workgroups):
                    uniform = lease.buffer(UNIFORM, batch.data.nbytes) if uniform is None else uniform
                    device.write(uniform, 0, batch.data)
                    group = device.bind(kernel, [*bound, (uniform, batch.bound_bytes)])
                    device.launch(kernel, group, batch.launches)
                try:
                    with backend.using():
                        for decl, (buffer, _) in zip(self.source.buffers, bound, strict=True):
                            if decl.access.writable:
                                download(device, lease, buffer, buffers[decl.name])
                        device.finish()
                except DeviceLost as lost:
                    return lost
        return None

    def bind(self, memories: Sequence[WebGpuMemory], workgroups: tuple[int, int, int]) -> Callable[[], None]:
        self._backend.home.require()
        require_grid(workgroups, self.source.workgroup_size, self._backend.name)
        return _BoundLaunch(self, memories, workgroups)

    def _require_room(self, buffers: Mapping[str, memoryview]) -> None:
        limit = self._backend.buffer_bytes
        for decl in self.source.buffers:
            size = buffers[decl.name].nbytes
            if size > limit:
                raise DispatchError(
                    f"buffer {decl.name!r} takes {size} bytes; {self._backend.device.facts.device} binds at "
                    f"most {limit} through {self._backend.name}.",
                    fix="split the buffer, or choose another backend.",
                )

    def _batches(self, sizes: Sequence[int], workgroups: tuple[int, int, int]) -> Generator[_Batch]:
        """The launches of a grid, each batch with its hidden words; the first batch is the longest."""
        limits = self._backend.device.limits
        sized = zip(self.source.buffers, sizes, strict=True)
        lengths = {decl.name: size // decl.element.stride for decl, size in sized}
        at, tables = self.source.tables_at, self.source.tables
        bound = at + len(tables)
        step = -(-bound // limits.uniform_alignment) * limits.uniform_alignment
        most = limits.workgroups_per_axis
        parts = launches(workgroups, (most, most, most))
        while batch := list(islice(parts, _LAUNCHES)):
            data = bytearray(step * len(batch))
            for number, (base, _) in enumerate(batch):
                hidden = self.source.hidden_values(lengths, base)
                struct.pack_into(f"<{len(hidden)}I", data, step * number, *hidden)
                data[step * number + at : step * number + bound] = tables
            queued = [Launch(step * number, grid) for number, (_, grid) in enumerate(batch)]
            yield _Batch(memoryview(data), bound, queued)


@dataclass(frozen=True, slots=True)
class _Batch:
    data: memoryview
    bound_bytes: int
    launches: list[Launch]


class _BoundLaunch:
    """A grid on device buffers, ready to be queued again; it owns the buffers of the hidden words."""

    def __init__(
        self, executable: WebGpuExecutable, memories: Sequence[WebGpuMemory], workgroups: tuple[int, int, int]
    ) -> None:
        self._backend = backend = executable._backend
        self._uniforms: list[Any] = []
        with backend.lock:
            self._kernel = executable.build()
            self._queued: list[tuple[Any, list[Launch]]] = []
            self._cells = [memory.cell for memory in memories]
            with backend.using(*memories) as self._device:
                bound = [(memory.cell[0], padded(memory.nbytes)) for memory in memories]
                for batch in executable._batches([memory.nbytes for memory in memories], workgroups):
                    uniform = self._device.allocate(UNIFORM, batch.data.nbytes)
                    self._uniforms.append(uniform)
                    self._device.write(uniform, 0, batch.data)
                    group = self._device.bind(self._kernel, [*bound, (uniform, batch.bound_bytes)])
                    self._queued.append((group, batch.launches))

    def __call__(self) -> None:
        # What `using` does, without the cost of a generator: this is the whole of a repeated dispatch.
        backend = self._backend
        backend.home.require()
        with backend.lock:
            backend._reopen()
            backend._free_discarded()
            backend._require_alive(self._device, self._cells)
            try:
                for group, queued in self._queued:
                    self._device.launch(self._kernel, group, queued)
            except DeviceFault as fault:
                raise backend._failed(fault) from None

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._uniforms and not finalizing():
            self._backend.discard(self._device, *self._uniforms)


def _error(backend: WebGpuBackend, fault: DeviceFault) -> DeviceError:
    device = backend.device.facts.device
    if fault.lost:
        return DeviceLost(
            f"the device {device} of the backend {backend.name} was lost: {fault}",
            fix="make its device buffers again and repeat the call, which opens another device.",
        )
    if fault.out_of_memory:
        return DeviceOutOfMemory(
            f"the device {device} is out of memory: {fault}",
            fix="use smaller buffers, close device buffers, or choose another backend.",
        )
    return DeviceError(
        f"the device {device} refused the work: {fault}",
        fix="use smaller buffers or another backend; the process can go on.",
    )
