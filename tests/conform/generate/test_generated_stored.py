"""Generated programs over narrow elements: valid, free of races, fixed by their seed, of every type."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import generate_program
from vyre.ir import Atomic, BufferAccess, DataType
from vyre.ir.types import STORED_TYPES
from vyre.ir.walk import expressions
from vyre.reference import run
from vyre.validate import validate

PLAIN = replace(INTEGER_PROGRAMS, stored=False)


def test_every_type_occurs_in_every_kind_of_memory() -> None:
    elements: Counter[DataType] = Counter()
    accesses: Counter[BufferAccess] = Counter()
    for seed in range(300):
        program = generate_program(seed, INTEGER_PROGRAMS).program
        narrow = [b for b in program.buffers if b.element in STORED_TYPES]
        elements.update({b.element for b in narrow})
        accesses.update({b.access for b in narrow})
        updated = {x.buffer for x in expressions(program.entry) if isinstance(x, Atomic)}
        assert updated.isdisjoint(b.name for b in narrow)
    assert all(elements[element] >= 10 for element in STORED_TYPES)
    assert all(accesses[access] for access in BufferAccess if access is not BufferAccess.WorkgroupAtomic)


def test_the_programs_are_valid_and_have_one_result() -> None:
    narrowed = 0
    for seed in range(60):
        made = generate_program(seed, INTEGER_PROGRAMS)
        assert made == generate_program(seed, INTEGER_PROGRAMS)
        if made.program == generate_program(seed, PLAIN).program:
            continue
        narrowed += 1
        assert validate(made.program) == []
        assert run(made.program, made.inputs, made.workgroups, detect=True).report.races == ()
    assert narrowed > 10
