"""Breaks, private memory and constant tables, put into a generated program.

The program stays free of races, because both kinds of memory are an invocation's own, and valid: a loop with
a barrier is left under a condition that is the same for the whole workgroup. What was kept in private memory
flows into variables and outputs, so that a wrong value shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import random_buffer
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.buffers import BufferDecl
from vyre.ir.environment import Types
from vyre.ir.expr import Atomic, Expr, InvocationId, LitU32, Load, Select, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import statements, with_parts

if TYPE_CHECKING:
    from vyre.compose import Registry

_U32 = DataType.U32
_COUNTS = (1, 2, 5, 8, 17)


@dataclass(slots=True)
class _Scope:
    """What is visible in a block: variables by type, and the loop around it.

    `meets` where all invocations must stay together in that loop, and `direct` where no condition stands
    between the loop and the block.
    """

    names: dict[str, DataType]
    loop: str = ""
    meets: bool = False
    direct: bool = True

    def of(self, t: DataType) -> list[Expr]:
        return [Var(name) for name, known in self.names.items() if known is t]


def with_own_memory(program: Program, seed: int, registry: Registry) -> Program:
    """The same program for one seed in two; otherwise one that says more."""
    rng = Random(f"vyre own memory {seed}")
    if rng.randrange(2):
        return program
    return _Builder(rng, program, registry).build()


@dataclass(slots=True)
class _Builder:
    rng: Random
    program: Program
    registry: Registry
    types: Types = field(init=False)
    changed: frozenset[str] = field(init=False)
    private: list[BufferDecl] = field(init=False)
    tables: list[BufferDecl] = field(init=False)

    def __post_init__(self) -> None:
        entry = self.program.entry
        self.types = Types(self.program.buffers, signatures=lambda op_id: self.registry[op_id].signature)
        self.types.learn(entry)
        # Other variables may be what a barrier depends on.
        self.changed = frozenset(node.name for _, node in statements(entry) if isinstance(node, Assign))
        kinds = [_U32, *dict.fromkeys(self.types.variables[name] for name in sorted(self.changed))]
        self.private = [self._private(n, kinds) for n in range(self.rng.randrange(1, 4))]
        self.tables = [self._table(n, kinds) for n in range(self.rng.randrange(3))]

    def build(self) -> Program:
        entry = rewrite_blocks(self.program.entry, self._enter, _Scope({}), body=self._body)
        buffers = (*self.program.buffers, *self.private, *self.tables)
        return Program(buffers, self.program.workgroup_size, self._seen(entry))

    def _private(self, number: int, kinds: list[DataType]) -> BufferDecl:
        return BufferDecl.private(f"own{number}", self.rng.choice(kinds), self.rng.choice(_COUNTS))

    def _table(self, number: int, kinds: list[DataType]) -> BufferDecl:
        element = self.rng.choice(kinds)
        return BufferDecl.constant(
            f"table{number}", element, random_buffer(self.rng, element, self.rng.choice(_COUNTS))
        )

    def _body(self, scope: _Scope, name: str) -> _Scope:
        return _Scope(dict(scope.names), scope.loop, scope.meets, scope.direct and name == "body")

    def _enter(self, node: Node, scope: _Scope, out: list[Node]) -> tuple[Node, _Scope]:
        if scope.names:  # behind the first statement, which is the number of the invocation
            if self.rng.randrange(3) == 0:
                out += self._use(scope)
            if scope.loop and (scope.direct or not scope.meets) and self.rng.randrange(4) == 0:
                out.append(self._break(scope))
        match node:
            case Let(name=name) if _is_usable(node):
                scope.names[name] = self.types.variables[name]
            case Loop(var=var, body=body):
                # A return may be what keeps invocations from a barrier behind the loop.
                meets = any(isinstance(inner, Barrier | Return) for _, inner in statements(body))
                return node, _Scope({**scope.names, var: _U32}, var, meets)
            case _:
                pass
        return node, scope

    def _index(self, scope: _Scope, count: int) -> Expr:
        number = self.rng.choice(scope.of(_U32)) + self.rng.randrange(9)
        match self.rng.randrange(8):
            case 0:
                return number
            case 1 | 2:
                return LitU32(self.rng.randrange(count + 1))
            case _:
                return number % (count + self.rng.randrange(2))

    def _load(self, scope: _Scope, t: DataType) -> Expr | None:
        known = [b for b in (*self.private, *self.tables) if b.element is t]
        if not known:
            return None
        decl = self.rng.choice(known)
        return Load(decl.name, self._index(scope, decl.count))

    def _use(self, scope: _Scope) -> list[Node]:
        """A store to private memory, and often a variable that takes a value from there."""
        rng = self.rng
        decl = rng.choice(self.private)
        found: list[Node] = []
        values = scope.of(decl.element)
        if values:
            value = rng.choice(values)
            if decl.element is _U32 and rng.randrange(2):
                value = value + Load(decl.name, self._index(scope, decl.count))
            found.append(Store(decl.name, self._index(scope, decl.count), value))
        targets = sorted(self.changed & scope.names.keys())
        if targets and rng.randrange(2):
            name = rng.choice(targets)
            loaded = self._load(scope, scope.names[name])
            if loaded is not None:
                found.append(Assign(name, loaded))
        return found

    def _break(self, scope: _Scope) -> Node:
        """Out of a loop with a barrier all invocations of a workgroup go together."""
        turn, rng = Var(scope.loop), self.rng
        if scope.meets:
            condition = ((turn + WorkgroupId(0)) % 5).eq(rng.randrange(5))
        else:
            condition = ((turn + rng.choice(scope.of(_U32)) + InvocationId(0)) % 4).eq(rng.randrange(4))
        return If(condition, (*(self._use(scope) if rng.randrange(2) else ()), Break()))

    def _seen(self, entry: tuple[Node, ...]) -> tuple[Node, ...]:
        """The stores at the end, which also store what private memory and the tables hold."""
        lets = (node for node in entry if isinstance(node, Let) and _is_usable(node))
        scope = _Scope({node.name: self.types.variables[node.name] for node in lets})
        last = len(entry)
        while isinstance(entry[last - 1], Store):
            last -= 1
        return (*entry[:last], *(self._mixed(node, scope) for node in entry[last:]))

    def _mixed(self, node: Node, scope: _Scope) -> Node:
        assert isinstance(node, Store)
        element = self.types.element(node.buffer)
        t = element.loaded if element else None
        loaded = self._load(scope, t) if t else None
        if loaded is None:
            return node
        if t is _U32:
            value: Expr = node.value * 3 ^ loaded
        else:
            value = Select((InvocationId(0) % 2).eq(0), node.value, loaded)
        return with_parts(node, (node.index, value), ())


def _is_usable(node: Let) -> bool:
    """What an atomic gives depends on who came first, so its value goes nowhere."""
    return not isinstance(node.value, Atomic)
