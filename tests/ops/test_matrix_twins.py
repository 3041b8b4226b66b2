"""What stands for a matrix instruction where there is none: the same bits by barriers and plain loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vyre import LocalId, Program
from vyre.backends.execute import run_bytes
from vyre.backends.registry import available, get
from vyre.conform.verify.stages.matrices import GROUPS, SIZE, inputs_of, program_of
from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import Call, Expr, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.types import DataType
from vyre.ops.intrinsics import intrinsic_ops
from vyre.ops.intrinsics.matrix_twin import f64_twin, s8_twin
from vyre.reference import run
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.ir.op import Op

BACKENDS = [status.name for status in available() if status.available]
OPS = [op for op in intrinsic_ops() if op.hardware.startswith("mma_")]


def twin_of(op: Op) -> Program:
    """The instruction alone, with its twin in its place."""
    made = program_of(op, "alone")
    lets = [node for node in made.entry if isinstance(node, Let)]
    (store,) = (node for node in made.entry if isinstance(node, Store))
    assert isinstance(store.value, Call)
    operands: list[Expr] = list(store.value.args)
    if op.output is DataType.F64:
        depth = 2 * sum(param.name.startswith("a") for param in op.params)
        names = [f"r{i}" for i in range(4)]
        buffers, entry = f64_twin(depth, operands, names, invocations=SIZE, local=LocalId(0))
        result = names[int(op.id[-1])]
    else:
        buffers, entry = s8_twin(operands, "r", invocations=SIZE, local=LocalId(0))
        result = "r"
    nodes: list[Node] = [*lets, *entry, Store("out", store.index, Var(result))]
    return Program((*made.buffers, *buffers), made.workgroup_size, nodes)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.hardware)
def test_a_twin_has_no_instruction_and_no_fault(op: Op) -> None:
    program = twin_of(op)
    assert validate(program) == []
    assert "intrinsic" not in program.to_text()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("op", [*OPS[1::5], OPS[-1]], ids=lambda op: op.hardware)
def test_a_twin_gives_the_bits_of_the_instruction(op: Op, backend: str) -> None:
    grid, buffers = (GROUPS, 1, 1), inputs_of(op, 0, 11)
    truth = run(program_of(op, "alone"), buffers, grid).buffers["out"]
    program = twin_of(op)
    if backend in ("wgpu", "dawn") and op.output is DataType.F64:
        with pytest.raises(UnsupportedByBackend, match="F64"):
            get(backend).compile(program)
        return
    assert run_bytes(get(backend).compile(program), program, buffers, grid)["out"] == truth
