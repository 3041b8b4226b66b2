"""Float reductions on a list of backends against NumPy: the same bits, or a refusal that says why.

python -m lab.devices.reductions                                 cpu; lengths 0, 1, 2, 3 and 1,000,003
python -m lab.devices.reductions --backends cpu,wgpu,opencl --lengths 16777216,67108864 --ops add
python -m lab.devices.reductions --orders tree --types F32 --backends cuda --lengths 268435456,268435453

One line for each (order, op, type, length, backend): the bits, the SHA-256 of input and bits, seconds, and
`ok`, `WRONG` or `refused`. The exit status is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from typing import Any

import numpy as np

from vyre.conform.registry.engine.float_engines import float_bits
from vyre.conform.registry.engine.float_oracle import LAYOUTS, reduced
from vyre.engines import Runner
from vyre.engines.float_fold import Fold
from vyre.engines.strict import strict_engine
from vyre.engines.tree import tree_engine
from vyre.errors import VyreError
from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.ir.types import DataType

ORDERS = {"tree": ReduceOrder.TreeBinary, "strict": ReduceOrder.Strict}
OPS = {op.value.lower(): op for op in ReduceOp}
TYPES = {t.value: t for t in LAYOUTS}


def inputs(op: ReduceOp, element: DataType, count: int) -> Any:
    """The same bits for everybody, from the op, the type and the length."""
    rng = np.random.default_rng((count, list(OPS.values()).index(op)))
    return float_bits(rng, op, element, count, plain=True)


def found_bits(runner: Runner, order: ReduceOrder, fold: Fold, bits: Any) -> int:
    engine = tree_engine(fold) if order is ReduceOrder.TreeBinary else strict_engine(fold)
    data = bits if fold.element is DataType.BF16 else bits.view(np.dtype(f"<f{bits.itemsize}"))
    return int(runner.run(engine, {"input": data})["output"][0])


def other_order(order: ReduceOrder, op: ReduceOp, element: DataType, bits: Any) -> int:
    """What a backend would give that adds up halves side by side: the planted fault of `--self-test`."""
    swapped = np.concatenate([bits[1::2], bits[0::2]])
    return reduced(order, op, element, swapped)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--backends", default="cpu")
    parser.add_argument("--lengths", default="0,1,2,3,1000003")
    parser.add_argument("--orders", default=",".join(ORDERS))
    parser.add_argument("--ops", default=",".join(OPS))
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--self-test", action="store_true", help="plant another order; it must be caught")
    asked = parser.parse_args()
    runners = {name: Runner(name) for name in asked.backends.split(",")}
    wrong = 0
    for length in map(int, asked.lengths.split(",")):
        for name in asked.types.split(","):
            for op in (OPS[o] for o in asked.ops.split(",")):
                bits = inputs(op, TYPES[name], length)
                stamp = hashlib.sha256(bits.tobytes()).digest()
                for order in asked.orders.split(","):
                    started = time.perf_counter()
                    truth = reduced(ORDERS[order], op, TYPES[name], bits)
                    show(order, op, name, length, "numpy", truth, stamp, started, "")
                    for backend, runner in runners.items():
                        started = time.perf_counter()
                        fold = Fold(op, TYPES[name])
                        try:
                            found = found_bits(runner, ORDERS[order], fold, bits)
                        except VyreError as refusal:
                            show(order, op, name, length, backend, None, stamp, started, refusal.message)
                            continue
                        if asked.self_test:
                            found = other_order(ORDERS[order], op, TYPES[name], bits)
                        verdict = "ok" if found == truth else "WRONG"
                        wrong += found != truth
                        show(order, op, name, length, backend, found, stamp, started, verdict)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def show(
    order: str,
    op: ReduceOp,
    name: str,
    length: int,
    backend: str,
    bits: int | None,
    stamp: bytes,
    started: float,
    verdict: str,
) -> None:
    seconds = time.perf_counter() - started
    subject = f"{order:6} {op.value.lower():3} {name:4} {length:>10} {backend:9}"
    if bits is None:
        print(f"{subject} refused: {verdict}", flush=True)
        return
    digest = hashlib.sha256(stamp + bits.to_bytes(4, "little")).hexdigest()[:16]
    print(f"{subject} 0x{bits:08X} {digest} {seconds:8.3f} s {verdict}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
