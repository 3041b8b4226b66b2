"""Generated programs are alive: another node changes their output, and the measure of it can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.bulk.liveness import KINDS, liveness, places, replaced, trials
from vyre.conform.diff.differential import FLOAT_PROGRAMS
from vyre.conform.generate.digest import DIGEST
from vyre.conform.generate.programs import GeneratedProgram, generate_program
from vyre.ir import Assign, LitU32, Node, Program, Store
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.walk import statements


@pytest.mark.parametrize("kind", KINDS)
def test_another_node_changes_the_output(kind: str) -> None:
    share, found = liveness(KINDS[kind], range(50), 4)
    assert len(found) == 200
    assert share >= 0.95


def without_digest(made: GeneratedProgram) -> GeneratedProgram:
    """The same program with nothing folded and no digest stored."""

    def enter(node: Node, _: None, __: list[Node]) -> tuple[Node, None] | None:
        folds = isinstance(node, Assign) and node.name == DIGEST
        return None if folds or (isinstance(node, Store) and node.buffer == "digest") else (node, None)

    entry = rewrite_blocks(made.program.entry, enter, None)
    return replace(made, program=Program(made.program.buffers, made.program.workgroup_size, entry))


def test_programs_that_store_little_are_seen_to_be_dead() -> None:
    found = [t for s in range(15) for t in trials(without_digest(generate_program(s, FLOAT_PROGRAMS)), 4)]
    assert sum(trial.changed for trial in found) / len(found) < 0.8


def test_a_trial_replaces_one_node_only() -> None:
    program = generate_program(3, FLOAT_PROGRAMS).program
    place = next(p for p in places(program) if p.way and isinstance(p.expr, LitU32))
    changed = replaced(program, place, LitU32(123_456_789))
    before, after = dict(statements(program.entry)), dict(statements(changed.entry))
    assert before.keys() == after.keys()
    inner = [p for p in before if before[p] is not after[p] and not before[p].bodies]
    assert inner == ([place.statement] if not before[place.statement].bodies else [])


def test_float_programs_take_floats_through_everything() -> None:
    texts = [generate_program(seed, FLOAT_PROGRAMS).program.to_text() for seed in range(40)]
    for shape in (
        "fma(",
        "fadd(",
        "fmul(",
        "fmin(",
        "freduce",
        "barrier",
        " for ",
        "f16",
        "bf16",
        "workgroup F32",
    ):
        assert any(shape in text for text in texts), shape
