"""Random words by counter: word `stream` of case k is a pure function of (seed, k, stream).

Written over a `Domain`, so the host makes arrays of them, a device makes its own with the same steps
(`word_op`), and case k needs none before it. Two rounds of a 32-bit mix, keyed anew between them; each can
be undone, so that a word tells which case it belongs to (`low_of`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.ir.expr import Var
from vyre.ir.op import Op, Param
from vyre.ir.types import DataType
from vyre.semantics.domain import CONCRETE
from vyre.semantics.emitted import IrDomain

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain, V

_GOLDEN = 0x9E37_79B9
_FIRST, _SECOND = 0x7FEB_352D, 0x846C_A68B


def mix(d: Domain[V], x: V) -> V:
    """A bijection of u32 in which every input bit moves every output bit about half the time."""
    x = d.mul(d.xor(x, d.shr(x, d.const(16))), d.const(_FIRST))
    x = d.mul(d.xor(x, d.shr(x, d.const(15))), d.const(_SECOND))
    return d.xor(x, d.shr(x, d.const(16)))


def unmix(d: Domain[V], x: V) -> V:
    """What `mix` makes `x` of."""
    x = d.mul(d.xor(x, d.shr(x, d.const(16))), d.const(pow(_SECOND, -1, 1 << 32)))
    x = d.xor(x, d.xor(d.shr(x, d.const(15)), d.shr(x, d.const(30))))
    x = d.mul(x, d.const(pow(_FIRST, -1, 1 << 32)))
    return d.xor(x, d.shr(x, d.const(16)))


def keyed(d: Domain[V], low: V, high: V, key0: V, key1: V) -> V:
    """The word of counter (low, high) under two keys."""
    upper = mix(d, d.add(d.xor(high, key1), d.const(_GOLDEN)))
    x = mix(d, d.xor(low, d.xor(key0, upper)))
    return mix(d, d.add(x, d.add(key1, upper)))


def keys(seed: int, stream: int) -> tuple[int, int]:
    """The keys of one stream of a seed; a seed has 64 bits."""
    d = CONCRETE
    first = mix(d, d.add(seed & 0xFFFF_FFFF, d.mul(stream + 1, _GOLDEN)))
    second = mix(d, d.xor(first, d.add((seed >> 32) & 0xFFFF_FFFF, stream)))
    return first, mix(d, d.add(second, _GOLDEN))


def word(d: Domain[V], low: V, high: V, *, seed: int, stream: int) -> V:
    """Word `stream` of case `high * 2^32 + low`."""
    key0, key1 = keys(seed, stream)
    return keyed(d, low, high, d.const(key0), d.const(key1))


def low_of(d: Domain[V], word: V, high: V, *, seed: int, stream: int) -> V:
    """The lower half of the only case, among those with this upper half, whose word `stream` is `word`."""
    key0, key1 = keys(seed, stream)
    upper = mix(d, d.add(d.xor(high, d.const(key1)), d.const(_GOLDEN)))
    x = d.sub(unmix(d, word), d.add(d.const(key1), upper))
    return d.xor(unmix(d, x), d.xor(d.const(key0), upper))


@cache
def word_op() -> Op:
    """`conform.random.word(low, high, key0, key1)`: `keyed` as a composition a device can run."""
    d = IrDomain()
    names = ("low", "high", "key0", "key1")
    result = keyed(d, *(Var(name) for name in names))
    return Op(
        "conform.random.word",
        tuple(Param(name, DataType.U32) for name in names),
        DataType.U32,
        result,
        tuple(d.lets),
        doc="The random word of a counter under two keys.",
    )
