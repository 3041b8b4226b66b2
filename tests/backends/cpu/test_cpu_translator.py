"""Compiling many kernels: what LLVM loses is bounded, and the second process is never a user's trouble."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.cpu.cpu_programs import kernel
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.llvm import ASSEMBLY, OBJECT, LlvmRejection, translate
from vyre.backends.cpu.translator import Translator, translator
from vyre.ir import InvocationId, Store
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Generator

ID = InvocationId(0)
TEXT = emit(prepare(kernel([Store("out", ID, ID)]))).text


class _MallocUse(ctypes.Structure):
    """`struct mallinfo2` of glibc: bytes of mapped blocks are its fifth field, bytes in use its eighth."""

    _fields_ = [(f"field{number}", ctypes.c_size_t) for number in range(1, 11)]


def malloc_bytes() -> int:
    """What C++ has in use, to the byte."""
    ask: Any = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        pytest.skip("asks glibc")
    ask.restype = _MallocUse
    found = ask()
    return found.field5 + found.field8


@pytest.fixture
def elsewhere() -> Generator[Translator]:
    made = Translator(here=0)
    yield made
    made.close()


def test_compiles_lose_no_memory(monkeypatch: pytest.MonkeyPatch, elsewhere: Translator) -> None:
    """One optimisation in this process loses 1.5 KB, a kernel that is never unloaded 60 KB."""
    monkeypatch.setenv("VYRE_CACHE", "off")
    monkeypatch.setattr("vyre.backends.cpu.compiling.translator", lambda: elsewhere)
    on = CpuBackend(threads=1, keep=2, canaries=False)

    def compile_many(first: int, count: int) -> None:
        for k in range(first, first + count):
            on.compile(kernel([Store("out", ID, ID * k)]))
        gc.collect()

    compile_many(1, 20)
    before = malloc_bytes()
    compile_many(101, 120)
    assert (malloc_bytes() - before) / 120 < 300
    assert elsewhere._other is not None
    assert elsewhere._other.served == 140


def test_the_translator_of_this_process_has_a_bound() -> None:
    assert translator()._left <= 1000
    assert translator() is translator()


def test_both_processes_give_the_same_bytes(elsewhere: Translator) -> None:
    for form in (OBJECT, ASSEMBLY):
        assert elsewhere(TEXT, form) == translate(TEXT, form) == Translator()(TEXT, form)


def test_a_rejection_arrives_from_the_other_process(elsewhere: Translator) -> None:
    for _ in range(2):
        with pytest.raises(LlvmRejection, match="expected"):
            elsewhere("nonsense", OBJECT)
    assert elsewhere(TEXT, OBJECT)


def test_the_other_process_is_replaced_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Translator(here=1, each=2)
    here(TEXT, OBJECT)
    assert here._other is None
    seen: list[int] = []
    for _ in range(4):
        here(TEXT, OBJECT)
        assert here._other is not None
        seen.append(here._other._process.pid)
    here.close()
    assert seen[0] == seen[1] != seen[2] == seen[3]


def test_a_process_that_dies_costs_nothing_but_time(elsewhere: Translator) -> None:
    elsewhere(TEXT, OBJECT)
    elsewhere(TEXT, OBJECT)
    assert elsewhere._other is not None
    process = elsewhere._other._process
    process.kill()
    process.wait()
    assert elsewhere(TEXT, OBJECT) == translate(TEXT, OBJECT)
    assert elsewhere(TEXT, OBJECT)
    assert elsewhere._other is not None, "another one serves"
    assert elsewhere._other._process.pid != process.pid


@pytest.mark.parametrize("executable", ["/nonexistent/python", sys.executable])
def test_where_no_process_works_kernels_are_compiled_here(
    monkeypatch: pytest.MonkeyPatch, elsewhere: Translator, executable: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr("vyre.backends.cpu.translator._COMMAND", "raise SystemExit(1)")
    assert elsewhere(TEXT, OBJECT) == translate(TEXT, OBJECT)
    assert elsewhere._other is None
    assert elsewhere._left > 10**6, "nobody tries again for every kernel"


def test_an_interrupted_answer_is_not_read_as_the_next(
    monkeypatch: pytest.MonkeyPatch, elsewhere: Translator
) -> None:
    elsewhere(TEXT, OBJECT)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("vyre.backends.cpu.translator._receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            elsewhere(TEXT, OBJECT)
    assert elsewhere(TEXT, ASSEMBLY) == translate(TEXT, ASSEMBLY)


def test_a_child_of_a_fork_leaves_its_parents_process_alone(
    monkeypatch: pytest.MonkeyPatch, elsewhere: Translator
) -> None:
    elsewhere(TEXT, OBJECT)
    assert elsewhere._other is not None
    parents = elsewhere._other._process
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        assert elsewhere(TEXT, OBJECT)
        assert elsewhere._other._process.pid != parents.pid
    left = os.waitid(os.P_PID, parents.pid, os.WEXITED)
    assert left is not None
    assert left.si_code == os.CLD_EXITED, "its input ended; nobody killed it"
