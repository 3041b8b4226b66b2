"""Writes `src/vyre/numeric/doubles/coefficients.py`: polynomials and constants of the functions in doubles.

    python -m lab.functions.double_coefficients            writes the file
    python -m lab.functions.double_coefficients --check    fails when the file differs

A polynomial interpolates at Chebyshev nodes and its coefficients are rounded to doubles; the error printed
beside it is that of the rounded one, at 1,000 points. A constant in parts is the sum of doubles, each the
nearest to what the ones before it leave. Needs python-flint (Arb).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat, ctx  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from lab.functions.coefficients import PRECISION, interpolated
from vyre.ir.float_bits import double_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    Number = Any
    Function = Callable[[Number], Number]

PATH = Path(__file__).parents[2] / "src" / "vyre" / "numeric" / "doubles" / "coefficients.py"

RADIUS = arb(0.1725)
"""How far from 1 the argument of a logarithm is at most, when its series begins."""
NUDGE = 2.0**-60
"""A step of the nudges of a coefficient, times the largest argument to its power."""
TANGENT_ABOVE, TANGENT_BELOW = 3, 3
"""How many coefficients the dividend and the divisor of tan have behind the first."""
SHORT = 10
"""The degree of the short series of log2, which is right to 2^-39 only."""
NUDGES = (
    -1048576,
    527030,
    1048576,
    -1048576,
    1048576,
    -1048576,
    1048576,
    -914737,
    -1048576,
    1048576,
    -1048576,
)
"""By `lab/functions/nudge_log2.py`."""
ARC_TANGENT, ARC_SINE = 8, 9
"""The degrees of the series of atan, and of asin and acos, which are right to 2^-48 and 2^-46
of the angle before they are nudged."""
ARC_TANGENT_NUDGES = (
    461623,
    -1048576,
    -891297,
    1048576,
    1048576,
    1048576,
    196377,
    -1048576,
    -1048576,
)
ARC_SINE_NUDGES = (
    -1067262,
    22571476,
    -132449263,
    268435456,
    -81067405,
    -268435456,
    72098935,
    268435456,
    -108507986,
    -40666273,
)
"""By `lab/functions/nudge_inverse.py`."""


def nearest(value: Number) -> float:
    """The double nearest to a number that is known to 600 bits."""
    return float(value.mid())


class Page:
    """The generated module, constant by constant."""

    def __init__(self) -> None:
        self.text = (
            '"""Bits of the constants in doubles, by `lab/functions/double_coefficients.py`. '
            'Not for editing."""\n'
        )

    def numbers(self, name: str, note: str, values: list[float]) -> None:
        texts = [f"0x{double_bits(v):016X}" for v in values]
        lines = f"{texts[0]}," if len(texts) == 1 else "\n" + "".join(f"    {t},\n" for t in texts)
        self.text += f"\n# {note}\n{name} = ({lines})\n"

    def parts(self, name: str, note: str, value: Number, count: int) -> None:
        found: list[float] = []
        for _ in range(count):
            found.append(nearest(value))
            value = value - arb(found[-1])
        self.numbers(name, f"{note}, in {count} parts", found)

    def polynomial(
        self,
        name: str,
        note: str,
        function: Function,
        degree: int,
        high: Number,
        *,
        low: Number = None,
        nudges: tuple[int, ...] = (),
    ) -> None:
        """From `low`, `-high` if it is not given, to a little more than `high`: no node is zero."""
        radius = high
        low, high = -high if low is None else low, high * (1 + arb(1) / 1024)
        values = [nearest(c) for c in interpolated(function, degree, low, high)]
        for place, steps in enumerate(nudges):
            values[place] = nearest(arb(values[place]) + steps * NUDGE / radius**place)
        worst = arb(0)
        for step in range(1001):
            x = low + (high - low) * arb(step) / 1000 + arb(1) / (1 << 40)
            total = arb(0)
            for c in reversed(values):
                total = total * x + arb(c)
            worst = worst.max(abs(total - function(x)))
        error = float((worst.log() / arb(2).log()).mid())
        self.numbers(name, f"{note}; error 2^{error:.1f}", values)

    def quotient(
        self, name: str, note: str, function: Function, degrees: tuple[int, int], high: Number
    ) -> None:
        """Two polynomials that begin with 1, which is left out, and whose quotient is the function from 0 to
        a little more than `high`: it is right at as many Chebyshev nodes as they have coefficients."""
        above, below = degrees
        high = high * (1 + arb(1) / 1024)
        angles = [(2 * arb(k) + 1) * arb.pi() / (2 * (above + below)) for k in range(above + below)]
        nodes = [high * (1 - angle.cos()) / 2 for angle in angles]
        rows = [[*(x**k for k in range(above)), *(-function(x) * x**k for k in range(below))] for x in nodes]
        found = arb_mat(rows).solve(arb_mat([[(function(x) - 1) / x] for x in nodes]))
        values = [nearest(found[k, 0]) for k in range(above + below)]
        worst = arb(0)
        for step in range(1001):
            x = high * arb(step) / 1000 + arb(1) / (1 << 40)
            parts = [arb(0), arb(0)]
            for place, part in enumerate((values[:above], values[above:])):
                for c in reversed(part):
                    parts[place] = parts[place] * x + arb(c)
            worst = worst.max(abs((1 + x * parts[0]) / (1 + x * parts[1]) / function(x) - 1))
        error = float((worst.log() / arb(2).log()).mid())
        self.numbers(
            f"{name}_ABOVE", f"the dividend of {note}, behind 1; relative error 2^{error:.1f}", values[:above]
        )
        self.numbers(f"{name}_BELOW", "its divisor, behind 1", values[above:])


