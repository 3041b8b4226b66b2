"""A backend whose compiler works on several programs at once is given them in several threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre import tensor as vt
from vyre.backends import protocol
from vyre.backends.chosen import default_name
from vyre.backends.reference.backend import ReferenceBackend
from vyre.engines import Runner, run
from vyre.engines.compaction import compact_engine
from vyre.engines.plan import Shape
from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.library import hashing

if TYPE_CHECKING:
    from vyre.ir.program import Program


class Together(ReferenceBackend):
    """Compiles by the interpreter, and notes which thread did."""

    compilers = 4

    def __init__(self, refused: int = 0) -> None:
        super().__init__()
        self.threads: list[str] = []
        self._refused = refused

    def compile(self, program: Program, **options: Any) -> Any:
        self.threads.append(threading.current_thread().name)
        if len(self.threads) == self._refused:
            raise UnsupportedByBackend("this program", self.name)
        return super().compile(program, **options)


DATA = np.arange(40, dtype=np.uint32)
ENGINE = compact_engine(shape=Shape(8, 1))


def test_programs_are_compiled_in_threads_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "lowering_is_loaded", lambda: True)
    backend = Together()
    runner = Runner(backend)
    for _ in range(2):
        got = runner.run(ENGINE, {"input": DATA, "flags": DATA & 1})["output"]
        assert np.array_equal(got, DATA[1::2])
    programs = {step.program for step, _ in ENGINE.plan({"input": 40, "flags": 40}).dispatches}
    assert len(backend.threads) == len(programs)
    assert threading.current_thread().name not in backend.threads


def test_what_one_compile_raises_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "lowering_is_loaded", lambda: True)
    with pytest.raises(UnsupportedByBackend):
        Runner(Together(refused=2)).run(ENGINE, {"input": DATA, "flags": DATA & 1})


def test_what_is_found_on_the_disk_is_found_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "lowering_is_loaded", lambda: False)
    backend = Together()
    Runner(backend).run(ENGINE, {"input": DATA, "flags": DATA & 1})
    assert set(backend.threads) == {threading.current_thread().name}


def test_an_ordinary_backend_compiles_where_it_is_called() -> None:
    class Alone(ReferenceBackend):
        def compile(self, program: Program, **options: Any) -> Any:
            assert threading.current_thread() is threading.main_thread()
            return super().compile(program, **options)

    got = Runner(Alone()).run(ENGINE, {"input": DATA, "flags": DATA & 1})["output"]
    assert np.array_equal(got, DATA[1::2])


def test_threads_compile_for_the_backend_of_a_block_around_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    compiled = run.recently_compiled

    def noted(program: Program, backend: Any, **options: Any) -> Any:
        seen.append(backend or default_name())
        return compiled(program, backend, **options)

    monkeypatch.setattr(run, "lowering_is_loaded", lambda: True)
    monkeypatch.setattr(run, "recently_compiled", noted)
    monkeypatch.setattr(ReferenceBackend, "compilers", 4, raising=False)
    able: set[tuple[type, type]] = set()  # the one that is kept would remember that for the class
    monkeypatch.setattr(protocol, "_able", able)
    with vyre.use("reference"):
        Runner().run(ENGINE, {"input": DATA, "flags": DATA & 1})
    assert set(seen) == {"reference"}


def test_what_is_no_backend_is_refused() -> None:
    nothing: Any = 5
    for call in (engines.reduce, engines.sort, engines.histogram):
        with pytest.raises(DispatchError, match="5 is not a backend"):
            call(DATA, backend=nothing)
    with pytest.raises(DispatchError, match="5 is not a backend"):
        hashing.sha256(b"abc", backend=nothing)
    with pytest.raises(DispatchError, match="5 is not a backend"):
        vt.function(vt.sqrt)(DATA.astype(np.float32), backend=nothing)
