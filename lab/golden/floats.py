"""Writes the float rows of the golden data: floats.json, conversions.json, reductions.json,
approximate.json.

    python tools/make_golden_floats.py            checks that the files hold what this script computes
    python tools/make_golden_floats.py --write    rewrites them

Expected bits come from MPFR (gmpy2), which shares nothing with the reference interpreter. Arithmetic is
computed a second time with exact fractions and the functions a second time with Arb balls
(python-flint); a disagreement stops the script. Rows are permanent: append inputs, never change them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import gmpy2
from gmpy2 import mpfr
from golden_float_inputs import (
    APPROX,
    BINARY,
    FMA,
    FROM_INTEGER,
    REDUCE,
    REDUCE_APPROX,
    TO_INTEGER,
    TOLERANCE,
    UNARY,
    UNFUSED,
    WIDTH_CASTS,
)

DATA = Path(__file__).parent.parent / "src/vyre/conform/oracle/golden/data"
SECTION = "003/Float semantics — strict IEEE 754, deterministic across backends"
FORBIDDEN = (
    f"{SECTION} (list)",
    "002/Float Semantics — deterministic via restriction (list)",
)

Row = dict[str, Any]


class Format:
    """One float format, by its exponent and fraction widths."""

    def __init__(self, name: str, exponent: int, fraction: int) -> None:
        self.name = name
        self.fraction = fraction
        self.digits = 2 + (1 + exponent + fraction) // 4
        self.sign = 1 << (exponent + fraction)
        self.infinity = ((1 << exponent) - 1) << fraction
        self.nan = self.infinity | (1 << (fraction - 1))
        self.bias = (1 << (exponent - 1)) - 1
        self.emin = 2 - self.bias - fraction  # MPFR's exponent of the least subnormal
        self.context = gmpy2.context(
            precision=fraction + 1, emax=self.bias + 1, emin=self.emin, subnormalize=True
        )

    def hex(self, bits: int) -> str:
        return f"{bits:#0{self.digits}x}".replace("0x", "#").upper().replace("#", "0x")

    def value(self, bits: int) -> Any:
        """The exact MPFR value of some bits."""
        magnitude = bits & (self.sign - 1)
        if magnitude > self.infinity:
            return mpfr("nan")
        if magnitude == self.infinity:
            return mpfr("-inf" if bits & self.sign else "inf")
        biased, fraction = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        significand = fraction | (1 << self.fraction) if biased else fraction
        exponent = max(biased, 1) - self.bias - self.fraction
        with gmpy2.context(precision=60, emin=-2000, emax=2000):
            scale = gmpy2.mul_2exp if exponent >= 0 else gmpy2.div_2exp
            result = scale(mpfr(significand), abs(exponent))
            return -result if bits & self.sign else result

    def bits(self, value: Any) -> int:
        """The bits of an MPFR value of this format's precision and range."""
        if gmpy2.is_nan(value):
            return self.nan
        sign = self.sign if gmpy2.is_signed(value) else 0
        if gmpy2.is_infinite(value):
            return sign | self.infinity
        return sign | self.encode(abs(exact(value)))

    def encode(self, magnitude: Fraction) -> int:
        """The bits of a positive value that this format holds exactly."""
        if magnitude == 0:
            return 0
        least = Fraction(2) ** (1 - self.bias)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
        exponent = max(exponent, 1 - self.bias)
        while magnitude >= Fraction(2) ** (exponent + 1):
            exponent += 1
        scaled = magnitude / Fraction(2) ** (exponent - self.fraction)
        assert scaled.denominator == 1, f"{magnitude} is no {self.name}"
        if magnitude < least:
            return int(scaled)
        return ((exponent + self.bias) << self.fraction) + int(scaled) - (1 << self.fraction)

    def round(self, value: Fraction, negative_zero: bool = False) -> int:
        """Exact value to bits, to nearest, ties to even: the second opinion on MPFR."""
        sign = self.sign if value < 0 or (value == 0 and negative_zero) else 0
        magnitude = abs(value)
        if magnitude == 0:
            return sign
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
        while magnitude >= Fraction(2) ** (exponent + 1):
            exponent += 1
        quantum = Fraction(2) ** (max(exponent, 1 - self.bias) - self.fraction)
        rounded = round(magnitude / quantum) * quantum
        if rounded >= Fraction(2) ** (self.bias + 1):
            return sign | self.infinity
        return sign | self.encode(rounded)


