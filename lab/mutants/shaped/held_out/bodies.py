"""What goes wrong with the body of a program: spills, depth, branches, barriers, literals, forwarding."""

from __future__ import annotations

from lab.mutants.shaped.held_out.table import mutants

MUTANTS = mutants(
    {
        "last variable wrong": (
            "variables >= 33",
            "variables >= 128",
            "variables >= 256 and expression nodes >= 64",
            "variables = 16 and loop nesting >= 1",
        ),
        "middle variable wrong": (
            "variables >= 64",
            "variables >= 200",
            "variables >= 24 and barriers >= 1",
            "variables >= 40 and loop nesting >= 2",
        ),
        "early variable wrong": (
            "variables >= 100",
            "statements >= 300",
            "variables >= 17 and workgroup size >= 512",
        ),
        "wrong stores": (
            "expression depth >= 30",
            "expression depth >= 200",
            "expression nodes >= 1000",
            "statements >= 500",
            "block nesting >= 4",
            "literal = 2147483648",
            "literal = 4294967295",
            "literal = 65536",
            "literal = 2147483647 and operator = Add",
            "expression depth >= 16 and operator = Select",
            "block nesting >= 2 and branch nesting >= 2",
            "operator = ReverseBits and workgroup x odd",
        ),
        "wrong first store": (
            "stores >= 8",
            "stores >= 2 and branch nesting >= 3",
            "stores = 3 and buffers >= 4",
        ),
        "first store lost": ("stores >= 4", "stores >= 3 and loop nesting >= 1"),
        "last store lost": (
            "stores >= 10",
            "statements >= 100",
            "return = outside of loops and stores >= 2",
            "branches >= 16 and stores >= 2",
        ),
        "stale load after a store": (
            "loads after stores >= 1",
            "loads after stores >= 3",
            "loads after stores >= 1 and loop nesting >= 1",
            "loads after stores >= 1 and workgroup bytes >= 4",
            "loads after stores >= 2 and workgroup x >= 32",
        ),
        "innermost branch always taken": (
            "branch nesting >= 4",
            "branch nesting >= 10",
            "branch nesting >= 2 and branch = uniform",
            "branch nesting >= 2 and loop nesting >= 2",
        ),
        "innermost branch exchanged": (
            "branches >= 20",
            "branches >= 8 and workgroup x >= 33",
            "branch = divergent and workgroup x mod 32 = 1",
        ),
        "else lost": (
            "branch nesting >= 3",
            "branches >= 5",
            "branch = divergent and loop nesting >= 1",
            "branch nesting >= 2 and barriers >= 1",
        ),
        "branch taken on odd conditions alone": (
            "branch nesting >= 1",
            "branch = divergent and branches >= 2",
        ),
        "both ways of a branch taken": ("branches >= 3", "branch nesting >= 2 and stores >= 4"),
        "last branch never taken": ("branches >= 32", "branches >= 4 and variables >= 8"),
        "return ignored": (
            "return = outside of loops",
            "return = outside of loops and barriers >= 1",
            "return = outside of loops and workgroup x odd",
        ),
        "barriers lost": (
            "barriers >= 1",
            "workgroup size >= 128",
            "barriers >= 2 and loop nesting >= 1",
            "barriers >= 1 and workgroup y >= 2",
        ),
        "last barrier lost": (
            "barrier nesting >= 2",
            "barriers >= 8",
            "barriers >= 2 and workgroup x = 64",
            "barrier nesting >= 1 and loop turns >= 16",
        ),
        "first barrier lost": ("barriers >= 4", "barriers >= 2 and workgroup bytes >= 2048"),
        "code after a barrier lost in the last lane": (
            "barriers >= 2",
            "barriers >= 1 and workgroup x odd",
            "barrier nesting >= 1 and workgroup x >= 64",
        ),
        "large literals one less": (
            "literal >= 65536",
            "literal >= 1000000 and operator = Mul",
            "literal = 16777217",
        ),
        "literals of 31 bits": ("literal = 2147483648", "literal >= 2147483649 and operator = BitXor"),
        "literals of 24 bits": ("literal >= 16777216", "literal >= 16777216 and expression depth >= 6"),
    }
)
