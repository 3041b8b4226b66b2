"""Reductions in another order, with another accumulator, or from another start than the declared ones.

Inside an invocation every `FReduce` is written out wrongly; golden rows of reductions show it. Over whole
buffers the elements come in another order, or a loop runs backwards; the engines' checks show that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from lab.mutants.backend import Mutated
from lab.mutants.float_.format import Format, binary
from lab.mutants.mutant import EVERY, IR, RUNTIME, Mutant
from lab.mutants.rewrite import rewrite
from vyre.conform.spec.invariant import EngineInvariant
from vyre.conform.verify.stages import engines
from vyre.ir.expr import BinOp, Expr, FReduce, Literal, LitU32, Load, Select, Var
from vyre.ir.node import Assign, Let, Loop, Node
from vyre.ir.operators import FLOAT_BINARY_OPS, ReduceOp, ReduceOrder
from vyre.ir.walk import expressions, postorder, rebuild, with_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lab.mutants.backend import Run
    from lab.mutants.mutant import Make
    from vyre.ir.program import Program
    from vyre.ir.types import DataType

ORDER, ACCUMULATOR, START = (
    "reduction in another order",
    "accumulator of another kind",
    "reduction starts elsewhere",
)
STRICT, TREE = ReduceOrder.Strict, ReduceOrder.TreeBinary


@dataclass(slots=True)
class Site:
    """One reduction: its element type, and where the statements before it go."""

    fold: FReduce
    element: DataType
    out: list[Node]
    number: int

    def name(self, text: str) -> str:
        return f"wrong_{text}{self.number}"

    def let(self, text: str, value: Expr) -> Var:
        self.out.append(Let(self.name(text), value))
        return Var(self.name(text))

    def load(self, index: Expr) -> Expr:
        return Load(self.fold.buffer, index)

    def join(self, a: Expr, b: Expr) -> Expr:
        return binary(f"F{self.fold.op.value}", a, b)

    def over(self, start: Expr, stop: Expr, *, order: ReduceOrder | None = None) -> FReduce:
        return FReduce(order or self.fold.order, self.fold.op, self.fold.buffer, start, stop)


Written = Callable[[Site], Expr]


def _hoisted(order: ReduceOrder, written: Written, program: Program) -> Program:
    """The program with every reduction of an order written out in front of its statement."""
    elements = {b.name: b.element for b in program.buffers}
    numbers = count()

    def node(n: Node) -> list[Node]:
        out: list[Node] = []
        exprs: list[Expr] = []
        for root in n.exprs:
            done: dict[Expr, Expr] = {}
            for x in postorder(root):
                made = rebuild(x, tuple(done[c] for c in x.children))
                if isinstance(made, FReduce) and made.order is order:
                    made = written(Site(made, elements[made.buffer], out, next(numbers)))
                done[x] = made
            exprs.append(done[root])
        return [*out, with_parts(n, tuple(exprs), n.bodies)]

    return rewrite(program, node=node)


def _wrong(order: ReduceOrder, written: Written) -> Make:
    return lambda inner: Mutated(inner, change=partial(_hoisted, order, written))


def mutants() -> Iterator[Mutant]:
    for kind, where, order, written, row in _INSIDE:
        yield Mutant(kind, where, IR, _wrong(order, written), f"golden/float.reduce.{row}")
    yield from _engines()


def _other_order(site: Site) -> Expr:
    order = TREE if site.fold.order is STRICT else STRICT
    return site.over(site.fold.start, site.fold.stop, order=order)


def _backwards(site: Site) -> Expr:
    fold = site.fold
    first = Select(fold.start < fold.stop, fold.stop - 1, fold.start)
    total = site.let("total", _or_empty(site, site.load(first)))
    k = Var(site.name("k"))
    step = Assign(total.name, site.join(total, site.load(fold.start + first - 1 - k)))
    site.out.append(Loop(k.name, fold.start, first, [step]))
    return total


def _or_empty(site: Site, value: Expr) -> Expr:
    """The value, or the result over nothing."""
    return Select(site.fold.start < site.fold.stop, value, site.over(LitU32(0), LitU32(0)))


def _middle(site: Site) -> Expr:
    """Halved at the middle, not at a power of two."""
    fold = site.fold
    size = Select(fold.start < fold.stop, fold.stop - fold.start, LitU32(0))
    half = fold.start + (size >> 1)
    joined = site.join(site.over(fold.start, half), site.over(half, fold.stop))
    return Select(size > 1, joined, site.over(fold.start, fold.stop))


def _lanes(site: Site) -> Expr:
    """Two running totals, of every other element, as a vectoriser keeps them."""
    fold = site.fold
    second = fold.start + 1
    totals = [site.let(f"lane{j}_", _or_empty(site, site.load(fold.start + j))) for j in range(2)]
    k = Var(site.name("k"))
    odd = (k - fold.start) & 1
    steps = [Assign(t.name, Select(odd.eq(j), site.join(t, site.load(k)), t)) for j, t in enumerate(totals)]
    site.out.append(Loop(k.name, Select(second < fold.stop, second + 1, fold.stop), fold.stop, steps))
    both = site.join(totals[0], totals[1])
    return Select(second < fold.stop, both, totals[0])


def _compensated(site: Site) -> Expr:
    """Kahan's sum: closer to the truth, and other bits."""
    if site.fold.op is not ReduceOp.Add:
        return site.fold
    fold = site.fold
    total = site.let("total", _or_empty(site, site.load(fold.start)))
    lost = site.let("lost", Literal(site.element, 0))
    k = Var(site.name("k"))
    y, t = Var(site.name("y")), Var(site.name("t"))
    body = [
        Let(y.name, binary("FSub", site.load(k), lost)),
        Let(t.name, binary("FAdd", total, y)),
        Assign(lost.name, binary("FSub", binary("FSub", t, total), y)),
        Assign(total.name, t),
    ]
    first = Select(fold.start < fold.stop, fold.start + 1, fold.stop)
    site.out.append(Loop(k.name, first, fold.stop, body))
    return total


