"""Every function at every F16 and BF16 against MPFR: `python -m tests.reference.floats.every_half`."""

from __future__ import annotations

import sys

from tests.reference.floats.float_oracles import differences, mpfr_oracle
from tests.reference.floats.test_float_functions import FUNCTIONS, ours
from vyre.reference.floats import BF16, F16


def main() -> int:
    failures = 0
    for fmt in (F16, BF16):
        for name in FUNCTIONS:
            cases = [(bits,) for bits in range(1 << 16)]
            found = differences(mpfr_oracle(fmt, name), ours(fmt, name), cases)
            failures += len(found)
            print(f"{fmt.name} {name}: {len(cases)} inputs, {len(found)} differences", *found[:3], sep="\n  ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
