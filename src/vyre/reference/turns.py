"""When a loop that `vyre.bounded` limits would have ended by itself."""

from __future__ import annotations

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import expressions

_DOES_MORE = (e.Atomic, e.Call, e.FReduce, e.FReduceApprox)


def leaving(loop: n.Loop) -> tuple[list[n.Let], e.Expr] | None:
    """The condition under which a turn ends the loop at its start, after the values that it is made of.

    None where asking for it does more than compute and load.
    """
    lets: list[n.Let] = []
    for k, node in enumerate(loop.body):
        match node:
            case n.Let():
                lets.append(node)
            case n.If(condition=condition, then=(n.Break(),), orelse=()):
                plain = not any(isinstance(x, _DOES_MORE) for x in expressions(loop.body[: k + 1]))
                return (lets, condition) if plain else None
            case _:
                return None
    return None
