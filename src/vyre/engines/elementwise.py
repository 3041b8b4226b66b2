"""One expression over the elements of buffers, several elements an invocation.

A GPU hides the latency of memory behind other loads: an invocation that reads one element and waits leaves
bandwidth unused. Here an invocation first reads all its elements, a workgroup's width apart, and only then
computes. Where all of them are inside the buffers, which is everywhere but at the end, nothing is checked.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Expr, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import If, Let, Loop
from vyre.ir.operators import BinaryOp
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.types import DataType

LANES, ITEMS = 256, 4


def elementwise(
    value: Callable[..., Expr],
    *inputs: DataType,
    output: DataType,
    lanes: int = LANES,
    items: int = ITEMS,
) -> Program:
    """The program `out[i] = value(a[i], b[i], …)` over as many elements as `out` has.

    The inputs are the buffers `a`, `b`, …, of the given types, and as long as `out`, else they are continued
    with zeros. It runs in `workgroups(length)` workgroups. `lanes` is the width of a workgroup, `items` the
    number of elements of an invocation.
    """
    if not 1 <= len(inputs) <= 26 or items < 1:
        raise VyreError(
            f"a program of {len(inputs)} inputs and {items} items is not possible.",
            fix="give 1 to 26 types, and at least one item.",
        )
    buffers = [BufferDecl.read(chr(ord("a") + place), place, t) for place, t in enumerate(inputs)]
    out = BufferDecl.read_write("out", len(buffers), output)
    first, whole = Var("i"), lanes * items
    places = [first + k * lanes if k else first for k in range(items)]
    # Where the elements of a workgroup divide 2^32, no index wraps, and all are inside if the last one is.
    compared = places[-1:] if whole & (whole - 1) == 0 else places
    inside = [b.length > i for i in compared for b in (*buffers, out)]
    loads = [Let(f"{b.name}_{k}", b[i]) for k, i in enumerate(places) for b in buffers]
    stores = [out.store(i, value(*(Var(f"{b.name}_{k}") for b in buffers))) for k, i in enumerate(places)]
    at_the_end = out.store(first + Var("k") * lanes, value(*(b[first + Var("k") * lanes] for b in buffers)))
    body = If(
        reduce(lambda x, y: BinOp(BinaryOp.And, x, y), inside),
        (*loads, *stores),
        (Loop("k", LitU32(0), LitU32(items), (at_the_end,)),),
    )
    head = Let("i", WorkgroupId(0) * whole + LocalId(0))
    return Program((*buffers, out), (lanes, 1, 1), (head, body))


def workgroups(length: int, *, lanes: int = LANES, items: int = ITEMS) -> int:
    """How many workgroups cover this many elements."""
    return -(-length // (lanes * items))
