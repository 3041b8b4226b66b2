"""OpenCL through pyopencl: any conforming device, PoCL on a machine without a GPU."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.lower.opencl import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program
    from vyre.lower.source import Source

_MIN_BYTES = 16
"""A buffer of no bytes cannot exist in OpenCL; its length word still says 0."""


class OpenClBackend:
    """The first OpenCL device, GPUs before others, or the one given."""

    name = "opencl"

    def __init__(self, *, device: Any = None) -> None:
        cl: Any = importlib.import_module("pyopencl")
        self._cl = cl
        self.device = device or _choose(cl)
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context)

    def describe(self) -> BackendInfo:
        return BackendInfo(
            name=self.name,
            version=str(self.device.version).strip(),
            device=str(self.device.name).strip(),
            driver=str(self.device.driver_version).strip(),
            toolchain=f"pyopencl {self._cl.VERSION_TEXT}, {str(self.device.platform.version).strip()}",
            limits=BackendLimits(buffer_bytes=int(self.device.max_mem_alloc_size)),
        )

    def compile(self, program: Program) -> OpenClExecutable:
        source = emit(prepare(program), backend=self.name)
        self._require_room(program)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a compiler's remarks are no trouble of the user's
            try:
                built = self._cl.Program(self.context, source.text).build(options=["-cl-std=CL1.2"])
            except self._cl.Error as error:
                raise VyreError(
                    f"the OpenCL compiler of {self.device.name} rejects the kernel: {error}\n{source.text}",
                    fix="report it with the source above; it is a fault of the lowering or of the driver.",
                ) from None
        return OpenClExecutable(self, source, getattr(built, source.entry))

    def _require_room(self, program: Program) -> None:
        x, y, z = program.workgroup_size
        limit = int(self.device.max_work_group_size)
        if x * y * z > limit:
            raise UnsupportedByBackend(
                f"a workgroup of {x * y * z} invocations",
                self.name,
                why=f"{self.device.name} has at most {limit}",
                fix=f"use a workgroup of at most {limit} invocations.",
            )
        shared = sum(b.count * b.element.stride for b in program.buffers if b.access.shared)
        if shared > int(self.device.local_mem_size):
            raise UnsupportedByBackend(
                f"{shared} bytes of workgroup memory",
                self.name,
                why=f"{self.device.name} has {int(self.device.local_mem_size)}",
                fix="use smaller workgroup buffers.",
            )


class OpenClExecutable:
    """A built kernel. The device works on copies; ReadWrite buffers are copied back."""

    def __init__(self, backend: OpenClBackend, source: Source, kernel: Any) -> None:
        self._backend = backend
        self._kernel = kernel
        self.source = source

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        import numpy as np

        cl = self._backend._cl
        context, queue = self._backend.context, self._backend.queue
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        try:
            device: list[Any] = []
            for decl in self.source.buffers:
                host = bytearray(buffers[decl.name])
                host.extend(bytes(max(0, _MIN_BYTES - len(host))))
                device.append(cl.Buffer(context, flags, hostbuf=host))
            lengths = {b.name: buffers[b.name].nbytes // b.element.stride for b in self.source.buffers}
            hidden = [np.uint32(w) for w in self.source.hidden_values(lengths, (0, 0, 0))]
            grid = [n * s for n, s in zip(workgroups, self.source.workgroup_size, strict=True)]
            self._kernel(queue, grid, list(self.source.workgroup_size), *device, *hidden)
            for decl, memory in zip(self.source.buffers, device, strict=True):
                if decl.access.writable and buffers[decl.name].nbytes:
                    cl.enqueue_copy(queue, buffers[decl.name], memory)
            queue.finish()
        except (cl.MemoryError, cl.RuntimeError, cl.LogicError) as error:
            raise DispatchError(
                f"the OpenCL device {self._backend.device.name} refused the run: {error}",
                fix="use smaller buffers or another backend; the process can go on.",
            ) from None


def _choose(cl: Any) -> Any:
    try:
        devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    except cl.Error:
        devices = []
    if not devices:
        raise VyreError(
            "no OpenCL device was found.",
            fix="install a driver, for example apt-get install pocl-opencl-icd.",
        )
    return max(devices, key=lambda d: bool(d.type & cl.device_type.GPU))
