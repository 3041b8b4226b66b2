"""Loops: turns, unrolling, starts, nesting, barriers in them, what lives across them, ways out."""

from __future__ import annotations

from lab.mutants.shaped.held_out.unseen.table import mutants

MUTANTS = mutants(
    {
        "last turn taken twice": (
            "loop turns >= 12",
            "loop nesting >= 2 and workgroup x odd",
        ),
        "turns left over by an unrolling by 4 taken twice": (
            "loop turns mod 4 = 3",
            "loop turns mod 4 = 2 and barriers >= 1",
        ),
        "first turn taken twice": (
            "loop start >= 2",
            "loop turns >= 200 and workgroup x >= 64",
        ),
        "loop without turns runs once": ("loop turns = 0",),
        "loop that starts past 0 takes a turn more": (
            "loop start >= 1",
            "loop start >= 5 and loop nesting >= 2",
        ),
        "one loop turn of one skipped": ("loop turns = 1",),
        "loop capped at 7 turns": ("loop turns = 8",),
        "loop capped at 100 turns": (
            "loop turns >= 101",
            "loop turns >= 101 and loop bound = length",
        ),
        "loop capped at 1,024 turns": ("loop turns >= 1025",),
        "four turns see the variable of the first": (
            "loop turns mod 8 = 0",
            "loop turns >= 9 and access = Workgroup",
        ),
        "variable of a loop in 8 bits": ("loop turns >= 257",),
        "variable of a loop in 16 bits": ("loop turns >= 65537",),
        "assignments of the last turn lost": (
            "loop turns >= 6",
            "variables >= 12 and loop turns >= 4",
        ),
        "assignments of the first turn lost": (
            "loop start >= 1",
            "loop bound = uniform and branch nesting >= 1",
        ),
        "assignments of odd turns lost": (
            "loop turns = 16",
            "float loop = FAdd and loop turns >= 10",
        ),
        "loop 2 deep runs once": ("loop nesting >= 2",),
        "loop 3 deep runs once": ("loop nesting >= 3",),
        "loop 4 deep runs once": ("loop nesting >= 4",),
        "nested barriers lost": (
            "barrier nesting >= 1",
            "barrier nesting >= 1 and workgroup size >= 100",
        ),
        "break ignored past lane 31": ("workgroup x >= 40",),
        "return of odd lanes ignored": ("workgroup x >= 10",),
        "return in a loop ignored past lane 15": ("workgroup x >= 17",),
        "variable clobbered by a loop": (
            "loop turns >= 30",
            "barriers >= 1 and variables >= 6",
        ),
        "last turn lost": (
            "loop start odd",
            "loop bound = length and workgroup z >= 2",
        ),
        "one turn too many": ("loop start >= 10",),
        "second turn skipped": (
            "loop turns = 3",
            "loop turns >= 7 and uniform bytes >= 16",
        ),
        "turns of a remainder by 4 skipped": ("loop turns >= 18",),
        "loop runs backwards": (
            "loop turns >= 11",
            "loop turns >= 11 and float loop = FAdd",
        ),
        "break after the turn": ("loop turns >= 6",),
        "break at the first turn ignored": ("workgroup size >= 96",),
        "assignment of a loop lost": (
            "variables >= 30",
            "variables >= 30 and loop turns = 4",
        ),
        "barriers lost": ("loop turns >= 3",),
        "last barrier lost": ("workgroup y >= 4",),
    }
)
