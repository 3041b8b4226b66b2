"""Operations lowered to something else: what a language, an instruction or a library does instead of ours.

Each rule names an op and gives what is emitted in its place, as an expression of its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import Mutated
from lab.mutants.mutant import LOWERING, Mutant
from lab.mutants.rewrite import rewrite
from lab.mutants.values import operands_of
from vyre.conform.registry import primitives, spec
from vyre.ir.expr import BinOp, Expr, LitU32, Select, UnOp, mul_hi
from vyre.ir.operators import BinaryOp, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import Backend
    from vyre.ir.program import Program

MAX, TOP = 0xFFFF_FFFF, 0x8000_0000
Build = Callable[..., Expr]


@dataclass(frozen=True, slots=True)
class Wrong:
    """An op that is emitted as something else, and operands at which that shows."""

    kind: str
    op: str
    build: Build
    witness: tuple[int, ...]
    density: float | None = None


def _one(
    kind: str, op: str, build: Callable[[Expr], Expr], witness: tuple[int, ...], density: float | None = None
) -> Wrong:
    return Wrong(kind, op, build, witness, density)


def _two(
    kind: str,
    op: str,
    build: Callable[[Expr, Expr], Expr],
    witness: tuple[int, ...],
    density: float | None = None,
) -> Wrong:
    return Wrong(kind, op, build, witness, density)


def _three(
    kind: str,
    op: str,
    build: Callable[[Expr, Expr, Expr], Expr],
    witness: tuple[int, ...],
    density: float | None = None,
) -> Wrong:
    return Wrong(kind, op, build, witness, density)


def _short(name: str) -> str:
    family = {"math": "add sub mul div mod mul_hi negate", "compare": "eq ne lt gt le ge"}
    family |= {"bitwise": "and or xor not shl shr popcount clz ctz reverse_bits"}
    for room, names in family.items():
        if name in names.split():
            return f"primitive.{room}.{name}"
    return f"primitive.{name}" if name.startswith("logical.") else name


def _signed(a: Expr) -> Expr:
    """Turns an unsigned comparison into a signed one."""
    return a ^ TOP


def _negative(a: Expr) -> Expr:
    return a >> 31


def _magnitude(a: Expr) -> Expr:
    return Select(_negative(a), -a, a)


def _signed_div(a: Expr, b: Expr) -> Expr:
    quotient = _magnitude(a) // _magnitude(b)
    return Select(_negative(a ^ b), -quotient, quotient)


def _signed_mod(a: Expr, b: Expr) -> Expr:
    rest = _magnitude(a) % _magnitude(b)
    return Select(_negative(a), -rest, rest)


def _arithmetic(a: Expr, b: Expr) -> Expr:
    fill = Select(_negative(a), ~(LitU32(MAX) >> b), LitU32(0))
    return (a >> b) | fill


def _rounded(a: Expr) -> Expr:
    """An operand that went through a float of 24 bits, cut off."""
    low = (LitU32(1) << (LitU32(8) - UnOp(UnaryOp.Clz, a))) - 1
    return Select(a > 0xFF_FFFF, a & ~low, a)


def _unary(op: UnaryOp) -> Callable[[Expr], UnOp]:
    return lambda a: UnOp(op, a)


_popcount, _clz, _ctz = (_unary(o) for o in (UnaryOp.Popcount, UnaryOp.Clz, UnaryOp.Ctz))
_reverse, _not = _unary(UnaryOp.ReverseBits), _unary(UnaryOp.LogicalNot)


def _rules() -> Iterator[Wrong]:
    for name, op in (("shl", BinaryOp.Shl), ("shr", BinaryOp.Shr)):
        shift = partial(BinOp, op)
        yield _two(
            "shift amount not masked",
            name,
            lambda a, b, f=shift: Select(b > 31, LitU32(0), f(a, b)),
            (1 << 4, 32),
        )
        yield _two(
            "shift by exactly 32 gives 0",
            name,
            lambda a, b, f=shift: Select(b.eq(32), LitU32(0), f(a, b)),
            (0x10, 32),
            2.0**-32,
        )
        yield _two(
            "shift amount clamped to 31",
            name,
            lambda a, b, f=shift: f(a, Select(b > 31, LitU32(31), b)),
            (0x8000_0001, 32),
        )
        yield _two(
            "shift amount of 8 bits",
            name,
            lambda a, b, f=shift: Select((b & 0xFF) > 31, LitU32(0), f(a, b)),
            (0x10, 33),
        )
    yield _two("arithmetic right shift", "shr", _arithmetic, (TOP, 1), 0.5)
    for name, op in (("lt", BinaryOp.Lt), ("gt", BinaryOp.Gt), ("le", BinaryOp.Le), ("ge", BinaryOp.Ge)):
        compare = partial(BinOp, op)
        yield _two("signed compare", name, lambda a, b, f=compare: f(_signed(a), _signed(b)), (0, TOP), 0.5)
        yield _two(
            "compare of the difference",
            name,
            lambda a, b, f=compare: f(_signed(a - b), LitU32(TOP)),
            (0, 0xC000_0000),
            0.25,
        )
        yield _two(
            "compare of the high halves", name, lambda a, b, f=compare: f(a >> 16, b >> 16), _halves(name)
        )
    for s in primitives():
        if s.id.startswith(("primitive.compare.", "primitive.logical.")):
            truth = (5, 0) if s.id.endswith((".gt", ".ge", ".ne", ".or")) else (0, 5)
            witness = {"eq": (7, 7), "and": (1, 1), "not": (0,)}.get(s.id.rpartition(".")[2], truth)
            yield Wrong("truth is all ones", s.id, partial(_negated, s.id), witness)
    yield _two(
        "compare of the low halves", "eq", lambda a, b: (a & 0xFFFF).eq(b & 0xFFFF), (0x10000, 0), 2.0**-16
    )
    yield _two(
        "compare of the low halves", "ne", lambda a, b: (a & 0xFFFF).ne(b & 0xFFFF), (0x10000, 0), 2.0**-16
    )
    yield _two(
        "compare of floats", "eq", lambda a, b: _rounded(a).eq(_rounded(b)), (0x0200_0000, 0x0200_0001)
    )
    for name, op in (("div", BinaryOp.Div), ("mod", BinaryOp.Mod)):
        f = partial(BinOp, op)
        for what, value in (("the largest number", MAX), ("1", 1)):
            yield _two(
                f"division by zero gives {what}",
                name,
                lambda a, b, f=f, v=value: Select(b.eq(0), LitU32(v), f(a, b)),
                (5, 0),
                2.0**-32,
            )
        yield _two(
            "division by zero gives the dividend",
            name,
            lambda a, b, f=f: Select(b.eq(0), a, f(a, b)),
            (5, 0),
            2.0**-32,
        )
        yield _two(
            "division of floats",
            name,
            lambda a, b, f=f: f(_rounded(a), b),
            (0x0200_0001, 1 if name == "div" else 3),
        )
        yield _two(
            "division off by one at multiples",
            name,
            lambda a, b, f=f: Select((a % b).eq(0).and_(a > 0xFF_FFFF).and_(b > 1), f(a - 1, b), f(a, b)),
            (0x0300_0000, 3),
        )
    yield _two("signed division", "div", _signed_div, (TOP, 3), 0.75)
    yield _two("signed division", "mod", _signed_mod, (TOP, 3), 0.75)
    yield _two(
        "saturating arithmetic", "add", lambda a, b: Select(a + b < a, LitU32(MAX), a + b), (MAX, 1), 0.5
    )
    yield _two("saturating arithmetic", "sub", lambda a, b: Select(a < b, LitU32(0), a - b), (0, 1), 0.5)
    yield _two(
        "saturating arithmetic", "mul", lambda a, b: Select(mul_hi(a, b).ne(0), LitU32(MAX), a * b), (TOP, 2)
    )
    yield _two("24-bit multiplier", "mul", lambda a, b: (a & 0xFF_FFFF) * (b & 0xFF_FFFF), (0x100_0000, 1))
    yield _two("16-bit multiplier", "mul", lambda a, b: (a & 0xFFFF) * (b & 0xFFFF), (0x10000, 1))
    yield _two("arithmetic of floats", "mul", lambda a, b: _rounded(a) * b, (0x0200_0001, 1))
    yield _two("arithmetic of floats", "add", lambda a, b: _rounded(a) + b, (0x0200_0001, 1))
    yield _two("arithmetic of floats", "sub", lambda a, b: _rounded(a) - b, (0x0200_0001, 1))
    yield _two("high product without its carry", "mul_hi", _no_carry, (0xFFFF_FFFF, 0xFFFF_FFFF))
    yield _two("signed high product", "mul_hi", _signed_high, (MAX, MAX), 0.75)
    yield _two("low product for the high one", "mul_hi", lambda a, b: a * b, (3, 5))
    yield _two("logic of the bits", "logical.and", lambda a, b: (a & b).ne(0), (1, 2))
    yield _two("logic of the bits", "logical.and", lambda a, b: a & b, (3, 3), 0.9)
    yield _two("logic of the bits", "logical.or", lambda a, b: a | b, (2, 0), 1.0)
    yield _one("logic of the bits", "logical.not", lambda a: (~a) & 1, (2,), 0.5)
    yield _two("logic of a byte", "logical.and", lambda a, b: (a & 0xFF).ne(0) & (b & 0xFF).ne(0), (0x100, 1))
    yield _two("logic of a byte", "logical.or", lambda a, b: ((a | b) & 0xFF).ne(0), (0x100, 0), 2.0**-16)
    yield _one("logic of a byte", "logical.not", lambda a: (a & 0xFF).eq(0), (0x100,), 2.0**-8)
    yield _one("count of zero", "clz", lambda a: Select(a.eq(0), LitU32(31), _clz(a)), (0,), 2.0**-32)
    yield _one("count of zero", "clz", lambda a: Select(a.eq(0), LitU32(MAX), _clz(a)), (0,), 2.0**-32)
    yield _one("count of zero", "ctz", lambda a: Select(a.eq(0), LitU32(0), _ctz(a)), (0,), 2.0**-32)
    yield _one("count of zero", "ctz", lambda a: Select(a.eq(0), LitU32(31), _ctz(a)), (0,), 2.0**-32)
    yield _one("index of the highest bit", "clz", lambda a: LitU32(31) - _clz(a), (1,), 1.0)
    yield _one("count of half a word", "popcount", lambda a: _popcount(a & 0xFFFF), (0x10000,), 1.0)
    yield _one(
        "count of a float's exponent",
        "clz",
        lambda a: Select(a > 0xFFFF_FF7F, LitU32(MAX), _clz(a)),
        (0xFFFF_FF80,),
        3e-8,
    )
    yield _one("bytes reversed, not bits", "reverse_bits", _bytes_reversed, (1,), 1.0)
    yield _one(
        "signed negation saturates",
        "negate",
        lambda a: Select(a.eq(TOP), LitU32(TOP - 1), -a),
        (TOP,),
        2.0**-32,
    )
    yield _one("complement of the sign kept", "not", lambda a: ~a & (MAX >> 1), (0,), 0.5)
    yield _three(
        "condition of the lowest bit", "value.select", lambda c, a, b: Select(c & 1, a, b), (2, 1, 0), 0.5
    )
    yield _three(
        "condition of a byte", "value.select", lambda c, a, b: Select(c & 0xFF, a, b), (0x100, 1, 0), 2.0**-8
    )
    yield _three(
        "condition above zero, signed",
        "value.select",
        lambda c, a, b: Select(c.eq(0).or_(c > MAX >> 1), b, a),
        (TOP, 1, 0),
        0.5,
    )
    yield _three("condition not negated", "value.select", lambda c, a, b: Select(c, b, a), (1, 1, 0), 1.0)
    for first, second, witness in _SWAPPED:
        other = BinaryOp(_operator(second))
        yield _two("another operator", first, lambda a, b, o=other: BinOp(o, a, b), witness)
    for name, witness in _ORDERED.items():
        o = BinaryOp(_operator(name))
        yield _two("operands exchanged", name, lambda a, b, o=o: BinOp(o, b, a), witness)


_SWAPPED = (
    ("add", "or", (1, 1)),
    ("add", "xor", (1, 1)),
    ("add", "sub", (5, 3)),
    ("sub", "add", (5, 3)),
    ("sub", "xor", (4, 1)),
    ("mul", "add", (3, 3)),
    ("mul", "mul_hi", (3, 3)),
    ("div", "mod", (7, 2)),
    ("mod", "div", (7, 2)),
    ("mod", "and", (7, 2)),
    ("and", "or", (1, 2)),
    ("or", "xor", (1, 1)),
    ("or", "add", (1, 1)),
    ("xor", "or", (1, 1)),
    ("shl", "shr", (2, 1)),
    ("shr", "shl", (2, 1)),
    ("eq", "ne", (1, 1)),
    ("ne", "eq", (1, 1)),
    ("lt", "le", (1, 1)),
    ("gt", "ge", (1, 1)),
    ("le", "lt", (1, 1)),
    ("ge", "gt", (1, 1)),
    ("lt", "gt", (1, 2)),
    ("eq", "le", (1, 2)),
    ("ge", "ne", (1, 1)),
    ("logical.and", "logical.or", (0, 1)),
    ("logical.or", "logical.and", (0, 1)),
)
_ORDERED = {
    "sub": (5, 3),
    "div": (7, 2),
    "mod": (7, 2),
    "shl": (3, 1),
    "shr": (3, 1),
    "lt": (1, 2),
    "gt": (1, 2),
    "le": (1, 2),
    "ge": (1, 2),
}


def _operator(name: str) -> str:
    special = {"and": "BitAnd", "or": "BitOr", "xor": "BitXor", "mul_hi": "MulHi"}
    special |= {"logical.and": "And", "logical.or": "Or"}
    return special.get(name) or name.capitalize()


def _halves(name: str) -> tuple[int, int]:
    return (1, 2) if name == "lt" else (2, 1) if name in ("gt", "le") else (1, 2)


def _negated(op: str, *operands: Expr) -> Expr:
    form: Any = spec(op).form
    return -form.build(operands)


def _no_carry(a: Expr, b: Expr) -> Expr:
    """Schoolbook halves, with the carry of the middle column forgotten."""
    high = (a >> 16) * (b >> 16)
    return high + (((a >> 16) * (b & 0xFFFF)) >> 16) + (((a & 0xFFFF) * (b >> 16)) >> 16)


def _signed_high(a: Expr, b: Expr) -> Expr:
    return mul_hi(a, b) - Select(_negative(a), b, LitU32(0)) - Select(_negative(b), a, LitU32(0))


def _bytes_reversed(a: Expr) -> Expr:
    return (a << 24) | ((a & 0xFF00) << 8) | ((a >> 8) & 0xFF00) | (a >> 24)


def mutants() -> Iterator[Mutant]:
    seen: dict[str, int] = {}
    for rule in _rules():
        op = _short(rule.op)
        number = seen[f"{rule.kind}{op}"] = seen.get(f"{rule.kind}{op}", 0) + 1
        where = op if number == 1 else f"{op} #{number}"
        words = ",".join(f"0x{w:X}" for w in rule.witness)
        yield Mutant(
            rule.kind, where, LOWERING, partial(_make, op, rule.build), f"{op}/inputs/{words}", rule.density
        )


def _make(op: str, build: Build, inner: Backend) -> Mutated:
    return Mutated(inner, change=partial(_change, op, build))


def _change(op: str, build: Build, program: Program) -> Program:
    found = spec(op)

    def expr(e: Expr) -> Expr:
        operands = operands_of(found, e)
        return e if operands is None else build(*operands)

    return rewrite(program, expr=expr)
