"""Nests and returns made fit for WGSL: shallower text, the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lower.wgsl.control_programs import (
    GRID,
    INPUTS,
    UNIFORM,
    alternating,
    around,
    deep_returns,
    nested_ifs,
    nested_loops,
    random_control,
)
from vyre.errors import UnsupportedByBackend
from vyre.ir import Assign, If, LitU32, Loop, Program, Return, Var
from vyre.ir.walk import statements
from vyre.lower.nesting import MAX_LEVELS, flatten
from vyre.lower.prepare import prepare
from vyre.lower.returns import settle_returns
from vyre.reference import run
from vyre.validate import check, validate
from vyre.validate.uniformity import divergences

if TYPE_CHECKING:
    from vyre.lower.prepare import Prepared

DEEP = {
    "ifs": nested_ifs(64, orelse=False, uniform=False),
    "ifs with else": nested_ifs(64, orelse=True, uniform=False),
    "uniform ifs around a barrier": nested_ifs(64, orelse=False, uniform=True),
    "uniform ifs with else around a barrier": nested_ifs(64, orelse=True, uniform=True),
    "ifs, loops and blocks": alternating(64),
    "returns": deep_returns(64),
    "loops": nested_loops(MAX_LEVELS),
}


def settled(program: Program) -> Prepared:
    return flatten(settle_returns(prepare(program)), backend="wgsl")


def results(program: Program) -> dict[str, bytes]:
    return run(program, INPUTS, GRID, check=False).buffers


def lowered(program: Program) -> Program:
    prepared = settled(program)
    return Program(prepared.buffers, prepared.workgroup_size, prepared.entry)


@pytest.mark.parametrize("program", DEEP.values(), ids=DEEP.keys())
def test_deep_nests_become_shallow_and_keep_their_meaning(program: Program) -> None:
    check(program)
    shallow = lowered(program)
    assert max(node.nesting for node in program.entry) >= MAX_LEVELS
    assert max(node.nesting for node in shallow.entry) <= MAX_LEVELS
    assert validate(shallow) == []
    assert results(shallow) == results(program)


def test_ifs_leave_one_level_beside_the_loops() -> None:
    assert max(node.nesting for node in settled(nested_ifs(64, orelse=True, uniform=False)).entry) == 1
    assert max(node.nesting for node in settled(alternating(64)).entry) == 22


def test_a_shallow_program_is_left_as_it_is() -> None:
    prepared = prepare(nested_ifs(40, orelse=True, uniform=True))
    assert flatten(settle_returns(prepared), backend="wgsl") is prepared


def test_more_loops_than_a_compiler_takes_are_refused_with_the_number() -> None:
    program = nested_loops(64)
    check(program)
    with pytest.raises(UnsupportedByBackend, match=r"64 loops and conditions.*dawn.*63"):
        flatten(prepare(program), backend="dawn")


@pytest.mark.parametrize("program", UNIFORM.values(), ids=UNIFORM.keys())
def test_uniform_barriers_stay_uniform(program: Program) -> None:
    check(program)
    after = lowered(program)
    assert divergences(after.entry, {b.name: b for b in after.buffers}) == []
    assert results(after) == results(program)


def test_random_control_flow_keeps_its_meaning() -> None:
    valid = [p for p in map(random_control, range(90)) if not validate(p)]
    assert len(valid) > 60
    changed = 0
    for program in valid:
        after = lowered(program)
        assert validate(after) == []
        assert results(after) == results(program)
        changed += after.entry != Program((), (1,), prepare(program).entry).entry
    assert changed > 10


def test_nothing_stands_behind_a_return() -> None:
    tail = Assign("x", LitU32(1))
    program = around(Loop("k", LitU32(0), LitU32(2), [If(Var("x"), [Return(), tail], [Return()]), tail]))
    for _, node in statements(settled(program).entry):
        for body in node.bodies:
            assert all(not isinstance(n, Return) for n in body[:-1])
    assert results(lowered(program)) == results(program)


def test_a_branch_that_ends_has_one_return_where_barriers_are() -> None:
    program = UNIFORM["early return in a branch that returns"]
    returns = [path for path, node in statements(settled(program).entry) if isinstance(node, Return)]
    assert len([1 for _, node in statements(program.entry) if isinstance(node, Return)]) == 2
    assert len(returns) == 1
