"""Rare cases of calls in a row share a branch on CUDA, and nothing else changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.engines import elementwise
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Call, Expr, LitU32, UnOp, Var
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions, statements
from vyre.lower import prepare as preparing
from vyre.lower.gathered import MOST, gathered
from vyre.lower.prepare import Prepared, prepare
from vyre.lower.ways import CUDA_WAYS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

F32 = DataType.F32
A = BufferDecl.read("a", 0, F32)
OUT = BufferDecl.read_write("out", 1, F32)
COUNT = 1 << 14
RARE = (0, 1, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x4E800000, 0xDB000000, 0x00400000, 0x3F800000)
"""Zeros, infinities, NaN, large and subnormal numbers, and 1."""


def sine(x: Expr) -> Expr:
    return UnOp(UnaryOp.FSin, x)


def cosine(x: Expr) -> Expr:
    return UnOp(UnaryOp.FCos, x)


def within(x: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, sine(cosine(x)), cosine(x))


VALUES: dict[str, Any] = {
    "sin": sine,
    "pow": partial(BinOp, BinaryOp.FPow),
    "atan2": partial(BinOp, BinaryOp.FATan2),
    "within": within,
}


def form(*nodes: Node) -> Prepared:
    return prepare(Program([A, OUT], [1, 1, 1], nodes), ways=CUDA_WAYS)


def called(entry: tuple[Node, ...]) -> list[str]:
    """The functions in doubles that are still called."""
    return [x.op_id for x in expressions(entry) if isinstance(x, Call) and x.op_id.startswith("double.")]


def branches(entry: tuple[Node, ...]) -> int:
    return sum(isinstance(node, If) for node in entry)


def stores(count: int) -> list[Node]:
    lets = [Let(f"x{k}", A[LitU32(k)]) for k in range(count)]
    return [*lets, *(OUT.store(LitU32(k), sine(Var(f"x{k}"))) for k in range(count))]


def test_calls_in_a_row_share_a_branch() -> None:
    made = gathered(form(*stores(MOST))).entry
    assert called(made) == []
    (shared,) = [node for node in made if isinstance(node, If)]
    assert branches(shared.then) == MOST
    assert all(isinstance(node, Store) for node in made[made.index(shared) + 1 :])


def test_more_calls_than_registers_allow_are_rows_of_their_own() -> None:
    made = gathered(form(*stores(2 * MOST))).entry
    assert (called(made), branches(made)) == ([], 2)


def test_a_call_alone_stays() -> None:
    before = form(*stores(1))
    assert gathered(before).entry == before.entry


def test_a_program_without_rare_cases_is_left_alone() -> None:
    before = form(OUT.store(LitU32(0), UnOp(UnaryOp.FExp, A[LitU32(0)])))
    assert gathered(before) is before


def test_an_operand_from_memory_that_the_row_changes_stays_behind() -> None:
    first, second = (OUT.store(LitU32(k), sine(A[LitU32(k)])) for k in range(2))
    made = gathered(form(first, second, OUT.store(LitU32(2), sine(OUT[LitU32(0)])))).entry
    assert called(made) == ["double.f32.sin"]
    assert called(made[-1:]) == ["double.f32.sin"]


def test_an_operand_from_the_row_stays_behind() -> None:
    nodes = [Let("x", sine(A[LitU32(0)])), Let("y", sine(A[LitU32(1)])), Let("z", cosine(Var("x")))]
    made = gathered(form(*nodes, *(OUT.store(LitU32(k), Var(v)) for k, v in enumerate("xyz")))).entry
    assert called(made) == ["double.f32.cos"]


def test_a_branch_between_two_calls_ends_a_row() -> None:
    first, second = (OUT.store(LitU32(k), sine(A[LitU32(k)])) for k in range(2))
    apart = form(first, If(A[LitU32(7)].eq(A[LitU32(8)]), (OUT.store(LitU32(9), A[LitU32(9)]),)), second)
    assert gathered(apart).entry == apart.entry


def arguments() -> tuple[Words, Words]:
    """Usual numbers with rare ones among them, and all pairs of rare ones."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(COUNT).astype(np.float32).view(np.uint32).copy() for _ in range(2))
    for x in (a, b):
        x[rng.integers(0, COUNT, COUNT // 16)] = rng.choice(np.array(RARE, np.uint32), COUNT // 16)
    pairs = np.array([(x, y) for x in RARE for y in RARE], np.uint32)
    a[: len(pairs)], b[: len(pairs)] = pairs[:, 0], pairs[:, 1]
    return a, b


@pytest.mark.parametrize("name", VALUES)
def test_the_results_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the processor, which compiles both forms."""
    pytest.importorskip("llvmlite")
    from vyre.backends.cpu.backend import CpuBackend

    cpu = CpuBackend()
    if not cpu.ways.doubles:
        pytest.skip("this processor's doubles are not used")
    given = arguments()[: 2 if name in ("pow", "atan2") else 1]
    seen: list[Prepared] = []

    def gathering(*args: Any, **kwargs: Any) -> Prepared:
        seen.append(gathered(prepare(*args, **kwargs)))
        return seen[-1]

    plain = _results(cpu, name, given, lanes=64)
    monkeypatch.setattr(preparing, "prepare", gathering)
    assert np.array_equal(_results(cpu, name, given, lanes=32), plain)
    (made,) = seen
    first = next(node for node in made.entry if isinstance(node, If))
    assert branches(first.then) == 1
    assert len(called(first.then)) == (ITEMS if name == "within" else 0)


ITEMS = 4
"""Of an invocation of `elementwise`: the outer call of two inside each other stays one."""


def _results(cpu: Any, name: str, given: tuple[Words, ...], *, lanes: int) -> Words:
    program = elementwise(VALUES[name], *[F32] * len(given), output=F32, lanes=lanes)
    out = np.zeros(COUNT, np.uint32)
    held = {**dict(zip("ab", given, strict=False)), "out": out}
    views = {k: v.data.cast("B") for k, v in held.items()}
    cpu.compile(program).run(views, (COUNT // (lanes * ITEMS), 1, 1))
    return out


def test_the_statements_have_names_of_their_own() -> None:
    made = gathered(form(*stores(MOST)))
    names = [node.name for _, node in statements(made.entry) if isinstance(node, Let)]
    assert len(names) == len(set(names))
    assert set(names) == set(made.variables)
