"""Running programs: the grid, limits, compiling once, and the same checks for every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import BackendInfo, BackendLimits, BufferDecl, Call, DataType, InvocationId, Program
from vyre.backends import compile_program, get
from vyre.errors import DispatchError, ValidationError
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
ID = InvocationId(0)
DOUBLE = Program([A, OUT], [4], [OUT.store(ID, A[ID] * 2)])


class Recorder:
    """A backend that writes its grid into the output, and remembers what it was given."""

    name = "recorder"

    def __init__(self, **limits: Any) -> None:
        self.compiled: list[Program] = []
        self.grids: list[tuple[int, int, int]] = []
        self.limits = BackendLimits(**limits)

    def describe(self) -> BackendInfo:
        return BackendInfo(name=self.name, version="1", device="memory", limits=self.limits)

    def compile(self, program: Program) -> Recorder:
        self.compiled.append(program)
        return self

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self.grids.append(workgroups)
        for view in buffers.values():
            if not view.readonly:
                view[:] = b"\1" * view.nbytes


def u32s(*values: int) -> Any:
    return np.array(values, np.uint32)


def test_what_is_written_comes_back_and_copies_leave_it_alone() -> None:
    a, out = u32s(1, 2, 3), u32s(7, 7, 7, 7)
    result = vyre.dispatch(DOUBLE, {"a": a, "out": out}, copy=True)
    assert result["out"].tolist() == [2, 4, 6, 0]
    assert out.tolist() == [7, 7, 7, 7]
    same = vyre.dispatch(DOUBLE, {"a": a, "out": out})
    assert out.tolist() == [2, 4, 6, 0]
    assert same["out"] is out


@pytest.mark.parametrize(("length", "groups"), [(1, 1), (4, 1), (5, 2), (400, 100)])
def test_the_default_grid_covers_the_longest_output(length: int, groups: int) -> None:
    backend = Recorder()
    arrays = {"a": u32s(*range(9999)), "out": np.zeros(length, np.uint32)}
    vyre.dispatch(DOUBLE, arrays, backend=backend)
    assert backend.grids == [(groups, 1, 1)]


@pytest.mark.parametrize(
    ("given", "grid"), [(3, (3, 1, 1)), ((2, 5), (2, 5, 1)), ([1, 2, 3], (1, 2, 3)), (np.int64(4), (4, 1, 1))]
)
def test_grids(given: Any, grid: tuple[int, int, int]) -> None:
    backend = Recorder()
    vyre.dispatch(DOUBLE, {"a": u32s(1), "out": u32s(0)}, backend=backend, workgroups=given)
    assert backend.grids == [grid]


@pytest.mark.parametrize("given", [-1, (), (1, 2, 3, 4), "3", 2.0, (1, "2")])
def test_what_is_no_grid_is_refused(given: Any) -> None:
    backend = Recorder()
    with pytest.raises(DispatchError, match="is not a grid"):
        vyre.dispatch(DOUBLE, {"a": u32s(1), "out": u32s(0)}, backend=backend, workgroups=given)
    assert backend.grids == []


def test_an_empty_grid_runs_nothing() -> None:
    backend = Recorder()
    empty = vyre.dispatch(DOUBLE, {"a": u32s(), "out": u32s()}, backend=backend)
    assert empty["out"].size == 0
    assert vyre.dispatch(DOUBLE, {"a": u32s(1), "out": u32s(5)}, backend=backend, workgroups=(1, 0))[
        "out"
    ].tolist() == [5]
    assert backend.grids == []


def test_invocation_ids_stay_within_a_u32() -> None:
    backend = Recorder()
    arrays = {"a": u32s(1), "out": u32s(0)}
    vyre.dispatch(DOUBLE, arrays, backend=backend, workgroups=1 << 30)
    with pytest.raises(DispatchError, match="beyond a u32"):
        vyre.dispatch(DOUBLE, arrays, backend=backend, workgroups=(1 << 30) + 1)


def test_the_limits_of_a_device_are_named_before_anything_runs() -> None:
    arrays = {"a": u32s(*range(100)), "out": u32s(*range(100))}
    for limits, message in [
        ({"buffer_bytes": 399}, "'a' takes 400 bytes.*recorder accepts 399"),
        ({"buffers": 1}, "2 buffers are bound.*recorder accepts 1"),
        ({"workgroups_per_axis": 24}, "25 workgroups along x.*recorder accepts 24"),
    ]:
        backend = Recorder(**limits)
        with pytest.raises(DispatchError, match=message):
            vyre.dispatch(DOUBLE, arrays, backend=backend)
        assert backend.grids == []


def test_aliasing_is_refused_for_every_backend() -> None:
    x = u32s(1, 2)
    for backend in ("reference", Recorder()):
        with pytest.raises(DispatchError, match="share memory"):
            vyre.dispatch(DOUBLE, {"a": x, "out": x}, backend=backend)


def test_compile_once_run_many() -> None:
    backend = Recorder()
    compiled = compile_program(DOUBLE, backend=backend)
    for n in (1, 2, 3):
        assert compiled({"a": u32s(1), "out": np.zeros(n, np.uint32)})["out"].tolist() == [0x01010101] * n
    assert len(backend.compiled) == 1
    assert compile_program(DOUBLE, backend="reference") is compile_program(DOUBLE, backend="reference")


def test_backends_see_no_call() -> None:
    backend = Recorder()
    program = Program([A, OUT], [4], [OUT.store(ID, Call("integer.min", (A[ID], ID)))])
    compile_program(program, backend=backend)
    (seen,) = backend.compiled
    assert not any(isinstance(e, Call) for e in expressions(seen.entry))


def test_an_invalid_program_never_reaches_a_backend() -> None:
    backend = Recorder()
    program = Program([A], [4], [A.store(ID, 1)])
    with pytest.raises(ValidationError, match="V005"):
        vyre.dispatch(program, {"a": u32s(1)}, backend=backend)
    assert backend.compiled == []


def test_the_reference_backend_describes_itself() -> None:
    info = get("reference").describe()
    assert info.name == "reference"
    assert info.driver.startswith("CPython")
    assert info.limits.buffer_bytes == 64 * 1024 * 1024
