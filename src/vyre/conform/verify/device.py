"""Laws checked where the results are: inputs made, sides compared and failures counted on the device.

    checks = device_checks(bench, kind)                  None where this does not apply
    checks.compare(start, count)                         for each law: how many cases fail, and the first

Every application is still a dispatch of one op on whole arrays, and neither side of a law sees the other: a
further kernel compares their buffers, counts, and keeps the least failing index. Then the results are
overwritten, so that a dispatch that writes nothing cannot pass for the one before. A few inputs of every tile
are fetched and held against the host's. Parity is not for here: the definition is computed on the host, or
a wrong device would agree with itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.program import WORKGROUP
from vyre.conform.spec.term import Constant, Relation, Variable
from vyre.conform.spec.words import mask_of
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Check, Graph, Source
    from vyre.conform.verify.residence import Residence

U32 = DataType.U32
POISON = 0xA5A5_A5A5
FIRST_TILE = 1 << 20
LARGEST_TILE = 1 << 26
_QUICK = 0.02
"""Seconds for a tile below which the next may be larger."""
_NONE = 0xFFFF_FFFF
_LOOKED_AT = 16
_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many cases fail a check, and the first of them."""

    failed: int
    first: int


class InputsDiffer(VyreError):
    """The device made other inputs than the host would."""


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


def gathering() -> Program:
    """A few words of a long buffer, by index."""
    source, where = BufferDecl.read("source", 0, U32), BufferDecl.read("where", 1, U32)
    out = BufferDecl.read_write("out", 2, U32)
    i = InvocationId(0)
    return Program((source, where, out), WORKGROUP, (Store("out", i, source[where[i]]),))


class DeviceChecks:
    """The laws of one kind of cases, bound to device memory of one tile after another."""

    def __init__(self, bench: Bench, kind: Kind, checks: list[Check], home: Residence) -> None:
        self._bench = bench
        self._kind = kind
        self._checks = checks
        self._home = home
        self._tile: _Tile | None = None
        self._size = FIRST_TILE

    def compare(self, start: int, count: int) -> list[Verdict | None]:
        """For each check None where all cases agree. Raises `InputsDiffer` and whatever a backend raises."""
        found: list[Verdict | None] = [None] * len(self._checks)
        at = start
        while at < start + count:
            size = min(self._size, start + count - at, _WORD - at % _WORD)
            before = time.perf_counter()
            for k, verdict in enumerate(self._at(size).run(at)):
                found[k] = _joined(found[k], verdict)
            at += size
            if size == self._size < LARGEST_TILE and time.perf_counter() - before < _QUICK:
                self._size *= 2
        return found

    def close(self) -> None:
        if self._tile is not None:
            self._tile.close()
        self._tile = None

    def _at(self, size: int) -> _Tile:
        if self._tile is None or self._tile.size != size or self._tile.life != self._home.life:
            self.close()
            try:
                self._tile = _Tile(self._bench, self._kind, self._checks, self._home, size)
            except VyreError:
                if size <= FIRST_TILE:
                    raise
                self._size = FIRST_TILE  # a device with less memory than that takes smaller tiles
                self._tile = _Tile(self._bench, self._kind, self._checks, self._home, FIRST_TILE)
        return self._tile


def _joined(old: Verdict | None, new: Verdict | None) -> Verdict | None:
    if old is None or new is None:
        return old or new
    return Verdict(old.failed + new.failed, min(old.first, new.first))


