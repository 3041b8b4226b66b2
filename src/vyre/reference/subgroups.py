"""What the instructions compute: the results of all lanes from the operands of all lanes.

This is the definition. A lane's operands are plain integers, lane 0 first; the width is their number.
Instructions of a single invocation have one lane. Products of matrices are in `reference/matrices.py`.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from vyre.errors import UnsupportedByBackend
from vyre.ir.limits import U32_MAX
from vyre.reference.matrices import MATRICES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.ir.op import Op

    Lanes = Sequence[tuple[int, ...]]
    Exchange = Callable[[Lanes], list[int]]

_FAMILY = "subgroup"


def exchange_of(hardware: str) -> Exchange | None:
    """The function of an instruction such as `subgroup32.shuffle`; None for hardware that is not known."""
    if hardware in MATRICES:
        return MATRICES[hardware]
    unit, _, name = hardware.partition(".")
    if unit == "packed":
        return _PACKED.get(name)
    width = unit.removeprefix(_FAMILY)
    return _EXCHANGES.get(name) if unit.startswith(_FAMILY) and width.isdecimal() else None


def exchange_for(op: Op) -> Exchange:
    """The function of a Category C op. Raises `UnsupportedByBackend` for hardware that is not known."""
    function = exchange_of(op.hardware)
    if function is None:
        raise UnsupportedByBackend(op.id, "reference", why=f"it does not define {op.hardware}")
    return function


def _shuffle(lanes: Lanes) -> list[int]:
    return [lanes[lane % len(lanes)][0] for _, lane in lanes]


def _shuffle_xor(lanes: Lanes) -> list[int]:
    return [lanes[own ^ (mask % len(lanes))][0] for own, (_, mask) in enumerate(lanes)]


def _shuffle_up(lanes: Lanes) -> list[int]:
    return [_at(lanes, own, own - distance % len(lanes)) for own, (_, distance) in enumerate(lanes)]


def _shuffle_down(lanes: Lanes) -> list[int]:
    return [_at(lanes, own, own + distance % len(lanes)) for own, (_, distance) in enumerate(lanes)]


def _at(lanes: Lanes, own: int, wanted: int) -> int:
    return lanes[wanted if 0 <= wanted < len(lanes) else own][0]


def _ballot(lanes: Lanes) -> list[int]:
    mask = sum(1 << lane for lane, (condition,) in enumerate(lanes) if condition)
    return [mask] * len(lanes)


def _reduction(join: Callable[[int, int], int]) -> Exchange:
    return lambda lanes: [reduce(join, (value for (value,) in lanes))] * len(lanes)


def _dot(*, signed: bool) -> Exchange:
    def bytes_of(word: int) -> list[int]:
        found = list(word.to_bytes(4, "little"))
        return [b - 256 if signed and b > 127 else b for b in found]

    def one(a: int, b: int) -> int:
        return sum(x * y for x, y in zip(bytes_of(a), bytes_of(b), strict=True)) & U32_MAX

    return lambda lanes: [one(a, b) for a, b in lanes]


_PACKED: Mapping[str, Exchange] = {"dot4_u8": _dot(signed=False), "dot4_i8": _dot(signed=True)}

_EXCHANGES: Mapping[str, Exchange] = {
    "shuffle": _shuffle,
    "shuffle_xor": _shuffle_xor,
    "shuffle_up": _shuffle_up,
    "shuffle_down": _shuffle_down,
    "ballot": _ballot,
    "reduce_add": _reduction(lambda a, b: (a + b) & U32_MAX),
    "reduce_min": _reduction(min),
    "reduce_max": _reduction(max),
    "reduce_and": _reduction(lambda a, b: a & b),
    "reduce_or": _reduction(lambda a, b: a | b),
    "reduce_xor": _reduction(lambda a, b: a ^ b),
}
