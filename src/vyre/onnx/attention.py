"""Attention and rotary embeddings, as ops of one node each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre import nn
from vyre.graph.sizes import Size
from vyre.ir.types import DataType
from vyre.nn.attention import scored
from vyre.nn.widened import narrowed, wide
from vyre.tensor import comparing as c
from vyre.tensor import shaping as s
from vyre.tensor.create import iota, of_size
from vyre.tensor.indexing import take

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.nn.attention import Scores
    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

_T = DataType
_FLOAT = 1
"""The number of F32 in ONNX."""


def _attention(ctx: OnnxNode) -> Any:
    query, key, value = (ctx.tensor(i) for i in range(3))
    if ctx.attribute("softmax_precision", _FLOAT) != _FLOAT:
        raise ctx.refuse(
            "a softmax in another precision than F32 is not imported", "export with softmax_precision=1."
        )
    flat = query.ndim == 3
    if flat:
        query = nn.split_heads(query, ctx.attribute("q_num_heads"))
        key, value = (nn.split_heads(x, ctx.attribute("kv_num_heads")) for x in (key, value))
    past = Size(0)
    if ctx.given(4):
        past = ctx.tensor(4).type.shape[2]
        key, value = s.concat([ctx.tensor(4), key], 2), s.concat([ctx.tensor(5), value], 2)
    times = query.type.shape[1].divided(key.type.shape[1])
    if times is None or times.static is None:
        raise ctx.refuse(f"{query.type.shape[1]} heads of queries over {key.type.shape[1]} of keys")
    repeated = [x if times.static == 1 else nn.repeat_heads(x, times.static) for x in (key, value)]
    rows, columns = query.type.shape[2], key.type.shape[2]
    mask, bias = _masks(ctx, columns)
    ordered = _visible(ctx, query, rows, columns, past)
    if ordered is not None:
        mask = ordered if mask is None else mask & ordered
    scores = scored(
        wide(query),
        wide(repeated[0]),
        mask=mask,
        bias=bias,
        scale=ctx.attribute("scale"),
        softcap=ctx.attribute("softcap", 0.0) or None,
    )
    made = narrowed(scores.over(wide(repeated[1])), query)
    outputs = [nn.merge_heads(made) if flat else made, key, value]
    if ctx.outputs > len(outputs):
        outputs.append(narrowed(_step(ctx, scores), query))
    return outputs[: max(ctx.outputs, 1)]


def _step(ctx: OnnxNode, scores: Scores) -> Tensor:
    """The scores as they are where the node wants to have them."""
    match ctx.attribute("qk_matmul_output_mode", 0):
        case 0:
            return scores.products
        case 1:
            return scores.capped
        case 2:
            return scores.masked()
        case 3:
            return scores.weights()
        case mode:
            raise ctx.refuse(f"qk_matmul_output_mode is {mode}", "repair the model: it is 0, 1, 2 or 3.")


def _masks(ctx: OnnxNode, columns: Size) -> tuple[Tensor | None, Tensor | None]:
    """A mask of Bool as it is; one of numbers is added, and hides what it makes -Inf."""
    if not ctx.given(3):
        return None, None
    mask = ctx.tensor(3)
    missing = columns - mask.type.shape[-1]
    truth = mask.element is _T.Bool
    if missing.static != 0:
        widths = [(Size(0), Size(0))] * (mask.ndim - 1) + [(Size(0), missing)]
        mask = s.pad(mask, widths, 0 if truth else float("-inf"))
    return (mask, None) if truth else (c.not_equal(mask, float("-inf")), mask)


def _visible(ctx: OnnxNode, like: Tensor, rows: Size, columns: Size, past: Size) -> Tensor | None:
    """Which keys the causal order, the window and the number of keys let each query see."""
    causal = bool(ctx.attribute("is_causal", 0))
    left, right = ctx.attribute("left_window_size", -1), ctx.attribute("right_window_size", -1)
    counted = ctx.given(6)
    if not causal and left < 0 and right < 0 and not counted:
        return None
    column = iota(like, (rows, columns), 1, _T.I32)
    place = iota(like, (rows, columns), 0, _T.I32)
    valid: Tensor | None = None
    if counted:
        count = c.astype(ctx.tensor(6), _T.I32)
        count = s.reshape(count, (*count.type.shape, 1, 1, 1))
        valid = column < count
        if not ctx.given(4):
            place = place + (count - of_size(like, rows, _T.I32))
    if ctx.given(4):
        place = place + of_size(like, past, _T.I32)
    parts = [valid] if valid is not None else []
    parts += [column <= place] if causal else []
    parts += [column >= place - left] if left >= 0 else []
    parts += [column <= place + right] if right >= 0 else []
    seen = parts[0]
    for part in parts[1:]:
        seen = seen & part
    return seen


def _rotary(ctx: OnnxNode) -> Any:
    x, cosine, sine = (ctx.tensor(i) for i in range(3))
    flat = x.ndim == 3
    heads = nn.split_heads(x, ctx.attribute("num_heads")) if flat else x
    if ctx.given(3):
        cosine, sine = (take(table, ctx.tensor(3), 0) for table in (cosine, sine))
    cosine, sine = (s.expand_dims(table, 1) for table in (cosine, sine))
    width = heads.shape[-1]
    turned = ctx.attribute("rotary_embedding_dim", 0) or width
    pairing = "neighbours" if ctx.attribute("interleaved", 0) else "halves"
    front = s.slice_axis(heads, -1, 0, turned)
    made = narrowed(nn.rotary(wide(front), cosine, sine, pairing=pairing), x)
    if turned != width:
        made = s.concat([made, s.slice_axis(heads, -1, turned, width)], -1)
    return nn.merge_heads(made) if flat else made


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "Attention": _attention,
    "RotaryEmbedding": _rotary,
}
