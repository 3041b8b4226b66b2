"""How many cases of a law a backend checks per second, inputs made and sides compared on its device.

    python benchmarks/laws.py --backend cuda [--op primitive.math.add] [--log2 36]

The op is really executed: each side of the law is a dispatch of its own into device memory, and the op's
instruction is looked for in the compiled kernel where the backend shows it.
"""

from __future__ import annotations

import argparse
import time

from vyre.conform.process.load import load
from vyre.conform.registry import lookup, spec
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.control import instruction
from vyre.conform.verify.device import device_checks
from vyre.conform.verify.graph import PARITY, graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--op", default="primitive.math.add")
    parser.add_argument("--law", default="Commutative")
    parser.add_argument("--log2", type=int, default=36)
    options = parser.parse_args()
    bench = Bench(load(options.backend))
    one = spec(options.op)
    kind = kind_of(graph(one, lookup), "random", make_plan("bench"))
    laws = [c for c in kind.checks if c.name != PARITY and c.name.startswith(options.law)]
    checks = device_checks(bench, kind, laws)
    print(bench.backend.describe().device, "|", options.op, [c.name for c in laws])
    print("instruction", instruction(bench, one))
    if checks is None:
        print("this backend compares on the host")
        return
    checks.compare(0, 1 << 28)
    count = 1 << options.log2
    started = time.perf_counter()
    found = checks.compare(1 << 28, count)
    took = time.perf_counter() - started
    print(f"{count:.3g} cases in {took:.2f} s: {count / took:.3g} cases/s, failures {found}")


if __name__ == "__main__":
    main()
