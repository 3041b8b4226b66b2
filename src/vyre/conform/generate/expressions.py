"""Random well-typed expressions over a scope, every node kind and type reachable."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import random_bits
from vyre.ir import (
    Approx,
    ApproxOp,
    Atomic,
    AtomicOp,
    BinaryOp,
    BinOp,
    BufferDecl,
    BufLen,
    Call,
    Cast,
    Convert,
    DataType,
    Expr,
    FMulAdd,
    FReduce,
    FReduceApprox,
    InvocationId,
    Lane,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    MakeVec,
    ReduceOp,
    ReduceOrder,
    RoundMode,
    Select,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.operators import FUNCTION_BINARY_OPS, FUNCTION_UNARY_OPS
from vyre.ir.types import FLOAT_TYPES, LANE_TYPES, VALUE_TYPES
from vyre.ir.typing import CAST_TABLE, binary_type, convert_type, unary_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from vyre.compose import Op

_T = DataType
_FUNCTIONS = FUNCTION_BINARY_OPS | FUNCTION_UNARY_OPS

_BINARY: dict[DataType, list[tuple[BinaryOp, DataType]]] = {t: [] for t in DataType}
_UNARY: dict[DataType, list[tuple[UnaryOp, DataType]]] = {t: [] for t in DataType}
for _op, _operand in product(BinaryOp, VALUE_TYPES):
    if (_result := binary_type(_op, _operand, _operand)) is not None:
        _BINARY[_result].append((_op, _operand))
for _op, _operand in product(UnaryOp, VALUE_TYPES):
    if (_result := unary_type(_op, _operand)) is not None:
        _UNARY[_result].append((_op, _operand))


@dataclass(slots=True)
class Scope:
    """What an expression may name at one point of the program.

    `own` maps buffers to an index expression that no other invocation uses, so that loads, stores
    and every kind of atomic there are free of races and of order. `readable` are buffers that any
    invocation may read at any index right now. `uniform` lists variables equal in the workgroup.
    """

    readable: list[BufferDecl] = field(default_factory=list[BufferDecl])
    own: dict[str, tuple[BufferDecl, Expr]] = field(default_factory=dict[str, tuple[BufferDecl, Expr]])
    variables: list[tuple[str, DataType]] = field(default_factory=list[tuple[str, DataType]])
    uniform: list[str] = field(default_factory=list[str])
    lengths: list[str] = field(default_factory=list[str])


class ExpressionGenerator:
    """Draws expressions of a wanted type; all randomness comes from the given generator."""

    def __init__(
        self, rng: Random, types: Sequence[DataType], ops: Sequence[Op], *, functions: bool, approximate: bool
    ) -> None:
        self.rng = rng
        self.types = tuple(types)
        self._functions = functions
        self._approximate = approximate
        allowed = set(types)
        self._ops: dict[DataType, list[Op]] = {t: [] for t in DataType}
        for op in ops:
            slow = not functions and getattr(op.result, "op", None) in _FUNCTIONS
            if op.output in allowed and all(p.type in allowed for p in op.params) and not slow:
                self._ops[op.output].append(op)

    def literal(self, t: DataType) -> Expr:
        bits = random_bits(self.rng, t)
        match t:
            case _T.U32:
                return LitU32(bits)
            case _T.I32:
                return LitI32(bits - (1 << 32) if bits >> 31 else bits)
            case _T.Bool:
                return LitBool(bool(bits))
            case _T.Vec2U32 | _T.Vec4U32:
                lanes = tuple(LitU32((bits >> (32 * i)) & 0xFFFFFFFF) for i in range(t.lanes))
                return MakeVec(t, lanes)
            case _:
                return Literal(t, bits)

    def uniform(self, scope: Scope, depth: int) -> Expr:
        """A U32 that is the same in all invocations of a workgroup (decision 14)."""
        rng = self.rng
        choices: list[Callable[[], Expr]] = [
            lambda: LitU32(rng.randrange(6)),
            lambda: WorkgroupId(rng.randrange(3)),
        ]
        if scope.lengths:
            choices.append(lambda: BufLen(rng.choice(scope.lengths)))
        if scope.uniform:
            choices.append(lambda: Var(rng.choice(scope.uniform)))
        tables = [b for b in scope.readable if b.element is _T.U32 and not b.access.writable]
        if tables:
            choices.append(lambda: Load(rng.choice(tables).name, LitU32(rng.randrange(5))))
        if depth > 0:
            ops = (BinaryOp.Add, BinaryOp.BitXor, BinaryOp.Lt, BinaryOp.Mod, BinaryOp.Eq)
            choices.append(
                lambda: BinOp(rng.choice(ops), self.uniform(scope, depth - 1), self.uniform(scope, depth - 1))
            )
        return rng.choice(choices)()

    def index(self, scope: Scope, length: int, depth: int) -> Expr:
        """An index that mostly falls inside `length` elements, sometimes far outside."""
        rng = self.rng
        inner = self.expr(scope, _T.U32, depth - 1)
        if length == 0 or rng.randrange(8) == 0:
            return inner
        return BinOp(BinaryOp.Mod, inner, LitU32(length + rng.randrange(2)))

    def condition(self, scope: Scope, depth: int) -> Expr:
        wanted = _T.Bool if _T.Bool in self.types and self.rng.randrange(3) == 0 else _T.U32
        return self.expr(scope, wanted, depth)

    def expr(self, scope: Scope, t: DataType, depth: int) -> Expr:
        """An expression of type `t` with at most about `depth` levels."""
        rng = self.rng
        named = [n for n, vt in scope.variables if vt is t]
        if depth <= 0 or rng.randrange(10) == 0:
            if named and rng.randrange(4):
                return Var(rng.choice(named))
            if t is _T.U32 and rng.randrange(3) == 0:
                return self._leaf_u32(scope)
            return self.literal(t)
        pick = rng.randrange(100)
        if pick < 16 and (found := self._memory(scope, t, depth)) is not None:
            return found
        if pick < 22 and named:
            return Var(rng.choice(named))
        if pick < 30 and self._ops[t]:
            op = rng.choice(self._ops[t])
            return Call(op.id, tuple(self.expr(scope, p.type, depth - 1) for p in op.params))
        if pick < 38:
            cond = self.condition(scope, depth - 1)
            return Select(cond, self.expr(scope, t, depth - 1), self.expr(scope, t, depth - 1))
        if pick < 54 and (found := self._conversion(scope, t, depth)) is not None:
            return found
        return self._operation(scope, t, depth)

    def _leaf_u32(self, scope: Scope) -> Expr:
        rng = self.rng
        kinds: list[Callable[[], Expr]] = [
            lambda: InvocationId(rng.randrange(3)),
            lambda: LocalId(rng.randrange(3)),
            lambda: WorkgroupId(rng.randrange(3)),
        ]
        if scope.lengths:
            kinds.append(lambda: BufLen(rng.choice(scope.lengths)))
        return rng.choice(kinds)()

    def _memory(self, scope: Scope, t: DataType, depth: int) -> Expr | None:
        rng = self.rng
        kinds: list[Callable[[], Expr]] = []
        for decl in scope.readable:
            if decl.element.loaded is t:
                kinds.append(lambda d=decl: Load(d.name, self.index(scope, d.count or 8, depth)))
            if decl.element is t and t in FLOAT_TYPES:
                kinds.append(lambda d=decl: self.reduction(scope, d))
        for decl, slot in scope.own.values():
            if decl.element.loaded is t:
                kinds.append(lambda d=decl, s=slot: Load(d.name, s))
            if decl.element is t is _T.U32 and decl.access.atomic:
                kinds.append(lambda d=decl, s=slot: self._own_atomic(scope, d.name, s, depth))
        return rng.choice(kinds)() if kinds else None

    def _own_atomic(self, scope: Scope, buffer: str, slot: Expr, depth: int) -> Expr:
        op = self.rng.choice(tuple(AtomicOp))
        value = self.expr(scope, _T.U32, min(depth - 1, 1))
        expected = self.expr(scope, _T.U32, 0) if op is AtomicOp.CompareExchange else None
        return Atomic(op, buffer, slot, value, expected)

    def reduction(self, scope: Scope, decl: BufferDecl) -> Expr:
        """A fold over a few elements of a float buffer."""
        rng = self.rng
        start = LitU32(rng.randrange(4))
        stop = BinOp(BinaryOp.Mod, self.expr(scope, _T.U32, 1), LitU32(9))
        op = rng.choice(tuple(ReduceOp))
        if self._approximate and rng.randrange(3) == 0:
            return FReduceApprox(op, decl.name, start, stop, rng.randrange(1, 9))
        return FReduce(rng.choice(tuple(ReduceOrder)), op, decl.name, start, stop)

    def _conversion(self, scope: Scope, t: DataType, depth: int) -> Expr | None:
        rng = self.rng
        kinds: list[Callable[[], Expr]] = [
            lambda s=source: Cast(t, self.expr(scope, s, depth - 1))
            for source, target in CAST_TABLE
            if target is t and source in self.types
        ]
        kinds += [
            lambda s=source, m=mode: Convert(t, m, self.expr(scope, s, depth - 1))
            for source, mode in product(self.types, RoundMode)
            if convert_type(t, mode, source) is not None
        ]
        if t is _T.U32:
            kinds += [
                lambda s=source: Lane(self.expr(scope, s, depth - 1), rng.randrange(s.lanes))
                for source in self.types
                if source in LANE_TYPES
            ]
        if t in LANE_TYPES:
            kinds += 2 * [
                lambda: MakeVec(t, tuple(self.expr(scope, _T.U32, depth - 1) for _ in range(t.lanes)))
            ]
        return rng.choice(kinds)() if kinds else None

    def _operation(self, scope: Scope, t: DataType, depth: int) -> Expr:
        rng = self.rng
        kinds: list[Callable[[], Expr]] = []
        for op, operand in _BINARY[t]:
            if operand in self.types and (self._functions or op not in FUNCTION_BINARY_OPS):
                kinds.append(
                    lambda o=op, s=operand: BinOp(
                        o, self.expr(scope, s, depth - 1), self.expr(scope, s, depth - 1)
                    )
                )
        for op, operand in _UNARY[t]:
            if operand in self.types and (self._functions or op not in FUNCTION_UNARY_OPS):
                kinds.append(lambda o=op, s=operand: UnOp(o, self.expr(scope, s, depth - 1)))
        if t in FLOAT_TYPES:
            kinds += 2 * [
                lambda: FMulAdd(
                    self.expr(scope, t, depth - 1),
                    self.expr(scope, t, depth - 1),
                    self.expr(scope, t, depth - 1),
                )
            ]
            if self._approximate and t is not _T.F64:
                kinds += [
                    lambda o=op: Approx(o, self.expr(scope, t, depth - 1), rng.randrange(1, 9))
                    for op in ApproxOp
                ]
        if not kinds:  # lane types and Bool have no operators of their own
            found = self._conversion(scope, t, depth)
            return self.literal(t) if found is None else found
        return rng.choice(kinds)()
