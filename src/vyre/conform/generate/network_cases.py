"""Networks that every backend is tried with: the compositions, and a transformer with its cache."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from vyre import nn
from vyre.conform.generate.family_cases import family_cases
from vyre.conform.generate.tensor_cases import BF16, F16, F32, TWO, TensorCase, case
from vyre.ir.types import DataType
from vyre.tensor import concat, split, take

if TYPE_CHECKING:
    from vyre.tensor import Tensor

_GROWING = ({"n": 4, "past": 0}, {"n": 1, "past": 4}, {"n": 2, "past": 3})


def _block(x: Tensor, mix: Tensor, out: Tensor, weight: Tensor, keys: Tensor, values: Tensor) -> Any:
    """A layer of a transformer over a cache of earlier keys and values."""
    query, key, value = (nn.split_heads(p, 2) for p in split(nn.layer_norm(x, weight) @ mix, 3, -1))
    past = keys.type.shape[2]
    seen = nn.attention(query, concat([keys, key], 2), concat([values, value], 2), causal=True, past=past)
    x = x + nn.merge_heads(seen) @ out
    return x + nn.silu(x @ out)


def _transformer(
    tokens: Tensor, table: Tensor, mix: Tensor, out: Tensor, weight: Tensor, keys: Tensor, values: Tensor
) -> Any:
    x = _block(take(table, tokens), mix, out, weight, keys, values)
    return nn.layer_norm(x, weight) @ table.T


def _attention() -> list[TensorCase]:
    heads = (F32, (2, 5, 4))
    plain = (F32, (5, 4))
    return [
        case("float attention", nn.attention, query=heads, key=heads, value=heads),
        case(
            "float causal attention",
            lambda query, key, value: nn.attention(query, key, value, causal=True),
            query=heads,
            key=heads,
            value=heads,
        ),
        case(
            "float masked attention",
            lambda query, key, value, mask: nn.attention(query, key, value, mask=mask),
            hidden=("value",),
            query=plain,
            key=plain,
            value=plain,
            mask=(DataType.Bool, (5, 5)),
        ),
        case(
            "float grouped attention",
            lambda query, key, value: nn.attention(query, nn.repeat_heads(key, 2), nn.repeat_heads(value, 2)),
            query=(F32, (4, 3, 4)),
            key=(F32, (2, 3, 4)),
            value=(F32, (2, 3, 4)),
        ),
        case(
            "float f16 attention", nn.attention, query=(F16, (3, 4)), key=(F16, (3, 4)), value=(F16, (3, 4))
        ),
        case("float rotary", nn.rotary, x=(F32, (3, 8)), cosine=(F32, (3, 4)), sine=(F32, (3, 4))),
    ]


def _quantised() -> list[TensorCase]:
    codes = (DataType.U8, (4, 16))
    return [
        *(
            case(
                f"float fp8 {name} codes",
                lambda x, name=name: (
                    nn.fp8_encode(x * 100, name),
                    nn.fp8_encode(x * 10_000, name, overflow="special"),
                    nn.fp8_decode(nn.fp8_encode(x, name), name),
                ),
                x=(F32, (4, 30)),
            )
            for name in ("e4m3fn", "e5m2")
        ),
        case(
            "float fp8 matmul",
            lambda a, b, scale: nn.fp8_matmul(a, b, formats=("e4m3fn", "e5m2"), scale=scale),
            a=(DataType.U8, (5, 18)),
            b=(DataType.U8, (18, 4)),
            scale=(F32, (4,)),
        ),
        case("float nf4 codes", lambda x: nn.nf4_encode(x, block=8), x=(F32, (3, 32))),
        case(
            "float nf4 matmul",
            lambda x, codes, scale: nn.nf4_matmul(x, codes, scale, block=8),
            x=(F32, (5, 32)),
            codes=codes,
            scale=(F32, (4, 4)),
        ),
    ]


@cache
def network_cases() -> tuple[TensorCase, ...]:
    """All of them; a case keeps its number, so new ones are added at the end."""
    rows = (F32, (3, 37))
    image = (F32, (1, 4, 6, 5))
    return (
        case("float softmax", nn.softmax, x=rows),
        case("float softmax of long rows", nn.softmax, x=(F32, (2, 300))),
        case("float softmax dynamic", lambda x: nn.softmax(x, 0), TWO, x=(F32, ("n", 3))),
        case("float bf16 softmax", nn.softmax, x=(BF16, (3, 20))),
        case("float log softmax", nn.log_softmax, x=rows),
        case("float sigmoid and silu", lambda x: (nn.sigmoid(x), nn.silu(x), nn.relu(x)), x=rows),
        case("float gelu", lambda x: (nn.gelu(x), nn.gelu(x, approximate="tanh")), x=rows),
        case("float layer norm", nn.layer_norm, x=rows, weight=(F32, (37,)), bias=(F32, (37,))),
        case("float rms norm", nn.rms_norm, x=rows, weight=(F32, (37,))),
        *_attention(),
        case(
            "float convolution",
            lambda x, weight: nn.conv(x, weight, stride=2, padding=1, groups=2),
            x=image,
            weight=(F32, (6, 2, 3, 3)),
        ),
        case(
            "float dilated convolution",
            lambda x, weight: nn.conv(x, weight, dilation=2),
            x=(F32, (2, 3, 11)),
            weight=(F32, (4, 3, 3)),
        ),
        case("float pools", lambda x: (nn.max_pool(x, 2), nn.average_pool(x, 2, padding=1)), x=image),
        case("float cross entropy", nn.cross_entropy, logits=rows, targets=(DataType.I64, (3,))),
        case("float top-k", lambda x: nn.top_k(x, 3), x=(F32, (3, 9))),
        case("float sampling", nn.sample, logits=rows, uniform=(F32, (3,))),
        case(
            "float transformer",
            _transformer,
            _GROWING,
            tokens=(DataType.U32, (2, "n")),
            table=(F32, (11, 8)),
            mix=(F32, (8, 24)),
            out=(F32, (8, 8)),
            weight=(F32, (8,)),
            keys=(F32, (2, 2, "past", 4)),
            values=(F32, (2, 2, "past", 4)),
        ),
        *_quantised(),
        *family_cases(),
    )
