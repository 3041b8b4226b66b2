"""Decimal text to floats, correctly rounded: an invocation a number, in exact integers from end to end.

The digits are one long integer of 16-bit limbs; a power of ten is a power of five and an exponent. Fives are
multiplied in or divided out six at a time, and what a division leaves over is remembered as one bit, so the
one rounding at the end sees all of the number. Of more than 800 digits the rest is that bit too: a number
half way between two floats has fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, Private, i32, packed_bytes, u32, u64
from vyre.backends.storage import dtype_of
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.result import Parsed
from vyre.library.messages import grid, taken
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

_FORMATS: dict[type[np.generic], tuple[int, int, int]] = {
    np.float64: (53, 1023, 308),
    np.float32: (24, 127, 38),
}
"""Digits of a float, its largest exponent, and that of ten."""

_FIVES = (1, 5, 25, 125, 625, 3125)
_LARGEST = 400_000_000
"""Of exponents: ten times as much fits a word, and no text has as many zeros for it to make up for."""


def grown(n: Private[u32], used: u32, factor: u32, addend: u32) -> u32:
    """n * factor + addend, both below 2^16; how many limbs there are then."""
    carry = addend
    for k in range(used):
        term = n[k] * factor + carry
        n[k] = term & 0xFFFF
        carry = term >> 16
    count = used
    if carry > 0:
        n[used] = carry
        count = used + 1
    return count


def shrunk(n: Private[u32], used: u32, divisor: u32) -> u32:
    """n // divisor, of at most 2^14; gives the remainder."""
    rest = u32(0)
    for k in range(used - 1, -1, -1):
        term = rest << 16 | n[k]
        n[k] = term // divisor
        rest = term % divisor
    return rest


@vyre.kernel
def _parse(
    text: In[packed_bytes], bounds: In[u32], out: Out[u64], errors: Out[u32],
    precision: u32, bias: u32, tens: u32,
) -> None:  # fmt: skip
    n = vyre.private(u32, 180)
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    start, end = bounds[m], bounds[m + 1]
    place = start
    first = byte_at(text, place)
    negative = u32(1) if first == 45 and start < end else u32(0)
    if start < end and (first == 45 or first == 43):
        place += 1
    used, kept, digits, lost, dot, power = u32(0), u32(0), u32(0), u32(0), u32(0), i32(0)
    wrong, marked = u32(0), u32(0)
    for k in range(place, end):
        byte = byte_at(text, u32(k))
        digit = byte - 48
        place = k
        if digit < 10:
            digits += 1
            if kept < 800:
                used = grown(n, used, u32(10), digit)
                kept += 1 if used > 0 else 0
                power -= i32(dot)
            else:
                lost |= digit
                power += 1 - i32(dot)
        elif byte == 46 and dot == 0:
            dot = 1
        elif byte | 32 == 101 and digits > 0:
            marked = 1
            break
        else:
            wrong = 1
            break
        place = k + 1
    if digits == 0:
        wrong = 1
    if wrong == 0 and marked == 1:
        place += 1
        sign = byte_at(text, u32(place))
        down = u32(1) if sign == 45 and place < end else u32(0)
        if place < end and (sign == 45 or sign == 43):
            place += 1
        exponent = u32(0)
        if place >= end:
            wrong = 1
        for k in range(place, end):
            byte = byte_at(text, u32(k))
            digit = byte - 48
            place = k
            if digit > 9:
                wrong = 1
                break
            exponent = min(exponent * 10 + digit, u32(_LARGEST))
        power += 0 - i32(exponent) if down == 1 else i32(exponent)
    if wrong == 1:
        errors[m] = place - start + 1
        return
    low, high = u32(0), negative << 31 if precision == 53 else u32(0)
    if precision == 24:
        low = negative << 31
    # The number is below 10^(kept + power), and at least a tenth of that.
    size = i32(kept) + power
    limit = bias * 2 + 1
    if used > 0 and size > i32(tens) + 1:
        if precision == 53:
            high |= limit << 20
        else:
            low |= limit << 23
    elif used > 0 and size >= 0 - i32(tens) - 17:
        # Room below the number, so that what is cut off at the end has a place of its own.
        fives = u32(power) if power >= 0 else u32(0 - power)
        bits = used * 16 - (vyre.clz(n[used - 1]) - 16)
        needed = u32(64) if power >= 0 else fives * 2323 // 1000 + 82
        room = (needed - bits) // 16 + 1 if needed > bits else u32(0)
        if power >= 0:
            room = 4
        for k in range(used - 1, -1, -1):
            n[u32(k) + room] = n[k]
        for k in range(room):
            n[k] = 0
        used += room
        two = power - i32(room * 16)
        for _ in range(fives // 6):
            if power >= 0:
                used = grown(n, used, u32(15625), u32(0))
            else:
                rest = shrunk(n, used, u32(15625))
                lost |= rest
                used -= 1 if n[used - 1] == 0 else 0
        five = u32(_FIVES[fives % 6])
        if power >= 0:
            used = grown(n, used, five, u32(0))
        else:
            rest = shrunk(n, used, five)
            lost |= rest
            used -= 1 if n[used - 1] == 0 else 0
        bits = used * 16 - (vyre.clz(n[used - 1]) - 16)
        exponent = i32(bits) - 1 + two
        least = 1 - i32(bias)
        biased = u32(exponent + i32(bias)) if exponent >= least else u32(1)
        # How many bits are below the last one that is kept.
        cut = bits - precision if exponent >= least else u32(least - i32(precision) + 1 - two)
        for k in range((cut - 1) // 16):
            lost |= n[k]
        lost |= n[(cut - 1) // 16] & ((u32(1) << ((cut - 1) % 16)) - 1)
        limb, shift = cut // 16, cut % 16
        kept_low = (n[limb] | n[limb + 1] << 16) >> shift | (n[limb + 2] << 1) << (31 - shift)
        kept_high = (n[limb + 2] | n[limb + 3] << 16) >> shift | (n[limb + 4] << 1) << (31 - shift)
        half = n[(cut - 1) // 16] >> ((cut - 1) % 16) & 1
        if half == 1 and (lost > 0 or kept_low & 1 == 1):
            kept_low += 1
            kept_high += 1 if kept_low == 0 else 0
        if exponent > i32(bias):
            biased, kept_low, kept_high = limit + 1, u32(0), u32(0)
        if precision == 53:
            low = kept_low
            high |= ((biased - 1) << 20) + kept_high
        else:
            low |= ((biased - 1) << 23) + kept_low
    out[m] = vyre.from_lanes(u64, low, high)


@boundary
def parse_floats(
    texts: Any, *, dtype: Any = np.float64, offsets: Any = None, backend: str | Backend | None = None
) -> Parsed:
    """The nearest float64, or float32, of each text: digits, of which one is there, at most one point, a sign
    before, and an exponent after e or E. Too large a number is infinite. Any other text is 0."""
    named = dtype_of(dtype)
    kind = named.type
    if kind not in _FORMATS:
        raise DispatchError(f"floats of {named} are not parsed.", fix="pass np.float64 or np.float32.")
    found = taken(texts, offsets, backend)
    precision, bias, tens = _FORMATS[kind]
    bits, marks = _parse(
        found.data, found.bounds, np.zeros(found.count, np.uint64), np.zeros(found.count, np.uint32),
        precision, bias, tens, workgroups=grid(found.count), backend=found.backend,
    )  # fmt: skip
    values = bits.view(np.float64) if kind is np.float64 else bits.astype(np.uint32).view(np.float32)
    return Parsed(found.rows(values, kind), found.rows(marks.astype(np.int64) - 1, np.int64))
