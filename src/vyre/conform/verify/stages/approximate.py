"""The approximate track: every approximate operation within the tolerance that its program declares.

The measure is the exact result rounded once (`vyre.conform.oracle.floats.tolerated`). A result may be that
many
floats away, infinity counted as the one after the largest; NaN must be NaN, and signs must be right, those of
zeros too. A backend may choose its means by the tolerance, so each operation is tried with small and large
ones.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.conform.oracle.floats.operands import operands
from vyre.conform.oracle.floats.tolerated import function, reduction
from vyre.conform.verify.golden.operations import within
from vyre.conform.verify.stage import Trial, TrialStage
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Approx, FReduceApprox, InvocationId, Load
from vyre.ir.node import Store
from vyre.ir.operators import ApproxOp, ReduceOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.conform.records.results import RunPlan
    from vyre.ir.float_formats import FloatFormat

    Words = NDArray[np.uint32]
    Verdict = tuple[tuple[str, ...], str, str] | None

TOLERANCES = (1, 1024)
CASES = 1 << 16
"""Inputs of a function in a trial: for 16-bit formats all of them."""
RANGES = 448
_WORKGROUP = 64
_FORMATS = tuple(DataType(name) for name in LAYOUTS)
_I = InvocationId(0)


def _words(of: DataType, data: bytes) -> Words:
    return np.frombuffer(data, np.uint32 if of.stride == 4 else np.uint16).astype(np.uint32)


def _bytes(of: DataType, words: Words) -> bytes:
    return words.astype(np.uint32 if of.stride == 4 else np.uint16).tobytes()


def _judge(
    of: DataType, expected: Words, tolerance: int, inputs: Callable[[int], tuple[str, ...]]
) -> Callable[[Mapping[str, bytes]], Verdict]:
    def judge(found: Mapping[str, bytes]) -> Verdict:
        got = _words(of, found["out"])
        for k in np.flatnonzero(got != expected).tolist():
            want, have = int(expected[k]), int(got[k])
            if not within(want, have, of, tolerance):
                digits = of.stride * 2
                limit = f"0x{want:0{digits}X} within {tolerance}"
                return inputs(k), limit, f"0x{have:0{digits}X}"
        return None

    return judge


@cache
def _function_cases(op: ApproxOp, of: DataType, turn: int) -> tuple[Words, Words]:
    if of.stride == 2:
        given = np.arange(CASES, dtype=np.uint32)
    else:
        given = operands(of, 1, CASES * len(TOLERANCES))[0][turn * CASES : (turn + 1) * CASES]
    return given, function(op.value, of.value, given)


def _function_trial(op: ApproxOp, of: DataType, turn: int, _seed: int, _plan: RunPlan) -> Trial:
    tolerance = TOLERANCES[turn]
    given, expected = _function_cases(op, of, 0 if of.stride == 2 else turn)
    program = Program(
        [BufferDecl.read("a", 0, of), BufferDecl.read_write("out", 1, of)],
        (_WORKGROUP, 1, 1),
        [Store("out", _I, Approx(op, Load("a", _I), tolerance))],
    )
    buffers = {"a": _bytes(of, given), "out": bytes(CASES * of.stride)}
    judge = _judge(of, expected, tolerance, lambda k: (f"0x{int(given[k]):0{of.stride * 2}X}",))
    return Trial("", program, buffers, (CASES // _WORKGROUP, 1, 1), judge)


def ranges(of: FloatFormat, seed: int) -> list[list[int]]:
    """Elements that overflow on the way, cancel, are subnormal, lie next to a midpoint, or are special."""
    rng = np.random.default_rng(seed)
    unit, sign = 1 << of.fraction_bits, of.sign
    largest = of.infinity - 1
    extremes = [0, sign, 1, sign | 1, unit, largest, sign | largest, of.infinity - unit, of.one]
    special = [*extremes, of.infinity, sign | of.infinity, of.nan, of.magnitude, sign | of.infinity + 1]
    found: list[list[int]] = [
        [],
        [0],
        [sign],
        [sign, sign],
        [of.infinity + 1],
        [largest, largest, sign | largest],
    ]
    while len(found) < RANGES:
        kind = len(found) % 7
        count = int(rng.integers(1, 24)) if len(found) % 61 else 700
        bits = rng.integers(0, 2 * sign, count, dtype=np.uint32).tolist()
        near = [int(e) for e in rng.integers(of.bias - 4, of.bias + 4, count)]
        moderate = [b & (sign | unit - 1) | e << of.fraction_bits for b, e in zip(bits, near, strict=True)]
        match kind:
            case 0:
                values = [int(rng.choice(special)) for _ in range(min(count, 6))]
            case 1:
                values = [int(rng.choice(extremes)) for _ in range(count)]
            case 2:
                # Everything cancels but one small number.
                values = [x for b in moderate for x in (b, b ^ sign)] + [bits[0] & (unit - 1)]
                values = [values[k] for k in rng.permutation(len(values))]
            case 3:
                # One, half of its last place, and next to nothing: a midpoint, or just off it.
                half = of.one - (of.fraction_bits + 1) * unit
                values = [of.one, half, int(rng.choice([0, 1, sign | 1, of.one - min(of.bias, 60) * unit]))]
            case 4:
                values = [b % (2 * unit) | b & sign for b in bits]
            case 5:
                values = moderate
            case _:
                values = [b if b & of.magnitude < of.infinity else b & (sign | unit - 1) for b in bits]
        found.append(values)
    return found


def _reduction_trial(op: ReduceOp, of: DataType, turn: int, seed: int, _plan: RunPlan) -> Trial:
    tolerance = TOLERANCES[turn]
    layout = LAYOUTS[of.value]
    found = ranges(layout, seed)
    ends = np.cumsum([len(x) for x in found]).astype(np.uint32)
    starts = ends - np.array([len(x) for x in found], np.uint32)
    # The last range ends two elements behind the buffer, where zeros are read; one ends before it starts.
    lengths = [*found[:-1], [*found[-1], 0, 0]]
    ends[-1] += 2
    starts[0], ends[0] = 7, 3
    elements = np.array([x for r in found for x in r], np.uint32)
    expected = np.array([reduction(op.value, of.value, r) for r in lengths], np.uint32)
    program = Program(
        [
            BufferDecl.read("data", 0, of),
            BufferDecl.read("start", 1, DataType.U32),
            BufferDecl.read("stop", 2, DataType.U32),
            BufferDecl.read_write("out", 3, of),
        ],
        (_WORKGROUP, 1, 1),
        [Store("out", _I, FReduceApprox(op, "data", Load("start", _I), Load("stop", _I), tolerance))],
    )
    buffers = {
        "data": _bytes(of, elements),
        "start": starts.tobytes(),
        "stop": ends.tobytes(),
        "out": bytes(RANGES * of.stride),
    }
    judge = _judge(of, expected, tolerance, lambda k: _shown(lengths[k], of))
    return Trial("", program, buffers, (RANGES // _WORKGROUP, 1, 1), judge)


def _shown(values: Sequence[int], of: DataType) -> tuple[str, ...]:
    shown = tuple(f"0x{v:0{of.stride * 2}X}" for v in values[:16])
    if len(values) > len(shown):
        return (*shown, f"… {len(values)} elements")
    return shown or ("no elements",)


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    found: dict[str, Callable[[int, int, RunPlan], Trial]] = {}
    for of in _FORMATS:
        for op in ApproxOp:
            found[f"approximate {op.value} {of.value}"] = partial(_function_trial, op, of)
        for fold in ReduceOp:
            found[f"approximate FReduceApprox {fold.value} {of.value}"] = partial(_reduction_trial, fold, of)
    return found


STAGE = TrialStage("approximate", _subjects(), each=len(TOLERANCES))
"""A case is named `approximate/SUBJECT/NUMBER`; each operation has one for every tolerance."""
