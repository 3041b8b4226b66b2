"""Loads and stores as functions of one element, on real buffers.

A case is an index into a buffer of a certain length. Cases of one length share a dispatch as long as no two
of them touch the same element; those that do go into further rounds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.execute import execute
from vyre.conform.spec.op import LoadForm
from vyre.conform.spec.program import OUT, WORKGROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Executable
    from vyre.conform.spec.op import OpSpec
    from vyre.ir.program import Program

    Words = NDArray[np.uint32]
    Run = Callable[[Mapping[str, Words], tuple[int, int, int]], None]

_FILL = 0x5EED_0000


def run_memory(executable: Executable, program: Program, spec: OpSpec, operands: Sequence[Words]) -> Words:
    """The result of every case, by the backend. Operands are those of the spec, one array each."""
    index, length, *rest = operands
    result = np.zeros(len(index), np.uint32)
    for size in np.unique(length):
        cases = np.flatnonzero(length == size)
        touched = [index[cases]] if isinstance(spec.form, LoadForm) else [index[cases], rest[0][cases]]
        for chosen in _rounds(touched, int(size)):
            mine = cases[chosen]
            values = [w[mine] for w in rest]
            ask = _load if isinstance(spec.form, LoadForm) else _store
            result[mine] = ask(partial(execute, executable, program), int(size), index[mine], values)
    return result


def _rounds(touched: list[Words], size: int) -> list[NDArray[np.intp]]:
    """Cases in groups, in each of which no element is touched by two of them."""
    left = np.arange(len(touched[0]))
    found: list[NDArray[np.intp]] = []
    first = np.empty(size, np.intp)
    while len(left):
        # A case may go when no case before it that is still there touches an element of its own.
        inside = [t[left] < size for t in touched]
        for t, within in zip(touched, inside, strict=True):
            first[t[left[within]]] = len(touched[0])
        for t, within in zip(touched, inside, strict=True):
            np.minimum.at(first, t[left[within]], left[within])
        free = np.ones(len(left), np.bool_)
        for t, within in zip(touched, inside, strict=True):
            free[within] &= first[t[left[within]]] == left[within]
        found.append(left[free])
        left = left[~free]
    return found


def _load(run: Run, size: int, index: Words, values: list[Words]) -> Words:
    memory = np.arange(size, dtype=np.uint32) + np.uint32(_FILL)
    inside = index < size
    memory[index[inside]] = values[0][inside]
    out = np.full(len(index), 0xA5A5_A5A5, np.uint32)
    run({"index": index, "memory": memory, OUT: out}, (-(-len(index) // WORKGROUP[0]), 1, 1))
    return out


def _store(run: Run, size: int, index: Words, values: list[Words]) -> Words:
    """A place out of bounds has no element to look at; an element that no case names must not change."""
    at, old, value = values
    memory = np.arange(size, dtype=np.uint32) + np.uint32(_FILL)
    inside = at < size
    memory[at[inside]] = old[inside]
    before = memory.copy()
    run({"index": index, "memory": memory, "value": value}, (-(-len(index) // WORKGROUP[0]), 1, 1))
    result = old.copy()
    result[inside] = memory[at[inside]]
    named = np.zeros(size, np.bool_)
    named[at[inside]] = True
    named[index[index < size]] = True
    changed = np.flatnonzero((memory != before) & ~named)
    if len(changed):
        result[0] = ~result[0]  # a stray write belongs to the dispatch; its first case answers for it
    return result
