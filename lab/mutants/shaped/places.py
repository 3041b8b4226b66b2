"""What stands in a program, read off its statements: nesting, scopes, chains, what is loaded after a store.

    written = Written.of(program)
    written.loop_nesting, written.float_chain, …

Written for the exam alone, and on purpose not with what `vyre.conform` counts with: where the two disagree
about a program, a wrong backend falls through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import (
    Atomic,
    BinOp,
    BufLen,
    Cast,
    Convert,
    FMulAdd,
    FReduce,
    InvocationId,
    Lane,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    MakeVec,
    Select,
    UnOp,
    Var,
)
from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Return, Store
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.program import Program

ROUNDING = frozenset({"FAdd", "FSub", "FMul", "FDiv", "FSqrt"})


class Place(NamedTuple):
    """A statement with what is around it; `visible` variables are bound there, those of loops aside, and
    `conditions` are those between the innermost loop and the statement."""

    node: Node
    loops: int
    branches: int
    blocks: int
    visible: int
    conditions: tuple[Expr, ...]


def places(program: Program) -> Iterator[Place]:
    """Every statement in program order."""
    stack: list[tuple[tuple[Node, ...], int, int, int, int, int, tuple[Expr, ...]]]
    stack = [(program.entry, 0, 0, 0, 0, 0, ())]
    while stack:
        body, at, loops, branches, blocks, visible, conditions = stack.pop()
        if at == len(body):
            continue
        node = body[at]
        yield Place(node, loops, branches, blocks, visible, conditions)
        after = visible + isinstance(node, Let)
        stack.append((body, at + 1, loops, branches, blocks, after, conditions))
        inner = (
            loops + isinstance(node, Loop),
            branches + isinstance(node, If),
            blocks + isinstance(node, Block),
        )
        if isinstance(node, Loop):
            conditions = ()
        elif isinstance(node, If):
            conditions = (*conditions, node.condition)
        stack += [(each, 0, *inner, visible, conditions) for each in reversed(node.bodies)]


@dataclass(slots=True)
class Written:
    """What one program has; sets hold everything that occurs."""

    loops: int = 0
    loop_nesting: int = 0
    branch_nesting: int = 0
    block_nesting: int = 0
    branches: int = 0
    barriers: int = 0
    barrier_nesting: int = 0
    statements: int = 0
    stores: int = 0
    variables: int = 0
    float_chain: int = 0
    reloads: int = 0
    depth: int = 0
    nodes: int = 0
    loads: set[Expr] = field(default_factory=set["Expr"])
    bounds: set[str] = field(default_factory=set[str])
    conditions: set[str] = field(default_factory=set[str])
    returns: set[str] = field(default_factory=set[str])
    breaks: set[str] = field(default_factory=set[str])
    accumulated: set[str] = field(default_factory=set[str])
    operators: set[str] = field(default_factory=set[str])
    literals: set[int] = field(default_factory=set[int])
    atomics: set[str] = field(default_factory=set[str])
    atomic_buffers: set[str] = field(default_factory=set[str])
    reductions: set[str] = field(default_factory=set[str])

    @staticmethod
    @lru_cache(maxsize=512)
    def of(program: Program) -> Written:
        return _Reader(program).read()


class _Reader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.access = {b.name: b.access for b in program.buffers}
        self.found = Written()
        self.sources: dict[str, frozenset[str]] = {}
        """Where the value of a variable comes from; `id` where invocations of a workgroup may differ."""
        self.chains: dict[str, int] = {}
        self.written: set[tuple[str, Expr]] = set()

    def read(self) -> Written:
        found = self.found
        for place in places(self.program):
            found.statements += 1
            found.loop_nesting = max(found.loop_nesting, place.loops + isinstance(place.node, Loop))
            found.branch_nesting = max(found.branch_nesting, place.branches + isinstance(place.node, If))
            found.block_nesting = max(found.block_nesting, place.blocks + isinstance(place.node, Block))
            found.variables = max(found.variables, place.visible + isinstance(place.node, Let))
            chains = [self.expression(root) for root in place.node.exprs]
            found.float_chain = max(found.float_chain, *chains, 0)
            self.statement(place, chains)
        return found

    def statement(self, place: Place, chains: list[int]) -> None:
        found = self.found
        match place.node:
            case Let(name=name, value=value):
                self.sources[name], self.chains[name] = self.source(value), chains[0]
            case Assign(name=name, value=value):
                self.sources[name] = self.sources.get(name, frozenset()) | self.source(value)
                self.chains[name] = chains[0]
                if place.loops:
                    found.accumulated |= accumulates(name, value)
            case Store(buffer=buffer, index=index):
                found.stores += 1
                self.written.add((buffer, index))
            case If(condition=condition):
                found.branches += 1
                found.conditions.add("divergent" if "id" in self.source(condition) else "uniform")
            case Loop(var=var, stop=stop):
                found.loops += 1
                source = self.source(stop)
                found.bounds.add(_bound(stop, source))
                self.sources[var] = source
            case Barrier():
                found.barriers += 1
                around = place.loops + place.branches + place.blocks
                found.barrier_nesting = max(found.barrier_nesting, around)
            case Break():
                parted = any("id" in self.source(x) for x in place.conditions)
                found.breaks |= {"divergent" if parted else "uniform", *(("nested",) * (place.loops > 1))}
            case Return():
                found.returns.add("in a loop" if place.loops else "outside of loops")
            case _:
                pass

    def source(self, root: Expr) -> frozenset[str]:
        found: set[str] = set()
        for x in postorder(root):
            match x:
                case InvocationId() | LocalId():
                    found.add("id")
                case Load(buffer=buffer):
                    access = self.access[buffer]
                    found.add("uniform" if access is BufferAccess.Uniform else "loaded")
                    if access.writable:
                        found.add("id")
                case BufLen():
                    found.add("length")
                case Var(name=name):
                    found |= self.sources.get(name, frozenset())
                case _:
                    pass
        return frozenset(found)

    def expression(self, root: Expr) -> int:
        """Notes what occurs in it; gives the longest chain of rounded operations that ends in it."""
        found = self.found
        found.depth, found.nodes = max(found.depth, root.depth), max(found.nodes, root.size)
        longest: dict[Expr, int] = {}
        for x in postorder(root):
            below = max((longest[c] for c in x.children), default=0)
            longest[x] = 0
            match x:
                case BinOp(op=op) | UnOp(op=op):
                    found.operators.add(op.value)
                    longest[x] = below + (op.value in ROUNDING) if op.value.startswith("F") else 0
                case FMulAdd():
                    found.operators.add("FMulAdd")
                    longest[x] = below + 1
                case Var(name=name):
                    longest[x] = self.chains.get(name, 0)
                case Load(buffer=buffer, index=index):
                    found.loads.add(x)
                    found.reloads += (buffer, index) in self.written
                    self.written.discard((buffer, index))
                case Atomic(op=op, buffer=buffer):
                    found.atomics.add(op.value)
                    found.atomic_buffers.add(buffer)
                case FReduce(order=order, op=op):
                    found.reductions.add(f"{order.value} {op.value}")
                case LitU32(value=value) | LitI32(value=value):
                    found.literals.add(value & 0xFFFF_FFFF)
                case Literal(bits=bits):
                    found.literals.add(bits)
                case Select() | Cast() | Convert() | Lane() | MakeVec():
                    found.operators.add(type(x).__name__)
                case _:
                    pass
        return longest[root]


def _bound(stop: Expr, source: frozenset[str]) -> str:
    if "id" in source:
        return "divergent"
    for word in ("uniform", "loaded", "length"):
        if word in source:
            return word
    return "literal" if isinstance(stop, LitU32) else "computed"


def accumulates(name: str, value: Expr) -> set[str]:
    """The rounded operations by which a variable is made of itself."""
    return {
        x.op.value
        for x in postorder(value)
        if isinstance(x, BinOp) and x.op.value in ROUNDING and any(c is Var(name) for c in x.children)
    }
