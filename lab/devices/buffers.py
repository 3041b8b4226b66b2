"""Device buffers on the devices of this machine: chains that copy nothing, other libraries' arrays, refusals.

    python -m lab.devices.buffers [BACKEND …]

Prints one line for each check, and how long a repeated call takes. Exits with 1 if a check fails. torch, CuPy
and Numba are checked on `cuda` where they are installed; what is missing is named and skipped.
"""

from __future__ import annotations

import gc
import importlib
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import vyre
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends import compile_program, get
from vyre.errors import DeviceOutOfMemory, DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
B = BufferDecl.read("b", 1, DataType.U32)
OUT = BufferDecl.read_write("out", 2, DataType.U32)
ADD = Program([A, B, OUT], [64], [OUT.store(ID, A[ID] + B[ID])])
HALVES = BufferDecl.read_write("x", 0, DataType.BF16)
COUNT = 100_000
CHAIN = 100


class Missing(Exception):
    """A package that a check needs is not installed."""


class Report:
    """The lines, and whether one of them was a failure."""

    def __init__(self) -> None:
        self.failed = 0

    def check(self, name: str, body: Callable[[], str | None]) -> None:
        try:
            detail = body()
        except Missing as missing:
            print(f"skip  {name}: {missing}")
        except Exception as error:  # whatever it is, the other checks go on
            self.failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {error}")
        else:
            print(f"ok    {name}" + (f": {detail}" if detail else ""))
        sys.stdout.flush()


def require(truth: bool, message: str) -> None:
    if not truth:
        raise AssertionError(message)


def package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{error.name or name} is not installed") from None


@contextmanager
def counted(backend: Any, memory: Any) -> Generator[list[str]]:
    """The copies that the backend makes meanwhile, through its memory or straight by the driver."""
    seen: list[str] = []
    kind, own = cast("Any", type(memory)), cast("Any", type(backend))
    kept = {name: getattr(kind, name) for name in ("read", "write", "copy")}
    borrow = own.borrow

    def counting(name: str, inner: Any) -> Any:
        def call(*arguments: Any) -> Any:
            seen.append(name)
            return inner(*arguments)

        return call

    class Driver:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            found = getattr(self.inner, name)
            return counting(name, found) if name.startswith("cuMemcpy") else found

    driver = getattr(backend, "driver", None)
    for name, inner in kept.items():
        setattr(kind, name, counting(name, inner))
    own.borrow = counting("borrow", borrow)
    if driver is not None:
        backend.driver = Driver(driver)
    try:
        yield seen
    finally:
        for name, inner in kept.items():
            setattr(kind, name, inner)
        own.borrow = borrow
        if driver is not None:
            backend.driver = driver


def chain(backend: Any) -> str:
    start = np.arange(COUNT, dtype=np.uint32)
    x, y = vyre.to_device(start, backend=backend), vyre.device_zeros(COUNT, np.uint32, backend=backend)
    step = vyre.to_device(np.full(COUNT, 7, np.uint32), backend=backend)
    compiled = compile_program(ADD, backend=backend)
    with counted(backend, x.memory) as copies:
        for _ in range(CHAIN):
            result = compiled({"a": x, "b": step, "out": y})["out"]
            require(result is y, "the result is another object")
            x, y = y, x
        require(copies == [], f"{len(copies)} copies: {sorted(set(copies))}")
        got = x.numpy()
        require(len(copies) > 0, "the counter sees no copies at all")
    require(np.array_equal(got, start + np.uint32(7 * CHAIN)), "the results are wrong")
    return f"{CHAIN} dispatches, no copy"


def repeated(backend: Any) -> str:
    buffers = {name: vyre.device_zeros(64, np.uint32, backend=backend) for name in ("a", "b", "out")}
    compiled = compile_program(ADD, backend=backend)
    out = buffers["out"]
    times: list[float] = []
    for _ in range(5):
        for _ in range(100):
            compiled(buffers)
        out.numpy()
        started = time.perf_counter()
        for _ in range(1000):
            compiled(buffers)
        queued = time.perf_counter()
        out.numpy()
        times.append((queued - started) * 1e3)
    best, median = min(times), sorted(times)[2]
    return f"{best:.1f} microseconds to queue a call, best of 5 x 1000; median {median:.1f}"


