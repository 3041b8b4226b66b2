"""Sums of digits, carried and rounded once to the nearest float; of two equally near ones to the even one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, InOut, Out, i32, u32, u64
from vyre.library.messages import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

_LOWEST = 1074
"""The lowest bit of a float of exponent 1 is 2^-1074."""


@vyre.kernel
def _carried(parts: In[u64], digits: InOut[u32], signs: Out[u32], walkers: u32, width: u32) -> None:
    """The digits of each group's sum without its sign, two more than its parts have.

    `parts` has those of one walker after the other.
    """
    group = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if group >= len(signs):
        return
    at, carry = group * (width + 2), u64(0)
    for k in range(width + 2):
        if u32(k) < width:
            for t in range(walkers):
                carry += parts[(u32(t) * len(signs) + group) * width + u32(k)]
        digits[at + u32(k)] = carry[0]
        carry = (carry >> 32) | vyre.select(carry >> 63 == 1, u64(0xFFFFFFFF00000000), u64(0))
    signs[group] = carry[0] >> 31
    if carry[0] >> 31 == 1:
        carry = u64(1)
        for k in range(width + 2):
            carry += u64(~digits[at + u32(k)])
            digits[at + u32(k)] = carry[0]
            carry = carry >> 32


@vyre.kernel
def _nearest(
    digits: In[u32], signs: In[u32], out: Out[u64], width: u32, bits: i32, bottom: i32, above: i32, most: i32
) -> None:
    """The bits of floats whose mantissas have `bits` bits after the first.

    Of all digits together the lowest bit of a subnormal is bit `bottom`, and the first bit of a float of
    exponent e is bit e - `above`. The exponent `most` is that of Inf.
    """
    group = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if group >= len(signs):
        return
    at, highest = group * width, u32(0)
    for k in range(width):
        if digits[at + u32(k)] != 0:
            highest = u32(k)
    if digits[at + highest] == 0:
        out[group] = u64(0)
        return
    first = i32(32 * highest + 31 - vyre.clz(digits[at + highest]))
    cut = vyre.max(first - bits, bottom)
    whole, up = u64(0), u32(0)
    if cut <= 0:
        whole = vyre.from_lanes(u64, digits[at], digits[at + 1]) << u32(-cut)
    else:
        word, shift = u32(cut) >> 5, u32(cut) & 31
        low = vyre.from_lanes(
            u64, digits[at + word], vyre.select(word + 1 < width, digits[at + word + 1], u32(0))
        )
        high = vyre.select(word + 2 < width, digits[at + word + 2], u32(0))
        whole = (low >> shift) | ((u64(high) << 1) << (63 - shift))
        before = u32(cut) - 1
        half = (digits[at + (before >> 5)] >> (before & 31)) & 1
        rest = digits[at + (before >> 5)] & ((u32(1) << (before & 31)) - 1)
        for k in range(before >> 5):
            rest |= digits[at + u32(k)]
        if half == 1 and (rest != 0 or whole[0] & 1 == 1):
            up = u32(1)
    exponent = first + above
    if exponent >= most:
        whole, up = u64(u32(most)) << u32(bits), u32(0)
    elif exponent >= 1:
        whole += u64(u32(exponent - 1)) << u32(bits)
    out[group] = whole + u64(up)


def rounded(parts: NDArray[np.uint64], low: int, kind: str, backend: str | Backend | None) -> NDArray[Any]:
    """The floats of sums of digits: walker, group, digit; bit 0 is the lowest of the exponent `low`."""
    walkers, groups, width = parts.shape
    digits, signs = np.zeros(groups * (width + 2), np.uint32), np.zeros(groups, np.uint32)
    digits, signs = _carried(
        parts.reshape(-1), digits, signs, walkers, width, workgroups=grid(groups), backend=backend
    )
    bits, bias, most = (52, 1023, 0x7FF) if kind == "float64" else (23, 127, 0xFF)
    scale = low - 1 - _LOWEST  # bit 0 is 2^scale
    bottom = (1 - bias - bits) - scale
    out = np.zeros(groups, np.uint64)
    found = _nearest(
        digits,
        signs,
        out,
        width + 2,
        bits,
        bottom,
        scale + bias,
        most,
        workgroups=grid(groups),
        backend=backend,
    )
    if kind == "float64":
        return (found | (signs.astype(np.uint64) << np.uint64(63))).view(np.float64)
    return (found.astype(np.uint32) | (signs << np.uint32(31))).view(np.float32)
