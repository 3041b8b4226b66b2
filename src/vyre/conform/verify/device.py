"""Laws checked where the results are: inputs made, sides compared and failures counted on the device.

    checks = device_checks(bench, kind)                  None where this does not apply
    checks.compare(start, count)                         for each law: how many cases fail, and the first

Every application is still a dispatch of one op on whole arrays, and neither side of a law sees the other: a
further kernel compares their buffers, counts, and keeps the least failing index. Then the results are
overwritten, so that a dispatch that writes nothing cannot pass for the one before. All inputs of a tile are
fetched after they were used, and held against the host's. Parity is not for here: the definition is computed
on the host, or a wrong device would agree with itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.program import WORKGROUP
from vyre.conform.spec.term import Constant, Relation, Variable
from vyre.conform.verify.bench import grid_of
from vyre.conform.verify.graph import Value, type_of_source
from vyre.conform.verify.made import maker_program
from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, BinOp, Expr, InvocationId, LitU32, Load, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import AtomicOp, BinaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.semantics.words import mask_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.conform.process.residence import Residence, ResidentMemory
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Check, Graph, Source
    from vyre.conform.verify.host_inputs import Mistake

U32 = DataType.U32
POISON = 0xA5A5_A5A5
TILE = 1 << 20
"""Cases at a time: the inputs are fetched, so that more would gain little."""
_NONE = 0xFFFF_FFFF
_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """How many cases fail a check, and the first of them."""

    failed: int
    first: int


class InputsDiffer(VyreError):
    """The device made other inputs than the host would; `mistake` is the first."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake
        super().__init__(
            f"the backend makes 0x{mistake.found:X} where word {mistake.position} of case {mistake.case} is "
            f"0x{mistake.wanted:X}.",
            fix="the run goes on with inputs from the host.",
        )


def applies(kind: Kind, checks: list[Check]) -> bool:
    """Whether the cases can be made on the device and every value is one whole word."""
    graph = kind.graph
    nodes = {j for c in checks for j in c.needs}
    plain = all(
        isinstance(graph.nodes[j].spec.form, ExpressionForm) and len(graph.nodes[j].spec.outputs) == 1
        for j in nodes
    )
    sources: set[Source] = {s for c in checks for s in (c.left, c.right) if not isinstance(s, Constant)}
    sources |= {a for j in nodes for a in graph.nodes[j].args} | {Value(j, 0) for j in nodes}
    whole = all(_whole(type_of_source(graph, s)) for s in sources)
    return bool(checks) and kind.stream.on_device and plain and whole


def _whole(of: DataType) -> bool:
    return of.stride == 4 and mask_of(of) == _NONE


def device_checks(bench: Bench, kind: Kind, checks: list[Check]) -> DeviceChecks | None:
    """The checks on the device of a backend that has memory of its own, and for kinds that fit there."""
    if not applies(kind, checks):
        return None
    home = bench.residence
    return None if home is None else DeviceChecks(bench, kind, checks, home)


def comparison(check: Check) -> Program:
    """Counts the cases where the sides fail the relation, and keeps the least."""
    i = Var("i")
    tally = BufferDecl.read_write("tally", 0, U32, count=2)
    buffers = [tally]
    sides: list[Expr] = []
    for name, source in (("left", check.left), ("right", check.right), ("condition", check.condition)):
        if source is None:
            continue
        if isinstance(source, Constant):
            sides.append(LitU32(source.bits))
            continue
        buffers.append(BufferDecl.read(name, len(buffers), U32))
        sides.append(Load(name, i))
    relation = {Relation.Eq: BinaryOp.Eq, Relation.Le: BinaryOp.Le, Relation.Lt: BinaryOp.Lt}[check.relation]
    wrong: Expr = BinOp(relation, sides[0], sides[1]).eq(0)
    if check.condition is not None:
        wrong = wrong & sides[2].ne(0)
    note = (
        Let("before", Atomic(AtomicOp.Add, "tally", LitU32(0), LitU32(1))),
        Let("least", Atomic(AtomicOp.Min, "tally", LitU32(1), i)),
    )
    entry = (Let("i", InvocationId(0)), If(i < buffers[1].length, (If(wrong, note),)))
    return Program(tuple(buffers), WORKGROUP, entry)


def spoiling() -> Program:
    """Overwrites results with the pattern."""
    out = BufferDecl.read_write("out", 0, U32)
    return Program((out,), WORKGROUP, (Store("out", InvocationId(0), LitU32(POISON)),))


class DeviceChecks:
    """The laws of one kind of cases, bound to device memory of one tile after another."""

    def __init__(self, bench: Bench, kind: Kind, checks: list[Check], home: Residence) -> None:
        self._bench = bench
        self._kind = kind
        self._checks = checks
        self._home = home
        self._tile: _Tile | None = None

    def compare(self, start: int, count: int) -> list[DeviceVerdict | None]:
        """For each check None where all cases agree. Raises `InputsDiffer` and whatever a backend raises."""
        found: list[DeviceVerdict | None] = [None] * len(self._checks)
        at = start
        while at < start + count:
            tile = self._at(min(TILE, start + count - at, _WORD - at % _WORD))
            for k, verdict in enumerate(tile.run(at)):
                found[k] = _joined(found[k], verdict)
            at += tile.size
        return found

    def close(self) -> None:
        if self._tile is not None:
            self._tile.close()
        self._tile = None

    def _at(self, size: int) -> _Tile:
        if self._tile is None or self._tile.size != size or self._tile.life != self._home.life:
            self.close()
            self._tile = _Tile(self._bench, self._kind, self._checks, self._home, size)
        return self._tile


