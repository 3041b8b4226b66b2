"""The functions of the kernel language: their signatures for people, type checkers and the front end.

Inside `@vyre.kernel` and `@vyre.op` a call becomes an expression or a statement (`intrinsics.py` says
which). Outside there is nothing to compute, so a call raises.
"""

# The bodies are documentation only: none of them is ever run.
# pyright: reportReturnType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from vyre.frontend.functions_of_floats import (
    acos as acos,
)
from vyre.frontend.functions_of_floats import (
    asin as asin,
)
from vyre.frontend.functions_of_floats import (
    atan as atan,
)
from vyre.frontend.functions_of_floats import (
    atan2 as atan2,
)
from vyre.frontend.functions_of_floats import (
    cbrt as cbrt,
)
from vyre.frontend.functions_of_floats import (
    cos as cos,
)
from vyre.frontend.functions_of_floats import (
    cosh as cosh,
)
from vyre.frontend.functions_of_floats import (
    erf as erf,
)
from vyre.frontend.functions_of_floats import (
    exp as exp,
)
from vyre.frontend.functions_of_floats import (
    exp2 as exp2,
)
from vyre.frontend.functions_of_floats import (
    exp10 as exp10,
)
from vyre.frontend.functions_of_floats import (
    expm1 as expm1,
)
from vyre.frontend.functions_of_floats import (
    log as log,
)
from vyre.frontend.functions_of_floats import (
    log1p as log1p,
)
from vyre.frontend.functions_of_floats import (
    log2 as log2,
)
from vyre.frontend.functions_of_floats import (
    log10 as log10,
)
from vyre.frontend.functions_of_floats import (
    pow as pow,
)
from vyre.frontend.functions_of_floats import (
    sin as sin,
)
from vyre.frontend.functions_of_floats import (
    sinh as sinh,
)
from vyre.frontend.functions_of_floats import (
    tan as tan,
)
from vyre.frontend.functions_of_floats import (
    tanh as tanh,
)
from vyre.frontend.reserved import kernel_only
from vyre.frontend.types import Float, Integer, Scalar

if TYPE_CHECKING:
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
        i32,
        u32,
        u64,
        u128,
    )

T = TypeVar("T", bound=Scalar)
F = TypeVar("F", bound=Float)
V = TypeVar("V", bound=Integer | Float)

if TYPE_CHECKING:
    U32 = u32 | int
    Place = U32 | i32 | tuple[U32 | i32, ...]
    Atomic = Out[u32, Any] | InOut[u32, Any] | SharedAtomic[u32, Any]
    Floats = In[F, Any] | Out[F, Any] | InOut[F, Any] | Uniform[F, Any] | Shared[F, Any]

Shape = int | tuple[int, ...]
Mode = Literal["nearest", "truncate", "floor", "ceil"]
Reduction = Literal["add", "mul", "min", "max"]
Order = Literal["strict", "tree"]
Function = Literal["sin", "cos", "exp", "log", "tanh"]


@kernel_only
def invocation_id(axis: int) -> u32:
    """Global id of the invocation along an axis from 0 to 2."""


@kernel_only
def workgroup_id(axis: int) -> u32:
    """Id of the workgroup along an axis from 0 to 2."""


@kernel_only
def local_id(axis: int) -> u32:
    """Id of the invocation inside its workgroup along an axis from 0 to 2."""


@overload
def grid(rank: Literal[1]) -> u32: ...
@overload
def grid(rank: Literal[2]) -> tuple[u32, u32]: ...
@overload
def grid(rank: Literal[3]) -> tuple[u32, u32, u32]: ...
@kernel_only
def grid(rank: int) -> Any:
    """The coordinates of this invocation in the output, last axis along x: `i, j = vyre.grid(2)`.

    A call without `workgroups=` covers the output, whose shape must be the same for all outputs. Invocations
    past its edges run too; their loads are 0 and their stores do nothing.
    """


@kernel_only
def num_workgroups(axis: int) -> u32:
    """How many workgroups run along an axis from 0 to 2."""


@kernel_only
def num_invocations(axis: int) -> u32:
    """How many invocations run along an axis from 0 to 2, those past the edge of a buffer included."""


@kernel_only
def barrier() -> None:
    """All invocations of the workgroup meet here, and see each other's earlier writes."""


@kernel_only
def debug_print(*values: Any) -> None:
    """Prints text and values when the call is over, by invocation: `vyre.debug_print("x =", x)`."""


@overload
def shared(element: type[T], count: Shape) -> Shared[T]: ...
@overload
def shared(element: type[T], count: Shape, *, atomic: Literal[True]) -> SharedAtomic[T]: ...
@kernel_only
def shared(element: type[Any], count: Shape, *, atomic: bool = False) -> Any:
    """Memory of one workgroup, at the top level of a kernel: `vyre.shared(u32, 256)`, or with a shape:
    `tile = vyre.shared(f32, (16, 16))`."""


@kernel_only
def private(element: type[T], count: Shape) -> Private[T]:
    """An array of one invocation, zeros at the start: `stack = vyre.private(u32, 64)` at the top level."""