def split_octave(scale: Number) -> tuple[float, float]:
    """A double near sqrt(1/2) and minus its logarithm, which has only 21 bits.

    The best of the candidates with a logarithm that short: it is right to 13 bits more than a double holds.
    """
    middle = round(float((arb(2).log() / 2 / scale).mid()) * 2**22)
    best = (1.0, 0.0, 0.0)
    for shift in (n / 2.0**22 for n in range(middle - 6000, middle + 6000, 4)):
        exact = (-arb(shift) * scale).exp()
        factor = nearest(exact)
        best = min(best, (abs(float((exact / arb(factor) - 1).mid())), factor, shift))
    return best[1], best[2]


def logarithm_series(scale: Number) -> Function:
    """What is left of the logarithm of 1 + x behind x / log b, over x^2."""
    return lambda x: (x.log1p() - x) / (x * x) / scale


def arc_tangent_series(x: Number) -> Number:
    return (x.sqrt().atan() / x.sqrt() - 1) / x


def arc_sine_series(x: Number) -> Number:
    return (x.sqrt().asin() / x.sqrt() - 1) / x


def generate() -> str:
    ctx.prec = PRECISION
    page = Page()
    one, two, ten, pi = arb(1), arb(2), arb(10), arb.pi()
    ln2 = two.log()

    for name, scale in (("EXP", one), ("EXP2", ln2), ("EXP10", ten.log())):
        half = ln2 / scale / 2
        if name != "EXP2":
            page.parts(f"{name}_PER_OCTAVE", "1 / log of 2 to this base", scale / ln2, 1)
            page.parts(f"{name}_OCTAVE", "the logarithm of 2 to this base", ln2 / scale, 2)
        if name != "EXP":
            page.parts(f"{name}_SLOPE", "the natural logarithm of the base", scale, 1)
        page.polynomial(
            f"{name}_SERIES",
            "(b^x - 1 - x log b) / x^2",
            lambda x, scale=scale: ((x * scale).expm1() - x * scale) / (x * x),
            8,
            half,
        )

    page.parts("ROOT_HALF", "sqrt(1/2)", (one / 2).sqrt(), 1)
    for name, base in (("LOG", one.exp()), ("LOG2", two), ("LOG10", ten)):
        scale = base.log()
        factor, shift = split_octave(scale)
        page.numbers(f"{name}_HALF", "a factor of about sqrt(1/2), and minus its logarithm", [factor, shift])
        if name != "LOG":
            page.parts(f"{name}_SLOPE", "1 / log of the base", 1 / scale, 1)
        if name != "LOG2":
            page.parts(f"{name}_OF_2", "the logarithm of 2", ln2 / scale, 1)
        series, note = logarithm_series(scale), "(log(1 + x) - x / log b) / x^2"
        page.polynomial(f"{name}_SERIES", note, series, 11 if name == "LOG" else 12, RADIUS)
        if name == "LOG2":
            page.polynomial(f"{name}_SHORT", f"{note}, nudged", series, SHORT, RADIUS, nudges=NUDGES)

    for name, value in (("PI", pi), ("HALF_PI", pi / 2), ("QUARTER_PI", pi / 4)):
        page.parts(name, name.lower().replace("_", " "), value, 2)
    page.parts("PER_PI", "1 / pi", 1 / pi, 1)
    page.parts("PER_HALF_PI", "2 / pi", 2 / pi, 1)
    page.polynomial(
        "SINE",
        "(sin(y) / y - 1) / x for y = sqrt(x)",
        lambda x: (x.sqrt().sin() / x.sqrt() - 1) / x,
        8,
        (pi / 2) ** 2,
        low=arb(0),
    )
    page.quotient(
        "TANGENT",
        "tan(y) / y for y = sqrt(x)",
        lambda x: x.sqrt().tan() / x.sqrt(),
        (TANGENT_ABOVE, TANGENT_BELOW),
        (pi / 4) ** 2,
    )
    note = "(atan(y) / y - 1) / x for y = sqrt(x)"
    steep = (pi / 8).tan() ** 2
    page.polynomial(
        "ARC_TANGENT_SHORT",
        f"{note} up to tan(pi / 8), nudged",
        arc_tangent_series,
        ARC_TANGENT,
        steep,
        low=arb(0),
        nudges=ARC_TANGENT_NUDGES,
    )
    page.polynomial(
        "ARC_TANGENT", f"{note} up to 0.434", arc_tangent_series, ARC_TANGENT + 1, arb(0.434) ** 2, low=arb(0)
    )
    page.polynomial(
        "ARC_SINE",
        "(asin(y) / y - 1) / x for y = sqrt(x), nudged",
        arc_sine_series,
        ARC_SINE,
        one / 4,
        low=arb(0),
        nudges=ARC_SINE_NUDGES,
    )
    hyperbolic(page)
    error_function(page)
    return page.text


