"""Quotients and remainders of several words, and what is made of them, over any domain.

A quotient is Python's own over integers, NumPy's own where it has the words, and the solvers' own over their
terms, so that laws are proved of division itself; over other words it is found bit by bit. A test holds them
against each other (`tests/conform/registry/test_quotients.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.library import limbs
from vyre.ir.expr import Call
from vyre.semantics.arrays import NumpyDomain
from vyre.semantics.domain import ConcreteDomain
from vyre.semantics.emitted import IrDomain
from vyre.semantics.operators import mul_hi
from vyre.semantics.terms import SmtDomain
from vyre.semantics.terms import lanes as term_lanes
from vyre.semantics.terms import whole as term_of
from vyre.semantics.words import to_bits

if TYPE_CHECKING:
    from vyre.conform.registry.library.limbs import Limbs
    from vyre.semantics.domain import Domain

    D = Domain[Any]

MUL_MOD = "integer.mul_mod"


def divided(d: D, a: Limbs, b: Limbs) -> tuple[Limbs, Limbs]:
    """The quotient, rounded down, and the remainder; 0 and 0 where `b` is 0."""
    if isinstance(d, ConcreteDomain):
        x, y = to_bits(a), to_bits(b)
        return _split(len(a), x // y if y else 0), _split(len(a), x % y if y else 0)
    if isinstance(d, SmtDomain):
        return _term(d, "bvudiv", a, b), _term(d, "bvurem", a, b)
    if isinstance(d, NumpyDomain) and len(a) == 2:
        return _doubles(a, b)
    return by_bits(d, a, b)


def _split(count: int, value: int) -> Limbs:
    return tuple(value >> 32 * k & 0xFFFF_FFFF for k in range(count))


def _term(d: SmtDomain, operator: str, a: Limbs, b: Limbs) -> Limbs:
    bits = 32 * len(a)
    sort, zero = f"(_ BitVec {bits})", f"(_ bv0 {bits})"
    x, y = (d.define(term_of(words), sort) for words in (a, b))
    found = d.define(f"(ite (= {y} {zero}) {zero} ({operator} {x} {y}))", sort)
    return tuple(type(w)(d.define(w.name)) for w in term_lanes(found, len(a)))


def _doubles(a: Limbs, b: Limbs) -> tuple[Limbs, Limbs]:
    low, high = np.uint64(0xFFFF_FFFF), np.uint64(32)
    x, y = (w[0].astype(np.uint64) | w[1].astype(np.uint64) << high for w in (a, b))
    safe = np.maximum(y, np.uint64(1))
    found = (x // safe * (y != 0), x % safe * (y != 0))
    first, second = (((v & low).astype(np.uint32), (v >> high).astype(np.uint32)) for v in found)
    return first, second


def by_bits(d: D, a: Limbs, b: Limbs) -> tuple[Limbs, Limbs]:
    """Long division: bits of `a` join the remainder from the highest, and `b` is taken off where it fits."""
    count, one = len(a), d.const(1)
    rest: Limbs = (d.const(0),) * count
    found: list[Any] = [d.const(0)] * count
    some = d.xor(limbs.equal(d, b, rest), one)
    for k in range(32 * count - 1, -1, -1):
        bit = d.and_(d.shr(a[k // 32], d.const(k % 32)), one)
        over = d.shr(rest[-1], d.const(31))
        rest, _ = limbs.sum_and_carry(d, rest, rest, bit)
        fits = d.or_(over, d.xor(limbs.below(d, rest, b), one))
        rest = limbs.choose(d, fits, limbs.sub(d, rest, b), rest)
        found[k // 32] = d.or_(found[k // 32], d.shl(fits, d.const(k % 32)))
    nothing = (d.const(0),) * count
    return limbs.choose(d, some, tuple(found), nothing), limbs.choose(d, some, rest, nothing)


def quotient(d: D, a: Limbs, b: Limbs) -> Limbs:
    return divided(d, a, b)[0]


def remainder(d: D, a: Limbs, b: Limbs) -> Limbs:
    return divided(d, a, b)[1]


def _magnitude(d: D, a: Limbs) -> Limbs:
    return _negated(d, limbs.sign(d, a), a)


def _negated(d: D, where: Any, a: Limbs) -> Limbs:
    return limbs.choose(d, where, limbs.sub(d, (d.const(0),) * len(a), a), a)


def signed_quotient(d: D, a: Limbs, b: Limbs) -> Limbs:
    """Toward zero: of the magnitudes, negative where the signs differ."""
    size = quotient(d, _magnitude(d, a), _magnitude(d, b))
    return _negated(d, d.xor(limbs.sign(d, a), limbs.sign(d, b)), size)


def signed_remainder(d: D, a: Limbs, b: Limbs) -> Limbs:
    return _negated(d, limbs.sign(d, a), remainder(d, _magnitude(d, a), _magnitude(d, b)))


def product(d: D, a: Limbs, b: Limbs) -> Limbs:
    """Modulo a power of two: each product of two words, in its place, is added."""
    if isinstance(d, SmtDomain):
        sort = f"(_ BitVec {32 * len(a)})"
        found = d.define(f"(bvmul {term_of(a)} {term_of(b)})", sort)
        return tuple(type(w)(d.define(w.name)) for w in term_lanes(found, len(a)))
    count = len(a)
    total: Limbs = (d.const(0),) * count
    for i, x in enumerate(a):
        for j, y in enumerate(b[: count - i]):
            part = [d.const(0)] * (count + 1)
            part[i + j], part[i + j + 1] = d.mul(x, y), mul_hi(d, x, y)
            total = limbs.add(d, total, tuple(part[:count]))
    return total


def gcd(d: D, a: Any, b: Any) -> Any:
    """The greater modulo the lesser, until nothing is left: 47 times at most."""
    below = d.ult(a, b)
    x, y = d.ite(below, b, a), d.ite(below, a, b)
    for _ in range(47):
        left = d.urem(x, y)
        x, y = d.ite(y, y, x), left
    return x


def mul_mod(d: D, a: Any, b: Any, modulus: Any) -> Any:
    return remainder(d, (d.mul(a, b), mul_hi(d, a, b)), (modulus, d.const(0)))[0]


def _times(d: D, a: Any, b: Any, modulus: Any) -> Any:
    """As `mul_mod`; a composition calls the op, as 64 long divisions would be no definition to read."""
    return d.bind(Call(MUL_MOD, (a, b, modulus))) if isinstance(d, IrDomain) else mul_mod(d, a, b, modulus)


def pow_mod(d: D, a: Any, exponent: Any, modulus: Any) -> Any:
    """The powers a^(2^k) whose bits the exponent has, multiplied."""
    found, power = d.urem(d.const(1), modulus), d.urem(a, modulus)
    for k in range(32):
        bit = d.and_(d.shr(exponent, d.const(k)), d.const(1))
        found = d.ite(bit, _times(d, found, power, modulus), found)
        power = _times(d, power, power, modulus)
    return found
