"""Runs the applications of a graph on a backend, whole arrays at a time, and compares.

    bench = Bench(backend, lookup)
    bench.compare(graph, checks, words, memory)      -> for each check, which cases fail

`words[p]` are the operand words at position p. Inputs come from buffers, results go to buffers that were
filled with a pattern before, so that a result that was never written is seen.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock, local
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.execute import execute
from vyre.conform.process.held import held
from vyre.conform.process.inspection import Inspection, inspect
from vyre.conform.spec.op import LoadForm, StoreForm
from vyre.conform.spec.program import CELLS, WORKGROUP, OpKernel, application, memory_program
from vyre.conform.spec.term import Constant, Relation, Variable
from vyre.conform.verify.graph import Value, type_of_source
from vyre.conform.verify.host_inputs import HostInputs
from vyre.conform.verify.layout import Memory, pack, unpack
from vyre.conform.verify.rounds import run_memory
from vyre.errors import UnsupportedByBackend
from vyre.semantics.arrays import NUMPY
from vyre.semantics.words import mask_of, to_words

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.process.residence import Residence
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Check, Graph, Node, Source
    from vyre.ir.program import Program

    Words = NDArray[np.uint32]

POISON = 0xA5
RECENT = 4
"""Blocks of cases that are kept in mind, as one of them may have caused a crash that comes later."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An op on the backend: its program, and the compiled form or the refusal."""

    spec: OpSpec
    program: Program
    kernel: OpKernel | None
    made: Executable | None
    refusal: UnsupportedByBackend | None = None

    @property
    def executable(self) -> Executable:
        """Raises the refusal where there is none."""
        if self.refusal is not None:
            raise self.refusal
        assert self.made is not None
        return self.made


def program_of(spec: OpSpec) -> Program:
    """The program that an op is tried with."""
    addresses = isinstance(spec.form, LoadForm | StoreForm)
    return memory_program(spec) if addresses else application(spec).program


