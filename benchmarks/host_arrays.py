"""Engines on NumPy arrays: copied to the device once and back, beside the same with the copies made by hand.

python benchmarks/host_arrays.py [--backend cuda] [--log2 24] [--rounds 5]

The results are compared with NumPy's before anything is timed; the best of the rounds counts.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import engines

if TYPE_CHECKING:
    from collections.abc import Callable


def best(work: Callable[[], Any], rounds: int) -> float:
    """Milliseconds by the clock."""
    found = np.inf
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        found = min(found, 1e3 * (time.perf_counter() - begun))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--log2", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    backend: str = options.backend
    x = np.random.default_rng(1).integers(0, 1 << 32, 1 << options.log2, np.uint64).astype(np.uint32)
    odd = x & 1
    cases: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
        "reduce": (engines.reduce, (x,), np.add.reduce(x, dtype=np.uint32)),
        "scan": (engines.scan, (x,), np.cumsum(x, dtype=np.uint32)),
        "sort": (engines.sort, (x,), np.sort(x)),
        "compact": (engines.compact, (x, odd), x[odd == 1]),
        "histogram": (
            engines.histogram,
            (x.view(np.uint8),),
            np.bincount(x.view(np.uint8), minlength=256).astype(np.uint32),
        ),
    }
    for name, (function, given, expected) in cases.items():
        if np.asarray(function(*given, backend=backend)).tobytes() != expected.tobytes():
            raise SystemExit(f"{name}: NumPy says otherwise")
        held = [vyre.to_device(array, backend=backend) for array in given]

        def plain(function: Any = function, given: Any = given) -> Any:
            return function(*given, backend=backend)

        def there(function: Any = function, held: Any = held) -> Any:
            return np.asarray(function(*held, backend=backend))

        times = best(plain, options.rounds), best(there, options.rounds)
        print(
            f"{name:10} of 2^{options.log2} NumPy words: {times[0]:9.2f} ms; held there: {times[1]:9.2f} ms"
        )


if __name__ == "__main__":
    main()
