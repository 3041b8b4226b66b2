"""A crash or a hang of a backend is a result with the case that caused it, and the run goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from tests.conform.verify.runs import certify
from vyre.conform.process import wire
from vyre.conform.process.faults import BackendCrash, BackendFault, BackendHang
from vyre.conform.process.inspection import inspect
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.load import load
from vyre.conform.registry import spec
from vyre.conform.spec.program import application
from vyre.conform.suite.units import STAGES
from vyre.conform.verify.stage import PASSED, Outcome
from vyre.errors import DispatchError, UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def isolated() -> Iterator[Any]:
    opened: list[Isolated] = []

    def start(name: str, *, timeout: float = 30.0) -> Isolated:
        opened.append(Isolated(f"tests.wrong:{name}", timeout=timeout))
        return opened[-1]

    yield start
    for backend in opened:
        backend.close()


def multiply(backend: Any, a: Any, b: Any, *, shared: bool = False) -> Any:
    kernel = application(spec("primitive.math.mul"))
    arrays = {
        "x0": np.asarray(a, np.uint32),
        "x1": np.asarray(b, np.uint32),
        "out": np.zeros(len(a), np.uint32),
    }
    if shared:
        for name, array in arrays.items():
            arrays[name] = np.frombuffer(backend.share(array.nbytes), np.uint32)
            arrays[name][:] = array
    views = {n: x.view(np.uint8).data for n, x in arrays.items()}
    backend.compile(kernel.program).run(
        {n: v if n == "out" else v.toreadonly() for n, v in views.items()}, (1, 1, 1)
    )
    return arrays["out"]


@pytest.mark.parametrize("shared", [False, True])
def test_a_child_computes_what_its_backend_computes(shared: bool, isolated: Any) -> None:
    backend = isolated("Right")
    assert multiply(backend, [2, 3, 0xFFFF_FFFF], [5, 7, 2], shared=shared).tolist() == [10, 21, 0xFFFF_FFFE]
    assert backend.describe().name == backend.name == "right"
    executable = backend.compile(application(spec("primitive.math.mul")).program)
    assert inspect(executable).source == "the source of a broken backend"


def test_buffers_of_any_size_are_copied_there_and_back(isolated: Any) -> None:
    backend = isolated("Right")
    kernel = application(spec("primitive.math.mul"))
    executable = backend.compile(kernel.program)
    for count in (1, 1 << 17, 3, 1 << 19, 5, 1 << 20, 64):
        a, out = np.arange(count, dtype=np.uint32), np.zeros(count, np.uint32)
        views = {"x0": a.view(np.uint8).data.toreadonly(), "x1": a.view(np.uint8).data.toreadonly()}
        executable.run({**views, "out": out.view(np.uint8).data}, (-(-count // 64), 1, 1))
        assert np.array_equal(out, a * a)


def test_assembly_is_made_where_it_is_asked_for(isolated: Any) -> None:
    program = application(spec("primitive.math.mul")).program
    for backend in (wrong.Assembled(), isolated("Assembled")):
        executable = backend.compile(program)
        assert inspect(executable).assembly == ""
        assert inspect(executable, assembly=True).assembly == "the assembly of a broken backend"
    assert inspect(isolated("Right").compile(program), assembly=True).assembly == ""


def shared_memory(process: int | str = "self") -> int:
    """Bytes of shared memory that a process has mapped."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    except OSError:
        pytest.skip("asks Linux")
    ends = [line.split()[0].split("-") for line in lines if line.split()[1].endswith("s")]
    return sum(int(end, 16) - int(start, 16) for start, end in ends)


def test_shared_memory_that_nobody_holds_is_given_back_on_both_sides(isolated: Any) -> None:
    backend = isolated("Right")
    multiply(backend, [2], [5], shared=True)
    here, there = shared_memory(), shared_memory(backend.pid)
    large = np.arange(1 << 20, dtype=np.uint32)
    assert multiply(backend, large, large, shared=True)[3] == 9
    assert multiply(backend, large, large)[3] == 9, "copies of 24 MiB, which are not kept either"
    multiply(backend, [2], [5], shared=True)
    assert (shared_memory(), shared_memory(backend.pid)) == (here, there)


