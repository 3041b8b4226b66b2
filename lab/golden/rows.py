"""The float rows of the golden data, file by file."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lab.golden.compute import COMPARE, binary, fma, fold, to_integer, unary
from lab.golden.formats import FORMATS, exact, finite
from lab.golden.inputs.binary import BINARY
from lab.golden.inputs.conversions import FROM_INTEGER, TO_INTEGER, WIDTH_CASTS
from lab.golden.inputs.fused import FMA, UNFUSED
from lab.golden.inputs.reductions import APPROX, REDUCE, REDUCE_APPROX, TOLERANCE
from lab.golden.inputs.unary import UNARY
from lab.golden.sources import FORBIDDEN, PREFIX, SECTION, Rows, sources_of, stem_of

if TYPE_CHECKING:
    from lab.golden.sources import Row

gmpy2: Any = import_module("gmpy2")


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
