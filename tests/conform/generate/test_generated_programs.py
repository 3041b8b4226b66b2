"""The generator of random programs can be trusted, and its checks can fail."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import replace

import pytest

from lab.bulk.coverage import Key, count_kinds, universe
from lab.bulk.selfcheck import problems
from vyre.compose import default_registry
from vyre.conform.generate.expressions import VALUE_TYPES
from vyre.conform.generate.programs import GeneratedProgram, ProgramOptions, generate_program
from vyre.ir import (
    Barrier,
    DataType,
    InvocationId,
    LitU32,
    Loop,
    Node,
    Program,
    Store,
)
from vyre.ir.walk import statements

EVERYTHING = ProgramOptions(approximate=True)


def test_a_seed_gives_the_same_program_for_ever() -> None:
    assert generate_program(7) == generate_program(7)
    assert generate_program(7).program != generate_program(8).program
    assert len({generate_program(s).program for s in range(50)}) == 50


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_generated_programs_keep_every_promise(first: int) -> None:
    found = [
        f"seed {seed}: {problem}"
        for seed in range(first, first + 40)
        for problem in problems(generate_program(seed, EVERYTHING))
    ]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 250))
def test_more_programs_round_trip_and_validate(first: int) -> None:
    for seed in range(first, first + 250):
        assert list(problems(generate_program(seed, EVERYTHING), execute=False)) == []


def barrier_in_loop(program: Program) -> bool:
    loops = [node for _, node in statements(program.entry) if isinstance(node, Loop)]
    return any(isinstance(inner, Barrier) for loop in loops for _, inner in statements(loop.body))


@pytest.mark.slow
def test_programs_are_large_and_every_kind_is_common() -> None:
    registry = default_registry()
    counts: Counter[Key] = Counter()
    sizes: list[int] = []
    barriers = 0
    number = 3000
    for seed in range(number):
        program = generate_program(seed, EVERYTHING).program
        count_kinds(program, registry, counts)
        sizes.append(program.size)
        barriers += barrier_in_loop(program)
    assert statistics.median(sizes) >= 60
    assert barriers / number >= 0.05
    # 67 in 10,000, at the same rate.
    rare = {key: counts[key] for key in universe(VALUE_TYPES, approximate=True) if counts[key] < number / 150}
    assert rare == {}
    assert set(counts) <= universe(VALUE_TYPES, approximate=True)


def with_entry(generated: GeneratedProgram, extra: Node) -> GeneratedProgram:
    program = generated.program
    changed = Program(program.buffers, program.workgroup_size, [*program.entry, extra])
    return replace(generated, program=changed)


def racy_seed() -> GeneratedProgram:
    for seed in range(100):
        generated = generate_program(seed)
        output = generated.program.buffer("out0")
        if output is not None and output.element is DataType.U32 and generated.workgroups != (1, 1, 1):
            return generated
    raise AssertionError("no seed with a U32 output and several workgroups")


def test_a_race_would_be_seen() -> None:
    racy = with_entry(racy_seed(), Store("out0", LitU32(0), InvocationId(0)))
    assert any(p.startswith("race:") for p in problems(racy))


def test_an_invalid_program_would_be_seen() -> None:
    broken = with_entry(racy_seed(), Store("nowhere", LitU32(0), LitU32(0)))
    assert any("V004" in p for p in problems(broken, execute=False))
