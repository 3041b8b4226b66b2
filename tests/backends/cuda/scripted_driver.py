"""A CUDA driver made of Python objects, for machines without one."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends.cuda.arrays import LEGACY
from vyre.backends.cuda.backend import CudaBackend, CudaExecutable
from vyre.backends.forks import Home
from vyre.backends.protocol import BackendInfo
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Callable

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
COPY = Program([A, OUT], [64], [OUT.store(ID, A[ID])])


class Status(int):
    """What a call of the driver answers first."""

    def __new__(cls, number: int, name: str = "CUDA_SUCCESS") -> Status:
        status = super().__new__(cls, number)
        status.name = name
        return status

    name: str


OK = Status(0)


def _fine(*_: Any) -> tuple[Any, ...]:
    return (OK,)


class Driver:
    """Device memory as Python objects, every call noted; `fail` names the call that goes wrong.

    `launched` holds the arguments of every launch of `COPY`: two addresses, then the hidden words.
    """

    CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9)
    CUstream = int

    def __init__(self, fail: str = "", error: str = "CUDA_ERROR_ILLEGAL_ADDRESS") -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.memory: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self.launched: list[list[int]] = []
        self.fail = fail
        self.error = error
        self.ordinal = 0
        self.kernel: Callable[[int, int], object] = lambda a, out: None

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append((name, arguments))
            if name == self.fail:
                return (Status(700, self.error), None)[: 2 if name == "cuMemAlloc" else 1]
            return getattr(self, f"do_{name}", _fine)(*arguments)

        if not name.startswith("cu"):
            raise AttributeError(name)
        return call

    def do_cuMemAlloc(self, size: int) -> tuple[Any, ...]:  # noqa: N802 - the driver's spelling
        block = ctypes.create_string_buffer(b"\xaa" * size, size)
        self.memory[ctypes.addressof(block)] = block
        return OK, ctypes.addressof(block)

    def do_cuMemFree(self, address: int) -> tuple[Any, ...]:  # noqa: N802
        del self.memory[address]
        return (OK,)

    def do_cuMemHostAlloc(self, size: int, flags: int) -> tuple[Any, ...]:  # noqa: N802
        return self.do_cuMemAlloc(size)

    def do_cuMemHostGetDevicePointer(self, address: int, flags: int) -> tuple[Any, ...]:  # noqa: N802
        return OK, address

    do_cuMemFreeHost = do_cuMemFree  # noqa: N815

    def do_cuMemcpyHtoD(self, to: int, source: int, size: int) -> tuple[Any, ...]:  # noqa: N802
        ctypes.memmove(to, source, size)
        return (OK,)

    do_cuMemcpyDtoH = do_cuMemcpyDtoD = do_cuMemcpyHtoD  # noqa: N815

    def do_cuMemsetD8(self, address: int, value: int, size: int) -> tuple[Any, ...]:  # noqa: N802
        ctypes.memset(address, value, size)
        return (OK,)

    def do_cuEventCreate(self, flags: int) -> tuple[Any, ...]:  # noqa: N802
        return OK, "event"

    def do_cuPointerGetAttribute(self, attribute: int, address: int) -> tuple[Any, ...]:  # noqa: N802
        return OK, self.ordinal

    def do_cuLaunchKernel(self, *arguments: Any) -> tuple[Any, ...]:  # noqa: N802
        # Read while the launch is called, as the driver does: afterwards they may be gone.
        table = (ctypes.c_void_p * 7).from_address(arguments[9])
        a, out = (ctypes.c_uint64.from_address(table[k] or 0).value for k in range(2))
        words = [ctypes.c_uint32.from_address(table[k] or 0).value for k in range(2, 7)]
        self.launched.append([a, out, *words])
        self.kernel(a, out)
        return (OK,)

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for call, arguments in self.calls if call == name]


class ScriptedBackend(CudaBackend):
    """The CUDA backend on a scripted driver."""

    def __init__(self, driver: Driver, *, ordinal: int = 0) -> None:
        self.home = Home("scripted")
        self.driver = driver
        self.context = "context"
        self.ordinal = ordinal
        self.stream = LEGACY

    def describe(self) -> BackendInfo:
        return BackendInfo(name=self.name, version="0", device="scripted")

    def compile(self, program: Program, **_: Any) -> CudaExecutable:
        return CudaExecutable(self, emit(prepare(program)), "module", "function")


def executable(driver: Driver, program: Program = COPY) -> CudaExecutable:
    return ScriptedBackend(driver).compile(program)
