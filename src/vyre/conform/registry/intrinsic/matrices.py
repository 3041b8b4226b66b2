"""`intrinsic.mma_*`: products of small matrices, as functions of what all 32 lanes hold.

Operands and results are those of every lane, in order, as of `intrinsic.subgroup32.*`. A lane's result is a
chain over its row and its column; which lane holds what of them, `_row` and `_column` say the other way round
than the instruction's description does. The laws state the chain with the ops of Category A that the
twin is composed of (`vyre.ops.intrinsics.matrix_twin`), and the twin is the definition as a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.floats import doubles
from vyre.conform.registry.float_.theory import cpu_fn
from vyre.conform.registry.ids import ADD
from vyre.conform.registry.library.byte_lanes import dot_signed
from vyre.conform.registry.library.operands import whole
from vyre.conform.registry.value.lanes import lane_id, make_id
from vyre.conform.spec.float_names import name_of
from vyre.conform.spec.law import Custom, ap
from vyre.conform.spec.op import EquivalenceClass, LanesForm, OpSpec
from vyre.conform.spec.term import Apply, Constant, Equation
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Lane, LocalId, MakeVec, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType
from vyre.ops.intrinsics.matrix import DEPTHS, ELEMENTS, LANES, f64_hardware, ops
from vyre.ops.intrinsics.matrix_twin import f64_twin, s8_twin
from vyre.semantics.domain import ConcreteDomain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.conform.registry.build import Func
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.term import Term
    from vyre.ir.expr import Expr
    from vyre.ir.op import Op
    from vyre.semantics.domain import Domain

    D = Domain[Any]
    Pair = tuple[Any, Any]
    Held = tuple[int, int]

T = DataType
CORNERS = (0, 3, 28, 31)
"""The lanes of which a law says what they get: first and last rows, first and last columns."""
_WORDS = 8
"""Words of four bytes along k of `mma_s8`."""
_FUSED = next(operation for operation in doubles.operations() if operation.name == "FMulAdd F64")
_DEFINED = cpu_fn(_FUSED)


def _row(lane: int, element: int, k: int) -> Held:
    """Which lane holds element k of the row of a lane's result, and the number under which it does."""
    row = lane // 4 + 8 * (element // 2)
    return row % 8 * 4 + k % 4, row // 8 + 2 * (k // 4)


def _column(lane: int, element: int, k: int) -> Held:
    """The same of the column."""
    return (lane % 4 * 2 + element % 2) * 4 + k % 4, k // 4


def _fused(d: D, a: Sequence[Pair], b: Sequence[Pair], c: Sequence[Pair]) -> list[Pair]:
    """One step of all lanes; numbers at once, because the oracle is made for arrays."""
    if not isinstance(d, ConcreteDomain):
        return [_DEFINED(d, *x, *y, *z) for x, y, z in zip(a, b, c, strict=True)]
    columns = (np.array([pair[k] for pair in side], np.uint32) for side in (a, b, c) for k in range(2))
    low, high = _FUSED.expected(*columns)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _chains(depth: int, element: int) -> Callable[..., Any]:
    first_b, first_c = depth // 2, depth // 2 + depth // 4

    def definition(d: D, *words: Any) -> Any:
        def held(first: int, place: Held) -> Pair:
            at = 2 * ((first + place[1]) * LANES + place[0])
            return words[at], words[at + 1]

        lanes = range(LANES)
        totals = [held(first_c, (lane, element)) for lane in lanes]
        for k in range(depth):
            left = [held(0, _row(lane, element, k)) for lane in lanes]
            right = [held(first_b, _column(lane, element, k)) for lane in lanes]
            totals = _fused(d, left, right, totals)
        return tuple(word for total in totals for word in total)

    return definition


def _sums(d: D, *words: Any) -> Any:
    first_b, first_c = 4 * LANES, 6 * LANES
    found: list[Any] = []
    for lane in range(LANES):
        for element in range(ELEMENTS):
            total = words[first_c + 4 * lane + element]
            for k in range(_WORDS):
                (of_a, i), (of_b, j) = _row(lane, element, k), _column(lane, element, k)
                total = d.add(total, dot_signed(d, words[4 * of_a + i], words[first_b + 2 * of_b + j]))
            found.append(total)
    return tuple(found)


def _chained(op: Op, depth: int, element: int) -> Custom:
    first_b, first_c = depth // 2, depth // 2 + depth // 4

    def equations(f: Func, *values: Term) -> tuple[Equation, ...]:
        def held(first: int, place: Held) -> Term:
            return values[(first + place[1]) * LANES + place[0]]

        found: list[Equation] = []
        for lane in CORNERS:
            total = held(first_c, (lane, element))
            for k in range(depth):
                left, right = held(0, _row(lane, element, k)), held(first_b, _column(lane, element, k))
                total = ap(name_of("fma", T.F64), left, right, total)
            found.append(Equation(Apply(op.id, values, lane), total))
        return tuple(found)

    name = "lanes in the corners have the chain of fused products of their row and column"
    return Custom(name, equations, (T.F64,) * (LANES * len(op.params)))


