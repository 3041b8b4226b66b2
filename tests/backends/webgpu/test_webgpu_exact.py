"""Everything that must be exact on a WebGPU device, against the reference, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.webgpu.webgpu_programs import cases
from tests.backends.webgpu.webgpu_stacks import agree

if TYPE_CHECKING:
    from tests.backends.webgpu.webgpu_programs import Case
    from vyre.backends.webgpu.backend import WebGpuBackend
    from vyre.ir import Node

CASES = cases()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_device_gives_the_bytes_of_the_reference(backend: WebGpuBackend, case: Case) -> None:
    agree(backend, *case)


def test_constants_that_are_left_to_the_compiler(
    backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the optimiser, which folds them, both compilers accept operations on literals."""
    monkeypatch.setattr("vyre.lower.prepare.optimize_entry", _as_it_is)
    agree(backend, *CASES["operators on literals"])


def _as_it_is(entry: tuple[Node, ...], _: object, **__: object) -> tuple[Node, ...]:
    return entry
