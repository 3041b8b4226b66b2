"""The cases of an op: kinds of inputs, each a pure function of (seed, number).

    kinds(spec, ...)                     which kinds an op has, and how many cases of each
    words(kind, number array, position)  one operand word of these cases

A case is named `op/kind/number`, and that name is permanent for a seed. Operand words have positions: those
of the op come first, in order; further variables of a law come after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.algebra.arrays import NUMPY
from vyre.conform.spec.op import LoadForm, StoreForm
from vyre.errors import VyreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.conform.results import RunPlan
    from vyre.conform.spec.op import OpSpec

    Words = NDArray[np.uint32]
    Numbers = NDArray[np.uint64]

PER_CLASS = 256
PER_RELATION = 4096
MEMORY_CASES = 4096
"""Cases of a kind for a load or store, whose buffers need dispatches of their own."""

LENGTHS = np.array([0, 1, 2, 33, 257, 1024, 4096], np.uint32)
"""Lengths of the buffers that loads and stores are tried on."""

_BITS = np.array(
    [v & 0xFFFF_FFFF for k in range(32) for v in (1 << k, ~(1 << k))], np.uint32
)


def _relations(a: Words, r: Words) -> list[Words]:
    one = np.uint32(1)
    bit = np.left_shift(one, r & np.uint32(31))
    return [a.copy(), ~a, a ^ bit, a + one, a - one, np.uint32(0) - a, a << one, a ^ np.uint32(1 << 31)]


_RELATION_COUNT = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of cases of one op. `positions` is how many operand words vary on their own."""

    spec: OpSpec
    name: str
    count: int
    seed: int

    def words(self, numbers: Numbers, position: int) -> Words:
        """The operand word at a position of these cases, with any bits; types cut them."""
        own = self.spec.words
        if self.name in ("random", "all") or position < own:
            found = self._tamed(numbers, position) if _is_memory(self.spec) else self._word(numbers, position)
        elif self.name in ("u8", "u8x3", "u16"):
            found = self._word(numbers, position)
        else:
            other = (numbers * np.uint64(0x9E37_79B1) + np.uint64(position)) % np.uint64(self.count)
            found = self._word(other, position % own)
        return found

    def _word(self, k: Numbers, position: int) -> Words:
        match self.name:
            case "random":
                return random_words(self.seed, k, position)
            case "all":
                return k.astype(np.uint32) if position == 0 else random_words(self.seed, k, position)
            case "u8" | "u8x3":
                return (k >> np.uint64(8 * position)).astype(np.uint32) & np.uint32(0xFF)
            case "u16":
                return (k >> np.uint64(16 * position)).astype(np.uint32) & np.uint32(0xFFFF)
            case "boundary":
                return _digit(k, self.spec.boundaries, position)
            case "adversarial":
                return _digit(k, (_BITS,) * self.spec.words, position)
            case "correlated":
                return self._correlated(k, position)
            case "equivalence":
                return self._sample(k, position)
            case name:
                raise VyreError(f"no kind of cases is called {name!r}.", fix=f"use one of {', '.join(KINDS)}.")

    def _correlated(self, k: Numbers, position: int) -> Words:
        """Word 0 is uniform; each later one is related to the one before it."""
        word = random_words(self.seed ^ 0xC0, k // np.uint64(_RELATION_COUNT), 0)
        for place in range(1, position + 1):
            which = (k + np.uint64(3 * (place - 1))) % np.uint64(_RELATION_COUNT)
            related = _relations(word, random_words(self.seed ^ 0xC1, k, place))
            word = np.choose(which.astype(np.intp), related)
        return word

    def _sample(self, k: Numbers, position: int) -> Words:
        found = np.zeros(len(k), np.uint32)
        raw = [random_words(self.seed ^ 0xE0, k, p) for p in range(self.spec.words)]
        which = k // np.uint64(PER_CLASS)
        for number, one in enumerate(self.spec.classes):
            mine = which == number
            if mine.any():
                moved: Any = one.sample(NUMPY, *(w[mine] for w in raw))
                flat: Any = moved if isinstance(moved, tuple) else (moved,)
                found[mine] = flat[position]
        return found

    def _tamed(self, k: Numbers, position: int) -> Words:
        """Loads and stores: lengths that can be allocated, and half of the indices near the end."""
        raw = self._word(k, position)
        if position == 1:
            return LENGTHS[self._word(k, 1) % np.uint32(len(LENGTHS))]
        is_index = position == 0 or (position == 2 and isinstance(self.spec.form, StoreForm))
        if not is_index:
            return raw
        length = self._tamed(k, 1)
        near = raw % (length + np.uint32(2))
        if position == 2:
            return np.where(k & np.uint64(4), self._tamed(k, 0), near)
        return np.where(k & np.uint64(1), raw, near)


KINDS = ("u8", "u16", "u8x3", "equivalence", "boundary", "adversarial", "correlated", "random", "all")


def kinds(spec: OpSpec, plan: RunPlan, *, variables: int) -> list[Kind]:
    """The kinds of an op; `variables` is how many operand words its laws need, at least its own."""
    own = spec.words
    counts: dict[str, int] = {}
    if own <= 2:
        counts["u8"] = 1 << 8 * min(2, max(own, variables))
    if own == 1:
        counts["u16"] = 1 << 16
    if own == 3 or (own < 3 <= variables):
        counts["u8x3"] = 1 << 24
    counts["equivalence"] = PER_CLASS * len(spec.classes)
    counts["boundary"] = _product(spec.boundaries) if spec.boundaries else 0
    counts["adversarial"] = len(_BITS) ** own if own <= 3 else 0
    counts["correlated"] = PER_RELATION * _RELATION_COUNT if max(own, variables) > 1 else 0
    counts["random"] = plan.cases
    if plan.exhaustive and own == 1:
        counts["all"] = 1 << min(32, max(spec.masks).bit_length())
    if _is_memory(spec):
        counts = {k: min(n, MEMORY_CASES) for k, n in counts.items() if k not in ("u8", "u16", "u8x3")}
    limited = {k: n for k, n in counts.items() if n and (k not in ("u8", "u16", "u8x3") or n <= plan.largest)}
    return [Kind(spec, name, limited[name], plan.seed) for name in KINDS if name in limited]


def kind_of(spec: OpSpec, name: str, plan: RunPlan, *, variables: int) -> Kind:
    """One kind by name, whatever the plan leaves out."""
    from dataclasses import replace

    wide = replace(plan, exhaustive=True, largest=1 << 32, cases=max(1, plan.cases))
    for kind in kinds(spec, wide, variables=variables):
        if kind.name == name:
            return kind
    raise VyreError(f"{spec.id} has no cases of the kind {name!r}.", fix=f"use one of {', '.join(KINDS)}.")


def random_words(seed: int, k: Numbers, position: int) -> Words:
    """Uniform words: a bijection of the low half of k, keyed by the rest."""
    high = k[:1] >> np.uint64(32)
    if len(k) and int(k[-1] >> np.uint64(32)) != int(high[0]):
        high = k >> np.uint64(32)
    key = _mix((high.astype(np.uint32) + np.uint32(1)) * np.uint32(0x9E37_79B1) ^ _key(seed, position))
    return _mix(k.astype(np.uint32) ^ key)


def _key(seed: int, position: int) -> Words:
    words = np.array([seed & 0xFFFF_FFFF, seed >> 32 & 0xFFFF_FFFF, position], np.uint32)
    key = np.array([0x243F_6A88], np.uint32)
    for word in words:
        key = _mix(key ^ word) + np.uint32(0x9E37_79B9)
    return key


def _mix(x: Words) -> Words:
    x = x ^ (x >> np.uint32(16))
    x *= np.uint32(0x7FEB_352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846C_A68B)
    x ^= x >> np.uint32(16)
    return x


def _digit(k: Numbers, tables: Any, position: int) -> Words:
    below = _product(tables[:position])
    table = np.asarray(tables[position], np.uint32)
    return table[(k // np.uint64(below)) % np.uint64(len(table))]


def _product(tables: Any) -> int:
    total = 1
    for table in tables:
        total *= len(table)
    return total


def _is_memory(spec: OpSpec) -> bool:
    return isinstance(spec.form, LoadForm | StoreForm)