def _wider(site: Site) -> Expr:
    """The total in the wider type, rounded once at the end."""
    fold, f = site.fold, Format(site.element)
    total = site.let("total", f.widened(_or_empty(site, site.load(fold.start))))
    k = Var(site.name("k"))
    step = Assign(total.name, site.join(total, f.widened(site.load(k))))
    first = Select(fold.start < fold.stop, fold.start + 1, fold.stop)
    site.out.append(Loop(k.name, first, fold.stop, [step]))
    return f.narrowed(total)


def _from_nothing(site: Site) -> Expr:
    """Begins with the result over nothing, not with the first element."""
    fold = site.fold
    total = site.let("total", site.over(LitU32(0), LitU32(0)))
    k = Var(site.name("k"))
    site.out.append(Loop(k.name, fold.start, fold.stop, [Assign(total.name, site.join(total, site.load(k)))]))
    return total


def _zero_when_empty(site: Site) -> Expr:
    fold = site.fold
    return Select(fold.start < fold.stop, fold, Literal(site.element, 0))


def _without_last(site: Site) -> Expr:
    fold = site.fold
    many = (fold.stop - fold.start) > 3
    return site.over(fold.start, Select((fold.start < fold.stop) & many, fold.stop - 1, fold.stop))


_INSIDE: tuple[tuple[str, str, ReduceOrder, Written, str], ...] = (
    (ORDER, "strict as a tree", STRICT, _other_order, "strict.add/golden/6"),
    (ORDER, "tree from left to right", TREE, _other_order, "tree_binary.add/golden/6"),
    (ORDER, "strict from the right", STRICT, _backwards, "strict.add/golden/5"),
    (ORDER, "strict in two running totals", STRICT, _lanes, "strict.add/golden/6"),
    (ORDER, "tree halved at the middle", TREE, _middle, "tree_binary.add/golden/5"),
    (ORDER, "tree in two running totals", TREE, _lanes, "tree_binary.add/golden/7"),
    (ACCUMULATOR, "Kahan's sum", STRICT, _compensated, "strict.add/golden/5"),
    (ACCUMULATOR, "a wider type, strict", STRICT, _wider, "strict.add/golden/5"),
    (ACCUMULATOR, "a wider type, tree", TREE, _wider, "tree_binary.add/golden/5"),
    (START, "strict sum from +0", STRICT, _from_nothing, "strict.add/golden/9"),
    (START, "strict product from 1", STRICT, _from_nothing, "strict.mul/golden/7"),
    (START, "strict minimum from infinity", STRICT, _from_nothing, "strict.min/golden/7"),
    (START, "tree sum from +0", TREE, _from_nothing, "tree_binary.add/golden/9"),
    ("nothing reduces to 0", "strict product", STRICT, _zero_when_empty, "strict.mul/golden/1"),
    ("nothing reduces to 0", "tree minimum", TREE, _zero_when_empty, "tree_binary.min/golden/1"),
    ("last element left out", "strict", STRICT, _without_last, "strict.add/golden/8"),
    ("last element left out", "tree", TREE, _without_last, "tree_binary.add/golden/8"),
)


