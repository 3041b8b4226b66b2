"""Matrix instructions in CUDA C: one helper each, around one instruction of PTX.

An op of `mma_f64` is one of four elements of a result. The emitter calls the helper once for calls that stand
behind each other and differ in nothing but the element (`ELEMENTS`). Nothing may move, merge or drop what is
`volatile`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEPTHS = (4, 8, 16)
_COUNT = 4
_S8 = "mma_s8.m16n8k32"

ELEMENTS: Mapping[str, tuple[str, int]] = {
    f"intrinsic.mma_f64.m16n8k{depth}_{i}": (f"intrinsic_mma_f64_m16n8k{depth}", i)
    for depth in _DEPTHS
    for i in range(_COUNT)
}
"""The helper of an op that is one element of its result, and which element."""

MATRICES = frozenset({*(op_id.removeprefix("intrinsic.") for op_id in ELEMENTS), _S8})
"""The hardware ids."""


def _helper(depth: int) -> str:
    results = [f"r{i}" for i in range(_COUNT)]
    parts = [[f"{name}{i}" for i in range(n)] for name, n in (("a", depth // 2), ("b", depth // 4), ("c", 4))]
    operands = [x for part in parts for x in part]
    params = ", ".join([*(f"double& {r}" for r in results), *(f"double {x}" for x in operands)])
    outputs, inputs = (
        ", ".join(f'"{kind}"({x})' for x in row) for kind, row in (("=d", results), ("d", operands))
    )
    shape = f"mma.sync.aligned.m16n8k{depth}.row.col.f64.f64.f64.f64"
    text = f"{shape} {', '.join(_registers([results, *parts]))};"
    asm = f'asm volatile("{text}" : {outputs} : {inputs});'
    return f"FN void intrinsic_mma_f64_m16n8k{depth}({params}) {{ {asm} }}"


def _registers(rows: list[list[str]]) -> list[str]:
    """The operands of an instruction, numbered as `asm` numbers them."""
    found: list[str] = []
    start = 0
    for row in rows:
        found.append("{" + ", ".join(f"%{start + i}" for i in range(len(row))) + "}")
        start += len(row)
    return found


def _byte_helper() -> str:
    rows = [[f"{name}.{x}" for x in "xyzw"[:n]] for name, n in (("r", 4), ("a", 4), ("b", 2), ("c", 4))]
    text = f"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {', '.join(_registers(rows))};"
    outputs = ", ".join(f'"=r"({x})' for x in rows[0])
    inputs = ", ".join(f'"r"({x})' for row in rows[1:] for x in row)
    head = "FN uint4 intrinsic_mma_s8_m16n8k32(uint4 a, uint2 b, uint4 c)"
    return f'{head} {{ uint4 r; asm volatile("{text}" : {outputs} : {inputs}); return r; }}'


CUDA_PRELUDE = "".join(f"{line}\n" for line in (*(_helper(depth) for depth in _DEPTHS), _byte_helper()))
