"""CUDA through NVRTC and the driver. Compiling to PTX needs neither a GPU nor a driver."""

from __future__ import annotations

import ctypes
import importlib
import weakref
from typing import TYPE_CHECKING, Any

from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare
from vyre.lower.source import launches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program
    from vyre.lower.source import Source

OPTIONS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17")
"""Strict floats by option as well as by instruction: nothing is fused, flushed or approximated."""

MIN_BYTES = 16
"""The least that is allocated for a buffer, whose length may be 0."""

_LOST = "choose another backend; CUDA may need a new process."
_FIXES = {
    "CUDA_ERROR_OUT_OF_MEMORY": "use smaller buffers, or free memory on the device.",
    "CUDA_ERROR_NO_DEVICE": "choose another backend.",
}
_MAX_SHARED = 48 * 1024
_MAX_INVOCATIONS = 1024
_MAX_GRID = (2**31 - 1, 65_535, 65_535)


def compile_source(source: Source, architecture: str) -> bytes:
    """PTX for an architecture such as `compute_90`, or a cubin for `sm_90`."""
    nvrtc = _bindings("nvrtc")
    program = _check(nvrtc.nvrtcCreateProgram(source.text.encode(), b"vyre.cu", 0, [], []))
    options = [f"--gpu-architecture={architecture}".encode(), *[o.encode() for o in OPTIONS]]
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = bytes(_check(nvrtc.nvrtcGetProgramLogSize(program)))
            _check(nvrtc.nvrtcGetProgramLog(program, log))
            raise VyreError(
                f"NVRTC rejects the kernel: {log.rstrip(bytes(1)).decode()}\n{source.text}",
                fix="report it with the source above; it is a fault of the lowering.",
            )
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
        raise VyreError(
            f"NVRTC compiles for compute capability {min(supported)} and later; the device has {capability}.",
            fix="install an older nvidia-cuda-nvrtc, or choose another backend.",
        )
    return f"compute_{max(older)}"


class CudaBackend:
    """One NVIDIA GPU, through its primary context."""

    name = "cuda"

    def __init__(self, *, ordinal: int = 0) -> None:
        driver, nvrtc = _bindings("driver"), _bindings("nvrtc")
        self._driver = driver
        try:
            _check(driver.cuInit(0))
            self.device = _check(driver.cuDeviceGet(ordinal))
            self.context = _check(driver.cuDevicePrimaryCtxRetain(self.device))
        except (RuntimeError, VyreError) as error:  # without a driver the bindings raise RuntimeError
            why = error.message if isinstance(error, VyreError) else str(error)
            raise VyreError(
                f"no CUDA device can be used: {why.rstrip('.')}.",
                fix="install NVIDIA's driver, or choose another backend.",
            ) from None
        attribute = driver.CUdevice_attribute
        major = self._attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        _, supported = nvrtc.nvrtcGetSupportedArchs()
        self.architecture = choose_architecture(10 * major + minor, list(supported))
        self._toolchain = "NVRTC {}.{}".format(*_check(nvrtc.nvrtcVersion()))

    def _attribute(self, attribute: Any) -> int:
        return int(_check(self._driver.cuDeviceGetAttribute(attribute, self.device)))

    def enter(self) -> None:
        """Makes the device's context current in this thread, as every call of the driver needs it."""
        _check(self._driver.cuCtxSetCurrent(self.context))

    def describe(self) -> BackendInfo:
        driver = self._driver
        name: bytes = _check(driver.cuDeviceGetName(128, self.device))
        version: int = _check(driver.cuDriverGetVersion())
        memory: int = _check(driver.cuDeviceTotalMem(self.device))
        return BackendInfo(
            name=self.name,
            version=f"CUDA {version // 1000}.{version % 1000 // 10}",
            device=f"{name.split(bytes(1))[0].decode()} ({self.architecture})",
            driver=_driver_version(),
            toolchain=self._toolchain,
            limits=BackendLimits(buffer_bytes=memory),
        )

    def compile(self, program: Program) -> CudaExecutable:
        x, y, z = program.workgroup_size
        if x * y * z > _MAX_INVOCATIONS or z > 64:
            raise UnsupportedByBackend(
                f"a workgroup of {x} x {y} x {z}", self.name, why="CUDA blocks are smaller"
            )
        shared = sum(b.count * b.element.stride for b in program.buffers if b.access.shared)
        if shared > _MAX_SHARED:
            raise UnsupportedByBackend(
                f"{shared} bytes of workgroup memory", self.name, why=f"a block has {_MAX_SHARED}"
            )
        source = emit(prepare(program), backend=self.name)
        code = compile_source(source, self.architecture)
        self.enter()
        module = _check(self._driver.cuModuleLoadData(code))
        function = _check(self._driver.cuModuleGetFunction(module, source.entry.encode()))
        return CudaExecutable(self, source, module, function)


