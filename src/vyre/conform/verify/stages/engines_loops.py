"""Whether a program's loops run for a time that the data decides.

A bound may come from literals, lengths, ids, Uniform parameters and what is computed from these. A value
that was loaded from storage or workgroup memory, or that an atomic gave, taints all it touches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Atomic, FReduce, FReduceApprox, Load, Var
from vyre.ir.node import Assign, If, Let, Loop
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.program import Program


def data_dependent_loop(program: Program) -> str | None:
    """The variable of a loop whose bounds depend on data, or None."""
    fixed = {b.name for b in program.buffers if b.access is BufferAccess.Uniform}
    tainted: set[str] = set()
    while True:
        found = set(tainted)
        for _, node in statements(program.entry):
            match node:
                case Let(name=name, value=value) | Assign(name=name, value=value):
                    if _depends(value, fixed, found):
                        found.add(name)
                case If(condition=condition) if _depends(condition, fixed, found):
                    found |= _assigned(node)
                case Loop(var=var, start=start, stop=stop):
                    if _depends(start, fixed, found) or _depends(stop, fixed, found):
                        return var
                case _:
                    pass
        if found == tainted:
            return None
        tainted = found


def _assigned(node: If) -> set[str]:
    """What a branch changes depends on the condition, too."""
    return {
        inner.name
        for body in (node.then, node.orelse)
        for _, inner in statements(body)
        if isinstance(inner, Assign)
    }


def _depends(root: Expr, fixed: set[str], tainted: set[str]) -> bool:
    for expr in postorder(root):
        match expr:
            case Load(buffer=buffer) if buffer not in fixed:
                return True
            case Atomic() | FReduce() | FReduceApprox():
                return True
            case Var(name=name) if name in tainted:
                return True
            case _:
                pass
    return False
