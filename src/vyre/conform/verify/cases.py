"""The cases an op is tried on: which kinds, how many of each, and the operand words of case k.

    kinds(graph, plan)          the kinds of an op under a plan
    kind.block(start, count)    operand words by position
    kind.checks                 the checks that its operand words reach

A case is named `op/kind/number`; that name is permanent for a seed. Operand words have positions: those of
the op come first, in order; further variables of its laws come after them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.generate.cases import of_words
from vyre.conform.oracle.floats.functions import FUNCTIONS
from vyre.conform.spec import compositions
from vyre.conform.spec.compositions import is_composed
from vyre.conform.spec.float_names import is_float, short
from vyre.conform.spec.op import LoadForm, StoreForm
from vyre.errors import VyreError
from vyre.semantics.words import mask_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.conform.generate.stream import CaseStream
    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.verify.graph import Check, Graph

    Words = NDArray[np.uint32]

PER_CLASS = 256
SHAPED = 1 << 16
"""Adversarial cases of an op, and half of the correlated ones: each of 32 relations gets 4,096."""
BOUNDARY_LIMIT = 1 << 18
MEMORY_CASES = 1 << 20
"""Most uniform cases of a load or store, whose buffers need dispatches of their own."""

LENGTHS = np.array([0, 1, 2, 33, *(257, 1024, 4096, 4099) * 7], np.uint32)
"""Lengths of the buffers that loads and stores are tried on; few are short, as cases share those badly."""
LONG_LENGTHS = np.array([65_537, 131_072, 262_143], np.uint32)
"""Lengths that thousands of cases can share; those from `LONG_FROM` on have them, but for one in 256."""
LONG_FROM = 2048
"""Most cases of the other kinds, whose indices crowd at the same few elements."""
LONGEST = int(LONG_LENGTHS.max())

EXHAUSTIVE = {"u8": 8, "u16": 16, "u8x3": 8, "all": 32}
"""Kinds that are every value of so many bits, for each of their operand words."""

_FUNCTIONS = {short(op) for op in FUNCTIONS}

KINDS = ("u8", "u16", "u8x3", "equivalence", "boundary", "adversarial", "correlated", "random", "all")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of cases of one op: `count` of them, over the first `stream.words` positions."""

    graph: Graph
    name: str
    count: int
    stream: CaseStream

    def block(self, start: int, count: int) -> dict[int, Words]:
        """Cases start to start + count - 1: one array per position."""
        words = dict(enumerate(self.stream.block(start, count)))
        if not is_memory(self.graph.spec):
            return words
        return _tamed(self.graph.spec, words, start, long=self.name == "random")

    def case(self, number: int) -> tuple[int, ...]:
        """The operand words of one case."""
        if not 0 <= number < self.count:
            raise VyreError(
                f"{self.graph.spec.id} has no case {self.name}/{number}.",
                fix=f"the numbers go from 0 to {self.count - 1}.",
            )
        return tuple(int(w[0]) for w in self.block(number, 1).values())

    @property
    def checks(self) -> list[Check]:
        """What is checked on these cases. Of small domains, each check takes the one that fits it."""
        reach = self.stream.words
        match self.name:
            case "u8":
                whole = reach if _has_bytes(self.graph.spec) else 0
                return [c for c in self.graph.checks if c.positions <= whole]
            case "u8x3":
                return [c for c in self.graph.checks if c.positions == 3]
            case "all" | "u16":
                return [c for c in self.graph.checks if c.positions == 1]
            case _:
                return [c for c in self.graph.checks if 0 < c.positions <= reach]


def kinds(graph: Graph, plan: RunPlan) -> list[Kind]:
    """The kinds of cases that a plan has for an op, in a fixed order."""
    spec, masks = graph.spec, _masks(graph)
    floats = is_float(spec.id)
    counts: dict[str, tuple[int, int]] = {}  # by kind: how many positions, how many cases
    if floats:
        counts |= _all_floats(graph, plan)
    else:
        counts |= _small(graph, plan)
    counts["equivalence"] = (len(masks), PER_CLASS * len(spec.classes))
    counts["boundary"] = _boundary(graph, masks)
    if not (floats and masks == (0xFFFF,)):
        shaped = compositions.SHAPED if is_composed(spec.id) else SHAPED
        counts["adversarial"] = (len(masks), shaped)
        counts["correlated"] = (len(masks), 2 * shaped)
        counts["random"] = (len(masks), _uniform(spec, plan))
    if is_memory(spec):
        few = {k: (w, min(n, LONG_FROM)) for k, (w, n) in counts.items() if k not in EXHAUSTIVE}
        width, uniform = counts["random"]
        counts = {**few, "boundary": counts["boundary"], "random": (width, min(uniform, MEMORY_CASES))}
    return [
        Kind(graph, name, count, _stream(graph, name, masks[:width], plan.seed))
        for name in KINDS
        if name in counts
        for width, count in [counts[name]]
        if count and (name == "all" or name not in EXHAUSTIVE or count <= plan.largest)
    ]


