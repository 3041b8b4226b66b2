"""Every program that a backend once got wrong, replayed on the reference and on the backends present."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vyre.compose.inline import inline
from vyre.conform.diff.differential import KeptCase, kept_cases, run_on
from vyre.conform.diff.shrink import is_sound
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.reference import run

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

CASES = dict(kept_cases(Path(__file__).parent / "programs"))


@cache
def backend_or_reason(name: str) -> Backend | str:
    try:
        if name == "opencl":
            from vyre.backends.opencl.backend import OpenClBackend

            return OpenClBackend()
        from vyre.backends import get

        return get(name)
    except (ImportError, VyreError) as error:
        return str(error)


@pytest.mark.parametrize("name", CASES)
def test_the_reference_still_says_what_it_said(name: str) -> None:
    case = CASES[name]
    assert is_sound(case.generated)
    result = run(case.generated.program, case.generated.inputs, case.generated.workgroups)
    assert result.buffers == case.expected


def replay(case: KeptCase, backend: Backend) -> dict[str, bytes]:
    return run_on(backend, inline(case.generated.program), case.generated)


@pytest.mark.parametrize("backend", ["reference", "cpu", "opencl", "wgpu", "dawn"])
@pytest.mark.parametrize("name", CASES)
def test_backends_give_the_expected_bytes(name: str, backend: str) -> None:
    found = backend_or_reason(backend)
    if isinstance(found, str):
        pytest.skip(f"{backend}: {found}")
    try:
        results = replay(CASES[name], found)
    except UnsupportedByBackend as refusal:
        pytest.skip(str(refusal))
    assert results == CASES[name].expected