def _summed(op: Op) -> Custom:
    def equations(f: Func, *values: Term) -> tuple[Equation, ...]:
        def word(of: DataType, first: int, place: Held) -> Term:
            return ap(lane_id(of, place[1]), values[first * LANES + place[0]])

        def entry(lane: int, element: int) -> Term:
            total = word(T.Vec4U32, 2, (lane, element))
            for k in range(_WORDS):
                left = word(T.Vec4U32, 0, _row(lane, element, k))
                right = word(T.Vec2U32, 1, _column(lane, element, k))
                total = ap(ADD, total, ap("cast.i32.u32", ap("bytes.dot4_i8", left, right)))
            return total

        return tuple(
            Equation(
                Apply(op.id, values, lane),
                ap(make_id(T.Vec4U32), *(entry(lane, element) for element in range(ELEMENTS))),
            )
            for lane in CORNERS
        )

    name = "lanes in the corners have the sums of the products of their rows and columns"
    return Custom(name, equations, tuple(p.type for p in op.params for _ in range(LANES)))


def _kept(op: Op, name: str, zeros: int) -> Custom:
    """Where one factor is 0 a lane keeps what it added to."""
    of = op.params[1 - zeros].type
    none = (Constant(0, op.params[zeros].type),) * LANES

    def equations(f: Func, *values: Term) -> tuple[Equation, ...]:
        given, sums = values[:LANES], values[LANES:]
        factors = (*none, *given) if zeros == 0 else (*given, *none)
        return tuple(Equation(Apply(op.id, (*factors, *sums), k), sums[k]) for k in CORNERS)

    return Custom(name, equations, (of,) * LANES + (op.output,) * LANES)


def _alike(op: Op) -> EquivalenceClass:
    """All lanes hold the same as lane 0."""
    sizes = [p.type.bits // 32 for p in op.params]
    places = [sum(sizes[:k]) * LANES for k in range(len(sizes))]

    def contains(d: D, *words: Any) -> Any:
        same = d.const(1)
        for first, size in zip(places, sizes, strict=True):
            for at in range(first + size, first + size * LANES):
                same = d.and_(same, d.eq(words[at], words[at - size]))
        return same

    def sample(d: D, *words: Any) -> Any:
        parts = zip(places, sizes, strict=True)
        return tuple(word for first, size in parts for word in words[first : first + size] * LANES)

    return EquivalenceClass("all lanes hold the same", contains, sample)


def twin_program(op: Op, depth: int = 0, element: int = 0) -> Program:
    """One subgroup, whose lanes read their operands from `data`, one after the other."""
    data, local = BufferDecl.read("data", 0, op.output), Var("l")
    entry: list[Node] = [Let("l", LocalId(0))]
    operands: list[Expr] = []
    for number, param in enumerate(op.params):
        value: Expr = data[local * len(op.params) + number]
        if param.type is T.Vec2U32:
            value = MakeVec(T.Vec2U32, (Lane(value, 0), Lane(value, 1)))
        entry.append(Let(f"x{number}", value))
        operands.append(Var(f"x{number}"))
    names = [f"r{i}" for i in range(ELEMENTS)]
    if depth:
        shared, body = f64_twin(depth, operands, names, invocations=LANES, local=local)
    else:
        shared, body = s8_twin(operands, names[0], invocations=LANES, local=local)
    entry += [*body, Store("out", local, Var(names[element]))]
    return Program((data, BufferDecl.read_write("out", 1, op.output), *shared), (LANES,), entry)


def _spec(op: Op, definition: Callable[..., Any], laws: tuple[AlgebraicLaw, ...], twin: Program) -> OpSpec:
    assert op.backend_availability is not None
    where = op.backend_availability.backends
    return OpSpec(
        op.id,
        OpSignature(tuple(p.type for p in op.params for _ in range(LANES)), op.output),
        definition,
        LanesForm(LANES, twin),
        op.doc.replace("`", ""),
        category="C",
        properties=laws,
        classes=(whole(), _alike(op)),
        extra_results=(op.output,) * (LANES - 1),
        hardware=op.hardware,
        availability=lambda backend: backend in where,
    )


def specs() -> list[OpSpec]:
    """Of every result of every instruction, in the order of the ops."""
    known = {op.hardware: op for op in ops()}
    found: list[OpSpec] = []
    for depth in DEPTHS:
        for element in range(ELEMENTS):
            op = known.pop(f64_hardware(depth, element))
            laws = (_chained(op, depth, element),)
            found.append(_spec(op, _chains(depth, element), laws, twin_program(op, depth, element)))
    (op,) = known.values()
    kept = (
        _kept(op, "of a = 0 the corners keep their sums", 0),
        _kept(op, "of b = 0 they keep them, too", 1),
    )
    return [*found, _spec(op, _sums, (_summed(op), *kept), twin_program(op))]
