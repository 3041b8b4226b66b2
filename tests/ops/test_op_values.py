"""Every op of the standard library, run by the reference interpreter against an independent formula."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest

from tests.ops.float_formulas import FORMS, FUNCTIONS, encode, formula, names
from tests.ops.integer_formulas import FORMULAS
from tests.ops.quantised_formulas import CODES
from vyre.backends.execute import run_bytes
from vyre.backends.registry import available, get
from vyre.compose import default_registry
from vyre.compose.inline import inline
from vyre.conform.generate.programs import HIDING
from vyre.ir import BufferDecl, Call, DataType, InvocationId, Program
from vyre.ops import standard_ops
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.compose import Op

T = DataType
EDGES_32 = [
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    0xFF,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFF,
]
EDGES_64 = [0, 1, 0xFFFF_FFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x1234_5678_9ABC_DEF0]
EDGES_128 = [*EDGES_64, 1 << 64, 1 << 96, (1 << 96) - 1, (1 << 127), (1 << 128) - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 10.0, -0.75, 100.25]


def float_edges(t: DataType) -> list[int]:
    """Ordinary values, subnormals, the largest number, infinities, and NaNs with odd payloads."""
    form = FORMS[t]
    infinity = encode(t, float("inf"))
    sign = 1 << (form.bits - 1)
    special = [1, 3, infinity - 1, infinity, infinity | 1, form.nan]
    return [*(encode(t, x) for x in FLOATS), *special, *(s | sign for s in special)]


def edges(t: DataType) -> list[int]:
    if t in FORMS:
        return float_edges(t)
    return {T.U32: EDGES_32, T.I32: EDGES_32, T.U64: EDGES_64, T.U128: EDGES_128}[t]


def cases(op: Op, count: int) -> list[tuple[int, ...]]:
    """Edge values crossed, evenly thinned to two thirds of `count`, then random bits."""
    source = random.Random(op.id)
    crossed = list(itertools.product(*(edges(p.type) for p in op.params)))
    wanted = min(len(crossed), 2 * count // 3)
    chosen = crossed if wanted == len(crossed) else source.sample(crossed, wanted)
    drawn = (
        tuple(source.getrandbits(p.type.bits) >> source.choice((0, 0, p.type.bits // 2)) for p in op.params)
        for _ in range(count - wanted)
    )
    return [*chosen, *drawn]


def execute(op: Op, inputs: Sequence[tuple[int, ...]], backend: str = "reference") -> list[int]:
    """The op over all inputs, one invocation each."""
    here = InvocationId(0)
    reads = [BufferDecl.read(p.name, i, p.type) for i, p in enumerate(op.params)]
    out = BufferDecl.read_write("out", len(reads), op.output)
    body = out.store(here, Call(op.id, tuple(r[here] for r in reads)))
    supplied = {
        p.name: b"".join(case[i].to_bytes(p.type.stride, "little") for case in inputs)
        for i, p in enumerate(op.params)
    }
    supplied["out"] = bytes(len(inputs) * op.output.stride)
    program = Program([*reads, out], (64,), [body])
    groups = (-(-len(inputs) // 64), 1, 1)
    if backend == "reference":
        data = run(program, supplied, groups).buffers["out"]
    else:
        data = run_bytes(get(backend).compile(inline(program)), program, supplied, groups)["out"]
    size = op.output.stride
    return [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]


def mismatches(op: Op, expected: Callable[..., int], count: int) -> list[str]:
    inputs = cases(op, count)
    found = execute(op, inputs)
    return [
        f"{op.id}{tuple(map(hex, case))} gave {bits:#x}, not {expected(*case):#x}"
        for case, bits in zip(inputs, found, strict=True)
        if bits != expected(*case)
    ]


@pytest.mark.parametrize("op_id", sorted(FORMULAS))
def test_integer_ops(op_id: str) -> None:
    assert mismatches(default_registry()[op_id], FORMULAS[op_id], 1_000) == []


@pytest.mark.parametrize("op_id", sorted(HIDING))
def test_ops_that_no_generated_program_calls_on_backends(op_id: str) -> None:
    op = default_registry()[op_id]
    inputs = cases(op, 300)
    expected = [FORMULAS[op_id](*case) for case in inputs]
    for backend in ("cpu", "opencl", "wgpu"):
        if available(backend)[0].available:
            assert execute(op, inputs, backend) == expected, backend


@pytest.mark.parametrize("op_id", sorted(CODES))
def test_quantised_ops(op_id: str) -> None:
    assert mismatches(default_registry()[op_id], CODES[op_id], 1_000) == []


@pytest.mark.parametrize(
    ("t", "name"), [(t, name) for t in FORMS for name in sorted(names(t))], ids=lambda v: str(v).lower()
)
def test_float_ops(t: DataType, name: str) -> None:
    op = default_registry()[f"{FORMS[t].prefix}.{name}"]
    count = 120 if name in FUNCTIONS else 600
    assert mismatches(op, formula(t, name), count) == []


def test_every_standard_op_has_a_formula() -> None:
    known = set(FORMULAS) | set(CODES)
    known |= {f"{form.prefix}.{name}" for t, form in FORMS.items() for name in names(t)}
    assert {op.id for op in standard_ops()} == known


def test_a_wrong_formula_is_noticed() -> None:
    """The control: shifting where the op rotates differs on the same cases."""
    wrong = mismatches(default_registry()["integer.rotl"], FORMULAS["primitive.bitwise.shl"], 320)
    assert any("0x80000000" in line for line in wrong)
