"""A workgroup without barriers as several loops over its invocations, one for each independent part.

An invocation that handles several elements, a workgroup's width apart, would walk as many streams through
each buffer at once, which no processor fetches ahead well. The statements of one element share no variable
with those of the next and touch other places of memory, so each element gets a loop of its own: then the
workgroup reads and writes its part of a buffer from front to back.

Statements stay together where they share a variable that is more than a few operations on ids, or touch
places of a buffer that may be the same: every invocation then sees what it saw before, and a place that two
parts need is fetched once. `vyre.obligations.order` verifies each plan; one that it refuses is not used.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess
from vyre.ir.walk import every_node
from vyre.lower.llvm.interchange import interchanged
from vyre.lower.llvm.regions import RegionPlan, Run, names_of, small_variables
from vyre.lower.llvm.rolled import roll
from vyre.lower.llvm.touched import Access, touched
from vyre.obligations.order import Order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir import expr as e
    from vyre.lower.llvm.affine import Ranges

WIDE = 8
"""The width of a workgroup from which on its own loop is worth vectors."""

NARROW = 32
"""Shorter loops are not worth the cost of entering several."""


def plan_strands(plan: RegionPlan, ranges: Ranges) -> RegionPlan:
    """The plan of the fast version of a program without barriers; of others the given one."""
    match plan.items:
        case (Run(body=body, below=None),) if not plan.mortal and ranges.width >= WIDE:
            whole = replace(plan, items=(Run(body, lanes=True),))
        case _:
            return plan
    units = list(_taken(body, ranges))
    if any(b.access is BufferAccess.Private for b in ranges.prepared.buffers):
        return whole
    if any(isinstance(node, n.Return | n.Barrier) for node in every_node(units)):
        return whole
    small = small_variables(ranges.prepared, set())
    strands = _Strands(len(units))
    _join_by_variables(units, small, strands)
    _join_by_memory(units, ranges, strands)
    found: dict[int, list[n.Node]] = {}
    for number, node in enumerate(units):
        if not (isinstance(node, n.Let) and node.name in small):
            found.setdefault(strands.root(number), []).append(node)
    bodies = [tuple(part) for part in found.values()]
    order = Order(ranges.lines, ranges.width, ranges.place, small, partial(ranges.decided, fast=True))
    if not order.taken(body, units) or not order.parts_apart(bodies):
        return whole
    items = tuple(interchanged(run, ranges, order) for run in roll(bodies, small, ranges, order))
    if len(items) > 1 and ranges.width < NARROW:
        return whole
    return RegionPlan(items, small, (), mortal=False)


def _taken(body: tuple[n.Node, ...], ranges: Ranges) -> Iterator[n.Node]:
    """The statements with blocks opened, and of a decided `If` the branch that is always taken."""
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        match node:
            case n.Block(body=inner):
                stack.extend(reversed(inner))
            case n.If(condition=condition, then=then, orelse=orelse):
                taken = ranges.branch(condition)
                if taken is None:
                    yield node
                else:
                    stack.extend(reversed(then if taken else orelse))
            case _:
                yield node


class _Strands:
    """Disjoint sets of statements; the root of a set is its first one."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def root(self, number: int) -> int:
        above = self._above
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._above[second] = first


def _join_by_variables(units: list[n.Node], small: dict[str, e.Expr], strands: _Strands) -> None:
    users: dict[str, int] = {}
    for number, unit in enumerate(units):
        for node in every_node((unit,)):
            for name in names_of(node):
                if name not in small:
                    strands.join(users.setdefault(name, number), number)


def _join_by_memory(units: list[n.Node], ranges: Ranges, strands: _Strands) -> None:
    buffers: dict[str, list[tuple[int, Access]]] = {}
    for number, unit in enumerate(units):
        for access in touched((unit,), ranges):
            buffers.setdefault(access.buffer, []).append((number, access))
    for accesses in buffers.values():
        # What only is read, all over or by all invocations alike, may be read again.
        written = any(access.writes for _, access in accesses)
        near = [(u, a.form) for u, a in accesses if written or (a.form and a.form.local)]
        known = [(form, unit) for unit, form in near if form is not None]
        if len(known) < len(near) or len({(form.group, form.rows) for form, _ in known}) > 1:
            for unit, _ in near[1:]:
                strands.join(near[0][0], unit)
            continue
        known.sort(key=lambda pair: ranges.first(pair[0]))
        end, leader = -1, 0
        for form, unit in known:
            if ranges.first(form) > end:
                leader = unit
            strands.join(leader, unit)
            end = max(end, ranges.last(form))
