"""Plausible wrong meanings of what a golden row promises, as functions on bits.

    cases_of(row)        what the row says: operands and result, all of them for a row with variables
    right_meaning(row)   the operation of the row
    wrong_meanings(row)  what somebody else might have understood, by name
    samples_of(row)      operands that tell whether such a meaning is wrong at all

A row of the documents is shown by its golden rows when together they contradict every one of these that is
wrong at all. They are built from Python's integers and from the reference's float operations, each applied
where another one belongs, or with a mistake around it.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

from tests.wrong.meanings.casts import casts, conversions, signed, to_integer
from tests.wrong.meanings.floats import apart, constants, float_binary, float_unary, multiply_adds, reductions
from vyre.conform.oracle.golden.rows import Row, number
from vyre.conform.oracle.golden.samples import EDGES
from vyre.conform.verify.golden.jobs import _cases
from vyre.conform.verify.golden.operations import ELEMENT_KINDS, operation_of
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOp, ReduceOrder, RoundMode, UnaryOp
from vyre.ir.types import FLOAT_TYPES, DataType
from vyre.reference import floats, integers
from vyre.reference.casts import caster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.wrong.meanings.floats import Meanings, One, Three, Two

    Meaning = Callable[..., Any]
    Effect = Callable[[int, int, int, bool], tuple[int, int]]

M = 0xFFFF_FFFF
_T = DataType
KINDS = (ELEMENT_KINDS - {"approx", "select", "lane", "make"}) | {"atomic", "reduce"}


def cases_of(row: Row) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Operands and result of every case of a row."""
    match row.kind:
        case "atomic":
            given = [number(row[k], {}) if k in row.fields else 0 for k in ("before", "value", "compare")]
            yield (*given, row["in_bounds"]), (number(row["returned"], {}), number(row["after"], {}))
        case "reduce":
            yield (tuple(number(v, {}) for v in row["values"]),), number(row["expected"], {})
        case _:
            for case in _cases(row):
                yield case.inputs, case.expected


def wrong_meanings(row: Row) -> Meanings:
    """Other meanings of the operation of a row; some may agree with the right one everywhere."""
    match row.kind:
        case "cast":
            return casts(_T(row["from"]), _T(row["to"]))
        case "convert":
            return conversions(row)
        case "fma" | "unfused":
            return multiply_adds(floats.FORMATS[_T(row["type"])], fused=row.kind == "fma")
        case "atomic":
            return _atomics(AtomicOp(row["op"]))
        case "reduce":
            return reductions(row)
        case "binary" if _T(row["type"]) in FLOAT_TYPES:
            return float_binary(BinaryOp(row["op"]), _T(row["type"]))
        case "unary" if _T(row["type"]) in FLOAT_TYPES:
            return float_unary(UnaryOp(row["op"]), _T(row["type"]))
        case "binary":
            return _integer_binary(BinaryOp(row["op"]))
        case _:
            return _integer_unary(UnaryOp(row["op"]))


def right_meaning(row: Row) -> Meaning:
    """What the operation of a row is, by the reference."""
    match row.kind:
        case "cast":
            return caster(_T(row["from"]), _T(row["to"]))
        case "convert" if _T(row["from"]) in FLOAT_TYPES:
            return partial(to_integer, floats.FORMATS[_T(row["from"])], RoundMode(row["mode"]), _T(row["to"]))
        case "convert":
            return partial(floats.from_integer, floats.FORMATS[_T(row["to"])], _T(row["from"]))
        case "fma":
            return partial(floats.fma, floats.FORMATS[_T(row["type"])])
        case "unfused":
            return partial(apart, floats.FORMATS[_T(row["type"])])
        case "atomic":
            return _ATOMICS[row["op"]]
        case "reduce":
            order, op = ReduceOrder(row["order"]), ReduceOp(row["op"])
            return partial(floats.reduce, order, op, floats.FORMATS[_T(row["type"])])
        case "binary" if _T(row["type"]) in FLOAT_TYPES:
            return partial(floats.binary, BinaryOp(row["op"]), floats.FORMATS[_T(row["type"])])
        case "unary" if _T(row["type"]) in FLOAT_TYPES:
            return partial(floats.unary, UnaryOp(row["op"]), floats.FORMATS[_T(row["type"])])
        case "binary":
            return integers.BINARY[BinaryOp(row["op"])]
        case _:
            return integers.UNARY[UnaryOp(row["op"])]