FORMATS = {
    "F32": Format("F32", 8, 23),
    "F16": Format("F16", 5, 10),
    "BF16": Format("BF16", 8, 7),
    "F64": Format("F64", 11, 52),
}

COMPARE: dict[str, Any] = {
    "FEq": lambda a, b: a == b,
    "FNe": lambda a, b: a != b,
    "FLt": lambda a, b: a < b,
    "FGt": lambda a, b: a > b,
    "FLe": lambda a, b: a <= b,
    "FGe": lambda a, b: a >= b,
}
ARITHMETIC: dict[str, Any] = {
    "FAdd": (gmpy2.add, lambda a, b: a + b),
    "FSub": (gmpy2.sub, lambda a, b: a - b),
    "FMul": (gmpy2.mul, lambda a, b: a * b),
    "FDiv": (gmpy2.div, lambda a, b: a / b),
}
OTHER_BINARY: dict[str, Any] = {
    "FMin": gmpy2.minnum,
    "FMax": gmpy2.maxnum,
    "FATan2": gmpy2.atan2,
    "FPow": lambda a, b: a**b,
}
ROUNDINGS: dict[str, Any] = {
    "FFloor": gmpy2.rint_floor,
    "FCeil": gmpy2.rint_ceil,
    "FRound": gmpy2.rint,
    "FTrunc": gmpy2.rint_trunc,
}
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "FSin": (gmpy2.sin, lambda x: x.sin()),
    "FCos": (gmpy2.cos, lambda x: x.cos()),
    "FTan": (gmpy2.tan, lambda x: x.tan()),
    "FASin": (gmpy2.asin, lambda x: x.asin()),
    "FACos": (gmpy2.acos, lambda x: x.acos()),
    "FATan": (gmpy2.atan, lambda x: x.atan()),
    "FExp": (gmpy2.exp, lambda x: x.exp()),
    "FLog": (gmpy2.log, lambda x: x.log()),
    "FExp2": (gmpy2.exp2, lambda x: flint.arb(2) ** x),
    "FLog2": (gmpy2.log2, lambda x: x.log() / flint.arb(2).log()),
    "FExp10": (gmpy2.exp10, lambda x: flint.arb(10) ** x),
    "FLog10": (gmpy2.log10, lambda x: x.log() / flint.arb(10).log()),
}


def exact(value: Any) -> Fraction:
    numerator, denominator = value.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def finite(*values: Any) -> bool:
    return all(gmpy2.is_finite(v) for v in values)


def ball(value: Any) -> Any:
    q = exact(value)
    return flint.arb(flint.fmpq(q.numerator, q.denominator))


def confirm(fmt: Format, bits: int, result: Any, name: str) -> None:
    """Both ends of an Arb ball must round to these bits; a range error has no second opinion here."""
    if not result.is_finite():
        return
    ends: list[int] = []
    for end in (result.lower(), result.upper()):
        man, exp = end.man_exp()
        if abs(int(exp)) > 5000:
            return
        ends.append(fmt.round(Fraction(int(man)) * Fraction(2) ** int(exp), bool(bits & fmt.sign)))
    if ends[0] == ends[1] and ends[0] != bits:
        sys.exit(f"MPFR and Arb disagree on {name}: {bits:#x} and {ends[0]:#x}")


def binary(op: str, fmt: Format, a: int, b: int) -> int:
    x, y = fmt.value(a), fmt.value(b)
    if op in COMPARE:
        return int(COMPARE[op](x, y))
    with fmt.context:
        compute = OTHER_BINARY[op] if op in OTHER_BINARY else ARITHMETIC[op][0]
        bits = fmt.bits(compute(x, y))
    if op in ARITHMETIC and finite(x, y) and not (op == "FDiv" and y == 0):
        second = fmt.round(ARITHMETIC[op][1](exact(x), exact(y)), bool(bits & fmt.sign))
        if second != bits:
            sys.exit(f"MPFR and fractions disagree on {op} {fmt.hex(a)} {fmt.hex(b)}")
    if op == "FATan2" and finite(x, y) and x != 0 and y != 0:
        confirm(fmt, bits, flint.arb.atan2(ball(x), ball(y)), op)
    if op == "FPow" and finite(x, y) and x > 0:
        confirm(fmt, bits, ball(x) ** ball(y), op)
    return bits