class _Tile:
    """Memory and launches for `size` cases."""

    def __init__(self, bench: Bench, kind: Kind, checks: list[Check], home: Residence, size: int) -> None:
        self.size = size
        self.life = home.life
        self._kind = kind
        self._home = home
        self._memories: list[Any] = []
        self._values: dict[Source, Any] = {}
        self._graph: Graph = kind.graph
        self._grid = grid_of(size)
        self._checks = checks
        try:
            self._build(bench)
        except BaseException:
            self.close()
            raise

    def _memory(self, nbytes: int) -> Any:
        self._memories.append(self._home.allocate(nbytes))
        return self._memories[-1]

    def _build(self, bench: Bench) -> None:
        backend, bind = bench.backend, self._home.bind
        words = [self._memory(4 * self.size) for _ in range(self._kind.stream.words)]
        for variable, places in self._graph.positions.items():
            if places[0] < len(words):
                self._values[variable] = words[places[0]]
        self._start = self._memory(8)
        maker = backend.compile(maker_program(self._kind.stream))
        self._make = bind(maker, [self._start, *words], self._grid)
        needed = sorted({j for c in self._checks for j in c.needs})
        self._nodes = [self._node(bench, j) for j in needed]
        self._tallies = [self._memory(8) for _ in self._checks]
        self._compare: list[Callable[[], None]] = []
        for check, tally in zip(self._checks, self._tallies, strict=True):
            sides = [s for s in (check.left, check.right, check.condition) if s is not None]
            memories = [self._values[s] for s in sides if not isinstance(s, Constant)]
            self._compare.append(bind(backend.compile(comparison(check)), [tally, *memories], self._grid))
        spoil = backend.compile(spoiling())
        self._spoil = [bind(spoil, [self._values[Value(j, 0)]], self._grid) for j in needed]
        self._build_sample(bench, words)
        for launch in self._spoil:
            launch()

    def _node(self, bench: Bench, number: int) -> Callable[[], None]:
        node = self._graph.nodes[number]
        compiled = bench.compiled(node.spec)
        if compiled.refusal is not None:
            raise compiled.refusal
        assert compiled.kernel is not None
        self._values[Value(number, 0)] = self._memory(4 * self.size)
        by_name: dict[str, Any] = {compiled.kernel.results[0]: self._values[Value(number, 0)]}
        for entry in compiled.kernel.inputs:
            assert isinstance(entry.source, Variable)
            by_name[entry.buffer] = self._value(node.args[entry.source.index])
        memories = [by_name[b.name] for b in compiled.program.buffers]
        return self._home.bind(compiled.executable, memories, self._grid)

    def _value(self, source: Source) -> Any:
        if source not in self._values:
            assert isinstance(source, Constant)
            memory = self._values[source] = self._memory(4 * self.size)
            memory.write(np.full(self.size, source.bits, np.uint32).view(np.uint8).data)
        return self._values[source]

    def _build_sample(self, bench: Bench, words: list[Any]) -> None:
        self._where = np.unique(np.linspace(0, self.size - 1, _LOOKED_AT).astype(np.uint32))
        where = self._memory(self._where.nbytes)
        where.write(self._where.view(np.uint8).data)
        gather = bench.backend.compile(gathering())
        self._samples = [self._memory(self._where.nbytes) for _ in words]
        self._gather = [
            self._home.bind(gather, [w, where, out], grid_of(len(self._where)))
            for w, out in zip(words, self._samples, strict=True)
        ]

    def run(self, start: int) -> list[Verdict | None]:
        self._start.write(np.array([start % _WORD, start // _WORD], np.uint32).view(np.uint8).data)
        fresh = np.array([0, _NONE], np.uint32).view(np.uint8).data
        for tally in self._tallies:
            tally.write(fresh)
        for launch in (self._make, *self._gather, *self._nodes, *self._compare, *self._spoil):
            launch()
        verdicts: list[Verdict | None] = []
        for tally in self._tallies:
            read = np.empty(2, np.uint32)
            tally.read(read.view(np.uint8).data)
            failed, first = (int(n) for n in read)
            verdicts.append(Verdict(failed, start + first) if failed or first != _NONE else None)
        self._look(start)
        return verdicts

    def _look(self, start: int) -> None:
        """Inputs at a few places must be what the host makes there."""
        for position, sample in enumerate(self._samples):
            read = np.empty(len(self._where), np.uint32)
            sample.read(read.view(np.uint8).data)
            for at, word in zip(self._where, read, strict=True):
                wanted = self._kind.stream.case(start + int(at))[position]
                if int(word) != wanted:
                    raise InputsDiffer(
                        f"the backend makes 0x{int(word):X} where word {position} of case {start + int(at)} "
                        f"is 0x{wanted:X}.",
                        fix="the run goes on with inputs from the host.",
                    )

    def close(self) -> None:
        for memory in self._memories:
            if self._home.life == self.life:
                memory.free()
        self._memories.clear()
