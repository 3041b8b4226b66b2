"""Loops that add up: the guards of their steps become one, and the steps native.

A loop over `Let` and `Assign` alone may hold chains: variables of F32 that do nothing in it but

    total = fma(x, y, total)      total = total + x * y      total = total + x

The loop is run with native steps and takes down the largest and the least size among all `x` and `y`. Where
these are zero or within the range of an fma's factors, and the totals began at zero or within that of its
addend, every step was inside: products and sums are multiples of 2^-126, so none is subnormal, and a total
stays below 2^106, because half a unit in the last place of 2^105 is more than any product. Otherwise the
totals are set back and the loop is run again with guarded steps: nothing in it has an effect.

`x`, `y` and the first totals are opaque to the compiler, and so is a product before it is added. Between the
steps of an fma there is nothing that could be fused or folded.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from vyre.ir.blocks import keep, rewrite_blocks, with_bodies
from vyre.ir.expr import Atomic, BinOp, Call, Cast, Expr, FMulAdd, LitU32, Var
from vyre.ir.float_formats import F32
from vyre.ir.node import Assign, If, Let, Loop
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder
from vyre.lower.names import rename_unique
from vyre.lower.native import CHAIN_KEY
from vyre.lower.ways import GUARDED_WAY
from vyre.numeric.formula import larger, smaller
from vyre.numeric.guarded import OPAQUE, RANGES, least_bits
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.blocks import Bodies
    from vyre.ir.environment import Types
    from vyre.ir.node import Node
    from vyre.lower.names import NameSupply
    from vyre.lower.ways import Ways

_FACTORS, _ADDEND = RANGES["fma"][0], RANGES["fma"][2]


def hoist_guards(
    entry: tuple[Node, ...], types: Types, supply: NameSupply, ways: Ways, used: dict[str, str]
) -> tuple[Node, ...]:
    """The same statements with the guards of chains after their loops; names stay unique."""
    if CHAIN_KEY not in ways.guarded:
        return entry

    def leave(node: Node, bodies: Bodies) -> tuple[Node, ...]:
        done = with_bodies(node, bodies)
        chains = _chains(done[0], types, ways) if isinstance(done[0], Loop) else {}
        if not chains:
            return done
        assert isinstance(done[0], Loop)
        used[CHAIN_KEY] = GUARDED_WAY
        return _Hoisted(done[0], chains, supply).statements()

    return rewrite_blocks(entry, keep, None, leave=leave)


@dataclass(frozen=True, slots=True)
class _Step:
    """One turn of a chain. `key` names the operation that takes the total."""

    total: str
    key: str
    factors: tuple[Expr, ...]


def _chains(loop: Loop, types: Types, ways: Ways) -> dict[Assign, _Step]:
    """The steps of the loop's chains; none where something in the loop has or may have an effect."""
    uses: dict[str, int] = {}
    for node in loop.body:
        if not isinstance(node, Let | Assign):
            return {}
        for expr in postorder(node.value):
            if isinstance(expr, Atomic | Call):
                return {}
        for name in _names(node.value):
            uses[name] = uses.get(name, 0) + 1
    assigned = [node for node in loop.body if isinstance(node, Assign)]
    found: dict[Assign, _Step] = {}
    for node in assigned:
        step = _step(node, ways) if types.type(node.value) is DataType.F32 else None
        once = uses.get(node.name) == 1 and sum(n.name == node.name for n in assigned) == 1
        if step is not None and once and not any(node.name in _names(x) for x in step.factors):
            found[node] = step
    return found


def _names(root: Expr) -> set[str]:
    return {x.name for x in postorder(root) if isinstance(x, Var)}


def _step(node: Assign, ways: Ways) -> _Step | None:
    total = Var(node.name)
    match node.value:
        case FMulAdd(a=a, b=b, c=c) if c is total:
            key, factors = "fma", (a, b)
        case BinOp(op=BinaryOp.FAdd, left=left, right=BinOp(op=BinaryOp.FMul, left=a, right=b)) if (
            left is total
        ):
            key, factors = "add", (a, b)
        case BinOp(op=BinaryOp.FAdd, left=left, right=a) if left is total:
            key, factors = "add", (a,)
        case _:
            return None
    needed = {f"f32.{key}", *(["f32.mul"] if key == "add" and len(factors) == 2 else [])}
    return _Step(node.name, key, factors) if needed <= ways.guarded else None


