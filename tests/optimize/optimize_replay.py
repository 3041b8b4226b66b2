"""Expressions over given values, run by the reference interpreter itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import BufferDecl, DataType, Expr, Let, LitU32, Program, Store, Var
from vyre.ir.environment import Types
from vyre.ir.types import LANE_TYPES
from vyre.ir.walk import transform
from vyre.optimize.fold import literal
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def type_over(types: Mapping[str, DataType], root: Expr) -> DataType:
    """The type of an expression over variables of these types."""
    env = Types(())
    for name, t in types.items():
        env.declare(name, t)
    return env.type(root)


def replay(types: Mapping[str, DataType], values: Mapping[str, int], exprs: Sequence[Expr]) -> list[int]:
    """The bits of each expression, by a program that binds the values and stores the results."""
    kinds = [type_over(types, expr) for expr in exprs]
    buffers = [BufferDecl.read_write(f"out{i}", i, t, count=1) for i, t in enumerate(kinds)]
    lets = [Let(f"in_{name}", literal(t, values.get(name, 0))) for name, t in types.items()]
    named = [transform(x, lambda e: Var(f"in_{e.name}") if isinstance(e, Var) else e) for x in exprs]
    stores = [Store(f"out{i}", LitU32(0), expr) for i, expr in enumerate(named)]
    result = run(Program(buffers, (1, 1, 1), [*lets, *stores]), {}, (1, 1, 1), check=False)
    return [int.from_bytes(result.buffers[b.name], "little") for b in buffers]


def width(t: DataType) -> int:
    """How many bits of a value count."""
    return 1 if t is DataType.Bool else 32 * t.lanes if t in LANE_TYPES else t.bits
