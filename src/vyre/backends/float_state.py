"""The floating-point state of the calling thread, put in order while something depends on it.

    with default_state():
        ...     rounding to nearest, subnormals kept, whatever a library has set before

Compilers fold constants and oracles compute with the processor's own floats. A library built for speed may
have set another rounding mode, or subnormals to zero, for the whole thread. Kernels set their own state.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

_STATE_BYTES = 256
"""More than any C library's `fenv_t` takes."""


@contextmanager
def default_state() -> Generator[None]:
    """Sets the state a process begins with, then what was found again. Threads started inside inherit it."""
    library = _library()
    if library is None:
        yield
        return
    found = ctypes.create_string_buffer(_STATE_BYTES)
    library.fegetenv(found)
    library.fesetenv(ctypes.c_void_p(-1))  # FE_DFL_ENV
    try:
        yield
    finally:
        library.fesetenv(found)


@cache
def _library() -> Any:
    """The C library's functions, where it has them and its default state is known to be written as -1."""
    if not sys.platform.startswith("linux"):
        return None
    for name in ("libm.so.6", None):
        try:
            library = ctypes.CDLL(name)
            _ = library.fegetenv, library.fesetenv
        except (OSError, AttributeError):
            continue
        return library
    return None
