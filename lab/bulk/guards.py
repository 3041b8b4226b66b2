"""Tries removed bounds checks at scale: generated `cpu` kernels in reserved memory, and watched.

    python -m lab.bulk.guards --count 6000 --jobs 16

Prints how many checks had been left out of the code, how many of them ran, how many met the last index in
bounds, and how many an index got past. A kernel that touches memory outside of its buffers ends its process,
and the seed is named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = 100


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    blocks = [
        (first, min(first + BLOCK, options.first + options.count))
        for first in range(options.first, options.first + options.count, BLOCK)
    ]
    began, totals, bad = time.monotonic(), [0, 0, 0, 0], list[str]()
    running: list[subprocess.Popen[str]] = []
    environment = {**os.environ, "VYRE_CACHE": "off"}
    while blocks or running:
        while blocks and len(running) < options.jobs:
            first, last = blocks.pop(0)
            command = [sys.executable, "-m", "lab.bulk.guard_runs", str(first), str(last)]
            running.append(
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
            )
        done = running.pop(0)
        lines = done.communicate()[0].splitlines()
        bad += [line for line in lines if line.startswith("escaped")]
        if done.returncode or not lines or not lines[-1].startswith("total"):
            bad.append(f"ended with {done.returncode} at {lines[-1] if lines else 'the start'}")
        else:
            totals = [a + int(b) for a, b in zip(totals, lines[-1].split()[1:], strict=True)]
    print(f"{options.count} programs in {time.monotonic() - began:.0f} s on {options.jobs} processes")
    for name, number in zip(("removed", "ran", "met the last index", "escaped"), totals, strict=True):
        print(f"{name:>20}  {number:,}")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
