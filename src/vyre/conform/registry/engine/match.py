"""`match`: the places where matches end are the items; the oracle steps through the text byte by byte."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.compact import by_value
from vyre.conform.registry.engine.engine_inputs import length, source, work_bound
from vyre.conform.registry.engine.withheld import NO_HISTORY
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.automaton import Dfa
from vyre.engines.dfa import LOOKUP, match_engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.engines.plan import Shape


def _build(shape: Shape) -> Any:
    return match_engine(shape=shape)


def _ends(outputs: Mapping[str, Any]) -> Any:
    return outputs["output"]


def places(table: NDArray[np.uint32], data: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Where the automaton is in an accepting state after a byte, one byte after the other."""
    steps, state, found = table.tolist(), 0, list[int]()
    for at, byte in enumerate(data.tolist()):
        entry = steps[state * 256 + byte]
        state = entry & 0x7FFF_FFFF
        if entry >> 31:
            found.append(at)
    return np.array(found, np.uint32)


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    letters = int(rng.integers(2, 5))
    data = rng.integers(97, 97 + letters, length(rng, index, least=3), dtype=np.uint8)
    if index % 2:
        found = [bytes(rng.integers(97, 97 + letters, int(n), dtype=np.uint8)) for n in rng.integers(1, 5, 3)]
        dfa, note = Dfa.finding(found), f"words {found}"
    else:
        # A table of random states has no structure that an engine could rely on.
        states = int(rng.integers(1, 12))
        rows = rng.integers(0, states, (states, 256), dtype=np.uint32)
        dfa, note = Dfa.of(rows, {int(rng.integers(states))}), f"{states} random states"
    if invariant is Inv.Ordered:
        dfa, note = Dfa.finding([b"a", b"b"]), "words a, b"
    return _on(dfa, note, {"input": data, "table": dfa.table})


def _on(dfa: Dfa, note: str, inputs: Mapping[str, Any]) -> EngineCase:
    data = inputs["input"]
    return EngineCase(
        _build,
        inputs,
        places(dfa.table, data),
        _ends,
        work_bound(data.size * max(1, dfa.states)),
        key=by_value,
        note=note,
        on=partial(_on, dfa, note),
    )


SPEC = EngineSpec(
    "match",
    "where matches of an automaton over bytes end",
    (
        Inv.Deterministic,
        Inv.NoOutputLost,
        Inv.NoDuplicate,
        Inv.Ordered,
        Inv.Bounded,
        Inv.Termination,
        Inv.WorkgroupInvariant,
    ),
    _case,
    LOOKUP,
    NO_HISTORY,
)
