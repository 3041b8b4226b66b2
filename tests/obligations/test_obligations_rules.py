"""Every rule about ranges, of the analysis and of its checker, is proved by a solver for all numbers.

`x` lies in the one operand's interval and leaves its room, `y` likewise: then what the rule says of the
result holds of the word that the operation gives. Bounds, rooms and lengths are symbols.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.obligations.symbolic import WIDTH, Paths, Symbol, z3
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.obligations import numbers
from vyre.obligations.numbers import Known
from vyre.optimize import ranges
from vyre.optimize.ranges import Range

if TYPE_CHECKING:
    from collections.abc import Callable

TOP = (1 << 32) - 1
_OP = BinaryOp
SECONDS = 60


class World:
    """Symbols for one rule: two values, what is said of them, and the length of a buffer."""

    def __init__(self, paths: Paths, known: Callable[[Any, Any, Any], Any]) -> None:
        self.paths = paths
        self.known = known
        self.length = self.paths.symbol("length")
        self.paths.assume(self.length >= 0, self.length <= TOP)

    def operand(self, name: str, *, room: bool) -> tuple[Symbol, Any]:
        symbol = self.paths.symbol
        value, lo, hi = symbol(name), symbol(f"{name}_lo"), symbol(f"{name}_hi")
        self.paths.assume(lo >= 0, lo <= value, value <= hi, hi <= TOP)
        if not room:
            return value, self.known(lo, hi, {})
        below = symbol(f"{name}_room")
        self.paths.assume(below >= 0, below <= self.length, value + below <= self.length)
        return value, self.known(lo, hi, {"p": below})


def of_range(lo: Any, hi: Any, rooms: dict[str, Any]) -> Range:
    return Range(lo, hi, tuple(rooms.items()))


def proved(world: World, rule: Callable[[], Any], value: Symbol) -> int:
    """What the rule gives holds of the value, on every path through its code; how many there are."""
    count = 0
    for said, condition in world.paths.explore(rule):
        count += 1
        rooms = dict(said.rooms)
        claims = [
            value._of(said.lo) <= value.term,
            value.term <= value._of(said.hi),
            *(value.term + value._of(room) <= world.length.term for room in rooms.values()),
        ]
        solver = z3.SolverFor("QF_BV") if world.paths.bits else z3.Solver()
        solver.set("timeout", SECONDS * 1000)
        solver.add(*condition, z3.Not(z3.And(*claims)))
        answer = solver.check()
        assert answer == z3.unsat, (answer, solver.model() if answer == z3.sat else said)
    assert count, "no path was explored"
    return count


def word(paths: Paths, op: BinaryOp, x: Symbol, y: Symbol) -> Symbol:
    """What the operation gives."""
    a, b = x.term, y.term
    if not paths.bits:
        zero = z3.IntVal(0)
        meanings = {
            _OP.Add: (a + b) % (TOP + 1),
            _OP.Sub: (a - b) % (TOP + 1),
            _OP.Mul: (a * b) % (TOP + 1),
            _OP.Div: z3.If(b == 0, zero, a / b),
            _OP.Mod: z3.If(b == 0, zero, a % b),
            _OP.MulHi: (a * b) / (TOP + 1),
        }
        return Symbol(meanings[op], paths)
    mask, amount = z3.BitVecVal(TOP, WIDTH), b & 31
    meanings = {
        _OP.Mul: (a * b) & mask,
        _OP.BitAnd: a & b,
        _OP.BitOr: a | b,
        _OP.BitXor: a ^ b,
        _OP.Shl: (a << amount) & mask,
        _OP.Shr: a >> amount,
    }
    return Symbol(meanings[op], paths)


INTEGERS = (_OP.Add, _OP.Sub, _OP.Mul, _OP.Div, _OP.Mod, _OP.MulHi)
BITS = (_OP.BitAnd, _OP.BitOr, _OP.BitXor, _OP.Shl, _OP.Shr)
RULES: dict[str, tuple[Callable[..., Any], Callable[[BinaryOp, Any, Any], Any]]] = {
    "analysis": (of_range, lambda op, x, y: ranges._BINARY[op](x, y)),
    "checker": (Known, numbers.binary),
}
ROOMS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize("rooms", ROOMS, ids=["", "left", "right", "both"])
@pytest.mark.parametrize("op", INTEGERS + BITS, ids=lambda op: op.value)
@pytest.mark.parametrize("side", RULES)
def test_operations(side: str, op: BinaryOp, rooms: tuple[bool, bool]) -> None:
    known, rule = RULES[side]
    paths = Paths(bits=op in BITS)
    world = World(paths, known)
    (x, a), (y, b) = world.operand("x", room=rooms[0]), world.operand("y", room=rooms[1])
    if op is _OP.Mul:  # a product that wraps is the next test's
        paths.assume(a.hi * b.hi <= TOP)
    proved(world, lambda: rule(op, a, b), word(paths, op, x, y))


@pytest.mark.parametrize("exact", [(True, True), (True, False), (False, True)], ids=["both", "left", "right"])
@pytest.mark.parametrize("side", RULES)
def test_products_that_wrap(side: str, exact: tuple[bool, bool]) -> None:
    """A product keeps the power of two that divides a factor, here for five powers."""
    known, rule = RULES[side]
    for power in (0, 1, 5, 12, 31):
        paths = Paths(bits=True)
        world = World(paths, known)
        (x, a), (y, b) = world.operand("x", room=False), world.operand("y", room=False)
        for fixed, value, said in ((exact[0], x, a), (exact[1], y, b)):
            if fixed:
                paths.assume(said.lo == said.hi)
                if value is (x if exact[0] else y):
                    paths.assume(value & ((1 << power) - 1) == 0, value >> power & 1 == 1)
            else:
                paths.assume(said.lo < said.hi)
        paths.assume(a.hi * b.hi > TOP)
        proved(world, lambda rule=rule, a=a, b=b: rule(_OP.Mul, a, b), word(paths, _OP.Mul, x, y))


def _ones(x: Symbol) -> Symbol:
    return Symbol(sum((x.term >> bit) & 1 for bit in range(32)), x.paths)


def _leading(x: Symbol) -> Symbol:
    return 32 - x.bit_length()


def _trailing(x: Symbol) -> Symbol:
    found = x._of(32)
    for bit in range(31, -1, -1):
        found = z3.If((x.term >> bit) & 1 == 1, x._of(bit), found)
    return Symbol(found, x.paths)


UNARY: dict[UnaryOp, Callable[[Symbol], Symbol]] = {
    UnaryOp.BitNot: lambda x: TOP - x,
    UnaryOp.Popcount: _ones,
    UnaryOp.Clz: _leading,
    UnaryOp.Ctz: _trailing,
}
UNARY_RULES: dict[str, tuple[Callable[..., Any], Callable[[UnaryOp, Any], Any]]] = {
    "analysis": (of_range, ranges._unary),
    "checker": (Known, numbers.unary),
}


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.value)
@pytest.mark.parametrize("side", UNARY_RULES)
def test_unary_operations(side: str, op: UnaryOp) -> None:
    known, rule = UNARY_RULES[side]
    world = World(Paths(bits=True), known)
    x, a = world.operand("x", room=False)
    proved(world, lambda: rule(op, a), UNARY[op](x))


COMPARED: dict[BinaryOp, Callable[[Symbol, Symbol], Any]] = {
    _OP.Lt: lambda x, y: x < y,
    _OP.Le: lambda x, y: x <= y,
    _OP.Gt: lambda x, y: x > y,
    _OP.Ge: lambda x, y: x >= y,
    _OP.Eq: lambda x, y: x == y,
    _OP.Ne: lambda x, y: x != y,
}
COMPARE_RULES = {"analysis": (of_range, ranges.compared), "checker": (Known, numbers.compared)}


@pytest.mark.parametrize("outcome", [True, False])
@pytest.mark.parametrize("op", COMPARED, ids=lambda op: op.value)
@pytest.mark.parametrize("side", COMPARE_RULES)
def test_comparisons(side: str, op: BinaryOp, outcome: bool) -> None:
    """What an outcome tells, of either side; a place that is never reached needs no proof."""
    known, rule = COMPARE_RULES[side]
    for at in (0, 1):
        world = World(Paths(bits=False), known)
        (x, a), (y, b) = world.operand("x", room=True), world.operand("y", room=True)
        truth = COMPARED[op](x, y)
        world.paths.assumed.append(truth.term if outcome else z3.Not(truth.term))
        proved(world, lambda rule=rule, a=a, b=b, at=at: rule(op, outcome, a, b)[at], (x, y)[at])


@pytest.mark.parametrize("side", ["analysis", "checker"])
def test_both_and_either(side: str) -> None:
    known = of_range if side == "analysis" else Known
    both, either = (Range.meet, Range.join) if side == "analysis" else (Known.also, Known.either)
    world = World(Paths(bits=False), known)
    (x, a), (y, b) = world.operand("x", room=True), world.operand("y", room=True)
    proved(world, lambda: either(a, b), x)
    proved(world, lambda: either(a, b), y)
    world.paths.assume(x == y)
    proved(world, lambda: both(a, b), x)


def test_values_below_and_summands() -> None:
    """`Range.below`, `Range.less`, and what the checker has in their place."""
    for known in (of_range, Known):
        world = World(Paths(bits=False), known)
        (x, a), (y, b) = world.operand("x", room=True), world.operand("y", room=True)
        world.paths.assume(x < y)
        if known is of_range:
            proved(world, b.below, x)
        else:
            proved(world, lambda b=b: Known(0, b.hi - 1, numbers.less_by(1, b)), x)
        proved(world, lambda a=a: numbers.counted(Known.said(a), Known(0, a.hi + 1)), x)
        world = World(Paths(bits=False), known)
        total, said = world.operand("total", room=True)
        amount = world.paths.symbol("amount")
        world.paths.assume(amount >= 0, amount <= total)
        if known is of_range:
            proved(world, lambda said=said, amount=amount: said.less(amount), total - amount)
        else:
            less_by: Any = numbers.less_by
            proved(world, partial(_summand, less_by, said, amount), total - amount)


def _summand(less_by: Any, said: Any, amount: Any) -> Known:
    return Known(0, said.hi - amount, less_by(amount, said))


def test_differences_from_a_length() -> None:
    from vyre.ir import BufLen, LitU32

    for taken in (0, 1, 7, TOP):
        for side in ("analysis", "checker"):
            world = World(Paths(bits=False), of_range if side == "analysis" else Known)
            y, b = world.operand("y", room=True)
            left = BufLen("p") - LitU32(taken) if taken else BufLen("p")
            rest = Symbol((world.length.term - taken - y.term) % (TOP + 1), world.paths)
            if side == "analysis":
                proved(world, lambda left=left, b=b: ranges._from_length(left, b), rest)
            else:
                proved(world, lambda taken=taken, b=b: numbers.from_length("p", taken, b), rest)


def test_what_is_implied_holds() -> None:
    """`Known.implies` answers yes only where all that is said follows; so does `tighten`."""
    for declared in (0, 5):
        world = World(Paths(bits=False), Known)
        x, a = world.operand("x", room=True)
        said = [world.paths.symbol(name) for name in ("said_lo", "said_hi", "said_room")]
        bounds = Range(said[0], said[1], (("p", said[2]),))  # type: ignore[arg-type] # symbols for numbers
        if declared:
            world.paths.assume(world.length == declared)

        def told(a: Known = a, bounds: Range = bounds, declared: int = declared) -> Any:
            return bounds if a.implies(bounds, {"p": declared}) else Known()

        assert proved(world, told, x) > 1
        transfer = ranges.Transfer({"p": declared}, (1, 1, 1))
        world = World(world.paths, of_range)
        proved(world, lambda a=a, t=transfer: t.tighten(Range(a.lo, a.hi, tuple(a.rooms.items()))), x)


def _sum_that_wraps(a: Range, b: Range) -> Range:
    return Range(a.lo, a.hi + b.hi if a.hi + b.hi <= TOP else TOP, a.rooms)


WRONG: dict[str, tuple[BinaryOp, Callable[[Any, Any], Any]]] = {
    "a sum that keeps its room": (_OP.Add, _sum_that_wraps),
    "a difference that wraps": (_OP.Sub, lambda a, b: Range(0, a.hi, a.rooms)),
    "a remainder by zero": (_OP.Mod, lambda a, b: b.below()),
    "a quotient by the greatest": (_OP.Div, lambda a, b: Range(0, a.hi // (b.hi + 1))),
    "bits above both": (_OP.BitOr, lambda a, b: Range(0, max(a.hi, b.hi))),
    "bits of one": (_OP.BitXor, lambda a, b: Range(0, a.hi)),
    "a shift by the greatest": (_OP.Shr, lambda a, b: Range(0, a.hi >> min(b.hi, 31))),
    "a shift that wraps": (_OP.Shl, lambda a, b: Range(0, TOP - (1 << min(b.hi, 31)))),
    "a high product of one side": (_OP.MulHi, lambda a, b: Range(0, a.lo * b.hi >> 32)),
    "the lesser's bits": (_OP.BitAnd, lambda a, b: Range(min(a.lo, b.lo), a.hi)),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_rule_is_refuted(fault: str) -> None:
    op, wrong = WRONG[fault]
    paths = Paths(bits=op in BITS)
    world = World(paths, of_range)
    (x, a), (y, b) = world.operand("x", room=True), world.operand("y", room=True)
    with pytest.raises(AssertionError, match="sat"):
        proved(world, lambda: wrong(a, b), word(paths, op, x, y))
