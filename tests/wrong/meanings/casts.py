"""Plausible wrong meanings of casts and conversions: other rules, other lanes, the value for the bits."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from tests.wrong.meanings.floats import constants, exact, flushed, toward_zero
from vyre.ir.operators import RoundMode
from vyre.ir.types import FLOAT_TYPES, DataType
from vyre.ir.typing import CastRule, convert_type
from vyre.reference import floats

if TYPE_CHECKING:
    from tests.wrong.meanings.floats import Meanings, One
    from vyre.conform.oracle.golden import Row
    from vyre.reference.floats import Format

M = 0xFFFF_FFFF
_T = DataType


def signed(a: int) -> int:
    return a - (1 << 32) if a >> 31 else a


def casts(source: DataType, target: DataType) -> Meanings:
    ones, words = (1 << target.bits) - 1, max(1, target.bits // 32)
    splat = sum(1 << 32 * lane for lane in range(words))
    top = max(0, source.bits - target.bits)
    found: dict[str, One] = {
        CastRule.Bitcast.value: lambda x: x & ones,
        CastRule.SignExtend.value: lambda x: (x | -1 << 32) & ones if x >> 31 & 1 else x & ones,
        CastRule.Splat.value: lambda x: (x & M) * splat & ones,
        CastRule.ToBool.value: lambda x: int(x != 0),
        "the highest lanes": lambda x: x >> top & ones,
        "lanes reversed": lambda x: _reversed(x, source.bits) & ones,
        "bytes reversed": lambda x: int.from_bytes(x.to_bytes(source.stride, "little"), "big") & ones,
        "the lowest bit": lambda x: x & 1,
        "the lowest lane alone": lambda x: int(x & M != 0),
        "truth as all ones": lambda x: ones if x else 0,
        "inverted": lambda x: ~x & ones,
        "one half only": lambda x: x & 0xFFFF,
    }
    if source in FLOAT_TYPES and target in FLOAT_TYPES:
        old, new = floats.FORMATS[source], floats.FORMATS[target]
        right = partial(floats.change_format, old, new)
        more: dict[str, One] = {
            "rounded toward zero": lambda x: toward_zero(new, right(x), exact(old, x)),
            "subnormals flushed": lambda x: flushed(new, right(flushed(old, x))),
            "the high half of the bits": lambda x: x >> 16 & ones,
            "NaN bits kept": lambda x: x >> 16 & ones | 1 if old.is_nan(x) else right(x),
            "saturating": lambda x: (
                right(x) - 1 if new.is_infinite(right(x)) and not old.is_infinite(x) else right(x)
            ),
        }
        found.update(more)
    elif source in FLOAT_TYPES and target in (_T.U32, _T.I32):
        found["by value"] = partial(to_integer, floats.FORMATS[source], RoundMode.Truncate, target)
    elif target in FLOAT_TYPES:
        found["by value"] = partial(floats.from_integer, floats.FORMATS[target], _T.U32)
    return {**found, **constants(target.bits)}


def _reversed(x: int, bits: int) -> int:
    lanes = [x >> shift & M for shift in range(0, max(32, bits), 32)]
    return sum(lane << 32 * k for k, lane in enumerate(reversed(lanes)))


def to_integer(fmt: Format, mode: RoundMode, target: DataType, x: int) -> int:
    return floats.to_integer(fmt, x, mode, target)


def conversions(row: Row) -> Meanings:
    source, target, mode = _T(row["from"]), _T(row["to"]), RoundMode(row["mode"])
    found: dict[str, One] = {"the bits": lambda x: x & ((1 << target.bits) - 1)}
    if source in FLOAT_TYPES:
        fmt = floats.FORMATS[source]
        other = _T.I32 if target is _T.U32 else _T.U32
        right = partial(to_integer, fmt, mode, target)
        for wrong in RoundMode:
            if wrong is not mode and convert_type(target, wrong, source):
                found[f"{wrong.value} instead"] = partial(to_integer, fmt, wrong, target)
        more: dict[str, One] = {
            f"to {other.value} instead": partial(to_integer, fmt, mode, other),
            "wrapping": lambda x: int(e) & M if (e := exact(fmt, x)) is not None else right(x),
            "NaN all ones": lambda x: M if fmt.is_nan(x) else right(x),
            "NaN the least": lambda x: 1 << 31 if fmt.is_nan(x) else right(x),
        }
    else:
        fmt = floats.FORMATS[target]
        other = _T.I32 if source is _T.U32 else _T.U32
        right = partial(floats.from_integer, fmt, source)
        more = {
            f"from {other.value} instead": partial(floats.from_integer, fmt, other),
            "rounded toward zero": lambda x: toward_zero(
                fmt, right(x), Fraction(signed(x) if source is _T.I32 else x)
            ),
        }
    found.update(more)
    return {**found, **constants(target.bits)}
