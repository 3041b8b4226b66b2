"""The stage of the subgroup instructions: right ones pass, absent ones are refused, wrong ones fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.records.results import RunPlan
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED, Outcome
from vyre.conform.verify.stages import matrices
from vyre.conform.verify.stages.subgroups import SHAPES, STAGE, SURROUNDINGS, program_of
from vyre.ir.expr import Call, Expr, LitU32
from vyre.ir.program import Program
from vyre.ir.walk import transform, with_parts
from vyre.ops.intrinsics import intrinsic_ops
from vyre.ops.intrinsics.subgroup import WIDTHS
from vyre.reference import run
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.node import Node

    Change = Callable[[Call], Expr]

PLAN = RunPlan("mine", 1, 100, (1, 1), 0, (), "abc", ("subgroups",), 4, False, 1 << 16, 1)
EACH = len(SURROUNDINGS)
SUBJECTS = [STAGE.subject(k * EACH) for k in range(STAGE.count(PLAN) // EACH)]


def judged(backend: Any, subject: str) -> list[Outcome]:
    first = SUBJECTS.index(subject) * EACH
    return STAGE.run(backend, PLAN, first, first + EACH)


class Mutant:
    """The reference on a program in which every call is changed."""

    name = "mutant"

    def __init__(self, change: Change) -> None:
        self._change = change

    def describe(self) -> Any:
        return ReferenceBackend().describe()

    def compile(self, program: Program) -> Any:
        entry = self._body(program.entry)
        return ReferenceBackend().compile(Program(program.buffers, program.workgroup_size, entry))

    def _body(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            with_parts(n, tuple(transform(x, self._one) for x in n.exprs), tuple(map(self._body, n.bodies)))
            for n in nodes
        )

    def _one(self, expr: Expr) -> Expr:
        return self._change(expr) if isinstance(expr, Call) else expr


def renamed(old: str, new: str) -> Change:
    return lambda call: Call(call.op_id.replace(old, new), call.args)


def one_off(call: Call) -> Expr:
    return Call(call.op_id, (call.args[0], call.args[1] + LitU32(1)))


def lowest_bit(call: Call) -> Expr:
    return Call(call.op_id, (call.args[0] & 1,))


def opposite(call: Call) -> Expr:
    return ~call


MUTANTS: dict[str, tuple[str, Change]] = {
    "up for down": ("shuffle_down", renamed("shuffle_down", "shuffle_up")),
    "exclusive or for index": ("shuffle", renamed(".shuffle", ".shuffle_xor")),
    "index for exclusive or": ("shuffle_xor", renamed(".shuffle_xor", ".shuffle")),
    "one lane off": ("shuffle", one_off),
    "half the width": ("reduce_add", renamed("subgroup8", "subgroup4")),
    "twice the width": ("reduce_xor", renamed("subgroup8", "subgroup16")),
    "a wider lane number": ("shuffle_up", renamed("subgroup8", "subgroup16")),
    "ballot of the opposite": ("ballot", opposite),
    "ballot of the lowest bit": ("ballot", lowest_bit),
    "or for add": ("reduce_add", renamed("reduce_add", "reduce_or")),
    "max for min": ("reduce_min", renamed("reduce_min", "reduce_max")),
    "and for or": ("reduce_or", renamed("reduce_or", "reduce_and")),
}


def test_every_instruction_is_a_subject() -> None:
    assert [op.id for op in intrinsic_ops()] == SUBJECTS


def test_the_reference_passes() -> None:
    for width in WIDTHS:
        for name in ("shuffle_down", "ballot"):
            found = judged(ReferenceBackend(), f"intrinsic.subgroup{width}.{name}")
            assert [o.status for o in found] == [PASSED] * EACH


@pytest.mark.parametrize(("name", "change"), MUTANTS.values(), ids=MUTANTS)
def test_a_wrong_lane_is_caught_in_every_surrounding(name: str, change: Change) -> None:
    found = judged(Mutant(change), f"intrinsic.subgroup8.{name}")
    assert [o.status for o in found].count(FAILED) >= EACH - 1  # one case may leave before it exchanges
    first = next(o for o in found if o.status == FAILED)
    assert first.kind == "value"
    assert first.inputs[0].startswith("out[")
    assert first.expected != first.actual


def sides_swapped(call: Call) -> Expr:
    """The two elements of `b` in each other's place."""
    a, (first, second), c = call.args[:4], call.args[4:6], call.args[6:]
    return Call(call.op_id, (*a, second, first, *c))


def sums_left_out(call: Call) -> Expr:
    """The composition that stands beside the instruction is left as it is."""
    return Call(call.op_id, (*call.args[:2], call.args[0])) if len(call.args) == 3 else call


MATRIX_MUTANTS: dict[str, tuple[str, Change]] = {
    "another element": ("mma_f64.m16n8k8_1", renamed("k8_1", "k8_2")),
    "k in another order": ("mma_f64.m16n8k8_3", sides_swapped),
    "sums of something else": ("mma_s8.m16n8k32", sums_left_out),
}


@pytest.mark.parametrize(("name", "change"), MATRIX_MUTANTS.values(), ids=MATRIX_MUTANTS)
def test_a_wrong_matrix_is_caught_in_every_surrounding(name: str, change: Change) -> None:
    found = judged(Mutant(change), f"intrinsic.{name}")
    assert [o.status for o in found] == [FAILED] * EACH
    assert {o.kind for o in found} == {"value"}


@pytest.mark.parametrize("name", ["mma_f64.m16n8k4_3", "mma_s8.m16n8k32"])
def test_the_reference_multiplies_matrices_like_the_twin(name: str) -> None:
    found = judged(ReferenceBackend(), f"intrinsic.{name}")
    assert [o.status for o in found] == [PASSED] * EACH
    op = next(op for op in intrinsic_ops() if op.hardware == name)
    program = matrices.program_of(op, "beside its twin")
    out = run(program, matrices.inputs_of(op, 0, 5), (matrices.GROUPS, 1, 1)).buffers["out"]
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_a_refusal_is_no_failure() -> None:
    found = judged(CpuBackend(threads=1), "intrinsic.subgroup32.shuffle")
    assert {o.status for o in found} == {REFUSED}
    assert all("intrinsic.subgroup32.shuffle is not supported by the backend cpu" in o.actual for o in found)


def test_the_programs_are_valid_in_every_shape() -> None:
    exchanges = [op for op in intrinsic_ops() if not op.hardware.startswith("mma")]
    for op in exchanges[-3:]:
        for shape in SHAPES:
            for name in SURROUNDINGS:
                assert validate(program_of(op, shape, name)) == []
    for op in intrinsic_ops()[len(exchanges) :]:
        for name in matrices.SURROUNDINGS:
            assert validate(matrices.program_of(op, name)) == []
