"""The functions of the kernel language: their signatures for people, type checkers and the front end.

Inside `@vyre.kernel` and `@vyre.op` a call becomes an expression or a statement (`intrinsics.py` says
which). Outside there is nothing to compute, so a call raises.
"""

# The bodies are documentation only: none of them is ever run.
# pyright: reportReturnType=false

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

from vyre.errors import VyreError, boundary
from vyre.frontend.types import Float, Integer, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.frontend.types import (
        In,
        InOut,
        Lanes,
        Out,
        Private,
        Shared,
        SharedAtomic,
        Uniform,
        boolean,
        u32,
        u64,
        u128,
    )

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Scalar)
F = TypeVar("F", bound=Float)
V = TypeVar("V", bound=Integer | Float)

if TYPE_CHECKING:
    U32 = u32 | int
    Atomic = Out[u32, Any] | InOut[u32, Any] | SharedAtomic[u32, Any]
    Floats = In[F, Any] | Out[F, Any] | InOut[F, Any] | Uniform[F, Any] | Shared[F, Any]

Shape = int | tuple[int, ...]
Mode = Literal["nearest", "truncate", "floor", "ceil"]
Reduction = Literal["add", "mul", "min", "max"]
Order = Literal["strict", "tree"]
Function = Literal["sin", "cos", "exp", "log", "tanh"]


def _kernel_only(function: Callable[P, R]) -> Callable[P, R]:
    name = function.__name__

    @boundary
    @wraps(function)
    def refuse(*args: P.args, **kwargs: P.kwargs) -> R:
        raise VyreError(
            f"vyre.{name} works only inside @vyre.kernel or @vyre.op.",
            fix="call it in a decorated function; on the host use NumPy.",
        )

    refuse.__vyre_builtin__ = name  # pyright: ignore[reportFunctionMemberAccess]
    return refuse


@_kernel_only
def invocation_id(axis: int) -> u32:
    """Global id of the invocation along an axis from 0 to 2."""


@_kernel_only
def workgroup_id(axis: int) -> u32:
    """Id of the workgroup along an axis from 0 to 2."""


@_kernel_only
def local_id(axis: int) -> u32:
    """Id of the invocation inside its workgroup along an axis from 0 to 2."""


@overload
def grid(rank: Literal[1]) -> u32: ...
@overload
def grid(rank: Literal[2]) -> tuple[u32, u32]: ...
@overload
def grid(rank: Literal[3]) -> tuple[u32, u32, u32]: ...
@_kernel_only
def grid(rank: int) -> Any:
    """The coordinates of this invocation in the output, last axis along x: `i, j = vyre.grid(2)`.

    A call without `workgroups=` covers the output, whose shape must be the same for all outputs. Invocations
    past its edges run too; their loads are 0 and their stores do nothing.
    """


@_kernel_only
def num_workgroups(axis: int) -> u32:
    """How many workgroups run along an axis from 0 to 2."""


@_kernel_only
def num_invocations(axis: int) -> u32:
    """How many invocations run along an axis from 0 to 2, those past the edge of a buffer included."""


@_kernel_only
def barrier() -> None:
    """All invocations of the workgroup meet here, and see each other's earlier writes."""


@_kernel_only
def debug_print(*values: Any) -> None:
    """Prints text and values when the call is over, by invocation: `vyre.debug_print("x =", x)`."""


@overload
def shared(element: type[T], count: Shape) -> Shared[T]: ...
@overload
def shared(element: type[T], count: Shape, *, atomic: Literal[True]) -> SharedAtomic[T]: ...
@_kernel_only
def shared(element: type[Any], count: Shape, *, atomic: bool = False) -> Any:
    """Memory of one workgroup, at the top level of a kernel: `vyre.shared(u32, 256)`, or with a shape:
    `tile = vyre.shared(f32, (16, 16))`."""


@_kernel_only
def private(element: type[T], count: Shape) -> Private[T]:
    """An array of one invocation, zeros at the start: `stack = vyre.private(u32, 64)` at the top level."""


@_kernel_only
def bounded(condition: u32 | boolean | bool, turns: U32) -> bool:
    """The condition of a `while`, which ends after that many turns: `while vyre.bounded(x > 1, 1000):`."""


@_kernel_only
def popcount(value: U32) -> u32:
    """How many bits are set."""


@_kernel_only
def clz(value: U32) -> u32:
    """Zero bits above the highest set bit; 32 for 0."""


@_kernel_only
def ctz(value: U32) -> u32:
    """Zero bits below the lowest set bit; 32 for 0."""


@_kernel_only
def reverse_bits(value: U32) -> u32:
    """Bit i moves to bit 31 - i."""


@_kernel_only
def mul_hi(a: U32, b: U32) -> u32:
    """High 32 bits of the product."""