def test_the_arrays_of_the_ops_are_given_back_before_the_stages(
    isolated: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    both = threading.Barrier(2)

    class Watching:
        """A stage that looks at the memory, after both threads of the run have begun with it."""

        name, group = "bounds", 1

        def count(self, plan: Any) -> int:
            return 3

        def run(self, backend: Any, plan: Any, lo: int, hi: int) -> list[Outcome]:
            if lo < 2:
                both.wait(60)
            multiply(backend, [2], [5])
            seen.append(shared_memory())
            return [Outcome(f"bounds/watched/{lo}", "watched", PASSED)]

    monkeypatch.setitem(STAGES, "bounds", Watching())  # pyright: ignore[reportArgumentType]
    backend = isolated("Right")
    multiply(backend, [2], [5])
    before = shared_memory()
    certify(backend, tmp_path, ops=("primitive.math.mul",), stages=("ops", "bounds"), cases=64)
    assert (len(seen), seen[-1]) == (3, before)


def test_memory_given_back_may_be_that_of_a_child_that_died(isolated: Any) -> None:
    backend = isolated("Exiting")
    executable = backend.compile(application(spec("primitive.math.mul")).program)

    def squared(value: int) -> int:
        views = {name: backend.share(4) for name in ("x0", "x1", "out")}
        views["x0"][:] = views["x1"][:] = value.to_bytes(4, "little")
        executable.run({n: v if n == "out" else v.toreadonly() for n, v in views.items()}, (1, 1, 1))
        return int.from_bytes(views["out"], "little")

    with pytest.raises(BackendCrash):
        squared(200)
    assert squared(3) == 9


def test_a_refusal_and_an_exception_come_through(isolated: Any) -> None:
    program = application(spec("primitive.math.div")).program
    with pytest.raises(
        UnsupportedByBackend, match="Div is not supported by the backend refusing: it has none"
    ):
        isolated("Refusing").compile(program)
    with pytest.raises(BackendFault, match="RuntimeError: the compiler gave up"):
        isolated("Raising").compile(program)


def test_a_backend_that_does_not_exist(isolated: Any) -> None:
    with pytest.raises(DispatchError, match="NoSuch"):
        isolated("NoSuch")
    with pytest.raises(DispatchError, match="module:Class"):
        load("no_such_module:Backend")


def test_after_a_crash_the_next_request_is_answered(isolated: Any) -> None:
    backend = isolated("Exiting")
    assert multiply(backend, [2], [5], shared=True).tolist() == [10]
    with pytest.raises(BackendCrash, match="exit status 3"):
        multiply(backend, [200], [5], shared=True)
    assert multiply(backend, [3], [5], shared=True).tolist() == [15]
    assert backend.restarts == 1


def test_a_child_that_died_unseen_is_a_crash_where_memory_is_shared_with_it(isolated: Any) -> None:
    backend = isolated("Right")
    executable = backend.compile(application(spec("primitive.math.mul")).program)
    pid = backend.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    views = {name: backend.share(4) for name in ("x0", "x1", "out")}
    with pytest.raises(BackendCrash, match="died"):
        executable.run({n: v if n == "out" else v.toreadonly() for n, v in views.items()}, (1, 1, 1))
    assert multiply(backend, [3], [5], shared=True).tolist() == [15]


def test_a_hang_ends_after_the_timeout(isolated: Any) -> None:
    backend = isolated("Hanging", timeout=1.0)
    with pytest.raises(BackendHang, match="did not answer within 1 s"):
        multiply(backend, [0], [5])
    assert multiply(backend, [3], [5]).tolist() == [15]


def test_a_segfault_is_named(isolated: Any) -> None:
    with pytest.raises(BackendCrash, match="SIGSEGV"):
        multiply(isolated("Segfaulting"), [200], [5])


def test_a_crash_is_narrowed_to_one_case(isolated: Any, tmp_path: Path) -> None:
    ops = ("primitive.math.mul", "primitive.bitwise.xor")
    results = certify(isolated("Exiting"), tmp_path, ops=ops, cases=64)
    failure = next(f for f in results.failures if f.op == "primitive.math.mul")
    assert failure.kind == "crash"
    assert "exit status 3" in failure.actual
    assert failure.note == "at a single case"
    assert failure.inputs == ("0xC8", "0x0")
    assert failure.case == "primitive.math.mul/u8/51200"
    assert failure.expected == "0x0"
    assert {op.id: op.status for op in results.ops} == {
        "primitive.math.mul": "failed",
        "primitive.bitwise.xor": "passed",
    }


@pytest.mark.slow
def test_a_hang_is_a_result_and_the_run_goes_on(isolated: Any, tmp_path: Path) -> None:
    backend = isolated("Hanging", timeout=2.0)
    results = certify(
        backend, tmp_path, ops=("primitive.math.mul", "primitive.bitwise.xor"), cases=64, largest=0
    )
    failure = next(f for f in results.failures if f.op == "primitive.math.mul")
    assert (failure.kind, failure.note) == ("hang", "at a single case")
    assert failure.inputs[0] == "0x0"
    assert {op.id: op.status for op in results.ops} == {
        "primitive.math.mul": "failed",
        "primitive.bitwise.xor": "passed",
    }


def test_a_child_ends_with_its_parent() -> None:
    code = (
        "import os, sys; from vyre.conform.process.isolate import Isolated\n"
        "b = Isolated('tests.wrong:Right'); print(b.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    child = int(done.stdout)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the child outlived its parent")


def test_an_isolated_run_gives_the_bytes_of_one_in_process(isolated: Any, tmp_path: Path) -> None:
    ops = ("primitive.math.sub", "cast.u32.f16", "cast.u64.u128", "atomic.exchange")
    inside = certify(wrong.WrongOnEqual(), tmp_path / "a", ops=ops, cases=256, largest=0)
    outside = certify(isolated("WrongOnEqual"), tmp_path / "b", ops=ops, cases=256, largest=0)
    assert inside.failures
    assert [f.inputs for f in inside.failures] == [f.inputs for f in outside.failures]
    assert inside.ops == outside.ops


def test_a_child_that_grows_is_renewed_between_blocks(
    isolated: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ops = ("primitive.math.sub", "primitive.math.mul", "primitive.bitwise.xor")
    inside = certify(wrong.Right(), tmp_path / "a", ops=ops, cases=256, largest=0)
    backend = isolated("Hoarding")
    first = backend.pid
    assert not backend.overgrown()
    monkeypatch.setattr(wire, "LEAST_LIFE", 0.0)
    monkeypatch.setattr(wire, "MOST_GROWTH", 32 << 20)
    outside = certify(backend, tmp_path / "b", ops=ops, cases=256, largest=0)
    assert backend.restarts
    assert backend.pid != first
    assert inside.ops == outside.ops
    assert not outside.failures


def test_a_child_has_a_life_of_some_length(isolated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = isolated("Hoarding")
    monkeypatch.setattr(wire, "MOST_GROWTH", -(1 << 40))
    assert not backend.overgrown()
    monkeypatch.setattr(wire, "LEAST_LIFE", 0.0)
    assert backend.overgrown()
