"""Affine forms and limits, proved by a solver: those of generated programs, and the emitted arithmetic.

A form is congruent to its expression for all ids; where a limit holds, the index is in bounds for every
invocation and turn; and the 64-bit arithmetic in which limits are computed is that of integers.
"""

from __future__ import annotations

from typing import Any

import pytest

from lab.bulk.guard_programs import guard_case
from tests.obligations.whole_conditions import Whole, z3
from vyre.ir import BufferDecl, DataType, InvocationId, Let, LitU32, Loop, Program, Store, Var
from vyre.ir import expr as e
from vyre.lower.llvm import emit
from vyre.lower.llvm.affine import Limit, Ranges
from vyre.lower.llvm.forms import Affine
from vyre.lower.llvm.kernels import is_flat
from vyre.lower.prepare import prepare
from vyre.obligations.linear import ROOM, Lines


def valid(claim: Any, *facts: Any) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(*facts, z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown
    return answer == z3.unsat


def word(form: Affine, whole: Whole, env: dict[str, Any]) -> Any:
    """The form as the generated code would compute it in 32 bits."""
    ids = whole._ids
    total = ids[e.WorkgroupId(0)] * form.group + ids[e.LocalId(0)] * form.local + form.offset
    for term, factor in form.rest:
        total += (env[term.name] if isinstance(term, e.Var) else ids[term]) * factor
    return total


def test_forms_are_congruent_to_their_expressions() -> None:
    proved = 0
    for seed in range(40):
        prepared = prepare(guard_case(seed).program)
        ranges, whole = Ranges(prepared, is_flat(prepared)), Whole(prepared)
        turns = {name: z3.BitVec(name, 32) for name in ranges._loops}
        seen = {node.name: node.value for node in prepared.entry if isinstance(node, Let)}
        for expr, form in list(ranges._verified.items()):
            names = {x.name for x in _variables(expr)}
            if form is None or not names <= turns.keys() | seen.keys():
                continue
            env = dict(turns)
            for name, value in seen.items():
                if {x.name for x in _variables(value)} <= env.keys():
                    env[name] = whole._value(value, env, {})
            if names <= env.keys():
                assert valid(whole._value(expr, env, {}) == word(form, whole, env), *whole.facts), expr
                proved += 1
    assert proved > 200


def _variables(expr: e.Expr) -> set[e.Var]:
    from vyre.ir.walk import postorder

    return {x for x in postorder(expr) if isinstance(x, e.Var)}


def test_limits_bound_their_forms() -> None:
    """As integers: at every position that the limit admits, for all places in a workgroup and all turns."""
    proved = 0
    for seed in range(40):
        prepared = prepare(guard_case(seed).program)
        ranges = Ranges(prepared, is_flat(prepared))
        for constraint in ranges.constraints:
            limit, form = ranges._limit(constraint), constraint.index
            assert valid(*_bounded(ranges, form, limit))
            nearer = Limit(limit.step, limit.low, limit.high - 1, limit.buffer, limit.rows)
            assert not valid(*_bounded(ranges, form, nearer)), "a limit that admits more is refuted"
            proved += 1
    assert proved > 60


def _bounded(ranges: Ranges, form: Affine, limit: Limit) -> list[Any]:
    position, length, local = z3.Ints("position length local")
    size = ranges.prepared.workgroup_size
    facts = [position >= 0, length >= 0, length < 1 << 32, local >= 0, local < size[0]]
    if ranges.flat and form.group:
        value = form.local * position + form.offset
    else:
        value = form.group * position + form.local * local + form.offset
    rows = z3.IntVal(0)
    for number, (term, factor) in enumerate(form.rest):
        unknown = z3.Int(f"term {number}")
        match term:
            case e.WorkgroupId():
                facts += [unknown >= 0, unknown < 1 << 32]
                rows += factor * unknown
            case e.LocalId(axis=axis):
                facts += [unknown >= 0, unknown < size[axis]]
            case e.Var(name=name):
                facts += [ranges._loops[name][0] <= unknown, unknown <= ranges._loops[name][1]]
        value += factor * unknown
    facts += [limit.step * position + limit.high + rows < length, limit.step * position + limit.low >= 0]
    return [z3.And(value >= 0, value < length), *facts]


def test_the_emitted_end_is_the_end() -> None:
    """`sdiv(length - high - rows + step - 1, step)` where the room is positive, else 0: no position before it
    leaves the buffer, and with the widths that the checker demands nothing overflows on the way."""
    length, high, rows, position, step, end = z3.Ints("length high rows position step end")
    room = length - high - rows
    facts = [length >= 0, length < 1 << 32, rows >= 0, step >= 0, rows + z3.Abs(high) + step < ROOM]
    for made in (length - high, room, room + step - 1):
        assert valid(z3.And(made >= -(1 << 63), made < 1 << 63), *facts)
    # The quotient as its own definition: end * step <= room + step - 1 < end * step + step.
    quotient = [end * step <= room + step - 1, room + step - 1 < end * step + step, room > 0, step > 0]
    before = [position >= 0, position < end, (position + 1) * step <= end * step]
    assert valid(step * position + high + rows < length, *facts, *quotient, *before)
    wrong = [(position + 1) * step <= end * step + 1]
    assert not valid(
        step * position + high + rows < length, *facts, *quotient[:2], room > 0, *before[:1], *wrong
    )


def test_a_limit_that_does_not_fit_is_none() -> None:
    """Ten loops of one turn with large factors: the sum is far beyond 64 bits, and the checks stay."""
    names = [f"k{i}" for i in range(10)]
    index: Any = InvocationId(0)
    for name in names:
        index = index + Var(name) * ((1 << 29) - 1)
    node: Any = Store("out", index, LitU32(1))
    for name in names:
        node = Loop(name, LitU32(0xFFFFFFFE), LitU32(0xFFFFFFFF), (node,))
    program = Program([BufferDecl.read_write("out", 0, DataType.U32)], (64, 1, 1), (node,))
    assert "in_range" not in emit(prepare(program)).text


@pytest.mark.parametrize("high", [ROOM, -ROOM, 1 << 63, (1 << 64) + 5])
def test_the_checker_demands_widths(high: int) -> None:
    lines = Lines((), (64, 1, 1))
    form = Affine(64, 1, high)
    assert not lines.limited(form, Limit(64, high, high + 63, "out"), flat=False)
