"""MurmurHash3 of 32 bits: what it does with each word of a message, and with the hash at its end."""

from typing import Any

import vyre
from vyre import u32
from vyre.conform.registry.build import c, law0
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Equation
from vyre_extras.promise import promise

EDGES = (0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
TEST = int.from_bytes(b"test", "little")


@vyre.op(id="extras.murmur3.step")
def step(h: u32, word: u32) -> u32:
    """The hash after one more word."""
    k = vyre.call("integer.rotl", word * 0xCC9E2D51, 15) * 0x1B873593
    return vyre.call("integer.rotl", h ^ k, 13) * 5 + 0xE6546B64


@vyre.op(id="extras.murmur3.mix")
def mix(h: u32) -> u32:
    """Spreads every bit of a word over all of them."""
    x = (h ^ (h >> 16)) * 0x85EBCA6B
    y = (x ^ (x >> 13)) * 0xC2B2AE35
    return y ^ (y >> 16)


def stepped(d: Any, h: Any, word: Any) -> Any:
    def turned(x: Any, n: int) -> Any:
        return d.or_(d.shl(x, d.const(n)), d.shr(x, d.const(32 - n)))

    k = d.mul(turned(d.mul(word, d.const(0xCC9E2D51)), 15), d.const(0x1B873593))
    return d.add(d.mul(turned(d.xor(h, k), 13), d.const(5)), d.const(0xE6546B64))


def mixed(d: Any, h: Any) -> Any:
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = d.mul(d.xor(h, d.shr(h, d.const(shift))), d.const(factor))
    return h


SPECS = [
    promise(
        step.op,
        stepped,
        law0(
            "the published hash of `test`",
            lambda f: Equation(
                ap(mix.op.id, ap("primitive.bitwise.xor", f(c(0), c(TEST)), c(4))), c(0xBA6BD213)
            ),
        ),
        edges=EDGES,
    ),
    promise(
        mix.op,
        mixed,
        law0("the published hash of nothing, seed 1", lambda f: Equation(f(c(1)), c(0x514E28B7))),
        edges=EDGES,
    ),
]
