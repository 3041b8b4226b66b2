"""Loops that a compiler is told to unroll: few turns of a body that is straight.

Compilers unroll small loops by themselves and stop at bodies like the inner one of a matrix product, where it
pays most: loads of all turns are then in flight at once, and addresses are constants.
"""

from __future__ import annotations

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import every_node, expressions
from vyre.lower.native import is_native

_PLAIN = (n.Let, n.Assign, n.Store, n.If)
MOST_TURNS = 16
STATEMENTS = range(128, 4097)
"""Of all turns together; fewer are unrolled by every compiler."""


def is_unrolled(loop: n.Loop) -> bool:
    """Whether every turn of the loop is known, and is values, memory and conditions alone: no way out, no
    barrier, no loop inside, and no call of more than an instruction."""
    match loop:
        case n.Loop(start=e.LitU32(value=start), stop=e.LitU32(value=stop), body=body):
            turns = stop - start
        case _:
            return False
    if not 1 < turns <= MOST_TURNS:
        return False
    inside = list(every_node(body))
    if turns * len(inside) not in STATEMENTS or not all(isinstance(node, _PLAIN) for node in inside):
        return False
    return all(is_native(part.op_id) for part in expressions(body) if isinstance(part, e.Call))
