"""When the CUDA backend asks its device for matrix instructions, and what it makes of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.backends.cuda.scripted_driver import COPY
from vyre.backends.cuda.backend import CudaBackend
from vyre.backends.forks import Home
from vyre.backends.matrices import families, trial_program
from vyre.backends.reference.backend import ReferenceBackend
from vyre.backends.subgroups import cuda_hardware
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.lower.matrices import MATRICES
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.backends.cuda.backend import CudaExecutable
    from vyre.ir.program import Program
    from vyre.lower.ways import Ways

WARPS = cuda_hardware(90)


class Tried(CudaBackend):
    """The backend on a device that is the interpreter; `wrong` shapes are refused by its compiler."""

    def __init__(self, name: str = "a device", wrong: str = "nothing") -> None:
        self.home = Home("tried")
        self.architecture = "sm_90"
        self._warps = WARPS
        self._toolchain = "NVRTC 0.0"
        self._name, self._wrong = name, wrong
        self.asked: list[Program] = []

    def _device_name(self) -> str:
        return self._name

    def _compiled(self, program: Program, ways: Ways, hardware: frozenset[str] | None) -> CudaExecutable:
        self.asked.append(program)
        if any(self._wrong in op.hardware for op in prepare(program).intrinsics.values()):
            raise UnsupportedByBackend("a shape", "tried")
        return cast("Any", ReferenceBackend().compile(program))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path / "kernels"))


def test_what_is_right_is_kept_for_the_next_process() -> None:
    first, second, other = Tried(), Tried(), Tried("another device")
    assert first.hardware == WARPS | MATRICES
    assert first.hardware == second.hardware == other.hardware
    programs = [trial_program(family) for family in families()]
    assert (first.asked, second.asked, other.asked) == (programs, [], programs)


def test_a_shape_that_the_compiler_refuses_is_not_there() -> None:
    found = Tried(wrong="mma_f64.m16n8k8").hardware
    assert MATRICES - found == {f"mma_f64.m16n8k8_{i}" for i in range(4)}
    assert Tried("older", wrong="mma_").hardware == WARPS


def test_a_device_that_fails_is_asked_again() -> None:
    class Busy(Tried):
        def _compiled(self, program: Program, ways: Ways, hardware: frozenset[str] | None) -> Any:
            raise VyreError("no memory.", fix="wait.")

    assert Busy().hardware == WARPS
    assert Tried().hardware == WARPS | MATRICES


def test_other_programs_do_not_ask() -> None:
    backend = Tried()
    backend.compile(COPY)
    assert backend.asked == [COPY]
    assert "hardware" not in vars(backend)


def test_a_program_is_refused_by_name_where_its_shape_is_not_there() -> None:
    """The real way of compiling, up to the check of the instructions."""
    (doubles,) = (family for family in families() if family[0].hardware.startswith("mma_f64.m16n8k8"))
    program = trial_program(doubles)
    backend = Tried(wrong="mma_f64.m16n8k8")
    with pytest.raises(UnsupportedByBackend, match=r"mma_f64\.m16n8k8_0"):
        CudaBackend._compiled(backend, program, backend.ways, None)  # pyright: ignore[reportPrivateUsage]
