"""Atomics that are wrong: lost where they meet, torn apart, out of bounds, signed, or another op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.parts import on_expr, on_node, shared
from vyre.conform.verify.stages import atomics
from vyre.ir.expr import Atomic, BinOp, BufLen, Expr, InvocationId, LitU32, Load, LocalId, Select, Var
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.operators import AtomicOp, BinaryOp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.mutant import Mutant
    from lab.mutants.parts import ExprFault
    from vyre.ir.program import Program

    Build = Callable[[Program, Atomic], Expr]

_OTHER = {
    AtomicOp.Add: AtomicOp.Or,
    AtomicOp.Or: AtomicOp.Xor,
    AtomicOp.And: AtomicOp.Or,
    AtomicOp.Xor: AtomicOp.Or,
    AtomicOp.Min: AtomicOp.Max,
    AtomicOp.Max: AtomicOp.Min,
    AtomicOp.Exchange: AtomicOp.Add,
}
_COMBINES = {
    AtomicOp.Add: BinaryOp.Add,
    AtomicOp.Or: BinaryOp.BitOr,
    AtomicOp.And: BinaryOp.BitAnd,
    AtomicOp.Xor: BinaryOp.BitXor,
}
_FRESH = {AtomicOp.Or: "0x1,0x2", AtomicOp.Max: "0x1,0x3", AtomicOp.And: "0x3,0x5"}


def _of(op: AtomicOp, build: Build) -> ExprFault:
    return lambda p, x: build(p, x) if isinstance(x, Atomic) and x.op is op else x


def _moved(x: Atomic, index: Expr) -> Atomic:
    return Atomic(x.op, x.buffer, index, x.value, x.expected)


def _lost(p: Program, x: Atomic) -> Expr:
    """Of many that meet on a few cells, some neither read nor write."""
    meets = (InvocationId(0) & 7).eq(5).and_(x.index < 3).and_(BufLen(x.buffer) < 64)
    return _moved(x, Select(meets, LitU32(0xFFFF_FFFF), x.index))


def _lost_in_shared(p: Program, x: Atomic) -> Expr:
    return _lost(p, x) if shared(p, x.buffer) else x


def _garbled(p: Program, x: Atomic) -> Expr:
    return Select(LocalId(0).eq(63), LitU32(0x0BAD_0BAD), x)


def _outside(p: Program, x: Atomic) -> Expr:
    last = BufLen(x.buffer) - 1
    return _moved(x, Select(x.index > last, last, x.index))


def _after(p: Program, x: Atomic) -> Expr:
    return BinOp(_COMBINES[x.op], x, x.value) if x.op in _COMBINES else x.value


def _swapped(p: Program, x: Atomic) -> Expr:
    return Atomic(_OTHER[x.op], x.buffer, x.index, x.value)


def _always(p: Program, x: Atomic) -> Expr:
    """Exchanges whatever is there."""
    return Atomic(AtomicOp.Exchange, x.buffer, x.index, x.value)


def _never(p: Program, x: Atomic) -> Expr:
    """Reads and leaves what is there."""
    return Atomic(AtomicOp.Or, x.buffer, x.index, LitU32(0))


def _signed(p: Program, x: Atomic) -> Expr:
    """Operands from 2^31 on count as less than all others."""
    return Atomic(x.op, x.buffer, x.index, Select(x.value >> 31, LitU32(0), x.value))


def _two_steps(p: Program, n: Node) -> list[Node]:
    """An addition as a load and a store: two invocations between them lose one."""
    if not isinstance(n, Store) or not isinstance(n.value, Atomic) or n.value.op is not AtomicOp.Add:
        return [n]
    x = n.value
    write = Store(x.buffer, x.index, Load(x.buffer, x.index) + x.value)
    before = Let("torn_before", Load(x.buffer, x.index))
    return [before, If((InvocationId(0) % 3).ne(1), (write,)), Store(n.buffer, n.index, Var("torn_before"))]


def mutants() -> Iterator[Mutant]:
    for op in AtomicOp:
        name = op.value
        turn = 2 if op is AtomicOp.And else 0
        many, within = (atomics.STAGE.case(f"{where} {name}", turn) for where in ("storage", "workgroup"))
        yield on_expr("lost atomic", f"{name} in storage", _of(op, _lost), many)
        yield on_expr("lost atomic", f"{name} in workgroup memory", _of(op, _lost_in_shared), within)
        yield on_expr("atomic returns something else", name, _of(op, _garbled), many)
        outside = atomics.STAGE.case(f"storage {name}")
        yield on_expr("atomic out of bounds", name, _of(op, _outside), outside)
        if op in _OTHER:
            words = _FRESH.get(op, "0x3,0x1")
            ident = f"atomic.{name.lower()}/inputs/"
            shown = "0x3,0x1" if op is AtomicOp.Or else words
            yield on_expr("another atomic", name, _of(op, _swapped), f"{ident}{shown}")
            yield on_expr("atomic returns the new value", name, _of(op, _after), f"{ident}{words}")
    for op in (AtomicOp.Min, AtomicOp.Max):
        witness = f"atomic.{op.value.lower()}/inputs/0x1,0x80000000"
        yield on_expr("signed atomic", op.value, _of(op, _signed), witness)
    exchange, ident = AtomicOp.CompareExchange, "atomic.compare_exchange/inputs/"
    yield on_expr("compare-exchange", "without the compare", _of(exchange, _always), f"{ident}0x1,0x2,0x3")
    yield on_expr("compare-exchange", "without the exchange", _of(exchange, _never), f"{ident}0x1,0x2,0x1")
    yield on_node("atomic made of two steps", "Add", _two_steps, atomics.STAGE.case("storage Add"))
