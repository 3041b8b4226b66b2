"""Writes the float rows of the golden data: floats.json, conversions.json, reductions.json,
approximate.json.

    python -m lab.golden.float_rows            checks that the files hold what MPFR computes
    python -m lab.golden.float_rows --write    rewrites them

Rows are permanent: append inputs, never change them.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.golden.rows import approximate_rows, conversion_rows, float_rows, reduction_rows

if TYPE_CHECKING:
    from lab.golden.sources import Row

DATA = Path(__file__).parents[2] / "src/vyre/conform/oracle/golden/data"

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
    flint: Any = import_module("flint")
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