def _engines() -> Iterator[Mutant]:
    for engine, where, around in (
        ("reduce_strict", "elements from the end", _reversed),
        ("reduce_strict", "the first element last", _rotated),
        ("reduce_tree", "the first element last", _rotated),
    ):
        make: Make = partial(Mutated, around=around)
        yield Mutant(ORDER, f"{where}, {engine}", RUNTIME, make, engine_case(engine))
    loops: Make = partial(Mutated, change=partial(rewrite, node=_loop_backwards))
    yield Mutant(ORDER, "a loop that runs backwards, reduce_strict", IR, loops, engine_case("reduce_strict"))


def engine_case(engine: str) -> str:
    """Those cases of a run that compare all of an engine's output: one of them must tell orders apart."""
    return f"{engines.STAGE.name}/{engine}.{EngineInvariant.NoOutputLost.name}/{EVERY}"


def _loop_backwards(n: Node) -> list[Node]:
    if not isinstance(n, Loop) or not _accumulates(n):
        return [n]
    back = n.stop - 1 - (Var(n.var) - n.start)
    body = [_substituted(inner, n.var, back) for inner in n.body]
    return [Loop(n.var, n.start, n.stop, body)]


def _accumulates(n: Loop) -> bool:
    return any(isinstance(x, BinOp) and x.op in FLOAT_BINARY_OPS for x in expressions(n.body))


def _substituted(n: Node, name: str, value: Expr) -> Node:
    done: list[Expr] = []
    for root in n.exprs:
        made: dict[Expr, Expr] = {}
        for x in postorder(root):
            made[x] = value if x is Var(name) else rebuild(x, tuple(made[c] for c in x.children))
        done.append(made[root])
    return with_parts(n, tuple(done), n.bodies)


def _permuted(
    change: Callable[[bytes, int], bytes],
    run: Run,
    program: Program,
    buffers: Mapping[str, memoryview],
    workgroups: tuple[int, int, int],
) -> None:
    """The run on a copy of the float inputs, with their elements in another order."""
    floats = {
        b.name: b.element.stride for b in program.buffers if b.element.is_float and not b.access.writable
    }
    given = {
        name: memoryview(change(bytes(view), floats[name])) if name in floats else view
        for name, view in buffers.items()
    }
    run(given, workgroups)


def _turned(data: bytes, stride: int) -> bytes:
    parts = [data[k : k + stride] for k in range(0, len(data), stride)]
    return b"".join(reversed(parts))


def _moved(data: bytes, stride: int) -> bytes:
    return data[stride:] + data[:stride]


_reversed, _rotated = partial(_permuted, _turned), partial(_permuted, _moved)
