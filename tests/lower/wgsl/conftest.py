"""Both WGSL compilers, each behind its backend."""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING

import pytest

from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

COMPILERS = {"naga": ("vyre.backends.wgpu", "WgpuBackend"), "tint": ("vyre.backends.dawn", "DawnBackend")}


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Canary results of the tests stay out of the user's cache."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@cache
def _open(name: str) -> Backend | str:
    module, attribute = COMPILERS[name]
    try:
        return getattr(importlib.import_module(module), attribute)(canaries=False)
    except ImportError as error:
        return f"{error.name} is not installed"
    except VyreError as error:
        return str(error)


@pytest.fixture(params=sorted(COMPILERS))
def compiler(request: pytest.FixtureRequest) -> Backend:
    backend = _open(request.param)
    if isinstance(backend, str):
        pytest.skip(backend)
    return backend
