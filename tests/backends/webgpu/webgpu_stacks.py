"""Where the stacks are, and how to hold one against the reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.diff.differential import compare
from vyre.conform.generate.programs import GeneratedProgram
from vyre.validate import check

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.ir import Program

LIBRARIES = {
    "wgpu": ("vyre.backends.webgpu.wgpu", "WgpuBackend"),
    "dawn": ("vyre.backends.webgpu.dawn", "DawnBackend"),
}

SWIFTSHADER = next((str(p) for p in Path("/usr/lib").glob("chromium*/vk_swiftshader_icd.json")), "")
"""The driver manifest of SwiftShader, empty where it is not installed."""


def agree(
    backend: Backend, program: Program, inputs: dict[str, bytes], workgroups: tuple[int, int, int]
) -> None:
    """Valid, and the same bytes as the reference in every ReadWrite buffer."""
    check(program)
    mismatch = compare(GeneratedProgram(0, program, inputs, workgroups), backend)
    assert mismatch is None, f"{mismatch}\n{program}"