def _joined(old: DeviceVerdict | None, new: DeviceVerdict | None) -> DeviceVerdict | None:
    if old is None or new is None:
        return old or new
    return DeviceVerdict(old.failed + new.failed, min(old.first, new.first))


class _Tile:
    """Memory and launches for `size` cases."""

    def __init__(self, bench: Bench, kind: Kind, checks: list[Check], home: Residence, size: int) -> None:
        self.size = size
        self.life = home.life
        self._held = bench.inputs
        self._kind = kind
        self._home = home
        self._memories: list[ResidentMemory] = []
        self._values: dict[Source, ResidentMemory] = {}
        self._graph: Graph = kind.graph
        self._grid = grid_of(size)
        self._checks = checks
        try:
            self._build(bench)
        except BaseException:
            self.close()
            raise

    def _memory(self, nbytes: int) -> ResidentMemory:
        self._memories.append(self._home.allocate(nbytes))
        return self._memories[-1]

    def _build(self, bench: Bench) -> None:
        backend, bind = bench.backend, self._home.bind
        used = {v for c in self._checks for v in self._graph.variables(c)}
        positions = sorted({self._graph.positions[v][0] for v in used})
        self._words = {p: self._memory(4 * self.size) for p in positions}
        self._values.update({v: self._words[self._graph.positions[v][0]] for v in used})
        needed = sorted({j for c in self._checks for j in c.needs})
        nodes = [self._node(bench, j) for j in needed]
        spoil = backend.compile(spoiling())
        self._spoilers = [bind(spoil, [self._values[Value(j, 0)]], self._grid) for j in needed]
        maker = backend.compile(maker_program(self._kind.stream, positions=positions))
        self._start = self._memory(8)
        self._tallies = [self._memory(8) for _ in self._checks]
        self._launches = [bind(maker, [self._start, *self._words.values()], self._grid), *nodes]
        for check, tally in zip(self._checks, self._tallies, strict=True):
            sides = [s for s in (check.left, check.right, check.condition) if s is not None]
            memories = [self._values[s] for s in sides if not isinstance(s, Constant)]
            self._launches.append(bind(backend.compile(comparison(check)), [tally, *memories], self._grid))
        for launch in self._spoilers:
            launch()

    def _node(self, bench: Bench, number: int) -> Callable[[], None]:
        node = self._graph.nodes[number]
        compiled = bench.compiled(node.spec)
        if compiled.refusal is not None:
            raise compiled.refusal
        assert compiled.kernel is not None
        self._values[Value(number, 0)] = self._memory(4 * self.size)
        by_name: dict[str, ResidentMemory] = {compiled.kernel.results[0]: self._values[Value(number, 0)]}
        for entry in compiled.kernel.inputs:
            assert isinstance(entry.source, Variable)
            by_name[entry.buffer] = self._value(node.args[entry.source.index])
        memories = [by_name[b.name] for b in compiled.program.buffers]
        return self._home.bind(compiled.executable, memories, self._grid)

    def _value(self, source: Source) -> ResidentMemory:
        if source not in self._values:
            assert isinstance(source, Constant)
            memory = self._values[source] = self._memory(4 * self.size)
            memory.write(np.full(self.size, source.bits, np.uint32).view(np.uint8).data)
        return self._values[source]

    def run(self, start: int) -> list[DeviceVerdict | None]:
        """The cases from `start` on; for each check what fails."""
        fresh = np.array([0, _NONE], np.uint32).view(np.uint8).data
        self._start.write(np.array([start % _WORD, start // _WORD], np.uint32).view(np.uint8).data)
        for tally in self._tallies:
            tally.write(fresh)
        for launch in self._launches:
            launch()
        verdicts: list[DeviceVerdict | None] = []
        for tally in self._tallies:
            failed, first = (int(n) for n in _words(tally, 2))
            verdicts.append(DeviceVerdict(failed, start + first) if failed or first != _NONE else None)
        words = {p: _words(memory, self.size) for p, memory in self._words.items()}
        mistake = self._held.mistake(self._kind.stream, words, start) if words else None
        if mistake is not None:
            raise InputsDiffer(mistake)
        for launch in self._spoilers:
            launch()
        return verdicts

    def close(self) -> None:
        for memory in self._memories:
            if self._home.life == self.life:
                memory.free()
        self._memories.clear()


def _words(memory: ResidentMemory, count: int) -> NDArray[np.uint32]:
    read = np.empty(count, np.uint32)
    memory.read(read.view(np.uint8).data)
    return read