class Bench:
    """A backend, and every op compiled on it once."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.held = held(backend)
        self.inputs = HostInputs()
        self._compiled: dict[str, Compiled] = {}
        self._lock = RLock()
        self._spare = local()
        self._residence: Residence | None = None
        self._asked = False
        self.recent: deque[tuple[Kind, tuple[Check, ...], int, int]] = deque(maxlen=RECENT)
        """What ran last: a kind of cases, the checks on it, the first case, and how many."""

    @property
    def residence(self) -> Residence | None:
        """The device memory of the backend, or None where the host's is as good."""
        if not self._asked:
            self._residence, self._asked = self.held.residence(), True
        return self._residence

    @contextmanager
    def alone(self) -> Generator[None]:
        """Nothing else is asked of the backend meanwhile, so that what happens is due to this thread."""
        with self._lock, self.held.alone():
            yield

    def memory(self) -> Memory:
        """Arrays for one thread of work."""
        return Memory(self.held.share)

    def spare(self) -> Memory:
        """Arrays of this thread for questions of a few cases."""
        if not hasattr(self._spare, "memory"):
            self._spare.memory = self.memory()
        return self._spare.memory

    def compiled(self, spec: OpSpec) -> Compiled:
        """The op alone in a program. A refusal is kept in it; any other error of the backend is raised."""
        with self._lock:
            found = self._compiled.get(spec.id)
            if found is None:
                found = self._compiled[spec.id] = self._compile(spec)
            return found

    def _compile(self, spec: OpSpec) -> Compiled:
        kernel = None if isinstance(spec.form, LoadForm | StoreForm) else application(spec)
        program = program_of(spec)
        try:
            return Compiled(spec, program, kernel, self.backend.compile(program))
        except UnsupportedByBackend as refusal:
            return Compiled(spec, program, kernel, None, refusal)

    def inspection(self, spec: OpSpec, *, assembly: bool = False) -> Inspection:
        made = self.compiled(spec).made
        return Inspection() if made is None else inspect(made, assembly=assembly)

    def refused(self, graph: Graph, check: Check) -> UnsupportedByBackend | None:
        """Why a check cannot be run: the first op among its applications that the backend refuses."""
        for j in check.needs:
            refusal = self.compiled(graph.nodes[j].spec).refusal
            if refusal is not None:
                return refusal
        return None

    def compare(
        self,
        graph: Graph,
        checks: Sequence[Check],
        words: Mapping[int, Words],
        memory: Memory,
        *,
        shared: bool = False,
    ) -> list[NDArray[np.bool_] | None]:
        """For each check None where all cases agree, else a mask of those that do not.

        `shared` says that the words lie in memory which the backend can use as it is.
        """
        run = _Run(self, graph, words, memory, shared=shared)
        return [run.fails(check) for check in checks]

    def values(
        self, graph: Graph, check: Check, words: Mapping[int, Words]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The words on the left (what the backend gave) and on the right of a check, for one case."""
        run = _Run(self, graph, words, self.spare())
        left, right = run.pair(check)
        return tuple(int(w[0]) for w in left), tuple(int(w[0]) for w in right)


class _Run:
    """One tile of cases: results of nodes are computed when a check first asks for them."""

    def __init__(
        self, bench: Bench, graph: Graph, words: Mapping[int, Words], memory: Memory, *, shared: bool = False
    ) -> None:
        self.shared = shared
        self.bench = bench
        self.graph = graph
        self.words = words
        self.memory = memory
        self.count = len(next(iter(words.values()))) if words else 1
        self.arrays: dict[Source, NDArray[Any]] = {}
        self.done: set[int] = set()
        memory.reset()

    def fails(self, check: Check) -> NDArray[np.bool_] | None:
        left, right = self.pair(check)
        plain = check.condition is None and check.relation is Relation.Eq
        if plain and all(_equal(a, b) for a, b in zip(left, right, strict=True)):
            return None
        holds = _related(check.relation, left, right)
        if check.condition is not None:
            (condition,) = self.of(check.condition)
            holds = holds | (condition == 0)
        return None if holds.all() else np.broadcast_to(~holds, (self.count,))

    def pair(self, check: Check) -> tuple[tuple[Words, ...], tuple[Words, ...]]:
        if check.equation is None:
            return self._own(check), self._defined()
        return self.of(check.left), self.of(check.right)

    def _own(self, check: Check) -> tuple[Words, ...]:
        node = check.left.node if isinstance(check.left, Value) else 0
        results = range(len(self.graph.nodes[node].spec.outputs))
        return tuple(w for r in results for w in self.of(Value(node, r)))

    def _defined(self) -> tuple[Words, ...]:
        spec = self.graph.spec
        operands = [
            self.words[p] if m == 0xFFFF_FFFF else self.words[p] & np.uint32(m)
            for p, m in enumerate(spec.masks)
        ]
        found = [w for result in spec.apply(NUMPY, *operands) for w in result]
        return tuple(w if len(w) == self.count else np.broadcast_to(w, (self.count,)) for w in found)

    def of(self, source: Source) -> tuple[Words, ...]:
        """The words of a source, the results of the backend where it is one of them."""
        if isinstance(source, Constant):
            return tuple(np.full(1, w, np.uint32) for w in to_words(source.type, source.bits))
        if isinstance(source, Variable):
            mask = mask_of(source.type)
            found = tuple(self.words[p] for p in self.graph.positions[source])
            return found if mask == 0xFFFF_FFFF else tuple(w & np.uint32(mask) for w in found)
        if source.node not in self.done:
            self._dispatch(source.node)
        return unpack(self.arrays[source], type_of_source(self.graph, source))

    def _array(self, source: Source) -> NDArray[Any]:
        """The source as elements of a buffer."""
        found = self.arrays.get(source)
        if found is None:
            of = type_of_source(self.graph, source)
            words = self.of(source)
            if isinstance(source, Value):
                return self.arrays[source]
            if self.shared and isinstance(source, Variable) and of.stride == 4 and mask_of(of) == 0xFFFF_FFFF:
                self.arrays[source] = words[0]
                return words[0]
            found = self.memory.take(of, self.count)
            pack(found, of, words)
            self.arrays[source] = found
        return found

    def _dispatch(self, number: int) -> None:
        for arg in self.graph.nodes[number].args:
            if isinstance(arg, Value) and arg.node not in self.done:
                self._dispatch(arg.node)
        node = self.graph.nodes[number]
        compiled = self.bench.compiled(node.spec)
        if compiled.refusal is not None:
            raise compiled.refusal
        if compiled.kernel is None:
            self._through_memory(number, node, compiled)
        else:
            self._elementwise(number, node, compiled, compiled.kernel)
        self.done.add(number)

    def _elementwise(self, number: int, node: Node, compiled: Compiled, kernel: OpKernel) -> None:
        buffers: dict[str, NDArray[Any]] = {}
        for result, name in enumerate(kernel.results):
            array = self.memory.take(node.spec.outputs[result], self.count)
            array.view(np.uint8).fill(POISON)
            buffers[name] = self.arrays[Value(number, result)] = array
        for entry in kernel.inputs:
            assert isinstance(entry.source, Variable)
            array = self._array(node.args[entry.source.index])
            if entry.buffer == CELLS:
                buffers[CELLS][:] = array
            else:
                buffers[entry.buffer] = array
        execute(compiled.executable, compiled.program, buffers, grid_of(self.count))

    def _through_memory(self, number: int, node: Node, compiled: Compiled) -> None:
        operands = [np.broadcast_to(w, (self.count,)) for a in node.args for w in self.of(a)]
        found = run_memory(compiled.executable, compiled.program, node.spec, operands)
        array = self.memory.take(node.spec.outputs[0], self.count)
        array[:] = found
        self.arrays[Value(number, 0)] = array


def _equal(a: Words, b: Words) -> bool:
    """Whether all words are equal; two at a time where they lie side by side."""
    if a.size == b.size and a.size % 2 == 0 and a.flags.c_contiguous and b.flags.c_contiguous:
        return bool((a.view(np.uint64) == b.view(np.uint64)).all())
    return bool((a == b).all())


def _related(relation: Relation, left: tuple[Words, ...], right: tuple[Words, ...]) -> NDArray[np.bool_]:
    match relation:
        case Relation.Eq:
            holds = left[0] == right[0]
            for a, b in zip(left[1:], right[1:], strict=True):
                holds = holds & (a == b)
            return holds
        case Relation.Le:
            return left[0] <= right[0]
        case Relation.Lt:
            return left[0] < right[0]


def grid_of(count: int) -> tuple[int, int, int]:
    return (max(1, -(-count // WORKGROUP[0])), 1, 1)
