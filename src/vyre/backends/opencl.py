"""OpenCL through pyopencl: any conforming device, PoCL on a machine without a GPU."""

from __future__ import annotations

import importlib
import threading
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.lower.opencl import emit
from vyre.lower.prepare import prepare
from vyre.lower.source import launches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program
    from vyre.lower.source import Source

MIN_BYTES = 16
"""A buffer of no bytes cannot exist in OpenCL; its length word still says 0."""

_ALIGN = 16
_POCL = "Portable Computing Language"
_MAX_INVOCATIONS_X = 1 << 31
_MAX_GRID_YZ = 65_535
"""What one launch may be: NVIDIA's driver has these limits, and 32-bit devices the first."""


class OpenClBackend:
    """The first OpenCL device, GPUs before others, or the one given."""

    name = "opencl"

    def __init__(self, *, device: Any = None) -> None:
        cl: Any = importlib.import_module("pyopencl")
        self._cl = cl
        self.device = device or _choose(cl)
        try:
            self.context = cl.Context([self.device])
            self.queue = cl.CommandQueue(self.context)
        except cl.Error as error:
            raise VyreError(
                f"the OpenCL device {self.device.name} cannot be opened: {error}.",
                fix="repair its driver, or choose another backend.",
            ) from None
        self.shares_memory = bool(self.device.host_unified_memory)

    def describe(self) -> BackendInfo:
        device = self.device
        try:
            return BackendInfo(
                name=self.name,
                version=str(device.version).strip(),
                device=str(device.name).strip(),
                driver=str(device.driver_version).strip(),
                toolchain=f"pyopencl {self._cl.VERSION_TEXT}, {str(device.platform.version).strip()}",
                limits=BackendLimits(buffer_bytes=int(device.max_mem_alloc_size)),
            )
        except self._cl.Error as error:
            raise VyreError(f"the OpenCL device is lost: {error}.", fix="choose another backend.") from None

    def compile(self, program: Program) -> OpenClExecutable:
        source = emit(prepare(program), backend=self.name)
        self._require_room(program)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a compiler's remarks are no trouble of the user's
            try:
                built = self._cl.Program(self.context, source.text).build(options=self._options(source))
                kernel = self._cl.Kernel(built, source.entry)
            except self._cl.Error as error:
                raise VyreError(
                    f"the OpenCL compiler of {self.device.name} rejects the kernel: {error}\n{source.text}",
                    fix="report it with the source above; it is a fault of the lowering or of the driver.",
                ) from None
        return OpenClExecutable(self, source, kernel)

    def _options(self, source: Source) -> list[str]:
        # Around barriers PoCL 3.1 miscompiles what its optimiser has rearranged: it loses stores, and
        # stores past a bounds check (`docs/upstream-bugs.md`). Unoptimised, every program tried is right.
        spoilt = self.device.platform.name == _POCL and "barrier(" in source.text
        return ["-cl-std=CL1.2", "-cl-opt-disable"] if spoilt else ["-cl-std=CL1.2"]

    def _require_room(self, program: Program) -> None:
        device = self.device
        x, y, z = program.workgroup_size
        limit = int(device.max_work_group_size)
        sizes = [int(n) for n in device.max_work_item_sizes]
        if x * y * z > limit or any(n > m for n, m in zip((x, y, z), sizes, strict=False)):
            raise UnsupportedByBackend(
                f"a workgroup of {x} x {y} x {z} invocations",
                self.name,
                why=f"{device.name} has at most {limit}, and at most {sizes} along its axes",
                fix=f"use a workgroup of at most {limit} invocations.",
            )
        shared = sum(b.count * b.element.stride for b in program.buffers if b.access.shared)
        if shared > int(device.local_mem_size):
            raise UnsupportedByBackend(
                f"{shared} bytes of workgroup memory",
                self.name,
                why=f"{device.name} has {int(device.local_mem_size)}",
                fix="use smaller workgroup buffers.",
            )
        bound = sum(not b.access.shared for b in program.buffers)
        limit = int(device.max_parameter_size)
        needed = bound * 8 + 4 * (3 + bound)
        if needed > limit:
            raise DispatchError(
                f"{bound} buffers need {needed} bytes of kernel arguments; {device.name} has {limit}.",
                fix="pack several buffers into one.",
            )


class OpenClExecutable:
    """A built kernel. A device with memory of its own works on copies; others on the host's memory."""

    def __init__(self, backend: OpenClBackend, source: Source, kernel: Any) -> None:
        self._backend = backend
        self._kernel = kernel
        self._lock = threading.Lock()  # a kernel object holds its arguments
        self.source = source

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        cl = self._backend._cl
        try:
            with self._lock:
                self._run(buffers, workgroups)
        except cl.Error as error:
            raise DispatchError(
                f"the OpenCL device {self._backend.device.name} refused the run: {error}.",
                fix="use smaller buffers or another backend; the process can go on.",
            ) from None

    def _run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        import numpy as np

        cl, queue = self._backend._cl, self._backend.queue
        source = self.source
        memories = [self._bind(buffers[decl.name]) for decl in source.buffers]
        lengths = {b.name: buffers[b.name].nbytes // b.element.stride for b in source.buffers}
        size = source.workgroup_size
        limits = (max(1, _MAX_INVOCATIONS_X // size[0]), _MAX_GRID_YZ, _MAX_GRID_YZ)
        try:
            for base, grid in launches(workgroups, limits):
                hidden = [np.uint32(word) for word in source.hidden_values(lengths, base)]
                total = [n * s for n, s in zip(grid, size, strict=True)]
                self._kernel(queue, total, list(size), *memories, *hidden)
            for decl, memory in zip(source.buffers, memories, strict=True):
                view = buffers[decl.name]
                if decl.access.writable and view.nbytes:
                    # Where the memory is shared this copies nothing and makes the results visible.
                    cl.enqueue_copy(queue, view, memory)
            queue.finish()
        finally:
            with suppress(cl.Error):  # the error that led here is the one to report
                queue.finish()  # after an error too, nothing may touch the host's memory any more
            for memory in memories:
                memory.release()

    def _bind(self, view: memoryview) -> Any:
        import numpy as np

        cl, context = self._backend._cl, self._backend.context
        flags = cl.mem_flags
        if view.nbytes < MIN_BYTES:
            host = np.zeros(MIN_BYTES, np.uint8)
            host[: view.nbytes] = np.frombuffer(view, np.uint8) if view.nbytes else 0
            return cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=host)
        host = np.frombuffer(view, np.uint8)
        if self._backend.shares_memory and host.ctypes.data % _ALIGN == 0:
            access = flags.READ_ONLY if view.readonly else flags.READ_WRITE
            return cl.Buffer(context, access | flags.USE_HOST_PTR, hostbuf=host)
        memory = cl.Buffer(context, flags.READ_WRITE, size=view.nbytes)
        cl.enqueue_copy(self._backend.queue, memory, host)
        return memory


def _choose(cl: Any) -> Any:
    devices: list[Any] = []
    platforms: list[Any] = []
    with suppress(cl.Error):  # a loader without any platform
        platforms += cl.get_platforms()
    for platform in platforms:
        try:
            devices += platform.get_devices()
        except cl.Error:  # one platform without devices must not hide the others
            continue
    if not devices:
        raise VyreError(
            "no OpenCL device was found.",
            fix="install a driver, for example apt-get install pocl-opencl-icd.",
        )
    return max(devices, key=lambda d: bool(d.type & cl.device_type.GPU))
