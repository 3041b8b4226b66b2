"""Arbitrary programs from a seed: every node, operator, type and odd name, valid or not."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

import pytest

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import (
    ApproxOp,
    AtomicOp,
    BinaryOp,
    ReduceOp,
    ReduceOrder,
    RoundMode,
    UnaryOp,
)
from vyre.ir.program import Program
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Callable

TYPES: Final = tuple(DataType)
LITERAL_TYPES: Final = tuple(t for t in DataType if t in WIDE_LITERAL_TYPES)
NAMES: Final = (
    *("a", "b", "i", "k", "x", "tile", "buffer", "entry", "op", "doc", "category", "len", "popcount", "U32"),
    *("x1", "_", "__t", "e1", "i5", "let", "if", "else", "for", "in", "cast", "make", "local", "workgroup"),
    *("call", "true", "approx", "return", "barrier"),
    *("", " ", "a b", "`", "\\", "a`b\\c", "\n\r\t", "\0", "größe", "变量", "\u202e", "\ud800", "😀", "1a"),
    *("//", "/*", "*/", "5", "-5i", "a.b", '"', "\u2028", "\x85", "\ufeff", "é" * 200),
)
OP_IDS: Final = (
    *["primitive.math.add", "primitive.bitwise.and", "acme.mix@2", "let.if.call", "plain", "A.b"],
    *("a@1", "a@02", "", "a..b", ".a", "a.1b", "a b", "`", "ä.b", "a@", "a\n", "a@1_0", "a@0x2"),
)
EDGES: Final = (0, 1, 2, 5, 31, 32, 255, 1 << 16, (1 << 31) - 1, 1 << 31, U32_MAX)

_T = TypeVar("_T")


class Builder:
    """Draws everything from `Random(seed)`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def choose(self, options: tuple[_T, ...]) -> _T:
        return self.random.choice(options)

    def number(self, bits: int) -> int:
        if self.random.random() < 0.5:
            return min(self.random.choice(EDGES), (1 << bits) - 1)
        return self.random.getrandbits(bits)

    def expression(self, size: int) -> e.Expr:
        """A tree of about `size` nodes; grown from the leaves, so depth costs no stack."""
        pool = [self.leaf() for _ in range(max(1, size // 2))]
        while len(pool) > 1:
            take = min(len(pool), self.random.choice((1, 1, 2, 2, 2, 3, 4)))
            # Mostly the newest parts, which grows deep trees; sometimes the oldest, which grows wide ones.
            cut = len(pool) - take if self.random.random() < 0.8 else 0
            parts = pool[cut : cut + take]
            pool[cut : cut + take] = [self.operation(parts)]
        return pool[0]

    def leaf(self) -> e.Expr:
        make = self.choose(_LEAVES)
        return make(self)

    def operation(self, parts: list[e.Expr]) -> e.Expr:
        r = self.random
        a, b, c = (*parts, *parts, *parts)[:3]
        name = self.choose(NAMES)
        match self.choose(_OPERATIONS):
            case e.BinOp:
                return e.BinOp(self.choose(tuple(BinaryOp)), a, b)
            case e.UnOp:
                return e.UnOp(self.choose(tuple(UnaryOp)), a)
            case e.Load:
                return e.Load(name, a)
            case e.Call:
                return e.Call(self.choose(OP_IDS), tuple(parts))
            case e.Select:
                return e.Select(a, b, c)
            case e.Cast:
                return e.Cast(self.choose(TYPES), a)
            case e.Convert:
                return e.Convert(self.choose(TYPES), self.choose(tuple(RoundMode)), a)
            case e.Lane:
                return e.Lane(a, r.choice((0, 1, 2, 3, 255)))
            case e.MakeVec:
                return e.MakeVec(self.choose(TYPES), tuple(parts))
            case e.FMulAdd:
                return e.FMulAdd(a, b, c)
            case e.Atomic:
                op = self.choose(tuple(AtomicOp))
                return e.Atomic(op, name, a, b, c if op is AtomicOp.CompareExchange else None)
            case e.FReduce:
                return e.FReduce(self.choose(tuple(ReduceOrder)), self.choose(tuple(ReduceOp)), name, a, b)
            case e.FReduceApprox:
                return e.FReduceApprox(self.choose(tuple(ReduceOp)), name, a, b, 1 + self.number(31))
            case _:
                return e.Approx(self.choose(tuple(ApproxOp)), a, 1 + self.number(31))

    def body(self, levels: int, width: int = 4) -> tuple[n.Node, ...]:
        return tuple(self.statement(levels) for _ in range(self.random.randrange(width)))

    def statement(self, levels: int) -> n.Node:
        size = self.random.choice((1, 1, 4, 10, 30))
        kinds = n.NODE_KINDS if levels else (n.Let, n.Assign, n.Store, n.Return, n.Barrier, n.Break)
        name = self.choose(NAMES)
        match self.choose(kinds):
            case n.Let:
                return n.Let(name, self.expression(size))
            case n.Assign:
                return n.Assign(name, self.expression(size))
            case n.Store:
                return n.Store(name, self.expression(size), self.expression(size))
            case n.If:
                return n.If(self.expression(size), self.body(levels - 1), self.body(levels - 1))
            case n.Loop:
                return n.Loop(name, self.expression(size), self.expression(size), self.body(levels - 1))
            case n.Block:
                return n.Block(self.body(levels - 1))
            case n.Return:
                return n.Return()
            case n.Break:
                return n.Break()
            case _:
                return n.Barrier()

    def buffer(self) -> BufferDecl:
        r = self.random
        odd = (-1, 1 << 40, -(1 << 70), 1 << 5000)
        binding = r.choice((None, 0, 3, self.number(32), *odd))
        count = r.choice((0, 0, 1, self.number(32), *odd))
        access, element, data = self.choose(tuple(BufferAccess)), self.choose(TYPES), b""
        if access is BufferAccess.Constant:
            count = r.randrange(20)
            data = r.randbytes(count * element.stride)
        return BufferDecl(self.choose(NAMES), binding, access, element, count, data)

    def program(self) -> Program:
        r = self.random
        size = tuple(r.choice((0, 1, 64, -3, 1 << 33)) for _ in range(3))
        return Program([self.buffer() for _ in range(r.randrange(5))], size, self.body(4, 8))


_LEAVES: Final[tuple[Callable[[Builder], e.Expr], ...]] = (
    lambda b: e.LitU32(b.number(32)),
    lambda b: e.LitI32(b.number(32) - (1 << 31)),
    lambda b: e.LitI32(b.random.choice((-5, 5, 0, -1, (1 << 31) - 1))),
    lambda b: e.LitBool(b.choose((True, False))),
    lambda b: _literal(b, b.choose(LITERAL_TYPES)),
    lambda b: e.Var(b.choose(NAMES)),
    lambda b: e.BufLen(b.choose(NAMES)),
    lambda b: e.InvocationId(b.random.randrange(4)),
    lambda b: e.WorkgroupId(b.random.randrange(256)),
    lambda b: e.LocalId(b.random.randrange(3)),
    lambda b: e.Call(b.choose(OP_IDS), ()),
    lambda b: e.MakeVec(b.choose(TYPES), ()),
)
_OPERATIONS: Final = (*e.EXPR_KINDS[e.EXPR_KINDS.index(e.BinOp) :], e.Load, e.BinOp, e.BinOp)


@pytest.fixture(scope="session")
def programs() -> list[Program]:
    return [Builder(seed).program() for seed in range(400)]


@pytest.fixture(scope="session")
def odd_names() -> set[str]:
    return set(NAMES)


@pytest.fixture(scope="session")
def odd_op_ids() -> set[str]:
    return set(OP_IDS)


def _literal(b: Builder, kind: DataType) -> e.Expr:
    return e.Literal(kind, b.number(kind.bits))
