"""A failing program shrinks to the fault: a handful of nodes, valid, free of races, always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wrong.values import FAULTS, Wrong, off_by_one_popcount
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.diff import shrink
from vyre.conform.diff.differential import FLOAT_PROGRAMS, INTEGER_PROGRAMS, Agreement, fails_like, judge
from vyre.conform.diff.shrink import is_sound, shrink_program
from vyre.conform.generate.programs import GeneratedProgram, ProgramOptions, generate_program
from vyre.errors import VyreError
from vyre.ir import BinaryOp, BinOp, BufferDecl, DataType, InvocationId, Program
from vyre.ir.expr import FMulAdd, LitU32
from vyre.ir.node import Barrier, If, Store
from vyre.ir.walk import expressions
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Expr


def first_failure(backend: Wrong, options: ProgramOptions = INTEGER_PROGRAMS) -> GeneratedProgram:
    for seed in range(500):
        generated = generate_program(seed, options)
        if judge(generated, backend)[0] is Agreement.Differs:
            return generated
    raise AssertionError("no program shows the fault")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_shrinks_to_a_handful_of_nodes(fault: Callable[[Expr], Expr]) -> None:
    backend = Wrong(fault)
    generated = first_failure(backend)
    small = shrink_program(generated, fails_like(Agreement.Differs, backend))
    assert small.program.size <= 16 < generated.program.size
    assert len(small.program.entry) <= 2
    assert small.workgroups == small.program.workgroup_size == (1, 1, 1)
    assert len(small.program.buffers) <= 2
    assert validate(small.program) == []
    assert is_sound(small)
    assert judge(small, backend)[0] is Agreement.Differs
    assert judge(small, ReferenceBackend())[0] is Agreement.Agrees


def taken_apart(expr: Expr) -> Expr:
    """Two roundings where there must be one."""
    match expr:
        case FMulAdd(a=a, b=b, c=c):
            return BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, a, b), c)
        case _:
            return expr


def test_a_fault_of_floats_shrinks_to_the_operation() -> None:
    backend = Wrong(taken_apart)
    generated = first_failure(backend, FLOAT_PROGRAMS)
    small = shrink_program(generated, fails_like(Agreement.Differs, backend))
    assert small.program.size <= 24 < generated.program.size
    assert any(isinstance(expr, FMulAdd) for expr in expressions(small.program.entry))
    assert is_sound(small)
    assert judge(small, backend)[0] is Agreement.Differs


def test_shrinking_is_deterministic() -> None:
    backend = Wrong(off_by_one_popcount)
    generated = first_failure(backend)
    once, again = (shrink_program(generated, fails_like(Agreement.Differs, backend)) for _ in range(2))
    assert once == again


def test_every_question_is_about_a_sound_program() -> None:
    backend = Wrong(off_by_one_popcount)
    asked: list[GeneratedProgram] = []

    def still_fails(candidate: GeneratedProgram) -> bool:
        asked.append(candidate)
        return judge(candidate, backend)[0] is Agreement.Differs

    shrink_program(first_failure(backend), still_fails)
    assert len(asked) > 10
    assert all(is_sound(candidate) for candidate in asked)


def test_the_number_of_questions_is_bounded() -> None:
    backend = Wrong(off_by_one_popcount)
    asked: list[int] = []

    def still_fails(candidate: GeneratedProgram) -> bool:
        asked.append(candidate.program.size)
        return judge(candidate, backend)[0] is Agreement.Differs

    small = shrink_program(first_failure(backend), still_fails, questions=5)
    assert len(asked) <= 6
    assert judge(small, backend)[0] is Agreement.Differs


def test_the_number_of_candidates_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Wrong(off_by_one_popcount)
    looked: list[int] = []

    def sound(candidate: GeneratedProgram, *, steps: int) -> bool:
        looked.append(steps)
        return is_sound(candidate, steps=steps)

    monkeypatch.setattr(shrink, "is_sound", sound)
    shrink_program(first_failure(backend), lambda p: judge(p, backend)[0] is Agreement.Differs, candidates=7,
                   steps=9_999)  # fmt: skip
    assert looked == [9_999] * 7


def test_a_program_that_does_not_fail_is_refused() -> None:
    with pytest.raises(VyreError, match="does not fail"):
        shrink_program(generate_program(0, INTEGER_PROGRAMS), lambda _: False)


def test_what_must_stay_stays() -> None:
    generated = next(
        g
        for g in (generate_program(seed, INTEGER_PROGRAMS) for seed in range(100))
        if "barrier" in g.program.to_text() and " for " in g.program.to_text()
    )

    def needs_both(candidate: GeneratedProgram) -> bool:
        text = candidate.program.to_text()
        return "barrier" in text and " for " in text

    small = shrink_program(generated, needs_both)
    assert needs_both(small)
    assert small.program.size <= 6


def test_racy_and_divergent_programs_are_not_sound() -> None:
    out = BufferDecl.read_write("out", 0, DataType.U32, count=1)
    racy = Program([out], (2,), [Store("out", LitU32(0), InvocationId(0))])
    divergent = Program([out], (2,), [If(InvocationId(0), (Barrier(),))])
    for program in (racy, divergent):
        assert not is_sound(GeneratedProgram(0, program, {}, (1, 1, 1)))
    endless = Program([out], (1,), [])
    assert is_sound(GeneratedProgram(0, endless, {}, (1, 1, 1)))