def hyperbolic(page: Page) -> None:
    half = arb(2).log() / 2
    page.polynomial("EXPM1_SERIES", "(e^x - 1 - x) / x^2", lambda x: (x.expm1() - x) / (x * x), 10, half)
    page.polynomial(
        "SINH",
        "(sinh(y) / y - 1) / x for y = sqrt(x)",
        lambda x: (x.sqrt().sinh() / x.sqrt() - 1) / x,
        4,
        half**2,
        low=arb(0),
    )
    page.polynomial(
        "COSH",
        "(cosh(y) - 1) / x for y = sqrt(x)",
        lambda x: (x.sqrt().cosh() - 1) / x,
        5,
        half**2,
        low=arb(0),
    )
    page.polynomial("LOG1P_SERIES", "(log(1 + x) - x) / x^2", logarithm_series(arb(1)), 14, RADIUS)
    page.numbers(
        "CBRT_STEP",
        "((1 - x)^(-1/3) - 1) / x, the first terms",
        [nearest(arb(1) / 3), nearest(arb(2) / 9), nearest(arb(14) / 81)],
    )


def error_function(page: Page) -> None:
    slope = 2 / arb.pi().sqrt()
    page.parts("ERF_SLOPE", "2 / sqrt(pi)", slope, 2)
    page.polynomial(
        "ERF_NEAR",
        "(erf(y) / y - 2 / sqrt(pi)) / x for y = sqrt(x)",
        lambda x: (x.sqrt().erf() / x.sqrt() - slope) / x,
        11,
        arb(1),
        low=arb(0),
    )
    page.polynomial("ERF_FAR", "erfc(x + 79/32)", lambda x: (x + arb(79) / 32).erfc(), 28, arb(47) / 32)


def main() -> int:
    text = generate()
    if "--check" in sys.argv[1:]:
        same = PATH.exists() and PATH.read_text() == text
        print(f"{PATH.name} {'is up to date' if same else 'differs: run this script without --check'}")
        return 0 if same else 1
    PATH.write_text(text)
    print(f"wrote {PATH}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
