"""The backends that every function of the library runs on."""

from __future__ import annotations

import pytest

from vyre.backends.registry import get
from vyre.errors import BackendUnavailable


@pytest.fixture(params=["cpu", "wgpu", "opencl"])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a backend; one that this machine does not have is skipped."""
    name = str(request.param)
    try:
        get(name)
    except BackendUnavailable as error:
        pytest.skip(str(error))
    return name
