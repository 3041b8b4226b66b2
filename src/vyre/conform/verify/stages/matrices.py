"""Matrix instructions in several surroundings: every lane holds what the reference's holds, and what the twin
gives that is composed of other ops."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.verify.stage import Trial, exactly, random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, Lane, LitU32, LocalId, MakeVec, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ops.intrinsics.matrix import ELEMENTS, LANES
from vyre.ops.intrinsics.matrix_twin import f64_twin, s8_twin
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.records.results import RunPlan
    from vyre.ir.op import Op

    Verdict = tuple[tuple[str, ...], str, str] | None

T = DataType
GROUPS, SIZE = 2, 64
_SWITCH = BufferDecl.uniform("switch", 2, T.U32, count=4)
_I = Var("i")


def _family(op: Op) -> list[str]:
    """The ids of all results of the instruction that an op is one of."""
    if op.output is not T.F64:
        return [op.id]
    base = op.id.rpartition("_")[0]
    return [f"{base}_{i}" for i in range(ELEMENTS)]


def _called(op: Op, names: list[str], operands: list[Expr]) -> list[Node]:
    return [Let(name, Call(op_id, operands)) for name, op_id in zip(names, _family(op), strict=True)]


def _own(op: Op, names: list[str]) -> Var:
    """The result that the op is."""
    return Var(names[_family(op).index(op.id)])


def _alone(op: Op, operands: list[Expr]) -> list[Node]:
    return [Store("out", _I, Call(op.id, operands))]


def _in_a_loop(op: Op, operands: list[Expr]) -> list[Node]:
    """Results become the sums of the next round."""
    kept = [f"kept{i}" for i in range(len(_family(op)))]
    made = [f"made{i}" for i in range(len(kept))]
    factors, sums = operands[: -len(kept)], operands[-len(kept) :]
    body = [
        *_called(op, made, [*factors, *map(Var, kept)]),
        *(Assign(name, Var(value)) for name, value in zip(kept, made, strict=True)),
    ]
    start = [Let(name, value) for name, value in zip(kept, sums, strict=True)]
    return [*start, Loop("r", LitU32(0), _SWITCH[LitU32(1)], body), Store("out", _I, _own(op, kept))]


def _under_a_condition(op: Op, operands: list[Expr]) -> list[Node]:
    """One that all share, with a barrier behind the instruction."""
    made = [f"made{i}" for i in range(len(_family(op)))]
    others = [*reversed(operands)] if op.output is T.F64 else [operands[2], operands[1], operands[0]]
    return [
        If(
            _SWITCH[LitU32(0)].eq(1),
            (*_called(op, made, operands), Barrier(), Store("out", _I, _own(op, made))),
            (Store("out", _I, Call(op.id, others)),),
        )
    ]


def _beside_its_twin(op: Op, operands: list[Expr]) -> list[Node]:
    """The result twice: by the instruction, and behind all of those by the composition."""
    _, entry = _twin(op, operands)
    made = [f"made{i}" for i in range(len(_family(op)))]
    behind = _I + LitU32(SIZE * GROUPS)
    own = _own(op, [f"twin{i}" for i in range(len(made))])
    return [*_called(op, made, operands), *entry, Store("out", _I, _own(op, made)), Store("out", behind, own)]


def _twin(op: Op, operands: list[Expr]) -> tuple[tuple[BufferDecl, ...], tuple[Node, ...]]:
    if op.output is not T.F64:
        return s8_twin(operands, "twin0", invocations=SIZE, local=Var("l"))
    names = [f"twin{i}" for i in range(ELEMENTS)]
    depth = 2 * sum(param.name.startswith("a") for param in op.params)
    return f64_twin(depth, operands, names, invocations=SIZE, local=Var("l"))


SURROUNDINGS: Mapping[str, Callable[[Op, list[Expr]], list[Node]]] = {
    "alone": _alone,
    "in a loop": _in_a_loop,
    "under a condition": _under_a_condition,
    "beside its twin": _beside_its_twin,
}


def program_of(op: Op, surroundings: str) -> Program:
    """The operands of every invocation follow each other in `data`."""
    data = BufferDecl.read("data", 0, op.output)
    entry: list[Node] = [Let("l", LocalId(0)), Let("i", WorkgroupId(0) * SIZE + Var("l"))]
    operands: list[Expr] = []
    for number, param in enumerate(op.params):
        value: Expr = data[_I * len(op.params) + number]
        if param.type is T.Vec2U32:
            value = MakeVec(T.Vec2U32, (Lane(value, 0), Lane(value, 1)))
        entry.append(Let(f"x{number}", value))
        operands.append(Var(f"x{number}"))
    entry += SURROUNDINGS[surroundings](op, operands)
    own = _twin(op, operands)[0] if surroundings == "beside its twin" else ()
    return Program((data, _SWITCH, BufferDecl.read_write("out", 1, op.output), *own), (SIZE,), entry)


def inputs_of(op: Op, turn: int, seed: int) -> dict[str, bytes]:
    """Doubles whose products cancel and differ in size, or any bytes."""
    count = GROUPS * SIZE * len(op.params)
    if op.output is T.F64:
        high = random_u32(seed, count) & np.uint32(0x800F_FFFF)
        exponents = 1023 - 20 + random_u32(seed + 1, count) % np.uint32(40)
        words = np.stack([random_u32(seed + 2, count), high | (exponents << np.uint32(20))], axis=1)
        words[random_u32(seed + 3, count) % 5 == 0] &= np.uint32(0xFFF0_0000)
    else:
        words = random_u32(seed, 4 * count)
    switch = np.array([turn & 1, 2 + turn % 3, 0, 0], np.uint32)
    size = 2 * GROUPS * SIZE * op.output.stride
    return {"data": words.tobytes(), "switch": switch.tobytes(), "out": bytes(size)}


def trial(op: Op, case: int, seed: int, plan: RunPlan) -> Trial:
    assert op.lanes == LANES
    turn = seed // len(SURROUNDINGS)
    program = program_of(op, list(SURROUNDINGS)[case])
    buffers = inputs_of(op, turn, seed)
    grid = (GROUPS, 1, 1)

    @cache
    def expected() -> bytes:
        return run(program, buffers, grid).buffers["out"]

    def judge(found: Mapping[str, bytes]) -> Verdict:
        # Computed on demand: most backends refuse.
        return exactly({"out": expected()}, width=op.output.stride)(found)

    return Trial("", program, buffers, grid, judge, plan.repeats)
