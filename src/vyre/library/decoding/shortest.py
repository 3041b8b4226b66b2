"""Floats to the shortest decimal text that reads back as them, the nearest of several.

An invocation a number. Digits are made one at a time in exact integers of 16-bit limbs, as Steele and White
did: r / s is what is left of the number, m / s how far below it text may be and still read back as it; above
it that is as far, and twice as far at a power of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, Private, i32, u8, u32, u64
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.decimals import grown
from vyre.library.messages import grid, native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

_WIDEST = 24
_TENS = (1, 10, 100, 1000)
_NAN, _INF = (110, 97, 110), (105, 110, 102)


def against(r: Private[u32], m: Private[u32], s: Private[u32], count: u32, times: u32) -> u32:
    """r + m * times beside s: 0 below it, 1 equal, 2 above."""
    found, carry = u32(1), u32(0)
    for k in range(count):
        term = r[k] + m[k] * times + carry
        carry = term >> 16
        if term & 0xFFFF < s[k]:
            found = u32(0)
        elif term & 0xFFFF > s[k]:
            found = u32(2)
    return u32(2) if carry > 0 else found


def lessened(r: Private[u32], s: Private[u32], count: u32) -> None:
    """r - s, which is not below 0."""
    borrow = u32(0)
    for k in range(count):
        term = 0x10000 + r[k] - s[k] - borrow
        r[k] = term & 0xFFFF
        borrow = 1 - (term >> 16)


@vyre.kernel
def _print(x: In[u64], out: Out[u8], lengths: Out[u32], precision: u32, bias: u32) -> None:
    r = vyre.private(u32, 80)
    m = vyre.private(u32, 80)
    s = vyre.private(u32, 80)
    digits = vyre.private(u32, 20)
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(x):
        return
    low, high = x[i][0], x[i][1]
    double = u32(1) if precision == 53 else u32(0)
    sign = high >> 31 if double == 1 else low >> 31
    field = high >> 20 & 0x7FF if double == 1 else low >> 23 & 0xFF
    top = high & 0xFFFFF if double == 1 else u32(0)
    bottom = low if double == 1 else low & 0x7FFFFF
    place = i * 24
    if sign == 1:
        out[place] = 45
        place += 1
    if field == bias * 2 + 1:
        nan = u32(1) if top | bottom > 0 else u32(0)
        # There is one NaN in text, and it has no sign.
        place = i * 24 if nan == 1 else place
        for k in range(3):
            out[place + k] = _NAN[k] if nan == 1 else _INF[k]
        lengths[i] = place + 3 - i * 24
        return
    edge = u32(1) if top | bottom == 0 and field > 1 else u32(0)
    even = u32(1) if bottom & 1 == 0 else u32(0)
    if field > 0:
        top |= 0x100000 if double == 1 else 0
        bottom |= 0 if double == 1 else 0x800000
    count, point = u32(1), i32(1)
    if top | bottom > 0:
        power = i32(max(field, u32(1))) - i32(bias + precision - 1)
        bits = 64 - vyre.clz(top) if top > 0 else 32 - vyre.clz(bottom)
        up = u32(power) if power > 0 else u32(0)
        base = up // 16
        r[base], r[base + 1] = bottom & 0xFFFF, bottom >> 16
        r[base + 2], r[base + 3] = top & 0xFFFF, top >> 16
        m[base] = u32(1) << up % 16
        rs = grown(r, base + 4, u32(2) << edge, u32(0))
        rs = grown(r, rs, u32(1) << up % 16, u32(0))
        ms = base + 1
        down = 1 + edge if power > 0 else u32(i32(1 + edge) - power)
        s[down // 16] = u32(1) << down % 16
        ss = down // 16 + 1
        # The number is at least 2^(bits - 1), so its exponent of ten is this one or the next.
        tens = ((i32(bits) - 1 + power) * 78913 >> 18) + 1
        size = u32(tens) if tens > 0 else u32(0 - tens)
        for k in range(size // 4 + 1):
            factor = u32(10000) if k < size // 4 else u32(_TENS[size % 4])
            if tens > 0:
                ss = grown(s, ss, factor, u32(0))
            else:
                rs = grown(r, rs, factor, u32(0))
                ms = grown(m, ms, factor, u32(0))
        point = tens
        limbs = max(max(rs, ss), ms) + 1
        state = against(r, m, s, limbs, 1 + edge)
        if state + even > 1:
            point += 1
        else:
            rs = grown(r, rs, u32(10), u32(0))
            ms = grown(m, ms, u32(10), u32(0))
        count = 0
        for _turn in range(18):
            digit = u32(0)
            for _ in range(9):
                state = against(r, r, s, limbs, u32(0))
                if state == 0:
                    break
                lessened(r, s, limbs)
                digit += 1
            state = against(r, r, m, limbs, u32(0))
            near = u32(1) if state < 1 + even else u32(0)
            state = against(r, m, s, limbs, 1 + edge)
            far = u32(1) if state + even > 1 else u32(0)
            state = against(r, r, s, limbs, u32(1))
            if near | far == 1:
                half = u32(1) if state == 2 or (state == 1 and digit & 1 == 1) else u32(0)
                digit += half if near & far == 1 else far
            digits[count] = digit
            count += 1
            if near | far == 1:
                break
            rs = grown(r, rs, u32(10), u32(0))
            ms = grown(m, ms, u32(10), u32(0))
    if point > 0 - 4 and point < 17:
        whole = u32(point) if point > 0 else u32(1)
        zeros = u32(0 - point) if point < 0 else u32(0)
        for k in range(whole):
            out[place] = 48 + digits[k] if point > 0 and k < count else u32(48)
            place += 1
        out[place] = 46
        place += 1
        for _ in range(zeros):
            out[place] = 48
            place += 1
        first = whole if point > 0 else u32(0)
        for k in range(first, max(count, first + 1)):
            out[place] = 48 + digits[k] if k < count else u32(48)
            place += 1
    else:
        for k in range(count):
            out[place] = 48 + digits[k]
            place += 1
            if k == 0 and count > 1:
                out[place] = 46
                place += 1
        exponent = u32(point - 1) if point > 0 else u32(1 - point)
        out[place] = 101
        out[place + 1] = u32(43) if point > 0 else u32(45)
        place += 2
        if exponent > 99:
            out[place] = 48 + exponent // 100
            place += 1
        out[place] = 48 + exponent // 10 % 10
        out[place + 1] = 48 + exponent % 10
        place += 2
    lengths[i] = place - i * 24


@boundary
def print_floats(
    values: Any, *, backend: str | Backend | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """The texts of a row of float64 or float32, one after another, and their offsets: what `repr` of Python
    prints for a float64, and the same form for a float32."""
    given = native("values", values)
    if given.ndim != 1 or given.dtype.type not in (np.float64, np.float32):
        raise DispatchError(
            f"values have the type {given.dtype} and the shape {given.shape}.",
            fix="pass a row of float64 or float32.",
        )
    double = given.dtype == np.float64
    bits = given.view(np.uint64) if double else given.view(np.uint32).astype(np.uint64)
    out, lengths = _print(
        bits, np.zeros(len(given) * _WIDEST, np.uint8), np.zeros(len(given), np.uint32),
        53 if double else 24, 1023 if double else 127, workgroups=grid(len(given)), backend=backend,
    )  # fmt: skip
    offsets = np.zeros(len(given) + 1, np.uint32)
    np.cumsum(lengths, out=offsets[1:], dtype=np.uint32)
    return out.reshape(-1, _WIDEST)[np.arange(_WIDEST) < lengths[:, None]], offsets