class CudaExecutable:
    """A loaded kernel. `run` copies through the device; `launch` works on device addresses."""

    def __init__(self, backend: CudaBackend, source: Source, module: Any, function: Any) -> None:
        self._backend = backend
        self._driver = backend._driver
        self._function = function
        self.source = source
        unload = weakref.finalize(self, _unload, backend._driver, backend.context, module)
        unload.atexit = False  # the process takes its modules with it, and the driver may be gone first

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        driver = self._driver
        self._backend.enter()
        addresses: list[Any] = []
        try:
            for decl in self.source.buffers:
                view = buffers[decl.name]
                addresses.append(_check(driver.cuMemAlloc(max(MIN_BYTES, view.nbytes))))
                if view.nbytes:
                    _check(driver.cuMemcpyHtoD(addresses[-1], _address(view), view.nbytes))
            lengths = {b.name: buffers[b.name].nbytes // b.element.stride for b in self.source.buffers}
            self.launch([int(a) for a in addresses], lengths, workgroups)
            _check(driver.cuCtxSynchronize())
            for decl, address in zip(self.source.buffers, addresses, strict=True):
                view = buffers[decl.name]
                if decl.access.writable and view.nbytes:
                    _check(driver.cuMemcpyDtoH(_address(view), address, view.nbytes))
        finally:
            for address in addresses:
                driver.cuMemFree(address)  # after a failed launch this fails too, and changes nothing

    def launch(
        self,
        addresses: list[int],
        lengths: dict[str, int],
        workgroups: tuple[int, int, int],
        *,
        stream: int = 0,
    ) -> None:
        """Queues the grid on device memory, in several launches where a grid axis is too long for one."""
        kinds = (ctypes.c_void_p,) * len(addresses) + (ctypes.c_uint32,) * len(self.source.hidden)
        for base, grid in launches(workgroups, _MAX_GRID):
            values = (*addresses, *self.source.hidden_values(lengths, base))
            status = self._driver.cuLaunchKernel(
                self._function, *grid, *self.source.workgroup_size, 0, stream, (values, kinds), 0
            )
            _check(status)


def _bindings(module: str) -> Any:
    """A module of `cuda.bindings`, which carries no types."""
    return importlib.import_module(f"cuda.bindings.{module}")


def _address(view: memoryview) -> int:
    """Where the bytes lie, read-only views included; the view keeps them alive."""
    import numpy as np

    return int(np.frombuffer(view, dtype=np.uint8).ctypes.data)


def _unload(driver: Any, context: Any, module: Any) -> None:
    """Drops a module in whatever thread collects its owner. A lost device has dropped it already."""
    driver.cuCtxSetCurrent(context)
    driver.cuModuleUnload(module)


def _check(result: Any) -> Any:
    """The value of a call of the driver or NVRTC, or a `DispatchError` that names its status."""
    status, *values = result
    if int(status) != 0:
        raise DispatchError(
            f"the CUDA device or its driver refused: {status.name}.", fix=_FIXES.get(status.name, _LOST)
        )
    return values[0] if len(values) == 1 else tuple(values)


def _driver_version() -> str:
    try:
        with open("/proc/driver/nvidia/version") as file:
            return file.readline().strip()
    except OSError:
        return "unknown"
