"""The oracle of F64: against MPFR and the reference interpreter, with faults that it must see."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.generate.cases import cases
from vyre.conform.oracle.floats import doubles
from vyre.conform.oracle.floats.doubles import exact_fused, expected, joined, operations, parted
from vyre.conform.registry import spec
from vyre.errors import VyreError
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.reference.floats import F64, binary, fma, from_integer, to_integer, unary

if TYPE_CHECKING:
    from vyre.conform.oracle.floats.operations import Operation

COUNT = 300


def by_reference(operation: Operation, *bits: int) -> int:
    op, *kinds = operation.name.split()
    if op == "FMulAdd":
        return fma(F64, *bits)
    if op != "Convert":
        return binary(BinaryOp(op), F64, *bits) if len(bits) == 2 else unary(UnaryOp(op), F64, *bits)
    source, target = DataType(kinds[0]), DataType(kinds[1])
    if source is DataType.F64:
        return to_integer(F64, bits[0], RoundMode(kinds[2]), target)
    return from_integer(F64, source, bits[0])


def columns(name: str, kind: str) -> tuple[Any, ...]:
    stream = cases(kind, spec(name), 11)
    return stream.block(0, min(COUNT, stream.length or COUNT))


@pytest.mark.parametrize("operation", operations(), ids=lambda o: o.name)
def test_it_agrees_with_the_reference_interpreter(operation: Operation) -> None:
    op, *kinds = operation.name.split()
    short = {"FMulAdd": "fma", "FIsNaN": "is_nan", "FIsInf": "is_inf"}.get(op, op[1:].lower())
    name = "float.convert." + ".".join(kinds).lower() if op == "Convert" else f"float.f64.{short}"
    for kind in ("adversarial", "correlated", "boundary"):
        words = columns(name, kind)
        found = operation.expected(*words)
        values = joined(*found) if isinstance(found, tuple) else found
        each = 2 if operation.source is DataType.F64 else 1
        operands = [joined(*words[k : k + 2]) if each == 2 else words[k] for k in range(0, len(words), each)]
        for row in range(len(values)):
            bits = [int(x[row]) for x in operands]
            assert int(values[row]) == by_reference(operation, *bits), [hex(b) for b in bits]


def random_doubles(seed: int, count: int) -> tuple[Any, Any, Any]:
    """Products in every range, half of them nearly cancelled by the summand."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 64, (3, count), dtype=np.uint64)
    moderate = bits & np.uint64(0x800F_FFFF_FFFF_FFFF) | np.uint64(1000 << 52)
    low = bits & np.uint64(0x801F_FFFF_FFFF_FFFF)
    made: Any = np.choose(rng.integers(0, 3, (3, count)), [bits, moderate, low]).view(np.float64)
    with np.errstate(all="ignore"):
        near = (-(made[0] * made[1])).view(np.uint64) ^ rng.integers(0, 4, count).astype(np.uint64)
    made[2, ::2] = near.view(np.float64)[::2]
    return made[0], made[1], made[2]


def test_the_fused_product_agrees_with_mpfr() -> None:
    gmpy2: Any = importlib.import_module("gmpy2")
    a, b, c = random_doubles(3, 4000)
    words = [w for x in (a, b, c) for w in parted(x.view(np.uint64))]
    got = joined(*expected("FMulAdd", *words))
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    with gmpy2.context(gmpy2.ieee(64)):
        wanted = [float(gmpy2.fma(*map(gmpy2.mpfr, row))) for row in rows]
    bits = np.where(np.isnan(wanted), np.uint64(doubles.F64.nan), np.array(wanted).view(np.uint64))
    assert got.tolist() == bits.tolist()


def test_rounding_twice_would_be_seen() -> None:
    """The cases have sums where a product that was rounded before gives another result."""
    a, b, c = random_doubles(4, 4000)
    words = [w for x in (a, b, c) for w in parted(x.view(np.uint64))]
    got = joined(*expected("FMulAdd", *words))
    with np.errstate(all="ignore"):
        twice = a * b + c
    assert np.count_nonzero((got != twice.view(np.uint64)) & ~np.isnan(twice)) > 100


def test_sums_below_the_normal_range_are_exact() -> None:
    tiny = float.fromhex("0x1p-1074")
    assert exact_fused(tiny, 0.5, tiny) == 2, "a tie goes to even"
    assert exact_fused(tiny, 0.5, 0.0) == 0
    assert exact_fused(-tiny, 0.25, 0.0) == doubles.F64.sign
    words = [w for x in (tiny, 0.5, tiny) for w in parted(np.array([x]).view(np.uint64))]
    assert joined(*expected("FMulAdd", *words)).tolist() == [2]


def test_functions_have_no_oracle() -> None:
    with pytest.raises(VyreError, match="no oracle for FSin on F64"):
        expected("FSin", np.zeros(1, np.uint32), np.zeros(1, np.uint32))
