"""Dispatches: ways in, repeated launches, stale state, two threads, tails and pages of outputs."""

from __future__ import annotations

from lab.mutants.shaped.held_out.unseen.table import mutants

MUTANTS = mutants(
    {
        "inputs of the run before": ("run >= 2",),
        "uniforms of the run before": (
            "run >= 2",
            "run >= 2 and loop bound = uniform",
        ),
        "outputs start as the run before left them": ("run >= 2",),
        "results of the run before": (
            "run >= 2",
            "threads >= 2",
        ),
        "second page of an output kept": ("output elements >= 4097",),
        "last 64 bytes of an output kept": (
            "output elements >= 17",
            "output elements >= 17 and entrance = run_limited",
            "entrance = run_limited",
        ),
        "tail past 128 bytes of an output kept": (
            "buffer bytes mod 128 = 4",
            "buffer bytes mod 128 = 4 and entrance = bind",
        ),
        "element 32 of an output kept": ("output elements = 33",),
        "elements of an output past 1,000 kept": ("output elements >= 1001",),
        "every 16th element of an output kept": ("output elements >= 16",),
        "output of one element kept": ("output elements = 1",),
        "bytes of an output past 32 KiB kept": (
            "output elements >= 32769",
            "output elements >= 32769 and buffer bytes >= 40000",
        ),
        "first 16 bytes of an output kept": (
            "output elements = 4",
            "output elements = 4 and run >= 2",
        ),
        "output an element on": ("output fit = short",),
        "output past 64 KiB is its start": ("output elements >= 65537",),
        "last two elements exchanged": ("output elements odd",),
        "outputs of one size exchanged": ("buffers >= 4",),
        "outputs start as zeros": ("output fit = exact",),
        "outputs filled with ones before": (
            "run >= 4",
            "memory = allocate",
        ),
        "nothing runs": (
            "launch >= 2",
            "run >= 10",
            "buffer elements = 0",
        ),
        "results twice": (
            "loads after stores >= 1",
            "threads >= 2",
        ),
        "last byte kept": (
            "element type = U8",
            "element type = U8 and output elements mod 64 = 1",
        ),
        "last output not written back": ("memory = write",),
        "everything kept": (
            "launch >= 4",
            "entrance = run_limited",
        ),
        "last element wrong": (
            "bytes >= 1000000",
            "threads >= 3",
        ),
        "first element wrong": (
            "launch >= 3",
            "runs of others >= 1",
        ),
        "middle element wrong": (
            "output elements >= 2000",
            "threads >= 2 and workgroup x >= 8",
        ),
        "wrong stores": (
            "memory = borrow",
            "threads >= 2 and barriers >= 1",
        ),
    }
)
