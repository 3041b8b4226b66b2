"""What goes wrong with repetition: runs, launches, other programs, threads, ways in and kinds of memory."""

from __future__ import annotations

from lab.mutants.shaped.held_out.table import mutants

MUTANTS = mutants(
    {
        "nothing runs": (
            "run = 2",
            "launch >= 3",
            "threads >= 2",
            "runs of others >= 1",
            "run >= 10 and workgroup x odd",
            "launch = 2 and memory = borrow",
        ),
        "results twice": ("run = 3", "entrance = run_limited", "launch >= 2 and memory = allocate"),
        "everything kept": (
            "memory = copy",
            "runs of others >= 3",
            "entrance = bind and buffers >= 4",
            "run >= 2 and output elements odd",
            "threads >= 2 and run >= 4",
        ),
        "last element wrong": (
            "memory = borrow",
            "launch >= 8",
            "threads >= 4",
            "programs before >= 10",
            "memory = borrow and output elements mod 4 = 3",
            "run >= 2 and access = Uniform",
            "runs of others >= 2 and workgroup bytes >= 4",
        ),
        "last output not written back": ("entrance = bind", "run = 2 and buffers >= 3", "threads >= 3"),
        "first element kept": ("memory = write", "entrance = bind and launch = 2", "run = 5"),
        "outputs start as zeros": (
            "launch = 2",
            "memory = allocate and launch >= 2",
            "run = 2 and output fit = long",
        ),
        "outputs filled with ones before": (
            "memory = write and output fit = long",
            "runs of others = 1 and output fit = long",
        ),
        "first element of an input read as 0": (
            "entrance = bind",
            "memory = copy and launch >= 2",
            "run >= 3",
        ),
        "last element of an input read as 0": ("memory = borrow", "runs of others >= 1 and buffers >= 2"),
        "last element kept": ("entrance = run_limited", "entrance = run_limited and loop turns >= 10"),
        "uniform read as 0": ("launch >= 2", "run >= 2 and uniform bytes >= 16"),
        "middle element kept": ("runs of others = 1", "programs before >= 3 and workgroup x >= 16"),
        "second half kept": (
            "threads = 2",
            "entrance = run_limited and buffers >= 2",
            "launch >= 4 and grid >= 2",
        ),
        "one workgroup only": ("run >= 2 and grid x odd", "entrance = bind and grid y >= 2"),
        "last turn lost": (
            "programs before >= 20",
            "run = 2 and loop turns >= 8",
            "entrance = run_limited and loop nesting >= 2",
        ),
        "barriers lost": ("run >= 2 and barriers >= 1", "entrance = bind and workgroup size >= 32"),
        "wrong stores": ("runs of others >= 4", "programs before = 1 and run >= 2"),
        "atomics lost": ("launch >= 2", "threads >= 2 and contention >= 2"),
        "last store lost": ("entrance = run_limited and statements >= 20",),
        "product and sum fused": ("run >= 3", "entrance = bind and float chain >= 2"),
        "stale load after a store": ("launch = 2 and loads after stores >= 1",),
    }
)