@overload
def select(condition: u32 | boolean | bool, if_true: T, if_false: T | float) -> T: ...
@overload
def select(condition: u32 | boolean | bool, if_true: float, if_false: T) -> T: ...
@_kernel_only
def select(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where the condition holds, else `if_false`; all three are evaluated."""


@_kernel_only
def cast(value: Scalar | float, target: type[T]) -> T:
    """Another type of the same kind: integers by their low bits, floats rounded, booleans as 0 or 1."""


@_kernel_only
def bitcast(value: Scalar | float, target: type[T]) -> T:
    """The same bits under another type, such as those of an f32 as u32; refused where they would change."""


@_kernel_only
def convert(value: Integer | Float | float, target: type[V], *, mode: Mode = "nearest") -> V:
    """Integer to float or float to integer by value; saturating, and NaN gives 0."""


@_kernel_only
def lane(value: Lanes | u64 | u128, index: int) -> u32:
    """One u32 lane, lane 0 lowest; `value[index]` is the same."""


@_kernel_only
def from_lanes(target: type[T], *lanes: U32) -> T:
    """A u64, u128, vec2 or vec4 from its u32 lanes, lane 0 first."""


@_kernel_only
def call(op_id: str, *args: Any) -> Any:
    """The result of a registered op, by id."""


@_kernel_only
def fma(a: F, b: F | float, c: F | float) -> F:
    """`a * b + c` with one rounding."""


@overload
def min(a: V, b: V | float) -> V: ...
@overload
def min(a: float, b: V) -> V: ...
@_kernel_only
def min(a: Any, b: Any) -> Any:
    """The lesser; for floats a number beats NaN, and -0 is below +0."""


@overload
def max(a: V, b: V | float) -> V: ...
@overload
def max(a: float, b: V) -> V: ...
@_kernel_only
def max(a: Any, b: Any) -> Any:
    """The greater; for floats a number beats NaN, and +0 is above -0."""


@_kernel_only
def abs(value: V) -> V:
    """The magnitude; for i32, -2^31 wraps to itself."""


@_kernel_only
def sqrt(value: F) -> F:
    """Square root, correctly rounded."""


@_kernel_only
def floor(value: F) -> F:
    """The integer at or below."""


@_kernel_only
def ceil(value: F) -> F:
    """The integer at or above."""


@_kernel_only
def round(value: F) -> F:
    """The nearest integer, ties to even."""


@_kernel_only
def trunc(value: F) -> F:
    """The integer part."""


@_kernel_only
def isnan(value: Float) -> bool:
    """True on NaN."""


@_kernel_only
def isinf(value: Float) -> bool:
    """True on either infinity."""


@_kernel_only
def sin(value: F) -> F:
    """Sine of radians, correctly rounded, like every function below."""


@_kernel_only
def cos(value: F) -> F:
    """Cosine of radians."""


@_kernel_only
def tan(value: F) -> F:
    """Tangent of radians."""


@_kernel_only
def asin(value: F) -> F:
    """Arc sine."""


@_kernel_only
def acos(value: F) -> F:
    """Arc cosine."""


@_kernel_only
def atan(value: F) -> F:
    """Arc tangent."""


@_kernel_only
def exp(value: F) -> F:
    """e to the power `value`."""


@_kernel_only
def log(value: F) -> F:
    """Natural logarithm."""


@_kernel_only
def exp2(value: F) -> F:
    """2 to the power `value`."""


@_kernel_only
def log2(value: F) -> F:
    """Logarithm to base 2."""


@_kernel_only
def exp10(value: F) -> F:
    """10 to the power `value`."""


@_kernel_only
def log10(value: F) -> F:
    """Logarithm to base 10."""


@_kernel_only
def erf(value: F) -> F:
    """Error function."""


@_kernel_only
def tanh(value: F) -> F:
    """Hyperbolic tangent."""


@_kernel_only
def sinh(value: F) -> F:
    """Hyperbolic sine."""


@_kernel_only
def cosh(value: F) -> F:
    """Hyperbolic cosine."""


@_kernel_only
def expm1(value: F) -> F:
    """e to the power `value`, less 1."""


@_kernel_only
def log1p(value: F) -> F:
    """Natural logarithm of 1 + `value`."""


@_kernel_only
def cbrt(value: F) -> F:
    """Cube root, of negative numbers too."""


@_kernel_only
def atan2(y: F, x: F | float) -> F:
    """Angle of the point (x, y)."""


@_kernel_only
def pow(base: F, exponent: F | float) -> F:
    """`base` to the power `exponent`; `base ** exponent` is the same."""


@_kernel_only
def atomic_add(buffer: Atomic, index: U32, value: U32) -> u32:
    """Adds to an element in one step; gives the value before, like all atomics."""


@_kernel_only
def atomic_or(buffer: Atomic, index: U32, value: U32) -> u32:
    """Sets bits of an element."""


@_kernel_only
def atomic_and(buffer: Atomic, index: U32, value: U32) -> u32:
    """Keeps bits of an element."""


@_kernel_only
def atomic_xor(buffer: Atomic, index: U32, value: U32) -> u32:
    """Flips bits of an element."""


@_kernel_only
def atomic_min(buffer: Atomic, index: U32, value: U32) -> u32:
    """Lowers an element to `value`."""


@_kernel_only
def atomic_max(buffer: Atomic, index: U32, value: U32) -> u32:
    """Raises an element to `value`."""


@_kernel_only
def atomic_exchange(buffer: Atomic, index: U32, value: U32) -> u32:
    """Replaces an element."""


@_kernel_only
def atomic_compare_exchange(buffer: Atomic, index: U32, value: U32, expected: U32) -> u32:
    """Replaces an element where it equals `expected`."""


@_kernel_only
def freduce(op: Reduction, buffer: Floats[F], start: U32, stop: U32, *, order: Order = "strict") -> F:
    """Fold of the elements `start..stop`: left to right, or as a binary tree."""


@_kernel_only
def freduce_approx(op: Reduction, buffer: Floats[F], start: U32, stop: U32, *, ulps: int) -> F:
    """Fold in any order, within `ulps` of the correctly rounded exact result."""


@_kernel_only
def approx(function: Function, value: F, *, ulps: int) -> F:
    """A function within `ulps` of the correctly rounded result."""