def unary(op: str, fmt: Format, a: int) -> int:
    x = fmt.value(a)
    if op == "FNeg":
        return a ^ fmt.sign
    if op == "FAbs":
        return a & ~fmt.sign
    if op == "FIsNaN":
        return int(gmpy2.is_nan(x))
    if op == "FIsInf":
        return int(gmpy2.is_infinite(x))
    with fmt.context:
        if op == "FSqrt":
            bits = fmt.bits(gmpy2.sqrt(x))
        elif op in ROUNDINGS:
            bits = fmt.bits(ROUNDINGS[op](x))
        else:
            bits = fmt.bits(FUNCTIONS[op][0](x))
    if op in FUNCTIONS and finite(x):
        confirm(fmt, bits, FUNCTIONS[op][1](ball(x)), f"{op} {fmt.hex(a)}")
    if op == "FSqrt" and finite(x) and x > 0:
        confirm(fmt, bits, ball(x).sqrt(), f"{op} {fmt.hex(a)}")
    return bits


def fma(fmt: Format, a: int, b: int, c: int) -> int:
    x, y, z = fmt.value(a), fmt.value(b), fmt.value(c)
    with fmt.context:
        bits = fmt.bits(gmpy2.fma(x, y, z))
    if finite(x, y, z):
        second = fmt.round(exact(x) * exact(y) + exact(z), bool(bits & fmt.sign))
        if second != bits:
            sys.exit(f"MPFR and fractions disagree on FMulAdd {fmt.hex(a)} {fmt.hex(b)} {fmt.hex(c)}")
    return bits


def to_integer(fmt: Format, mode: str, target: str, a: int) -> int:
    x = fmt.value(a)
    low, high = (0, 2**32 - 1) if target == "U32" else (-(2**31), 2**31 - 1)
    if gmpy2.is_nan(x):
        return 0
    if gmpy2.is_infinite(x):
        return high if x > 0 else low
    rounding: Any = {"Nearest": round, "Truncate": math.trunc, "Floor": math.floor, "Ceil": math.ceil}[mode]
    return min(max(rounding(exact(x)), low), high)


def fold(order: str, op: str, fmt: Format, values: list[int]) -> int:
    empty = {"Add": 0, "Mul": fmt.bias << fmt.fraction, "Min": fmt.infinity, "Max": fmt.infinity | fmt.sign}
    if not values:
        return empty[op]
    if len(values) == 1:
        return values[0]
    if order == "Strict":
        head, last = values[:-1], values[-1:]
    else:
        middle = 1 << ((len(values) - 1).bit_length() - 1)
        head, last = values[:middle], values[middle:]
    return binary("F" + op, fmt, fold(order, op, fmt, head), fold(order, op, fmt, last))


