"""Both WGSL compilers, each behind its backend."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

import pytest

from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.ir import Node

COMPILERS = {
    "naga": ("vyre.backends.webgpu.wgpu", "WgpuBackend"),
    "tint": ("vyre.backends.webgpu.dawn", "DawnBackend"),
}


@pytest.fixture(autouse=True)
def unoptimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the optimiser would fold away must be lowered right as well."""
    monkeypatch.setattr("vyre.lower.prepare.optimize_entry", _as_it_is)


def _as_it_is(entry: tuple[Node, ...], _: object, **__: object) -> tuple[Node, ...]:
    return entry


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
