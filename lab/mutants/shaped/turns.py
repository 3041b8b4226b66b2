"""How many turns the loops of a dispatch really take, from which start, and how long its reductions are.

    counted = count(backend, program, buffers, workgroups)
    counted.turns, counted.starts, counted.reduced

Counted by running the program itself, on copies of its memory, with a counter in front of every loop and
every reduction that keeps the most that any invocation came by with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.mutants.rewrite import rewrite
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, FReduce, LitU32, Select, Var
from vyre.ir.node import Let, Loop
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions, postorder, statements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Backend
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

COUNTS = "counts_of_the_exam"


@dataclass(frozen=True, slots=True)
class Counted:
    turns: frozenset[int] = frozenset()
    starts: frozenset[int] = frozenset()
    reduced: frozenset[int] = frozenset()


def count(
    backend: Backend, program: Program, buffers: Mapping[str, bytes], workgroups: tuple[int, int, int]
) -> Counted:
    loops: dict[Node, int] = {
        n: k for k, n in enumerate(n for _, n in statements(program.entry) if isinstance(n, Loop))
    }
    folds: dict[Expr, int] = {
        x: k for k, x in enumerate(x for x in expressions(program.entry) if isinstance(x, FReduce))
    }
    if not loops and not folds:
        return Counted()
    changed = _counting(program, loops, folds)
    memory = np.zeros(2 * len(loops) + len(folds), np.uint32)
    copies = {name: bytearray(data) for name, data in buffers.items()}
    views = {name: memoryview(data) for name, data in copies.items()}
    backend.compile(changed).run({**views, COUNTS: memory.view(np.uint8).data}, workgroups)
    # One more than what was counted, so that 0 turns and a loop that was not reached differ.
    seen = [int(w) for w in memory]
    per_loop = seen[: 2 * len(loops)]
    reached = [k for k in range(len(loops)) if per_loop[2 * k]]
    return Counted(
        frozenset(per_loop[2 * k] - 1 for k in reached),
        frozenset(per_loop[2 * k + 1] - 1 for k in reached),
        frozenset(w - 1 for w in seen[2 * len(loops) :] if w),
    )


def _counting(program: Program, loops: Mapping[Node, int], folds: Mapping[Expr, int]) -> Program:
    names = iter(range(1 << 30))

    def noted(place: int, value: Expr) -> Node:
        return Let(f"noted_{next(names)}", Atomic(AtomicOp.Max, COUNTS, LitU32(place), value + 1))

    # A rewritten loop holds rewritten bodies, so it is known by its variable and bounds.
    keys = {(n.var, n.start, n.stop): k for n, k in loops.items() if isinstance(n, Loop)}

    def before(node: Node) -> list[Node]:
        found: list[Node] = []
        if isinstance(node, Loop):
            k = keys[node.var, node.start, node.stop]
            first, last = f"first_{next(names)}", f"last_{next(names)}"
            found = [Let(first, node.start), Let(last, node.stop)]
            span = Select(Var(last) > Var(first), Var(last) - Var(first), LitU32(0))
            found += [noted(2 * k, span), noted(2 * k + 1, Var(first))]
            node = Loop(node.var, Var(first), Var(last), node.body)
        for root in node.exprs:
            for x in postorder(root):
                if isinstance(x, FReduce):
                    span = Select(x.stop > x.start, x.stop - x.start, LitU32(0))
                    found.append(noted(2 * len(loops) + folds[x], span))
        return [*found, node]

    binding = 1 + max((b.binding for b in program.buffers if b.binding is not None), default=-1)
    decl = BufferDecl.read_write(COUNTS, binding, DataType.U32)
    changed = rewrite(program, node=before)
    return Program((*program.buffers, decl), program.workgroup_size, changed.entry)
