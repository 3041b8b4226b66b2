"""Breaks, private memory and constant tables, put into a generated program.

The program stays free of races, because both kinds of memory are an invocation's own, and valid: a loop with
a barrier is left under a condition that is the same for the whole workgroup. What private memory and tables
hold flows into the digest of the program, so that a wrong value shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import random_buffer
from vyre.conform.generate.digest import DIGEST, fold
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.buffers import BufferDecl
from vyre.ir.environment import Types
from vyre.ir.expr import Expr, InvocationId, LitU32, Load, Var, WorkgroupId
from vyre.ir.node import Barrier, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import statements

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
    private: list[BufferDecl] = field(init=False)
    tables: list[BufferDecl] = field(init=False)

    def __post_init__(self) -> None:
        entry = self.program.entry
        self.types = Types(self.program.buffers, signatures=lambda op_id: self.registry[op_id].signature)
        self.types.learn(entry)
        kinds = [_U32, *dict.fromkeys(self.types.variables.values())]
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
        count = self.rng.choice(_COUNTS)
        # Words that differ, so that a wrong index shows.
        data = self.rng.randbytes(4 * count) if element is _U32 else random_buffer(self.rng, element, count)
        return BufferDecl.constant(f"table{number}", element, data)

    def _body(self, scope: _Scope, name: str) -> _Scope:
        return _Scope(dict(scope.names), scope.loop, scope.meets, scope.direct and name == "body")

    def _enter(self, node: Node, scope: _Scope, out: list[Node]) -> tuple[Node, _Scope]:
        if DIGEST in scope.names:
            if self.rng.randrange(5) == 0:
                out += self._use(scope)
            if scope.loop and (scope.direct or not scope.meets) and self.rng.randrange(4) == 0:
                out.append(self._break(scope))
        match node:
            case Let(name=name):
                scope.names[name] = self.types.variables[name]
            case Loop(var=var, body=body):
                # A return may be what keeps invocations from a barrier behind the loop.
                meets = any(isinstance(inner, Barrier | Return) for _, inner in statements(body))
                return node, _Scope({**scope.names, var: _U32}, var, meets)
            case _:
                pass
        return node, scope

    def _index(self, count: int) -> Expr:
        if self.rng.randrange(16) == 0:
            return LitU32(count)  # beyond the end
        if count == 1 or self.rng.randrange(4) == 0:
            return LitU32(self.rng.randrange(count))
        return (Var(DIGEST) >> self.rng.randrange(20)) % count

    def _use(self, scope: _Scope) -> list[Node]:
        """A store to private memory, and what it or a table holds into the digest."""
        rng = self.rng
        decl = rng.choice(self.private)
        found: list[Node] = []
        values = scope.of(decl.element)
        if values:
            value = rng.choice(values)
            if decl.element is _U32 and rng.randrange(2):
                value = value + Load(decl.name, self._index(decl.count))
            found.append(Store(decl.name, self._index(decl.count), value))
        seen = rng.choice([b for b in (*self.private, *self.tables) if b.element is _U32] or self.private)
        found.append(fold(rng, Load(seen.name, self._index(seen.count)), seen.element))
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
        """The statements, with all of private memory in the digest before the stores at the end.

        Words are filled first: where all is zero, a wrong index does not show.
        """
        first = next(at for at, node in enumerate(entry) if isinstance(node, Let) and node.name == DIGEST) + 1
        filled = [
            Loop(turn := f"p{n}", LitU32(0), LitU32(decl.count), (_filled(decl, turn),))
            for n, decl in enumerate(self.private)
            if decl.element is _U32
        ]
        last = len(entry)
        while isinstance(entry[last - 1], Store):
            last -= 1
        loops = [
            Loop(turn := f"q{n}", LitU32(0), LitU32(decl.count), (self._element(decl, turn),))
            for n, decl in enumerate(self.private)
        ]
        return (*entry[:first], *filled, *entry[first:last], *loops, *entry[last:])

    def _element(self, decl: BufferDecl, turn: str) -> Node:
        return fold(self.rng, Load(decl.name, Var(turn)), decl.element)


def _filled(decl: BufferDecl, turn: str) -> Node:
    return Store(decl.name, Var(turn), Var(DIGEST) * 33 + Var(turn) * 0x9E37_79B1)
