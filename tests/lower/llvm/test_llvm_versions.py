"""Which kernels of workgroups have a second version without guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lower.llvm.llvm_programs import OUT, TILE, I, source_of
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.execute import run_bytes
from vyre.ir import Assign, Barrier, BufLen, If, Let, LitU32, Load, LocalId, Loop, Program, Store, Var
from vyre.lower.llvm.versions import RARE
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir import Node

S = Var("s")
STORED = Store("out", I, S)
ACROSS: tuple[Node, ...] = (Store("tile", LocalId(0), S), Barrier(), Assign("s", Load("tile", LocalId(0))))


def work(statements: int) -> list[Node]:
    """Statements of six nodes each, none like another."""
    return [Assign("s", (S ^ LitU32(3 * k + 1)) * 77 + k) for k in range(1, statements + 1)]


def entry(*more: Node, much: int = RARE) -> list[Node]:
    return [Let("s", I * 3), *work(much), *ACROSS, *more]


def versions(body: Sequence[Node]) -> int:
    text = source_of(body, TILE).text
    return 1 + ("@workgroups_in_range(" in text)


def test_a_guard_among_much_else_is_left_in() -> None:
    assert versions(entry(STORED)) == 1
    assert versions(entry(STORED, much=4)) == 2


def test_many_guards_are_a_fair_part_of_much() -> None:
    stores = [Store("out", I + k, S) for k in range(12)]
    assert versions(entry(*stores)) == 2


def test_a_guard_counts_for_the_loop_that_it_is_in() -> None:
    small = Loop("k", LitU32(0), LitU32(9), (Store("out", I, S + Var("k")),))
    large = Loop("k", LitU32(0), LitU32(9), (*work(RARE), STORED))
    assert versions(entry(small)) == 2
    assert versions(entry(large)) == 1


def test_the_guard_of_a_fixed_index_counts_for_the_program() -> None:
    taken = Loop("k", LitU32(0), LitU32(9), (Assign("s", S + Load("a", LitU32(3))),))
    assert versions(entry(taken)) == 1
    assert versions(entry(taken, much=4)) == 2


def test_a_decided_branch_is_worth_it() -> None:
    assert versions(entry(If(BufLen("out") > I, (STORED,)))) == 2


@pytest.mark.parametrize("length", [0, 1, 23, 24, 40])
def test_the_one_version_keeps_to_the_bounds(length: int) -> None:
    program = Program((OUT, TILE), (8, 1, 1), entry(STORED))
    inputs = {"out": bytes(range(4 * length))}
    made = CpuBackend(canaries=False, threads=1).compile(program)
    found = run_bytes(made, program, inputs, (3, 1, 1))
    assert found["out"] == run(program, inputs, (3, 1, 1), check=False).buffers["out"]
