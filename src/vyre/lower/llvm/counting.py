"""Which values may run along with a loop, and so must not be cut to fewer bits where LLVM sees both.

LLVM takes `(i + 1) & 15` for a counter of four bits. Where it checks that a wider counter does not wrap,
LLVM 22 believes the same of that one, and reads 16 elements in a row where the index starts again
(docs/upstream-bugs.md). Whatever drops bits of a counter therefore gets it combined with a zero that LLVM
does not know: the value is the same, and a counter no more. `counting` names the variables and buffers that
may hold a counter, and says it of expressions; too often costs an instruction, too seldom a wrong result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import every_node
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir.node import Node

_DROPPING = frozenset({BinaryOp.BitAnd, BinaryOp.Div, BinaryOp.Mod, BinaryOp.MulHi, BinaryOp.Shr})
_DIVIDING = frozenset({BinaryOp.Div, BinaryOp.Mod})
_KEEPING = frozenset({BinaryOp.Add, BinaryOp.Sub, BinaryOp.Mul, BinaryOp.Shl, BinaryOp.BitOr})
_ID = ""
"""Stands for all ids, which count along the loop over the invocations; no variable has this name."""


@dataclass(frozen=True, slots=True)
class Counting:
    """The variables and the buffers of a program that may hold a counter."""

    names: frozenset[str]

    def __contains__(self, expr: e.Expr) -> bool:
        """Whether LLVM may see the value as a counter."""
        return any(name in self.names for name in _sources(expr))


def counting(entry: tuple[Node, ...]) -> Counting:
    """What may hold a counter anywhere in the program."""
    targets: dict[str, set[str]] = {}
    stack = [_ID]
    for node in every_node(entry):
        match node:
            case n.Loop(var=var):
                stack.append(var)
            case n.Let(name=name, value=value) | n.Assign(name=name, value=value):
                for source in _sources(value):
                    targets.setdefault(source, set()).add(name)
            case n.Store(buffer=name, value=value):
                for source in _sources(value):
                    targets.setdefault(source, set()).add(_memory(name))
            case _:
                pass
    found: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += targets.get(name, ())
    return Counting(frozenset(found))


def _sources(root: e.Expr) -> Iterator[str]:
    """Where the counters come from that the value may be one of."""
    seen: set[e.Expr] = set()
    stack = [root]
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        match expr:
            case e.InvocationId() | e.WorkgroupId() | e.LocalId():
                yield _ID
            case e.Var(name=name):
                yield name
            case e.Load(buffer=buffer) | e.Atomic(buffer=buffer):
                yield _memory(buffer)
            case e.BinOp(op=BinaryOp.BitXor, left=left, right=right):
                if not (drops_bits(left) or drops_bits(right)):
                    stack += (left, right)
            case e.BinOp(op=op, left=left, right=right) if op in _KEEPING or _divides(expr):
                stack += (left, right)
            case e.Select(if_true=yes, if_false=no):
                stack += (yes, no)
            case e.UnOp() | e.Cast() | e.Lane() | e.MakeVec():
                stack += expr.children
            case _:
                pass


def drops_bits(expr: e.Expr) -> bool:
    """Whether counters among its operands are hidden, so that its result is none."""
    return isinstance(expr, e.BinOp) and expr.op in _DROPPING and not _divides(expr)


def _divides(expr: e.BinOp) -> bool:
    """Division by anything but a power of two drops no bits, and LLVM may join its two results again."""
    right = expr.right
    return expr.op in _DIVIDING and isinstance(right, e.LitU32) and right.value.bit_count() > 1


def _memory(buffer: str) -> str:
    """The name of what a buffer holds, which no variable has."""
    return f"{buffer}[]"
