"""The SHA-256 of the results of every strict float operation on 2^20 mixed inputs, by oracle and backends.

Run as `python -m lab.floats.table` with

    oracle FILE                             digests of the independent oracle, as JSON
    run FILE BACKEND [--label L] [--out F]  digests of a backend, compared with FILE
    sample [--cases N] [--only PATTERN]     the reference interpreter on a sample
    table FILE RUN …                        Markdown from the outputs of `run`

`oracle` needs gmpy2 or python-flint; `run` does not, so that the digests can be carried to other machines.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.floats.operands import operands
from vyre.conform.oracle.floats.operations import OPERANDS, OUT, WORKGROUP, operations
from vyre.errors import UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from vyre.conform.oracle.floats.operations import Operation

CASES = 1 << 20
EQUAL, DIFFERENT, REFUSED = "equal", "different", "refused"


@lru_cache(maxsize=4)
def _operands(source: Any, arity: int, count: int) -> tuple[Any, ...]:
    return operands(source, arity, count)


def sha(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array, "<u4").tobytes())
    return found.hexdigest()


def chosen(pattern: str) -> list[Operation]:
    return [o for o in operations() if pattern in o.name]


def by_oracle(file: Path, pattern: str) -> None:
    rows: dict[str, dict[str, str]] = {}
    for operation in chosen(pattern):
        x = _operands(operation.source, operation.arity, CASES)
        rows[operation.name] = {"inputs": sha(*x), "results": sha(operation.expected(*x))}
    file.write_text(json.dumps({"cases": CASES, "operations": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} operations, {CASES} cases each, in {file}")


def by_backend(file: Path, name: str, label: str, out: Path | None, pattern: str) -> None:
    from vyre.conform.process.isolate import load

    rows = json.loads(file.read_bytes())["operations"]
    backend = load(name)
    info = backend.describe()
    found: dict[str, Any] = {}
    for operation in chosen(pattern):
        began = time.perf_counter()
        found[operation.name] = outcome = _outcome(backend, operation, rows[operation.name])
        seconds = time.perf_counter() - began
        if outcome["status"] != EQUAL:
            print(
                f"{operation.name:28} {outcome['status']:10} {outcome['note']}  {seconds:.1f} s", flush=True
            )
    counts = {s: sum(o["status"] == s for o in found.values()) for s in (EQUAL, DIFFERENT, REFUSED)}
    print(f"{label or name} on {info.device}: {counts}")
    if out is not None:
        device = {"label": label or name, "device": info.device, "driver": info.driver}
        record = {**device, "toolchain": info.toolchain, "operations": found}
        out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if counts[DIFFERENT]:
        sys.exit(1)


def _outcome(backend: Any, operation: Operation, row: dict[str, str]) -> dict[str, str]:
    x = _operands(operation.source, operation.arity, CASES)
    if sha(*x) != row["inputs"]:
        raise VyreError("the inputs are not those of the oracle's file.", fix="make the file again.")
    try:
        results = run(backend, operation, x)
    except UnsupportedByBackend as refusal:
        return {"status": REFUSED, "results": "", "note": refusal.message}
    digest = sha(results)
    if digest == row["results"]:
        return {"status": EQUAL, "results": digest, "note": ""}
    return {"status": DIFFERENT, "results": digest, "note": _first(operation, x, results)}


def _first(operation: Operation, x: tuple[Any, ...], results: Any) -> str:
    expected = operation.expected(*x)
    wrong = np.flatnonzero(expected != results)
    if not wrong.size:
        return "the oracle of this machine agrees with the backend, not with the file"
    k = wrong[0]
    given = ", ".join(f"{int(v[k]):#x}" for v in x)
    return f"{wrong.size} of {CASES}, first ({given}): expected {expected[k]:#x}, actual {results[k]:#x}"


def run(backend: Any, operation: Operation, x: tuple[Any, ...]) -> Any:
    """The results of a backend for these operands."""
    from vyre.conform.process.isolate import allocate

    count = x[0].size
    executable = backend.compile(operation.program())
    out = np.frombuffer(allocate(backend, 4 * count), np.uint32)
    out.fill(0xA5A5_A5A5)
    views = {name: v.view(np.uint8).data.toreadonly() for name, v in zip(OPERANDS, x, strict=False)}
    executable.run({**views, OUT: out.view(np.uint8).data}, (-(-count // WORKGROUP[0]), 1, 1))
    return out


def sample(cases: int, pattern: str) -> None:
    """The reference interpreter against the oracle, on cases spread over the whole input."""
    from vyre.backends import get

    failed = 0
    for operation in chosen(pattern):
        whole = _operands(operation.source, operation.arity, CASES)
        x = tuple(np.ascontiguousarray(v[:: CASES // cases][:cases]) for v in whole)
        results, expected = run(get("reference"), operation, x), operation.expected(*x)
        wrong = np.flatnonzero(results != expected)
        failed += wrong.size
        print(f"{operation.name:28} {x[0].size} cases, {wrong.size} wrong", flush=True)
        if wrong.size:
            k = wrong[0]
            print("   ", [hex(int(v[k])) for v in x], hex(int(expected[k])), hex(int(results[k])))
    sys.exit(1 if failed else 0)


def table(file: Path, runs: list[Path]) -> None:
    rows = json.loads(file.read_bytes())["operations"]
    found = [json.loads(path.read_bytes()) for path in runs]
    for record in found:
        print(f"- **{record['label']}**: {record['device']}, {record['driver']}, {record['toolchain']}")
    print(f"\n| operation | SHA-256 of the oracle | {' | '.join(r['label'] for r in found)} |")
    print("|---" * (2 + len(found)) + "|")
    for name, row in rows.items():
        cells = [r["operations"].get(name, {"status": "not run"})["status"] for r in found]
        print(f"| {name} | `{row['results'][:16]}` | {' | '.join(cells)} |")


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    ways = parser.add_subparsers(dest="way", required=True)
    oracle, backend, reference, tables = (ways.add_parser(w) for w in ("oracle", "run", "sample", "table"))
    for way in (oracle, backend, tables):
        way.add_argument("file", type=Path)
    for way in (oracle, backend, reference):
        way.add_argument("--only", default="", metavar="PATTERN")
    backend.add_argument("backend")
    backend.add_argument("--label", default="")
    backend.add_argument("--out", type=Path)
    reference.add_argument("--cases", type=int, default=256)
    tables.add_argument("runs", type=Path, nargs="+")
    given = parser.parse_args()
    match given.way:
        case "oracle":
            by_oracle(given.file, given.only)
        case "run":
            by_backend(given.file, given.backend, given.label, given.out, given.only)
        case "sample":
            sample(given.cases, given.only)
        case _:
            table(given.file, given.runs)


if __name__ == "__main__":
    main()
