"""CUDA through NVRTC and the driver. Compiling to PTX needs neither a GPU nor a driver."""

from __future__ import annotations

import ctypes
import importlib
from typing import TYPE_CHECKING, Any

from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program
    from vyre.lower.source import Source

OPTIONS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17")
"""Strict floats by option as well as by instruction: nothing is fused, flushed or approximated."""

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


class CudaBackend:
    """One NVIDIA GPU, through its primary context."""

    name = "cuda"

    def __init__(self, *, ordinal: int = 0) -> None:
        driver, nvrtc = _bindings("driver"), _bindings("nvrtc")
        self._driver = driver
        try:
            _check(driver.cuInit(0))
            self.device = _check(driver.cuDeviceGet(ordinal))
        except (RuntimeError, VyreError) as error:
            raise VyreError(
                f"no CUDA device can be used: {error}.",
                fix="install NVIDIA's driver, or choose another backend.",
            ) from None
        self.context = _check(driver.cuDevicePrimaryCtxRetain(self.device))
        _check(driver.cuCtxSetCurrent(self.context))
        attribute = driver.CUdevice_attribute
        major = attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        minor = attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
        numbers = [_check(driver.cuDeviceGetAttribute(a, self.device)) for a in (major, minor)]
        self.architecture = "sm_{}{}".format(*numbers)
        self._toolchain = "NVRTC {}.{}".format(*_check(nvrtc.nvrtcVersion()))

    def describe(self) -> BackendInfo:
        driver = self._driver
        name: bytes = _check(driver.cuDeviceGetName(128, self.device))
        version: int = _check(driver.cuDriverGetVersion())
        memory: int = _check(driver.cuDeviceTotalMem(self.device))
        return BackendInfo(
            name=self.name,
            version=f"CUDA {version // 1000}.{version % 1000 // 10}",
            device=f"{name.rstrip(bytes(1)).decode()} ({self.architecture})",
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
        _check(self._driver.cuCtxSetCurrent(self.context))
        module = _check(self._driver.cuModuleLoadData(compile_source(source, self.architecture)))
        function = _check(self._driver.cuModuleGetFunction(module, source.entry.encode()))
        return CudaExecutable(self, source, module, function)


class CudaExecutable:
    """A loaded kernel. `run` copies through the device; `launch` works on device addresses."""

    def __init__(self, backend: CudaBackend, source: Source, module: Any, function: Any) -> None:
        self._backend = backend
        self._driver = backend._driver
        self._module = module
        self._function = function
        self.source = source

    def __del__(self) -> None:
        module, self._module = getattr(self, "_module", None), None
        if module is not None:
            self._driver.cuModuleUnload(module)

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        driver = self._driver
        _check(driver.cuCtxSetCurrent(self._backend.context))
        addresses: list[Any] = []
        try:
            for decl in self.source.buffers:
                view = buffers[decl.name]
                addresses.append(_check(driver.cuMemAlloc(max(16, view.nbytes))))
                if view.nbytes:
                    _check(driver.cuMemcpyHtoD(addresses[-1], _readable(view), view.nbytes))
            lengths = {b.name: buffers[b.name].nbytes // b.element.stride for b in self.source.buffers}
            self.launch([int(a) for a in addresses], lengths, workgroups)
            _check(driver.cuCtxSynchronize())
            for decl, address in zip(self.source.buffers, addresses, strict=True):
                view = buffers[decl.name]
                if decl.access.writable and view.nbytes:
                    target = (ctypes.c_char * view.nbytes).from_buffer(view)
                    _check(driver.cuMemcpyDtoH(ctypes.addressof(target), address, view.nbytes))
        except RuntimeError as error:
            raise DispatchError(
                f"the CUDA device refused the run: {error}.",
                fix="use smaller buffers or another backend; the process can go on.",
            ) from None
        finally:
            for address in addresses:
                driver.cuMemFree(address)

    def launch(
        self,
        addresses: list[int],
        lengths: dict[str, int],
        workgroups: tuple[int, int, int],
        *,
        stream: int = 0,
    ) -> None:
        """Queues the grid on device memory, in several launches where a grid axis is too long for one."""
        size = self.source.workgroup_size
        kinds = (ctypes.c_void_p,) * len(addresses) + (ctypes.c_uint32,) * len(self.source.hidden)
        for z in range(0, workgroups[2], _MAX_GRID[2]):
            for y in range(0, workgroups[1], _MAX_GRID[1]):
                for x in range(0, workgroups[0], _MAX_GRID[0]):
                    base = (x, y, z)
                    grid = [min(n - b, m) for n, b, m in zip(workgroups, base, _MAX_GRID, strict=True)]
                    hidden = self.source.hidden_values(lengths, base)
                    values = (*addresses, *hidden)
                    status = self._driver.cuLaunchKernel(
                        self._function, *grid, *size, 0, stream, (values, kinds), 0
                    )
                    _check(status)


def _bindings(module: str) -> Any:
    """A module of `cuda.bindings`, which carries no types."""
    return importlib.import_module(f"cuda.bindings.{module}")


def _readable(view: memoryview) -> Any:
    """Bytes the driver can read without another copy, read-only views included."""
    import numpy as np

    return np.frombuffer(view, dtype=np.uint8).ctypes.data


def _check(result: Any) -> Any:
    """The value of a driver call, or a `RuntimeError` that names the status."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(status.name)
    return values[0] if len(values) == 1 else tuple(values)


def _driver_version() -> str:
    try:
        with open("/proc/driver/nvidia/version") as file:
            return file.readline().strip()
    except OSError:
        return "unknown"
