"""The standard library's integer ops, written out by hand with operators and `Let`s.

Not made from the registry: each op is stated here a second time, as a programmer without ops would write
it. `Hand` collects the `Let`s of one kernel under the names that inlined variables get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lower.zero_cost_division_twins import DIVISION_TWINS
from tests.lower.zero_cost_wide_twins import WIDE_TWINS
from vyre.ir.expr import BinOp, Cast, Expr, Lane, LitU32, MakeVec, Select, UnOp, Var
from vyre.ir.node import Assign, If, Let, Loop, Node
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS
from vyre.ir.operators import BinaryOp as B
from vyre.ir.operators import UnaryOp as U
from vyre.ir.types import DataType as T

if TYPE_CHECKING:
    from collections.abc import Callable

    Twin = Callable[..., Expr]


class Hand:
    """The statements of a kernel being written; `group` begins the variables of one op."""

    def __init__(self) -> None:
        self.statements: list[Node] = []
        self._numbers = 0
        self._current: int | None = None

    def group(self) -> None:
        self._current = None

    def name(self, stem: str) -> str:
        if self._current is None:
            self._current = self._numbers
            self._numbers += 1
        return f"call{self._current}_{stem}"

    def let(self, stem: str, value: Expr) -> Var:
        name = self.name(stem)
        self.statements.append(Let(name, value))
        return Var(name)

    def once(self, stem: str, value: Expr) -> Expr:
        """A value that is used several times: bound, unless it is a name or a literal already."""
        return self.let(stem, value) if value.children else value


def lanes(value: Expr, count: int) -> list[Lane]:
    return [Lane(value, i) for i in range(count)]


def _clamp(h: Hand, x: Expr, low: Expr, high: Expr) -> Expr:
    x, low, high = h.once("x", x), h.once("low", low), h.once("high", high)
    raised = h.let("raised", Select(x < low, low, x))
    return Select(raised > high, high, raised)


def _next_power(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    bits = h.let("bits", LitU32(32) - UnOp(U.Clz, a - 1))
    return Select(a <= 1, LitU32(1), Select(bits >> 5, LitU32(0), LitU32(1) << bits))


def _isqrt(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    root = h.let("root", LitU32(0))
    i, tried = Var(h.name("i")), Var(h.name("tried"))
    body = (
        Let(tried.name, root | LitU32(0x8000) >> i),
        If(tried * tried <= a, (Assign(root.name, tried),)),
    )
    h.statements.append(Loop(i.name, LitU32(0), LitU32(16), body))
    return root


def _pair(h: Hand, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return h.once("a", a), h.once("b", b)


def _choice(op: B, if_true: str) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        return Select(BinOp(op, a, b), a, b) if if_true == "a" else Select(BinOp(op, a, b), b - a, a - b)

    return twin


def _rotate(first: B, second: B) -> Twin:
    def twin(h: Hand, a: Expr, amount: Expr) -> Expr:
        a, amount = h.once("a", a), h.once("amount", amount)
        return BinOp(first, a, amount) | BinOp(second, a, -amount)

    return twin


def _signed_divide(op: B) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        mask_a = h.let("mask_a", -(Cast(T.U32, a) >> 31))
        mask_b = h.let("mask_b", -(Cast(T.U32, b) >> 31))
        size_a = h.let("size_a", (Cast(T.U32, a) ^ mask_a) - mask_a)
        size_b = h.let("size_b", (Cast(T.U32, b) ^ mask_b) - mask_b)
        sign = h.let("sign", mask_a ^ mask_b if op is B.Div else mask_a)
        return Cast(T.I32, (BinOp(op, size_a, size_b) ^ sign) - sign)

    return twin


def _signed_shr(h: Hand, a: Expr, amount: Expr) -> Expr:
    a = h.once("a", a)
    mask = h.let("mask", -(Cast(T.U32, a) >> 31))
    return Cast(T.I32, ((Cast(T.U32, a) ^ mask) >> amount) ^ mask)


def _ordered(value: Expr) -> Expr:
    return Cast(T.U32, value) ^ 0x80000000


def _signed_compare(op: B) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        return BinOp(op, _ordered(a), _ordered(b))

    return twin


def _signed_shl(h: Hand, a: Expr, amount: Expr) -> Expr:
    return Cast(T.I32, Cast(T.U32, a) << amount)


def _signed_choice(op: B) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        return Select(BinOp(op, _ordered(a), _ordered(b)), a, b)

    return twin


def _signed_abs(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    bits = Cast(T.U32, a)
    return Cast(T.I32, (bits ^ -(bits >> 31)) - -(bits >> 31))


def _wide_add(t: T) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        sums = [h.let("sum0", Lane(a, 0) + Lane(b, 0))]
        carry: Expr = sums[0] < Lane(a, 0)
        for i in range(1, t.lanes):
            carried = h.let(f"carry{i}", carry)
            part = h.let(f"part{i}", Lane(a, i) + Lane(b, i))
            sums.append(h.let(f"sum{i}", part + carried))
            carry = (part < Lane(a, i)) | (sums[i] < part)
        return MakeVec(t, tuple(sums))

    return twin


def _wide_sub(t: T) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        found = [h.let("difference0", Lane(a, 0) - Lane(b, 0))]
        borrow: Expr = Lane(a, 0) < Lane(b, 0)
        for i in range(1, t.lanes):
            taken = h.let(f"borrow{i}", borrow)
            part = h.let(f"part{i}", Lane(a, i) - Lane(b, i))
            found.append(h.let(f"difference{i}", part - taken))
            borrow = (Lane(a, i) < Lane(b, i)) | (part < taken)
        return MakeVec(t, tuple(found))

    return twin


def _lanewise(t: T, op: B) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        return MakeVec(
            t, tuple(BinOp(op, x, y) for x, y in zip(lanes(a, t.lanes), lanes(b, t.lanes), strict=True))
        )

    return twin


def _wide_not(t: T) -> Twin:
    def twin(h: Hand, a: Expr) -> Expr:
        a = h.once("a", a)
        return MakeVec(t, tuple(~x for x in lanes(a, t.lanes)))

    return twin


def _below(t: T, a: Expr, b: Expr) -> Expr:
    found: Expr = Lane(a, 0) < Lane(b, 0)
    for i in range(1, t.lanes):
        found = (Lane(a, i) < Lane(b, i)) | (Lane(a, i).eq(Lane(b, i)) & found)
    return found


def _wide_order(t: T, *, swapped: bool, flipped: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        found = _below(t, b, a) if swapped else _below(t, a, b)
        return found ^ 1 if flipped else found

    return twin


def _wide_equal(t: T, *, flipped: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        different: Expr = Lane(a, 0) ^ Lane(b, 0)
        for i in range(1, t.lanes):
            different = different | (Lane(a, i) ^ Lane(b, i))
        return different.eq(0) ^ 1 if flipped else different.eq(0)

    return twin


def _wide_choice(t: T, *, swapped: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = _pair(h, a, b)
        return Select(_below(t, b, a) if swapped else _below(t, a, b), a, b)

    return twin


def _u64_mul(h: Hand, a: Expr, b: Expr) -> Expr:
    a, b = _pair(h, a, b)
    (a0, a1), (b0, b1) = lanes(a, 2), lanes(b, 2)
    return MakeVec(T.U64, (a0 * b0, BinOp(B.MulHi, a0, b0) + a0 * b1 + a1 * b0))


def _u64_shl(h: Hand, a: Expr, amount: Expr) -> Expr:
    a, amount = h.once("a", a), h.once("amount", amount)
    small, whole = h.let("small", amount & 31), h.let("whole", amount & 32)
    kept = h.let("kept", Lane(a, 0) << small)
    mixed = h.let("mixed", (Lane(a, 1) << small) | ((Lane(a, 0) >> 1) >> (LitU32(31) - small)))
    return MakeVec(T.U64, (Select(whole, LitU32(0), kept), Select(whole, kept, mixed)))


def _u64_shr(h: Hand, a: Expr, amount: Expr) -> Expr:
    a, amount = h.once("a", a), h.once("amount", amount)
    small, whole = h.let("small", amount & 31), h.let("whole", amount & 32)
    kept = h.let("kept", Lane(a, 1) >> small)
    mixed = h.let("mixed", (Lane(a, 0) >> small) | ((Lane(a, 1) << 1) << (LitU32(31) - small)))
    return MakeVec(T.U64, (Select(whole, kept, mixed), Select(whole, LitU32(0), kept)))


def _with_lane(h: Hand, word: Expr, index: Expr, byte: Expr) -> Expr:
    offset = h.let("offset", (index & 3) << 3)
    return (word & ~(LitU32(0xFF) << offset)) | ((byte & 0xFF) << offset)


def _swap(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    return a << 24 | (a & 0xFF00) << 8 | (a >> 8 & 0xFF00) | a >> 24


def _pack(h: Hand, b0: Expr, b1: Expr, b2: Expr, b3: Expr) -> Expr:
    return (b0 & 0xFF) | (b1 & 0xFF) << 8 | (b2 & 0xFF) << 16 | (b3 & 0xFF) << 24


def _dot_unsigned(h: Hand, a: Expr, b: Expr) -> Expr:
    a, b = h.once("a", a), h.once("b", b)
    first = ((a >> 0) & 0xFF) * ((b >> 0) & 0xFF)
    second = ((a >> 8) & 0xFF) * ((b >> 8) & 0xFF)
    third = ((a >> 16) & 0xFF) * ((b >> 16) & 0xFF)
    return first + second + third + ((a >> 24) & 0xFF) * ((b >> 24) & 0xFF)


def _dot_signed(h: Hand, a: Expr, b: Expr) -> Expr:
    a, b = h.once("a", a), h.once("b", b)

    def byte(word: Expr, by: int) -> Expr:
        return (((word >> by) & 0xFF) ^ 0x80) - 0x80

    first, second = byte(a, 0) * byte(b, 0), byte(a, 8) * byte(b, 8)
    return Cast(T.I32, first + second + byte(a, 16) * byte(b, 16) + byte(a, 24) * byte(b, 24))


def _word_index(h: Hand, a: Expr) -> Expr:
    return a >> 2


def _lane(h: Hand, word: Expr, index: Expr) -> Expr:
    return (word >> ((index & 3) << 3)) & 0xFF


def _is_power(h: Hand, a: Expr) -> Expr:
    return UnOp(U.Popcount, a).eq(1)


def _binary(op: B) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        return BinOp(op, a, b)

    return twin


def _unary(op: U) -> Twin:
    def twin(h: Hand, a: Expr) -> Expr:
        return UnOp(op, a)

    return twin


def _wide(prefix: str, t: T) -> dict[str, Twin]:
    return {
        f"{prefix}.add": _wide_add(t),
        f"{prefix}.sub": _wide_sub(t),
        f"{prefix}.and": _lanewise(t, B.BitAnd),
        f"{prefix}.or": _lanewise(t, B.BitOr),
        f"{prefix}.xor": _lanewise(t, B.BitXor),
        f"{prefix}.not": _wide_not(t),
        f"{prefix}.eq": _wide_equal(t, flipped=False),
        f"{prefix}.ne": _wide_equal(t, flipped=True),
        f"{prefix}.lt": _wide_order(t, swapped=False, flipped=False),
        f"{prefix}.gt": _wide_order(t, swapped=True, flipped=False),
        f"{prefix}.le": _wide_order(t, swapped=True, flipped=True),
        f"{prefix}.ge": _wide_order(t, swapped=False, flipped=True),
        f"{prefix}.min": _wide_choice(t, swapped=False),
        f"{prefix}.max": _wide_choice(t, swapped=True),
    }


TWINS: dict[str, Twin] = {
    **{op.row.op_id: _binary(op) for op in INTEGER_BINARY_OPS},
    **{op.row.op_id: _unary(op) for op in INTEGER_UNARY_OPS},
    "integer.min": _choice(B.Lt, "a"),
    "integer.max": _choice(B.Gt, "a"),
    "integer.abs_diff": _choice(B.Lt, "difference"),
    "integer.clamp": _clamp,
    "integer.rotl": _rotate(B.Shl, B.Shr),
    "integer.rotr": _rotate(B.Shr, B.Shl),
    "integer.is_power_of_two": _is_power,
    "integer.next_power_of_two": _next_power,
    "integer.isqrt": _isqrt,
    "signed.div": _signed_divide(B.Div),
    "signed.mod": _signed_divide(B.Mod),
    "signed.shl": _signed_shl,
    "signed.shr": _signed_shr,
    "signed.lt": _signed_compare(B.Lt),
    "signed.gt": _signed_compare(B.Gt),
    "signed.le": _signed_compare(B.Le),
    "signed.ge": _signed_compare(B.Ge),
    "signed.min": _signed_choice(B.Lt),
    "signed.max": _signed_choice(B.Gt),
    "signed.abs": _signed_abs,
    **_wide("wide.u64", T.U64),
    "wide.u64.mul": _u64_mul,
    "wide.u64.shl": _u64_shl,
    "wide.u64.shr": _u64_shr,
    **_wide("wide.u128", T.U128),
    "bytes.word_index": _word_index,
    "bytes.lane": _lane,
    "bytes.with_lane": _with_lane,
    "bytes.pack": _pack,
    "bytes.swap": _swap,
    "bytes.dot4_u8": _dot_unsigned,
    "bytes.dot4_i8": _dot_signed,
    **WIDE_TWINS,
    **DIVISION_TWINS,
}
