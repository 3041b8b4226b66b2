"""Sparse attention: each query sees its neighbours and a few tokens that all see, and nothing else.

    python examples/sparse_attention.py
    python examples/sparse_attention.py --backend opencl

Keys that a query does not see take no part, so each row is computed once more with NaN in their place
and must have equal bytes. The rows lie beside loops in doubles, and the hash is printed.
"""

from __future__ import annotations

import argparse
import hashlib
from typing import Any

import numpy as np

from vyre import nn
from vyre import tensor as vt

LENGTH, WIDTH, REACH, SHARED = 24, 8, 2, 2


def pattern(length: Any) -> vt.Tensor:
    """True where a query sees a key: at most REACH away, or one of the first SHARED."""
    row = vt.expand_dims(vt.arange(length, element="i32"), 1)
    column = vt.expand_dims(vt.arange(length, element="i32"), 0)
    near = vt.less_equal(vt.absolute(row - column), REACH)
    return near | vt.less(column, SHARED)


@vt.function
def attend(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    """All rows, and the pattern that they were computed with."""
    seen = pattern(q.type.shape[0])
    return nn.attention(q, k, v, mask=seen), seen


@vt.function
def attend_one(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor, seen: vt.Tensor) -> vt.Tensor:
    return nn.attention(q, k, v, mask=seen)


def looped(q: Any, k: Any, v: Any) -> Any:
    """The same in doubles, over the keys that a query sees alone."""
    rows: list[Any] = []
    for i, query in enumerate(q.astype(np.float64)):
        keys = [j for j in range(len(k)) if j < SHARED or abs(i - j) <= REACH]
        powers = np.exp(k[keys] @ query / np.sqrt(WIDTH))
        rows.append(powers @ v[keys] / powers.sum())
    return np.array(rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend")
    backend = parser.parse_args(arguments).backend
    source = np.random.Generator(np.random.PCG64(3))
    q, k, v = (source.integers(-(1 << 20), 1 << 20, (3, LENGTH, WIDTH)) / (1 << 20)).astype(np.float32)
    rows, seen = attend(q, k, v, backend=backend)
    same = True
    for i in range(LENGTH):
        hidden = ~seen[i].astype(bool)
        key, value = k.copy(), v.copy()
        key[hidden], value[hidden] = np.nan, np.nan
        one = attend_one(q[i : i + 1], key, value, seen[i : i + 1], backend=backend)
        same = same and one.tobytes() == rows[i : i + 1].tobytes()
    error = np.abs(looped(q, k, v) - rows).max()
    share = seen.astype(bool).mean()
    print(f"{share:.0%} of the keys are seen; with NaN in all others: {'equal' if same else 'DIFFERENT'}")
    print(f"off doubles by {error:.1e}")
    print(f"sha256 of the rows  {hashlib.sha256(rows.tobytes()).hexdigest()}")
    if not same or error > 1e-5:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
