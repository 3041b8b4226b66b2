"""Softmax of rows as a function of tensors: one plan for every number of rows, the same bytes everywhere.

    python examples/softmax.py
    python examples/softmax.py --backend dawn

Prints what the plan does, then compares with the evaluator on exact numbers and with a row alone.
"""

from __future__ import annotations

import argparse
import hashlib

import numpy as np

from vyre import tensor as vt


@vt.function(x=("rows", 64))
def softmax(x: vt.Tensor) -> vt.Tensor:
    e = vt.exp(x - vt.max(x, axis=1, keepdims=True))
    return e / vt.sum(e, axis=1, keepdims=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", help="where to run [the default]")
    options = parser.parse_args(arguments)
    x = (8 * np.random.default_rng(5).standard_normal((9, 64))).astype(np.float32)
    x[2, 3] = np.inf
    found = softmax(x, backend=options.backend)
    alone = softmax(x[4:5], backend=options.backend)
    if found[4:5].tobytes() != alone.tobytes():
        raise SystemExit("a row differs from itself alone")
    if np.asarray(softmax.evaluate(x)).tobytes() != found.tobytes():
        raise SystemExit("the plan and the evaluator differ")
    print(softmax.plan(x).explain({"rows": 9}))
    print(f"a row alone: equal; the evaluator: equal; sha256 {hashlib.sha256(found.tobytes()).hexdigest()}")


if __name__ == "__main__":
    main()
