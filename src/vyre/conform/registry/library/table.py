"""Every spec of the library, in the order of its documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.library import (
    byte_lanes,
    codes,
    division,
    integers,
    signed_integers,
    wide,
    wide_more,
)
from vyre.conform.registry.library.entry import U64, U128, entry
from vyre.conform.registry.library.operands import AMOUNTS, FEW, ONE_WORD, beyond, negative, pair, whole, zero
from vyre.conform.spec.edges import MAX, TOP

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec
    from vyre.ir.types import DataType

_CORNERS = (0, 1, TOP, MAX)
"""What is crossed eight ways."""


def _wide(prefix: str, of: DataType) -> list[OpSpec]:
    count = of.lanes
    edges = (FEW if count == 2 else _CORNERS,) * (2 * count)
    one = ((*FEW, 2, 0xFFFF, 0x10000) if count == 2 else FEW,) * count
    return [
        *(entry(f"{prefix}.{name}", p, pair(), edges) for name, p in wide.pairs(prefix, of).items()),
        *(
            entry(f"{prefix}.{name}", p, (whole(), zero(count)), one)
            for name, p in wide.singles(prefix, of).items()
        ),
    ]


def _long_shifts() -> list[OpSpec]:
    classes = (whole(), negative(3), beyond(4, 128))
    edges = (*(_CORNERS,) * 4, (*AMOUNTS, 96, 127, 128))
    return [
        entry(f"wide.u128.{name}", p, classes, edges) for name, p in wide.shifts("wide.u128", U128).items()
    ]


def _more() -> list[OpSpec]:
    shifted = (whole(), negative(1), beyond(2, 64))
    return [
        *(entry(i, p, (*pair(), negative(1), negative(3)), (FEW,) * 4) for i, p in wide_more.PAIRS.items()),
        *(entry(i, p, shifted, (FEW, FEW, AMOUNTS)) for i, p in wide_more.SHIFTS.items()),
        *(
            entry(i, p, (whole(), zero(2), negative(1)), ((*FEW, 2, 0xFF00),) * 2)
            for i, p in wide_more.SINGLES.items()
        ),
    ]


def _bytes() -> list[OpSpec]:
    places = (0, 1, 2, 3, 4, 5, TOP + 2, MAX)
    words = (0, 1, 0xFF, 0x80, 0x7F, 0xFF00, 0x1234_5678, 0x8080_8080, 0x7F7F_7F7F, TOP, MAX)
    few = (0, 1, 0x80, 0xFF, 0x100, MAX)
    return [
        *(
            entry(i, p, pair(), (words, places if i.endswith("lane") else words))
            for i, p in byte_lanes.PAIRS.items()
        ),
        *(entry(i, p, (whole(), zero(1)), (ONE_WORD,)) for i, p in byte_lanes.SINGLES.items()),
        entry("bytes.with_lane", byte_lanes.WITH_LANE, (whole(), beyond(1, 4)), (words, places, few)),
        entry("bytes.pack", byte_lanes.PACK, (whole(), beyond(0, 256)), (few,) * 4),
    ]


def specs() -> list[OpSpec]:
    return [
        *integers.specs(),
        *signed_integers.specs(),
        *_wide("wide.u64", U64),
        *_wide("wide.u128", U128),
        *_long_shifts(),
        *_more(),
        *division.specs(),
        *_bytes(),
        *codes.specs(),
    ]
