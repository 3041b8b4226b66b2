"""Products of sparse matrices with vectors on an NVIDIA GPU beside cuSPARSE, which CuPy calls.

    python benchmarks/sparse_cuda.py

Matrix, vector and result stay on the device; a call counts from Python until the device is done, the best of
several rounds. Results are compared first: ours are rounded products added as a tree, row by row, with the
same bits on every backend; the order of cuSPARSE is its own.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre.library import graphs

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPES = ((1 << 20, 16), (1 << 22, 3), (1 << 14, 1000))


def best(call: Callable[[], object], wait: Callable[[], object], rounds: int = 20) -> float:
    found: list[float] = []
    for _ in range(rounds):
        wait()
        started = time.perf_counter()
        call()
        wait()
        found.append(time.perf_counter() - started)
    return min(found) * 1e6


def main() -> None:
    cupy: Any = import_module("cupy")
    sparse: Any = import_module("cupyx.scipy.sparse")
    wait = cupy.cuda.runtime.deviceSynchronize
    rng = np.random.default_rng(2)
    for nodes, degree in SHAPES:
        offsets = np.concatenate([[0], np.cumsum(rng.poisson(degree, nodes))])
        graph = graphs.Graph(offsets, rng.integers(0, nodes, offsets[-1]))
        values = rng.standard_normal(graph.edges).astype(np.float32)
        x = rng.standard_normal(nodes).astype(np.float32)
        parts = (cupy.asarray(a) for a in (values, graph.targets.astype(np.int32), offsets.astype(np.int32)))
        matrix, vector = sparse.csr_matrix(tuple(parts), shape=(nodes, nodes)), cupy.asarray(x)
        held = [vyre.to_device(a, backend="cuda") for a in (values, x)]
        product = graphs.spmv(graph, *held).numpy()
        assert np.allclose(product, cupy.asnumpy(matrix @ vector), rtol=1e-3, atol=1e-3)
        ours = best(lambda graph=graph, held=held: graphs.spmv(graph, *held), wait)
        theirs = best(lambda matrix=matrix, vector=vector: matrix @ vector, wait)
        moved = (8 * graph.edges + 12 * nodes) / 1e3
        print(
            f"{nodes} rows of {degree}: {ours:.1f} µs ({moved / ours:.0f} GB/s), cuSPARSE {theirs:.1f}, "
            f"ratio {theirs / ours:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
