"""Expressions as LLVM instructions.

A value is a tuple of i32 lanes: one for U32, I32, Bool and the 16- and 32-bit floats (as bits), two for
U64, Vec2U32 and F64, four for U128 and Vec4U32, lane 0 first. Lanes, casts and vectors then cost
nothing, and LLVM sees plain i32 arithmetic that it can vectorise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule
from vyre.lower.clike import lanes_of

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.llvm.affine import Affine, Ranges
    from vyre.lower.llvm.text import FunctionText
    from vyre.lower.prepare import Prepared

Lanes = tuple[str, ...]

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
_ATOMIC = {
    AtomicOp.Add: "add",
    AtomicOp.Or: "or",
    AtomicOp.And: "and",
    AtomicOp.Xor: "xor",
    AtomicOp.Min: "umin",
    AtomicOp.Max: "umax",
    AtomicOp.Exchange: "xchg",
}
_INTRINSIC = {
    UnaryOp.Popcount: ("@llvm.ctpop.i32", ""),
    UnaryOp.Clz: ("@llvm.ctlz.i32", ", i1 false"),
    UnaryOp.Ctz: ("@llvm.cttz.i32", ", i1 false"),
    UnaryOp.ReverseBits: ("@llvm.bitreverse.i32", ""),
}
_SIGN = {DataType.F32: 31, DataType.F16: 15, DataType.BF16: 15, DataType.F64: 31}
_HALVES = (DataType.F16, DataType.BF16)


@dataclass(frozen=True, slots=True)
class Held:
    """A variable that is a value: bound once, never assigned."""

    lanes: Lanes


@dataclass(frozen=True, slots=True)
class Slots:
    """A variable in memory: the addresses of its lanes."""

    addresses: Lanes


@dataclass(frozen=True, slots=True)
class Arrays:
    """A variable with one element per invocation of the workgroup, an array for each lane."""

    bases: Lanes


@dataclass(frozen=True, slots=True)
class Derived:
    """A variable that is computed again wherever it is needed."""

    value: e.Expr


Place = Held | Slots | Arrays | Derived


@dataclass(frozen=True, slots=True)
class Ids:
    """Where the code stands: names of the ids that are known there, `wide` ones as i64."""

    names: dict[e.Expr, str]
    invocation: str | None = None
    workgroup: str | None = None
    local: str | None = None
    linear: str = "0"


class ValueEmitter:
    """Emits expressions into a function. `fast` leaves out the guards that `ranges` proves useless."""

    def __init__(self, prepared: Prepared, text: FunctionText, ranges: Ranges, *, fast: bool) -> None:
        self.prepared = prepared
        self.text = text
        self.ranges = ranges
        self.fast = fast
        self.ids = Ids({})
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

    def scalar(self, expr: e.Expr, hint: str = "t") -> str:
        return self.value(expr, hint)[0]

    def condition(self, expr: e.Expr) -> str:
        """An i1: whether the value is not zero."""
        known = self._conditions.get(expr)
        if known is None:
            known = self._conditions[expr] = self._condition(expr)
        return known

    def _condition(self, expr: e.Expr) -> str:
        decided = self.ranges.decided(expr, fast=self.fast) if self.ids.invocation else None
        if decided is not None:
            return "true" if decided else "false"
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
                return self._nonzero(self.value(expr))

    def _nonzero(self, lanes: Lanes) -> str:
        merged = lanes[0]
        for lane in lanes[1:]:
            merged = self.text.let("t", f"or i32 {merged}, {lane}")
        return self.text.let("c", f"icmp ne i32 {merged}, 0")

    def _value(self, expr: e.Expr, hint: str) -> Lanes:
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return (_literal(value),)
            case e.LitBool(value=value):
                return ("1" if value else "0",)
            case e.Literal(type=t, bits=bits):
                return tuple(_literal(bits >> (32 * i)) for i in range(lanes_of(t)))
            case e.Var(name=name):
                return self.read(self.places[name])
            case e.BufLen(buffer=buffer):
                return (length_of(self.prepared.buffer(buffer)),)
            case e.InvocationId() | e.WorkgroupId() | e.LocalId():
                return (self.ids.names[expr],)
            case e.Load(buffer=buffer, index=index):
                return self._load(self.prepared.buffer(buffer), index, hint)
            case e.Atomic():
                return (self._atomic(expr, hint),)
            case e.BinOp():
                return (self._binary(expr, hint),)
            case e.UnOp():
                return self._unary(expr, hint)
            case e.Select(condition=condition, if_true=yes, if_false=no):
                chosen, a, b = self.condition(condition), self.value(yes), self.value(no)
                return tuple(
                    self.text.let(hint, f"select i1 {chosen}, i32 {x}, i32 {y}")
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

    def read(self, place: Place) -> Lanes:
        match place:
            case Held(lanes=lanes):
                return lanes
            case Slots(addresses=addresses):
                return tuple(self.text.let("t", f"load i32, ptr {a}, align 4") for a in addresses)
            case Derived(value=value):
                return self.value(value)
            case Arrays():
                return tuple(self.text.let("t", f"load i32, ptr {a}, align 4") for a in self._elements(place))

    def write(self, place: Slots | Arrays, lanes: Lanes) -> None:
        addresses = place.addresses if isinstance(place, Slots) else self._elements(place)
        for address, lane in zip(addresses, lanes, strict=True):
            self.text.do(f"store i32 {lane}, ptr {address}, align 4")

    def _elements(self, place: Arrays) -> Lanes:
        return tuple(
            self.text.let("p", f"getelementptr inbounds i32, ptr {base}, i64 {self.ids.linear}")
            for base in place.bases
        )

    def _binary(self, expr: e.BinOp, hint: str) -> str:
        op, right, let = expr.op, expr.right, self.text.let
        if op in _COMPARE or op in _LOGIC:
            return let(hint, f"zext i1 {self.condition(expr)} to i32")
        a, b = self.scalar(expr.left), self.scalar(right)
        if op in _DIRECT:
            return let(hint, f"{_DIRECT[op]} i32 {a}, {b}")
        if op in _SHIFT:
            amount = str(right.value & 31) if isinstance(right, e.LitU32) else let("t", f"and i32 {b}, 31")
            return let(hint, f"{_SHIFT[op]} i32 {a}, {amount}")
        if op is BinaryOp.MulHi:
            wide = let("w", f"zext i32 {a} to i64"), let("w", f"zext i32 {b} to i64")
            product = let("w", f"mul i64 {wide[0]}, {wide[1]}")
            return let(hint, f"trunc i64 {let('w', f'lshr i64 {product}, 32')} to i32")
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
            case UnaryOp.FNeg | UnaryOp.FAbs:
                bit = 1 << _SIGN[self.prepared.type(expr)]
                change = f"xor i32 {lanes[-1]}, {_literal(bit)}"
                if expr.op is UnaryOp.FAbs:
                    change = f"and i32 {lanes[-1]}, {_literal(~bit)}"
                return (*lanes[:-1], let(hint, change))
            case op:
                intrinsic, flag = _INTRINSIC[op]
                return (let(hint, f"call i32 {intrinsic}(i32 {lanes[0]}{flag})"),)

    def _cast(self, expr: e.Cast, hint: str) -> Lanes:
        source, target = self.prepared.type(expr.value), expr.target
        rule = CAST_TABLE[source, target]
        if rule is CastRule.ToBool:
            return (self.text.let(hint, f"zext i1 {self.condition(expr.value)} to i32"),)
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
            case CastRule.LowHalf:
                return (self.text.let(hint, f"and i32 {lanes[0]}, 65535"),)
            case _:
                return lanes

    def _load(self, decl: BufferDecl, index: e.Expr, hint: str) -> Lanes:
        text, lanes = self.text, lanes_of(decl.element)
        at, guard = self._index(decl, index)
        before = text.block
        inside, after = text.unique("inside"), text.unique("after")
        if guard is not None:
            text.branch(guard, inside, after)
            text.start(inside)
        loaded: list[str] = []
        for lane in range(lanes):
            address = self._address(decl, at, lane)
            if decl.element in _HALVES:
                half = text.let("h", f"load i16, ptr {address}, align 2")
                loaded.append(text.let("t", f"zext i16 {half} to i32"))
            else:
                loaded.append(text.let("t", f"load i32, ptr {address}, align 4"))
        if decl.element is DataType.Bool:
            loaded = [text.let("t", f"zext i1 {self._nonzero((loaded[0],))} to i32")]
        if guard is None:
            return tuple(loaded)
        text.jump(after)
        text.start(after)
        return tuple(text.let(hint, f"phi i32 [ {x}, %{inside} ], [ 0, %{before} ]") for x in loaded)

    def store(self, decl: BufferDecl, index: e.Expr, value: e.Expr) -> None:
        text = self.text
        at, guard = self._index(decl, index)
        lanes = self.value(value)
        inside, after = text.unique("inside"), text.unique("after")
        if guard is not None:
            text.branch(guard, inside, after)
            text.start(inside)
        for number, lane in enumerate(lanes):
            address = self._address(decl, at, number)
            if decl.element in _HALVES:
                half = text.let("h", f"trunc i32 {lane} to i16")
                text.do(f"store i16 {half}, ptr {address}, align 2")
            else:
                text.do(f"store i32 {lane}, ptr {address}, align 4")
        if guard is not None:
            text.jump(after)
            text.start(after)

    def _atomic(self, expr: e.Atomic, hint: str) -> str:
        text, decl = self.text, self.prepared.buffer(expr.buffer)
        at, guard = self._index(decl, expr.index)
        operands = [self.scalar(c) for c in expr.children[1:]]
        before = text.block
        inside, after = text.unique("inside"), text.unique("after")
        if guard is not None:
            text.branch(guard, inside, after)
            text.start(inside)
        old = self._exchange(expr.op, decl, self._address(decl, at, 0), operands)
        if guard is None:
            return old
        text.jump(after)
        text.start(after)
        return text.let(hint, f"phi i32 [ {old}, %{inside} ], [ 0, %{before} ]")

    def _exchange(self, op: AtomicOp, decl: BufferDecl, address: str, operands: list[str]) -> str:
        let, value = self.text.let, operands[0]
        if decl.access.shared:
            # One thread runs the whole workgroup, so nobody else can see this memory.
            old = let("old", f"load i32, ptr {address}, align 4")
            self.text.do(f"store i32 {self._changed(op, old, operands)}, ptr {address}, align 4")
            return old
        if op is AtomicOp.CompareExchange:
            swap = f"cmpxchg ptr {address}, i32 {operands[1]}, i32 {value} seq_cst seq_cst, align 4"
            return let("old", f"extractvalue {{ i32, i1 }} {let('x', swap)}, 0")
        return let("old", f"atomicrmw {_ATOMIC[op]} ptr {address}, i32 {value} seq_cst, align 4")

    def _changed(self, op: AtomicOp, old: str, operands: list[str]) -> str:
        let, value = self.text.let, operands[0]
        match op:
            case AtomicOp.Exchange:
                return value
            case AtomicOp.CompareExchange:
                same = let("c", f"icmp eq i32 {old}, {operands[1]}")
                return let("t", f"select i1 {same}, i32 {value}, i32 {old}")
            case AtomicOp.Min | AtomicOp.Max:
                return let("t", f"call i32 @llvm.{_ATOMIC[op]}.i32(i32 {old}, i32 {value})")
            case _:
                return let("t", f"{_ATOMIC[op]} i32 {old}, {value}")

    def _index(self, decl: BufferDecl, index: e.Expr) -> tuple[str, str | None]:
        """The element number as i64, and the i1 that says it is in bounds (None: always)."""
        let = self.text.let
        form = self.ranges.form(index) if self.ids.invocation else None
        if form is not None and self.ranges.proved(form, decl, fast=self.fast):
            return self._affine(form), None
        if self.ids.invocation and self.ranges.is_invocation(form):
            return self.ids.invocation, let(
                "ok", f"icmp ult i64 {self.ids.invocation}, {length_of(decl, wide=True)}"
            )
        at = self.scalar(index)
        ok = let("ok", f"icmp ult i32 {at}, {length_of(decl)}")
        return let("at", f"zext i32 {at} to i64"), ok

    def _affine(self, form: Affine) -> str:
        """The index in 64 bits, so that LLVM sees a plain stride along the loop."""
        ids = self.ids
        assert ids.invocation
        if form.group == form.local * self.ranges.width:
            terms = [(form.local, ids.invocation)]
        else:
            terms = [(form.group, ids.workgroup), (form.local, ids.local)]
        total = str(form.offset) if form.offset or not any(factor for factor, _ in terms) else ""
        for factor, name in terms:
            if factor:
                part = str(name) if factor == 1 else self.text.let("at", f"mul i64 {name}, {factor}")
                total = self.text.let("at", f"add i64 {part}, {total}") if total else part
        return total

    def _address(self, decl: BufferDecl, at: str, lane: int) -> str:
        lanes = lanes_of(decl.element)
        base = f"ptr %b_{decl.name}, i64 {at}"
        if lanes > 1:
            return self.text.let("p", f"getelementptr inbounds [{lanes} x i32], {base}, i64 {lane}")
        element = "i16" if decl.element in _HALVES else "i32"
        return self.text.let("p", f"getelementptr inbounds {element}, {base}")


def length_of(decl: BufferDecl, *, wide: bool = False) -> str:
    """The length of a buffer in elements, as an i32 or i64 operand."""
    if decl.count:
        return str(decl.count) if wide else _literal(decl.count)
    return f"%len_{decl.name}.wide" if wide else f"%len_{decl.name}"


def _literal(bits: int) -> str:
    low = bits & 0xFFFFFFFF
    return str(low - (1 << 32) if low >> 31 else low)
