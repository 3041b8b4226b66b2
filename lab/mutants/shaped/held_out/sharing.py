"""Atomics that go wrong: in storage and in workgroup memory, with and without contention."""

from __future__ import annotations

from lab.mutants.shaped.held_out.table import mutants

MUTANTS = mutants(
    {
        "atomics lost": (
            "contention >= 32",
            "contention >= 1024",
            "atomic = Add and workgroup x odd",
            "contention >= 4 and loop nesting >= 1",
            "atomic = Max and grid >= 8",
        ),
        "first atomic lost": ("contention = 2", "atomic = Xor", "contention >= 64 and branch = divergent"),
        "atomics of workgroup memory lost": (
            "atomic memory = workgroup",
            "atomic memory = workgroup and workgroup x >= 64",
            "atomic memory = workgroup and contention >= 16",
        ),
        "atomic gives the wrong value": (
            "contention = 1",
            "atomic = Exchange",
            "contention = 1 and workgroup x >= 8",
        ),
        "atomic Add as Xor": ("contention >= 256", "atomic = Add and loop turns >= 4"),
        "atomic Min as Max": ("atomic = Min", "atomic = Min and workgroup size >= 32"),
        "atomic Or as Add": ("atomic = Or", "atomic = Or and contention >= 8"),
        "atomic And emitted as Or": ("atomic = And", "atomic = And and grid >= 2"),
        "atomic Xor emitted as Or": ("atomic = Xor", "atomic = Xor and contention >= 3"),
        "atomic Max emitted as Add": ("atomic = Max", "atomic = Max and atomic memory = workgroup"),
        "atomic Exchange emitted as Or": ("atomic = Exchange", "atomic = Exchange and buffer elements >= 16"),
        "compare-exchange always exchanges": (
            "atomic = CompareExchange",
            "atomic = CompareExchange and contention = 1",
        ),
        "compare-exchange never exchanges": (
            "atomic = CompareExchange",
            "atomic = CompareExchange and workgroup x >= 32",
        ),
        "atomic sum of 16 bits": ("atomic = Add", "atomic = Add and contention >= 100"),
        "atomics of upper lanes lost": ("contention >= 40", "atomic = Add and workgroup x >= 64"),
    }
)
