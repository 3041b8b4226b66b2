"""The WebGPU stacks of this machine: both libraries on the Vulkan driver that the environment names."""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.backends.webgpu.webgpu_stacks import LIBRARIES, SWIFTSHADER
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.webgpu.backend import WebGpuBackend


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Canary results of the tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@cache
def _open(name: str) -> WebGpuBackend | str:
    module, attribute = LIBRARIES[name]
    try:
        return getattr(importlib.import_module(module), attribute)()
    except ImportError as error:
        return f"{error.name} is not installed"
    except VyreError as error:
        return str(error)


def opened(name: str) -> WebGpuBackend:
    backend = _open(name)
    if isinstance(backend, str):
        pytest.skip(backend)
    if os.environ.get("VK_ICD_FILENAMES") == SWIFTSHADER:
        assert "SwiftShader" in backend.describe().device
    return backend


@pytest.fixture(params=sorted(LIBRARIES))
def backend(request: pytest.FixtureRequest) -> WebGpuBackend:
    return opened(request.param)


@pytest.fixture
def dawn() -> WebGpuBackend:
    return opened("dawn")


@pytest.fixture
def wgpu() -> WebGpuBackend:
    return opened("wgpu")
