"""`fp8.*` and `nf4.*`: floats of 8 and 4 bits as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.oracle.small_floats import INFINITY, NAN, middles, signed_middles, value_bits
from vyre.conform.registry.build import MAX, TOP, c, law0, law1
from vyre.conform.registry.ids import AND, LE, XOR
from vyre.conform.registry.library.entry import Promise, entry
from vyre.conform.registry.library.operands import negative, whole, zero
from vyre.conform.spec.law import Bounded, ap
from vyre.conform.spec.term import Constant, Equation, Term
from vyre.ir.types import DataType
from vyre.ops.quantised import FORMATS, NF4

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.spec.op import OpSpec
    from vyre.ops.quantised import Format
    from vyre.semantics.domain import Domain

    D = Domain[Any]

F32 = DataType.F32
_MIDDLES = signed_middles(NF4)


def _size(d: D, a: Any) -> Any:
    return d.and_(a, d.const(TOP - 1))


def _chosen(d: D, index: Any, values: list[int]) -> Any:
    """The constant whose number the index is; 0 past the last."""
    found = d.const(0)
    for k, value in enumerate(values):
        found = d.ite(d.eq(index, d.const(k)), d.const(value), found)
    return found


def _decoder(f: Format) -> Callable[..., Any]:
    """A magnitude below the first normal one by name, the others by moving their fields."""
    small = [value_bits(f, code) for code in range(f.first_normal)]

    def decode(d: D, a: Any) -> Any:
        size = d.and_(a, d.const(0x7F))
        sign = d.shl(d.and_(a, d.const(0x80)), d.const(24))
        field = d.add(d.shr(size, d.const(f.fraction)), d.const(127 - f.bias))
        fraction = d.and_(size, d.const(f.first_normal - 1))
        normal = d.or_(d.shl(field, d.const(23)), d.shl(fraction, d.const(f.dropped)))
        value = d.ite(d.ult(size, d.const(f.first_normal)), _chosen(d, size, small), normal)
        value = d.ite(d.ult(d.const(f.largest), size), d.const(INFINITY), value)
        last = f.over if f.infinite else f.largest
        return d.ite(d.ult(d.const(last), size), d.const(NAN), d.or_(sign, value))

    return decode


def _encoder(f: Format, over: int) -> Callable[..., Any]:
    """As many codes as there are middles at or below the magnitude."""
    limits = middles(f)

    def encode(d: D, a: Any) -> Any:
        size, code = _size(d, a), d.const(0)
        for bits, tie in limits:
            passed = d.ule(d.const(bits), size) if tie else d.ult(d.const(bits), size)
            code = d.add(code, passed)
        sign = d.and_(d.shr(a, d.const(24)), d.const(0x80))
        beyond = d.const(over) if over == f.nan else d.or_(sign, d.const(over))
        found = d.ite(d.ult(d.const(f.largest), code), beyond, d.or_(sign, code))
        return d.ite(d.ult(d.const(INFINITY), size), d.const(f.nan), found)

    return encode


def _decode_nf4(d: D, a: Any) -> Any:
    return _chosen(d, d.and_(a, d.const(15)), list(NF4))


def _encode_nf4(d: D, a: Any) -> Any:
    size, code = _size(d, a), d.const(0)
    plus = d.eq(d.shr(a, d.const(31)), d.const(0))
    for positive, last, exact in _MIDDLES:
        if positive:
            passed = d.and_(plus, d.ult(d.const(last), size))
        else:
            short = d.ult(size, d.const(last)) if exact else d.ule(size, d.const(last))
            passed = d.or_(plus, short)
        code = d.add(code, passed)
    return d.ite(d.ult(d.const(INFINITY), size), d.const(7), code)


def _word(value: Term) -> Term:
    return ap("cast.f32.u32", value)


def _masked(bits: int) -> Any:
    return law1(f"only {bits.bit_length()} bits count", lambda f, a: Equation(f(a), f(ap(AND, a, c(bits)))))


def _opposite(f: Format) -> Any:
    """Of numbers; NaN has no sign."""
    return law1(
        "bit 7 is the sign",
        lambda g, a: Equation(
            _word(g(ap(XOR, a, c(0x80)))),
            ap(XOR, _word(g(a)), c(TOP)),
            precondition=ap(LE, ap(AND, a, c(0x7F)), c(f.largest)),
        ),
    )


def _undoes(decode: str, mask: int, largest: int) -> Any:
    size = mask >> 1 if mask == 0xFF else mask
    return law1(
        "undoes decoding",
        lambda f, a: Equation(
            f(ap(decode, a)), ap(AND, a, c(mask)), precondition=ap(LE, ap(AND, a, c(size)), c(largest))
        ),
    )


def _of_infinity(over: int) -> Any:
    return law0("of infinity", lambda f: Equation(f(Constant(INFINITY, F32)), c(over)))


def _places(limits: list[int]) -> tuple[int, ...]:
    """Each middle and what comes before it, some of them below zero, and what is no number."""
    near = {bits - step for bits in limits for step in (0, 1)}
    edges = {0, 1, 0x7F_FFFF, INFINITY - 1, INFINITY, INFINITY + 1, NAN, TOP - 1}
    below = {bits | TOP for bits in (*limits[::8], *edges)}
    return tuple(sorted(near | edges | below))


def _of_format(f: Format) -> list[OpSpec]:
    name = f"fp8.{f.name}"
    encoders = {"encode": f.largest, "encode_over": f.over}
    numbers = (whole(), zero(1), negative(0))
    return [
        entry(
            f"{name}.decode",
            Promise(_decoder(f), (), (_masked(0xFF), _opposite(f))),
            (whole(), zero(1)),
            ((*range(256), 256, 0xFFFF, MAX),),
        ),
        *(
            entry(
                f"{name}.{op}",
                Promise(
                    _encoder(f, over),
                    (Bounded(0, 255),),
                    (_undoes(f"{name}.decode", 0xFF, f.largest), _of_infinity(over)),
                ),
                numbers,
                (_places([bits for bits, _ in middles(f)]),),
            )
            for op, over in encoders.items()
        ),
    ]


def specs() -> list[OpSpec]:
    return [
        *(spec for f in FORMATS for spec in _of_format(f)),
        entry(
            "nf4.decode",
            Promise(
                _decode_nf4,
                (),
                (_masked(0xF), law0("code 7 is 0", lambda f: Equation(_word(f(c(7))), c(0)))),
            ),
            (whole(), zero(1)),
            ((*range(32), 0xFFFF, MAX),),
        ),
        entry(
            "nf4.encode",
            Promise(
                _encode_nf4,
                (Bounded(0, 15),),
                (_undoes("nf4.decode", 0xF, 15), _of_infinity(15)),
            ),
            (whole(), zero(1), negative(0)),
            (_places([last for _, last, _ in _MIDDLES]),),
        ),
    ]
