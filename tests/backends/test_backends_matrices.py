"""What a device must show for matrix instructions: the sums of exact fractions, in their order."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.backends import matrices
from vyre.backends.matrices import admitted, expected, families, is_right, trial_operands, trial_program
from vyre.backends.reference.backend import ReferenceBackend
from vyre.lower.matrices import MATRICES
from vyre.ops.intrinsics.matrix import f64_hardware
from vyre.reference.matrices import MATRICES as DEFINED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.ir.op import Op
    from vyre.ir.program import Program

    Row = list[tuple[float, float]]
    Adder = Callable[[float, Row], float]

FAMILIES = list(families())


def reference(program: Program) -> Any:
    return ReferenceBackend().compile(program).run


def test_every_instruction_is_defined_and_tried() -> None:
    assert {op.hardware for family in FAMILIES for op in family} == MATRICES == set(DEFINED)
    assert sorted(map(len, FAMILIES)) == [1, 4, 4, 4]
    assert admitted(reference) == MATRICES


def fused(a: float, b: float, c: float) -> float:
    """One rounding, as fractions convert to floats."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def ascending(c: float, row: Row) -> float:
    for a, b in row:
        c = fused(a, b, c)
    return c


def descending(c: float, row: Row) -> float:
    return ascending(c, row[::-1])


def behind(c: float, row: Row) -> float:
    """The products first, then what they are added to."""
    return ascending(0.0, row) + c


def twice(c: float, row: Row) -> float:
    """Products that are rounded before they are added."""
    for a, b in row:
        c = a * b + c
    return c


def at_once(c: float, row: Row) -> float:
    """Groups of four products, rounded once each."""
    for start in range(0, len(row), 4):
        c = float(Fraction(c) + sum(Fraction(a) * Fraction(b) for a, b in row[start : start + 4]))
    return c


def in_pairs(c: float, row: Row) -> float:
    for start in range(0, len(row), 2):
        (a, b), (d, e) = row[start : start + 2]
        c = fused(d, e, a * b) + c
    return c


def flushed(c: float, row: Row) -> float:
    total = ascending(c, row)
    return total if abs(total) >= 2.0**-1022 else total * 0.0


def device(add: Adder) -> Callable[[Program], Any]:
    """Runs the trial with sums of its own; what is infinite or no number it leaves to the definition."""

    def build(program: Program) -> Any:
        ops = next(f for f in FAMILIES if trial_program(f) == program)

        def run(buffers: Mapping[str, memoryview], workgroups: object) -> None:
            operands = trial_operands(ops[0])
            out = buffers["out"].cast("B").cast("Q")
            for number, op in enumerate(ops):
                values = other(op, operands, number, add)
                out[number * len(values) : (number + 1) * len(values)] = memoryview(
                    struct.pack(f"<{len(values)}Q", *values)
                ).cast("Q")

        return run

    return build


def other(op: Op, operands: Sequence[tuple[int, ...]], element: int, add: Adder) -> list[int]:
    found = expected(op, operands)
    depth = 2 * sum(param.name.startswith("a") for param in op.params)
    for lane in range(len(found)):
        first, g, t = lane // 32 * 32, lane % 32 // 4, lane % 4
        row, column = g + 8 * (element // 2), 2 * t + element % 2
        pairs = [
            (
                operands[first + row % 8 * 4 + k % 4][2 * (k // 4) + row // 8],
                operands[first + column * 4 + k % 4][depth // 2 + k // 4],
            )
            for k in range(depth)
        ]
        bits = [*(x for pair in pairs for x in pair), operands[lane][depth // 2 + depth // 4 + element]]
        numbers: list[float] = list(struct.unpack(f"<{len(bits)}d", struct.pack(f"<{len(bits)}Q", *bits)))
        flat, c = numbers[:-1], numbers[-1]
        if np.isfinite(numbers).all() and max(map(abs, flat)) < 1e150:
            total = add(c, list(zip(flat[::2], flat[1::2], strict=True)))
            found[lane] = struct.unpack("<Q", struct.pack("<d", total))[0]
    return found


DOUBLES = [family for family in FAMILIES if len(family) == 4]


@pytest.mark.parametrize("ops", DOUBLES, ids=lambda ops: ops[0].hardware)
def test_doubles_are_added_one_by_one(ops: list[Op]) -> None:
    """The same sums by fractions, with the places of the elements written anew."""
    assert is_right(ops, device(ascending))


@pytest.mark.parametrize("ops", DOUBLES, ids=lambda ops: ops[0].hardware)
@pytest.mark.parametrize("add", [descending, behind, twice, at_once, in_pairs, flushed])
def test_another_order_is_not_admitted(add: Adder, ops: list[Op]) -> None:
    assert not is_right(ops, device(add))


def test_one_wrong_element_costs_the_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = f64_hardware(8, 3)

    def changed(op: Op, operands: Sequence[tuple[int, ...]]) -> list[int]:
        found = expected(op, operands)
        return [*found[:-1], found[-1] ^ 1] if op.hardware == wrong else found

    monkeypatch.setattr(matrices, "expected", changed)
    assert admitted(reference) == MATRICES - {f64_hardware(8, i) for i in range(4)}


def test_bytes_wrap_and_are_signed() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(-128, 128, (16, 32)).astype(np.int8)
    b = rng.integers(-128, 128, (32, 8)).astype(np.int8)
    c = rng.integers(0, 1 << 32, (16, 8), dtype=np.uint32)
    wanted = (c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)) & 0xFFFF_FFFF
    a_words, b_words = a.view("<u4"), np.ascontiguousarray(b.T).view("<u4").T
    lanes: list[tuple[int, ...]] = []
    for lane in range(32):
        g, t = lane // 4, lane % 4
        rows = [(g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)]
        sums = [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]
        parts = [[a_words[x] for x in rows], [b_words[t, g], b_words[t + 4, g]], [c[x] for x in sums]]
        lanes.append(tuple(sum(int(w) << (32 * i) for i, w in enumerate(part)) for part in parts))
    found = DEFINED["mma_s8.m16n8k32"](lanes)
    for lane, value in enumerate(found):
        g, t = lane // 4, lane % 4
        for i in range(4):
            assert value >> (32 * i) & 0xFFFF_FFFF == wanted[g + 8 * (i // 2), 2 * t + i % 2]
