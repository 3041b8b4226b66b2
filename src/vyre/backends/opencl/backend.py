"""OpenCL through pyopencl: any conforming device, PoCL on a machine without a GPU."""

from __future__ import annotations

import importlib
import threading
import warnings
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vyre.backends.canaries.examined import Examined
from vyre.backends.forks import Home, abandon, renew_after_fork
from vyre.backends.kernel_cache import kept
from vyre.backends.opencl.memory import MIN_BYTES, OpenClMemory, faults
from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.backends.subgroups import opencl_hardware
from vyre.errors import BackendUnavailable, DeviceLost, DispatchError, SourceRejected, UnsupportedByBackend
from vyre.ir.buffers import BufferAccess
from vyre.ir.grid import require_grid
from vyre.ir.limits import MAX_UNIFORM_BYTES
from vyre.lower.intrinsics import check_intrinsics
from vyre.lower.opencl import emit
from vyre.lower.prepare import prepare
from vyre.lower.source import launches
from vyre.lower.ways import opencl_ways

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vyre.ir.program import Program
    from vyre.lower.prepare import Prepared
    from vyre.lower.source import Source
    from vyre.lower.ways import Ways

_ALIGN = 16
_EXACT = "-cl-fp32-correctly-rounded-divide-sqrt"
_DIVIDING = frozenset(
    (f"{fmt}.{name}", "native") for fmt in ("f32", "f16", "bf16") for name in ("div", "sqrt")
)
_POCL = "Portable Computing Language"
_STACK = 2 << 20
"""A device of the CPU has the private memory of a whole workgroup on the stack of a thread, usually of 8 MiB,
and ends the process where that is too little."""
_ARGUMENT, _BASES = 12, 12
"""Bytes of kernel arguments: address and length of a buffer, and once the first workgroup along each axis."""
_MAX_INVOCATIONS_X = 1 << 31
_MAX_GRID_YZ = 65_535
"""What one launch may be: NVIDIA's driver has these limits, and 32-bit devices the first."""