def _uniform(spec: OpSpec, plan: RunPlan) -> int:
    """How many uniform cases a plan has for an op."""
    if is_composed(spec.id):
        return min(plan.cases, compositions.CASES)
    return plan.float_cases if is_float(spec.id) else plan.cases


def _small(graph: Graph, plan: RunPlan) -> dict[str, tuple[int, int]]:
    """Every value of few bits."""
    own, reaches = graph.spec.words, {c.positions for c in graph.checks}
    counts: dict[str, tuple[int, int]] = {}
    if _has_bytes(graph.spec):
        width = 2 if own == 2 or 2 in reaches else 1
        counts["u8"] = (width, 1 << 8 * width)
    elif 0 in reaches:  # too many bytes to run all of, but no other kind has the laws about constants
        counts["u8"] = (own, 1 << 8)
    if own == 1:
        counts["u16"] = (1, 1 << 16)
        if plan.exhaustive:
            counts["all"] = (1, 1 << 32)
    if 3 in reaches and not is_composed(graph.spec.id):
        counts["u8x3"] = (3, 1 << 24)
    return counts


def _has_bytes(spec: OpSpec) -> bool:
    """Whether an op is tried on all bytes."""
    return spec.words <= 2 and not is_float(spec.id) and not is_memory(spec)


def _all_floats(graph: Graph, plan: RunPlan) -> dict[str, tuple[int, int]]:
    """Every value of a 16-bit format. Small words are subnormals that tell little, and are left out.

    An op of which all inputs are run needs no others, but for the variables of its laws.
    Correctly rounded functions of F32 have their own way to all inputs, against digests of the truth.
    """
    spec = graph.spec
    if spec.masks == (0xFFFF,):
        return {"u16": (1, 1 << 16)}
    function = spec.id.rpartition(".")[2] in _FUNCTIONS
    return {"all": (1, 1 << 32)} if plan.exhaustive and spec.words == 1 and not function else {}


def kind_of(graph: Graph, name: str, plan: RunPlan) -> Kind:
    """One kind by name, whatever the plan leaves out."""
    wide = replace(plan, exhaustive=True, largest=1 << 32, cases=1 << 63, float_cases=1 << 63)
    found = {kind.name: kind for kind in kinds(graph, wide)}
    if name not in found:
        raise VyreError(
            f"{graph.spec.id} has no cases of the kind {name!r}.", fix=f"use one of {', '.join(found)}."
        )
    return found[name]


def is_memory(spec: OpSpec) -> bool:
    return isinstance(spec.form, LoadForm | StoreForm)


def _masks(graph: Graph) -> tuple[int, ...]:
    found = {p: mask_of(v.type) for v, places in graph.positions.items() for p in places}
    return tuple(found[p] for p in range(len(found)))


def _stream(graph: Graph, name: str, masks: tuple[int, ...], seed: int) -> CaseStream:
    bits = EXHAUSTIVE.get(name)
    if bits is not None:
        return of_words("exhaustive", graph.spec, masks, seed, bits=bits)
    return of_words(name, graph.spec, masks, seed)


def _boundary(graph: Graph, masks: tuple[int, ...]) -> tuple[int, int]:
    """As many positions as their product allows, and the op's own at least."""
    for width in range(len(masks), graph.spec.words, -1):
        length = of_words("boundary", graph.spec, masks[:width], 0).length or 0
        if length <= BOUNDARY_LIMIT:
            return width, length
    return graph.spec.words, of_words("boundary", graph.spec, masks[: graph.spec.words], 0).length or 0


def _tamed(spec: OpSpec, words: dict[int, Words], start: int, *, long: bool) -> dict[int, Words]:
    """Loads and stores: lengths that can be allocated, and half of the indices near the end."""
    number = np.arange(start, start + len(words[0]), dtype=np.uint64)
    raw, length = words[0], LENGTHS[words[1] % np.uint32(len(LENGTHS))]
    if long:
        shared = (number >= np.uint64(LONG_FROM)) & (number % np.uint64(256) != np.uint64(255))
        length = np.where(shared, LONG_LENGTHS[words[1] % np.uint32(len(LONG_LENGTHS))], length)
    near = raw % (length + np.uint32(2))
    index = np.where(number & np.uint64(1), raw, near)
    changed = {**words, 0: index, 1: length}
    if isinstance(spec.form, StoreForm):
        changed[2] = np.where(number & np.uint64(4), index, words[2] % (length + np.uint32(2)))
    return changed
