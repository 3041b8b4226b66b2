"""Where two backends part: the first element that differs, who wrote it, and the first value that differs.

The program is run again with a log: the invocation that wrote the element appends the value of every
statement to a buffer, on both backends, and the logs are compared. The statement at fault is then logged
operation by operation. The log changes the program, so a difference may vanish; that is said, not hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.backends.execute import run_bytes
from vyre.compose.inline import inline
from vyre.conform.diff.differential import first_difference
from vyre.conform.diff.trace import Entry, Traced, trace_program
from vyre.errors import VyreError
from vyre.ir.expr import Atomic, Load
from vyre.ir.node import Store
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vyre.backends.protocol import Backend
    from vyre.ir.expr import Expr
    from vyre.ir.program import Program

Ids = tuple[int, int, int]

MAX_SCANNED = 256
"""How many invocations are looked at when the element was written by an atomic."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A statement that writes to the buffer: its path and its text."""

    path: str
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Intermediate:
    """The first logged value that differs: what was computed, where, by whom, on both sides."""

    path: str
    statement: str
    expression: str
    invocation: Ids
    occurrence: int
    type: DataType
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two backends, one element, two values. `note` says why `intermediate` is missing."""

    buffer: str
    element: int
    type: DataType
    first: int
    second: int
    writers: tuple[Writer, ...]
    intermediate: Intermediate | None
    note: str = ""


def diverge(
    program: Program, inputs: Mapping[str, bytes], workgroups: Ids, first: Backend, second: Backend
) -> Divergence | None:
    """The first difference between two backends on a valid program; None when every byte agrees."""
    flat = inline(program)
    results = [run_bytes(backend.compile(flat), flat, inputs, workgroups) for backend in (first, second)]
    found = first_difference(flat, *results)
    if found is None:
        return None
    buffer, element, bits_first, bits_second = found
    decl = next(b for b in flat.buffers if b.name == buffer)
    note, intermediate = "", None
    try:
        search = _Search(flat, inputs, workgroups, (first, second))
        intermediate = search.find(buffer, element)
        if intermediate is None:
            note = "With a log of every value the two agree: the fault shows only in the whole program."
    except VyreError as error:
        note = f"The values in between cannot be logged: {error.message}"
    return Divergence(
        buffer,
        element,
        decl.element.loaded if decl.element is DataType.Bytes else decl.element,
        bits_first,
        bits_second,
        tuple(_writers(flat, buffer)),
        intermediate,
        note,
    )


def _writers(program: Program, buffer: str) -> Iterator[Writer]:
    from vyre.conform.diff.trace import statement_text

    for path, node in statements(program.entry):
        stores = isinstance(node, Store) and node.buffer == buffer
        atomics = any(
            isinstance(x, Atomic) and x.buffer == buffer for root in node.exprs for x in postorder(root)
        )
        if stores or atomics:
            location = program.locations.get(path)
            yield Writer(path, statement_text(node), str(location) if location else "")


class _Search:
    """Runs logged variants of one program on two backends."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, bytes],
        workgroups: Ids,
        backends: tuple[Backend, Backend],
    ) -> None:
        self.program = program
        self.inputs = inputs
        self.workgroups = workgroups
        self.backends = backends

    def find(self, buffer: str, element: int) -> Intermediate | None:
        coarse = trace_program(self.program, watched=(buffer, element))
        candidates = self._candidates(coarse)
        best: Intermediate | None = None
        for invocation in candidates:
            found = self._first(coarse, invocation)
            if found is None:
                continue
            path = found[0].path
            fine = trace_program(self.program, split=path)
            found = self._first(fine, invocation) or found
            best = best or self._intermediate(invocation, *found)
            # A value read from memory was computed by somebody else: look for the one who did.
            if not self._only_loaded(found[0].expr):
                return self._intermediate(invocation, *found)
        return best

    def _candidates(self, coarse: Traced) -> list[Ids]:
        """The invocation that wrote the element, then the others from the first on."""
        seen: list[Ids] = []
        for backend in self.backends:
            who = coarse.writer(self._run(coarse, backend, None))
            if who is not None and who not in seen:
                seen.append(who)
        size, grid = self.program.workgroup_size, self.workgroups
        extent = [n * s for n, s in zip(grid, size, strict=True)]
        for k in range(min(extent[0] * extent[1] * extent[2], MAX_SCANNED)):
            ids = (k % extent[0], k // extent[0] % extent[1], k // (extent[0] * extent[1]))
            if ids not in seen:
                seen.append(ids)
        return seen

    def _run(self, traced: Traced, backend: Backend, target: Ids | None) -> dict[str, bytes]:
        inputs = {**self.inputs, **traced.inputs(target)}
        return run_bytes(backend.compile(traced.program), traced.program, inputs, self.workgroups)

    def _first(self, traced: Traced, target: Ids) -> tuple[Entry, Entry, int] | None:
        logs = [list(traced.entries(self._run(traced, b, target))) for b in self.backends]
        for position, (a, b) in enumerate(zip(*logs, strict=False)):
            if a != b:
                occurrence = sum(e.number == a.number for e in logs[0][:position])
                return a, b, occurrence
        return None

    def _only_loaded(self, expr: Expr) -> bool:
        writable = {b.name for b in self.program.buffers if b.access.writable}
        return isinstance(expr, Load | Atomic) and expr.buffer in writable

    def _intermediate(self, invocation: Ids, a: Entry, b: Entry, occurrence: int) -> Intermediate:
        return Intermediate(a.path, a.statement, a.text, invocation, occurrence, a.type, a.bits, b.bits)
