"""What the WebGPU backends share: limits, kernels, buffers, launches. A library stands behind each.

Large buffers travel in pieces, so that a run needs its buffers and a constant beside them.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any

from vyre.backends.canaries import examine, refuse_lost_features
from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.backends.webgpu_device import STAGING, STORAGE, UNIFORM, DeviceFault, Launch, RejectedSource
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.lower.prepare import prepare
from vyre.lower.source import launches
from vyre.lower.wgsl import emit, workgroup_bytes

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from vyre.backends.canaries import Verdict
    from vyre.backends.webgpu_device import WebGpuDevice
    from vyre.ir.program import Program
    from vyre.lower.source import Source

_MIN_BYTES = 16
"""No binding is smaller, so that an array of any element type holds one; lengths are hidden words."""

_PIECE = 1 << 24
_POOLED = 1 << 20
_LAUNCHES = 512


class WebGpuBackend:
    """Programs as WGSL on one device."""

    name: str

    def __init__(self, device: WebGpuDevice, *, canaries: bool = True) -> None:
        self.device = device
        self.limits = device.limits
        self.pool = _Pool(device)
        self.lock = RLock()
        self.verdict: Verdict | None = None
        if canaries:
            self.verdict = examine(self)

    def describe(self) -> BackendInfo:
        facts = self.device.facts
        return BackendInfo(
            name=self.name,
            version=facts.version,
            device=facts.device,
            driver=facts.driver,
            toolchain=facts.toolchain,
            limits=BackendLimits(buffer_bytes=self.buffer_bytes, buffers=self.limits.storage_buffers),
        )

    @property
    def buffer_bytes(self) -> int:
        return min(self.limits.buffer_bytes, self.limits.binding_bytes)

    def compile(self, program: Program) -> WebGpuExecutable:
        if self.verdict is not None:
            refuse_lost_features(program, self.verdict, self.name)
        self._require_room(program)
        source = emit(prepare(program), backend=self.name)
        try:
            with self.lock:
                kernel = self.device.build(source)
        except RejectedSource as error:
            raise VyreError(
                f"the compiler of {self.device.facts.toolchain} rejects the kernel: {error}\n{source.text}",
                fix="report it with the source above; it is a fault of the lowering or of the compiler.",
            ) from None
        except DeviceFault as error:
            raise _refused(self, error) from None
        return WebGpuExecutable(self, source, kernel)

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
        bound = sum(not b.access.shared for b in program.buffers)
        if bound > limits.storage_buffers:
            self._refuse(
                f"a program of {bound} storage and uniform buffers",
                f"{device} binds at most {limits.storage_buffers}",
                "pack several buffers into one.",
            )

    def _refuse(self, what: str, why: str, fix: str) -> None:
        raise UnsupportedByBackend(what, self.name, why=why, fix=fix)


class WebGpuExecutable:
    """A pipeline. The device works on copies; ReadWrite buffers are copied back."""

    def __init__(self, backend: WebGpuBackend, source: Source, kernel: Any) -> None:
        self._backend = backend
        self._kernel = kernel
        self.source = source

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        backend = self._backend
        self._require_room(buffers)
        try:
            with backend.lock, backend.pool.lease() as lease:
                bound: list[tuple[Any, int]] = []
                for decl in self.source.buffers:
                    size = _padded(buffers[decl.name].nbytes)
                    bound.append((lease.buffer(STORAGE, size), size))
                    _upload(backend.device, bound[-1][0], buffers[decl.name])
                self._launch(lease, bound, buffers, workgroups)
                for decl, (buffer, _) in zip(self.source.buffers, bound, strict=True):
                    if decl.access.writable:
                        _download(backend.device, lease, buffer, buffers[decl.name])
                backend.device.finish()
        except DeviceFault as error:
            raise _refused(backend, error) from None

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

    def _launch(
        self,
        lease: _Lease,
        bound: list[tuple[Any, int]],
        buffers: Mapping[str, memoryview],
        workgroups: tuple[int, int, int],
    ) -> None:
        device = self._backend.device
        lengths = {b.name: buffers[b.name].nbytes // b.element.stride for b in self.source.buffers}
        words = -(-len(self.source.hidden) // 4) * 4
        step = -(-4 * words // device.limits.uniform_alignment) * device.limits.uniform_alignment
        most = device.limits.workgroups_per_axis
        parts = launches(workgroups, (most, most, most))
        batch = list(islice(parts, _LAUNCHES))
        uniform = lease.buffer(UNIFORM, step * len(batch))
        while batch:
            data = bytearray(step * len(batch))
            for number, (base, _) in enumerate(batch):
                hidden = self.source.hidden_values(lengths, base)
                struct.pack_into(f"<{len(hidden)}I", data, step * number, *hidden)
            device.write(uniform, 0, memoryview(data))
            queued = [Launch(step * number, grid) for number, (_, grid) in enumerate(batch)]
            device.launch(self._kernel, [*bound, (uniform, 4 * words)], queued)
            batch = list(islice(parts, _LAUNCHES))


def _padded(size: int) -> int:
    return max(_MIN_BYTES, -(-size // 4) * 4)


def _upload(device: WebGpuDevice, buffer: Any, view: memoryview) -> None:
    whole = view.nbytes // 4 * 4
    for start in range(0, whole, _PIECE):
        device.write(buffer, start, view[start : min(start + _PIECE, whole)])
        if whole > _PIECE:
            device.finish()
    if view.nbytes > whole:
        rest = bytes(view[whole:]).ljust(4, b"\0")
        device.write(buffer, whole, memoryview(rest))


def _download(device: WebGpuDevice, lease: _Lease, buffer: Any, view: memoryview) -> None:
    if not view.nbytes:
        return
    staging = lease.buffer(STAGING, min(_PIECE, _padded(view.nbytes)))
    for start in range(0, view.nbytes, _PIECE):
        piece = view[start : start + _PIECE]
        device.copy(buffer, start, staging, -(-piece.nbytes // 4) * 4)
        device.read(staging, piece)


def _refused(backend: WebGpuBackend, error: DeviceFault) -> DispatchError:
    return DispatchError(
        f"the device {backend.device.facts.device} refused the work: {error}",
        fix="use smaller buffers or another backend; the process can go on.",
    )


class _Pool:
    """Small buffers are kept for the next run; large ones are given back at once."""

    def __init__(self, device: WebGpuDevice) -> None:
        self._device = device
        self._free: dict[tuple[str, int], list[Any]] = {}

    @contextmanager
    def lease(self) -> Generator[_Lease]:
        lease = _Lease(self._device, self._free)
        try:
            yield lease
        finally:
            lease.end()


class _Lease:
    """The buffers of one run. A buffer may be larger than asked for, and holds what it last held."""

    def __init__(self, device: WebGpuDevice, free: dict[tuple[str, int], list[Any]]) -> None:
        self._device = device
        self._free = free
        self._taken: list[tuple[str, int, Any]] = []

    def buffer(self, kind: str, size: int) -> Any:
        capacity = size if size > _POOLED else 1 << (size - 1).bit_length()
        kept = self._free.get((kind, capacity))
        buffer = kept.pop() if kept else self._device.allocate(kind, capacity)
        self._taken.append((kind, capacity, buffer))
        return buffer

    def end(self) -> None:
        for kind, capacity, buffer in self._taken:
            if capacity > _POOLED:
                self._device.free(buffer)
            else:
                self._free.setdefault((kind, capacity), []).append(buffer)
