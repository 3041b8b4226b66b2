"""CUDA through NVRTC and the driver. Compiling to PTX needs neither a GPU nor a driver."""

from __future__ import annotations

import os
import weakref
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from vyre.backends.canaries.examined import Examined
from vyre.backends.cuda.arrays import LEGACY
from vyre.backends.cuda.driver import bindings, driver_version
from vyre.backends.cuda.driver import check as _check
from vyre.backends.cuda.launch import AddressedLaunch, CudaLaunch, LaunchArguments
from vyre.backends.cuda.memory import CudaMemory, VisibleMemory, adopt, allocate, borrow, reserve
from vyre.backends.cuda.order import MemoryUse
from vyre.backends.cuda.plain import PlainReader
from vyre.backends.cuda.pool import CudaPool, open_pool
from vyre.backends.forks import Home
from vyre.backends.kernel_cache import kept
from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.backends.sources import keep_source, ready_source
from vyre.errors import (
    BackendUnavailable,
    SourceRejected,
    UnsupportedByBackend,
    VyreError,
)
from vyre.ir.grid import require_grid
from vyre.ir.limits import MAX_UNIFORM_BYTES
from vyre.lower.intrinsics import check_intrinsics, cuda_hardware
from vyre.lower.matrices import MATRICES
from vyre.lower.source import launches
from vyre.lower.version import lowering_version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from vyre.backends.cuda.plan import CudaPlan
    from vyre.backends.device_buffer import DeviceBuffer
    from vyre.ir.outline import Outline
    from vyre.ir.program import Program
    from vyre.lower.source import Source
    from vyre.lower.ways import Ways

OPTIONS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17")
"""Strict floats by option as well as by instruction: nothing is fused, flushed or approximated."""

_MOST_COMPILERS = 8
_MAX_SHARED = 48 * 1024
_MAX_INVOCATIONS = 1024
_MAX_DEPTH = 64
_MAX_GRID = (2**31 - 1, 65_535, 65_535)


def compile_source(source: Source, architecture: str) -> bytes:
    """PTX for an architecture such as `compute_90`, or a cubin for `sm_90`."""
    nvrtc = bindings("nvrtc")
    program = _check(nvrtc.nvrtcCreateProgram(source.text.encode(), b"vyre.cu", 0, [], []))
    options = [f"--gpu-architecture={architecture}".encode(), *[o.encode() for o in OPTIONS]]
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = bytes(_check(nvrtc.nvrtcGetProgramLogSize(program)))
            _check(nvrtc.nvrtcGetProgramLog(program, log))
            raise SourceRejected("NVRTC", log.rstrip(bytes(1)).decode(), source.text)
        binary = architecture.startswith("sm_")
        size = _check((nvrtc.nvrtcGetCUBINSize if binary else nvrtc.nvrtcGetPTXSize)(program))
        code = bytes(size)
        _check((nvrtc.nvrtcGetCUBIN if binary else nvrtc.nvrtcGetPTX)(program, code))
        return code
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def choose_architecture(capability: int, supported: list[int]) -> str:
    """A cubin for the device where NVRTC knows it, else PTX that its driver compiles further."""
    if capability in supported:
        return f"sm_{capability}"
    older = [known for known in supported if known < capability]
    if not older:
        raise BackendUnavailable(
            f"NVRTC compiles for compute capability {min(supported)} and later; the device has {capability}.",
            fix="install an older nvidia-cuda-nvrtc, or choose another backend.",
        )
    return f"compute_{max(older)}"


