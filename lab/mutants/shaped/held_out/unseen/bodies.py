"""Bodies: branches, blocks, variables, many statements and stores, deep expressions, loads after stores."""

from __future__ import annotations

from lab.mutants.shaped.held_out.unseen.table import mutants

MUTANTS = mutants(
    {
        "branch 2 deep inverted": ("branch nesting >= 2",),
        "branch 3 deep inverted": (
            "branch nesting >= 3",
            "branch nesting >= 3 and workgroup x odd",
        ),
        "branch 5 deep inverted": ("branch nesting >= 5",),
        "branch 7 deep inverted": ("branch nesting >= 7",),
        "block 2 deep skipped": ("block nesting >= 2",),
        "block 3 deep skipped": ("block nesting >= 3",),
        "block 6 deep skipped": ("block nesting >= 6",),
        "last statement of a branch lost": (
            "branch nesting >= 4",
            "branch = uniform and loop nesting >= 1",
        ),
        "variable clobbered by a barrier": ("barriers >= 3",),
        "variable clobbered by a branch": ("branch nesting >= 3",),
        "variable 9 wrong": (
            "variables >= 9",
            "variables >= 10 and loop nesting >= 1",
        ),
        "variable 17 wrong": ("variables >= 17",),
        "variable 33 wrong": ("variables >= 33",),
        "variable 65 wrong": ("variables >= 65",),
        "variable 129 wrong": ("variables >= 129",),
        "store 2 lost": (
            "stores >= 2",
            "stores >= 2 and buffers >= 4",
        ),
        "store 4 lost": ("stores >= 4",),
        "store 8 lost": ("stores >= 8",),
        "store 16 lost": ("stores >= 16",),
        "store 2 wrong": ("branch nesting >= 2",),
        "store 4 wrong": ("workgroup x >= 20",),
        "store 8 wrong": ("stores >= 10",),
        "store 16 wrong": ("stores >= 20",),
        "stores past statement 100 lost": (
            "statements >= 101",
            "statements >= 101 and grid x >= 2",
        ),
        "stores past statement 256 lost": ("statements >= 257",),
        "value 6 up its expression wrong": ("expression depth >= 6",),
        "value 10 up its expression wrong": ("expression depth >= 12",),
        "value 16 up its expression wrong": (
            "expression depth >= 16",
            "expression depth >= 20",
        ),
        "value 32 up its expression wrong": ("expression depth >= 40",),
        "value 64 up its expression wrong": ("expression depth >= 64",),
        "last variable wrong": ("variables odd",),
        "middle variable wrong": (
            "variables >= 90",
            "loop nesting >= 1 and variables >= 28",
        ),
        "early variable wrong": (
            "variables >= 20",
            "barriers >= 1 and statements >= 40",
        ),
        "innermost branch always taken": ("branch = uniform",),
        "innermost branch exchanged": (
            "branches odd",
            "branch nesting >= 2 and grid y >= 2",
        ),
        "else lost": ("branch = divergent and workgroup x >= 16",),
        "both ways of a branch taken": ("branch nesting >= 2",),
        "return ignored": ("grid x >= 4",),
        "stale load after a store": (
            "loads after stores >= 2",
            "loop nesting >= 1 and loads after stores >= 1",
        ),
        "wrong stores": (
            "branches >= 20",
            "branches >= 20 and block nesting >= 5",
            "block nesting >= 5",
        ),
        "wrong last store": (
            "variables >= 60",
            "loads after stores >= 3",
        ),
        "first store lost": (
            "expression depth >= 25",
            "expression depth >= 25 and loops >= 4",
        ),
    }
)