def samples_of(row: Row) -> Iterator[tuple[Any, ...]]:
    """Operands on which meanings that differ at all are expected to differ."""
    rng = Random(row.stem)
    match row.kind:
        case "atomic":
            for before, value, compare in product((0, 5, 1 << 31, M), repeat=3):
                yield before, value, compare, True
            yield 5, 3, 5, False
        case "reduce":
            edges, fmt = EDGES[_T(row["type"])], floats.FORMATS[_T(row["type"])]
            for length in (0, 1, 2, 3, 5, 6, 7):
                for _ in range(40):
                    yield (tuple(rng.choice(edges) ^ rng.getrandbits(3) for _ in range(length)),)
                    yield (tuple(fmt.one | rng.getrandbits(fmt.fraction_bits) for _ in range(length)),)
        case _:
            operands = operation_of(row).operands
            slow = row.kind == "unary" and row["op"].startswith("F")
            columns = [_values(t, rng) for t in operands]
            yield from product(*columns) if len(columns) < 3 else zip(*columns, strict=True)
            for _ in range(20 if slow else 200):
                yield tuple(
                    rng.choice(column) ^ rng.getrandbits(4) & _mask(t)
                    for column, t in zip(columns, operands, strict=True)
                )


def _values(of: DataType, rng: Random) -> list[int]:
    if of in EDGES:
        return list(EDGES[of])
    lanes = [0, 1, 5, 1 << 31, M]
    found = [sum(rng.choice(lanes) << 32 * k for k in range(of.lanes)) for _ in range(40)]
    return [0, *(1 << 32 * k for k in range(of.lanes)), *found]


def _mask(of: DataType) -> int:
    return 1 if of is _T.Bool else M


def _integer_binary(op: BinaryOp) -> Meanings:
    others = {f"{other.value} instead": f for other, f in integers.BINARY.items() if other is not op}
    right = integers.BINARY[op]
    found: dict[str, Two] = {
        **others,
        "operands swapped": lambda a, b: right(b, a),
        "by zero all ones": lambda a, b: right(a, b) if b else M,
        "by zero the left operand": lambda a, b: right(a, b) if b else a,
        "amounts above 31 give zero": lambda a, b: right(a, b) if b < 32 else 0,
        "left operand extended by its sign": lambda a, b: (signed(a) >> (b & 31)) & M,
        "operands signed": lambda a, b: right(a ^ 1 << 31, b ^ 1 << 31),
        "saturating": lambda a, b: min(
            M, max(0, {"Add": a + b, "Sub": a - b, "Mul": a * b}.get(op.value, -1))
        ),
        "truth as all ones": lambda a, b: M if right(a, b) == 1 else right(a, b),
        "bit by bit": lambda a, b: (
            a & b if op is BinaryOp.And else a | b if op is BinaryOp.Or else right(a, b)
        ),
    }
    return {**found, **constants(32)}


def _integer_unary(op: UnaryOp) -> Meanings:
    others = {f"{other.value} instead": f for other, f in integers.UNARY.items() if other is not op}
    right = integers.UNARY[op]
    found: dict[str, One] = {
        **others,
        "of zero 31": lambda a: right(a) if a else 31,
        "of zero all ones": lambda a: right(a) if a else M,
        "of the low 16 bits": lambda a: right(a & 0xFFFF),
        "bytes reversed": lambda a: int.from_bytes(a.to_bytes(4, "little"), "big"),
        "unchanged": lambda a: a,
    }
    return {**found, **constants(32)}


def _effect(made: Three) -> Effect:
    """What an atomic returns and leaves, from what it makes of the old value."""

    def effect(before: int, value: int, compare: int, inside: bool) -> tuple[int, int]:
        return (before, made(before, value, compare) & M) if inside else (0, before)

    return effect


_ATOMICS: dict[str, Effect] = {
    "Add": _effect(lambda b, v, c: b + v),
    "Or": _effect(lambda b, v, c: b | v),
    "And": _effect(lambda b, v, c: b & v),
    "Xor": _effect(lambda b, v, c: b ^ v),
    "Min": _effect(lambda b, v, c: min(b, v)),
    "Max": _effect(lambda b, v, c: max(b, v)),
    "Exchange": _effect(lambda b, v, c: v),
    "CompareExchange": _effect(lambda b, v, c: v if b == c else b),
}


def _atomics(op: AtomicOp) -> Meanings:
    right = _ATOMICS[op.value]
    pick = min if op is AtomicOp.Min else max

    def returns_new(before: int, value: int, compare: int, inside: bool) -> tuple[int, int]:
        returned, left = right(before, value, compare, inside)
        return (left, left) if inside else (returned, left)

    others = {f"{name} instead": f for name, f in _ATOMICS.items() if name != op.value}
    return {
        **others,
        "Sub instead": _effect(lambda b, v, c: b - v),
        "the new value returned": returns_new,
        "nothing stored": _effect(lambda b, v, c: b),
        "signed": _effect(lambda b, v, c: pick(b, v, key=signed)),
        "saturating": _effect(lambda b, v, c: min(M, b + v)),
        "compared with the value": _effect(lambda b, v, c: c if b == v else b),
    }
