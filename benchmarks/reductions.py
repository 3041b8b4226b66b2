"""The tree sum of floats on a GPU against torch.sum (or CuPy's), buffers on the device, in one run.

python benchmarks/reductions.py [--backend cuda] [--lengths 268435456,268435453] [--sweep]

Wall time of batches that end in a synchronisation, the best of several. `--sweep` tries other ways to cut the
work, all of which give the same bits.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import vyre
from vyre.backends import get
from vyre.conform.registry.engine.float_oracle import reduced
from vyre.engines import Runner, Shape
from vyre.engines.float_fold import Fold
from vyre.engines.tree import tree_engine
from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.ir.types import DataType

FOLD = Fold(ReduceOp.Add, DataType.F32)
SHAPES = [
    Shape(),
    *(
        Shape(lanes, items, turns=turns)
        for lanes in (128, 256, 512)
        for items in (4, 8, 16)
        for turns in (4, 8, 16)
        if lanes * (items + turns) * 4 * 33 // 32 < 48 * 1024
    ),
]


def best(launch: Any, wait: Any, *, batch: int = 20, rounds: int = 10) -> float:
    """Microseconds of one launch."""
    for _ in range(3):
        launch()
    wait()
    times: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(batch):
            launch()
        wait()
        times.append((time.perf_counter() - started) / batch * 1e6)
    return min(times)


def peer(data: Any) -> tuple[str, Any, Any] | None:
    """The sum of another library over the same numbers, and how to wait for it."""
    try:
        import torch

        if torch.cuda.is_available():
            held = torch.from_numpy(data).cuda()
            return f"torch {torch.__version__}", lambda: torch.sum(held), torch.cuda.synchronize
    except ImportError:
        pass
    try:
        import cupy

        other = cupy.asarray(data)
        return f"CuPy {cupy.__version__}", lambda: cupy.sum(other), cupy.cuda.Device().synchronize
    except ImportError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--lengths", default="268435456,268435453")
    parser.add_argument("--sweep", action="store_true")
    asked = parser.parse_args()
    print(get(asked.backend).describe())
    runner = Runner(asked.backend)
    for length in map(int, asked.lengths.split(",")):
        data = np.random.default_rng(1).standard_normal(length, np.float32)
        truth = reduced(ReduceOrder.TreeBinary, ReduceOp.Add, DataType.F32, data.view(np.uint32))
        held = vyre.to_device(data, backend=asked.backend)
        other = peer(data)
        theirs = best(other[1], other[2]) if other else float("nan")
        print(f"{length} elements; {other[0] if other else 'no peer'} {theirs:.1f} us")
        for shape in SHAPES if asked.sweep else SHAPES[:1]:
            prepared = runner.prepare(tree_engine(FOLD, shape=shape), {"input": held})
            prepared()
            found = int(prepared.outputs()["output"][0])
            mine = best(prepared, prepared.outputs)
            cut = f"{shape.lanes} x {shape.items} x {shape.turns or 'auto'}"
            print(
                f"  {cut:18} {len(prepared.launches)} dispatches {mine:8.1f} us  "
                f"{length * 4 / mine / 1e6:6.2f} TB/s  ratio {theirs / mine:5.2f}  "
                f"{'exact' if found == truth else 'WRONG BITS'}"
            )


if __name__ == "__main__":
    main()
