"""Axes joined away, and prefixes. Orders and accumulators are those of `defaults`, or named at the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.graph.nodes import Joining, Recurrence, Reduce, Scan
from vyre.graph.sizes import Size, product
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.tensor import comparing, elementwise
from vyre.tensor.applying import LONG_FIX, WHOLE_FIX, refused
from vyre.tensor.create import full_like, of_size
from vyre.tensor.defaults import accumulator_of, element_of, order_of
from vyre.tensor.long_joins import long_cumsum, long_extreme, long_sum
from vyre.tensor.shaping import broadcast_to, reshape
from vyre.tensor.value import operation, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.tensor.value import V, Value

_T = DataType


def _axes(x: Value, axis: int | Sequence[int] | None) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    chosen = [x.axis(a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]  # type: ignore[list-item]
    if len(set(chosen)) < len(chosen):
        raise VyreError(f"the axes {axis} name an axis twice.", fix="name each axis once.")
    return tuple(sorted(chosen))


def _reduce(
    x: V,
    axis: Any,
    joining: Joining,
    *,
    keepdims: bool,
    order: str | None = None,
    accumulator: Any = None,
    element: DataType | None = None,
) -> V:
    axes = _axes(x, axis)
    if not axes and joining in (Joining.ArgMax, Joining.ArgMin):
        return full_like(x, x.type.shape, 0, element)
    if not axes:
        return comparing.astype(x, element or x.element)
    if x.element is _T.I64 and accumulator is None:
        return _long(x, axes, joining, keepdims=keepdims)
    within = accumulator_of(x.element, accumulator)
    ordered = joining in (Joining.Add, Joining.Mul)
    chosen = order_of(order, x.element) if ordered else ReduceOrder.TreeBinary
    made = x.made(Reduce(x.name, axes, joining, chosen, within, element or x.element))
    return reshape(made, _kept(x, axes)) if keepdims else made


def _kept(x: Value, axes: tuple[int, ...]) -> tuple[Size, ...]:
    return tuple(Size(1) if i in axes else s for i, s in enumerate(x.type.shape))


def _long(x: V, axes: tuple[int, ...], joining: Joining, *, keepdims: bool) -> V:
    """I64, which no backend joins, by its words."""
    kept = _kept(x, axes)
    shape = kept if keepdims else tuple(s for i, s in enumerate(x.type.shape) if i not in axes)
    match joining:
        case Joining.Add:
            return reshape(long_sum(x, axes), shape)
        case Joining.Max | Joining.Min:
            made = long_extreme(x, joining, lambda words: _reduce(words, axes, joining, keepdims=True))
            return reshape(made, shape)
        case Joining.ArgMax | Joining.ArgMin:
            extreme = Joining.Max if joining is Joining.ArgMax else Joining.Min
            most = broadcast_to(_long(x, axes, extreme, keepdims=True), x.type.shape)
            found = comparing.astype(comparing.equal(x, most), _T.U32)
            return _reduce(found, axes, Joining.ArgMax, keepdims=keepdims, element=_T.U32)
        case _:
            raise refused("a product of all elements", _T.I64, LONG_FIX)


def _summed(x: Value, accumulator: Any) -> DataType:
    """The element of a sum: its own for floats, a word for narrow integers and Bool."""
    within = accumulator_of(x.element, accumulator)
    return x.element if x.element.is_float else within


@operation
def sum(
    x: V,
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    order: str | None = None,
    accumulator: Any = None,
    element: Any = None,
) -> V:
    """The sum over the axes, all of them if None; `element` is what it is rounded to."""
    gives = _summed(x, accumulator) if element is None else element_of(element)
    return _reduce(
        x, axis, Joining.Add, keepdims=keepdims, order=order, accumulator=accumulator, element=gives
    )


@operation
def prod(
    x: V,
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    order: str | None = None,
    accumulator: Any = None,
) -> V:
    gives = _summed(x, accumulator)
    return _reduce(
        x, axis, Joining.Mul, keepdims=keepdims, order=order, accumulator=accumulator, element=gives
    )


@operation
def mean(
    x: V,
    axis: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    order: str | None = None,
    accumulator: Any = None,
) -> V:
    """The sum in the accumulator, divided by the count there, rounded once to the element."""
    if not x.element.is_float:
        raise VyreError(f"mean() does not take {x.element.value}.", fix=WHOLE_FIX)
    within = accumulator_of(x.element, accumulator)
    total = _reduce(x, axis, Joining.Add, keepdims=keepdims, order=order, accumulator=within, element=within)
    count = of_size(total, product(x.type.shape[a] for a in _axes(x, axis)), within)
    return comparing.astype(elementwise.divide(total, count), x.element)


@operation
def var(x: V, axis: int | Sequence[int] | None = None, *, keepdims: bool = False, correction: int = 0) -> V:
    """The tree sum of squared differences from the mean, divided by the count less `correction`.

    Computed in the accumulator of `mean` and rounded once.
    """
    within = _spread(x, axis, keepdims=keepdims, correction=correction)
    return comparing.astype(within, x.element)


@operation
def std(x: V, axis: int | Sequence[int] | None = None, *, keepdims: bool = False, correction: int = 0) -> V:
    """The root of `var`, rounded once to the element."""
    within = _spread(x, axis, keepdims=keepdims, correction=correction)
    return comparing.astype(elementwise.sqrt(within), x.element)


def _spread(x: V, axis: int | Sequence[int] | None, *, keepdims: bool, correction: int) -> V:
    if not x.element.is_float:
        raise VyreError(f"var() does not take {x.element.value}.", fix=WHOLE_FIX)
    w = comparing.astype(x, accumulator_of(x.element, None))
    shifted = elementwise.subtract(w, mean(w, axis, keepdims=True))
    total = sum(elementwise.multiply(shifted, shifted), axis, keepdims=keepdims)
    count = of_size(total, product(x.type.shape[a] for a in _axes(x, axis)), w.element)
    return elementwise.divide(total, elementwise.subtract(count, correction) if correction else count)


@operation
def max(x: V, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> V:
    """The greatest; NaN is greater than all numbers, and the first of equals wins."""
    return _reduce(x, axis, Joining.Max, keepdims=keepdims)


@operation
def min(x: V, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> V:
    """The least; NaN is greater than all numbers, and the first of equals wins."""
    return _reduce(x, axis, Joining.Min, keepdims=keepdims)


@operation
def argmax(x: V, axis: int | None = None, *, keepdims: bool = False) -> V:
    """Where the greatest is, as U32; over all elements in row-major order if None."""
    return _reduce(x, axis, Joining.ArgMax, keepdims=keepdims, element=_T.U32)


@operation
def argmin(x: V, axis: int | None = None, *, keepdims: bool = False) -> V:
    return _reduce(x, axis, Joining.ArgMin, keepdims=keepdims, element=_T.U32)


@operation
def any(x: V, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> V:
    """Whether one element at least is not 0."""
    return _reduce(comparing.astype(x, _T.Bool), axis, Joining.Max, keepdims=keepdims)


@operation
def all(x: V, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> V:
    """Whether no element is 0."""
    return _reduce(comparing.astype(x, _T.Bool), axis, Joining.Min, keepdims=keepdims)


@operation
def cumsum(x: V, axis: int = -1, *, exclusive: bool = False, accumulator: Any = None) -> V:
    """Element i is the tree sum of the elements up to i, or of those before it."""
    if x.element is _T.I64 and accumulator is None:
        return long_cumsum(x, x.axis(axis), exclusive=exclusive)
    within = accumulator_of(x.element, accumulator)
    return x.made(Scan(x.name, x.axis(axis), Joining.Add, within, _summed(x, accumulator), exclusive))


@operation
def cumprod(x: V, axis: int = -1, *, exclusive: bool = False, accumulator: Any = None) -> V:
    if x.element is _T.I64:
        raise refused("cumprod()", _T.I64, LONG_FIX)
    within = accumulator_of(x.element, accumulator)
    return x.made(Scan(x.name, x.axis(axis), Joining.Mul, within, _summed(x, accumulator), exclusive))


@operation
def cummax(x: V, axis: int = -1) -> V:
    """The greatest up to each element, as `max` has it."""
    if x.element is _T.I64:
        raise refused("cummax()", _T.I64, LONG_FIX)
    return x.made(Scan(x.name, x.axis(axis), Joining.Max, accumulator_of(x.element, None), x.element))


@operation
def recurrence(factor: V, term: V, axis: int = -1, *, initial: V | None = None) -> V:
    """h[i] = fma(factor[i], h[i - 1], term[i]) along the axis, from `initial` or zeros."""
    require(term, "recurrence")
    if initial is not None:
        require(initial, "recurrence")
    start = None if initial is None else initial.name
    return factor.made(Recurrence(factor.name, term.name, factor.axis(axis), factor.element, start))
