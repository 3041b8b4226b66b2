"""Random well-typed expressions over a scope, every node kind and type reachable.

They are alive: what a node computes nearly always shows in the value of the whole, or was handed to
`Scope.watch` where an operation would lose it.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from vyre.conform.generate import operands
from vyre.conform.generate.buffers import ordinary_bits, random_bits
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
    from vyre.conform.generate.scope import Scope

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
        """Any value, the special ones often; of floats few, since NaN and infinity spread."""
        if t.is_float and self.rng.randrange(8):
            return self.ordinary(t)
        return _literal(t, random_bits(self.rng, t))

    def ordinary(self, t: DataType, *, scale: int = 0) -> Expr:
        """A literal that operations seldom swallow."""
        return _literal(t, ordinary_bits(self.rng, t, scale=scale))

    def small(self, t: DataType, value: int) -> Expr:
        """A literal of an integer type."""
        return _literal(t, value)

    def one(self, t: DataType) -> Expr:
        """1 as a float."""
        return Literal(t, _ONE[t])

    def varies(self, expr: Expr) -> bool:
        """Whether an operand is more than a literal or a number that few invocations have."""
        return isinstance(expr, Var) or bool(expr.children)

    def word(self, scope: Scope, t: DataType = _T.U32) -> Expr:
        """A value that takes many values: a variable if there is one, a float close to 1."""
        names = scope.wide if scope.wide and self.rng.randrange(3) else ()
        names = names or [n for n, vt in scope.variables if vt is _T.U32] or scope.wide
        word: Expr = Var(self.rng.choice(names)) if names else self._leaf_u32(scope)
        match t:
            case _T.U32:
                return word
            case _ if t.is_float:
                return operands.near_one(word, t)
            case _ if t in LANE_TYPES:
                lanes = tuple(self.rng.choice((word, self.ordinary(_T.U32))) for _ in range(t.lanes - 1))
                return MakeVec(t, (word, *lanes))
            case _:
                return Cast(t, self.bit(scope) if t is _T.Bool else word)

    def fair(self, scope: Scope) -> Expr:
        """A U32 that is 0 in about half of the invocations, where a wide variable is known."""
        if not scope.wide:
            return self.bit(scope)
        # A product mixes upwards, so the upper bits of a digest depend on most of what went in.
        mask = 1 << self.rng.randrange(16, 32)
        return BinOp(BinaryOp.BitAnd, Var(self.rng.choice(scope.wide)), LitU32(mask))

    def bit(self, scope: Scope) -> Expr:
        """A U32 of which only one bit may be set, mostly in about half of the invocations."""
        if scope.wide and self.rng.randrange(12):
            return self.fair(scope)
        return BinOp(BinaryOp.BitAnd, self.word(scope), LitU32(1))

    def truth(self, scope: Scope, t: DataType, depth: int) -> Expr:
        """A condition of type U32 or Bool."""
        if t is _T.Bool:
            return Cast(t, self.truth(scope, _T.U32, depth - 1))
        choices = [(op, s) for op, s in _BINARY[_T.U32] if op.row.truth and s in self.types]
        if depth <= 0 or self.rng.randrange(3) == 0:
            return self.bit(scope)
        op, operand = self.rng.choice(choices)
        return operands.binary(self, scope, op, operand, depth - 1)

    def observed(self, scope: Scope, t: DataType, depth: int) -> Expr:
        """An expression for an operation that loses some of its operand, so the operand itself is watched."""
        return self.noted(scope, self.expr(scope, t, depth), t)

    def noted(self, scope: Scope, value: Expr, t: DataType) -> Expr:
        """The value, watched unless it is a leaf."""
        return value if scope.watch is None or not value.children else scope.watch(value, t)

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
            lossy = rng.randrange(10) == 0
            ops = (BinaryOp.Lt, BinaryOp.Mod, BinaryOp.Eq) if lossy else (BinaryOp.Add, BinaryOp.BitXor)
            left, right = self.uniform(scope, depth - 1), self.uniform(scope, depth - 1)
            choices.append(lambda: BinOp(rng.choice(ops), left, LitU32(3) if left is right else right))
        return rng.choice(choices)()

    def index(self, scope: Scope, length: int, depth: int) -> Expr:
        """An index that mostly falls inside `length` elements, sometimes far outside."""
        rng = self.rng
        if rng.randrange(32) == 0:
            return self.observed(scope, _T.U32, depth - 1)
        if length == 1:
            return LitU32(0)
        inner = self.observed(scope, _T.U32, depth - 1)
        if not self.varies(inner) and rng.randrange(4):
            inner = self.word(scope)
        return BinOp(BinaryOp.Mod, inner, LitU32(length + (rng.randrange(4) == 0)))

    def condition(self, scope: Scope, depth: int) -> Expr:
        wanted = _T.Bool if _T.Bool in self.types and self.rng.randrange(3) == 0 else _T.U32
        if wanted is _T.U32 and self.rng.randrange(2):
            return self.bit(scope)
        return self.truth(scope, wanted, depth)

    def expr(self, scope: Scope, t: DataType, depth: int) -> Expr:
        """An expression of type `t` with at most about `depth` levels."""
        rng = self.rng
        named = [n for n, vt in scope.variables if vt is t]
        if depth <= 0 or rng.randrange(10) == 0:
            if named and rng.randrange(4):
                return Var(rng.choice(named))
            if t is _T.U32 and rng.randrange(3) == 0:
                return self._leaf_u32(scope)
            return self.word(scope, t) if scope.wide and rng.randrange(2) else self.literal(t)
        pick = rng.randrange(100)
        if pick < 16 and (found := self._memory(scope, t, depth)) is not None:
            return found
        if pick < 22 and named:
            return Var(rng.choice(named))
        if pick < 30 and self._ops[t]:
            op = rng.choice(self._ops[t])
            return Call(op.id, self._arguments(scope, op, depth - 1))
        if pick < 38:
            cond = self.condition(scope, depth - 1)
            yes, no = self.observed(scope, t, depth - 1), self.observed(scope, t, depth - 1)
            while yes is no:
                no = self.literal(t)
            return Select(cond, yes, no)
        if pick < 54 and (found := self._conversion(scope, t, depth)) is not None:
            return found
        return self._operation(scope, t, depth)

    def _arguments(self, scope: Scope, op: Op, depth: int) -> tuple[Expr, ...]:
        """Arguments of a call; an op that is one operator gets what that operator would."""
        types = tuple(p.type for p in op.params)
        plain = all(isinstance(x, Var) for x in op.result.children) if op.result is not None else False
        match op.result:
            case BinOp(op=operator) if plain and len(types) == 2 and types[0] is types[1]:
                return operands.binary(self, scope, operator, types[0], depth).children
            case UnOp(op=operator) if plain and len(types) == 1:
                return operands.unary(self, scope, operator, types[0], depth).children
            case _:
                pass
        arguments: list[Expr] = []
        for t in types:
            drawn = self.observed(scope, t, depth)
            arguments.append(self.ordinary(t) if drawn in arguments else drawn)
        return tuple(arguments)

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
                kinds.append(lambda d=decl: Load(d.name, self.index(scope, self._size(scope, d), depth)))
            if decl.element is t and t in FLOAT_TYPES:
                kinds.append(lambda d=decl: self.reduction(scope, d))
        for decl, slot in scope.own.values():
            if decl.element.loaded is t:
                kinds.append(lambda d=decl, s=slot: Load(d.name, s))
            if decl.element is t is _T.U32 and decl.access.atomic:
                kinds.append(lambda d=decl, s=slot: self._own_atomic(scope, d.name, s, depth))
        return rng.choice(kinds)() if kinds else None

    def _size(self, scope: Scope, decl: BufferDecl) -> int:
        return decl.count or scope.sizes.get(decl.name, 8)

    def _own_atomic(self, scope: Scope, buffer: str, slot: Expr, depth: int) -> Expr:
        op = self.rng.choice(tuple(AtomicOp))
        value = self.expr(scope, _T.U32, min(depth - 1, 1))
        expected: Expr | None = None
        if op is AtomicOp.CompareExchange:
            expected = Load(buffer, slot) if self.rng.randrange(4) else self.expr(scope, _T.U32, 0)
        return Atomic(op, buffer, slot, value, expected)

    def reduction(self, scope: Scope, decl: BufferDecl) -> Expr:
        """A fold over a few elements of a float buffer."""
        rng = self.rng
        start = LitU32(rng.choice((0, 0, 0, 1, 1, 3)))
        number = self.observed(scope, _T.U32, 1) if rng.randrange(2) else self.word(scope)
        most = max(2, self._size(scope, decl) + rng.randrange(2))
        stop = BinOp(BinaryOp.Mod, number, LitU32(most))
        if rng.randrange(6):  # otherwise it may be empty
            stop = BinOp(BinaryOp.Add, stop, LitU32(start.value + 1))
        op = rng.choice((*ReduceOp, ReduceOp.Add, ReduceOp.Mul, ReduceOp.Add))
        if self._approximate and rng.randrange(3) == 0:
            return FReduceApprox(op, decl.name, start, stop, rng.randrange(1, 9))
        return FReduce(rng.choice(tuple(ReduceOrder)), op, decl.name, start, stop)

    def _conversion(self, scope: Scope, t: DataType, depth: int) -> Expr | None:
        rng = self.rng
        kinds: list[Callable[[], Expr]] = [
            lambda s=source: operands.cast(self, scope, t, s, depth - 1)
            for source, target in CAST_TABLE
            if target is t and source in self.types
        ]
        kinds += [
            lambda s=source, m=mode: operands.convert(self, scope, t, m, s, depth - 1)
            for source, mode in product(self.types, RoundMode)
            if convert_type(t, mode, source) is not None
        ]
        if t is _T.U32:
            kinds += [
                lambda s=source: Lane(self.observed(scope, s, depth - 1), rng.randrange(s.lanes))
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
        functions = self._functions and rng.randrange(5) < 2
        for op, operand in _BINARY[t]:
            if operand in self.types and (functions or op not in FUNCTION_BINARY_OPS):
                kinds.append(lambda o=op, s=operand: operands.binary(self, scope, o, s, depth - 1))
        for op, operand in _UNARY[t]:
            if operand in self.types and (functions or op not in FUNCTION_UNARY_OPS):
                kinds.append(lambda o=op, s=operand: operands.unary(self, scope, o, s, depth - 1))
        if t in FLOAT_TYPES:
            kinds += 2 * [
                lambda: FMulAdd(*(operands.float_operand(self, scope, t, depth - 1) for _ in range(3)))
            ]
            if self._approximate and t is not _T.F64:
                kinds += [
                    lambda o=op: Approx(o, self.observed(scope, t, depth - 1), rng.randrange(1, 9))
                    for op in ApproxOp
                ]
        if not kinds:  # lane types and Bool have no operators of their own
            found = self._conversion(scope, t, depth)
            return self.literal(t) if found is None else found
        return rng.choice(kinds)()


_ONE = {_T.F32: 0x3F80_0000, _T.F16: 0x3C00, _T.BF16: 0x3F80, _T.F64: 0x3FF0 << 48}


def _literal(t: DataType, bits: int) -> Expr:
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
