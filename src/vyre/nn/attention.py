"""Attention (decision 30): scores, exponentials, their tree sum, a product with the values, one division.

Masked keys are skipped: what lies there does not show, not even NaN. A row with every key masked is +0. A key
that is absent and one that is masked at the end of a row give the same bits, so a prompt at once and token by
token agree.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.types import DataType
from vyre.nn.widened import narrowed, wide
from vyre.slotted import dataclass
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor.create import iota, of_size
from vyre.tensor.products import matmul
from vyre.tensor.shaping import (
    broadcast_to,
    common_shape,
    concat,
    expand_dims,
    reshape,
    sizes_of,
    split,
    swapaxes,
)
from vyre.tensor.value import network

if TYPE_CHECKING:
    from vyre.graph.sizes import SizeLike
    from vyre.tensor import Tensor


@network
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    past: SizeLike = 0,
    scale: float | None = None,
    softcap: float | None = None,
) -> Tensor:
    """[..., queries, d] over [..., keys, d] and [..., keys, v]; `mask`, of Bool, is True where a key is seen.

    `causal` lets query i see the keys up to i + past, where `past` keys come from earlier calls. `scale`
    multiplies the scores; it is 1 / sqrt(d), rounded to F32, unless given. Then `softcap` c makes them
    c * tanh(scores / c), and `bias` is added.
    """
    q, k, v = wide(query), wide(key), wide(value)
    found = scored(q, k, mask=mask, bias=bias, causal=causal, past=past, scale=scale, softcap=softcap)
    return narrowed(found.over(v), query)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of queries over keys, [..., queries, keys] in F32, from step to step."""

    products: Tensor
    capped: Tensor
    biased: Tensor
    seen: Tensor | None
    """Which keys are seen; None where all are."""
    powers: Tensor
    total: Tensor
    """Of each row the sum of the powers."""
    some: Tensor | None
    """Of each row whether a key is seen; None where all are."""

    def masked(self) -> Tensor:
        """-Inf where a key is not seen."""
        return self.biased if self.seen is None else c.where(self.seen, self.biased, float("-inf"))

    def weights(self) -> Tensor:
        """The softmax, +0 where a key is not seen."""
        return self._divided(self.powers)

    def over(self, values: Tensor) -> Tensor:
        """The values [..., keys, v] by their weights: the division comes last."""
        return self._divided(matmul(self.powers, values, mask=self.seen))

    def _divided(self, x: Tensor) -> Tensor:
        made = x / self.total
        return made if self.some is None else c.where(self.some, made, 0.0)


def scored(
    q: Tensor,
    k: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    past: SizeLike = 0,
    scale: float | None = None,
    softcap: float | None = None,
) -> Scores:
    """What `attention` computes before it comes to the values, of tensors of F32."""
    width = q.shape[-1]
    if scale is None:
        if not isinstance(width, int):
            raise VyreError("the width of attention cannot be dynamic.", fix="pass scale=.")
        if width == 0:
            raise VyreError("the width of attention cannot be 0.", fix="pass scale=.")
        scale = _inverse_root(width)
    products = matmul(q, swapaxes(k, -1, -2)) * scale
    capped = products if softcap is None else e.tanh(products / softcap) * softcap
    biased = capped if bias is None else capped + wide(bias)
    seen = _seen(biased, mask, causal=causal, past=past)
    some: Tensor | None = None
    if seen is None:
        powers = e.exp(biased - r.max(biased, -1, keepdims=True))
        total = r.sum(powers, -1, keepdims=True)
        if not biased.type.shape[-1].static:
            # The greatest key adds 1 to the sum, so this changes it only where there is no key: 0 / 1 is +0.
            total = c.maximum(total, 1.0)
    else:
        visible = c.where(seen, biased, float("-inf"))
        powers = c.where(seen, e.exp(biased - r.max(visible, -1, keepdims=True)), 0.0)
        total = r.sum(powers, -1, keepdims=True)
        some = r.any(seen, -1, keepdims=True)
    return Scores(products, capped, biased, seen, powers, total, some)


