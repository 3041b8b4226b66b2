"""Members of every declared equivalence class in turn: case k is a random member of class k modulo n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.generate.counter import word
from vyre.conform.generate.stream import CaseStream
from vyre.conform.spec.op import as_tuple
from vyre.errors import OpError
from vyre.semantics.words import fit

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec


def stream(spec: OpSpec, masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """The op's classes on the first words, random words after them."""
    classes = spec.classes
    if not classes:
        raise OpError(f"{spec.id} declares no equivalence class.", fix="declare one, or use random cases.")
    count = max(len(masks), spec.words)

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        raw = tuple(word(d, low, high, seed=seed, stream=j) for j in range(count))
        operands = tuple(fit(d, w, m) for w, m in zip(raw, spec.masks, strict=False))
        which = d.urem(low, d.const(len(classes)))
        chosen = as_tuple(classes[0].sample(d, *operands))
        for k, member in enumerate(classes[1:], 1):
            here = d.eq(which, d.const(k))
            sampled = as_tuple(member.sample(d, *operands))
            chosen = tuple(d.ite(here, s, c) for s, c in zip(sampled, chosen, strict=True))
        return (*chosen, *raw[spec.words :])[: len(masks)]

    return CaseStream("equivalence", masks, seed, make=make)
