"""Expressions as LLVM instructions.

A value is a tuple of i32 lanes: one for U32, I32, Bool and the 16- and 32-bit floats (as bits), two for
U64 and Vec2U32, four for U128 and Vec4U32, lane 0 first. Lanes, casts and vectors then cost nothing, and LLVM
sees plain i32 arithmetic that it can vectorise. F64 is one double, or two lanes where it is only moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule
from vyre.lower.clike import lanes_of
from vyre.lower.llvm.counting import drops_bits
from vyre.lower.llvm.layout import registers
from vyre.lower.llvm.memory import Lanes, MemoryEmitter, length_of, literal
from vyre.lower.native import PREFIX
from vyre.lower.prepare import function_name
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.text import FunctionText
    from vyre.lower.llvm.watch import WatchedGuards
    from vyre.lower.prepare import Prepared

_DIRECT = {
    BinaryOp.Add: "add",
    BinaryOp.Sub: "sub",
    BinaryOp.Mul: "mul",
    BinaryOp.BitAnd: "and",
    BinaryOp.BitOr: "or",
    BinaryOp.BitXor: "xor",
}
_COMPARE = {
    BinaryOp.Eq: "eq",
    BinaryOp.Ne: "ne",
    BinaryOp.Lt: "ult",
    BinaryOp.Gt: "ugt",
    BinaryOp.Le: "ule",
    BinaryOp.Ge: "uge",
}
_LOGIC = {BinaryOp.And: "and", BinaryOp.Or: "or"}
_SHIFT = {BinaryOp.Shl: "shl", BinaryOp.Shr: "lshr"}
_DIVISION = {BinaryOp.Div: "udiv", BinaryOp.Mod: "urem"}
_STEPS = {
    BinaryOp.MulHi: (
        "zext i32 {a} to i64",
        "zext i32 {b} to i64",
        "mul i64 {0}, {1}",
        "lshr i64 {2}, 32",
        "trunc i64 {3} to i32",
    ),
}
"""Operators of several instructions; `{0}` is the result of the first of them."""
_INTRINSIC = {
    UnaryOp.Popcount: ("@llvm.ctpop.i32", ""),
    UnaryOp.Clz: ("@llvm.ctlz.i32", ", i1 false"),
    UnaryOp.Ctz: ("@llvm.cttz.i32", ", i1 false"),
    UnaryOp.ReverseBits: ("@llvm.bitreverse.i32", ""),
}
_ALIGN = {"i32": 4, "double": 8}
_SIGN = {DataType.F32: 31, DataType.F16: 15, DataType.BF16: 15, DataType.F64: 31}


@dataclass(frozen=True, slots=True)
class Kept:
    """A variable that is a value: bound once, never assigned."""

    lanes: Lanes


@dataclass(frozen=True, slots=True)
class Slots:
    """A variable in memory: the addresses of its lanes, and their types."""

    addresses: Lanes
    kinds: Lanes


@dataclass(frozen=True, slots=True)
class Arrays:
    """A variable with one element per invocation of the workgroup, an array for each lane."""

    bases: Lanes
    kinds: Lanes


@dataclass(frozen=True, slots=True)
class Derived:
    """A variable that is computed again wherever it is needed."""

    value: e.Expr


Place = Kept | Slots | Arrays | Derived


class ValueEmitter(MemoryEmitter):
    """Emits expressions into a function."""

    def __init__(
        self,
        prepared: Prepared,
        text: FunctionText,
        ranges: Ranges,
        *,
        fast: bool,
        guards: WatchedGuards | None = None,
    ) -> None:
        super().__init__(prepared, text, ranges, fast=fast, guards=guards)
        self.apart = False
        """Functions are called rather than copied to where they are called."""
        self.places: dict[str, Place] = {}
        self._values: dict[e.Expr, Lanes] = {}
        self._conditions: dict[e.Expr, str] = {}

    def forget(self) -> None:
        """Between statements: what was computed need not hold, or dominate, any more."""
        self._values.clear()
        self._conditions.clear()

    def value(self, expr: e.Expr, hint: str = "t") -> Lanes:
        """The lanes of an expression; within a statement each distinct node is computed once."""
        known = self._values.get(expr)
        if known is None:
            known = self._values[expr] = self._value(expr, hint)
        return known

    def condition(self, expr: e.Expr) -> str:
        """An i1: whether the value is not zero."""
        known = self._conditions.get(expr)
        if known is None:
            known = self._conditions[expr] = self._condition(expr)
        return known

    def _condition(self, expr: e.Expr) -> str:
        decided = self.ranges.decided(expr, fast=self.fast) if self.ids.invocation else None
        watch = self.guards.watch if self.guards else None
        if decided is not None and watch is None:
            return "true" if decided else "false"
        condition = self._compared(expr)
        if decided is not None and watch is not None:
            watch.decision(self.text, condition, decided)
        return condition

    def _compared(self, expr: e.Expr) -> str:
        match expr:
            case e.BinOp(op=op, left=left, right=right) if op in _COMPARE:
                a, b = self.scalar(left), self.scalar(right)
                return self.text.let("c", f"icmp {_COMPARE[op]} i32 {a}, {b}")
            case e.BinOp(op=op, left=left, right=right) if op in _LOGIC:
                a, b = self.condition(left), self.condition(right)
                return self.text.let("c", f"{_LOGIC[op]} i1 {a}, {b}")
            case e.UnOp(op=UnaryOp.LogicalNot, operand=operand):
                return self.text.let("c", f"xor i1 {self.condition(operand)}, true")
            case _:
                return self.nonzero(self.value(expr))

    def _value(self, expr: e.Expr, hint: str) -> Lanes:
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return (literal(value),)
            case e.LitBool(value=value):
                return ("1" if value else "0",)
            case e.Literal(type=DataType.F64, bits=bits) if self.prepared.doubles:
                return (f"0x{bits:016X}",)
            case e.Literal(type=t, bits=bits):
                return tuple(literal(bits >> (32 * i)) for i in range(lanes_of(t)))
            case e.Var(name=name):
                return self.read(self.places[name])
            case e.Call(op_id=op_id, args=args):
                operands = ", ".join(f"{self._kind(x)} {self._argument(op_id, x)}" for x in args)
                called = f"call {self._kind(expr)} @{function_name(op_id)}({operands})"
                apart = self.apart and not op_id.startswith(PREFIX)
                return (self.text.let(hint, f"{called} #2" if apart else called),)
            case e.BufLen(buffer=buffer):
                return (length_of(self.prepared.buffer(buffer)),)
            case e.InvocationId() | e.WorkgroupId() | e.LocalId():
                return (self.ids.names[expr],)
            case e.Load(buffer=buffer, index=index):
                return self.load(self.prepared.buffer(buffer), index, hint)
            case e.Atomic():
                return (self.atomic(expr, hint),)
            case e.BinOp():
                return (self._binary(expr, hint),)
            case e.UnOp():
                return self._unary(expr, hint)
            case e.Select(condition=condition, if_true=yes, if_false=no):
                chosen, a, b = self.condition(condition), self.value(yes), self.value(no)
                kind = self._kind(yes)
                return tuple(
                    self.text.let(hint, f"select i1 {chosen}, {kind} {x}, {kind} {y}")
                    for x, y in zip(a, b, strict=True)
                )
            case e.Lane(value=value, index=index):
                return (self.value(value)[index],)
            case e.MakeVec(lanes=lanes):
                return tuple(self.scalar(x) for x in lanes)
            case e.Cast():
                return self._cast(expr, hint)
            case _:
                raise AssertionError(expr)

    def _argument(self, op_id: str, expr: e.Expr) -> str:
        """A function may drop bits; the native ones do not."""
        return self.scalar(expr) if op_id.startswith(PREFIX) else self.cut(expr)

    def read(self, place: Place) -> Lanes:
        match place:
            case Kept(lanes=lanes):
                return lanes
            case Slots(addresses=addresses, kinds=kinds):
                return self._loaded(addresses, kinds)
            case Derived(value=value):
                return self.value(value)
            case Arrays(kinds=kinds):
                return self._loaded(self._elements(place), kinds)

    def _loaded(self, addresses: Lanes, kinds: Lanes) -> Lanes:
        return tuple(
            self.text.let("t", f"load {kind}, ptr {address}, align {_ALIGN[kind]}")
            for address, kind in zip(addresses, kinds, strict=True)
        )

    def write(self, place: Slots | Arrays, lanes: Lanes) -> None:
        addresses = place.addresses if isinstance(place, Slots) else self._elements(place)
        for address, kind, lane in zip(addresses, place.kinds, lanes, strict=True):
            self.text.do(f"store {kind} {lane}, ptr {address}, align {_ALIGN[kind]}")

    def _elements(self, place: Arrays) -> Lanes:
        return tuple(
            self.text.let("p", f"getelementptr inbounds {kind}, ptr {base}, i64 {self.ids.linear}")
            for base, kind in zip(place.bases, place.kinds, strict=True)
        )

    def _kind(self, expr: e.Expr) -> str:
        return registers(self.prepared, self.prepared.type(expr))[0]

    def _binary(self, expr: e.BinOp, hint: str) -> str:
        op, right, let = expr.op, expr.right, self.text.let
        if op in _COMPARE or op in _LOGIC:
            return let(hint, f"zext i1 {self.condition(expr)} to i32")
        read = self.cut if drops_bits(expr) else self.scalar
        a, b = read(expr.left), read(right)
        if op in _DIRECT:
            return let(hint, f"{_DIRECT[op]} i32 {a}, {b}")
        if op in _SHIFT:
            amount = str(right.value & 31) if isinstance(right, e.LitU32) else let("t", f"and i32 {b}, 31")
            return let(hint, f"{_SHIFT[op]} i32 {a}, {amount}")
        if op in _STEPS:
            *steps, last = _STEPS[op]
            found: list[str] = []
            for step in steps:
                found.append(let("w", step.format(*found, a=a, b=b)))
            return let(hint, last.format(*found, a=a, b=b))
        return self._divide(_DIVISION[op], a, b, right, hint)

    def _divide(self, instruction: str, a: str, b: str, right: e.Expr, hint: str) -> str:
        """Division by zero is undefined in LLVM: the divisor is made 1 first, the result 0 after."""
        let = self.text.let
        if isinstance(right, e.LitU32):
            return let(hint, f"{instruction} i32 {a}, {b}") if right.value else "0"
        zero = let("c", f"icmp eq i32 {b}, 0")
        divisor = let("t", f"select i1 {zero}, i32 1, i32 {b}")
        result = let("t", f"{instruction} i32 {a}, {divisor}")
        return let(hint, f"select i1 {zero}, i32 0, i32 {result}")

    def _unary(self, expr: e.UnOp, hint: str) -> Lanes:
        let = self.text.let
        if expr.op is UnaryOp.LogicalNot:
            return (let(hint, f"zext i1 {self.condition(expr)} to i32"),)
        lanes = self.value(expr.operand)
        match expr.op:
            case UnaryOp.Negate:
                return (let(hint, f"sub i32 0, {lanes[0]}"),)
            case UnaryOp.BitNot:
                return (let(hint, f"xor i32 {lanes[0]}, -1"),)
            case UnaryOp.FNeg | UnaryOp.FAbs if self._kind(expr) == "double":
                return (self._double_sign(lanes[0], hint, negate=expr.op is UnaryOp.FNeg),)
            case UnaryOp.FNeg | UnaryOp.FAbs:
                bit = 1 << _SIGN[self.prepared.type(expr)]
                change = f"xor i32 {lanes[-1]}, {literal(bit)}"
                if expr.op is UnaryOp.FAbs:
                    change = f"and i32 {lanes[-1]}, {literal(~bit)}"
                return (*lanes[:-1], let(hint, change))
            case op:
                intrinsic, flag = _INTRINSIC[op]
                return (let(hint, f"call i32 {self.text.intrinsic(intrinsic)}(i32 {lanes[0]}{flag})"),)

    def _double_sign(self, value: str, hint: str, *, negate: bool) -> str:
        let = self.text.let
        bits = let("w", f"bitcast double {value} to i64")
        change = f"xor i64 {bits}, {-1 << 63}" if negate else f"and i64 {bits}, {(1 << 63) - 1}"
        return let(hint, f"bitcast i64 {let('w', change)} to double")

    def _cast(self, expr: e.Cast, hint: str) -> Lanes:
        source, target = self.prepared.type(expr.value), expr.target
        rule = CAST_TABLE[source, target]
        if rule is CastRule.ToBool:
            return (self.text.let(hint, f"zext i1 {self.condition(expr.value)} to i32"),)
        if rule is CastRule.LowHalf:
            return (self.text.let(hint, f"and i32 {self.cut(expr.value)}, 65535"),)
        lanes, want = self.value(expr.value), lanes_of(target)
        match rule:
            case CastRule.ZeroExtend:
                return lanes + ("0",) * (want - len(lanes))
            case CastRule.SignExtend:
                sign = self.text.let(hint, f"ashr i32 {lanes[0]}, 31")
                return (lanes[0],) + (sign,) * (want - 1)
            case CastRule.Splat:
                return lanes * want
            case CastRule.LowLanes:
                return lanes[:want]
            case _:
                return lanes
