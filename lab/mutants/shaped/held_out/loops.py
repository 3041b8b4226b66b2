"""Loops that go wrong: long ones, unrolled tails, odd starts, bounds of every kind, leaving early."""

from __future__ import annotations

from lab.mutants.shaped.held_out.table import mutants

MUTANTS = mutants(
    {
        "last turn lost": (
            "loop turns >= 65536",
            "loop turns >= 100000",
            "loop turns mod 8 = 7",
            "loop bound = loaded",
            "loop bound = length",
            "loop turns mod 4 = 1 and loop start odd",
            "loop nesting >= 3 and loop bound = uniform",
            "loop turns >= 256 and workgroup size >= 256",
            "loop turns = 33 and barriers >= 1",
        ),
        "one turn too many": (
            "loop turns = 0",
            "loop turns = 1",
            "loop start >= 65536",
            "loop turns = 0 and loop bound = divergent",
            "loop start odd and loop turns mod 2 = 0",
            "loop turns = 16 and loop nesting >= 2",
        ),
        "first turn lost": (
            "loop start >= 1000",
            "loops >= 5",
            "loop turns >= 1024 and loop start = 0",
            "loop nesting >= 4 and workgroup y >= 2",
        ),
        "last turn of the innermost loop lost": (
            "loop nesting >= 3",
            "loop nesting >= 5",
            "loop nesting >= 2 and branch = divergent",
            "loop nesting >= 2 and loop turns mod 16 = 15",
        ),
        "second turn skipped": ("loop turns = 2", "loop turns = 3 and loop start >= 1"),
        "turns of a remainder by 4 skipped": (
            "loop turns mod 4 = 3",
            "loop bound = computed",
            "loop turns >= 100 and loop bound = divergent",
            "loop turns mod 4 = 2 and statements >= 12",
        ),
        "turns left over by an unrolling by 2 skipped": (
            "loop turns odd",
            "loop turns odd and float loop = FAdd",
            "loop turns odd and loop bound = uniform",
        ),
        "turns left over by an unrolling by 8 skipped": (
            "loop turns >= 9",
            "loop turns mod 8 = 5",
            "loop turns >= 17 and loop bound = literal",
            "loop turns >= 50 and loads >= 3",
        ),
        "turns left over by an unrolling by 32 skipped": (
            "loop turns >= 33",
            "loop turns mod 32 = 31 and loop nesting >= 2",
        ),
        "turns counted in 8 bits": ("loop turns >= 256", "loop turns >= 300 and loop bound = loaded"),
        "turns counted in 16 bits": ("loop turns >= 65537", "loop turns >= 65536 and loop bound = uniform"),
        "loop ended after 64 turns": ("loop turns >= 65", "loop turns >= 65 and branch nesting >= 2"),
        "loop ended after 1000 turns": (
            "loop turns >= 1001",
            "loop turns >= 1001 and loop bound = divergent",
        ),
        "loop ended after 65535 turns": ("loop turns >= 65536", "loop turns >= 70000 and grid >= 2"),
        "middle turn skipped": (
            "loop turns = 64",
            "loop turns >= 4096",
            "loop turns mod 3 = 2 and loop start mod 4 = 2",
        ),
        "turns past the 31st of each 32 skipped": (
            "loop turns >= 128",
            "loop turns >= 32 and loop bound = length",
        ),
        "loop runs backwards": (
            "loop turns >= 10",
            "loops >= 3",
            "loop turns >= 4 and loop bound = loaded",
            "loop turns >= 2 and loads after stores >= 1",
        ),
        "loop starts at 0": ("loop start odd", "loop start >= 16 and loop nesting >= 2"),
        "loads hoisted out of loops": (
            "loads after stores >= 1",
            "loop turns >= 8",
            "loop turns >= 3 and stores >= 3",
            "loop nesting >= 2 and loads >= 2",
        ),
        "outermost loop runs once": ("loop nesting >= 2", "loop nesting >= 3 and loop turns odd"),
        "last statement of a loop lost": (
            "statements >= 40",
            "loop turns >= 2048 and workgroup x >= 64",
        ),
        "assignment of a loop lost": ("loop turns = 128", "loop turns mod 10 = 3 and variables >= 6"),
        "last assignment lost": ("loop nesting >= 4", "loop nesting >= 2 and variables >= 20"),
        "break ignored": (
            "loop nesting >= 1",
            "loop turns >= 100",
            "loop nesting >= 2 and branch nesting >= 2",
            "loop turns >= 8 and loop bound = divergent",
        ),
        "break ends the program": ("loop nesting >= 2", "loop turns >= 16 and branch = divergent"),
        "return ends the loop alone": ("return = in a loop", "return = in a loop and loop turns >= 50"),
    }
)
