"""Laws of conversions between floats and integers: they keep the order, and what is no number."""

from __future__ import annotations

from vyre.conform.registry.float_.vocabulary import Func, Laws, Vocabulary, true
from vyre.conform.registry.ids import LE
from vyre.conform.spec.law import Custom, ap
from vyre.conform.spec.term import Constant, Equation, Term
from vyre.ir.types import DataType

_AT_MOST = {DataType.I32: "signed.le", DataType.U32: LE}


def conversion_laws(source: DataType, target: DataType) -> Laws:
    """What is declared of a conversion, by its types; the mode makes no difference."""
    return _to_float(source, target) if source in _AT_MOST else _to_integer(source, target)


def _to_float(source: DataType, target: DataType) -> Laws:
    v = Vocabulary(target)

    def kept(f: Func, a: Term, b: Term) -> Equation:
        return true(v("le", f(a), f(b)), ap(_AT_MOST[source], a, b))

    order = Custom(
        "monotone",
        kept,
        (source, source),
    )
    return Laws(properties=(order,))


def _to_integer(source: DataType, target: DataType) -> Laws:
    v = Vocabulary(source)

    nothing = Constant(0, target)
    return Laws(
        properties=(
            v.law1("NaN is 0", lambda f, a: Equation(f(a), nothing, precondition=v("is_nan", a))),
            v.law2("monotone", lambda f, a, b: true(ap(_AT_MOST[target], f(a), f(b)), v("le", a, b))),
        )
    )
