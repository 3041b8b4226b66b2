"""What nodes compute of shapes: whole numbers and dynamic sizes, on the host.

A comparison that differs from length to length has no answer here and is refused, never guessed. What an op
makes of a few known numbers, and has no arithmetic of its own for here, the reference evaluator computes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.graph.sizes import Size
from vyre.ir.types import DataType
from vyre.onnx.values import HostArray, OnnxNode, known
from vyre.tensor.builder import Builder
from vyre.tensor.evaluated import evaluated
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Two = Callable[[Any, Any], Any]

_NUMBERS = 64
"""Elements of a value that the evaluator computes while a model is loaded: more than shapes have."""


def settled(ctx: OnnxNode, handler: Callable[[OnnxNode], Any]) -> Any:
    """What the op makes: arrays of the host where it is computed of a few known numbers."""
    given = [value for value in ctx.inputs if value is not None]
    if not given or not all(_few(value) for value in given):
        return handler(ctx)
    apart = replace(ctx, builder=Builder(), weights={})
    made = handler(apart)
    several: list[Any] = made if isinstance(made, list) else [made]  # pyright: ignore[reportUnknownVariableType]
    tensors = {value.name: value for value in several if isinstance(value, Tensor)}
    if not all(_settles(value) for value in tensors.values()):
        return handler(ctx)
    arrays = evaluated(apart.builder.graph(tensors), apart.weights) if tensors else {}
    found: list[Any] = [HostArray(arrays[v.name]) if isinstance(v, Tensor) else v for v in several]
    return found if several is made else found[0]


def _few(value: Any) -> bool:
    return isinstance(value, HostArray) and not value.is_symbolic and value.array.size <= _NUMBERS


def _settles(value: Tensor) -> bool:
    """Bits of BF16 come back as integers."""
    count = value.type.count.static
    return value.element is not DataType.BF16 and count is not None and count <= _NUMBERS


def folded(ctx: OnnxNode, exact: Two) -> HostArray | None:
    """The result of an op on two host arrays, None where one is a tensor; `exact` takes arrays or sizes."""
    a, b = ctx.inputs[:2]
    if not isinstance(a, HostArray) or not isinstance(b, HostArray):
        return None
    if not a.is_symbolic and not b.is_symbolic:
        return HostArray(np.asarray(exact(a.array, b.array)))
    return _each(exact, a.array, b.array)


def _each(exact: Two, a: NDArray[Any], b: NDArray[Any]) -> HostArray:
    left, right = np.broadcast_arrays(a, b)
    pairs = zip(left.reshape(-1), right.reshape(-1), strict=True)
    made: list[Any] = [exact(x, y) for x, y in pairs]
    if made and all(isinstance(value, (bool, np.bool_)) for value in made):
        return HostArray(np.array(made, np.bool_).reshape(left.shape))
    whole = np.empty(len(made), object)
    whole[:] = made
    return known(whole.reshape(left.shape))


def _between(a: Any, b: Any) -> tuple[float, float]:
    """The least and the greatest that a - b can be, whatever the lengths."""
    rest = Size(a if isinstance(a, Size) else int(a)) - (b if isinstance(b, Size) else int(b))
    constant = sum(factor for names, factor in rest.terms if not names)
    factors = [factor for names, factor in rest.terms if names]
    low = constant if all(f > 0 for f in factors) else -math.inf
    high = constant if all(f < 0 for f in factors) else math.inf
    return low, high


def comparison(ctx: OnnxNode, of_arrays: Two, name: str) -> Two:
    """A comparison of arrays, and of sizes where every length gives the same answer."""

    def compare(a: Any, b: Any) -> Any:
        if not isinstance(a, Size) and not isinstance(b, Size):
            return of_arrays(a, b)
        low, high = _between(a, b)
        equal = True if low == high == 0 else False if low > 0 or high < 0 else None
        less = True if high < 0 else False if low >= 0 else None
        greater = True if low > 0 else False if high <= 0 else None
        found = {
            "equal": equal,
            "less": less,
            "greater": greater,
            "less_equal": None if greater is None else not greater,
            "greater_equal": None if less is None else not less,
        }[name]
        if found is None:
            raise ctx.refuse(
                f"the sizes {a} and {b} are compared, and the answer differs from length to length",
                "fix the size with sizes= of vyre.onnx.load, or export with a static shape.",
            )
        return found

    return compare


def extreme(ctx: OnnxNode, of_arrays: Two, *, greater: bool) -> Two:
    """The lesser or greater of two, where it is the same one for every length."""

    def choose(a: Any, b: Any) -> Any:
        if not isinstance(a, Size) and not isinstance(b, Size):
            return of_arrays(a, b)
        above = comparison(ctx, of_arrays, "greater_equal")(a, b)
        return a if above == greater else b

    return choose


def remainder(ctx: OnnxNode, *, signed_as_divisor: bool) -> Two:
    def rest(a: Any, b: Any) -> Any:
        if isinstance(a, Size) or isinstance(b, Size):
            if isinstance(a, Size) and not isinstance(b, Size) and a.divided(int(b)) is not None:
                return 0
            raise ctx.refuse(
                f"the rest of {a} by {b} is not known", "fix the size with sizes= of vyre.onnx.load."
            )
        return np.mod(a, b) if signed_as_divisor else np.fmod(a, b)

    return rest
