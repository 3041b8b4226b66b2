"""The front end: plain Python functions become programs and ops."""

from vyre.frontend.calls import OpFunction
from vyre.frontend.kernel import Kernel, kernel, op

__all__ = ["Kernel", "OpFunction", "kernel", "op"]
