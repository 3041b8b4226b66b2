"""Native floats on the processor: every operation against exact arithmetic, in any floating-point state."""

from __future__ import annotations

import ctypes
import platform
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.backends.cpu.cpu_assembly import V2, V3, V4, listing
from tests.backends.cpu.cpu_programs import agree, words
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.compiling import native_ways
from vyre.backends.probe.cases import probe_ops
from vyre.backends.probe.run import probe
from vyre.ir import (
    BinaryOp,
    BinOp,
    BufferDecl,
    Cast,
    DataType,
    Expr,
    FReduce,
    If,
    InvocationId,
    Let,
    LitU32,
    LocalId,
    Node,
    Program,
    ReduceOp,
    ReduceOrder,
    Select,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.lower.native import F32_KEYS, F64_KEYS
from vyre.lower.ways import NATIVE_WAY, SOFT, SOFT_WAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from vyre.lower.llvm import LlvmSource

F32 = DataType.F32
X86 = platform.machine() in ("x86_64", "AMD64")
FLUSH, DOWN = 0x8040, 0x2000
DEFAULT = 0x1F80


def elementwise(value: Callable[[Expr, Expr], Expr], *, of: DataType = F32) -> Program:
    a, b = BufferDecl.read("a", 0, of), BufferDecl.read("b", 1, of)
    out = BufferDecl.read_write("out", 2, of)
    i = Var("i")
    body = Store("out", i, value(a[i], b[i]))
    return Program([a, b, out], (256,), [Let("i", InvocationId(0)), If(i < out.length, (body,))])


def product(x: Expr, y: Expr) -> Expr:
    return BinOp(BinaryOp.FMul, x, y)


def add(x: Expr, y: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, x, y)


def run(backend: CpuBackend, program: Program, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    out = np.zeros_like(a)
    views = {"a": a.data.cast("B"), "b": b.data.cast("B"), "out": out.data.cast("B")}
    backend.compile(program).run(views, (-(-len(a) // 256), 1, 1))
    return out


@pytest.mark.parametrize("of", ["F32", "F16", "F64", "to"])
def test_every_native_operation_is_exact(of: str) -> None:
    ops = [op for op in probe_ops() if (op.name.endswith(of) and " to " not in op.name)]
    if of == "to":
        ops = [op for op in probe_ops() if " to " in op.name]
    rows = probe(CpuBackend(threads=1), count=1500, sweep=0, ops=ops)
    assert [row for row in rows if row.witness] == []
    native = {row.op for row in rows if row.way == NATIVE_WAY}
    assert {row.way for row in rows} <= {NATIVE_WAY, SOFT_WAY}
    if of != "F16":
        assert len(native) >= 18


def test_the_way_is_told() -> None:
    backend = CpuBackend(threads=1)
    assert native_ways().native >= F32_KEYS | F64_KEYS
    assert backend.compile(elementwise(product)).lowering == "native"
    assert backend.compile(elementwise(product), ways=SOFT).lowering == "soft"
    chain = elementwise(lambda x, y: BinOp(BinaryOp.FMul, x, y).cast(DataType.BF16).cast(F32))
    assert backend.compile(chain).lowering == "native: f32.mul; soft: bf16.to_f32, f32.to_bf16"
    whole = Program(
        [BufferDecl.read_write("out", 0, DataType.U32)], (1,), [Store("out", LitU32(0), LitU32(1))]
    )
    assert backend.compile(whole).lowering == ""


def test_the_two_ways_agree_on_random_bits() -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 1 << 32, 1 << 16, dtype=np.uint32) for _ in range(2))
    backend = CpuBackend(threads=1)
    for op in (BinaryOp.FAdd, BinaryOp.FDiv, BinaryOp.FMin):
        program = elementwise(lambda x, y, op=op: BinOp(op, x, y))
        native = run(backend, program, a, b)
        soft = np.zeros_like(a)
        views = {
            "a": a.data.cast("B"),
            "b": b.data.cast("B"),
            "out": soft.data.cast("B"),
        }
        backend.compile(program, ways=SOFT).run(views, (256, 1, 1))
        assert np.array_equal(native, soft)


@pytest.mark.parametrize(("cpu", "packed"), [(V2, "addps"), (V3, "vaddps"), (V4, "vaddps")])
def test_addition_is_vectorised(cpu: str, packed: str) -> None:
    assert re.search(rf"\s{packed}\s", listing(elementwise(add), cpu)), "packed additions"


NANS = (0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC12345, 0x3F800000, 0x80000000, 0x00000001, 0x7F7FFFFF)


@pytest.mark.parametrize("width", [1, 4])
def test_sums_and_moved_bits_meet_in_the_memory_of_a_workgroup(width: int) -> None:
    """What was computed is stored there as it is where a workgroup is one invocation, and seen canonical."""
    a, out = BufferDecl.read("a", 0, F32), BufferDecl.read_write("out", 1, DataType.U32)
    sums, both = BufferDecl.workgroup("sums", F32, 4), BufferDecl.workgroup("both", F32, 4)
    i, at = Var("i"), Var("at")
    total = BinOp(BinaryOp.FSub, a[i], a[i + 1])
    body: list[Node] = [
        Let("i", InvocationId(0)),
        Let("at", LocalId(0)),
        Store("sums", at, total),
        Store("both", at, Select(i & 1, a[i], sums[at])),
        Store("out", i * 4, Cast(DataType.U32, sums[at])),
        Store("out", i * 4 + 1, Cast(DataType.U32, both[at])),
        Store("out", i * 4 + 2, Cast(DataType.U32, UnOp(UnaryOp.FNeg, sums[at]))),
        Store("out", i * 4 + 3, Cast(DataType.U32, BinOp(BinaryOp.FAdd, sums[at], both[at]))),
    ]
    program = Program([a, out, sums, both], (width, 1, 1), body)
    agree(program, {"a": words(*NANS, *NANS[::-1]), "out": bytes(4 * 64)}, (16 // width, 1, 1))


@pytest.mark.parametrize("order", list(ReduceOrder))
@pytest.mark.parametrize("of", [F32, DataType.F64])
def test_reductions_of_one_element_keep_its_bits(order: ReduceOrder, of: DataType) -> None:
    """A fold makes its NaNs canonical at the end; an element that nothing was added to is only moved."""
    word = np.uint32 if of is F32 else np.uint64
    quiet, other = (0x7FC00000, 0xFFA00001) if of is F32 else (0x7FF8 << 48, 0xFFF4 << 48 | 1)
    data, out = BufferDecl.read("data", 0, of), BufferDecl.read_write("out", 1, of)
    fold = FReduce(order, ReduceOp.Add, "data", LitU32(0), data.length)
    program = Program([data, out], (1,), [Store("out", LitU32(0), fold)])
    for values, expected in (([other], other), ([other, 0], quiet), ([], 0)):
        held, result = np.array(values, word), np.zeros(1, word)
        views = {
            "data": held.data.cast("B") if values else memoryview(b""),
            "out": result.data.cast("B"),
        }
        CpuBackend(threads=1).compile(program).run(views, (1, 1, 1))
        assert int(result[0]) == expected


@pytest.fixture
def state() -> Iterator[tuple[Callable[[int], None], Callable[[], int]]]:
    """Sets and gets MXCSR of the calling thread, as any other library might."""
    if not X86:
        pytest.skip("MXCSR is a register of x86")
    from vyre.backends.cpu.llvm import binding

    text = """
    declare void @llvm.x86.sse.stmxcsr(ptr)
    declare void @llvm.x86.sse.ldmxcsr(ptr)
    define void @put(i32 %v) {
      %p = alloca i32
      store i32 %v, ptr %p
      call void @llvm.x86.sse.ldmxcsr(ptr %p)
      ret void
    }
    define i32 @get() {
      %p = alloca i32
      call void @llvm.x86.sse.stmxcsr(ptr %p)
      %v = load i32, ptr %p
      ret i32 %v
    }
    """
    untyped = binding()
    machine = untyped.Target.from_default_triple().create_target_machine()
    engine = untyped.create_mcjit_compiler(untyped.parse_assembly(text), machine)
    engine.finalize_object()
    put = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(engine.get_function_address("put"))
    get = ctypes.CFUNCTYPE(ctypes.c_uint32)(engine.get_function_address("get"))
    yield put, get
    put(DEFAULT)


def _tiny() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Products that are subnormal or inexact, and what they are to nearest."""
    rng = np.random.default_rng(3)
    n = 1 << 19
    a = (rng.random(n, dtype=np.float32) + 1) * np.float32(2.0**-64)
    b = (rng.random(n, dtype=np.float32) + 1) * np.float32(2.0**-70)
    a[::2] *= np.float32(2.0**60)
    return a, b, a * b


@pytest.mark.parametrize("flags", [FLUSH, DOWN, FLUSH | DOWN])
def test_another_library_may_flip_the_state_of_every_thread(
    flags: int, state: tuple[Callable[[int], None], Callable[[], int]]
) -> None:
    put, get = state
    a, b, expected = _tiny()
    backend = CpuBackend(threads=2)
    program = elementwise(product)
    run(backend, program, a, b)
    (helper,) = backend._team._idle

    def there(call: Callable[..., Any], *arguments: int) -> Any:
        """In the thread of the helper."""
        answers: list[Any] = []
        helper.asked.put(lambda _: answers.append(call(*arguments)))
        assert helper.done.get() is None
        return answers[0]

    try:
        put(DEFAULT | flags)
        there(put, DEFAULT | flags)
        actual = run(backend, program, a, b)
        found = get() & ~0x3F, there(get) & ~0x3F
    finally:
        put(DEFAULT)
        there(put, DEFAULT)
    assert np.array_equal(actual.view(np.uint32), expected.view(np.uint32))
    assert found == (DEFAULT | flags, DEFAULT | flags), "what the other library set is put back"


def test_without_the_guarded_entry_the_flip_is_seen(
    monkeypatch: pytest.MonkeyPatch, state: tuple[Callable[[int], None], Callable[[], int]]
) -> None:
    """The control."""
    put, _ = state
    a, b, expected = _tiny()

    def unguarded(source: LlvmSource, cpu: str) -> tuple[str, str]:
        return source.text, source.entry

    monkeypatch.setattr("vyre.backends.cpu.compiling.entered", unguarded)
    backend = CpuBackend(threads=1)
    program = elementwise(product)
    run(backend, program, a, b)
    put(DEFAULT | FLUSH)
    actual = run(backend, program, a, b)
    put(DEFAULT)
    assert not np.array_equal(actual.view(np.uint32), expected.view(np.uint32))
