"""Workgroups and grids: odd, large, second and third dimension, ids, waves that are not full."""

from __future__ import annotations

from lab.mutants.shaped.held_out.unseen.table import mutants

MUTANTS = mutants(
    {
        "stores past invocation 31 of a workgroup lost": (
            "workgroup size = 64",
            "workgroup size >= 40 and barriers >= 1",
        ),
        "stores past invocation 63 of a workgroup lost": (
            "workgroup size >= 65",
            "workgroup size >= 65 and workgroup z >= 2",
        ),
        "stores past invocation 255 of a workgroup lost": ("workgroup size >= 300",),
        "stores of a wave that is not full lost": (
            "workgroup size odd",
            "workgroup size odd and grid x >= 2",
        ),
        "stores of the last row lost": ("workgroup y odd",),
        "stores of the last layer lost": (
            "workgroup z >= 3",
            "workgroup z >= 2 and grid x >= 2",
        ),
        "stores of invocation 0 lost": ("workgroup size = 1",),
        "stores of the first workgroup lost": (
            "grid x >= 7",
            "grid x >= 7 and grid y >= 2",
        ),
        "stores past workgroup 16 of x lost": ("grid x >= 17",),
        "stores past workgroup 128 of x lost": ("grid x >= 200",),
        "stores past workgroup 1,024 of x lost": ("grid x >= 1025",),
        "stores of odd rows of workgroups lost": ("grid y >= 3",),
        "stores of odd layers of workgroups lost": (
            "grid z >= 2",
            "grid z odd and grid x >= 2",
        ),
        "InvocationId x counted in powers of two": ("workgroup x odd",),
        "InvocationId y counted in powers of two": ("workgroup y odd",),
        "InvocationId z counted in powers of two": ("workgroup z odd",),
        "WorkgroupId x is 0": ("grid x >= 12",),
        "WorkgroupId y is 0": ("grid y >= 2",),
        "WorkgroupId z is 0": ("grid z >= 2",),
        "LocalId x in 2 bits": ("workgroup x >= 5",),
        "LocalId x in 5 bits": (
            "workgroup x >= 34",
            "workgroup x >= 128 and barriers >= 1",
        ),
        "LocalId y in 2 bits": ("workgroup y >= 5",),
        "LocalId y in 5 bits": ("workgroup y >= 33",),
        "LocalId z in 2 bits": ("workgroup z >= 5",),
        "LocalId z in 5 bits": ("workgroup z >= 33",),
        "InvocationId x turned within 32": (
            "workgroup x = 32",
            "workgroup x = 32 and invocations >= 1000",
        ),
        "grid x rounded down to 4": (
            "grid x >= 5",
            "grid x odd and workgroup x odd",
        ),
        "grid x in 8 bits": ("grid x >= 256",),
        "grid y in 8 bits": ("grid y >= 256",),
        "grid z in 6 bits": ("grid z >= 64",),
        "grid y ends at 32": ("grid y >= 33",),
        "grid z ends at 4": (
            "grid z >= 5",
            "grid z >= 5 and grid y >= 2",
        ),
        "grid x halved": ("grid x >= 30",),
        "grid x ends at 32,767": ("grid x >= 32768",),
        "grid axes x and z exchanged": (
            "grid z >= 2",
            "grid x >= 3 and grid z >= 3",
        ),
        "grid all along x": (
            "grid y >= 2",
            "grid y >= 2 and workgroup y >= 2",
        ),
        "one workgroup only": (
            "workgroup size >= 700",
            "grid >= 6 and barriers >= 1",
        ),
        "last workgroup of x missing": ("grid x >= 20000",),
        "last workgroup of y missing": ("workgroup x odd",),
        "last workgroup of z missing": ("grid z >= 100",),
        "last store lost by the last of a workgroup": (
            "workgroup size = 512",
            "workgroup y odd and workgroup z >= 2",
        ),
        "wrong last store": (
            "grid z >= 20",
            "workgroup x = 7",
        ),
        "axes x and y exchanged": ("grid y >= 3",),
        "wrong stores": (
            "grid >= 100000",
            "grid >= 100000 and workgroup x >= 257",
            "workgroup y >= 17",
        ),
    }
)
