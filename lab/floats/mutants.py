"""Wrong versions of a soft op, each with one classic mistake: a sound check fails every one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, Select, Var
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.node import Let
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, transform
from vyre.numeric.soft.arithmetic import add, mul

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.op import Op


def _constant(value: int) -> Callable[[Expr], Expr]:
    return lambda _: LitU32(value)


def _variable(name: str) -> Callable[[Expr], Expr]:
    return lambda _: Var(name)


_MISTAKES: tuple[tuple[str, str, Callable[[Expr], Expr]], ...] = (
    ("truncates", "up", _constant(0)),
    ("forgets the sticky bit of what moved out", "jammed", _variable("moved")),
    ("forgets the sticky bit of the smaller summand", "aligned", _variable("moved")),
    ("forgets the sticky bit of the smaller summand", "aligned", _variable("moved_y")),
    ("forgets the sticky bit of the smaller summand", "dropped", _constant(0)),
    ("forgets the sticky bit of the remainder", "remainder", _constant(0)),
    ("flushes subnormal operands", "raw_a", lambda old: Select(Var("subnormal_a"), LitU32(0), old)),
    ("flushes subnormal operands", "significand_y", lambda old: Select(Var("subnormal_y"), LitU32(0), old)),
    ("goes past infinity", "finite", _variable("whole")),
    ("orders NaN", "ordered", _constant(1)),
    ("lets NaN win", "nan_b", _constant(0)),
    ("lets one NaN through", "nan_a", _constant(0)),
    ("rounds one place too low", "mask", lambda old: old >> 1),
    ("takes 1 for a fraction", "fraction", lambda old: old | Var("size").eq(Var("size"))),
    ("drops what is below the last place", "odd", _constant(0)),
    ("keeps subnormals as if they were normal", "subnormal", _constant(0)),
    # First to four bits more than there is room for, ties to even, then to the rest.
    ("rounds twice", "rest", lambda old: old + 7 + (old >> 4 & 1) & 0xFFFFFFF0),
)


def mutants(op: Op) -> list[tuple[str, Op]]:
    """Named wrong versions; at least one for every op."""
    steps = {node.name: node.value for node in op.body if isinstance(node, Let)}
    found: list[tuple[str, Op]] = []
    for mistake, step, change in _MISTAKES:
        if step not in steps:
            continue
        value = change(steps[step])
        if _known(op, step).issuperset(x.name for x in postorder(value) if isinstance(x, Var)):
            found.append((mistake, _with(op, step, value)))
    if op.id.endswith(".fma"):
        found.append(("rounds the product first", _unfused(op)))
    return found or [("has a constant with one bit wrong", _wrong_constant(op))]


def _known(op: Op, step: str) -> set[str]:
    """The names that a step can see."""
    known = {p.name for p in op.params}
    for node in op.body:
        if isinstance(node, Let):
            if node.name == step:
                break
            known.add(node.name)
    return known


def _with(op: Op, step: str, value: Expr) -> Op:
    body = tuple(
        Let(step, value) if isinstance(node, Let) and node.name == step else node for node in op.body
    )
    return replace(op, body=body)


def _unfused(op: Op) -> Op:
    """The product and then the sum, each rounded."""
    fmt = STRICT_FORMATS[DataType(op.id.split(".")[1].upper())]
    multiply, plus = mul(fmt), add(fmt)
    given: dict[str, Expr] = {"a": Var("rounded_product"), "b": Var("c")}
    assert multiply.result is not None
    assert plus.result is not None

    def renamed(expr: Expr) -> Expr:
        return transform(expr, lambda x: given.get(x.name, Var(f"sum_{x.name}")) if isinstance(x, Var) else x)

    sums = (Let(f"sum_{node.name}", renamed(node.value)) for node in plus.body if isinstance(node, Let))
    body = (*multiply.body, Let("rounded_product", multiply.result), *sums)
    return replace(op, body=body, result=renamed(plus.result))


def _wrong_constant(op: Op) -> Op:
    assert op.result is not None
    constants = [x for x in postorder(op.result) if isinstance(x, LitU32) and x.value > 1]
    wrong = LitU32(constants[0].value ^ 2)
    return replace(op, result=transform(op.result, lambda x: wrong if x is constants[0] else x))
