"""The OpenCL backend of this machine, or a skip that says why there is none."""

from __future__ import annotations

from functools import cache

import pytest

from vyre.backends.opencl.backend import OpenClBackend
from vyre.errors import VyreError


@cache
def _opened() -> OpenClBackend | str:
    try:
        return OpenClBackend()
    except (ImportError, VyreError) as error:
        return str(error)


def opencl() -> OpenClBackend:
    """Made once: a context costs, and programs are compiled into it."""
    found = _opened()
    if isinstance(found, str):
        pytest.skip(f"OpenCL is missing here: {found}")
    return found
