"""What a call costs, through the door that a user takes, beside what other libraries take in the same run.

    python benchmarks/calls.py cpu            # NumPy arrays on the default backend
    python benchmarks/calls.py first          # the first call of a fresh process
    python benchmarks/calls.py cuda           # torch, CuPy and NumPy arrays on an NVIDIA GPU

Arrays are fresh in every call, outputs are made by whoever computes them, and all checks are on. Peers take
turns within a round; a ratio is the median over the rounds of (the peer's time / ours), so more than 1 means
that ours is faster. Peers that are not installed (Numba, Warp, Taichi, torch, CuPy) are left out. `--only`
names the tables to print, and `--rounds` how often everything is timed.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, f32, u32
from vyre.backends import get
from vyre.backends.cpu.backend import CpuBackend

sys.path.insert(0, str(Path(__file__).parent))
import call_peers

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[], tuple[Any, ...]]
    Call = Callable[..., Any]

SMALL, CALLS = 1000, 200


@vyre.kernel(workgroup_size=256)
def hamming(a: In[u32], b: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = vyre.popcount(a[i] ^ b[i])


@vyre.kernel(workgroup_size=256)
def added(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] + b[i]


@vyre.kernel(workgroup_size=256)
def multiplied(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] * b[i]


@vyre.kernel(workgroup_size=256)
def divided(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] / b[i]


@vyre.kernel(workgroup_size=256)
def exponential(a: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = vyre.exp(a[i])


def rounds_of(make: Make, calls: dict[str, Call], *, rounds: int, each: int) -> dict[str, list[float]]:
    """Seconds of a call, by round; everybody takes a turn in every round, on arrays made beforehand."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call(*make())
    for _ in range(rounds):
        for name, call in calls.items():
            arrays = [make() for _ in range(each)]
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            for given in arrays:
                call(*given)
            spent = time.perf_counter() - start
            gc.enable()
            times[name].append(spent / each)
    return times


def table(title: str, times: dict[str, list[float]], *, unit: float = 1e6, name: str = "µs") -> None:
    """The first is ours; the others are compared with it round by round."""
    (ours, own), *peers = times.items()
    print(f"\n{title}")
    print(f"  {ours:<32}{statistics.median(own) * unit:10.1f} {name}   best {min(own) * unit:.1f}")
    for peer, theirs in peers:
        ratio = statistics.median(b / a for a, b in zip(own, theirs, strict=True))
        print(f"  {peer:<32}{statistics.median(theirs) * unit:10.1f} {name}   ratio {ratio:.2f}")


def words(count: int) -> tuple[Any, Any]:
    a = np.arange(count, dtype=np.uint32) * np.uint32(2654435761)
    return a, a[::-1].copy()


def floats(count: int) -> tuple[Any, Any]:
    a = np.linspace(-80, 80, count, dtype=np.float32)
    return a, np.flip(a).copy()


def small(options: argparse.Namespace) -> None:
    calls: dict[str, Call] = {"vyre cpu": hamming, **call_peers.hamming_on_host()}
    times = rounds_of(lambda: words(SMALL), calls, rounds=options.rounds, each=CALLS)
    table(f"{SMALL} NumPy elements, popcount(a ^ b), a call", times)


def large(options: argparse.Namespace) -> None:
    count = 1 << options.log2
    a, b = words(count)
    calls: dict[str, Call] = {"vyre cpu": hamming, **call_peers.hamming_on_host(small=False)}
    times = rounds_of(lambda: (a, b), calls, rounds=options.rounds, each=1)
    table(f"2^{options.log2} elements, popcount(a ^ b), outputs made by each", times, unit=1e3, name="ms")


def core(options: argparse.Namespace) -> None:
    backend = CpuBackend(threads=1)
    a, b = floats(1 << options.log2)
    cases: list[tuple[str, Any, Any, tuple[Any, ...]]] = [
        ("FAdd", added, np.add, (a, b)),
        ("FMul", multiplied, np.multiply, (a, b)),
        ("FDiv", divided, np.divide, (a, b)),
        ("FExp", exponential, np.exp, (a,)),
    ]
    for name, kernel, peer, arrays in cases:
        calls: dict[str, Call] = {"vyre cpu": partial(kernel, backend=backend), "NumPy": peer}
        times = rounds_of(lambda given=arrays: given, calls, rounds=options.rounds, each=1)
        title = f"2^{options.log2} floats, {name} on one core, outputs made by each"
        table(title, times, unit=1e3, name="ms")


def first(options: argparse.Namespace) -> None:
    """A fresh process each. Packages are compiled to bytecode first, as an installer does it."""
    print("\nFirst call after the imports, decorating included (ms by the clock, of the processor: best)")
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for name, script in call_peers.FIRST_CALLS.items():
        shown: list[str] = []
        with tempfile.TemporaryDirectory() as root:
            code = {**inherited, "PYTHONPYCACHEPREFIX": str(Path(root) / "bytecode")}
            if call_peers.first_call(script, code) is None:
                print(f"  {name:<32} not installed")
                continue
            for what, fresh in (("nothing kept", True), ("from the disk", False)):
                times: list[tuple[float, float]] = []
                for k in range(options.rounds + (not fresh)):
                    place = Path(root) / (f"cache-{k}" if fresh else "cache")
                    place.mkdir(mode=0o700, exist_ok=True)
                    names = ("VYRE_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
                    found = call_peers.first_call(script, {**code, **dict.fromkeys(names, str(place))})
                    if found is not None and (fresh or k):  # what the first one writes, the others find
                        times.append(found)
                wall, own = (min(column) for column in zip(*times, strict=True))
                shown.append(f"{wall:8.1f} {own:8.1f} {what}")
                if name != "vyre cpu":
                    break
        print(f"  {name:<24}{';'.join(shown)}")


def cuda(options: argparse.Namespace) -> None:
    import calls_cuda

    calls_cuda.show(options)


TABLES = {
    "cpu": {"small": small, "large": large, "core": core},
    "first": {"first": first},
    "cuda": {"cuda": cuda},
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("where", choices=TABLES)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--log2", type=int, default=24)
    parser.add_argument("--log2-gpu", type=int, default=28)
    parser.add_argument("--only", default="", help="tables, separated by commas")
    options = parser.parse_args()
    info = get("cuda" if options.where == "cuda" else "cpu").describe()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"{info.device}; {info.driver}; Python {sys.version.split()[0]}; load {load:.1f}")
    wanted = {*filter(None, options.only.split(","))}
    for name, show in TABLES[options.where].items():
        if not wanted or name in wanted:
            show(options)


if __name__ == "__main__":
    main()
