"""The correctly rounded functions of the kernel language: their signatures."""

# The bodies are documentation only: none of them is ever run.
# pyright: reportReturnType=false

from __future__ import annotations

from typing import TypeVar

from vyre.frontend.reserved import kernel_only
from vyre.frontend.types import Float

F = TypeVar("F", bound=Float)


@kernel_only
def sin(value: F) -> F:
    """Sine of radians, correctly rounded, like every function below."""


@kernel_only
def cos(value: F) -> F:
    """Cosine of radians."""


@kernel_only
def tan(value: F) -> F:
    """Tangent of radians."""


@kernel_only
def asin(value: F) -> F:
    """Arc sine."""


@kernel_only
def acos(value: F) -> F:
    """Arc cosine."""


@kernel_only
def atan(value: F) -> F:
    """Arc tangent."""


@kernel_only
def exp(value: F) -> F:
    """e to the power `value`."""


@kernel_only
def log(value: F) -> F:
    """Natural logarithm."""


@kernel_only
def exp2(value: F) -> F:
    """2 to the power `value`."""


@kernel_only
def log2(value: F) -> F:
    """Logarithm to base 2."""


@kernel_only
def exp10(value: F) -> F:
    """10 to the power `value`."""


@kernel_only
def log10(value: F) -> F:
    """Logarithm to base 10."""


@kernel_only
def erf(value: F) -> F:
    """Error function."""


@kernel_only
def tanh(value: F) -> F:
    """Hyperbolic tangent."""


@kernel_only
def sinh(value: F) -> F:
    """Hyperbolic sine."""


@kernel_only
def cosh(value: F) -> F:
    """Hyperbolic cosine."""


@kernel_only
def expm1(value: F) -> F:
    """e to the power `value`, less 1."""


@kernel_only
def log1p(value: F) -> F:
    """Natural logarithm of 1 + `value`."""


@kernel_only
def cbrt(value: F) -> F:
    """Cube root, of negative numbers too."""


@kernel_only
def atan2(y: F, x: F | float) -> F:
    """Angle of the point (x, y)."""


@kernel_only
def pow(base: F, exponent: F | float) -> F:
    """`base` to the power `exponent`; `base ** exponent` is the same."""
