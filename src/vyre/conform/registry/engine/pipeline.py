"""Generated engines: maps, a scan and a compaction in a chain that the seed chooses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.registry.engine.compact import counted, written
from vyre.conform.registry.engine.engine_inputs import length, source, words, work_bound
from vyre.conform.registry.engine.reduce import scanned
from vyre.conform.registry.engine.slotted_compaction import scatter_program
from vyre.conform.registry.engine.withheld import NO_HISTORY
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, UnOp, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.ir.node import Node

    Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Map:
    """An operation on one element: as an expression, and by NumPy."""

    name: str
    build: Callable[[Expr, Expr], Expr]
    oracle: Callable[[Words, int], Words]


def _popcount(x: Words, _: int) -> Words:
    return np.unpackbits(x.view(np.uint8)).reshape(-1, 32).sum(axis=1).astype(np.uint32)


MAPS = {
    m.name: m
    for m in (
        Map("add", lambda x, c: x + c, lambda x, c: x + np.uint32(c)),
        Map("mul", lambda x, c: x * (c | 1), lambda x, c: x * np.uint32(c | 1)),
        Map("xor", lambda x, c: x ^ c, lambda x, c: x ^ np.uint32(c)),
        Map("shr", lambda x, c: x >> (c & 31), lambda x, c: x >> np.uint32(c & 31)),
        Map("mod", lambda x, c: x % (c | 1), lambda x, c: x % np.uint32(c | 1)),
        Map("and", lambda x, c: x & c, lambda x, c: x & np.uint32(c)),
        Map("popcount", lambda x, _: UnOp(UnaryOp.Popcount, x), _popcount),
    )
}
_OPS = ("add", "xor", "max", "or")


@dataclass(frozen=True, slots=True)
class Chain:
    """What the seed chose: maps with their constants, a scan, and the bits that a kept element has."""

    maps: tuple[tuple[str, int], ...]
    op: str
    inclusive: bool
    keep: int


@cache
def map_program(name: str, shape: Shape) -> Program:
    """The map with the constant `param(0)`."""
    values = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    i = Var("i")
    entry: list[Node] = [
        *opening(shape),
        Let("i", GROUP * LitU32(shape.lanes) + LOCAL),
        If(i < values.length, [Store("output", i, MAPS[name].build(values[i], param(0)))]),
    ]
    return Program((values, output, PARAMS), (shape.lanes, 1, 1), entry)


def chain_engine(chain: Chain, shape: Shape) -> Engine:
    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {"output": Space(U32, count), "count": Space(U32, 1, () if count else (0,))}
        if not count:
            return Plan(outputs, ())
        groups = groups_for(count, shape.lanes)
        scratch: dict[str, Space] = {}
        steps: list[Step] = []
        last = "input"
        for number, (name, constant) in enumerate(chain.maps):
            target = f"mapped{number}"
            bindings = {"input": last, "output": target}
            steps.append(Step(map_program(name, shape), groups, bindings, (constant,)))
            scratch[target], last = Space(U32, count), target
        scan, between = scan_steps(chain.op, shape, count, last, "scanned", inclusive=chain.inclusive)
        bindings = {"input": "scanned", "output": "flags"}
        flagged = Step(map_program("and", shape), groups, bindings, (chain.keep,))
        places, more = scan_steps("add", shape, count, "flags", "places", inclusive=False, truth=True)
        names = {n: n for n in ("output", "flags", "places", "count")} | {"input": "scanned"}
        put = Step(scatter_program(shape), groups_for(count, shape.lanes * shape.items), names)
        scratch |= between | more | {n: Space(U32, count) for n in ("scanned", "flags", "places")}
        return Plan(outputs, (*steps, *scan, flagged, *places, put), scratch)

    return Engine("pipeline", {"input": U32}, plan, shape)


def _oracle(chain: Chain, data: Words) -> Words:
    for name, constant in chain.maps:
        data = MAPS[name].oracle(data, constant)
    data = scanned(chain.op, data, inclusive=chain.inclusive)
    return data[data & np.uint32(chain.keep) != 0]


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    names = [list(MAPS)[int(k)] for k in rng.integers(len(MAPS), size=int(rng.integers(1, 3)))]
    maps = tuple((name, int(rng.integers(1 << 32))) for name in names)
    chain = Chain(maps, _OPS[index % len(_OPS)], bool(rng.integers(2)), 1 << int(rng.integers(4)))
    return _on(chain, {"input": words(rng, index, length(rng, index))})


def _on(chain: Chain, inputs: Mapping[str, Words]) -> EngineCase:
    data = inputs["input"]
    names = " then ".join(name for name, _ in chain.maps)
    return EngineCase(
        partial(chain_engine, chain),
        inputs,
        _oracle(chain, data),
        counted,
        work_bound(data.size),
        written=written,
        note=f"{names}, {chain.op} scan, kept where & {chain.keep}",
        on=partial(_on, chain),
    )


SPEC = EngineSpec(
    "pipeline",
    "maps, a scan and a compaction in a chain of dispatches that the seed chooses",
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
    withheld=NO_HISTORY,
)
