"""What can be read of a case: a program, the memory it is run on, its grid and the way in.

    facts = Facts.of(program, {"x": data}, (4, 1, 1), entrance="run")
    facts.turns                     frozenset({1, 65537}): the turns of its loops

Everything is read from the program as it is written, so a wrong backend can be made to depend on exactly what
is counted here. BoundValues of loops and reductions are worked out for the first invocation, from
literals, lengths and the given memory; those that depend on more are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.conform.shapes.bounds import BoundValues
from vyre.conform.shapes.families import families_of, literal_names
from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Atomic, BinOp, FMulAdd, FReduce, Load, UnOp, Var
from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Return, Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.walk import expressions, postorder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.shapes.bounds import Memory
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.program import Program

_ROUNDED = {BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul, BinaryOp.FDiv, UnaryOp.FSqrt}
"""Float operations that round, besides FMulAdd; a chain is counted in them."""


@dataclass(slots=True)
class Facts:
    """The counts of one case. Features are read from here (`vyre.conform.shapes.features`)."""

    program: Program
    workgroups: tuple[int, int, int]
    entrance: str
    dispatch: str
    lengths: Mapping[str, int]
    invocations: int
    loop_depth: int = 0
    branch_nesting: int = 0
    blocks: int = 0
    barriers: int = 0
    barrier_nesting: int = 0
    statements: int = 0
    float_chain: int = 0
    time_alias: int = 0
    turns: set[int] = field(default_factory=set[int])
    starts: set[int] = field(default_factory=set[int])
    bounds: set[str] = field(default_factory=set[str])
    branches: set[str] = field(default_factory=set[str])
    returns: set[str] = field(default_factory=set[str])
    breaks: set[str] = field(default_factory=set[str])
    float_loops: set[str] = field(default_factory=set[str])
    reductions: set[str] = field(default_factory=set[str])
    reduced: set[int] = field(default_factory=set[int])
    contention: set[int] = field(default_factory=set[int])
    atomics: set[str] = field(default_factory=set[str])
    atomic_memory: set[str] = field(default_factory=set[str])

    @classmethod
    def of(
        cls,
        program: Program,
        buffers: Mapping[str, Memory],
        workgroups: tuple[int, int, int],
        *,
        entrance: str = "run",
        dispatch: str = "once",
    ) -> Facts:
        """The facts of a dispatch; a ReadWrite buffer that is not given has its declared length."""
        lengths = {
            b.name: b.count
            if not b.access.bound or b.name not in buffers
            else memoryview(buffers[b.name]).nbytes // b.element.stride
            for b in program.buffers
        }
        x, y, z = program.workgroup_size
        across, along, deep = workgroups
        found = cls(program, workgroups, entrance, dispatch, lengths, x * y * z * across * along * deep)
        _Walk(found, BoundValues(program, buffers, lengths)).block(program.entry)
        found.memory_facts()
        return found

    def memory_facts(self) -> None:
        """Reductions and atomics, wherever they stand."""
        size = 1
        for axis in self.program.workgroup_size:
            size *= axis
        shared = {b.name for b in self.program.buffers if b.access.shared}
        for expr in expressions(self.program.entry):
            if isinstance(expr, Atomic):
                inside = expr.buffer in shared
                self.atomics.add(expr.op.value)
                self.atomic_memory.add("workgroup" if inside else "storage")
                ways = size if inside else self.invocations
                self.contention.add(ways // max(1, self.lengths[expr.buffer]))
            elif isinstance(expr, FReduce):
                self.reductions.add(f"{expr.order.value} {expr.op.value}")

    @property
    def variables(self) -> int:
        return variables_in_scope(self.program.entry)

    @property
    def literals(self) -> frozenset[str]:
        return literal_names(self.program.entry)

    @property
    def families(self) -> frozenset[str]:
        return families_of(self.program.entry)

    @property
    def expression_depth(self) -> int:
        return max((root.depth for node in self._nodes() for root in node.exprs), default=0)

    @property
    def outputs(self) -> frozenset[str]:
        """How the ReadWrite buffers compare with the number of invocations."""
        sizes = [self.lengths[b.name] for b in self.program.buffers if b.access is BufferAccess.ReadWrite]
        count = self.invocations
        return frozenset("short" if n < count else "long" if n > count else "exact" for n in sizes)

    def bytes_of(self, *accesses: BufferAccess) -> list[int]:
        return [self.lengths[b.name] * b.element.stride for b in self.program.buffers if b.access in accesses]

    def _nodes(self) -> list[Node]:
        found: list[Node] = []
        pending = list(self.program.entry)
        while pending:
            node = pending.pop()
            found.append(node)
            pending.extend(child for body in node.bodies for child in body)
        return found


def variables_in_scope(body: tuple[Node, ...], before: int = 0) -> int:
    """The most variables that are in scope at once, `before` of them around these statements."""
    most = before
    for node in body:
        before += isinstance(node, Let)
        most = max(most, before, *(variables_in_scope(inner, before) for inner in node.bodies))
    return most


class _Walk:
    """One pass over the statements in order, with what is around each of them."""

    def __init__(self, facts: Facts, bounds: BoundValues) -> None:
        self.facts, self.bounds = facts, bounds
        self.loops = self.ifs = self.scopes = self.around = 0
        self.split = False
        """Whether invocations part between the innermost loop and here."""

        self.chains: dict[str, int] = {}
        self.bound_in: dict[str, int] = {}
        self.stored: set[tuple[str, Expr]] = set()

    def block(self, body: tuple[Node, ...]) -> None:
        for node in body:
            self.facts.statements += 1
            self.node(node)

    def node(self, node: Node) -> None:
        facts = self.facts
        for root in node.exprs:
            self.expression(root)
        match node:
            case Let(name=name, value=value):
                self.bounds.bind(name, value)
                self.chains[name] = self.chain(value)
                self.bound_in[name] = self.loops
            case Assign(name=name, value=value):
                self.bounds.assign(name, value)
                self.chains[name] = self.chain(value)
                if self.loops > self.bound_in.get(name, 0):
                    facts.float_loops |= _accumulates(name, value)
            case Store(buffer=buffer, index=index, value=value):
                self.chain(value)
                self.stored.add((buffer, index))
            case If(condition=condition):
                before, parted = self.split, self.bounds.divergent(condition)
                self.split = before or parted
                self.inside(node, "ifs", "branch_nesting")
                self.split = before
                facts.branches.add("divergent" if parted else "uniform")
            case Loop():
                self.loop(node)
            case Block():
                self.inside(node, "scopes", "blocks")
            case Barrier():
                facts.barriers += 1
                facts.barrier_nesting = max(facts.barrier_nesting, self.around)
            case Break():
                facts.breaks.add("divergent" if self.split else "uniform")
                facts.breaks |= {"nested"} if self.loops > 1 else set()
            case Return():
                facts.returns.add("in loop" if self.loops else "late")
            case _:
                pass

    def inside(self, node: Node, level: str, most: str) -> None:
        """The bodies of a statement, one level further in."""
        setattr(self, level, getattr(self, level) + 1)
        setattr(self.facts, most, max(getattr(self.facts, most), getattr(self, level)))
        self.around += 1
        for body in node.bodies:
            self.block(body)
        self.around -= 1
        setattr(self, level, getattr(self, level) - 1)

    def loop(self, node: Loop) -> None:
        reading = self.bounds.loop(node)
        if reading.turns is not None:
            self.facts.turns.add(reading.turns)
            self.facts.starts.add(reading.start)
        self.facts.bounds.add(reading.kind)
        before, self.split = self.split, False
        self.inside(node, "loops", "loop_depth")
        self.split = before

    def expression(self, root: Expr) -> None:
        for expr in postorder(root):
            if isinstance(expr, Load) and (expr.buffer, expr.index) in self.stored:
                self.facts.time_alias += 1
                self.stored.discard((expr.buffer, expr.index))
            elif isinstance(expr, FReduce):
                length = self.bounds.span(expr.start, expr.stop)
                if length is not None:
                    self.facts.reduced.add(length)

    def chain(self, root: Expr) -> int:
        """The longest chain of rounded operations that ends in `root`, through variables."""
        longest: dict[Expr, int] = {}
        for expr in postorder(root):
            below = max((longest[c] for c in expr.children), default=0)
            match expr:
                case Var(name=name):
                    longest[expr] = self.chains.get(name, 0)
                case FMulAdd():
                    longest[expr] = below + 1
                case BinOp(op=op) | UnOp(op=op):
                    longest[expr] = below + 1 if op in _ROUNDED else below if op.row.is_float else 0
                case _:
                    longest[expr] = 0
        self.facts.float_chain = max(self.facts.float_chain, *longest.values())
        return longest[root]


def _accumulates(name: str, value: Expr) -> set[str]:
    """The rounded operations by which a variable is made of what it was before."""
    return {
        expr.op.value
        for expr in postorder(value)
        if isinstance(expr, BinOp)
        and expr.op in _ROUNDED
        and any(isinstance(c, Var) and c.name == name for c in expr.children)
    }
