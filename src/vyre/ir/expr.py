"""Expressions: immutable, interned trees. The operand order of a node is its evaluation order.

    literals     LitU32 LitI32 LitBool Literal(type, bits)
    values       Var Load BufLen InvocationId WorkgroupId LocalId
    operations   BinOp UnOp Select Cast Convert Lane MakeVec FMulAdd Call
    memory       Atomic FReduce FReduceApprox
    approximate  Approx FReduceApprox

Python operators build integer operations: `a + b`, `a < b`, `~a`. Equality of expressions is
structural, so the comparison operation is `a.eq(b)`; float operations have their own names
(`fadd(a, b)`), because strictness is a property of the operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from vyre.errors import VyreError
from vyre.ir.float_bits import converted, double_bits
from vyre.ir.interning import Interned
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
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SIZE_CAP = 1 << 40
_set = object.__setattr__


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Expr(metaclass=Interned):
    """Base of all expressions. `size` counts tree nodes (saturating), `depth` tree levels."""

    children: tuple[Expr, ...] = field(init=False)
    size: int = field(init=False)
    depth: int = field(init=False)

    def _seal(self, *children: Expr) -> None:
        size = 1
        depth = 0
        for child in children:
            if not isinstance(child, Expr):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise VyreError(
                    f"{type(self).__name__} got {child!r}, which is not an expression.",
                    fix="wrap numbers in a literal such as LitU32(1), or use lift().",
                )
            size += child.size
            if child.depth > depth:
                depth = child.depth
        _set(self, "children", children)
        _set(self, "size", size if size < _SIZE_CAP else _SIZE_CAP)
        _set(self, "depth", depth + 1)

    def __repr__(self) -> str:
        return _brief(self, 3)

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: Any) -> Expr:
        return self

    def __bool__(self) -> NoReturn:
        raise VyreError(
            "an expression has no truth value while the program is being built.",
            fix="use Select or If for a choice, `.and_()`/`.or_()` for logic, `is` to compare nodes.",
        )

    def __add__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Add, self, lift(other))

    def __radd__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Add, lift(other), self)

    def __sub__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Sub, self, lift(other))

    def __rsub__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Sub, lift(other), self)

    def __mul__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Mul, self, lift(other))

    def __rmul__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Mul, lift(other), self)

    def __floordiv__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Div, self, lift(other))

    def __rfloordiv__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Div, lift(other), self)

    def __mod__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Mod, self, lift(other))

    def __rmod__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Mod, lift(other), self)

    def __and__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.BitAnd, self, lift(other))

    def __rand__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.BitAnd, lift(other), self)

    def __or__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.BitOr, self, lift(other))

    def __ror__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.BitOr, lift(other), self)

    def __xor__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.BitXor, self, lift(other))

    def __rxor__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.BitXor, lift(other), self)

    def __lshift__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Shl, self, lift(other))

    def __rlshift__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Shl, lift(other), self)

    def __rshift__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Shr, self, lift(other))

    def __rrshift__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Shr, lift(other), self)

    def __lt__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Lt, self, lift(other))

    def __gt__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Gt, self, lift(other))

    def __le__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Le, self, lift(other))

    def __ge__(self, other: Operand) -> BinOp:
        return BinOp(BinaryOp.Ge, self, lift(other))

    def __neg__(self) -> UnOp:
        return UnOp(UnaryOp.Negate, self)

    def __invert__(self) -> UnOp:
        return UnOp(UnaryOp.BitNot, self)

    def eq(self, other: Operand) -> BinOp:
        """The operation `Eq`; the Python operator `==` compares the expressions themselves."""
        return BinOp(BinaryOp.Eq, self, lift(other))

    def ne(self, other: Operand) -> BinOp:
        """The operation `Ne`."""
        return BinOp(BinaryOp.Ne, self, lift(other))

    def and_(self, other: Operand) -> BinOp:
        """Logical `And`; both operands are always evaluated."""
        return BinOp(BinaryOp.And, self, lift(other))

    def or_(self, other: Operand) -> BinOp:
        """Logical `Or`; both operands are always evaluated."""
        return BinOp(BinaryOp.Or, self, lift(other))

    def cast(self, target: DataType) -> Cast:
        return Cast(target, self)

    def lane(self, index: int) -> Lane:
        return Lane(self, index)


Operand = Expr | int | bool


def lift(value: Operand) -> Expr:
    """An expression as it is; a Python int as LitU32; a bool as LitBool."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool):
        return LitBool(value)
    if isinstance(value, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        return LitU32(value)
    raise VyreError(
        f"{value!r} cannot become an expression on its own.",
        fix="use a literal of the type you mean, such as f32(1.5), LitI32(-1) or LitU32(1).",
    )


def _require_int(owner: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise VyreError(
            f"{owner} takes an int from {low} to {high}, not {_shown(value)}.",
            fix="pass a number in that range.",
        )


def _shown(value: object) -> str:
    """A value for a message; Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an int of {value.bit_length()} bits"
    return repr(value)


def _require_name(owner: str, value: object) -> None:
    if not isinstance(value, str):
        raise VyreError(f"{owner} takes a name, not {value!r}.", fix="pass a str.")


def _require_op(owner: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise VyreError(
            f"{owner} takes a {kind.__name__}, not {value!r}.", fix=f"pass a member of {kind.__name__}."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LitU32(Expr):
    _exact = int
    value: int

    def __post_init__(self) -> None:
        _require_int("LitU32", self.value, 0, U32_MAX)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LitI32(Expr):
    _exact = int
    value: int

    def __post_init__(self) -> None:
        _require_int("LitI32", self.value, -(1 << 31), (1 << 31) - 1)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LitBool(Expr):
    _exact = bool
    value: bool

    def __post_init__(self) -> None:
        _require_op("LitBool", self.value, bool)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expr):
    """A literal given by its bits: U64, U128 and the float types."""

    _exact = int
    type: DataType
    bits: int

    def __post_init__(self) -> None:
        if self.type not in WIDE_LITERAL_TYPES:
            raise VyreError(
                f"Literal has no {self.type}.",
                fix="use LitU32, LitI32 or LitBool, or MakeVec for a vector.",
            )
        _require_int(f"Literal of {self.type.value}", self.bits, 0, (1 << self.type.bits) - 1)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Var(Expr):
    name: str

    def __post_init__(self) -> None:
        _require_name("Var", self.name)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load(Expr):
    """Element `index` of a buffer; zero of the element type when out of bounds."""

    buffer: str
    index: Expr

    def __post_init__(self) -> None:
        _require_name("Load", self.buffer)
        self._seal(self.index)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BufLen(Expr):
    """Number of elements of a buffer (u32 words for Bytes)."""

    buffer: str

    def __post_init__(self) -> None:
        _require_name("BufLen", self.buffer)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InvocationId(Expr):
    """Global id of the invocation along `axis`."""

    _exact = int
    axis: int

    def __post_init__(self) -> None:
        _require_int("InvocationId", self.axis, 0, 255)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkgroupId(Expr):
    _exact = int
    axis: int

    def __post_init__(self) -> None:
        _require_int("WorkgroupId", self.axis, 0, 255)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocalId(Expr):
    """Id of the invocation inside its workgroup."""

    _exact = int
    axis: int

    def __post_init__(self) -> None:
        _require_int("LocalId", self.axis, 0, 255)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinOp(Expr):
    op: BinaryOp
    left: Expr
    right: Expr

    def __post_init__(self) -> None:
        _require_op("BinOp", self.op, BinaryOp)
        self._seal(self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnOp(Expr):
    op: UnaryOp
    operand: Expr

    def __post_init__(self) -> None:
        _require_op("UnOp", self.op, UnaryOp)
        self._seal(self.operand)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """A value call of a registered op; it vanishes by inlining."""

    _converts = True
    op_id: str
    args: tuple[Expr, ...]

    if TYPE_CHECKING:  # any iterable of expressions is accepted and kept as a tuple

        def __init__(self, op_id: str, args: Iterable[Expr]) -> None: ...

    def __post_init__(self) -> None:
        _require_name("Call", self.op_id)
        _set(self, "args", tuple(self.args))
        self._seal(*self.args)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Select(Expr):
    """`if_true` where the condition is not zero, else `if_false`; all three are evaluated."""

    condition: Expr
    if_true: Expr
    if_false: Expr

    def __post_init__(self) -> None:
        self._seal(self.condition, self.if_true, self.if_false)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cast(Expr):
    target: DataType
    value: Expr

    def __post_init__(self) -> None:
        _require_op("Cast", self.target, DataType)
        self._seal(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Convert(Expr):
    """Integer to float or float to integer by value, with a declared rounding (decision 6)."""

    target: DataType
    mode: RoundMode
    value: Expr

    def __post_init__(self) -> None:
        _require_op("Convert", self.target, DataType)
        _require_op("Convert", self.mode, RoundMode)
        self._seal(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lane(Expr):
    """One u32 lane of a U64, U128, Vec2U32 or Vec4U32."""

    _exact = int
    value: Expr
    index: int

    def __post_init__(self) -> None:
        _require_int("Lane", self.index, 0, 255)
        self._seal(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MakeVec(Expr):
    """A lane type from its u32 lanes, lane 0 first."""

    _converts = True
    type: DataType
    lanes: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(self, type: DataType, lanes: Iterable[Expr]) -> None: ...

    def __post_init__(self) -> None:
        _require_op("MakeVec", self.type, DataType)
        _set(self, "lanes", tuple(self.lanes))
        self._seal(*self.lanes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FMulAdd(Expr):
    """`a * b + c` with one rounding."""

    a: Expr
    b: Expr
    c: Expr

    def __post_init__(self) -> None:
        self._seal(self.a, self.b, self.c)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atomic(Expr):
    """A read-modify-write of one U32 element; gives the value before. `expected` is for CompareExchange."""

    op: AtomicOp
    buffer: str
    index: Expr
    value: Expr
    expected: Expr | None = None

    def __post_init__(self) -> None:
        _require_op("Atomic", self.op, AtomicOp)
        _require_name("Atomic", self.buffer)
        if (self.expected is not None) != (self.op is AtomicOp.CompareExchange):
            rule = "needs an" if self.expected is None else "takes no"
            raise VyreError(
                f"Atomic {self.op.value} {rule} `expected`.",
                fix="give `expected` to CompareExchange and to nothing else.",
            )
        extra = () if self.expected is None else (self.expected,)
        self._seal(self.index, self.value, *extra)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FReduce(Expr):
    """Fold of the float elements `start..stop` of a buffer, in a declared order (decision 9)."""

    order: ReduceOrder
    op: ReduceOp
    buffer: str
    start: Expr
    stop: Expr

    def __post_init__(self) -> None:
        _require_op("FReduce", self.order, ReduceOrder)
        _require_op("FReduce", self.op, ReduceOp)
        _require_name("FReduce", self.buffer)
        self._seal(self.start, self.stop)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FReduceApprox(Expr):
    """Fold in any order, within `tolerance_ulps` of the correctly rounded exact result."""

    _exact = int
    op: ReduceOp
    buffer: str
    start: Expr
    stop: Expr
    tolerance_ulps: int

    def __post_init__(self) -> None:
        _require_op("FReduceApprox", self.op, ReduceOp)
        _require_name("FReduceApprox", self.buffer)
        _require_int("FReduceApprox", self.tolerance_ulps, 1, U32_MAX)
        self._seal(self.start, self.stop)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Approx(Expr):
    """A function within `tolerance_ulps` of the correctly rounded result."""

    _exact = int
    op: ApproxOp
    value: Expr
    tolerance_ulps: int

    def __post_init__(self) -> None:
        _require_op("Approx", self.op, ApproxOp)
        _require_int("Approx", self.tolerance_ulps, 1, U32_MAX)
        self._seal(self.value)


EXPR_KINDS: tuple[type[Expr], ...] = (
    LitU32,
    LitI32,
    LitBool,
    Literal,
    Var,
    Load,
    BufLen,
    InvocationId,
    WorkgroupId,
    LocalId,
    BinOp,
    UnOp,
    Call,
    Select,
    Cast,
    Convert,
    Lane,
    MakeVec,
    FMulAdd,
    Atomic,
    FReduce,
    FReduceApprox,
    Approx,
)


def _float_binary(op: BinaryOp):  # noqa: ANN202 - the inner signature is the documentation
    def build(a: Expr, b: Expr) -> BinOp:
        return BinOp(op, a, b)

    build.__name__ = op.value.lower()
    build.__doc__ = f"The operation `{op.value}`."
    return build


fadd = _float_binary(BinaryOp.FAdd)
fsub = _float_binary(BinaryOp.FSub)
fmul = _float_binary(BinaryOp.FMul)
fdiv = _float_binary(BinaryOp.FDiv)


def mul_hi(a: Operand, b: Operand) -> BinOp:
    """High 32 bits of the 64-bit product."""
    return BinOp(BinaryOp.MulHi, lift(a), lift(b))


def f32(value: float) -> Literal:
    """The F32 literal nearest to a Python float (ties to even); NaN is the canonical NaN."""
    return Literal(DataType.F32, converted(DataType.F64, double_bits(value), DataType.F32))


def f64(value: float) -> Literal:
    """The F64 literal of a Python float; NaN is the canonical NaN."""
    return Literal(DataType.F64, converted(DataType.F64, double_bits(value), DataType.F64))


def u64(value: int) -> Literal:
    return Literal(DataType.U64, value)


def u128(value: int) -> Literal:
    return Literal(DataType.U128, value)


def vec(*lanes: Operand) -> MakeVec:
    """A Vec2U32 or Vec4U32 from two or four lanes."""
    kinds = {2: DataType.Vec2U32, 4: DataType.Vec4U32}
    if len(lanes) not in kinds:
        raise VyreError(f"vec() got {len(lanes)} lanes.", fix="give two or four lanes.")
    return MakeVec(kinds[len(lanes)], tuple(lift(x) for x in lanes))


def call(op_id: str, *args: Operand) -> Call:
    return Call(op_id, tuple(lift(a) for a in args))


def select(condition: Operand, if_true: Operand, if_false: Operand) -> Select:
    return Select(lift(condition), lift(if_true), lift(if_false))


def _brief(value: object, levels: int) -> str:
    if isinstance(value, Expr):
        if levels == 0:
            return "…"
        fields: Sequence[str] = type(value).__match_args__  # pyright: ignore[reportAttributeAccessIssue]
        inner = ", ".join(_brief(getattr(value, name), levels - 1) for name in fields)
        return f"{type(value).__name__}({inner})"
    if isinstance(value, tuple):
        items: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]
        return "(" + ", ".join(_brief(v, levels) for v in items) + ")"
    name = getattr(value, "name", None)
    return name if name is not None and not isinstance(value, str) else repr(value)
