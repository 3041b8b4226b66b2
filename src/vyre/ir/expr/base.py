"""The base of all expressions, and the nodes that Python's operators and numbers make.

    literals     LitU32 LitI32 LitBool
    operations   BinOp UnOp Cast Lane

They stand in one file because `a + 1` on any expression builds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from vyre.errors import VyreError
from vyre.ir.expr.checks import require_int, require_op
from vyre.ir.interning import Interned, rebuilt
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence


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

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt(self)

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LitU32(Expr):
    _exact = int
    value: int

    def __post_init__(self) -> None:
        require_int("LitU32", self.value, 0, U32_MAX)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LitI32(Expr):
    _exact = int
    value: int

    def __post_init__(self) -> None:
        require_int("LitI32", self.value, -(1 << 31), (1 << 31) - 1)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LitBool(Expr):
    _exact = bool
    value: bool

    def __post_init__(self) -> None:
        require_op("LitBool", self.value, bool)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinOp(Expr):
    op: BinaryOp
    left: Expr
    right: Expr

    def __post_init__(self) -> None:
        require_op("BinOp", self.op, BinaryOp)
        self._seal(self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnOp(Expr):
    op: UnaryOp
    operand: Expr

    def __post_init__(self) -> None:
        require_op("UnOp", self.op, UnaryOp)
        self._seal(self.operand)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cast(Expr):
    target: DataType
    value: Expr

    def __post_init__(self) -> None:
        require_op("Cast", self.target, DataType)
        self._seal(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lane(Expr):
    """One u32 lane of a U64, U128, Vec2U32 or Vec4U32."""

    _exact = int
    value: Expr
    index: int

    def __post_init__(self) -> None:
        require_int("Lane", self.index, 0, 255)
        self._seal(self.value)


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
