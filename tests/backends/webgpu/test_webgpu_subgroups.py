"""Subgroups on real WebGPU stacks: the width the driver has runs exactly, the others are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.webgpu.webgpu_stacks import SWIFTSHADER, agree
from vyre.backends.subgroups import WIDTHS, observed_width, webgpu_hardware
from vyre.backends.webgpu.backend import WebGpuExecutable
from vyre.conform.verify.stages import matrices
from vyre.conform.verify.stages.subgroups import GROUPS, SHAPES, SURROUNDINGS, inputs_of, program_of
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.lower.packed import PACKED
from vyre.ops.intrinsics import intrinsic_ops
from vyre.ops.intrinsics.subgroup import NAMES

if TYPE_CHECKING:
    from vyre.backends.subgroups import Run
    from vyre.backends.webgpu.backend import WebGpuBackend
    from vyre.lower.source import Source

GRID = (GROUPS, 1, 1)


def width_of(backend: WebGpuBackend) -> int:
    """The one width that the stacks of this machine have."""
    widths = {h.partition(".")[0] for h in backend.describe().hardware - PACKED}
    assert len(widths) == 1, "this driver has no subgroups of one width: repair the probe, or skip here"
    return int(widths.pop().removeprefix("subgroup"))


def test_the_device_says_what_it_has(backend: WebGpuBackend) -> None:
    info = backend.describe()
    assert info.categories == ("A", "C")
    assert info.hardware - PACKED == {f"subgroup{width_of(backend)}.{name}" for name in NAMES}
    assert info.hardware & PACKED == PACKED, "this stack has no packed dot products: say so here"
    expected = {"SwiftShader": 4, "128 bits": 4, "256 bits": 8, "512 bits": 16}
    known = [width for name, width in expected.items() if name in info.device]
    assert known in ([], [width_of(backend)])


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_agrees_with_the_reference(backend: WebGpuBackend, name: str) -> None:
    op = next(o for o in intrinsic_ops() if o.hardware == f"subgroup{width_of(backend)}.{name}")
    number = NAMES.index(name)
    surroundings = list(SURROUNDINGS)[number % len(SURROUNDINGS)]
    shape = SHAPES[number % len(SHAPES)]
    agree(backend, program_of(op, shape, surroundings), inputs_of(shape, number, number), GRID)


@pytest.mark.parametrize("hardware", sorted(PACKED))
def test_packed_dot_products_agree_with_the_reference(backend: WebGpuBackend, hardware: str) -> None:
    op = next(o for o in intrinsic_ops() if o.hardware == hardware)
    for turn, (shape, surroundings) in enumerate(zip(SHAPES, SURROUNDINGS, strict=True)):
        agree(backend, program_of(op, shape, surroundings), inputs_of(shape, turn, 9), GRID)


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_every_surrounding_agrees_with_the_reference(backend: WebGpuBackend, surroundings: str) -> None:
    op = next(o for o in intrinsic_ops() if o.hardware == f"subgroup{width_of(backend)}.shuffle_down")
    for turn, shape in enumerate(SHAPES[1:3]):
        agree(backend, program_of(op, shape, surroundings), inputs_of(shape, turn, 5), GRID)


def test_other_widths_are_refused_by_name(backend: WebGpuBackend) -> None:
    for op in intrinsic_ops():
        matrix = op.hardware.startswith("mma_")
        if matrix or op.lanes not in (1, width_of(backend)):
            alone = matrices.program_of(op, "alone") if matrix else program_of(op, SHAPES[0], "alone")
            with pytest.raises(UnsupportedByBackend) as caught:
                backend.compile(alone)
            assert (caught.value.op, caught.value.backend) == (op.id, backend.name)
    assert width_of(backend) in WIDTHS


def test_a_wrong_lane_shows_up(backend: WebGpuBackend) -> None:
    """The control: the same text with one mask changed does not agree."""
    width = width_of(backend)
    op = next(o for o in intrinsic_ops() if o.hardware == f"subgroup{width}.shuffle")
    program = program_of(op, SHAPES[0], "alone")

    class Wrong:
        name = backend.name

        def describe(self) -> Any:
            return backend.describe()

        def compile(self, program: Any) -> Any:
            source = backend.compile(program).source
            text = source.text.replace(f"lane & {width - 1}u", f"lane & {width // 2 - 1}u")
            assert text != source.text
            return WebGpuExecutable(backend, replace(source, text=text))

    with pytest.raises(AssertionError):
        agree(Wrong(), program, inputs_of(SHAPES[0], 0, 1), GRID)


def test_a_device_without_the_feature_has_no_subgroups(backend: WebGpuBackend) -> None:
    device = SimpleNamespace(facts=backend.device.facts)
    bare = SimpleNamespace(name=f"bare {backend.name}", device=device)

    def run(source: Source) -> Run:
        return WebGpuExecutable(backend, source).run

    def refused(source: Source) -> Run:
        raise VyreError("the compiler refuses.", fix="use another.")

    assert webgpu_hardware(bare, refused) == frozenset()
    assert webgpu_hardware(bare, run) == PACKED
    assert observed_width(run) == width_of(backend)


@pytest.mark.slow
@pytest.mark.skipif(not SWIFTSHADER, reason="SwiftShader is missing: apt-get install chromium")
@pytest.mark.skipif(os.environ.get("VK_ICD_FILENAMES") == SWIFTSHADER, reason="this is SwiftShader already")
def test_all_of_it_on_swiftshader() -> None:
    environment = os.environ | {"VK_ICD_FILENAMES": SWIFTSHADER}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", __file__]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("skipped") <= 1  # this test itself