def refusals(backend: Any) -> str:
    x = vyre.to_device(np.arange(8, dtype=np.uint32), backend=backend)
    y = vyre.device_zeros(8, np.uint32, backend=backend)
    closed = vyre.device_zeros(8, np.uint32, backend=backend)
    closed.close()
    refused(ADD, {"a": x, "b": y, "out": x}, backend, "share memory")
    refused(ADD, {"a": vyre.device_zeros(8, np.int32, backend=backend), "b": x, "out": y}, backend, "int32")
    refused(ADD, {"a": x, "b": x, "out": closed}, backend, "closed")
    other = "reference" if backend.name != "reference" else "cpu"
    theirs = vyre.device_zeros(8, np.uint32, backend=other)
    refused(ADD, {"a": x, "b": theirs, "out": y}, backend, "is on the backend")
    vyre.dispatch(ADD, {"a": x, "b": x, "out": y}, backend=backend)
    require(y.numpy().tolist() == list(range(0, 16, 2)), "after the refusals the results are wrong")
    return "aliases, types, closed buffers, other backends"


def refused(program: Program, buffers: dict[str, Any], backend: Any, words: str) -> None:
    try:
        vyre.dispatch(program, buffers, backend=backend)
    except DispatchError as error:
        require(words in str(error), f"refused for another reason: {error}")
    else:
        raise AssertionError(f"not refused: {words}")


