"""Programs over the elements of an array, one result each, and the counting that a fill waits for.

heads       whether an element differs from the one before it
places      from an exclusive scan of flags, where an element that is kept goes to
count       how many are kept: what is read before the output is made
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.marks import marked_steps
from vyre.engines.plan import Count, Shape, SlotPart, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import If, Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vyre.engines.order import Order
    from vyre.engines.plan import Bound
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.types import DataType

I = Var("i")  # noqa: E741 - the element that a program is about


def over(shape: Shape, length: Expr, body: Sequence[Node], buffers: Iterable[BufferDecl]) -> Program:
    """The program that does `body` for every element `i` below `length`."""
    if shape.lanes == 1:
        first, tile = GROUP * LitU32(shape.items), LitU32(shape.items)
        rest = length - first
        each: Node = Loop("i", first, first + Select(rest < tile, rest, tile), body)
    else:
        first = GROUP * LitU32(shape.lanes * shape.items) + LOCAL
        index = Let("i", first + Var("k") * LitU32(shape.lanes))
        each = Loop("k", LitU32(0), LitU32(shape.items), [index, If(length > I, body)])
    return Program(arranged((*buffers, PARAMS)), (shape.lanes, 1, 1), [*opening(shape), each])


def step_over(
    program: Program, shape: Shape, count: int, bindings: Mapping[str, Bound], params: tuple[int, ...] = ()
) -> Step:
    """A step of a program of `over`."""
    return Step(program, groups_for(count, shape.lanes * shape.items), bindings, params)


@cache
def fill_program(shape: Shape) -> Program:
    """`param(0)` everywhere; the input is there because the convention asks for one."""
    nothing, output = BufferDecl.read("input", 0, U32), BufferDecl.read_write("output", 1, U32)
    return over(shape, output.length, [Store("output", I, param(0))], (nothing, output))


NOTHING = {"nothing": Space(U32, 1, written=True)}
"""The buffer that a step of `filled` needs, and that nobody reads."""


def filled(shape: Shape, count: int, target: Bound, value: int) -> Step:
    """The step that writes one number to all of a buffer of U32."""
    bindings: dict[str, Bound] = {"input": "nothing", "output": target}
    return step_over(fill_program(shape), shape, count, bindings, (value,))


@cache
def heads_program(order: Order, shape: Shape) -> Program:
    """1 where a key differs from the one before it, and for the first."""
    keys = BufferDecl.read("input", 0, order.carrier)
    output = BufferDecl.read_write("output", 1, U32)
    differs = I.eq(0) | order.differ(Var("key"), Var("before")).ne(0)
    body = [Let("key", keys[I]), Let("before", keys[I - LitU32(1)]), Store("output", I, differs)]
    return over(shape, keys.length, body, (keys, output))


@cache
def count_program(shape: Shape) -> Program:
    """How many flags are set: the place of the last element, and itself."""
    flags, places = BufferDecl.read("flags", 0, U32), BufferDecl.read("places", 1, U32)
    count = BufferDecl.read_write("count", 2, U32, count=1)
    last = flags.length - LitU32(1)
    entry: list[Node] = [
        *opening(shape),
        If(LOCAL.eq(0), [Store("count", LitU32(0), places[last] + flags[last].ne(0))]),
    ]
    return Program(arranged((flags, places, count, PARAMS)), (shape.lanes, 1, 1), entry)


@cache
def keep_program(carrier: DataType, shape: Shape) -> Program:
    """Element i goes to its place where its flag is set."""
    values = BufferDecl.read("input", 0, carrier)
    flags, places = BufferDecl.read("flags", 1, U32), BufferDecl.read("places", 2, U32)
    output = BufferDecl.read_write("output", 3, carrier)
    body = [If(flags[I], [Store("output", places[I], values[I])])]
    return over(shape, values.length, body, (values, flags, places, output))


def counted_places(shape: Shape, count: int, flags: str) -> tuple[list[Step], dict[str, Space], Count]:
    """The steps that leave `places` and `count` for an array of flags, the buffers, and the count."""
    steps, scratch = scan_steps("add", shape, count, flags, "places", inclusive=False, truth=True)
    scratch |= {"places": Space(U32, count, written=True), "count": Space(U32, 1, written=True)}
    bindings = {"flags": flags, "places": "places", "count": "count"}
    return [*steps, Step(count_program(shape), 1, bindings)], scratch, Count("count", count)


def kept_steps(
    carrier: DataType, shape: Shape, count: int, source: str, flags: str, target: str
) -> tuple[list[Step], dict[str, Space], Count]:
    """The steps that leave the elements of `source` whose flag is set in `target`, which has as many."""
    if shape.lanes > 1:
        return marked_steps(carrier, shape, count, source, flags, target)
    steps, scratch, kept = counted_places(shape, count, flags)
    bindings: dict[str, Bound] = {
        "input": SlotPart(source, carrier, count),
        "flags": flags,
        "places": "places",
        "output": SlotPart(target, carrier, count),
    }
    return [*steps, step_over(keep_program(carrier, shape), shape, count, bindings)], scratch, kept
