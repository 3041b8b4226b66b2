"""F32 arithmetic of single numbers by MPFR, so that loops over them have the bits a graph must have."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# Arrays are indexed and computed with, element by element; a checker does not know their types.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.ops.float_formulas import formula
from vyre import tensor as vt
from vyre.ir import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence


def _of(name: str) -> Any:
    compute = formula(DataType.F32, name)

    def apply(*values: Any) -> Any:
        bits = compute(*(int(np.float32(v).view(np.uint32)) for v in values))
        return np.uint32(bits).view(np.float32)

    return apply


fma, exp, div, add, mul, sub = map(_of, ("fma", "exp", "div", "add", "mul", "sub"))


def tree_sum(values: Sequence[Any]) -> Any:
    """Neighbours are added level by level, an odd last one is carried up."""
    level = list(values)
    while len(level) > 1:
        pairs = [add(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) & ~1 :]
    return level[0]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """One rounding a step, from +0 on."""
    total = np.float32(0)
    for x, y in zip(a, b, strict=True):
        total = fma(x, y, total)
    return total


def softmax(row: Sequence[Any]) -> list[Any]:
    powers = [exp(sub(x, max(row))) for x in row]
    total = tree_sum(powers)
    return [div(p, total) for p in powers]


def matmul(a: Any, b: Any) -> Any:
    return np.array([[dot(row, column) for column in b.T] for row in a], np.float32)


def attention(q: Any, k: Any, v: Any, scale: float, seen: Any = None) -> Any:
    """One query after another; a key that is not seen takes no part."""
    rows: list[Any] = []
    for i, query in enumerate(q):
        keys = [j for j in range(len(k)) if seen is None or seen[i][j]]
        scores = [mul(dot(query, k[j]), np.float32(scale)) for j in keys]
        powers = [exp(sub(s, max(scores))) for s in scores]
        # Keys that are not seen add +0, which changes no sum but has a place in the tree.
        spread = dict(zip(keys, powers, strict=True))
        total = tree_sum([spread.get(j, np.float32(0)) for j in range(len(k))])
        rows.append([div(dot(powers, v[keys, c]), total) for c in range(v.shape[1])])
    return np.array(rows, np.float32)


def same(found: Any, expected: Any) -> None:
    """Every bit, zeros' signs included."""
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


def both(function: Any, *arguments: Any) -> Any:
    """What the evaluator gives, which `cpu` must give too."""
    traced = function if isinstance(function, vt.TensorFunction) else vt.function(function)
    found, run = traced.evaluate(*arguments), traced(*arguments, backend="cpu")
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, run)), strict=True):
        assert a.tobytes() == b.tobytes()
    return found
