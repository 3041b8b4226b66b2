"""Weights in 8 and 4 bits: FP8 and NF4 codes as U8, and products with them (decision 31).

Codes are decoded exactly and products accumulate in F32, so a quantised product has the bits of the product
of the decoded tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.expr import Call
from vyre.ir.types import DataType
from vyre.nn.widened import wide
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor.applying import A, B, apply
from vyre.tensor.create import iota
from vyre.tensor.products import matmul
from vyre.tensor.shaping import broadcast_to, expand_dims, reshape, squeeze, swapaxes
from vyre.tensor.value import network

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.tensor import Tensor

_FORMATS = ("e4m3fn", "e5m2")
_OVERFLOWS = {"saturate": "encode", "special": "encode_over"}


@network
def fp8_encode(x: Tensor, format: str = "e4m3fn", *, overflow: str = "saturate") -> Tensor:
    """The codes of the nearest numbers, ties to even, as U8; `format` is "e4m3fn" or "e5m2".

    What is too large becomes the largest number, or with `overflow="special"` what the format has beyond it:
    infinity in E5M2, NaN in E4M3FN. NaN is one code, 0x7F in E4M3FN and 0x7E in E5M2.
    """
    _require_format(format)
    if overflow not in _OVERFLOWS:
        raise VyreError(f"the overflow {overflow!r} does not exist.", fix='use "saturate" or "special".')
    op_id = f"fp8.{format}.{_OVERFLOWS[overflow]}"
    return apply(Call(op_id, (A,)), (wide(x),), gives=DataType.U8)


@network
def fp8_decode(codes: Tensor, format: str = "e4m3fn") -> Tensor:
    """The numbers of the codes in F32, exactly."""
    _require_format(format)
    _require_codes(codes)
    return apply(Call(f"fp8.{format}.decode", (A,)), (codes,), gives=DataType.F32)


@network
def fp8_matmul(
    a: Tensor, b: Tensor, *, formats: tuple[str, str] = ("e4m3fn", "e4m3fn"), scale: Tensor | None = None
) -> Tensor:
    """[..., m, k] times [..., k, n] of codes, summed in F32; the sums times `scale`, which is broadcast."""
    made = matmul(fp8_decode(a, formats[0]), fp8_decode(b, formats[1]))
    return made if scale is None else made * wide(scale)


@network
def nf4_encode(x: Tensor, *, block: int = 64) -> tuple[Tensor, Tensor]:
    """Codes of x divided by the greatest magnitude of its block, and those magnitudes.

    Blocks lie along the last axis: [..., n] gives U8 [..., n / 2], of two codes the first in the high half,
    and F32 [..., n / block]. The nearest code is taken, of two as near the lower one. A block of zeros stays
    zeros; one with NaN or an infinity becomes NaN where it is decoded.
    """
    _require_block(block)
    w = wide(x)
    *rest, width = w.type.shape
    number = _parts(width, block)
    parts = reshape(w, (*rest, number, block))
    greatest = r.max(e.absolute(parts), -1, keepdims=True)
    codes = apply(Call("nf4.encode", (A,)), (parts / greatest,), gives=DataType.U32)
    pairs = reshape(codes, (*rest, _parts(width, 2), 2))
    packed = apply((A << 4) | B, (pairs[..., 0], pairs[..., 1]), gives=DataType.U8)
    return packed, squeeze(greatest, -1)


@network
def nf4_decode(codes: Tensor, greatest: Tensor, *, block: int = 64) -> Tensor:
    """The value of each code times the greatest magnitude of its block, in F32, along the last axis."""
    _require_block(block)
    _require_codes(codes)
    *rest, half = codes.type.shape
    number = _parts(half * 2, block)
    both = broadcast_to(expand_dims(codes, -1), (*rest, half, 2))
    place = iota(codes, (2,), 0)
    # The first code of a byte is its high half.
    values = apply(Call("nf4.decode", (A >> (4 - (B << 2)),)), (both, place), gives=DataType.F32)
    parts = reshape(values, (*rest, number, block))
    return reshape(parts * expand_dims(wide(greatest), -1), (*rest, half * 2))


@network
def nf4_matmul(x: Tensor, codes: Tensor, greatest: Tensor, *, block: int = 64) -> Tensor:
    """x [..., m, k] times the transpose of [n, k] weights, whose blocks lie along k, summed in F32."""
    weights = nf4_decode(codes, greatest, block=block)
    return matmul(wide(x), swapaxes(weights, -1, -2))


def _parts(width: Size, each: int) -> Size:
    number = width.divided(each)
    if number is None:
        raise VyreError(
            f"{width} columns cannot be split into blocks of {each}.",
            fix="pad the last axis to a multiple of the block.",
        )
    return number


def _require_format(name: str) -> None:
    if name not in _FORMATS:
        raise VyreError(f"the format {name!r} does not exist.", fix=f"use {' or '.join(_FORMATS)}.")


def _require_codes(codes: Tensor) -> None:
    if codes.element is not DataType.U8:
        raise VyreError(f"codes cannot be {codes.element.value}.", fix="pass codes as u8.")


def _require_block(block: int) -> None:
    if block < 2 or block % 2:
        raise VyreError(f"blocks cannot have {block} elements.", fix="use an even block size, such as 64.")
