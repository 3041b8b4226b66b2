"""Comparisons, classification, minimumNumber and maximumNumber, sign operations (decisions 7 and 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var, select
from vyre.numeric.formula import Formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout


def _compared(fmt: Layout, name: str, doc: str) -> tuple[Formula, Expr, Expr, Expr]:
    """The formula so far, two keys that order the numbers by value, and 1 where neither is NaN."""
    f = Formula(f"{fmt.prefix}.{name}", "a", "b", doc=doc)
    a, b = f.params
    size_a = f("size_a", a & fmt.magnitude)
    size_b = f("size_b", b & fmt.magnitude)
    key_a = f("key_a", select(a & fmt.sign, fmt.sign - size_a, fmt.sign + size_a))
    key_b = f("key_b", select(b & fmt.sign, fmt.sign - size_b, fmt.sign + size_b))
    ordered = f("ordered", (size_a <= fmt.infinity) & (size_b <= fmt.infinity))
    return f, key_a, key_b, ordered


def comparisons(fmt: Layout) -> list[Op]:
    f, a, b, ordered = _compared(fmt, "eq", "1 when equal; 0 when either is NaN.")
    eq = f.gives(ordered & a.eq(b))
    f, a, b, ordered = _compared(fmt, "ne", "The negation of eq: 1 when either is NaN.")
    ne = f.gives((ordered & a.eq(b)) ^ 1)
    f, a, b, ordered = _compared(fmt, "lt", "1 when `a` is below `b`; 0 when either is NaN.")
    lt = f.gives(ordered & (a < b))
    f, a, b, ordered = _compared(fmt, "gt", "1 when `a` is above `b`; 0 when either is NaN.")
    gt = f.gives(ordered & (a > b))
    f, a, b, ordered = _compared(fmt, "le", "1 when `a` is at most `b`; 0 when either is NaN.")
    le = f.gives(ordered & (a <= b))
    f, a, b, ordered = _compared(fmt, "ge", "1 when `a` is at least `b`; 0 when either is NaN.")
    ge = f.gives(ordered & (a >= b))
    return [eq, ne, lt, gt, le, ge]


def minimum(fmt: Layout) -> Op:
    return _chosen(fmt, "min", "The smaller number; a number beats NaN, and -0 is below +0.", smallest=True)


def maximum(fmt: Layout) -> Op:
    return _chosen(fmt, "max", "The larger number; a number beats NaN, and +0 is above -0.", smallest=False)


def _chosen(fmt: Layout, name: str, doc: str, *, smallest: bool) -> Op:
    f = Formula(f"{fmt.prefix}.{name}", "a", "b", doc=doc)
    a, b = f.params
    key_a, key_b = _total_key(f, fmt, a, "a"), _total_key(f, fmt, b, "b")
    nan_a = f("nan_a", (a & fmt.magnitude) > fmt.infinity)
    nan_b = f("nan_b", (b & fmt.magnitude) > fmt.infinity)
    first = f("first", key_a < key_b if smallest else key_a > key_b)
    chosen = f("chosen", select(nan_a, b, select(nan_b | first, a, b)))
    return f.gives(select(nan_a & nan_b, fmt.nan, chosen))


def _total_key(f: Formula, fmt: Layout, value: Expr, name: str) -> Var:
    """Orders all bit patterns of numbers, the two zeros too."""
    all_bits = fmt.sign | fmt.magnitude
    return f(f"key_{name}", value ^ select(value & fmt.sign, all_bits, fmt.sign))


def classes_and_signs(fmt: Layout) -> list[Op]:
    return [
        _unary(fmt, "is_nan", "1 for every NaN.", lambda a: (a & fmt.magnitude) > fmt.infinity),
        _unary(fmt, "is_inf", "1 for both infinities.", lambda a: (a & fmt.magnitude).eq(fmt.infinity)),
        _unary(fmt, "neg", "The sign bit flipped, on NaN too.", lambda a: a ^ fmt.sign),
        _unary(fmt, "abs", "The sign bit cleared, on NaN too.", lambda a: a & fmt.magnitude),
        _unary(
            fmt,
            "canon",
            "The same number; every NaN as the canonical one.",
            lambda a: select((a & fmt.magnitude) > fmt.infinity, fmt.nan, a),
        ),
    ]


def _unary(fmt: Layout, name: str, doc: str, result: Callable[[Expr], Expr]) -> Op:
    f = Formula(f"{fmt.prefix}.{name}", "a", doc=doc)
    return f.gives(result(f.params[0]))
