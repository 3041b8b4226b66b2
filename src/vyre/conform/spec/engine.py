"""`EngineSpec`: what a program of several dispatches promises, and cases to hold it to.

A case brings its own oracle: what must come out is computed by plain NumPy from the inputs, never by the
engine. An engine is opaque here; `build(shape)` makes it for a way to cut the work into workgroups. One that
plans as it goes is a `CalledEngine`, whose programs are cut otherwise on their way to the backend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre.conform.spec.invariant import EngineInvariant
from vyre.ir.signature import V1, Convention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Location:
    """The history of one memory location under atomic additions.

    `returned` are the values before, in the order of `operands`; None where the engine keeps them to
    itself.
    """

    name: str
    initial: int
    operands: Any
    returned: Any
    final: int


@dataclass(frozen=True, slots=True)
class CalledEngine:
    """A function of arrays that dispatches as it goes: what comes next may follow from what was counted.

    `call(inputs, backend)` gives its outputs by name. `turns` are the most that the loops of all dispatches
    together may take, and `room` the most elements that an output may have; both follow from the inputs'
    sizes.
    """

    call: Callable[[Mapping[str, Any], Any], Mapping[str, Any]]
    turns: int
    room: int


def _whole(outputs: Mapping[str, Any]) -> dict[str, int]:
    return {name: len(array) for name, array in outputs.items()}


@dataclass(frozen=True, slots=True)
class EngineCase:
    """One input of an engine and everything that can be asked of its outputs.

    `expected` are the items in their declared order and `items` reads them from the outputs; `key`
    gives numbers that ascend in that order, so that `Ordered` can judge when items are missing or
    repeated; `written` says how many elements of each output belong to the result; `history` lists the
    locations on which atomics worked.
    """

    build: Callable[[Any], Any]
    inputs: Mapping[str, Any]
    expected: Any
    items: Callable[[Mapping[str, Any]], Any]
    work: int
    """Most invocations that all dispatches together may have."""
    key: Callable[[Any], Any] | None = None
    written: Callable[[Mapping[str, Any]], Mapping[str, int]] = _whole
    history: Callable[[Mapping[str, Any]], Sequence[Location]] | None = None
    note: str = ""
    on: Callable[[Mapping[str, Any]], EngineCase | None] | None = None
    """The same question of other inputs, so that a failing case can be made small; it gives None for inputs
    of which it cannot be asked. Itself None where there is nothing that could be cut."""
    elements: tuple[str, ...] = ("input",)
    """Inputs of one length, which are cut together."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine, its invariants, and its cases: `case(seed, index)` depends on nothing else."""

    id: str
    doc: str
    invariants: tuple[EngineInvariant, ...]
    case: Callable[[int, int, EngineInvariant], EngineCase]
    convention: Convention | None = field(default_factory=V1)
    """What its programs keep besides V1; None where they may keep none."""
    withheld: Mapping[EngineInvariant, str] = field(default_factory=dict[EngineInvariant, str], hash=False)
    """Why it does not promise each of the other invariants."""

    @property
    def version(self) -> int:
        return int(self.id.partition("@")[2] or 1)


EVERY_INVARIANT = tuple(EngineInvariant)
