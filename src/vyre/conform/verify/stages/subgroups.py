"""Hardware instructions, each in several surroundings: the backend's lanes hold what the reference's hold.

Subjects are the ids of the Category C ops. A device has one width, so most are refused, which is not a
failure; a backend that claims an instruction must give it right in rows and blocks of invocations, in loops,
between barriers, and in operands that other languages would evaluate for some lanes only.
"""

from __future__ import annotations

from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.verify.stage import Trial, TrialStage, exactly, random_u32
from vyre.conform.verify.stages import matrices
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, LitU32, LocalId, Select, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Return, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ops.intrinsics import intrinsic_ops
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.records.results import RunPlan
    from vyre.ir.op import Op

    Size = tuple[int, int, int]
    Surroundings = Callable[[Op, int], list[Node]]
    Verdict = tuple[tuple[str, ...], str, str] | None

U32 = DataType.U32
GROUPS = 5
SHAPES: tuple[Size, ...] = ((64, 1, 1), (8, 4, 2), (2, 2, 32), (32, 3, 1))
"""Workgroups whose sizes are multiples of every width."""

_DATA = BufferDecl.read("data", 0, U32)
_OTHER = BufferDecl.read("other", 1, U32)
_SWITCH = BufferDecl.uniform("switch", 2, U32, count=4)
_OUT = BufferDecl.read_write("out", 3, U32)
_I = Var("i")


def _call(op: Op, value: Expr, other: Expr) -> Call:
    return Call(op.id, (value, other)[: len(op.params)])


def _alone(op: Op, size: int) -> list[Node]:
    return [Store("out", _I, _call(op, _DATA[_I], _OTHER[_I]))]


def _in_a_loop(op: Op, size: int) -> list[Node]:
    """The bounds are the same for all, the values change from round to round."""
    x, r = Var("x"), Var("r")
    step = Assign("x", x * LitU32(5) + _call(op, x ^ r, _OTHER[_I] + r))
    return [
        Let("x", _DATA[_I]),
        Loop("r", LitU32(0), _SWITCH[LitU32(1)], (step,)),
        Store("out", _I, x),
    ]


def _between_barriers(op: Op, size: int) -> list[Node]:
    """Under a condition that all share, on values that came through workgroup memory."""
    mirrored = BufferDecl.workgroup("shared", U32, size)[LitU32(size - 1) - Var("l")]
    return [
        Store("shared", Var("l"), _DATA[_I]),
        Barrier(),
        If(
            _SWITCH[LitU32(0)].eq(1),
            (Let("y", _call(op, mirrored, _OTHER[_I])), Barrier(), Store("out", _I, Var("y"))),
            (Store("out", _I, _call(op, mirrored + 1, _OTHER[_I]) + 1),),
        ),
    ]


def _as_operands(op: Op, size: int) -> list[Node]:
    """Both sides of a choice and of a conjunction are evaluated by every lane, behind a shared return."""
    value, other = _DATA[_I], _OTHER[_I]
    chosen = Select(value & 1, _call(op, value, other), _call(op, ~value, other + 3))
    both = (value < 0x8000_0000).and_(_call(op, value >> 3, other) & 1)
    return [
        If(_SWITCH[LitU32(2)].eq(1), (Store("out", _I, LitU32(9)), Return())),
        Store("out", _I, chosen + both),
    ]


SURROUNDINGS: Mapping[str, Surroundings] = {
    "alone": _alone,
    "in a loop": _in_a_loop,
    "between barriers": _between_barriers,
    "as operands": _as_operands,
}


def program_of(op: Op, shape: Size, surroundings: str) -> Program:
    """One instruction on every invocation of the grid, in linear order."""
    x, y, _ = shape
    size = prod(shape)
    entry: list[Node] = [
        Let("l", LocalId(0) + LocalId(1) * x + LocalId(2) * (x * y)),
        Let("i", WorkgroupId(0) * size + Var("l")),
        *SURROUNDINGS[surroundings](op, size),
    ]
    shared = [BufferDecl.workgroup("shared", U32, size)] if surroundings == "between barriers" else []
    return Program((_DATA, _OTHER, _SWITCH, _OUT, *shared), shape, entry)


def inputs_of(shape: Size, turn: int, seed: int) -> dict[str, bytes]:
    """Values of which some are 0, second operands of which half are lanes of any width; `turn` chooses the
    branches and the number of rounds."""
    count = prod(shape) * GROUPS
    data = random_u32(seed, count)
    data[random_u32(seed + 1, count) % 3 == 0] = 0
    other = random_u32(seed + 2, count)
    other[::2] %= np.uint32(36)
    switch = np.array([turn & 1, 2 + turn % 3, int(turn % 8 == 7), 0], np.uint32)
    return {
        "data": data.tobytes(),
        "other": other.tobytes(),
        "switch": switch.tobytes(),
        "out": bytes(4 * count),
    }


def trial(op: Op, case: int, seed: int, plan: RunPlan) -> Trial:
    turn = seed // len(SURROUNDINGS)
    shape = SHAPES[turn % len(SHAPES)]
    program = program_of(op, shape, list(SURROUNDINGS)[case])
    buffers = inputs_of(shape, turn, seed)
    grid = (GROUPS, 1, 1)

    @cache
    def expected() -> bytes:
        return run(program, buffers, grid).buffers["out"]

    def judge(found: Mapping[str, bytes]) -> Verdict:
        return exactly({"out": expected()})(found)  # computed on demand: most widths are refused

    return Trial("", program, buffers, grid, judge, plan.repeats)


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    return {
        op.id: partial(matrices.trial if op.hardware.startswith("mma_") else trial, op)
        for op in intrinsic_ops()
    }


STAGE = TrialStage("subgroups", _subjects(), each=len(SURROUNDINGS))
