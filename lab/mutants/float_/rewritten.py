"""Optimisers that believe in real numbers: rewrites that are true of those and false of floats.

Each is right wherever an operation stands alone, so the ops never show it. The stage that puts one
operation into another does; the fusions are also what `vyre probe` and a device's canaries ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from lab.mutants.float_.fault import by_rule
from lab.mutants.float_.format import FORMATS, binary, unary
from lab.mutants.mutant import IR, Mutant
from vyre.conform.verify.stages.float_folding import STAGE
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, Literal, LitU32, Select, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.float_.format import Format, Word
    from vyre.ir.environment import Types

Step = Callable[["Format", Expr], Expr]
"""What an optimiser makes of one expression over a format; the expression itself where nothing."""

REALS = "rewritten as over the reals"
FUSED, APART, ORDER = "product and sum fused", "fused operation taken apart", "reassociated"
UNDONE, NANS = "operations cancelled", "NaN assumed away"


def mutants() -> Iterator[Mutant]:
    for f in FORMATS:
        for kind, where, step, subject in _steps():
            yield _mutant(kind, where, f, step, f"{subject} {f.type.value}")
        for kind, where, step, subject in _casts(f):
            yield _mutant(kind, where, f, step, f"{subject} of {f.type.value}")
    for where, step in (("log of exp", _log_of_exp), ("exp of log", _exp_of_log)):
        yield _mutant(UNDONE, where, FORMATS[0], step, "functions of F32")
    yield _mutant("product of powers", "exp a exp b", FORMATS[0], _powers, "functions of F32")
    for case in ("probe/FMul then FAdd F32", "canaries/no fusion of a product and a sum"):
        rule = partial(_applied, FORMATS[0], _fused_add)
        yield Mutant(FUSED, f"a b + c, F32, by the {case.partition('/')[0]}", IR, by_rule(rule), case)
    for case in ("probe/FMulAdd F32", "canaries/fused products"):
        rule = partial(_applied, FORMATS[0], _apart)
        yield Mutant(APART, f"F32, by the {case.partition('/')[0]}", IR, by_rule(rule), case)


def _mutant(kind: str, where: str, f: Format, step: Step, subject: str) -> Mutant:
    rule = partial(_applied, f, step)
    return Mutant(kind, f"{where}, {f.type.value}", IR, by_rule(rule), STAGE.case(subject))


def _applied(f: Format, step: Step, x: Expr, types: Types) -> Expr:
    """The step on expressions with operands of its format, or made of such."""
    parts = [part for child in x.children for part in (child, *child.children)]
    return step(f, x) if any(types.type(part) is f.type for part in parts) else x


def _of(x: Expr, op: str) -> BinOp | None:
    return x if isinstance(x, BinOp) and x.op is BinaryOp(op) else None


def _un(x: Expr, op: str) -> UnOp | None:
    return x if isinstance(x, UnOp) and x.op is UnaryOp(op) else None


def _is(f: Format, x: Expr, *words: Word) -> bool:
    return isinstance(x, Literal) and x.type is f.type and x.bits in f.words(*words)


def _absorbed(op: str, word: Word, result: Callable[[Format, Expr], Expr]) -> Step:
    """An operation with a literal on its right."""

    def step(f: Format, x: Expr) -> Expr:
        found = _of(x, op)
        return result(f, found.left) if found is not None and _is(f, found.right, word) else x

    return step


def _twice(op: str, result: Callable[[Format, Expr], Expr]) -> Step:
    """An operation on the same operand twice."""

    def step(f: Format, x: Expr) -> Expr:
        found = _of(x, op)
        return result(f, found.left) if found is not None and found.left is found.right else x

    return step


def _literal(word: Word) -> Callable[[Format, Expr], Expr]:
    return lambda f, _: f.literal(word)


def _same(f: Format, x: Expr) -> Expr:
    return x


def _word(value: int) -> Callable[[Format, Expr], Expr]:
    return lambda f, _: LitU32(value)


def _steps() -> Iterator[tuple[str, str, Step, str]]:
    yield REALS, "x + 0 is x", _absorbed("FAdd", "zero", _same), "literals in FAdd"
    yield REALS, "x - -0 is x", _absorbed("FSub", "-zero", _same), "literals in FSub"
    yield REALS, "x 0 is 0", _absorbed("FMul", "zero", _literal("zero")), "literals in FMul"
    yield REALS, "x / 3 is x times a third", _absorbed("FDiv", 3.0, _third), "literals in FDiv"
    yield REALS, "x - x is 0", _twice("FSub", _literal("zero")), "literals in FSub"
    yield REALS, "x / x is 1", _twice("FDiv", _literal("one")), "literals in FDiv"
    yield REALS, "x + -x is 0", _opposite, "literals in FAdd"
    yield REALS, "0 - x is -x", _from_zero, "literals in FSub"
    yield REALS, "0 / x is 0", _zero_over, "literals in FDiv"
    yield REALS, "x 1 keeps a NaN", _absorbed("FMul", "one", _same), "literals in FMul"
    yield REALS, "min(x, x) is x", _twice("FMin", _same), "literals in FMin"
    yield NANS, "x == x is true", _twice("FEq", _word(1)), "comparisons of"
    yield NANS, "x != x is false", _twice("FNe", _word(0)), "comparisons of"
    yield NANS, "x <= x is true", _twice("FLe", _word(1)), "comparisons of"
    yield NANS, "not less is at least", _not_less, "comparisons of"
    yield NANS, "no result is NaN", _never_nan, "comparisons of"
    yield NANS, "the lesser of two by a comparison is the minimum", _chosen_minimum, "comparisons of"
    yield FUSED, "a b + c", _fused_add, "sums of"
    yield FUSED, "a b - c", _fused_sub, "sums of"
    yield FUSED, "c - a b", _fused_from, "sums of"
    yield APART, "a b + c", _apart, "sums of"
    yield APART, "a b + 0 is a b", _without_zero, "sums of"
    yield ORDER, "(a + b) + c", partial(_right_first, "FAdd"), "sums of"
    yield ORDER, "(a b) c", partial(_right_first, "FMul"), "sums of"
    yield ORDER, "a + (b + c)", partial(_left_first, "FAdd"), "sums of"
    yield "factor taken out", "a b + a c", _factored, "sums of"
    yield "factor taken out", "a / c + b / c", _over_common, "sums of"
    for outer, inner, where in (
        ("FSub", "FAdd", "(a + b) - b"),
        ("FAdd", "FSub", "(a - b) + b"),
        ("FDiv", "FMul", "(a b) / b"),
        ("FMul", "FDiv", "(a / b) b"),
    ):
        yield UNDONE, where, partial(_undone, outer, inner), "undone of"
    yield UNDONE, "1 / (1 / x)", _inverted_twice, "undone of"
    yield UNDONE, "square of a root", _root_squared, "undone of"
    yield UNDONE, "root of a square", _square_rooted, "undone of"
    yield "sign moved inwards", "-(a - b)", _difference_turned, "undone of"
    yield "sign moved inwards", "-(a + b)", _sum_turned, "undone of"
    yield "reciprocal kept", "a (1 / b) is a / b", _one_division, "undone of"
    yield UNDONE, "floor of x + a half is a rounding", _rounding, "converted of"
    yield UNDONE, "a conversion there and back is a truncation", _there_and_back, "converted of"


def _third(f: Format, x: Expr) -> Expr:
    return binary("FMul", x, f.literal(1 / 3))


def _opposite(f: Format, x: Expr) -> Expr:
    found = _of(x, "FAdd")
    given = found is not None and found.right is UnOp(UnaryOp.FNeg, found.left)
    return f.literal("-zero") if given else x


def _from_zero(f: Format, x: Expr) -> Expr:
    found = _of(x, "FSub")
    return unary("FNeg", found.right) if found is not None and _is(f, found.left, "zero") else x


def _zero_over(f: Format, x: Expr) -> Expr:
    found = _of(x, "FDiv")
    return f.literal("zero") if found is not None and _is(f, found.left, "zero") else x


def _not_less(f: Format, x: Expr) -> Expr:
    inner = _of(x.operand, "FLt") if isinstance(x, UnOp) and x.op is UnaryOp.LogicalNot else None
    return binary("FGe", inner.left, inner.right) if inner is not None else x


def _never_nan(f: Format, x: Expr) -> Expr:
    found = _un(x, "FIsNaN")
    return LitU32(0) if found is not None and isinstance(found.operand, BinOp) else x


def _chosen_minimum(f: Format, x: Expr) -> Expr:
    if not isinstance(x, Select):
        return x
    test = _of(x.condition, "FLt")
    given = test is not None and (test.left, test.right) == (x.if_true, x.if_false)
    return binary("FMin", x.if_true, x.if_false) if given else x


def _fused_add(f: Format, x: Expr) -> Expr:
    found = _of(x, "FAdd")
    product = _of(found.left, "FMul") if found is not None else None
    return (
        FMulAdd(product.left, product.right, found.right) if found is not None and product is not None else x
    )


def _fused_sub(f: Format, x: Expr) -> Expr:
    found = _of(x, "FSub")
    product = _of(found.left, "FMul") if found is not None else None
    return (
        FMulAdd(product.left, product.right, unary("FNeg", found.right))
        if found is not None and product is not None
        else x
    )


def _fused_from(f: Format, x: Expr) -> Expr:
    found = _of(x, "FSub")
    product = _of(found.right, "FMul") if found is not None else None
    return (
        FMulAdd(unary("FNeg", product.left), product.right, found.left)
        if found is not None and product is not None
        else x
    )


def _apart(f: Format, x: Expr) -> Expr:
    return binary("FAdd", binary("FMul", x.a, x.b), x.c) if isinstance(x, FMulAdd) else x


def _without_zero(f: Format, x: Expr) -> Expr:
    given = isinstance(x, FMulAdd) and _is(f, x.c, "zero")
    return binary("FMul", x.a, x.b) if given and isinstance(x, FMulAdd) else x


def _right_first(op: str, f: Format, x: Expr) -> Expr:
    found = _of(x, op)
    inner = _of(found.left, op) if found is not None else None
    return (
        binary(op, inner.left, binary(op, inner.right, found.right))
        if found is not None and inner is not None
        else x
    )


def _left_first(op: str, f: Format, x: Expr) -> Expr:
    found = _of(x, op)
    inner = _of(found.right, op) if found is not None else None
    return (
        binary(op, binary(op, found.left, inner.left), inner.right)
        if found is not None and inner is not None
        else x
    )


def _factored(f: Format, x: Expr) -> Expr:
    found = _of(x, "FAdd")
    if found is None:
        return x
    a, b = _of(found.left, "FMul"), _of(found.right, "FMul")
    if a is None or b is None or a.left is not b.left:
        return x
    return binary("FMul", a.left, binary("FAdd", a.right, b.right))


def _over_common(f: Format, x: Expr) -> Expr:
    found = _of(x, "FAdd")
    if found is None:
        return x
    a, b = _of(found.left, "FDiv"), _of(found.right, "FDiv")
    if a is None or b is None or a.right is not b.right:
        return x
    return binary("FDiv", binary("FAdd", a.left, b.left), a.right)


def _undone(outer: str, inner: str, f: Format, x: Expr) -> Expr:
    found = _of(x, outer)
    first = _of(found.left, inner) if found is not None else None
    given = found is not None and first is not None and first.right is found.right
    return first.left if given and first is not None else x


def _inverted_twice(f: Format, x: Expr) -> Expr:
    found = _of(x, "FDiv")
    inner = _of(found.right, "FDiv") if found is not None and _is(f, found.left, "one") else None
    return inner.right if inner is not None and _is(f, inner.left, "one") else x


def _root_squared(f: Format, x: Expr) -> Expr:
    found = _of(x, "FMul")
    root = _un(found.left, "FSqrt") if found is not None and found.left is found.right else None
    return root.operand if root is not None else x


def _square_rooted(f: Format, x: Expr) -> Expr:
    root = _un(x, "FSqrt")
    square = _of(root.operand, "FMul") if root is not None else None
    return unary("FAbs", square.left) if square is not None and square.left is square.right else x


def _difference_turned(f: Format, x: Expr) -> Expr:
    found = _un(x, "FNeg")
    inner = _of(found.operand, "FSub") if found is not None else None
    return binary("FSub", inner.right, inner.left) if inner is not None else x


def _sum_turned(f: Format, x: Expr) -> Expr:
    found = _un(x, "FNeg")
    inner = _of(found.operand, "FAdd") if found is not None else None
    return binary("FSub", unary("FNeg", inner.left), inner.right) if inner is not None else x


def _one_division(f: Format, x: Expr) -> Expr:
    found = _of(x, "FMul")
    inner = _of(found.right, "FDiv") if found is not None else None
    if found is None or inner is None or not _is(f, inner.left, "one"):
        return x
    return binary("FDiv", found.left, inner.right)


def _rounding(f: Format, x: Expr) -> Expr:
    found = _un(x, "FFloor")
    inner = _of(found.operand, "FAdd") if found is not None else None
    return unary("FRound", inner.left) if inner is not None and _is(f, inner.right, 0.5) else x


def _there_and_back(f: Format, x: Expr) -> Expr:
    given = isinstance(x, Convert) and x.target is f.type and isinstance(x.value, Convert)
    if not given or not isinstance(x, Convert) or not isinstance(x.value, Convert):
        return x
    return unary("FTrunc", x.value.value)


def _casts(f: Format) -> Iterator[tuple[str, str, Step, str]]:
    if f.type is not DataType.F32:
        return

    def kept(f: Format, x: Expr) -> Expr:
        given = isinstance(x, Cast) and x.target is DataType.F32 and isinstance(x.value, Cast)
        return x.value.value if given and isinstance(x, Cast) and isinstance(x.value, Cast) else x

    yield "precision kept that was given up", "F32 to half and back", kept, "converted"


def _log_of_exp(f: Format, x: Expr) -> Expr:
    found = _un(x, "FLog")
    inner = _un(found.operand, "FExp") if found is not None else None
    return inner.operand if inner is not None else x


def _exp_of_log(f: Format, x: Expr) -> Expr:
    found = _un(x, "FExp")
    inner = _un(found.operand, "FLog") if found is not None else None
    return inner.operand if inner is not None else x


def _powers(f: Format, x: Expr) -> Expr:
    found = _of(x, "FMul")
    if found is None:
        return x
    a, b = _un(found.left, "FExp"), _un(found.right, "FExp")
    return unary("FExp", binary("FAdd", a.operand, b.operand)) if a is not None and b is not None else x
