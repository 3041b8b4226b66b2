"""Computes the truth of unary F32 operations on all 2^32 inputs, as digests of chunks.

Run as `python -m lab.truth.make` with

    gpu [NAME …] [--out DIR] [--samples FILE]              on a CUDA device, through CuPy and Arb
    cpu [NAME …] [--lo N] [--hi N] [--jobs N] [--out DIR]  through NumPy and Arb
    check FILE                                             the samples of a GPU run, against MPFR
    compare DIR [DIR]                                      two truths; the second is the committed one

Double precision decides almost every input: if all values within a relative 2^-44 of it round to the same
float, that is the result. The rest is decided by Arb. The two ways share the definition of the digest, the
margin and Arb; the double precision functions come from different libraries, and their results must agree
on every chunk. NAME is a function such as exp; without one, all of them. Without --out, files are committed
beside the package's own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lab.truth import make_cuda
from vyre.conform.oracle.digest import CHUNK, CHUNKS, INPUTS, combined, consecutive, digest
from vyre.conform.oracle.floats.decide import by_arb, by_mpfr
from vyre.conform.oracle.floats.functions import filtered
from vyre.conform.oracle.floats.layout import F32
from vyre.conform.oracle.truth import store
from vyre.conform.oracle.truth.functions import INTEGERS, chosen
from vyre.conform.oracle.truth.oracle import operator_of, results

CAPACITY = 1 << 20
"""Inputs of a function that may stay undecided; more would mean that the margin is wrong."""

PER_CHUNK = 16
MEASURED = 1 << 14
MAX_ULPS = 16
"""The largest error of the double precision functions that samples may show; the margin allows 256."""

MARGIN_TEXT = "2^-44 relative"


def _loaded(cupy: Any, text: str) -> Any:
    """Compiled by NVRTC itself, because CuPy would add an option that flushes subnormals."""
    from vyre.backends.cuda.backend import OPTIONS, compile_source
    from vyre.lower.source import Source

    assert set(make_cuda.OPTIONS) <= set(OPTIONS)
    code = compile_source(
        Source("cuda", "", text, (1, 1, 1), (), ()), f"sm_{cupy.cuda.Device().compute_capability}"
    )
    with tempfile.NamedTemporaryFile(suffix=".cubin", delete=False) as file:
        file.write(code)
    return cupy.RawModule(path=file.name)


def gpu(names: list[str], out: Path, samples_file: Path | None) -> None:
    cupy: Any = import_module("cupy")

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    version = cupy.cuda.runtime.runtimeGetVersion()
    kept: dict[str, Any] = {}
    for function in (f for f in chosen(names) if f.name not in INTEGERS):
        began = time.perf_counter()
        module = _loaded(cupy, make_cuda.source(function.name))
        sums = cupy.zeros(2 * CHUNKS, cupy.uint32)
        count, open_ = cupy.zeros(1, cupy.uint32), cupy.zeros(CAPACITY, cupy.uint32)
        arguments = (np.uint32(0), sums, count, open_, np.uint32(CAPACITY))
        compiled = time.perf_counter()
        grid = (INPUTS // make_cuda.PER_BLOCK,)
        module.get_function("digests")(grid, (make_cuda.THREADS,), arguments)
        cupy.cuda.runtime.deviceSynchronize()
        swept = time.perf_counter()
        undecided = int(count.get()[0])
        if undecided > CAPACITY:
            sys.exit(f"{function.name}: {undecided} inputs undecided, more than {CAPACITY}")
        halves = sums.get().astype(np.uint64)
        digests = halves[0::2] | halves[1::2] << np.uint64(32)
        decided = _with_decided(function.name, digests, np.sort(open_.get()[:undecided]))
        decided_at = time.perf_counter()
        inputs = sample_inputs(function.name)
        found, values = _sampled(cupy, module, inputs)
        worst = _checked(function.name, inputs, found, values)
        kept[function.name] = found
        made = {
            "by": f"CUDA {version // 1000}.{version % 1000 // 10} double precision on {device}, Arb",
            "margin": MARGIN_TEXT,
            "undecided": undecided,
        }
        store.save(out, function.name, decided, made)
        print(
            f"{function.name:22} undecided {undecided:6}  worst sample {worst:5.2f} ulp  compile "
            f"{compiled - began:5.2f} s  sweep {swept - compiled:6.3f} s  Arb {decided_at - swept:6.2f} s  "
            f"samples {time.perf_counter() - decided_at:6.2f} s",
            flush=True,
        )
        del module
    if samples_file is not None:
        np.savez_compressed(samples_file, **kept)


def _with_decided(name: str, digests: Any, undecided: Any) -> Any:
    """The digests with the cases that the filter left out."""
    op = operator_of(name)
    if not undecided.size:
        return digests
    assert op is not None, f"{name} is exact and must leave nothing open"
    bits = np.array(by_arb(op, F32, [(int(x),) for x in undecided]), np.uint32)
    chunk_of = undecided // CHUNK
    for chunk in np.unique(chunk_of):
        here = chunk_of == chunk
        extra = digest(undecided[here], bits[here])
        digests[chunk] = combined([int(digests[chunk]), extra])
    return digests


def sample_inputs(name: str) -> Any:
    """Sixteen inputs of every chunk; a function of the name alone."""
    rng = np.random.default_rng(list(name.encode()))
    offsets = rng.integers(0, CHUNK, (CHUNKS, PER_CHUNK), dtype=np.uint64)
    return (np.arange(CHUNKS, dtype=np.uint64)[:, None] * CHUNK + offsets).astype(np.uint32).reshape(-1)


def _sampled(cupy: Any, module: Any, inputs: Any) -> tuple[Any, Any]:
    bits, values = cupy.zeros(inputs.size, cupy.uint32), cupy.zeros(inputs.size, cupy.float64)
    grid = (-(-inputs.size // make_cuda.THREADS),)
    arguments = (cupy.asarray(inputs), np.uint32(inputs.size), bits, values)
    module.get_function("samples")(grid, (make_cuda.THREADS,), arguments)
    return bits.get(), values.get()


def _checked(name: str, inputs: Any, bits: Any, values: Any) -> float:
    """The samples against the oracle of this machine, and the worst error of the doubles, from Arb."""
    expected = results(name, inputs)
    op = operator_of(name)
    wrong = np.flatnonzero(bits != expected)
    if op is not None:  # a sample that the filter leaves open has no decided result here
        with np.errstate(all="ignore"):
            low, high = (
                (values * (1 + side * make_cuda.MARGIN)).astype(np.float32).view(np.uint32)
                for side in (-1, 1)
            )
        wrong = wrong[low[wrong] == high[wrong]]
    if wrong.size:
        k = wrong[0]
        sys.exit(f"{name}({inputs[k]:#010x}): the device has {bits[k]:#x}, NumPy {expected[k]:#x}")
    if op is None:
        return 0.0
    step = max(1, inputs.size // MEASURED)
    worst = worst_error(op, inputs[::step], values[::step])
    if worst > MAX_ULPS:
        sys.exit(f"{name}: a sample is {worst} ulp off; the margin of {MARGIN_TEXT} is not safe")
    return worst


def worst_error(op: str, inputs: Any, values: Any) -> float:
    """The largest relative error of doubles that should be f(input), in units of 2^-52."""
    flint: Any = import_module("flint")

    from vyre.conform.oracle.floats.decide import arb_functions, value_of

    function = arb_functions()[op]
    flint.ctx.prec = 320
    worst = 0.0
    for x, y in zip(inputs.tolist(), values.tolist(), strict=True):
        if not np.isfinite(y) or abs(y) < 2.0**-1000:
            continue
        truth = function(flint.arb(value_of(F32, x)))
        if y:
            error = float(abs((truth - y) / y).upper())
            worst = max(worst, error * 2.0**52)
    return worst


def cpu(names: list[str], lo: int, hi: int, jobs: int, out: Path | None) -> None:
    if lo % CHUNK or hi % CHUNK or not 0 <= lo < hi <= INPUTS:
        sys.exit(f"--lo and --hi must be multiples of {CHUNK:#x} from 0 to {INPUTS:#x}")
    chunks = range(lo // CHUNK, hi // CHUNK)
    with ProcessPoolExecutor(jobs) as pool:
        for function in chosen(names):
            began = time.perf_counter()
            rows = list(pool.map(partial(cpu_chunk, function.name), chunks, chunksize=8))
            undecided, checked = (sum(row[k] for row in rows) for k in (1, 2))
            digests = np.array([row[0] for row in rows], np.uint64)
            seconds = time.perf_counter() - began
            print(
                f"{function.name:22} {len(chunks)} chunks  undecided {undecided:6}  MPFR checked {checked}  "
                f"{seconds:7.1f} s",
                flush=True,
            )
            if out is not None and len(chunks) == CHUNKS:
                made = {"by": "NumPy double precision, Arb", "margin": MARGIN_TEXT, "undecided": undecided}
                store.save(out, function.name, digests, made)
            else:
                _against_committed(function.name, chunks, digests)


def cpu_chunk(name: str, chunk: int) -> tuple[int, int, int]:
    """The digest of a chunk, how many inputs Arb decided, and how many samples MPFR confirmed."""
    inputs = consecutive(chunk * CHUNK, CHUNK)
    op = operator_of(name)
    if op is None:
        return digest(inputs, results(name, inputs)), 0, 0
    bits, open_ = filtered(op, F32, inputs)
    places = np.flatnonzero(open_)
    if places.size:
        bits[places] = np.array(by_arb(op, F32, [(int(inputs[k]),) for k in places]), np.uint32)
    checked = 0
    try:
        cases = np.random.default_rng(chunk).integers(0, CHUNK, PER_CHUNK)
        expected = by_mpfr(op, F32, [(int(inputs[k]),) for k in cases])
        assert expected == bits[cases].tolist(), f"{name}: MPFR disagrees in chunk {chunk}"
        checked = len(cases)
    except ImportError:
        pass
    return digest(inputs, bits), len(places), checked


def _against_committed(name: str, chunks: range, digests: Any) -> None:
    if name not in store.index():
        return
    truth = store.load(name)
    wrong = [c for c, d in zip(chunks, digests.tolist(), strict=True) if truth.digests[c] != d]
    print(f"  committed truth: {len(wrong)} of {len(chunks)} chunks differ {wrong[:8]}")
    if wrong:
        sys.exit(1)


def check(file: Path) -> None:
    """The samples of a GPU run against MPFR, which rounds correctly by itself."""
    failed = 0
    with np.load(file) as kept:
        for name in kept.files:
            op, inputs, bits = operator_of(name), sample_inputs(name), kept[name]
            if op is None:
                wrong = np.flatnonzero(results(name, inputs) != bits)
            else:
                # The kernel gives the lower end of the interval for a case that it leaves to Arb.
                _, open_ = filtered(op, F32, inputs)
                truth = np.array(by_mpfr(op, F32, [(int(x),) for x in inputs]), np.uint32)
                wrong = np.flatnonzero((truth != bits) & ~open_)
            failed += wrong.size
            print(f"{name:22} {inputs.size} samples, {wrong.size} wrong", flush=True)
    sys.exit(1 if failed else 0)


def compare(first: Path, second: Path) -> None:
    failed = 0
    for name in sorted(store.index(first)):
        a, b = store.load(name, folder=first), store.load(name, folder=second)
        wrong = [k for k, (x, y) in enumerate(zip(a.digests, b.digests, strict=True)) if x != y]
        failed += len(wrong)
        print(f"{name:22} {'equal' if not wrong else f'{len(wrong)} chunks differ: {wrong[:8]}'}")
    sys.exit(1 if failed else 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ways = parser.add_subparsers(dest="way", required=True)
    on_gpu, on_cpu = ways.add_parser("gpu"), ways.add_parser("cpu")
    for way in (on_gpu, on_cpu):
        way.add_argument("names", nargs="*")
        way.add_argument("--out", type=Path)
    on_gpu.add_argument("--samples", type=Path)
    on_cpu.add_argument("--lo", type=partial(int, base=0), default=0)
    on_cpu.add_argument("--hi", type=partial(int, base=0), default=INPUTS)
    on_cpu.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    ways.add_parser("check").add_argument("file", type=Path)
    both = ways.add_parser("compare")
    both.add_argument("first", type=Path)
    both.add_argument("second", type=Path, nargs="?", default=store.FOLDER)
    given = parser.parse_args()
    match given.way:
        case "gpu":
            gpu(given.names, given.out or store.FOLDER, given.samples)
        case "cpu":
            cpu(given.names, given.lo, given.hi, given.jobs, given.out)
        case "check":
            check(given.file)
        case _:
            compare(given.first, given.second)


if __name__ == "__main__":
    main()