class OpenClBackend(Examined):
    """The first OpenCL device, GPUs before others, or the one given."""

    name = "opencl"

    def __init__(self, *, device: Any = None, canaries: bool = True) -> None:
        self.home = Home(self.name)
        cl: Any = importlib.import_module("pyopencl")
        self.cl = cl
        self.device = device or _choose(cl)
        try:
            self.context = cl.Context([self.device])
            self.queue = cl.CommandQueue(self.context)
        except cl.Error as error:
            raise BackendUnavailable(
                f"the OpenCL device {self.device.name} cannot be opened: {error}.",
                fix="repair its driver, or choose another backend.",
            ) from None
        self.shares_memory = bool(self.device.host_unified_memory)
        renew_after_fork(self)
        if canaries:
            self.examine_later()

    def renew(self) -> None:
        """In the child of a fork: releasing these would call into a driver that is not there."""
        abandon([self, self.context, self.queue])

    def describe(self) -> BackendInfo:
        device = self.device
        try:
            return BackendInfo(
                name=self.name,
                version=str(device.version).strip(),
                device=str(device.name).strip(),
                driver=str(device.driver_version).strip(),
                toolchain=f"pyopencl {self.cl.VERSION_TEXT}, {str(device.platform.version).strip()}",
                limits=BackendLimits(
                    buffer_bytes=int(device.max_mem_alloc_size),
                    buffers=(int(device.max_parameter_size) - _BASES) // _ARGUMENT,
                    workgroup_invocations=int(device.max_work_group_size),
                    workgroup_size_x=int(device.max_work_item_sizes[0]),
                    workgroup_size_y=int(device.max_work_item_sizes[1]),
                    workgroup_size_z=int(device.max_work_item_sizes[2]),
                    workgroup_bytes=int(device.local_mem_size),
                    uniform_bytes=MAX_UNIFORM_BYTES,
                ),
                categories=("A", "C") if self.hardware else ("A",),
                hardware=self.hardware,
            )
        except self.cl.Error as error:
            raise DeviceLost(f"the OpenCL device is lost: {error}.", fix="choose another backend.") from None

    @cached_property
    def ways(self) -> Ways:
        """What the device promises by the bits that it reports."""
        bits = self.cl.device_fp_config
        single = int(self.device.single_fp_config)
        nearest = bits.DENORM | bits.INF_NAN | bits.ROUND_TO_NEAREST
        return opencl_ways(
            denormals=single & nearest == nearest,
            divide=bool(single & bits.CORRECTLY_ROUNDED_DIVIDE_SQRT),
            doubles="cl_khr_fp64" in str(self.device.extensions).split(),
            chooses="nvidia" not in str(self.device.vendor).lower(),
        )

    @cached_property
    def hardware(self) -> frozenset[str]:
        """The instructions that the device was seen to have."""
        return opencl_hardware(self.device, lambda program: self._build(program, prepare(program)).run)

    def compile(self, program: Program, *, ways: Ways | None = None) -> OpenClExecutable:
        """`ways` overrides which float operations are native."""
        self.home.require()
        self.require_sound(program)
        prepared = prepare(program, ways=self.ways if ways is None else ways)
        if prepared.intrinsics:
            check_intrinsics(prepared.intrinsics, self.name, self.hardware)
        return self._build(program, prepared)

    def _build(self, program: Program, prepared: Prepared) -> OpenClExecutable:
        source = emit(prepared, backend=self.name)
        self._require_room(program)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a compiler's remarks do not concern the user
            try:
                kernel = self.cl.Kernel(self._built(source), source.entry)
            except self.cl.Error as error:
                compiler = f"the OpenCL compiler of {str(self.device.name).strip()}"
                raise SourceRejected(compiler, str(error), source.text) from None
        return OpenClExecutable(self, source, kernel)

    def _built(self, source: Source) -> Any:
        """The program from what the driver made of it before, or from its source."""
        cl, options = self.cl, self._options(source)
        fresh: list[Any] = []

        def build() -> bytes:
            fresh.append(cl.Program(self.context, source.text).build(options=options, cache_dir=False))
            return bytes(fresh[0].get_info(cl.program_info.BINARIES)[0])

        device = self.device
        facts = (device.name, device.driver_version, device.version, device.platform.version)
        key = [source.text, *options, *(str(fact) for fact in facts), cl.VERSION_TEXT]
        binary = kept(self.name, key, build)
        if fresh:
            return fresh[0]
        try:
            return cl.Program(self.context, [self.device], [binary]).build(options=options)
        except cl.Error:  # a driver that does not take its own binary back
            return cl.Program(self.context, source.text).build(options=options, cache_dir=False)

    def allocate(self, nbytes: int) -> OpenClMemory:
        return OpenClMemory(self, nbytes)

    def borrow(self, data: memoryview) -> OpenClMemory:
        memory = OpenClMemory(self, data.nbytes)
        if data.nbytes:
            memory.write(data)
        return memory

    def _options(self, source: Source) -> list[str]:
        # Around barriers PoCL 3.1 miscompiles what its optimiser has rearranged: it loses stores, and
        # stores past a bounds check (`docs/upstream-bugs.md`). Unoptimised, every program tried is right.
        spoilt = self.device.platform.name == _POCL and "barrier(" in source.text
        newer = "cl_khr_subgroups" in source.text and "cl_khr_subgroups" in self.device.extensions
        standard = "-cl-std=CL3.0" if newer else "-cl-std=CL1.2"
        exact = [_EXACT] if _DIVIDING.intersection(source.ways) else []
        return [standard, *exact, "-cl-opt-disable"] if spoilt else [standard, *exact]

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
        private = (b for b in program.buffers if b.access is BufferAccess.Private)
        stacked = x * y * z * sum(b.count * b.element.stride for b in private)
        if stacked > _STACK and device.type & self.cl.device_type.CPU:
            raise UnsupportedByBackend(
                f"{stacked} bytes of private memory in a workgroup",
                self.name,
                why=f"{device.name} keeps it on the stack of a thread, which has room for {_STACK}",
                fix="use smaller private buffers or a smaller workgroup.",
            )
        bound = sum(b.access.bound for b in program.buffers)
        limit = int(device.max_parameter_size)
        needed = bound * _ARGUMENT + _BASES
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
        renew_after_fork(self)

    def renew(self) -> None:
        """In the child of a fork: as for the backend."""
        abandon([self._kernel])

    @property
    def lowering(self) -> str:
        """Which way the float operations took, in words."""
        return self.source.lowering

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._backend.home.require()
        require_grid(workgroups, self.source.workgroup_size, self._backend.name)
        with faults(self._backend), self._lock:
            self._run(buffers, workgroups)

    def bind(self, memories: Sequence[OpenClMemory], workgroups: tuple[int, int, int]) -> Callable[[], None]:
        backend, lock = self._backend, self._lock
        backend.home.require()
        require_grid(workgroups, self.source.workgroup_size, backend.name)
        buffers = [memory.buffer for memory in memories]
        parts = list(self._parts([memory.nbytes for memory in memories], workgroups))

        def launch() -> None:
            backend.home.require()
            with faults(backend), lock:
                for total, size, hidden in parts:
                    self._kernel(backend.queue, total, size, *buffers, *hidden)
                backend.queue.flush()

        return launch

    def _parts(
        self, sizes: Sequence[int], workgroups: tuple[int, int, int]
    ) -> Iterator[tuple[list[int], list[int], list[Any]]]:
        """The launches of a grid: invocations in all and of a workgroup, and the hidden words."""
        import numpy as np

        source = self.source
        sized = zip(source.buffers, sizes, strict=True)
        lengths = {decl.name: nbytes // decl.element.stride for decl, nbytes in sized}
        size = source.workgroup_size
        limits = (max(1, _MAX_INVOCATIONS_X // size[0]), _MAX_GRID_YZ, _MAX_GRID_YZ)
        for base, grid in launches(workgroups, limits):
            hidden = [np.uint32(word) for word in source.hidden_values(lengths, base)]
            yield [n * s for n, s in zip(grid, size, strict=True)], list(size), hidden

    def _run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        cl, queue = self._backend.cl, self._backend.queue
        source = self.source
        memories: list[Any] = []
        try:
            for decl in source.buffers:
                memories.append(self._bind(buffers[decl.name]))  # noqa: PERF401 - those made so far are released
            sizes = [buffers[decl.name].nbytes for decl in source.buffers]
            for total, size, hidden in self._parts(sizes, workgroups):
                self._kernel(queue, total, size, *memories, *hidden)
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

        cl, context = self._backend.cl, self._backend.context
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
        raise BackendUnavailable(
            "no OpenCL device was found.",
            fix="install a driver, for example apt-get install pocl-opencl-icd.",
        )
    return max(devices, key=lambda d: bool(d.type & cl.device_type.GPU))
