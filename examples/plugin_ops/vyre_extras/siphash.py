"""HalfSipHash-2-4, a hash that nobody predicts without its key: of one word, under a key of two."""

from typing import Any

from vyre import Call, DataType, Expr, Let, LitU32, Op, Param, Var
from vyre.conform.registry.build import c, law0
from vyre.conform.spec.term import Equation
from vyre_extras.promise import promise

LENGTH = 4 << 24
"""The last block of a message of four bytes."""

U32 = DataType.U32


def _rounds() -> Op:
    """Every step of every round under a name of its own."""
    body: list[Let] = []
    low, high, word = Var("low"), Var("high"), Var("word")
    v: list[Expr] = [low, high, low ^ 0x6C796765, high ^ 0x74656462 ^ word]

    def put(at: int, value: Expr) -> None:
        body.append(Let(f"s{len(body)}", value))
        v[at] = Var(body[-1].name)

    for k in range(8):
        if k in (2, 4):
            put(0, v[0] ^ (word if k == 2 else LENGTH))
            put(*((3, v[3] ^ LENGTH) if k == 2 else (2, v[2] ^ 0xFF)))
        for a, b, turn, swap in ((0, 1, 5, 16), (2, 3, 8, 0), (0, 3, 7, 0), (2, 1, 13, 16)):
            put(a, v[a] + v[b])
            put(b, Call("integer.rotl", (v[b], LitU32(turn))) ^ v[a])
            if swap:
                put(a, Call("integer.rotl", (v[a], LitU32(swap))))
    names = (Param("low", U32), Param("high", U32), Param("word", U32))
    doc = "The hash of the four bytes of `word` under a key of two words."
    return Op("extras.siphash.half", names, U32, v[1] ^ v[3], tuple(body), doc=doc)


HALF = _rounds()


def halved(d: Any, low: Any, high: Any, word: Any) -> Any:
    def turned(x: Any, n: int) -> Any:
        return d.or_(d.shl(x, d.const(n)), d.shr(x, d.const(32 - n)))

    v = [low, high, d.xor(d.const(0x6C796765), low), d.xor(d.const(0x74656462), high)]
    for block, rounds in ((word, 2), (d.const(LENGTH), 2), (None, 4)):
        at, block = (3, block) if block is not None else (2, d.const(0xFF))
        v[at] = d.xor(v[at], block)
        for _ in range(rounds):
            for a, b, n in ((0, 1, 5), (2, 3, 8), (0, 3, 7), (2, 1, 13)):
                v[a] = d.add(v[a], v[b])
                v[b] = d.xor(turned(v[b], n), v[a])
                v[a] = turned(v[a], 16) if n in (5, 13) else v[a]
        if at == 3:
            v[0] = d.xor(v[0], block)
    return d.xor(v[1], v[3])


SPEC = promise(
    HALF,
    halved,
    law0(
        "the published hash of 00 01 02 03 under the key 00 to 07",
        lambda f: Equation(f(c(0x03020100), c(0x07060504), c(0x03020100)), c(0x89466E2A)),
    ),
    edges=(0, 1, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF),
)