class CudaBackend(Examined):
    """One NVIDIA GPU, through its primary context."""

    name = "cuda"
    pool: CudaPool | None = None

    def __init__(self, *, ordinal: int = 0, canaries: bool = True) -> None:
        self.home = Home(self.name)
        driver, nvrtc = bindings("driver"), bindings("nvrtc")
        self.driver = driver
        self.ordinal = ordinal
        try:
            _check(driver.cuInit(0))
            self.device = _check(driver.cuDeviceGet(ordinal))
            self.context = _check(driver.cuDevicePrimaryCtxRetain(self.device))
        except (RuntimeError, VyreError) as error:  # without a driver the bindings raise RuntimeError
            why = error.message if isinstance(error, VyreError) else str(error)
            raise BackendUnavailable(
                f"no CUDA device can be used: {why.rstrip('.')}.",
                fix="install NVIDIA's driver, or choose another backend.",
            ) from None
        attribute = driver.CUdevice_attribute
        major = self._attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        _, supported = nvrtc.nvrtcGetSupportedArchs()
        self.architecture = choose_architecture(10 * major + minor, list(supported))
        self._warps = cuda_hardware(10 * major + minor)
        self.stream = driver.CUstream(LEGACY)
        self.pool = open_pool(driver, ordinal, self.context, self.stream)
        self._toolchain = "NVRTC {}.{}".format(*_check(nvrtc.nvrtcVersion()))
        if canaries:
            self.examine_later()

    @property
    def compilers(self) -> int:
        """NVRTC compiles in any number of threads, and lowering goes on meanwhile."""
        return min(_MOST_COMPILERS, os.cpu_count() or 1)

    @cached_property
    def ways(self) -> Ways:
        """Which float operations are native."""
        from vyre.lower.ways import CUDA_WAYS

        return CUDA_WAYS

    def _attribute(self, attribute: Any) -> int:
        return int(_check(self.driver.cuDeviceGetAttribute(attribute, self.device)))

    def enter(self) -> None:
        """Makes the device's context current in this thread, as every call of the driver needs it."""
        self.home.require()
        answer = self.driver.cuCtxSetCurrent(self.context)
        if answer[0] != 0:
            _check(answer)

    def synchronize(self) -> None:
        self.enter()
        _check(self.driver.cuCtxSynchronize())

    def allocate(self, nbytes: int) -> CudaMemory:
        return allocate(self, nbytes)

    def reserve(self, nbytes: int) -> CudaMemory:
        """Memory that holds anything."""
        return reserve(self, nbytes)

    def borrow(self, data: memoryview) -> CudaMemory:
        return borrow(self, data)

    def clear(self, address: int, nbytes: int) -> None:
        CudaMemory(self, address, nbytes).clear()

    def replayed(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """Our own launches that follow each other become a graph; what stands between is called."""
        from vyre.backends.cuda.graph import CudaGraph

        parts: list[Callable[[], None]] = []
        for ours, row in groupby(launches, lambda launch: isinstance(launch, CudaLaunch)):
            found = list(row)
            parts += [CudaGraph(self, cast("list[CudaLaunch]", found))] if ours else found

        def replay() -> None:
            for part in parts:
                part()

        return parts[0] if len(parts) == 1 else replay

    def import_array(self, value: Any) -> DeviceBuffer:
        """A buffer that shares the memory of an array of torch, CuPy or Numba on this GPU."""
        from vyre.backends.cuda.arrays import from_plain, read_array
        from vyre.backends.device_buffer import DeviceBuffer

        plain = self._read_plain(value)
        if plain is not None and not self._read_plain.ordered(value.__class__):
            plain = None
        array = from_plain(plain[0], plain[2], value, self.ordinal) if plain else read_array(value)
        return DeviceBuffer(self, adopt(self, array), array.dtype, array.shape, readonly=array.readonly)

    def located(self, value: Any) -> tuple[int, int, np.dtype[Any], object] | None:
        """Of an array of torch or CuPy whose work is on our stream too."""
        found = self._read_plain(value)
        return (*found, value) if found and self._read_plain.ordered(value.__class__) else None

    def fresh(
        self, kind: type, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Callable[[], tuple[Any, int] | None] | None:
        return self._read_plain.fresh(kind, shape, dtype)

    def visible(self, nbytes: int) -> tuple[VisibleMemory, NDArray[np.uint8]]:
        memory = VisibleMemory(self, nbytes)
        return memory, memory.bytes

    def wait(self) -> None:
        self.enter()
        _check(self.driver.cuStreamSynchronize(self.stream))

    @cached_property
    def _read_plain(self) -> PlainReader:
        return PlainReader(self.ordinal)

    def _device_name(self) -> str:
        name: bytes = _check(self.driver.cuDeviceGetName(128, self.device))
        return f"{name.split(bytes(1))[0].decode()} ({self.architecture})"

    def describe(self) -> BackendInfo:
        driver = self.driver
        version: int = _check(driver.cuDriverGetVersion())
        memory: int = _check(driver.cuDeviceTotalMem(self.device))
        return BackendInfo(
            name=self.name,
            version=f"CUDA {version // 1000}.{version % 1000 // 10}",
            device=self._device_name(),
            driver=driver_version(),
            toolchain=self._toolchain,
            limits=BackendLimits(
                buffer_bytes=memory,
                workgroup_invocations=_MAX_INVOCATIONS,
                workgroup_size_x=_MAX_INVOCATIONS,
                workgroup_size_y=_MAX_INVOCATIONS,
                workgroup_size_z=_MAX_DEPTH,
                workgroup_bytes=_MAX_SHARED,
                uniform_bytes=MAX_UNIFORM_BYTES,
            ),
            categories=("A", "C"),
            hardware=self.hardware,
        )

    @cached_property
    def hardware(self) -> frozenset[str]:
        """The instructions of warps, and those for matrices that this device was seen to have."""
        key = [*self._place(), lowering_version()]
        try:
            found = kept("matrices", key, self._tried)
        except VyreError:  # no memory, say: nothing is known, and nothing is kept
            return self._warps
        return self._warps | frozenset(found.decode().split())

    def _tried(self) -> bytes:
        from vyre.backends.matrices import admitted

        return " ".join(sorted(admitted(self._trial))).encode()

    def _place(self) -> tuple[str, ...]:
        """The device, and what compiles for it."""
        return self._device_name(), driver_version(), self._toolchain

    def _trial(self, program: Program) -> Callable[[Mapping[str, memoryview], tuple[int, int, int]], None]:
        return self._compiled(program, self.ways, MATRICES).run

    def compile(self, program: Program, *, ways: Ways | None = None) -> CudaExecutable:
        """`ways` overrides which float operations are native."""
        self.home.require()
        x, y, z = program.workgroup_size
        if x * y * z > _MAX_INVOCATIONS or z > _MAX_DEPTH:
            raise UnsupportedByBackend(
                f"a workgroup of {x} x {y} x {z}", self.name, why="CUDA blocks are smaller"
            )
        shared = sum(b.count * b.element.stride for b in program.buffers if b.access.shared)
        if shared > _MAX_SHARED:
            raise UnsupportedByBackend(
                f"{shared} bytes of workgroup memory", self.name, why=f"a block has {_MAX_SHARED}"
            )
        parts = (self.name, self.architecture, *OPTIONS, *self._place()) if ways is None else None
        found = ready_source(program, parts) if parts is not None and self.examines else None
        if found is not None:
            return self._loaded(found)
        self.require_sound(program)
        made = self._compiled(program, self.ways if ways is None else ways, None)
        if parts is not None and self.examines:  # now: another thread may have been examining it
            keep_source(program, parts, made.source)
        return made

    def _compiled(self, program: Program, ways: Ways, hardware: frozenset[str] | None) -> CudaExecutable:
        """`hardware` is what is taken for granted while it is tried."""
        from vyre.lower.cuda import emit
        from vyre.lower.prepare import prepare

        prepared = prepare(program, ways=ways)
        matrices = any(op.hardware in MATRICES for op in prepared.intrinsics.values())
        check_intrinsics(
            prepared.intrinsics, self.name, hardware or (self.hardware if matrices else self._warps)
        )
        return self._loaded(emit(prepared, backend=self.name))

    def _loaded(self, source: Source) -> CudaExecutable:
        key = [source.text, self.architecture, *OPTIONS, self._toolchain]
        code = kept(self.name, key, lambda: compile_source(source, self.architecture))
        self.enter()
        module = _check(self.driver.cuModuleLoadData(code))
        function = _check(self.driver.cuModuleGetFunction(module, source.entry.encode()))
        return CudaExecutable(self, source, module, function)


class CudaExecutable:
    """A loaded kernel. `run` copies through the device; `launch` works on device addresses."""

    def __init__(self, backend: CudaBackend, source: Source, module: Any, function: Any) -> None:
        self._backend = backend
        self._driver = backend.driver
        self._function = function
        self.source = source
        unload = weakref.finalize(self, _unload, backend.driver, backend.home, backend.context, module)
        unload.atexit = False  # the process takes its modules with it, and the driver may be gone first

    @property
    def lowering(self) -> str:
        """Which way the float operations took, in words."""
        return self.source.lowering

    def assembly(self) -> str:
        """The kernel as PTX."""
        architecture = self._backend.architecture.replace("sm_", "compute_")
        return compile_source(self.source, architecture).rstrip(bytes(1)).decode()

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        memories: list[CudaMemory] = []
        try:
            for decl in self.source.buffers:
                memories.append(self._backend.borrow(buffers[decl.name]))  # noqa: PERF401 - all are freed
            self.bind(memories, workgroups)()
            self._backend.synchronize()
            for decl, memory in zip(self.source.buffers, memories, strict=True):
                if decl.access.writable and memory.nbytes:
                    memory.read(buffers[decl.name])
        finally:
            for memory in memories:
                memory.free()  # after a failed launch this fails too, and changes nothing

    def bind(self, memories: Sequence[CudaMemory], workgroups: tuple[int, int, int]) -> CudaLaunch:
        sized = zip(self.source.buffers, memories, strict=True)
        lengths = {decl.name: memory.nbytes // decl.element.stride for decl, memory in sized}
        return self._bound([memory.address for memory in memories], lengths, workgroups)

    def at(self, lengths: tuple[int, ...], workgroups: tuple[int, int, int]) -> AddressedLaunch:
        require_grid(workgroups, self.source.workgroup_size, self._backend.name)
        named = {decl.name: length for decl, length in zip(self.source.buffers, lengths, strict=True)}
        parts = [
            (grid, self.source.hidden_values(named, base)) for base, grid in launches(workgroups, _MAX_GRID)
        ]
        return AddressedLaunch(self, self._backend, self._function, self.source.workgroup_size, parts)

    def plan(self, program: Outline, prepare: Callable[..., Any]) -> CudaPlan:
        from vyre.backends.cuda.plan import CudaPlan

        return CudaPlan(program, self._backend, prepare)

    def launch(
        self,
        addresses: list[int],
        lengths: dict[str, int],
        workgroups: tuple[int, int, int],
        *,
        stream: int = 0,
    ) -> None:
        """Queues the grid on device memory, in several launches where a grid axis is too long for one."""
        self._bound(addresses, lengths, workgroups, stream=stream)()

    def _bound(
        self,
        addresses: list[int],
        lengths: dict[str, int],
        workgroups: tuple[int, int, int],
        *,
        stream: int = 0,
    ) -> CudaLaunch:
        require_grid(workgroups, self.source.workgroup_size, self._backend.name)
        parts = [
            (grid, LaunchArguments(addresses, self.source.hidden_values(lengths, base)))
            for base, grid in launches(workgroups, _MAX_GRID)
        ]
        enter, queue = self._backend.enter, self._driver.cuLaunchKernel
        on = self._driver.CUstream(stream)
        uses = [
            MemoryUse(address, lengths[decl.name] * decl.element.stride, decl.access.writable)
            for decl, address in zip(self.source.buffers, addresses, strict=True)
        ]
        return CudaLaunch(self, enter, queue, self._function, self.source.workgroup_size, parts, on, uses)


def _unload(driver: Any, home: Home, context: Any, module: Any) -> None:
    """Drops a module in whatever thread collects its owner. A lost device has dropped it already."""
    if not home.here:
        return
    driver.cuCtxSetCurrent(context)
    driver.cuModuleUnload(module)
