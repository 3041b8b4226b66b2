"""Definitions that are wrong: each `cpu_fn` run over a domain one of whose steps is another.

A wrong definition is caught where it is compared with a right backend, which knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.mutants.hunt import plan_for
from vyre.conform.generate.cases import of_words
from vyre.conform.process.locked import Locked
from vyre.conform.registry import replaced, specs
from vyre.conform.spec.float_names import is_float
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import is_memory, kinds
from vyre.conform.verify.graph import graph
from vyre.conform.verify.operations import run_block
from vyre.semantics.arrays import NUMPY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import Backend
    from vyre.conform.spec.op import OpSpec

_CASES = 1 << 12

Step = Callable[..., Any]


def _unary(step: Callable[[Any, Any], Any]) -> Step:
    return step


def _binary(step: Callable[[Any, Any, Any], Any]) -> Step:
    return step


def _choice(step: Callable[[Any, Any, Any, Any], Any]) -> Step:
    return step


STEPS: dict[str, Step] = {
    "add": _binary(lambda d, a, b: d.or_(a, b)),
    "sub": _binary(lambda d, a, b: d.add(a, b)),
    "mul": _binary(lambda d, a, b: d.add(a, b)),
    "udiv": _binary(lambda d, a, b: d.ite(b, d.udiv(a, b), d.const(0xFFFF_FFFF))),
    "urem": _binary(lambda d, a, b: d.ite(b, d.urem(a, b), a)),
    "and_": _binary(lambda d, a, b: d.or_(a, b)),
    "or_": _binary(lambda d, a, b: d.xor(a, b)),
    "xor": _binary(lambda d, a, b: d.or_(a, b)),
    "not_": _unary(lambda d, a: a),
    "shl": _binary(lambda d, a, b: d.ite(d.ult(b, d.const(32)), d.shl(a, b), d.const(0))),
    "shr": _binary(lambda d, a, b: d.ite(d.ult(b, d.const(32)), d.shr(a, b), d.const(0))),
    "eq": _binary(lambda d, a, b: d.ule(a, b)),
    "ne": _binary(lambda d, a, b: d.ult(a, b)),
    "ult": _binary(lambda d, a, b: d.ule(a, b)),
    "ule": _binary(lambda d, a, b: d.ult(a, b)),
    "ite": _choice(lambda d, c, a, b: d.ite(c, b, a)),
    "const": _unary(lambda d, bits: d.const(bits ^ 1)),
}
"""What stands in for each step of a domain."""


class WrongDomain:
    """A domain one step of which is another."""

    def __init__(self, inner: Any, step: str) -> None:
        self._inner = inner
        self._step = step

    def __getattr__(self, name: str) -> Any:
        if name != self._step:
            return getattr(self._inner, name)
        return partial(STEPS[name], self._inner)


@dataclass(frozen=True, slots=True)
class WrongDefinition:
    """A spec with a wrong definition, and operands at which that shows."""

    spec: OpSpec
    step: str
    witness: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.spec.id}: another {self.step.rstrip('_')}"


def wrong_definitions() -> Iterator[WrongDefinition]:
    """Every spec and every step, where the change makes a difference.

    Float operations are not made of steps: their definition is the oracle.
    """
    for spec in (s for s in specs() if not is_float(s.id)):
        for step in STEPS:
            mutated = replace(spec, cpu_fn=_over(spec.cpu_fn, step))
            witness = _difference(spec, mutated)
            if witness is not None:
                yield WrongDefinition(mutated, step, witness)


def _over(cpu_fn: Callable[..., Any], step: str) -> Callable[..., Any]:
    def mutated(d: Any, *words: Any) -> Any:
        return cpu_fn(WrongDomain(d, step), *words)

    return mutated


def _difference(right: OpSpec, wrong: OpSpec) -> tuple[int, ...] | None:
    """Operands on which the two differ; None where none was found and the change may be no change."""
    for kind in ("boundary", "random"):
        stream = of_words(kind, right, right.masks, 7)
        count = min(_CASES, stream.length or _CASES)
        words = stream.block(0, count)
        both = zip(_results(right, words), _results(wrong, words), strict=True)
        differs = np.zeros(count, np.bool_)
        for a, b in both:
            differs |= np.broadcast_to(a != b, (count,))
        if differs.any():
            return tuple(int(w[np.argmax(differs)]) for w in words)
    return None


def _results(spec: OpSpec, words: Any) -> list[Any]:
    return [w for result in spec.apply(NUMPY, *words) for w in result]


def caught(wrong: WrongDefinition, backend: Backend) -> bool:
    """Whether the comparison with a right backend shows it."""
    bench = Bench(Locked(backend))
    spec = wrong.spec
    found = graph(spec, replaced(spec))
    plan = plan_for(spec.id, 1 << 12, exhaustive=False, largest=1 << 16)
    memory = bench.memory()
    for kind in kinds(found, plan):
        record = run_block(bench, kind, 0, min(kind.count, 1 << 16), memory)
        if record.fails or record.stop:
            return True
    return False


def can_run(wrong: WrongDefinition, backend: Backend) -> bool:
    """Whether the backend takes the op at all."""
    return is_memory(wrong.spec) or Bench(Locked(backend)).compiled(wrong.spec).refusal is None
