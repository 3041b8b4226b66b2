"""I64 joined along axes, on the words that every backend joins: sums modulo 2^64, extremes, prefixes.

A prefix sum of low words that is below its last summand has wrapped there: such a place carries 1 into the
high words, whose sum may wrap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Joining, Reduce, Scan
from vyre.graph.sizes import product
from vyre.ir.expr import BinOp, Call, Cast, LitU32, MakeVec
from vyre.ir.operators import BinaryOp, ReduceOrder
from vyre.ir.types import DataType
from vyre.tensor import comparing
from vyre.tensor.applying import A, B, C, apply, node
from vyre.tensor.shaping import broadcast_to, reshape, transpose

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.tensor.value import V

_T = DataType
_B = BinaryOp
_HIGH = Cast(_T.U32, Call("wide.u64.shr", (A, LitU32(32))))


def _words(x: V) -> tuple[V, V]:
    """The low and the high words of an I64."""
    low, high = (node(word, (x,), [x], _T.U64, _T.U32) for word in (Cast(_T.U32, A), _HIGH))
    return low, high


def _joined(low: V, high: V) -> V:
    return node(MakeVec(_T.U64, (A, B)), (low, high), [low, high], _T.U32, _T.I64)


def _prefixes(words: V, axis: int, *, exclusive: bool = False) -> V:
    return words.made(Scan(words.name, axis, Joining.Add, _T.U32, _T.U32, exclusive))


def _summands(x: V, axis: int) -> tuple[V, V]:
    """Low words, and high words with what is carried into them along the axis."""
    low, high = _words(x)
    carried = BinOp(_B.Add, A, BinOp(_B.Lt, B, C))
    return low, apply(carried, (high, _prefixes(low, axis), low))


def long_sum(x: V, axes: tuple[int, ...]) -> V:
    """The sum over the axes, which are in ascending order."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = tuple(x.type.shape[axis] for axis in kept)
    count = product(x.type.shape[axis] for axis in axes)
    flat = reshape(transpose(x, [*kept, *axes]), (*shape, count))
    along = len(kept)
    low, high = (
        words.made(Reduce(words.name, (along,), Joining.Add, ReduceOrder.TreeBinary, _T.U32, _T.U32))
        for words in _summands(flat, along)
    )
    return _joined(low, high)


def long_cumsum(x: V, axis: int, *, exclusive: bool) -> V:
    """Element i is the sum of the elements up to i, or of those before it."""
    low, high = _summands(x, axis)
    return _joined(_prefixes(low, axis, exclusive=exclusive), _prefixes(high, axis, exclusive=exclusive))


def long_extreme(x: V, joining: Joining, reduced: Callable[[V], V]) -> V:
    """The greatest or least: of the high words, then of the low words beside it.

    `reduced` joins words over the axes and keeps these, each of size 1.
    """
    low, word = _words(x)
    high = apply(Cast(_T.I32, A), (word,), gives=_T.I32)
    top = reduced(high)
    beside = comparing.equal(high, broadcast_to(top, high.type.shape))
    neutral = 0 if joining is Joining.Max else 0xFFFF_FFFF
    bottom = reduced(comparing.where(beside, low, neutral))
    return _joined(bottom, apply(Cast(_T.U32, A), (top,), gives=_T.U32))
