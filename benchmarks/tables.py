"""Group by, sort and join of tables beside pandas and Polars, in one run.

python benchmarks/tables.py [--backend cpu] [--rows 10000000] [--rounds 3]

Keys are int64, close together or spread over all 64 bits, values float64. Results are compared before
anything is timed: our sums are exact, the peers' within rounding. The peers take turns with us; the best of
the rounds counts. The time of the process, all threads together, stands beside the wall time: a busy machine
changes it little. Polars and vyre use all cores, pandas one.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from vyre.library import tables

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[], Any]


def best(works: dict[str, Work], rounds: int) -> dict[str, tuple[float, float]]:
    """Milliseconds by the clock and of the process, of each in turn."""
    found = dict.fromkeys(works, (np.inf, np.inf))
    for _ in range(rounds):
        for name, work in works.items():
            wall, own = time.perf_counter(), time.process_time()
            work()
            taken = time.perf_counter() - wall, time.process_time() - own
            found[name] = min(found[name][0], 1e3 * taken[0]), min(found[name][1], 1e3 * taken[1])
    return found


def told(what: str, works: dict[str, Work], rounds: int) -> None:
    found = best(works, rounds)
    wall, own = found["vyre"]
    print(f"{what}: {wall:.0f} ms, {own:.0f} of the process", end="")
    for name, (theirs, process) in found.items():
        if name != "vyre":
            print(
                f"; {name} {theirs:.0f}, {process:.0f}: {theirs / wall:.2f}, {process / own:.2f} times",
                end="",
            )
    print(f"; load {os.getloadavg()[0]:.0f}", flush=True)


def spread(keys: Any) -> Any:
    """Keys all over the 64 bits."""
    return (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)


def grouping(rows: int, groups: int, far: bool, options: Any) -> None:
    rng = np.random.default_rng(groups)
    keys = rng.integers(0, groups, rows)
    keys = spread(keys) if far else keys
    values = rng.random(rows)
    ours = {"k": keys, "v": values}
    frame, columns = pd.DataFrame(ours), pl.DataFrame(ours)
    asked = {"s": ("v", "sum")}
    found = tables.group_by(ours, "k", asked, backend=options.backend)
    expected = frame.groupby("k").v.sum()
    if (found["k"].data != expected.index).any() or not np.allclose(found["s"].data, expected, rtol=1e-12):
        raise SystemExit("pandas says otherwise")
    works: dict[str, Work] = {
        "vyre": lambda: tables.group_by(ours, "k", asked, backend=options.backend),
        "pandas": lambda: frame.groupby("k").v.sum(),
        "Polars": lambda: columns.group_by("k").agg(pl.col("v").sum()),
    }
    told(f"group by, {groups} keys {'spread' if far else 'together'}", works, options.rounds)


def sorting(rows: int, options: Any) -> None:
    rng = np.random.default_rng(1)
    ours = {"k": spread(np.arange(rows))[rng.permutation(rows)], "v": rng.random(rows)}
    frame, columns = pd.DataFrame(ours), pl.DataFrame(ours)
    if (tables.sort(ours, "k", backend=options.backend)["v"].data != frame.sort_values("k").v).any():
        raise SystemExit("pandas says otherwise")
    works: dict[str, Work] = {
        "vyre": lambda: tables.sort(ours, "k", backend=options.backend),
        "pandas": lambda: frame.sort_values("k"),
        "Polars": lambda: columns.sort("k"),
    }
    told("sort of two columns", works, options.rounds)


def joining(rows: int, options: Any) -> None:
    rng = np.random.default_rng(2)
    left = {"k": rng.integers(0, rows // 10, rows), "v": rng.random(rows)}
    right = {"k": rng.permutation(rows // 10), "w": rng.random(rows // 10)}
    frames, columns = [pd.DataFrame(x) for x in (left, right)], [pl.DataFrame(x) for x in (left, right)]
    found = tables.join(left, right, "k", backend=options.backend)
    if (found["w"].data != frames[0].merge(frames[1], on="k", how="left").w).any():
        raise SystemExit("pandas says otherwise")
    works: dict[str, Work] = {
        "vyre": lambda: tables.join(left, right, "k", backend=options.backend),
        "pandas": lambda: frames[0].merge(frames[1], on="k"),
        "Polars": lambda: columns[0].join(columns[1], on="k", maintain_order="left_right"),
    }
    told("join with a tenth as many rows", works, options.rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{options.rows} rows, {os.cpu_count()} cores; pandas {pd.__version__}, Polars {pl.__version__}")
    for groups in (1000, 1_000_000):
        for far in (False, True):
            grouping(options.rows, groups, far, options)
    sorting(options.rows // 10, options)
    joining(options.rows // 10, options)


if __name__ == "__main__":
    main()
