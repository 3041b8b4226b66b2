"""What a row computes depends on everything in it: each branch taken wrongly, each turn of a loop too many or
too few, each statement lost changes bytes, at every level of the features of control flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llvmlite")

from tests.conform.shapes.switches import WHICH, Switched
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.execute import run_bytes
from vyre.conform.shapes.build import build
from vyre.conform.shapes.constraints import why_not
from vyre.conform.shapes.features import FEATURES, NONE
from vyre.conform.shapes.rows import ROWS
from vyre.ir.node import Barrier
from vyre.ir.program import Program
from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.conform.shapes.switches import Fault
    from vyre.conform.shapes.build import Case
    from vyre.conform.shapes.features import Level
    from vyre.ir.node import Node

    Row = dict[str, Level]

CONTROL = (
    "loop depth", "turns", "loop bounds", "loop start", "branch nesting", "branches", "barriers",
    "barrier nesting", "return", "break", "atomic", "atomic memory", "loads after stores", "access",
)  # fmt: skip
SEED = 5
BACKEND = CpuBackend(threads=1, canaries=False)


def _twin(row: Row) -> Row:
    """The row with a dispatch of 17 workgroups of 33, few turns, and little that is not control flow."""
    plain: Row = {
        "workgroup x": 33, "workgroup y": 1, "workgroup z": 1,
        "workgroups x": 17, "workgroups y": 1, "workgroups z": 1,
        "payload": "integers", "literal": "1", "dispatch": "once", "entrance": "run",
        "variables": 16, "expression depth": 12, "reduction": NONE, "reduction length": 0,
    }  # fmt: skip
    most = {"turns": 17, "contention": 5, "buffer length": 31, "float chain": 1}
    return {**row, **plain, **{name: min(int(row[name]), level) for name, level in most.items()}}


def _chosen() -> list[int]:
    """Rows that together have every level of the features of control flow, as few as meet them one by one."""
    possible = [n for n, row in enumerate(ROWS) if why_not(_twin(row)) is None]
    wanted = {(name, level) for name in CONTROL for level in FEATURES[name].levels}
    missing, found = set(wanted), list[int]()
    while missing:
        best = max(possible, key=lambda n: len(missing & set(_twin(ROWS[n]).items())))
        met = missing & set(_twin(ROWS[best]).items())
        if not met:
            break
        missing -= met
        found.append(best)
    assert {level for name, level in missing if name != "turns"} == set()
    assert {level for name, level in missing if name == "turns"} == {129, 1_025, 65_537}
    return found


CHOSEN = _chosen()


def _same(case: Case, program: Program, inputs: dict[str, bytes]) -> bool:
    found = run_bytes(BACKEND.compile(program), program, inputs, case.workgroups)
    return all(found[name] == data for name, data in case.expected.items())


@pytest.mark.parametrize("number", CHOSEN)
def test_every_fault_of_one_statement_shows(number: int) -> None:
    row = _twin(ROWS[number])
    case = build(row, SEED)
    program, faults = Switched.of(case.program)
    executable = BACKEND.compile(program)
    dead: list[str] = []
    for position, fault in enumerate(faults):
        given = {**case.inputs, WHICH: position.to_bytes(4, "little")}
        found = run_bytes(executable, program, given, case.workgroups)
        same = all(found[name] == data for name, data in case.expected.items())
        assert position or same, "without a fault nothing is wrong"
        if position and same and not _idle(row, fault):
            dead.append(fault.name)
    assert not dead


def _idle(row: Row, fault: Fault) -> bool:
    """Whether a fault cannot show: in a loop of no turns, or in what is given by the atomic that adds up what
    others gave, which depends on their order."""
    without_turns = not row["turns"] and "k" in fault.loops and fault.name != "loop k: one turn more"
    return without_turns or fault.name == "atomic told: gives another"


def _without_one(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """The statements, each time without another of their barriers."""
    for at, node in enumerate(nodes):
        if isinstance(node, Barrier):
            yield (*nodes[:at], *nodes[at + 1 :])
        for part, body in enumerate(node.bodies):
            for other in _without_one(body):
                bodies = (*node.bodies[:part], other, *node.bodies[part + 1 :])
                yield (*nodes[:at], with_parts(node, node.exprs, bodies), *nodes[at + 1 :])


_NESTED = {(ROWS[n]["barriers"], ROWS[n]["barrier nesting"]): n for n in reversed(CHOSEN)}


@pytest.mark.parametrize("number", [n for (count, _), n in _NESTED.items() if count])
def test_the_loss_of_any_barrier_shows(number: int) -> None:
    case = build(_twin(ROWS[number]), SEED)
    for at, entry in enumerate(_without_one(case.program.entry)):
        program = Program(case.program.buffers, case.program.workgroup_size, entry)
        assert not _same(case, program, dict(case.inputs)), f"barrier {at}"
