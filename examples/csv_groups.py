"""Group the rows of a CSV file: read, parsed and added in kernels; compared with `csv` and `math.fsum`.

python examples/csv_groups.py
python examples/csv_groups.py --size 1000 --backend cuda
python examples/csv_groups.py sales.csv --key city --value amount
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from vyre.library import decoding, strings, tables

BLOCK = 16 << 20
"""Bytes that are read at once."""


def write_sales(path: Path, size: int) -> None:
    """A file of about so many bytes, the same whenever it is written."""
    rng = np.random.default_rng(17)
    written = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        written += file.write("city,sold,amount\n")
        while written < size:
            cities, sold = rng.zipf(1.3, 4096) % 5000, rng.integers(1, 100, 4096)
            amounts = np.round(rng.standard_normal(4096) * 10.0 ** rng.integers(-2, 6, 4096), 4)
            rows = zip(cities.tolist(), sold.tolist(), amounts.tolist(), strict=True)
            written += file.write("".join(f"city {c},{s},{a!r}\n" for c, s, a in rows))


def blocks(path: Path) -> list[tuple[int, int]]:
    """Parts of a file that end with a line; no field has a line break."""
    size, found, start = path.stat().st_size, [], 0
    with path.open("rb") as file:
        while start < size:
            file.seek(min(start + BLOCK, size))
            file.readline()
            found.append((start, file.tell()))
            start = file.tell()
    return found


def columns(data: bytes, wanted: list[int], backend: str | None) -> list[tables.Column]:
    """The texts of some columns."""
    fields = strings.csv_fields(data, backend=backend)
    starts = fields.rows[:-1][np.diff(fields.rows) > max(wanted)]
    return [tables.texts(data, fields.spans[starts + k], backend=backend) for k in wanted]


def grouped(path: Path, wanted: list[int], backend: str | None) -> tables.Table:
    """The sum and the number of the values of each key, over the whole file."""
    keys: list[tables.Column] = []
    values: list[np.ndarray] = []
    for number, (start, stop) in enumerate(blocks(path)):
        with path.open("rb") as file:
            file.seek(start)
            if number == 0:
                start += len(file.readline())  # the names of the columns
            data = file.read(stop - start)
        if data:
            key, value = columns(data, wanted, backend)
            keys.append(key)
            parsed = decoding.parse_floats(value.data, offsets=value.bounds(), backend=backend)
            if (parsed.errors >= 0).any():
                raise SystemExit("a value is no number")
            values.append(parsed.values)
    offsets = [np.zeros(1, np.int64)]
    for key in keys:
        offsets.append(key.offsets[1:] + offsets[-1][-1])
    joined = np.concatenate(offsets)
    city = tables.Column("utf8", len(joined) - 1, np.concatenate([key.data for key in keys]), None, joined)
    asked = {"sum": ("value", "sum"), "count": ("value", "count")}
    return tables.group_by({"key": city, "value": np.concatenate(values)}, "key", asked, backend=backend)


def by_hand(path: Path, wanted: list[int]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            found[row[wanted[0]]].append(float(row[wanted[1]]))
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="a CSV file without quotes [one is made]")
    parser.add_argument("--key", default="city")
    parser.add_argument("--value", default="amount")
    parser.add_argument("--size", type=float, default=8, help="megabytes of the file that is made [8]")
    parser.add_argument("--backend", help="where to run [the default]")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "sales.csv"
        if options.file is None:
            write_sales(path, int(options.size * 1e6))
        with path.open(encoding="utf-8", newline="") as file:
            names = next(csv.reader(file))
        wanted = [names.index(options.key), names.index(options.value)]
        with path.open("rb") as file:
            some = Path(folder) / "first.csv"
            some.write_bytes(b"".join(file.readlines(1 << 16)))
        grouped(some, wanted, options.backend)  # compiles
        began = time.perf_counter()
        found = grouped(path, wanted, options.backend).to_dict()
        taken = time.perf_counter() - began
        began = time.perf_counter()
        expected = by_hand(path, wanted)
        sums = {key: math.fsum(values) + 0.0 for key, values in expected.items()}
        plain = time.perf_counter() - began
        size = path.stat().st_size
    if found["key"] != sorted(sums, key=str.encode) or found["sum"] != [sums[key] for key in found["key"]]:
        raise SystemExit("csv and fsum say otherwise")
    if found["count"] != [len(expected[key]) for key in found["key"]]:
        raise SystemExit("csv counts other rows")
    print(f"{sum(found['count'])} rows of {size} bytes in {len(sums)} groups: every sum is that of math.fsum")
    print(f"{size / taken / 1e6:.1f} MB a second; csv and fsum: {size / plain / 1e6:.1f}")


if __name__ == "__main__":
    main()