class Rows:
    """Rows in order, each with the next number of its stem."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._counts: dict[str, int] = {}

    def add(self, stem: str, kind: str, sources: list[str], note: str = "", **fields: Any) -> None:
        self._counts[stem] = self._counts.get(stem, 0) + 1
        row: Row = {"id": f"{stem}/golden/{self._counts[stem]}", "kind": kind, **fields}
        if sources:
            row["sources"] = sources
        if note:
            row["note"] = note
        self.rows.append(row)


TABLE_ROW = {
    op: n
    for n, family in enumerate(
        (
            "FAdd",
            "FSub",
            "FMul",
            "FDiv",
            "FMulAdd",
            "FSqrt",
            "FMin",
            "FMax",
            "FNeg",
            "FAbs",
            "FEq FNe FLt FGt FLe FGe",
            "FIsNaN",
            "FIsInf",
            "FSin FCos FTan FASin FACos FATan FATan2",
            "FExp FLog FExp2 FLog2 FExp10 FLog10",
            "FPow",
            "FFloor FCeil FRound FTrunc",
        ),
        1,
    )
    for op in family.split()
}
FORBIDDEN_ITEM = {"FDiv": 5, "FSqrt": 5} | dict.fromkeys([*FUNCTIONS, "FATan2", "FPow"], 4)


PLANNED = "002/Planned types (specified but not yet in source)"
TYPE_ROWS = {
    "F32": [f"{PLANNED}/2", "003/Data Types/11"],
    "F16": [f"{PLANNED}/3", "003/Data Types/9"],
    "BF16": [f"{PLANNED}/4", "003/Data Types/10"],
}
PREFIX = {"F32": "float", "F16": "float.f16", "BF16": "float.bf16", "F64": "float.f64"}


def stem_of(op: str, name: str) -> str:
    """The id of the library op that this operator is (decision 20)."""
    names = {"FMulAdd": "fma", "FIsNaN": "is_nan", "FIsInf": "is_inf"}
    return f"{PREFIX[name]}.{names.get(op, op[1:].lower())}"


def sources_of(op: str, name: str) -> list[str]:
    """What the documents say of an operator is shown by its F32 rows together, not by the first of them.

    What they say of a type, that it is strict, is shown by its additions.
    """
    typed = TYPE_ROWS.get(name, []) if op == "FAdd" else []
    if name != "F32":
        return typed
    item = FORBIDDEN_ITEM.get(op)
    return [
        *typed,
        f"{SECTION}/{TABLE_ROW[op]}",
        *([f"{where}/{item}" for where in FORBIDDEN] if item else []),
    ]


def float_rows() -> list[Row]:
    rows = Rows()
    for name, table in BINARY.items():
        for op, cases in table.items():
            for a, b in cases:
                fmt = FORMATS[name]
                expected = binary(op, fmt, a, b)
                shown = expected if op in COMPARE else fmt.hex(expected)
                sources = sources_of(op, name)
                if name == "F32" and op in ("FAdd", "FMul"):
                    sources += [f"{forbidden}/3" for forbidden in FORBIDDEN]
                rows.add(
                    stem_of(op, name), "binary", sources, op=op, type=name,
                    inputs=[fmt.hex(a), fmt.hex(b)], expected=shown,
                )  # fmt: skip
    for name, table in UNARY.items():
        for op, cases in table.items():
            for a in cases:
                fmt = FORMATS[name]
                expected = unary(op, fmt, a)
                shown = expected if op in ("FIsNaN", "FIsInf") else fmt.hex(expected)
                rows.add(
                    stem_of(op, name), "unary", sources_of(op, name), op=op, type=name,
                    inputs=[fmt.hex(a)], expected=shown,
                )  # fmt: skip
    for name, cases in FMA.items():
        for a, b, c in cases:
            fmt = FORMATS[name]
            rows.add(
                stem_of("FMulAdd", name), "fma", sources_of("FMulAdd", name), type=name,
                inputs=[fmt.hex(a), fmt.hex(b), fmt.hex(c)], expected=fmt.hex(fma(fmt, a, b, c)),
            )  # fmt: skip
    for name, cases in UNFUSED.items():
        for a, b, c in cases:
            fmt = FORMATS[name]
            expected = binary("FAdd", fmt, binary("FMul", fmt, a, b), c)
            assert expected != fma(fmt, a, b, c), "this case cannot tell fused from unfused"
            rows.add(
                f"{PREFIX[name]}.unfused", "unfused", [f"{f}/1" for f in FORBIDDEN],
                note="two roundings; one rounding gives other bits", type=name,
                inputs=[fmt.hex(a), fmt.hex(b), fmt.hex(c)], expected=fmt.hex(expected),
            )  # fmt: skip
    for name, fmt in FORMATS.items():
        magnitude, infinity = fmt.hex(fmt.sign - 1), fmt.hex(fmt.infinity)
        for op, formula in (
            ("FNeg", f"x ^ {fmt.hex(fmt.sign)}"),
            ("FAbs", f"x & {magnitude}"),
            ("FIsNaN", f"(x & {magnitude}) > {infinity}"),
            ("FIsInf", f"(x & {magnitude}) == {infinity}"),
        ):
            rows.add(
                stem_of(op, name),
                "unary",
                sources_of(op, name),
                op=op,
                type=name,
                inputs=["x"],
                expected=formula,
            )
    return rows.rows


def conversion_rows() -> list[Row]:
    rows = Rows()
    table = f"{SECTION}#2"
    planned = "001/Planned casts (not yet in source)"
    where = {
        ("F16", "F32"): [f"{planned}/16", f"{table}/2"],
        ("F32", "F16"): [f"{planned}/17", f"{table}/1"],
        ("BF16", "F32"): [f"{planned}/18", f"{table}/4"],
        ("F32", "BF16"): [f"{planned}/19", f"{table}/3"],
    }
    for (source, target), values in WIDTH_CASTS.items():
        for a in values:
            fmt, into = FORMATS[source], FORMATS[target]
            value = fmt.value(a)
            with into.context:
                bits = into.bits(+value)
            if finite(value) and into.round(exact(value), gmpy2.is_signed(value)) != bits:
                sys.exit(f"MPFR and fractions disagree on {source} {fmt.hex(a)} to {target}")
            rows.add(
                f"cast.{source.lower()}.{target.lower()}", "cast",
                where.get((source, target), []),
                **{"from": source, "to": target}, inputs=[fmt.hex(a)], expected=into.hex(bits),
            )  # fmt: skip
    for (source, target), values in TO_INTEGER.items():
        for mode in ("Truncate", "Nearest", "Floor", "Ceil"):
            for a in values:
                fmt = FORMATS[source]
                main = (source, target) == ("F32", "I32")
                rows.add(
                    f"convert.{source.lower()}.{target.lower()}.{mode.lower()}", "convert",
                    [f"{table}/5"] if main else [], **{"from": source, "to": target}, mode=mode,
                    inputs=[fmt.hex(a)], expected=to_integer(fmt, mode, target, a),
                )  # fmt: skip
    for (source, target), values in FROM_INTEGER.items():
        for a in values:
            into = FORMATS[target]
            number = {"I32": 6, "U32": 7}[source]
            rows.add(
                f"convert.{source.lower()}.{target.lower()}.nearest", "convert",
                [f"{table}/{number}"] if target == "F32" else [],
                **{"from": source, "to": target}, mode="Nearest",
                inputs=[a], expected=into.hex(into.round(Fraction(a))),
            )  # fmt: skip
    return rows.rows


def reduction_rows() -> list[Row]:
    rows = Rows()
    for name, op, values in REDUCE:
        fmt = FORMATS[name]
        for n, order in enumerate(("Strict", "TreeBinary"), 1):
            stem = f"{PREFIX[name]}.reduce.{'strict' if order == 'Strict' else 'tree_binary'}.{op.lower()}"
            rows.add(
                stem, "reduce", [f"{SECTION}#3/{n}", *(f"{f}/2" for f in FORBIDDEN)], order=order, op=op,
                type=name, values=[fmt.hex(v) for v in values],
                expected=fmt.hex(fold(order, op, fmt, values)),
            )  # fmt: skip
    return rows.rows


APPROXIMATE: dict[str, Any] = {
    "FSinApprox": gmpy2.sin,
    "FCosApprox": gmpy2.cos,
    "FExpApprox": gmpy2.exp,
    "FLogApprox": gmpy2.log,
    "FTanhApprox": gmpy2.tanh,
}


def approximate_rows() -> list[Row]:
    rows = Rows()
    for name, values in APPROX.items():
        fmt = FORMATS[name]
        for op, function in APPROXIMATE.items():
            for a in values:
                with fmt.context:
                    bits = fmt.bits(function(fmt.value(a)))
                rows.add(
                    f"{PREFIX[name]}.{op[1:-6].lower()}_approx", "approx", [], op=op, type=name,
                    tolerance=TOLERANCE, inputs=[fmt.hex(a)], expected=fmt.hex(bits),
                )  # fmt: skip
    for name, op, values in REDUCE_APPROX:
        fmt = FORMATS[name]
        numbers = [exact(fmt.value(v)) for v in values]
        if op in ("Add", "Mul"):
            total = sum(numbers, Fraction(0)) if op == "Add" else math.prod(numbers, start=Fraction(1))
            bits = fmt.round(total)
        else:
            bits = fold("Strict", op, fmt, values)
        rows.add(
            f"{PREFIX[name]}.reduce.approx.{op.lower()}", "reduce", [], order="Approx", op=op, type=name,
            tolerance=TOLERANCE, values=[fmt.hex(v) for v in values], expected=fmt.hex(bits),
        )  # fmt: skip
    return rows.rows


FILES: dict[str, tuple[str, Any]] = {
    "floats.json": ("The strict float operators, by bits.", float_rows),
    "conversions.json": ("Casts between float widths, and conversions by value.", conversion_rows),
    "approximate.json": ("The approximate track: within a declared number of ulps.", approximate_rows),
    "reductions.json": ("Float reductions in both lawful orders.", reduction_rows),
}


def render(about: str, rows: list[Row]) -> str:
    body = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{{\n "about": {json.dumps(about)},\n "rows": [\n{body}\n ]\n}}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description="Make or check the float golden rows.")
    parser.add_argument("--write", action="store_true", help="rewrite the data files")
    arguments = parser.parse_args()
    flint.ctx.prec = 400
    for name, (about, make) in FILES.items():
        rows = make()
        text = render(about, rows)
        path = DATA / name
        if arguments.write:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{name} does not hold what MPFR computes. Fix: look at the difference before --write.")
        print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
