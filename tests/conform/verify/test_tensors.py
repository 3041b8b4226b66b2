"""The stages of tensors and networks: a right backend passes, and each wrong one is caught by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wrong.base import Right
from tests.wrong.long_rows import (
    DropsWhatWasBefore,
    HalfSums,
    LosesTheRest,
    NothingIsZero,
    PadsWithZero,
    SplitLongK,
    Tf32FromLongK,
)
from tests.wrong.resident import Apart, KeepsTheFirstInput
from tests.wrong.tensors import (
    DropsTheMask,
    LosesTheLargest,
    OtherOrder,
    Reciprocal,
    SeesTheNextRow,
    SplitK,
    StaleLength,
    Tf32,
    WrongStride,
)
from vyre.conform.generate.network_cases import network_cases
from vyre.conform.generate.tensor_cases import tensor_cases
from vyre.conform.spec.track import FLOAT, subject_track
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.conform.verify.stages.tensors import NETWORKS, TENSORS
from vyre.graph import NODES
from vyre.graph.nodes import Input

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.conform.records.blocks import Outcome
    from vyre.conform.verify.stages.tensors import Tensors

PLAN = make_plan("right", cases=16)


def outcome(stage: Tensors, backend: Backend, subject: str) -> Outcome:
    """The case of this subject on a backend."""
    cases = tensor_cases() if stage is TENSORS else network_cases()
    number = next(i for i, case in enumerate(cases) if case.subject == subject)
    return stage.run(backend, PLAN, number, number + 1)[0]


@pytest.mark.parametrize(
    ("backend", "stage", "subject"),
    [
        (Tf32, TENSORS, "float matmul 5x7x3"),
        (OtherOrder, TENSORS, "float matmul 5x7x3"),
        (SplitK, TENSORS, "float matmul 5x7x3"),
        (SeesTheNextRow, TENSORS, "float matmul batched"),
        (DropsTheMask, TENSORS, "float matmul masked"),
        (DropsTheMask, NETWORKS, "float masked attention"),
        (Reciprocal, NETWORKS, "float softmax"),
        (Reciprocal, NETWORKS, "float attention"),
        (LosesTheLargest, NETWORKS, "float fp8 e4m3fn codes"),
        (WrongStride, TENSORS, "float sliced"),
        (StaleLength, TENSORS, "float matmul dynamic"),
        (StaleLength, TENSORS, "float dynamic view"),
        (Tf32FromLongK, TENSORS, "float matmul 2x1100x3"),
        (SplitLongK, TENSORS, "float matmul 2x1100x3"),
        (HalfSums, TENSORS, "float f16 matmul 1x300x2"),
        (HalfSums, TENSORS, "float bf16 matmul 1x300x2"),
        (LosesTheRest, TENSORS, "float tree sum in two stages"),
        (DropsWhatWasBefore, TENSORS, "float beside integer prefix sums in blocks"),
        (NothingIsZero, TENSORS, "float joined from nothing"),
        (PadsWithZero, TENSORS, "float tree sums of -0"),
    ],
)
def test_wrong_backends_are_caught(backend: type[Right], stage: Tensors, subject: str) -> None:
    assert outcome(stage, Right(), subject).status == PASSED
    found = outcome(stage, backend(), subject)
    assert found.status == FAILED
    assert found.subject == subject
    assert "vyre graph 1" in found.program


@pytest.mark.parametrize(("stage", "subject"), [(TENSORS, "float matmul 5x7x3"), (NETWORKS, "float softmax")])
def test_memory_of_the_device_is_run_in_too(stage: Tensors, subject: str) -> None:
    """Only there a second run finds what the first one left."""
    assert outcome(stage, Apart(), subject).status == PASSED
    found = outcome(stage, KeepsTheFirstInput(), subject)
    assert found.status == FAILED
    assert "buffers on the device" in str(found)


def test_every_subject_is_of_the_float_track_and_has_a_name_of_its_own() -> None:
    subjects = [case.subject for case in (*tensor_cases(), *network_cases())]
    assert len(set(subjects)) == len(subjects)
    assert {subject_track(subject) for subject in subjects} == {FLOAT}


def test_every_node_is_in_a_case() -> None:
    met = {type(node) for case in tensor_cases() for _, node in case.graph.values}
    met |= {type(node) for case in network_cases() for _, node in case.graph.values}
    missing = [node.__name__ for node in NODES if node not in met and node is not Input]
    assert missing in ([], ["Copy"]), "a copy alone is in random graphs"