def _inverse_root(width: int) -> float:
    """1 / sqrt(width), nearest in F64, on integers: whatever the processor rounds in."""
    bits = 200
    root = isqrt((1 << (2 * bits)) // width)
    return float(Fraction(root, 1 << bits))


def _seen(scores: Tensor, mask: Tensor | None, *, causal: bool, past: SizeLike) -> Tensor | None:
    """Which keys each query sees, in the shape of the scores; None where all are seen."""
    seen = mask
    if mask is not None and mask.element is not DataType.Bool:
        raise VyreError(
            f"a mask cannot be {mask.element.value}.",
            fix="pass Bool, True where a key is seen: scores > x, or astype(bool).",
        )
    if causal:
        rows, columns = scores.type.shape[-2:]
        row = iota(scores, (rows, columns), 0)
        column = iota(scores, (rows, columns), 1)
        order = c.greater_equal(_shifted(row, past), column)
        seen = order if seen is None else seen & order
    if seen is None:
        return None
    return broadcast_to(seen, common_shape([seen.type.shape, scores.type.shape]))


def _shifted(row: Tensor, past: SizeLike) -> Tensor:
    size = sizes_of(past)[0]
    if (size.static or 0) < 0:
        raise VyreError(f"the number of keys before cannot be {past}.", fix="pass past= 0 or more.")
    return row if size.static == 0 else row + of_size(row, size, DataType.U32)


def _require_axes(x: Tensor, count: int, form: str) -> None:
    if x.ndim < count:
        raise VyreError(f"{x.type} has no heads.", fix=f"pass a tensor of the form {form}.")


@network
def split_heads(x: Tensor, heads: int) -> Tensor:
    """[..., seq, heads * d] as [..., heads, seq, d], a view."""
    _require_axes(x, 2, "[..., seq, width]")
    *batch, seq, width = x.type.shape
    each = width.divided(heads)
    if each is None:
        raise VyreError(
            f"{width} columns cannot be split into {heads} heads.",
            fix="use a number of heads that divides the width.",
        )
    parts = reshape(x, (*batch, seq, heads, each))
    return swapaxes(parts, -2, -3)


@network
def merge_heads(x: Tensor) -> Tensor:
    """[..., heads, seq, d] as [..., seq, heads * d]."""
    _require_axes(x, 3, "[..., heads, seq, d]")
    *batch, heads, seq, each = x.type.shape
    return reshape(swapaxes(x, -2, -3), (*batch, seq, heads * each))


@network
def repeat_heads(x: Tensor, times: int) -> Tensor:
    """[..., heads, seq, d] with each head `times` times, for grouped queries; a view."""
    _require_axes(x, 3, "[..., heads, seq, d]")
    *batch, heads, seq, each = x.type.shape
    wide_ = broadcast_to(expand_dims(x, x.ndim - 2), (*batch, heads, times, seq, each))
    return reshape(wide_, (*batch, heads * times, seq, each))


@network
def rotary(x: Tensor, cosine: Tensor, sine: Tensor, *, pairing: str = "halves") -> Tensor:
    """Each pair (a, b) of the last axis becomes (a cos - b sin, a sin + b cos), two products, then their sum.

    `pairing` is "halves", element i with i + d/2, or "neighbours", 2i with 2i + 1. `cosine` and `sine` are
    given, [..., d/2].
    """
    w = wide(x)
    *rest, width = w.type.shape
    half = width.divided(2)
    if half is None or pairing not in ("halves", "neighbours"):
        raise VyreError(
            f"rotary pairs {pairing!r} over {width} columns.",
            fix='use an even width and pairing="halves" or "neighbours".',
        )
    c, s = wide(cosine), wide(sine)
    if pairing == "halves":
        a, b = split(w, 2, -1)
        return narrowed(concat([a * c - b * s, a * s + b * c], -1), x)
    pairs = reshape(w, (*rest, half, 2))
    a, b = pairs[..., 0], pairs[..., 1]
    turned = concat([expand_dims(a * c - b * s, -1), expand_dims(a * s + b * c, -1)], -1)
    return narrowed(reshape(turned, (*rest, width)), x)
