"""Writes the files of coefficients in `src/vyre/numeric/functions/`.

    python -m lab.functions.coefficients            writes the files
    python -m lab.functions.coefficients --check    fails when one of them differs

Polynomials interpolate at Chebyshev nodes, which is within a small factor of the best polynomial; the error
printed beside each is measured at 1,000 points between the nodes. Needs python-flint (Arb).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flint import arb, ctx, fmpz  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

if TYPE_CHECKING:
    from collections.abc import Callable

    Number = Any
    Function = Callable[[Number], Number]

PATH = Path(__file__).parents[2] / "src" / "vyre" / "numeric" / "functions" / "coefficients.py"
ANGLES = PATH.with_name("angle_coefficients.py")
ERRORS = PATH.with_name("error_coefficients.py")
QUICK = PATH.with_name("quick_coefficients.py")
PRECISION = 600

ERF_DEGREE = 14
"""Of the polynomial of each half from 1/2 to 4."""

QUICK_CENTRE = 17923302995
"""A number near 2^(1/16), in units of 2^-34, whose products with 2^(i/8) are all within 0.09 of integers."""


def integer(value: Number, bits: int) -> int:
    """The nearest integer to `value * 2^bits`."""
    scaled = value * (arb(2) ** bits) + arb(1) / 2
    whole: Number = scaled.floor().unique_fmpz()
    if whole is None:
        raise ValueError("raise PRECISION: a rounding could not be decided")
    return int(whole)


def interpolated(function: Function, degree: int, low: Number, high: Number) -> list[Number]:
    """The polynomial through `function` at the Chebyshev nodes of `low` to `high`, lowest degree first."""
    count = degree + 1
    angles = [(2 * arb(k) + 1) * arb.pi() / (2 * count) for k in range(count)]
    nodes = [low + (high - low) * (1 - angle.cos()) / 2 for angle in angles]
    differences = [function(x) for x in nodes]
    for level in range(1, count):
        for k in reversed(range(level, count)):
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - level])
    result: list[Number] = [differences[-1]]
    for k in reversed(range(count - 1)):
        raised = [arb(0), *result]
        for place, c in enumerate(result):
            raised[place] = raised[place] - nodes[k] * c
        raised[0] = raised[0] + differences[k]
        result = raised
    return result


def polynomial(
    function: Function, degree: int, limbs: int, *, signs: int, low: Number, high: Number
) -> tuple[list[int], str]:
    """Sizes of the coefficients in units of the last limb; `signs` is 1 (all positive) or -1 (alternate)."""
    bits = 32 * limbs
    values = interpolated(function, degree, low, high)
    sizes = [integer(c if signs > 0 or k % 2 == 0 else -c, bits) for k, c in enumerate(values)]
    if min(sizes) < 0:
        raise ValueError(f"a coefficient has the wrong sign: {sizes}")
    worst = arb(0)
    for step in range(1001):
        x = low + (high - low) * arb(step) / 1000 + arb(1) / (1 << 40)
        total = arb(0)
        for k in reversed(range(len(sizes))):
            c = arb(fmpz(sizes[k])) / arb(2) ** bits
            total = total * x + (c if signs > 0 or k % 2 == 0 else -c)
        worst = worst.max(abs(total / function(x) - 1))
    # Twelve digits would print the rounding of Arb itself; one decimal of the logarithm is enough.
    return sizes, f"relative error 2^{float((worst.log() / arb(2).log()).mid()):.1f}"


def words(values: list[int], width: int) -> str:
    digits = -(-width // 4)
    return "".join(f"    0x{v:0{digits}X},\n" for v in values)


class Page:
    """The generated module, constant by constant."""

    def __init__(self, of: str) -> None:
        self.text = f'"""Constants of {of}, from `lab/functions/coefficients.py`. Not for editing."""\n'

    def polynomial(
        self,
        name: str,
        note: str,
        function: Function,
        degree: int,
        limbs: int,
        *,
        signs: int,
        low: float = 0,
        high: float = 1,
    ) -> None:
        sizes, error = polynomial(function, degree, limbs, signs=signs, low=arb(low), high=arb(high))
        self.text += f"\n# {note}; {error}\n{name} = (\n{words(sizes, 32 * limbs)})\n"

    def table(self, name: str, note: str, values: list[Number], bits: int) -> None:
        rounded = [integer(v, bits) for v in values]
        self.integers(name, f"{note}, in units of 2^-{bits}", rounded)

    def integers(self, name: str, note: str, values: list[int]) -> None:
        width = max(v.bit_length() for v in values)
        self.text += f"\n# {note}\n{name} = (\n{words(values, width)})\n"

    def constant(self, name: str, note: str, value: Number, bits: int) -> None:
        self.text += f"\n# {note}, in units of 2^-{bits}\n{name} = 0x{integer(value, bits):X}\n"


def inverse_table() -> list[int]:
    """For 16 intervals around 1 + i/16, a factor c/256 that brings them to 1 - 1/32 to 1 + 1/32."""
    factors = [round(256 / (1 + i / 16)) for i in range(16)]
    for i, c in enumerate(factors):
        low, high = (1 + (2 * i - 1) / 32) if i else 1 - 1 / 64, 1 + (2 * i + 1) / 32
        if not (low * c / 256 > 1 - 1 / 32 and high * c / 256 <= 1 + 1 / 32):
            raise ValueError(f"the factor of interval {i} is too coarse")
    return factors


def generate() -> dict[Path, str]:
    ctx.prec = PRECISION
    page = Page("the functions")
    two, ten = arb(2), arb(10)
    ln2, ln10, pi = two.log(), ten.log(), arb.pi()

    page.constant("LOG2_E", "log2(e)", 1 / ln2, 94)
    page.constant("LOG2_10", "log2(10)", ten.log() / ln2, 94)
    page.table("EXP2_TABLE", "2^(i/16) / 2", [two ** (arb(i) / 16) / 2 for i in range(16)], 64)
    page.polynomial("EXP2", "(2^(x/16) - 1) / x", lambda x: ((x * ln2 / 16).expm1()) / x, 7, 2, signs=1)

    page.table("EXP2_TABLE_3", "2^(i/16) / 2", [two ** (arb(i) / 16) / 2 for i in range(16)], 96)
    page.polynomial("EXP2_3", "(2^(x/16) - 1) / x", lambda x: ((x * ln2 / 16).expm1()) / x, 11, 3, signs=1)

    factors = inverse_table()
    page.integers("LOG_FACTORS", "c of the interval i, in units of 2^-8", factors)
    for base, scale in (("LOG", arb(1)), ("LOG2", ln2), ("LOG10", ln10)):
        name = base.lower()
        page.table(f"{base}_TABLE", f"-{name}(c / 256)", [-(arb(c) / 256).log() / scale for c in factors], 87)
        if base != "LOG2":
            page.constant(f"{base}_OF_2", f"{name}(2)", ln2 / scale, 87)
        page.polynomial(
            f"{base}_SERIES",
            f"{name}(1 + x/32) / (x/16)",
            lambda x, scale=scale: (x / 32).log1p() / (x / 16) / scale,
            11,
            2,
            signs=-1,
            low=-1,
        )

    page.table("LOG2_TABLE_5", "-log2(c / 256)", [-(arb(c) / 256).log() / ln2 for c in factors], 151)
    for limbs, degree in ((3, 17), (4, 21)):
        page.polynomial(
            f"LOG2_SERIES_{limbs}",
            "log2(1 + x/32) / (x/16)",
            lambda x: (x / 32).log1p() / (x / 16) / ln2,
            degree,
            limbs,
            signs=-1,
            low=-1,
        )

    # For b from 1/2 to 1. Lowered, so that the estimate is too small everywhere and every step is positive.
    inverse = interpolated(lambda x: 1 / (2 * x), 3, arb(0.5), arb(1))
    page.integers("RECIPROCAL", "1/2b, too small by 0.2 to 1 %, in units of 2^-29", lowered(inverse, 128))
    root = interpolated(lambda x: 1 / (2 * x.sqrt()), 3, arb(0.25), arb(1))
    page.integers("ROOT", "1/2sqrt(n) for n from 1/4 to 1, too small by 0.5 to 4 %", lowered(root, 64))

    cubic = interpolated(lambda x: 1 / (2 * x.root(3)), 3, arb(0.5), arb(1))
    page.integers(
        "CUBE_ROOT", "1/2cbrt(n), too small by 0.05 to 0.12 %, in units of 2^-30", lowered(cubic, 2048, 30)
    )
    powers = [arb(2) ** (arb(k) / 3) / 2 for k in range(3)]
    page.table("CUBE_ROOTS_OF_2", "2^(k/3) / 2", [*powers, arb(0)], 64)

    plain, page = page, Page("the functions of angles")
    page.integers(
        "TWO_OVER_PI",
        "bits of 2/pi from 2^1 down, in words",
        [integer(2 / pi, 32 * 12 - 2) >> 32 * k & 0xFFFFFFFF for k in reversed(range(12))],
    )
    quarter = pi / 4
    page.polynomial(
        "SINE",
        "sin(pi/4 sqrt(x)) / sqrt(x), for half of a turn's quarter",
        lambda x: (quarter * x.sqrt()).sin() / x.sqrt(),
        8,
        2,
        signs=-1,
    )
    page.polynomial(
        "COSINE",
        "(1 - cos(pi/4 sqrt(x))) / x",
        lambda x: 2 * (quarter / 2 * x.sqrt()).sin() ** 2 / x,
        8,
        2,
        signs=-1,
    )
    page.table("EIGHTHS", "n pi / 16 for n up to 4", [arb(n) * pi / 16 for n in range(5)] + [arb(0)] * 3, 160)
    for limbs, degree in ((2, 13), (3, 20)):
        page.polynomial(
            f"ARC_TANGENT_{limbs}",
            "(1 - atan(z) / z) / x for z = sqrt(x) / 2",
            lambda x: (1 - (x.sqrt() / 2).atan() / (x.sqrt() / 2)) / x,
            degree,
            limbs,
            signs=-1,
            high=0.6875,
        )
    page.polynomial(
        "ARC_SINE",
        "asin(y) / 2y for y = sqrt((1 + x) / 8)",
        lambda x: ((1 + x) / 8).sqrt().asin() / ((1 + x) / 2).sqrt(),
        17,
        2,
        signs=1,
        low=-1,
    )
    return {PATH: plain.text, ANGLES: page.text, ERRORS: error_function(), QUICK: quick()}


def error_function() -> str:
    page = Page("the error function")
    page.polynomial(
        "ERF_NEAR_ZERO",
        "erf(y) / 2y for y = sqrt(x) / 2",
        lambda x: (x.sqrt() / 2).erf() / x.sqrt(),
        9,
        2,
        signs=-1,
    )
    columns: list[list[Number]] = [[arb(0)] * (ERF_DEGREE + 1)]
    worst = arb(0)
    for k in range(1, 8):
        columns.append(interpolated(lambda x, k=k: ((k + x) / 2).erf(), ERF_DEGREE, arb(0), arb(1)))
        for step in range(200):
            x = arb(2 * step + 1) / 400
            total = arb(0)
            for c in reversed(columns[-1]):
                total = total * x + c
            worst = worst.max(abs(total - ((k + x) / 2).erf()))
    error = float((worst.log() / arb(2).log()).mid())
    page.text += (
        "\n# by degree: erf((k + x) / 2) for k from 0 to 7, in two's complement and units of 2^-64;\n"
        f"# error 2^{error:.1f}; the row of 0 is not used\nERF_ROWS = (\n"
    )
    for values in zip(*columns, strict=True):
        page.text += "    (\n"
        page.text += "".join(f"        0x{integer(c, 64) & (1 << 64) - 1:016X},\n" for c in values)
        page.text += "    ),\n"
    page.text += ")\n"
    return page.text


def quick() -> str:
    """For `vyre.numeric.functions.quick`, which says what the numbers are for."""
    page = Page("the quick exponentials")
    ln2 = arb(2).log()
    centre = arb(fmpz(QUICK_CENTRE)) / arb(2) ** 34
    page.table("QUICK_TABLE", "a centre near 2^(1/16), times 2^(i/8)", powers_of_eighths(centre), 34)
    for name, base, places in (("E", arb(1).exp(), 35), ("2", arb(2), 34), ("10", arb(10), 36)):
        octave = ln2 / base.log()
        page.constant(f"QUICK_INDEX_{name}", f"8 log2({name.lower()})", 8 / octave, 26)
        page.constant(f"QUICK_STEP_{name}", "1/8 over that logarithm", octave / 8, places + 16)
        start = 128 * octave - centre.log() / base.log()
        page.constant(f"QUICK_START_{name}", "where the index 0 has its centre, negated", start, places + 16)
    page.constant("QUICK_SCALE_2", "log(2)", ln2, 32)
    page.constant("QUICK_SCALE_10", "log(10)", arb(10).log(), 30)
    reach = ln2 / 16 + arb(1) / 5000
    series = interpolated(lambda x: (x.expm1() - x) / x**2, 3, -reach, reach)
    note = "(exp(x) - 1 - x) / x^2, by degree, in units of 2^-29, 2^-25, 2^-35 and 2^-16"
    page.integers(
        "QUICK_SERIES", note, [integer(c, b) for c, b in zip(series, (29, 25, 35, 16), strict=True)]
    )
    return page.text


def powers_of_eighths(first: Number) -> list[Number]:
    return [first * arb(2) ** (arb(i) / 8) for i in range(8)]


def lowered(values: list[Number], part: int, bits: int = 29) -> list[int]:
    """The coefficients of a cubic whose signs alternate, as sizes in units of 2^-bits, `1 / part` less."""
    start = values[0] - arb(1) / part
    return [integer(c if k % 2 == 0 else -c, bits) for k, c in enumerate([start, *values[1:]])]


def main() -> int:
    pages = generate()
    if "--check" in sys.argv[1:]:
        stale = [path.name for path, text in pages.items() if not path.exists() or path.read_text() != text]
        for name in stale:
            print(f"{name} differs: run python -m lab.functions.coefficients")
        if not stale:
            print("the coefficients are up to date")
        return 1 if stale else 0
    for path, text in pages.items():
        path.write_text(text)
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
