"""Elements by coordinates: which index of a buffer `a[i, j]` is.

Row-major. A coordinate that reaches its dimension is out of bounds, whatever the other ones are, and the
index then is one that no buffer has (decision 27). Below that the index cannot wrap: a shape has at most
as many elements as a u32 counts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from vyre.errors import counted
from vyre.frontend import operators
from vyre.frontend.retyping import type_name
from vyre.frontend.values import Buffer, Const, Operand, Refused, Several, Value
from vyre.ir.expr import Atomic, BufLen, Call, Expr, FReduce, FReduceApprox, Load, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.op import Op, Param
from vyre.ir.types import DataType
from vyre.ir.walk import postorder
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

U32 = DataType.U32


def touches(expr: Expr) -> bool:
    """Whether evaluating it twice can be seen or costs much: it loads, counts or calls."""
    return any(isinstance(part, (Load, Atomic, Call, FReduce, FReduceApprox)) for part in postorder(expr))


@dataclass(frozen=True, slots=True)
class ElementIndex:
    """What indices and shapes of buffers are in one kernel."""

    dimension: Callable[[int | str], Value | Const]
    link: Callable[[Op], Op]
    table: Callable[[Any, str], Buffer]
    """The buffer of a constant sequence, which may be called as it is in Python."""

    def shape(self, buffer: Buffer) -> tuple[Value | Const, ...]:
        """The dimensions; one, the length, where none is declared."""
        if len(buffer.shape) < 2:
            return (Value(BufLen(buffer.decl.name), U32),)
        return tuple(self.dimension(size) for size in buffer.shape)

    def index(self, buffer: Buffer, index: Operand) -> Value:
        """The index of the element at an index or at several coordinates, each evaluated once."""
        name, shape = buffer.name, buffer.shape
        coordinates = index.items if isinstance(index, Several) else (index,)
        rank = max(len(shape), 1)
        if len(coordinates) != rank:
            given = counted(len(coordinates), "index", "indices")
            raise Refused(
                f"the buffer {name!r} has {counted(rank, 'dimension')} and got {given}.",
                f"write {name}[{_letters(rank)}]."
                if shape
                else f"declare its shape, as in {name}: {_annotated(buffer)}, or flatten the index: "
                f"{name}[y * width + x].",
            )
        places = [_coordinate(buffer, c) for c in coordinates]
        if rank == 1:
            return operators.coerce(places[0], U32, "an index")
        for place, size in zip(places, shape, strict=True):
            if isinstance(place, Const) and isinstance(size, int) and place.value >= size:
                raise Refused(
                    f"the coordinate {place.value} is outside the dimension {size} of {name!r}.",
                    f"use a coordinate from 0 to {size - 1}.",
                )
        sizes = self.shape(buffer)
        if not any(isinstance(p, Value) and touches(p.expr) for p in places):
            return _linear(places, sizes)
        return self._call(places, sizes)

    def _call(self, places: Sequence[Value | Const], sizes: Sequence[Value | Const]) -> Value:
        """The index as an op, whose arguments are evaluated once though each is used twice."""
        rank = len(places)
        stems = [f"{kind}{axis}" for kind in ("at", "of") for axis in range(rank)]
        operands = [operators.coerce(x, U32, "a coordinate").expr for x in (*places, *sizes)]
        inside = [Value(Var(stem), U32) for stem in stems]
        result = _linear(inside[:rank], inside[rank:])
        op = Op(f"local.index_{rank}", tuple(Param(stem, U32) for stem in stems), U32, result.expr)
        return Value(Call(self.link(op).id, tuple(operands)), U32)


def subscripts(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """What `a[y][x]` indexes, and all it is indexed with."""
    base, indices = node.value, [node.slice]
    while isinstance(base, ast.Subscript):
        base, indices = base.value, [base.slice, *indices]
    return base, indices


def refuse_rows(buffer: Operand, node: ast.Subscript) -> None:
    """Refuses `a[y][x]` where `a[y]` is not an element: rows are not values."""
    if not isinstance(buffer, Buffer):
        return
    base, indices = subscripts(node)
    name, shape = ast.unparse(base), buffer.shape
    first = len(indices[0].elts) if isinstance(indices[0], ast.Tuple) else 1
    if first == max(len(shape), 1) and (len(shape) > 1 or buffer.decl.element.loaded.lanes > 1):
        return
    parts = [part for i in indices for part in (i.elts if isinstance(i, ast.Tuple) else [i])]
    meant = f"{name}[{', '.join(map(ast.unparse, parts))}]"
    if len(shape) < 2:
        declared = f"declare its shape, as in {name}: {_annotated(buffer)}, and write {meant}."
        raise Refused(f"an element of {name!r} has no elements of its own.", declared)
    rank = counted(len(shape), "dimension")
    fits = f"write {meant}." if len(parts) == len(shape) else f"write {name}[{_letters(len(shape))}]."
    raise Refused(f"the buffer {name!r} has {rank}, and {ast.unparse(node)} gives one index at a time.", fits)


def _letters(rank: int) -> str:
    return ", ".join("ijklmnop"[:rank])


def _annotated(buffer: Buffer) -> str:
    role = "Out" if buffer.decl.access.writable else "In"
    return f'{role}[{type_name(buffer.decl.element)}, Literal["m", "n"]]'


def _coordinate(buffer: Buffer, coordinate: Operand) -> Value | Const:
    if isinstance(coordinate, Const):
        value = coordinate.value
        if not isinstance(value, float) and value < 0:
            name = buffer.name
            last = (
                f"{name}[len({name}) - {-value}]" if len(buffer.shape) < 2 else f"{name}.shape[0] - {-value}"
            )
            raise Refused("an index counts from 0.", f"write {last}.")
        operators.constant(Const(int(value)) if isinstance(value, bool) else coordinate, U32)
        return Const(int(value))
    return operators.place(coordinate, "an index")


def _linear(places: Sequence[Value | Const], sizes: Sequence[Value | Const]) -> Value:
    index: Operand = places[0]
    tests: list[Operand] = []
    for axis, (place, size) in enumerate(zip(places, sizes, strict=True)):
        if not (isinstance(place, Const) and isinstance(size, Const)):
            tests.append(operators.compare(ast.Lt(), place, size))
        if axis:
            index = operators.binary(ast.Add(), operators.binary(ast.Mult(), index, size), place)
    if tests:
        inside = operators.logical(ast.And(), tests) if len(tests) > 1 else tests[0]
        index = operators.choose(inside, index, Const(U32_MAX))
    return operators.coerce(index, U32, "an index")