@kernel_only
def bounded(condition: u32 | boolean | bool, turns: U32) -> bool:
    """The condition of a `while`, which ends after that many turns: `while vyre.bounded(x > 1, 1000):`."""


@kernel_only
def popcount(value: U32) -> u32:
    """How many bits are set."""


@kernel_only
def clz(value: U32) -> u32:
    """Zero bits above the highest set bit; 32 for 0."""


@kernel_only
def ctz(value: U32) -> u32:
    """Zero bits below the lowest set bit; 32 for 0."""


@kernel_only
def reverse_bits(value: U32) -> u32:
    """Bit i moves to bit 31 - i."""


@kernel_only
def mul_hi(a: U32, b: U32) -> u32:
    """High 32 bits of the product."""


@overload
def select(condition: u32 | boolean | bool, if_true: T, if_false: T | float) -> T: ...
@overload
def select(condition: u32 | boolean | bool, if_true: float, if_false: T) -> T: ...
@kernel_only
def select(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where the condition holds, else `if_false`; all three are evaluated."""


@kernel_only
def cast(value: Scalar | float, target: type[T]) -> T:
    """Another type of the same kind: integers by their low bits, floats rounded, booleans as 0 or 1."""


@kernel_only
def bitcast(value: Scalar | float, target: type[T]) -> T:
    """The same bits under another type, such as those of an f32 as u32; refused where they would change."""


@kernel_only
def convert(value: Integer | Float | float, target: type[V], *, mode: Mode = "nearest") -> V:
    """Integer to float or float to integer by value; saturating, and NaN gives 0."""


@kernel_only
def lane(value: Lanes | u64 | u128, index: int) -> u32:
    """One u32 lane, lane 0 lowest; `value[index]` is the same."""


@kernel_only
def from_lanes(target: type[T], *lanes: U32) -> T:
    """A u64, u128, vec2 or vec4 from its u32 lanes, lane 0 first."""


@kernel_only
def call(op_id: str, *args: Any) -> Any:
    """The result of a registered op, by id."""


@kernel_only
def fma(a: F, b: F | float, c: F | float) -> F:
    """`a * b + c` with one rounding."""


@overload
def min(a: V, b: V | float, *more: V | float) -> V: ...
@overload
def min(a: float, b: V, *more: V | float) -> V: ...
@kernel_only
def min(a: Any, b: Any, *more: Any) -> Any:
    """The least; for floats a number beats NaN, and -0 is below +0."""


@overload
def max(a: V, b: V | float, *more: V | float) -> V: ...
@overload
def max(a: float, b: V, *more: V | float) -> V: ...
@kernel_only
def max(a: Any, b: Any, *more: Any) -> Any:
    """The greatest; for floats a number beats NaN, and +0 is above -0."""


@kernel_only
def abs(value: V) -> V:
    """The magnitude; for i32, -2^31 wraps to itself."""


@kernel_only
def sqrt(value: F) -> F:
    """Square root, correctly rounded."""


@kernel_only
def floor(value: F) -> F:
    """The integer at or below."""


@kernel_only
def ceil(value: F) -> F:
    """The integer at or above."""


@kernel_only
def round(value: F) -> F:
    """The nearest integer, ties to even."""


@kernel_only
def trunc(value: F) -> F:
    """The integer part."""


@kernel_only
def isnan(value: Float) -> bool:
    """True on NaN."""


@kernel_only
def isinf(value: Float) -> bool:
    """True on either infinity."""


@kernel_only
def atomic_add(buffer: Atomic, index: Place, value: U32) -> u32:
    """Adds to an element in one step; gives the value before, like all atomics.

    With a shape, `index` is a tuple: `vyre.atomic_add(counts, (i, j), 1)`.
    """


@kernel_only
def atomic_or(buffer: Atomic, index: Place, value: U32) -> u32:
    """Sets bits of an element."""


@kernel_only
def atomic_and(buffer: Atomic, index: Place, value: U32) -> u32:
    """Keeps bits of an element."""


@kernel_only
def atomic_xor(buffer: Atomic, index: Place, value: U32) -> u32:
    """Flips bits of an element."""


@kernel_only
def atomic_min(buffer: Atomic, index: Place, value: U32) -> u32:
    """Lowers an element to `value`."""


@kernel_only
def atomic_max(buffer: Atomic, index: Place, value: U32) -> u32:
    """Raises an element to `value`."""


@kernel_only
def atomic_exchange(buffer: Atomic, index: Place, value: U32) -> u32:
    """Replaces an element."""


@kernel_only
def atomic_compare_exchange(buffer: Atomic, index: Place, value: U32, expected: U32) -> u32:
    """Replaces an element where it equals `expected`."""


@kernel_only
def freduce(op: Reduction, buffer: Floats[F], start: U32, stop: U32, *, order: Order = "strict") -> F:
    """Fold of the elements `start..stop`: left to right, or as a binary tree."""


@kernel_only
def freduce_approx(op: Reduction, buffer: Floats[F], start: U32, stop: U32, *, ulps: int) -> F:
    """Fold in any order, within `ulps` of the correctly rounded exact result."""


@kernel_only
def approx(function: Function, value: F, *, ulps: int) -> F:
    """A function within `ulps` of the correctly rounded result."""
