"""Laws checked where the results are: inputs made, sides compared and failures counted on the device.

    checks = device_checks(bench, kind, laws)            None where this does not apply
    checks.compare(start, count)                         for each law: how many cases fail, and the first

Every application is still a dispatch of one op on whole arrays, and neither side of a law sees the other: a
further kernel judges their buffers, counts, and keeps the least failing case. Results are written over the
inputs of the tile before, or over a pattern, so that a dispatch that writes nothing cannot pass for the one
before. Inputs are looked at after they were used. Those of the first cases are fetched and held against the
host's, every word. Of the cases behind them, which only long runs have, the device turns every word back into
the number of its case, by other steps than made it; what turns out otherwise is fetched too. That it would be
noticed is tried before, with numbers that are wrong by one. Parity is not for here: the definition is
computed on the host, or a wrong device would agree with itself.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.term import Constant
from vyre.conform.verify.device_tile import DeviceTile, DeviceVerdict
from vyre.conform.verify.graph import Value, type_of_source
from vyre.semantics.words import mask_of

if TYPE_CHECKING:
    from vyre.conform.process.residence import Residence
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Check, Source
    from vyre.ir.types import DataType

TILE = 1 << 20
"""Cases at a time whose inputs are fetched, so that more would gain little."""
LARGE_TILE = 1 << 20
"""Cases at a time whose inputs stay: so few that the values of all lanes fit the cache of a large device."""
HELD = 1 << 23
"""Cases whose inputs are held against the host's; those of a plan as it is are fewer."""
MOST_TILES = 1 << 12
"""Tiles that are queued before the first is looked at, so that the device does not wait for the host."""
_QUICK = 0.02
"""Seconds for the queued tiles below which there may be more of them the next time."""
_WORD = 1 << 32


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
    some = any(graph.variables(c) for c in checks)
    return some and kind.stream.on_device and plain and whole


def _whole(of: DataType) -> bool:
    return of.stride == 4 and mask_of(of) == _WORD - 1


def device_checks(bench: Bench, kind: Kind, checks: list[Check]) -> DeviceChecks | None:
    """The checks on the device of a backend that has memory of its own, and for kinds that fit there."""
    if not applies(kind, checks):
        return None
    home = bench.residence
    return None if home is None else DeviceChecks(bench, kind, checks, home)


class DeviceChecks:
    """The laws of one kind of cases, bound to device memory of tiles of one size after another."""

    def __init__(self, bench: Bench, kind: Kind, checks: list[Check], home: Residence) -> None:
        self._bench = bench
        self._kind = kind
        self._checks = checks
        self._home = home
        self._tile: DeviceTile | None = None
        self._queued = 1

    def compare(self, start: int, count: int) -> list[DeviceVerdict | None]:
        """For each check None where all cases agree. Raises `InputsDiffer` and whatever a backend raises."""
        found: list[DeviceVerdict | None] = [None] * len(self._checks)
        at, end = start, start + count
        while at < end:
            until = min(end, (at // _WORD + 1) * _WORD, HELD if at < HELD else end)
            tile = self._at(min(TILE if at < HELD else LARGE_TILE, until - at), held=at < HELD)
            tiles = min(self._queued if tile.undoes else 1, (until - at) // tile.size)
            before = time.perf_counter()
            for k, verdict in enumerate(tile.run(at, tiles)):
                found[k] = _joined(found[k], verdict)
            at += tiles * tile.size
            if tiles == self._queued < MOST_TILES and time.perf_counter() - before < _QUICK:
                self._queued *= 2
        return found

    def close(self) -> None:
        if self._tile is not None:
            self._tile.close()
        self._tile = None

    def _at(self, size: int, *, held: bool) -> DeviceTile:
        old = self._tile
        if old is None or (old.size, old.held, old.life) != (size, held, self._home.life):
            self.close()
            self._tile = DeviceTile(self._bench, self._kind, self._checks, self._home, size, held=held)
        assert self._tile is not None
        return self._tile


def _joined(old: DeviceVerdict | None, new: DeviceVerdict | None) -> DeviceVerdict | None:
    if old is None or new is None:
        return old or new
    return DeviceVerdict(old.failed + new.failed, min(old.first, new.first))
