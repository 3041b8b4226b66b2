"""Faults that only some shapes bring out: each is found by rows that have the shape, and by no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests.conform.verify.runs import certify
from tests.wrong import shaped
from tests.wrong.shaped import Shaped
from vyre.conform.process.entrances import ALONE
from vyre.conform.shapes.constraints import cost, invocations, size
from vyre.conform.shapes.history import order
from vyre.conform.shapes.rows import ROWS
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.replayed import DEPENDS
from vyre.conform.verify.stages.shapes import STAGE
from vyre.ir.expr import BinOp
from vyre.ir.operators import BinaryOp
from vyre.ir.program import Program
from vyre.ir.walk import expressions, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

B = BinaryOp
PLAN = make_plan("shaped", stages=("shapes",))

FAULTS: dict[str, Callable[[], Shaped]] = {
    "addition in long loops": lambda: Shaped(shaped.wrong_operation(B.Add), turns=1_000),
    "a turn of deep loops": lambda: Shaped(shaped.lose_a_turn, loop_depth=4),
    "a turn of loops that start high": lambda: Shaped(shaped.lose_a_turn, loop_start=0x8000_0000),
    "loops with divergent bounds": lambda: Shaped(shaped.lose_a_turn, loop_bounds="divergent"),
    "barriers of wide workgroups": lambda: Shaped(shaped.drop_barriers, workgroup_x=100, barriers=1),
    "barriers in nested control": lambda: Shaped(shaped.drop_barriers, barrier_nesting=2),
    "barriers and large workgroup memory": lambda: Shaped(shaped.drop_barriers, workgroup_bytes=10_000),
    "stores of grids along y": lambda: Shaped(spoil=shaped.lose_the_last, workgroups_y=1_000),
    "stores of grids along z": lambda: Shaped(spoil=shaped.lose_the_last, workgroups_z=3, workgroup_z=2),
    "stores of many invocations": lambda: Shaped(spoil=shaped.lose_the_last, invocations=50_000),
    "many buffers": lambda: Shaped(spoil=shaped.lose_the_last, buffers=10),
    "loads of long buffers": lambda: Shaped(shaped.shift_loads("data"), buffer_length=50_000),
    "loads of halves": lambda: Shaped(shaped.shift_loads("elements"), element_type="F16"),
    "loads of large uniforms": lambda: Shaped(shaped.shift_loads("params"), uniform_bytes=20_000),
    "nested branches": lambda: Shaped(shaped.lose_the_other_side, branch_nesting=4, branches="divergent"),
    "contended atomics": lambda: Shaped(shaped.lose_atomics, contention=30, atomic_memory="storage"),
    "long reductions": lambda: Shaped(shaped.reorder, reduction_length=1_000),
    "a fused operation in long chains": lambda: Shaped(shaped.contract, float_chain=10),
    "float sums in loops": lambda: Shaped(shaped.wrong_operation(B.FAdd), float_loop="FAdd", turns=100),
    "many variables": lambda: Shaped(shaped.wrong_operation(B.Mul), variables=60),
    "deep expressions": lambda: Shaped(shaped.wrong_operation(B.Sub), expression_depth=50),
    "a shift beside a literal": lambda: Shaped(shaped.wrong_operation(B.Shr), literal="2^16"),
    "stores that are loaded again": lambda: Shaped(shaped.forget_stores("out"), loads_after_stores=5),
    "bound launches": lambda: Shaped(shaped.wrong_operation(B.Add), entrance="bind"),
    "counted runs": lambda: Shaped(shaped.wrong_operation(B.Add), entrance="run_limited"),
    "two features at once": lambda: Shaped(
        shaped.wrong_operation(B.MulHi), workgroup_y=9, payload="lanes", buffer_length=0
    ),
}


def _cheap(backend: Shaped) -> list[int]:
    """Rows that may bring the fault out, the cheapest first; entrances are looked for by name."""
    wanted = {"bind": "bind", "run_limited": "run_limited"}.get(backend.entrance)

    def fits(listed: Any) -> bool:
        row = {**listed, "invocations": invocations(listed)}
        for name, level in backend.when.items():
            if name in row and (row[name] != level if isinstance(level, str) else row[name] < level):
                return False
        return wanted is None or row["entrance"] == wanted

    def weight(number: int) -> int:
        row: Any = ROWS[number]
        threads = row["workgroup x"] * row["workgroup y"] * row["workgroup z"]
        grid = row["workgroups x"] * row["workgroups y"] * row["workgroups z"]
        return (
            threads * grid * max(1, row["turns"])
            + 100_000 * (row["dispatch"] != "once")
            + 10_000 * (row["turns"] == 0)
        )

    return sorted((n for n, row in enumerate(ROWS) if fits(row)), key=weight)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_shape_is_found(fault: str) -> None:
    backend = FAULTS[fault]()
    tried = _cheap(backend)[:6]
    assert tried, "no row has this shape"
    found = [STAGE.run(backend, PLAN, number, number + 1)[0].status for number in tried[:1]]
    for number in tried[1:]:
        if "failed" in found:
            break
        found.append(STAGE.run(backend, PLAN, number, number + 1)[0].status)
    assert "failed" in found, f"rows {tried} passed"


def test_a_length_of_an_empty_buffer_shows_where_no_loop_has_it_as_a_bound() -> None:
    empty = [n for n, row in enumerate(ROWS) if row["buffer length"] == 0 and row["loop bounds"] != "length"]
    number = min(empty, key=lambda n: cost(ROWS[n]))
    backend = Shaped(shaped.one_for_empty)
    assert STAGE.run(backend, PLAN, number, number + 1)[0].status == "failed"


class _FirstGrid(Shaped):
    """Every run of a program has the grid of its first."""

    def compile(self, program: Program) -> Any:
        return _Launched(self.inner.compile(program))


class _Launched:
    def __init__(self, right: Any) -> None:
        self.right, self.grid = right, None

    def run(self, buffers: Mapping[str, memoryview], workgroups: Any) -> None:
        self.grid = self.grid or workgroups
        self.right.run(buffers, self.grid)


def test_a_grid_that_is_kept_from_the_first_run_shows() -> None:
    again = [n for n, row in enumerate(ROWS) if ALONE in order(row) and invocations(row) > size(row)]
    number = min(again, key=lambda n: cost(ROWS[n]))
    assert STAGE.run(Shaped(), PLAN, number, number + 1)[0].status == "passed"
    assert STAGE.run(_FirstGrid(), PLAN, number, number + 1)[0].status == "failed"


def test_without_the_shape_nothing_is_wrong() -> None:
    backend = Shaped(shaped.wrong_operation(B.Add), turns=1_000)
    small = next(n for n, row in enumerate(ROWS) if row["turns"] == 3 and row["workgroups x"] == 17)
    assert STAGE.run(backend, PLAN, small, small + 1)[0].status == "passed"


def test_a_failing_row_is_lowered_to_what_it_depends_on_and_made_small() -> None:
    backend = Shaped(shaped.wrong_operation(B.Add), workgroup_x=30)
    number = next(n for n in _cheap(backend) if ROWS[n]["workgroup x"] == 33)
    said = STAGE.explain(backend, PLAN, STAGE.case(number))
    assert (said.status, said.kind) == ("failed", "value")
    assert "from workgroup x 30 on" in said.note
    small = Program.from_text(said.program)
    assert small.workgroup_size[0] >= 30
    assert sum(1 for _ in statements(small.entry)) <= 4
    assert any(isinstance(x, BinOp) and x.op is B.Add for x in expressions(small.entry))
    assert said.note.endswith("in workgroups (1, 1, 1)")


def test_a_fault_of_one_run_is_said_to_be_one(tmp_path: Path) -> None:
    """The first run of all leaves a wrong byte, and no other."""
    runs = iter(range(1 << 30))

    def spoil(program: Program, buffers: Mapping[str, memoryview]) -> None:
        if next(runs) == 0:
            shaped.lose_the_last(program, buffers)

    results = certify(Shaped(spoil=spoil), tmp_path, stages=("shapes",), programs=1)
    (failure,) = results.failures
    assert (failure.kind, failure.case) == ("unstable", STAGE.case(0))
    assert f"did not come back in 3 replays: {DEPENDS}" in failure.note
    assert failure.expected != failure.actual
    assert next(runs) < 20, "a row that passes when it is run again is not lowered"
