"""Programs at the edges of the language, one per promise, with inputs: what every backend must get right.

`compare` runs one on a backend against the reference. Each is small, valid and free of races.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.exactness import memory, structure, values
from vyre.ir.types import VALUE_TYPES, DataType

if TYPE_CHECKING:
    from lab.exactness.build import Builder
    from vyre.conform.generate.programs import GeneratedProgram

_T = DataType
_OUTSIDE = (_T.U32, _T.F16, _T.U64, _T.Vec4U32, _T.Bool, _T.U8, _T.I16, _T.I64)


def exactness_programs() -> dict[str, GeneratedProgram]:
    """Every program by the promise it keeps."""
    return {name: build() for name, build in _BUILDERS.items()}


_BUILDERS: dict[str, Builder] = {
    "operators": values.operators,
    "literal operands": values.literal_operands,
    **{f"casts of {t.value}": values.casts(t) for t in VALUE_TYPES if t is not _T.F64},
    "lanes": values.lanes,
    "bools": values.bools,
    **{f"moves of {t.value}": values.moves(t) for t in (_T.F32, _T.F16, _T.BF16, _T.F64)},
    **{f"out of bounds {t.value}": memory.outside(t) for t in _OUTSIDE},
    "atomics": memory.atomics,
    "order of effects": memory.order,
    "lengths": memory.lengths,
    "zeroed workgroup memory": memory.zeroed,
    "barriers": memory.barriers,
    "halves": memory.halves,
    "early returns": structure.returns,
    "64 nested ifs": structure.nested,
    "deep expressions": structure.deep,
    "loops": structure.loops,
    "ids": structure.ids,
    **{f"long grid along {'xyz'[axis]}": structure.long_grid(axis) for axis in range(3)},
    "keywords": structure.keywords,
}
