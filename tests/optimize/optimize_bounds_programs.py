"""Programs full of indices: guards, loops and arithmetic around lengths, right and nearly right."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.optimize.optimize_programs import Case
from vyre.conform.generate.buffers import random_buffer
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    BufferDecl,
    BufLen,
    Cast,
    DataType,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Program,
    Return,
    Select,
    Store,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)

if TYPE_CHECKING:
    from vyre.ir import Expr, Node

U32 = DataType.U32
BUFFERS = (
    BufferDecl.read("a", 0, U32),
    BufferDecl.read("b", 1, U32, count=6),
    BufferDecl.read_write("out", 2, U32),
    BufferDecl.read_write("cnt", 3, U32, count=5),
    BufferDecl.workgroup("tile", U32, 4),
)


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names: list[str] = []
        self.assignable: list[str] = []
        self.fresh = 0

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def leaf(self) -> Expr:
        rng = self.rng
        if self.names and rng.randrange(2):
            return Var(rng.choice(self.names))
        kind = rng.randrange(6)
        if kind == 0:
            return LocalId(rng.randrange(2))
        if kind == 1:
            return InvocationId(0)
        if kind == 2:
            return BufLen(rng.choice(BUFFERS).name)
        if kind == 3:
            return WorkgroupId(0)
        return LitU32(rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 31, 0xFFFFFFFF)))

    def number(self, depth: int) -> Expr:
        rng = self.rng
        if depth == 0:
            return self.leaf()
        a, b = self.number(depth - 1), self.number(depth - 1)
        kind = rng.randrange(17)
        plain = (a + b, a - b, a * b, a // b, a % b, a & b, a | b, a ^ b, a >> b, a << b)
        if kind < len(plain):
            return plain[kind]
        if kind == 10:
            return Select(self.condition(1), a, b)
        if kind == 11:
            return Select(a < b, a, b)
        if kind == 12:
            return Select(a <= b, b, a)
        if kind == 13:
            return UnOp(rng.choice((UnaryOp.BitNot, UnaryOp.Clz, UnaryOp.Popcount, UnaryOp.Ctz)), a)
        if kind == 14:
            length = BufLen(rng.choice(BUFFERS).name)
            return rng.choice((length - a, (length - 1) - a, a % length))
        if kind == 15:
            return Cast(U32, Cast(rng.choice((DataType.Bool, DataType.I32, DataType.U64)), a))
        return Load(rng.choice(("a", "b", "out")), a)

    def condition(self, depth: int) -> Expr:
        rng = self.rng
        a, b = self.leaf() if rng.randrange(2) else self.number(1), self.leaf()
        plain = (a < b, a <= b, a > b, a >= b, a.eq(b), a.ne(b), a, Cast(DataType.Bool, a))
        found = plain[rng.randrange(len(plain))]
        if depth and rng.randrange(3) == 0:
            if isinstance(found, Cast):
                return found
            other = self.condition(0)
            other = other if not isinstance(other, Cast) else a < b
            return rng.choice((found.and_(other), found.or_(other), UnOp(UnaryOp.LogicalNot, found)))
        return found

    def index(self, buffer: str) -> Expr:
        """An index that has something to do with the buffer, or none at all."""
        rng = self.rng
        length = BufLen(buffer)
        a, b = self.leaf(), self.leaf()
        near = (a % length, (length - 1) - a, length - a, (a & 5) | (b & 3), (a % 3) + (b & 3), a % 6)
        pick = rng.randrange(12)
        if pick < len(near):
            return near[pick]
        return a if pick < 9 else self.number(rng.randrange(1, 3))

    def access(self) -> Node:
        rng = self.rng
        kind = rng.randrange(4)
        if kind == 0:
            buffer = rng.choice(("out", "tile"))
            return Store(buffer, self.index(buffer), self.leaf())
        name = self.name()
        if kind == 1:
            return Let(name, Atomic(AtomicOp.Add, "cnt", self.index("cnt"), LitU32(1)))
        buffer = rng.choice(BUFFERS).name
        node = Let(name, Load(buffer, self.index(buffer)))
        self.names.append(name)
        return node

    def guarded(self) -> Node:
        """A comparison with a length around an access, not always the right one."""
        rng = self.rng
        buffer = rng.choice(("a", "out"))
        i, length = self.leaf(), BufLen(rng.choice((buffer, buffer, buffer, "b")))
        if rng.randrange(2):
            return self.spread(buffer, i, length)
        condition = rng.choice((i < length, i <= length, length > i, length.ne(i), length >= i + 1))
        index = rng.choice((i, i, i + 1, i - 1, i >> 1, length - i, i // 2))
        return If(condition, (Let(self.name(), Load(buffer, index)),))

    def spread(self, buffer: str, i: Expr, length: Expr) -> Node:
        """A comparison for the last of several elements, or for one that is some way before the end."""
        rng = self.rng
        far = rng.randrange(1, 4)
        i = rng.choice((i, i & 7, WorkgroupId(0) * 8 + LocalId(0), InvocationId(0) - far))
        shorter = Select(length < BufLen("out"), length, BufLen("out")) if rng.randrange(3) == 0 else length
        before = i < shorter - far
        condition = rng.choice((i + far < shorter, before, (shorter >= far).and_(before)))
        index = rng.choice((i, i + far, i + (far - 1), i + (far + 1), length - far - i))
        return If(condition, (Let(self.name(), Load(buffer, index)),))

    def body(self, nesting: int, count: int) -> tuple[Node, ...]:
        names, assignable = len(self.names), len(self.assignable)
        found = [self.statement(nesting) for _ in range(count)]
        del self.names[names:], self.assignable[assignable:]
        return tuple(found)

    def statement(self, nesting: int) -> Node:
        rng = self.rng
        kind = rng.randrange(12)
        if kind < 2:
            node = Let(self.name(), self.number(rng.randrange(3)))
            self.names.append(node.name)
            self.assignable.append(node.name)
            return node
        if kind == 2 and self.assignable:
            return Assign(rng.choice(self.assignable), self.number(1))
        if kind < 6 or nesting == 0:
            return self.access()
        if kind < 8:
            return self.guarded()
        if kind == 8:
            var, stop = self.name(), self.leaf()
            if not isinstance(stop, BufLen):
                stop = stop % 7
            self.names.append(var)
            body = self.body(nesting - 1, 2)
            self.names.remove(var)
            return Loop(var, LitU32(rng.randrange(3)), stop, body)
        condition = self.condition(1)
        if kind == 9:
            return If(condition, (Return(),))
        then = self.body(nesting - 1, rng.randrange(1, 4))
        return If(condition, then, self.body(nesting - 1, rng.randrange(3)))


def indexed_program(seed: int) -> Case:
    """A program of loads, stores and atomics at indices of all kinds; races do not matter here."""
    rng = Random(f"indices {seed}")
    return _case(rng, _Maker(rng).body(2, rng.randrange(4, 9)))


def spread_program(seed: int) -> Case:
    """A program of loads at sums, behind comparisons for the last of several elements."""
    rng = Random(f"sums {seed}")
    maker = _Maker(rng)
    return _case(rng, tuple(maker.spread("a", maker.leaf(), BufLen("a")) for _ in range(8)))


def _case(rng: Random, entry: tuple[Node, ...]) -> Case:
    inputs = {
        "a": random_buffer(rng, U32, rng.randrange(8)),
        "b": random_buffer(rng, U32, 6),
        "out": random_buffer(rng, U32, rng.randrange(8)),
    }
    return Case(Program(BUFFERS, (4, 1, 1), entry), inputs, (2, 1, 1))