def out_of_memory(backend: Any) -> str:
    limit = backend.describe().limits.buffer_bytes
    if backend.name != "cuda":
        raise Missing("only a GPU with memory of its own runs out of it safely")
    held: list[Any] = []
    try:
        for _ in range(8):
            held.append(vyre.device_zeros(limit // 3 // 4, np.uint32, backend=backend))  # noqa: PERF401 - kept till one fails
        raise AssertionError("three thirds and more of the memory were given out")
    except DeviceOutOfMemory as error:
        message = error.message
    held.clear()
    gc.collect()
    chain(backend)
    return message


def torch_in(backend: Any) -> str:
    torch = package("torch")
    a = torch.arange(COUNT, dtype=torch.int32, device="cuda").view(torch.uint32)
    out = torch.zeros(COUNT, dtype=torch.int32, device="cuda").view(torch.uint32)
    shared = vyre.to_device(a, backend=backend, copy=False)
    require(shared.memory.span[1] == a.data_ptr(), "another address")
    with counted(backend, shared.memory) as copies:
        result = vyre.dispatch(ADD, {"a": a, "b": a, "out": out}, backend=backend)["out"]
        require(result is out, "the result is another object")
        require(copies == [], f"copies: {copies}")
    expected = torch.arange(COUNT, dtype=torch.int32, device="cuda") * 2
    require(bool((out.view(torch.int32) == expected).all()), "the results are wrong")
    refused(ADD, {"a": a, "b": a, "out": a}, backend, "share memory")
    refused(ADD, {"a": a[10:20], "b": a[:8], "out": a[15:]}, backend, "share memory")
    refused(ADD, {"a": a[::2], "b": a, "out": out}, backend, "not contiguous")
    refused(ADD, {"a": a.view(torch.int32), "b": a, "out": out}, backend, "int32")
    refused(ADD, {"a": a, "b": a, "out": torch.zeros(4, requires_grad=True, device="cuda")}, backend, "grad")
    return f"torch {torch.__version__}"


def torch_out(backend: Any) -> str:
    torch = package("torch")
    x = vyre.to_device(np.arange(12, dtype=np.float32).reshape(3, 4), backend=backend)
    for seen in (torch.from_dlpack(x), torch.as_tensor(x, device="cuda")):
        require(seen.data_ptr() == x.memory.span[1], "another address")
        require(tuple(seen.shape) == (3, 4) and seen.dtype == torch.float32, f"{seen.shape} {seen.dtype}")
    seen = torch.from_dlpack(x)
    seen += 1
    torch.cuda.synchronize()
    require(x.numpy().tolist()[0] == [1, 2, 3, 4], "a change by torch is not seen")
    x.close()
    require(seen.sum().item() == 78, "closed memory is not torch's any more")
    halves = vyre.to_device(torch.ones(5, dtype=torch.bfloat16, device="cuda"), backend=backend)
    flip = Program([HALVES], [64], [HALVES.store(ID, HALVES[ID])])
    vyre.dispatch(flip, {"x": halves}, backend=backend)
    require(halves.numpy().view(np.uint16).tolist() == [0x3F80] * 5, "bfloat16 came out wrong")
    return "DLPack and the interface, bfloat16, memory that outlives its buffer"


def torch_streams(backend: Any) -> str:
    torch = package("torch")
    stream = torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(stream):
            a = torch.zeros(1 << 22, dtype=torch.int32, device="cuda")
            for _ in range(20):
                a += 1
            bits = a.view(torch.uint32)
            out = torch.zeros_like(bits.view(torch.int32)).view(torch.uint32)
            vyre.dispatch(ADD, {"a": bits, "b": bits, "out": out}, backend=backend)
            total = out.view(torch.int32).min().item(), out.view(torch.int32).max().item()
        require(total == (40, 40), f"work of two streams overlapped: {total}")
    return "20 rounds on a stream of torch's own"


def cupy_both(backend: Any) -> str:
    cupy = package("cupy")
    a, out = cupy.arange(COUNT, dtype=cupy.uint32), cupy.zeros(COUNT, dtype=cupy.uint32)
    shared = vyre.to_device(a, backend=backend, copy=False)
    require(shared.memory.span[1] == a.data.ptr, "another address")
    with counted(backend, shared.memory) as copies:
        result = vyre.dispatch(ADD, {"a": a, "b": a, "out": out}, backend=backend)["out"]
        require(result is out, "the result is another object")
        require(copies == [], f"copies: {copies}")
    require(bool((out == a * 2).all()), "the results are wrong")
    with cupy.cuda.Stream(non_blocking=True):
        b = cupy.zeros(1 << 22, dtype=cupy.uint32)
        for _ in range(20):
            b += 1
        done = cupy.zeros_like(b)
        vyre.dispatch(ADD, {"a": b, "b": b, "out": done}, backend=backend)
        require(int(done.min()) == int(done.max()) == 40, "work of two streams overlapped")
    x = vyre.to_device(np.arange(5, dtype=np.uint32), backend=backend)
    for seen in (cupy.asarray(x), cupy.from_dlpack(x)):
        require(seen.data.ptr == x.memory.span[1], "another address")
        require(seen.tolist() == [0, 1, 2, 3, 4], "wrong contents")
    refused(ADD, {"a": a[::2], "b": a, "out": out}, backend, "not contiguous")
    return f"CuPy {cupy.__version__}, in and out, and a stream of its own"


def numba_in(backend: Any) -> str:
    cuda = package("numba.cuda")
    a, out = cuda.to_device(np.arange(9, dtype=np.uint32)), cuda.to_device(np.zeros(9, np.uint32))
    vyre.dispatch(ADD, {"a": a, "b": a, "out": out}, backend=backend)
    require(out.copy_to_host().tolist() == list(range(0, 18, 2)), "the results are wrong")
    return "in place"


def main() -> int:
    report = Report()
    for name in sys.argv[1:] or ["cpu", "opencl", "wgpu", "dawn", "cuda"]:
        try:
            backend: Any = get(name)
        except DispatchError as error:
            print(f"skip  {name}: {error}")
            continue
        print(f"      {name}: {backend.describe().device}")
        checks: list[Callable[[Any], str]] = [chain, refusals, repeated]
        if name == "cuda":
            checks += [torch_in, torch_out, torch_streams, cupy_both, numba_in, out_of_memory]
        for check in checks:
            report.check(f"{name} {check.__name__}", lambda check=check, backend=backend: check(backend))
    print("all is well" if not report.failed else f"{report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