@dataclass(slots=True)
class _Hoisted:
    loop: Loop
    steps: dict[Assign, _Step]
    supply: NameSupply
    body: list[Node] = field(default_factory=list["Node"])
    opaque: dict[Expr, Var] = field(default_factory=dict[Expr, Var])

    def statements(self) -> tuple[Node, ...]:
        most, least = self._fresh("most"), self._fresh("least")
        bits = {step.total: self._fresh(f"{step.total}_bits") for step in self.steps.values()}
        others = [n.name for n in self.loop.body if isinstance(n, Assign) and n not in self.steps]
        kept = {name: self._fresh(f"{name}_kept") for name in dict.fromkeys(others)}
        for node in self.loop.body:
            step = self.steps.get(node) if isinstance(node, Assign) else None
            if step is None:
                self.body.append(node)
                if isinstance(node, Assign):
                    self.opaque.clear()  # what was made of it is no longer its value
                continue
            given = [self._factor(x, most, least) for x in step.factors]
            self.body.append(Assign(bits[step.total].name, _native(step, given, bits[step.total])))
        first = [Let(v.name, Call(OPAQUE, (Cast(DataType.U32, Var(name)),))) for name, v in bits.items()]
        sizes = [v & F32.magnitude for v in bits.values()]
        outside = self._fresh("outside")
        begun = reduce(lambda a, b: a | b, [_outside(s, s - 1, _ADDEND) for s in sizes])
        again = rename_unique((self.loop,), self.supply, outer=self._visible())
        restored = [Assign(name, v) for name, v in kept.items()]
        done = [Assign(name, Cast(DataType.F32, v)) for name, v in bits.items()]
        return (
            *(Let(v.name, Var(name)) for name, v in kept.items()),
            *first,
            Let(most.name, LitU32(0)),
            Let(least.name, LitU32(0xFFFFFFFF)),
            Let(outside.name, begun),
            Loop(self.loop.var, self.loop.start, self.loop.stop, self.body),
            If((outside | _outside(most, least, _FACTORS)).ne(0), (*restored, *again), tuple(done)),
        )

    def _fresh(self, name: str) -> Var:
        return Var(self.supply.fresh(name))

    def _visible(self) -> dict[str, str]:
        """Every name that the loop could mean; its own are renamed."""
        found = _names(self.loop.start) | _names(self.loop.stop)
        for node in self.loop.body:
            assert isinstance(node, Let | Assign)
            found |= {node.name} | _names(node.value)
        return {name: name for name in found}

    def _factor(self, value: Expr, most: Var, least: Var) -> Var:
        """The bits of a factor, opaque, after its size was taken down."""
        if value not in self.opaque:
            bits, size = self._fresh("factor"), self._fresh("size")
            self.opaque[value] = bits
            self.body += [
                Let(bits.name, Call(OPAQUE, (Cast(DataType.U32, value),))),
                Let(size.name, bits & F32.magnitude),
                Assign(most.name, larger(most, size)),
                Assign(least.name, smaller(least, size - 1)),
            ]
        return self.opaque[value]


def _native(step: _Step, factors: Sequence[Var], total: Var) -> Expr:
    if step.key == "fma":
        return Call("native.f32.fma", (*factors, total))
    term: Expr = factors[0]
    if len(factors) == 2:
        term = Call(OPAQUE, (Call("native.f32.mul", tuple(factors)),))
    return Call("native.f32.add", (total, term))


def _outside(most: Expr, least: Expr, bounds: tuple[int, int]) -> Expr:
    """Whether some size is neither zero nor within the bounds; `least` has 1 less than each."""
    low, high = bounds
    return (most >= least_bits(high)) | (least < least_bits(low) - 1)
