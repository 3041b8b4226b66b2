"""Inputs at which an op can be wrong: conditions on two operand words, each with a witness.

A condition is written over a `Domain`, so it becomes part of a kernel, and the same function says on plain
integers whether a pair is in it. `density` is the share of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.mutants.mutant import DENSE_CASES, USUAL_CASES
from vyre.conform.generate.counter import mix
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.op import as_tuple
from vyre.semantics.domain import CONCRETE

if TYPE_CHECKING:
    from vyre.conform.spec.op import EquivalenceClass, OpSpec

MAX, TOP = 0xFFFF_FFFF, 0x8000_0000
MILLIONTH = 4295
"""Of 2^32 values of a hash: 10^-6."""

Holds = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """Where an op is wrong: `holds(d, *words)` is 1 there. `witness` are words at which it is."""

    kind: str
    holds: Holds
    witness: tuple[int, ...]
    density: float | None
    promised: bool = True
    cases: int = USUAL_CASES
    exhaustive: bool = False


def hashed(d: Any, *words: Any, salt: int = 0) -> Any:
    """A hash of the operand words that no generator knows."""
    found = d.const(0x2545_F491 ^ salt * 0x0101_0101)
    for w in words:
        found = mix(d, d.xor(found, w))
    return found


def _all(d: Any, *parts: Any) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = d.and_(found, part)
    return found


def point(kind: str, words: tuple[int, ...], **more: Any) -> Condition:
    """Wrong for these words alone."""

    def holds(d: Any, *given: Any) -> Any:
        return _all(d, *(d.eq(g, d.const(w)) for g, w in zip(given, words, strict=True)))

    return Condition(kind, holds, words, 2.0 ** (-32 * len(words)), **more)


def _large(d: Any, a: Any) -> Any:
    """One in 16 of the values that no byte, boundary or power of two reaches."""
    low = d.eq(d.and_(a, d.const(0x28)), d.const(8))
    high = d.eq(d.and_(a, d.const(0x0050_0000)), d.const(0x0010_0000))
    return d.and_(low, high)


def related(k: int) -> list[Condition]:
    """Pairs whose words depend on each other; `k` picks the constants."""
    edge, one = EDGES[(7 * k + 3) % len(EDGES)], 2.0**-36
    far = (0x1234_5659 + k * 0x0100_0100 & ~0x0050_0000 | 0x0010_0000) & MAX

    def pair(kind: str, second: Callable[[Any, Any], Any]) -> Condition:
        def holds(d: Any, a: Any, b: Any) -> Any:
            return _all(d, d.eq(b, second(d, a)), _large(d, a))

        return Condition(kind, holds, (far, second(CONCRETE, far)), one)

    return [
        pair("equal operands", lambda d, a: a),
        pair("complementary operands", lambda d, a: d.not_(a)),
        pair("opposite operands", lambda d, a: d.sub(d.const(0), a)),
        pair("operands a fixed xor apart", lambda d, a: d.xor(a, d.const(edge))),
        pair("operands one bit apart", lambda d, a: d.xor(a, d.const(1 << (k * 5 % 32)))),
        pair("operands a fixed difference apart", lambda d, a: d.sub(a, d.const(edge))),
        pair("operands of a fixed sum", lambda d, a: d.sub(d.const(edge), a)),
        pair("one operand the other shifted", lambda d, a: d.shl(a, d.const(1 + k % 31))),
        pair("one operand a multiple of the other", lambda d, a: d.mul(a, d.const(2 + k % 13))),
    ]


def ranges(k: int, words: int) -> list[Condition]:
    """Wrong for a part of all values."""
    rest = (3,) * (words - 1)

    def high(d: Any, a: Any, *_: Any) -> Any:
        return d.shr(a, d.const(31))

    def odd(d: Any, a: Any, *_: Any) -> Any:
        return _all(d, d.ult(d.const(0xFF_FFFF), a), d.eq(d.and_(a, d.const(7)), d.const(k % 7 + 1)))

    return [
        Condition("first operand from 2^31 on", high, (TOP, *rest), 0.5),
        Condition("first operand from 2^24 on, low bits set", odd, (0x0100_0000 + k % 7 + 1, *rest), 0.12),
    ]


def sparse(k: int, words: int) -> list[Condition]:
    """Wrong here and there, at one input in a million."""

    def holds(d: Any, *given: Any) -> Any:
        return d.ult(hashed(d, *given, salt=k), d.const(MILLIONTH))

    return [Condition("one input in a million", holds, preimage(k, k, words), 1e-6, cases=DENSE_CASES)]


def hopeless(k: int, words: int) -> list[Condition]:
    """Faults that no number of cases within reach will meet."""
    lost = preimage(0x6B8B_4567, k, words)

    def rarer(d: Any, h: Any) -> Any:
        return d.ult(mix(d, d.xor(h, d.const(0x5851_F42D))), d.const(MILLIONTH * 1000))

    def holds(d: Any, *given: Any) -> Any:
        h = hashed(d, *given, salt=k)
        return _all(d, d.ult(h, d.const(MILLIONTH)), rarer(d, h))

    chosen = next(h for h in range(MILLIONTH) if rarer(CONCRETE, h))
    return [
        point(f"one input in 2^{32 * words}", lost, promised=False),
        Condition("one input in a billion", holds, preimage(chosen, k, words), 1e-9, promised=False),
    ]


def preimage(value: int, k: int, words: int) -> tuple[int, ...]:
    """Operand words with this hash; `k` picks all but the last."""
    given = [mix(CONCRETE, (k * 0x0100_0193 + j) & MAX) for j in range(words - 1)]
    return (*given, unmix(value) ^ hashed(CONCRETE, *given, salt=k))


def unmix(x: int) -> int:
    """The inverse of `mix`, step by step."""
    x ^= x >> 16
    x = x * pow(0x846C_A68B, -1, 1 << 32) & MAX
    x ^= x >> 15 ^ x >> 30
    x = x * pow(0x7FEB_352D, -1, 1 << 32) & MAX
    return x ^ x >> 16


def _walk(k: int, words: int) -> Any:
    """Inputs all over the place, without end."""
    at = k
    while True:
        at += 1
        yield tuple(mix(CONCRETE, (at * 0x0100_0193 + j * 0x85EB_CA6B) & MAX) for j in range(words))


def byte_pair(k: int) -> Condition:
    return point("one pair of bytes", ((17 + 31 * k) % 256, (91 + 53 * k) % 256))


def boundary(spec: OpSpec, k: int) -> Condition:
    """One combination of declared boundaries, large ones where there are any."""
    words: list[int] = []
    for j, (values, mask) in enumerate(zip(spec.boundaries, spec.masks, strict=True)):
        large = [v for v in values if v & mask > 255] or list(values)
        words.append(large[(k + 3 * j) % len(large)] & mask)
    return point("one combination of boundaries", tuple(words))


def class_members(spec: OpSpec, one: EquivalenceClass, k: int) -> Condition:
    """One in 16 of the members of a declared class, or all of them where it has but few."""

    def thin(d: Any, *given: Any) -> Any:
        rare = d.eq(d.shr(hashed(d, *given), d.const(28)), d.const(0))
        return _all(d, d.ne(one.contains(d, *given), d.const(0)), rare)

    def whole(d: Any, *given: Any) -> Any:
        return d.ne(one.contains(d, *given), d.const(0))

    walk = _walk(k, spec.words)
    tried = [as_tuple(one.sample(CONCRETE, *next(walk))) for _ in range(256)]
    found = next((w for w in tried if thin(CONCRETE, *w)), None)
    kind = "members of one declared class"
    if found is None:
        return Condition(kind, whole, tried[0], None)
    return Condition(kind, thin, found, None)
