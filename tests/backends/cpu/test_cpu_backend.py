"""The backend itself: what it says, what it keeps, what it makes, and that it frees it."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.backends.cpu.cpu_assembly import V2, V3, V4, listing, loops_of
from tests.backends.cpu.cpu_programs import U32, backend, kernel, numbers, on_cpu, words
from vyre.backends import dispatch
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.compiling import compile_source
from vyre.backends.cpu.llvm import TUNINGS
from vyre.errors import SourceRejected, UnsupportedByBackend
from vyre.ir import (
    BinaryOp,
    BinOp,
    BufferDecl,
    BufLen,
    DataType,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    Program,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.lower.llvm import LlvmSource
from vyre.lower.ways import SOFT

if TYPE_CHECKING:
    from pathlib import Path

I = InvocationId(0)  # noqa: E741 - short, because it stands in every line


def elementwise(*, a: str = "a", out: str = "out") -> Program:
    i = Var("i")
    value = UnOp(UnaryOp.Popcount, Load(a, i) ^ Load("b", i))
    return Program(
        [BufferDecl.read(a, 0, U32), BufferDecl.read("b", 1, U32), BufferDecl.read_write(out, 2, U32)],
        (64,),
        [Let("i", I), If(i < BufLen(out), (Store(out, i, value),))],
    )


def test_describe_names_device_and_toolchain() -> None:
    info = backend().describe()
    assert info.name == "cpu"
    assert "2 threads" in info.device
    assert re.search(r"LLVM \d+\.\d+\.\d+, llvmlite \d+\.\d+", info.toolchain)


def test_dispatch_runs_arrays() -> None:
    a, b = np.arange(1000, dtype=np.uint32), np.full(1000, 0xFF, np.uint32)
    result = dispatch(elementwise(), {"a": a, "b": b, "out": np.zeros(1000, np.uint32)}, backend=backend())
    assert np.array_equal(result["out"], np.bitwise_count(a ^ b))


def streams(loop: list[str]) -> bool:
    """Whether a loop stores whole vectors one behind the other, and branches nowhere but to its head."""
    stores = any(re.match(r"v?movdq\S*\s+%\w+, .*\(", line) for line in loop)
    return stores and sum(line.startswith("j") for line in loop) == 1


@pytest.mark.parametrize("cpu", [V2, V3, V4, *TUNINGS])
def test_the_elementwise_kernel_is_vectorised_without_guards(cpu: str) -> None:
    """The long loop: vector loads, xor, popcount, vector stores, and one branch, its own."""
    text = listing(elementwise(), cpu)
    vector = [loop for loop in loops_of(text) if any(re.search(r"%[xyz]mm", x) for x in loop)]
    assert vector, "no loop uses vector registers"
    for loop in vector:
        assert streams(loop)
        assert not any(line.startswith("div") for line in loop)


@pytest.mark.parametrize("cpu", [V2, V3, V4, *TUNINGS])
def test_a_guard_in_the_loop_would_be_seen(cpu: str) -> None:
    """The control: without affine indices every access keeps its guard, and the loop is another."""
    program = Program(
        [BufferDecl.read("a", 0, U32), BufferDecl.read_write("out", 1, U32)],
        (64,),
        [Store("out", Load("a", I * I), LitU32(1))],
    )
    assert not any(streams(loop) for loop in loops_of(listing(program, cpu)))


def test_programs_that_differ_in_names_share_one_kernel() -> None:
    on = CpuBackend(threads=1)
    first, second = on.compile(elementwise()), on.compile(elementwise(a="left", out="target"))
    assert first._kernel is second._kernel
    other = on.compile(kernel([Store("out", I, LitU32(1))]))
    assert other._kernel is not first._kernel
    data = {"left": words(1, 3), "b": words(0, 0), "target": bytes(8)}
    result = on_cpu(elementwise(a="left", out="target"), data, on=on)
    assert numbers(result["target"]) == [1, 2]


def without_llvm() -> None:
    raise AssertionError("a kernel is compiled that the disk has")


def test_a_kernel_that_the_disk_has_is_only_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path))
    CpuBackend(threads=1, canaries=False).compile(elementwise())
    monkeypatch.setattr("vyre.backends.cpu.compiling.translator", without_llvm)
    on = CpuBackend(threads=1, canaries=False)
    data = {"a": words(1, 3), "b": words(0, 0), "out": bytes(8)}
    assert numbers(on_cpu(elementwise(), data, on=on)["out"]) == [1, 2]
    with pytest.raises(AssertionError, match="the disk has"):
        on.compile(kernel([Store("out", I, LitU32(1))]))


def test_assembly_is_made_once_and_is_no_machine_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path))
    executable = CpuBackend(threads=1, canaries=False).compile(elementwise())
    text = executable.assembly()
    assert "vyre_main" in text
    monkeypatch.setattr("vyre.backends.cpu.compiling.translator", without_llvm)
    assert executable.assembly() == text
    data = {"a": words(1, 3), "b": words(0, 0), "out": bytes(8)}
    again = CpuBackend(threads=1, canaries=False)
    assert numbers(on_cpu(elementwise(), data, on=again)["out"]) == [1, 2]


def test_every_thread_count_gives_the_same_bytes() -> None:
    n = 64 * 512 + 5
    data = {"a": words(*range(n)), "b": words(*range(7, n + 7)), "out": bytes(4 * n)}
    results = {
        t: on_cpu(elementwise(), data, (513, 1, 1), on=CpuBackend(threads=t))["out"] for t in (1, 2, 5)
    }
    assert len(set(results.values())) == 1
    assert numbers(results[1]) == [(i ^ (i + 7)).bit_count() for i in range(n)]


def test_executables_may_run_in_several_threads_at_once() -> None:
    n = 64 * 200
    executable = CpuBackend(threads=3).compile(elementwise())
    results = [bytearray(4 * n) for _ in range(6)]

    def work(k: int) -> None:
        views = {"a": memoryview(words(*range(k, n + k))), "b": memoryview(bytes(4 * n))}
        executable.run(views | {"out": memoryview(results[k])}, (200, 1, 1))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, result in enumerate(results):
        assert numbers(bytes(result)) == [(i + k).bit_count() for i in range(n)]


def test_unsupported_operations_are_refused_at_compile_time() -> None:
    out = BufferDecl.read_write("out", 0, DataType.F64)
    program = Program([out], (8,), [out.store(I, BinOp(BinaryOp.FMul, out[I], out[I]))])
    with pytest.raises(UnsupportedByBackend, match="FMul on F64 is not supported by the backend cpu"):
        backend().compile(program, ways=SOFT)


def test_a_module_that_llvm_rejects_is_one_clear_error() -> None:
    broken = LlvmSource("llvm", "vyre_main", "define void @vyre_main() { nonsense }", (1, 1, 1), (), ())
    with pytest.raises(SourceRejected, match="LLVM rejects the kernel") as caught:
        compile_source(broken)
    assert caught.value.source == broken.text
    assert "nonsense" in caught.value.log
    assert numbers(on_cpu(kernel([Store("out", I, I)]), {})["out"]) == list(range(8)), "the process goes on"


@pytest.mark.slow
@pytest.mark.parametrize("steps", [100, 320, 3000])
def test_large_programs_compile_with_less_effort(steps: int) -> None:
    """Up to forty thousand nodes: the optimiser is asked for less, the result is the same."""
    entry: list[Let | Store] = [Let("x0", Load("a", I))]
    entry += [Let(f"x{k + 1}", (Var(f"x{k}") ^ k) * 5 + Load("a", (I + k) % 8)) for k in range(steps)]
    entry.append(Store("out", I, Var(f"x{steps}")))
    program = kernel(entry, BufferDecl.read("a", 1, U32))
    data = list(range(100, 108))
    expected: list[int] = []
    for i in range(8):
        x = data[i]
        for k in range(steps):
            x = ((x ^ k) * 5 + data[(i + k) % 8]) & 0xFFFFFFFF
        expected.append(x)
    assert numbers(on_cpu(program, {"a": words(*data)})["out"]) == expected
