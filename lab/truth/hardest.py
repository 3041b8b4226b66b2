"""Finds the inputs at which correctly rounded functions are hardest, and keeps them with their results.

Run as `python -m lab.truth.hardest` with

    search DIR               on a CUDA device with nvcc: every F32 input of a function of one operand,
                             every pair of F16 and BF16, 2^35 random pairs of F32
    search DIR NAME --numpy  anywhere: every F32 input of a function of one operand, through NumPy
    rank DIR [NAME …]        anywhere: what the search found, ordered by MPFR, decided by MPFR and Arb

Nothing here imports a definition of ours: the list judges them. An input is hard where the exact result lies
next to a midpoint between two floats. Results that are exact, or at the ends of a range, come on top; they
are known from mathematics. `rank` writes `hardest.npz` and `hardest.json` in
`src/vyre/conform/oracle/truth/data`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.truth import hardest_cuda
from vyre.conform.oracle.digest import CHUNK, INPUTS, consecutive
from vyre.conform.oracle.floats.decide import by_arb, by_mpfr, value_of
from vyre.conform.oracle.floats.functions import filtered
from vyre.conform.oracle.truth.hardest import INDEX, LISTS, SYMMETRIC
from vyre.ir.float_formats import BF16, F16, F32, FloatFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

gmpy2: Any = import_module("gmpy2")

LAYOUTS = {"f32": F32, "f16": F16, "bf16": BF16}
NEAREST = 4096
NEAREST_PAIRS = 2048
PRECISION = 256

NEARBY = {
    "erf": (0, 0x4080_0000),
    "tanh": (0x3900_0000, 0x4180_0000),
    "sinh": (0x3980_0000, 0x4300_0000),
    "cosh": (0x3980_0000, 0x4300_0000),
    "expm1": (0x3300_0000, 0x4300_0000),
    "log1p": (0x3300_0000, 0x7F80_0000),
}
"""Sizes outside of which the exact result is next to the argument, 0, 1 or -1, or beyond every float."""

FOUND = np.dtype([("a", "<u4"), ("b", "<u4"), ("distance", "<f8")])

OPERATORS = {
    name: f"F{name.replace('asin', 'ASin').replace('acos', 'ACos').replace('atan', 'ATan')}"
    if name[:2] in ("as", "ac", "at")
    else f"F{name.capitalize()}"
    for name in (*hardest_cuda.UNARY, *hardest_cuda.PAIRS)
}


def search(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "search.cu").write_text(hardest_cuda.source())
    subprocess.run(["nvcc", "-O2", "-arch=native", "-o", "search", "search.cu"], cwd=folder, check=True)
    subprocess.run(["./search"], cwd=folder, check=True)


def search_by_numpy(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kept: list[int] = []
    least, most = NEARBY.get(name, (0, 1 << 31))
    for first in range(0, INPUTS // 2 if name in SYMMETRIC else INPUTS, CHUNK):
        if not least <= first & 0x7FFF_FFFF < most:
            continue
        inputs = consecutive(first, CHUNK)
        _, open_ = filtered(OPERATORS[name], F32, inputs, margin=hardest_cuda.UNARY_MARGIN)
        kept += inputs[open_].tolist()
    found = np.zeros(len(kept), FOUND)
    found["a"] = kept
    found.tofile(folder / f"unary_{name}")
    print(f"unary_{name} {len(kept)}", flush=True)


def distance(name: str, of: FloatFormat, *operands: int) -> float:
    """How far the exact result is from the nearest midpoint, relative to the result."""
    context: Any = gmpy2.context(precision=PRECISION, emax=1 << 20, emin=-(1 << 20))
    value = getattr(context, name)(*(gmpy2.mpfr(value_of(of, x), 64) for x in operands))
    if not gmpy2.is_finite(value) or value == 0:
        return 1.0
    significand, exponent = (int(x) for x in abs(value).as_mantissa_exp())
    step = max(significand.bit_length() + exponent - of.fraction_bits - 1, 1 - of.bias - of.fraction_bits)
    shift = step - exponent
    if shift <= 0:
        return 1.0
    rest = (significand & ((1 << shift) - 1)) - (1 << (shift - 1))
    return float(gmpy2.mpq(abs(rest), significand))


def exact_inputs(name: str) -> list[int]:
    """Bits of F32 at which the result is exact, or at which a range ends, with their neighbours."""
    numbers: list[float] = [0.0, 1.0, 0.5, 2.0, 2.0**-13, 2.0**-12, 2.0**-25, 2.0**-126, 2.0**-149]
    match name:
        case "exp2":
            numbers += [float(k) for k in range(-151, 130)]
        case "exp10":
            numbers += [float(k) for k in range(-46, 40)]
        case "exp":
            numbers += [float(k) for k in range(-104, 90)]
        case "log2":
            numbers += [2.0**k for k in range(-149, 128)]
        case "log10":
            numbers += [float(10**k) for k in range(11)]
        case _:
            numbers += [2.0**k for k in range(-30, 5)]
    ends = (0x42B17218, 0x42AEAC50, 0x42CFF1B5, 0x43000000, 0x43160000, 0x421A209B, 0x423369F4, 0x3FC90FDB)
    words = {int(np.float32(abs(x)).view(np.uint32)) for x in numbers} | {*ends, 0x7F7FFFFF, 0x7F800000}
    near = {w + d for w in words for d in (-2, -1, 0, 1, 2) if 0 <= w + d <= 0x7F800000}
    return sorted(near if name in SYMMETRIC else near | {w | 1 << 31 for w in near})


def exact_pairs(name: str) -> Iterator[tuple[int, int]]:
    """Pairs of F32 whose result is a midpoint, or lies below one by less than any digit shows."""
    if name == "atan2":
        for m in range(40):
            for k in (1, 2, 7, 24):
                rise = np.float32((2 * m * m + 1) * 2.0 ** (k - 150))
                yield int(rise.view(np.uint32)), (127 + k) << 23
        return
    for n in range(2, 16):
        low, high = (int(gmpy2.iroot(1 << bits, n)[0]) for bits in (24, 25))
        roots = [r for r in range(low | 1, high + 1, 2) if 1 << 24 <= r**n < 1 << 25]
        for r in roots[:: max(1, len(roots) // 60)]:
            for j in range(4):
                if (r ** (1 << j)).bit_length() <= 24 and (n % 2 or j == 0):
                    x, y = float(r ** (1 << j)), n / (1 << j)
                    yield int(np.float32(x).view(np.uint32)), int(np.float32(y).view(np.uint32))
    for k in range(1, 128):
        yield (127 + k) << 23, int(np.float32(-150 / k).view(np.uint32))


def nearest(name: str, of: FloatFormat, folder: Path) -> tuple[list[tuple[int, ...]], float]:
    """The hardest inputs that the search found, and the distance up to which the list has all of them."""
    found = np.fromfile(folder / f"unary_{name}", FOUND)
    if name in SYMMETRIC:
        found = found[found["a"] < 1 << 31]
    ranked = sorted((distance(name, of, int(x)), int(x)) for x in found["a"])
    chosen = ranked[:NEAREST]
    reach = ranked[NEAREST][0] if len(ranked) > NEAREST else hardest_cuda.UNARY_MARGIN
    return [(x,) for _, x in chosen], reach


def nearest_pairs(name: str, kind: str, folder: Path) -> tuple[list[tuple[int, ...]], float]:
    """Half of them the nearest of all, half the nearest of each power of two that results lie in."""
    of = LAYOUTS[kind]
    found = np.sort(np.fromfile(folder / f"{kind}_{name}", FOUND), order=["distance", "a", "b"])
    rows = [(float(r["distance"]), int(r["a"]), int(r["b"])) for r in found[: 1 << 15]]
    ranked = sorted((distance(name, of, a, b), a, b) for _, a, b in rows)
    chosen = [(a, b) for _, a, b in ranked[: NEAREST_PAIRS // 2]]
    binades: dict[int, list[tuple[int, int]]] = {}
    operator, taken = OPERATORS[name], set(chosen)
    for row in found[:: max(1, len(found) >> 15)]:
        pair = (int(row["a"]), int(row["b"]))
        if pair not in taken:
            bits = by_mpfr(operator, of, [pair])[0] & of.magnitude
            binades.setdefault(bits >> of.fraction_bits, []).append(pair)
    while len(chosen) < NEAREST_PAIRS and binades:
        for exponent in sorted(binades):
            chosen.append(binades[exponent].pop(0))
            if not binades[exponent]:
                del binades[exponent]
    return chosen[:NEAREST_PAIRS], ranked[min(len(ranked), NEAREST_PAIRS // 2) - 1][0]


def results(name: str, of: FloatFormat, cases: list[tuple[int, ...]]) -> list[int]:
    """By MPFR; Arb must agree where it knows the function and the result is an ordinary number."""
    found = by_mpfr(OPERATORS[name], of, cases)
    if len(cases[0]) == 1:
        finite = [case[0] & of.magnitude < of.infinity for case in cases]
        usual = [k for k, bits in enumerate(found) if finite[k] and 0 < bits & of.magnitude < of.infinity]
        again = by_arb(OPERATORS[name], of, [cases[k] for k in usual])
        assert [found[k] for k in usual] == again, f"MPFR and Arb disagree about {name}"
    return found


def rank(folder: Path, names: list[str]) -> None:
    jobs = [("f32", n) for n in hardest_cuda.UNARY]
    jobs += [(kind, n) for kind in LAYOUTS for n in hardest_cuda.PAIRS]
    lists: dict[str, Any] = {}
    index: dict[str, Any] = {}
    if names:
        index |= json.loads(INDEX.read_bytes())
        with np.load(LISTS, allow_pickle=False) as kept:
            lists |= {name: kept[name] for name in kept.files}
        jobs = [job for job in jobs if job[1] in names]
    for kind, name in jobs:
        of, pair = LAYOUTS[kind], name in hardest_cuda.PAIRS
        cases, reach = nearest_pairs(name, kind, folder) if pair else nearest(name, of, folder)
        near = len(cases)
        extra = list(exact_pairs(name)) if pair else [(x,) for x in exact_inputs(name)]
        if kind == "f32":
            known = set(cases)
            cases += [case for case in dict.fromkeys(extra) if case not in known]
        cases.sort()
        bits = results(name, of, cases)
        table = np.array([(*case, r) for case, r in zip(cases, bits, strict=True)], np.uint32)
        lists[f"{kind}.{name}"] = table
        index[f"{kind}.{name}"] = {
            "nearest": near,
            "exact": len(cases) - near,
            "reach": f"2^{np.log2(reach):.2f}" if reach else "0",
            "searched": "2^35 random pairs" if pair and kind == "f32" else "all 2^32",
            "sha256": hashlib.sha256(table.tobytes()).hexdigest(),
        }
        print(f"{kind}.{name}: {index[f'{kind}.{name}']}", flush=True)
    np.savez_compressed(LISTS, **lists)
    INDEX.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["search", "rank"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--numpy", action="store_true")
    given = parser.parse_args()
    match given.what:
        case "rank":
            rank(given.folder, given.names)
        case _ if given.numpy:
            for name in given.names:
                search_by_numpy(given.folder, name)
        case _:
            search(given.folder)


if __name__ == "__main__":
    main()
