"""A backend that is given as an object compiles a program once, and nothing of it outlives the object."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre import BufferDecl, DataType, InvocationId, LitU32, Program
from vyre.backends.dispatch import compile_program
from vyre.backends.recent import recent_of
from vyre.backends.reference.backend import ReferenceBackend

if TYPE_CHECKING:
    from vyre.backends.protocol import BackendInfo, Executable

OUT = BufferDecl.read_write("out", 0, DataType.U32)
PLUS_ONE = Program([OUT], (64,), [OUT.store(InvocationId(0), OUT[InvocationId(0)] + LitU32(1))])


class Counting:
    """The reference, with a count of what it compiled."""

    name = "counting"

    def __init__(self) -> None:
        self.inner = ReferenceBackend()
        self.compiled = 0

    def describe(self) -> BackendInfo:
        return self.inner.describe()

    def compile(self, program: Program) -> Executable:
        self.compiled += 1
        return self.inner.compile(program)


class Bare:
    """A backend that takes no attributes."""

    __slots__ = ()
    name = "bare"

    def describe(self) -> BackendInfo:
        return ReferenceBackend().describe()

    def compile(self, program: Program) -> Executable:
        return ReferenceBackend().compile(program)


def plus_one(backend: Counting | Bare) -> list[int]:
    return vyre.dispatch(PLUS_ONE, {"out": np.array([1, 2], np.uint32)}, backend=backend)["out"].tolist()


def test_dispatches_compile_once() -> None:
    backend = Counting()
    assert plus_one(backend) == plus_one(backend) == [2, 3]
    assert backend.compiled == 1


def test_kernels_compile_once() -> None:
    @vyre.kernel
    def twice(x: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = x[i] + x[i]

    backend = Counting()
    for _ in range(3):
        assert twice(np.array([1, 2], np.uint32), backend=backend).tolist() == [2, 4]
    assert backend.compiled == 1


def test_who_asks_for_a_compilation_gets_one() -> None:
    backend = Counting()
    compile_program(PLUS_ONE, backend=backend)
    compile_program(PLUS_ONE, backend=backend)
    assert backend.compiled == 2


def test_a_backend_goes_when_nobody_holds_it() -> None:
    backend = Counting()
    plus_one(backend)
    gone = weakref.ref(backend)
    del backend
    gc.collect()
    assert gone() is None


def test_a_copy_has_results_of_its_own() -> None:
    backend = Counting()
    plus_one(backend)
    other = copy.copy(backend)
    assert recent_of(other) is not recent_of(backend)
    assert plus_one(other) == [2, 3]
    assert other.compiled == 2
    assert backend.compiled == 1


def test_a_pickled_backend_takes_no_programs_along() -> None:
    backend = Counting()
    plus_one(backend)
    kept = recent_of(backend)
    assert pickle.loads(pickle.dumps(kept)) is None


def test_an_object_without_attributes_works() -> None:
    assert recent_of(Bare()) is None
    assert plus_one(Bare()) == [2, 3]
