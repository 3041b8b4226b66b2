"""Memory: bindings, empty and large buffers, element types, every kind of access, tables, atomics."""

from __future__ import annotations

from lab.mutants.shaped.held_out.unseen.table import mutants

MUTANTS = mutants(
    {
        "odd elements of I32 read as the ones before": ("element type = I32",),
        "odd elements of I64 read as the ones before": ("element type = I64",),
        "odd elements of U64 read as the ones before": ("element type = U64",),
        "odd elements of U128 read as the ones before": ("element type = U128",),
        "odd elements of Vec2U32 read as the ones before": ("element type = Vec2U32",),
        "odd elements of Bool read as the ones before": ("element type = Bool",),
        "odd elements of Bytes read as the ones before": ("element type = Bytes",),
        "odd elements of F64 read as the ones before": ("element type = F64",),
        "odd stores of I32 lost": ("element type = I32",),
        "odd stores of I64 lost": ("element type = I64",),
        "odd stores of U64 lost": ("element type = U64",),
        "odd stores of U128 lost": ("element type = U128",),
        "odd stores of Vec2U32 lost": ("element type = Vec2U32",),
        "odd stores of Bool lost": ("element type = Bool",),
        "odd stores of Bytes lost": ("element type = Bytes",),
        "odd stores of BF16 lost": ("element type = BF16",),
        "odd elements of F16 read as the ones before": (
            "workgroup x odd",
            "workgroup x odd and element type = F16",
        ),
        "odd elements of BF16 read as the ones before": ("buffer elements odd",),
        "odd elements of F32 read as the ones before": ("buffers >= 4",),
        "odd elements of U32 read as the ones before": ("buffer elements >= 300",),
        "odd elements of Vec4U32 read as the ones before": ("element type = Vec4U32",),
        "odd stores of F16 lost": ("element type = F16",),
        "odd stores of F32 lost": (
            "output elements >= 500",
            "output elements >= 500 and barriers >= 1",
        ),
        "odd stores of F64 lost": ("element type = F64",),
        "odd stores of U32 lost": (
            "entrance = bind",
            "workgroup x >= 24 and loop nesting >= 1",
        ),
        "odd stores of Vec4U32 lost": ("element type = Vec4U32",),
        "loads past the end give the first": ("output fit = short",),
        "first element of a load of 4 repeated": (
            "buffer elements >= 64",
            "buffer elements mod 4 = 0",
            "loads >= 6",
        ),
        "loads past place 4,095 start anew": ("buffer elements >= 5000",),
        "uniform read at places of 4 bits": ("uniform bytes >= 68",),
        "uniform read backwards": (
            "uniform bytes >= 12",
            "uniform bytes >= 12 and workgroup y >= 2",
        ),
        "private memory at places of 3 bits": ("private bytes >= 64",),
        "table at places of 5 bits": ("table bytes >= 200",),
        "length rounded up to 4": (
            "buffer elements odd",
            "buffer elements odd and loop bound = length",
        ),
        "length in 16 bits": ("buffer elements >= 65536",),
        "load 5 one place off": (
            "loads >= 5",
            "loads >= 7",
        ),
        "load 12 one place off": ("loads >= 12",),
        "load 24 one place off": ("loads >= 24",),
        "workgroup memory not cleared": ("grid x >= 2",),
        "workgroup memory read at places of 6 bits": (
            "workgroup bytes >= 260",
            "workgroup bytes >= 260 and workgroup x >= 65",
        ),
        "workgroup memory read at places of 8 bits": ("workgroup bytes >= 1028",),
        "workgroup memory read at places of 10 bits": ("workgroup bytes >= 5000",),
        "workgroup memory read at places of 11 bits": ("workgroup bytes >= 8196",),
        "last element of workgroup memory read as the first": (
            "workgroup bytes >= 400",
            "workgroup bytes >= 400 and barriers >= 2",
        ),
        "atomics of odd lanes lost": ("contention >= 6",),
        "every 64th atomic lost": ("contention >= 64",),
        "atomics at place 0 lost": ("contention >= 12",),
        "atomics of later workgroups lost": (
            "grid x >= 3",
            "grid x >= 3 and atomic = Add",
        ),
        "atomics of later rows lost": (
            "workgroup y >= 2",
            "workgroup y >= 2 and contention >= 30",
        ),
        "atomic sum of the first lane twice": ("contention >= 50",),
        "compare-exchange of every eighth fails": ("contention >= 3",),
        "atomic Max done as Min": (
            "atomic = Max",
            "atomic = Max and contention >= 10",
        ),
        "atomic And done as Xor": ("workgroup x >= 30",),
        "atomic Xor done as Add": ("contention >= 2",),
        "atomic Exchange done as Add": ("atomic = Exchange",),
        "atomics lost": ("barriers >= 1",),
        "atomics of workgroup memory lost": (
            "workgroup bytes >= 2000",
            "workgroup bytes >= 2000 and workgroup size odd",
        ),
        "buffer 3 not bound": ("buffers >= 3",),
        "buffer 5 not bound": ("buffers >= 5",),
        "buffer 8 not bound": ("buffers >= 8",),
        "buffer 16 not bound": ("buffers >= 16",),
        "first input bound to the last": (
            "buffers >= 7",
            "buffers >= 7 and memory = copy",
        ),
        "last input is the one before": ("buffers >= 9",),
        "input past 4 KiB read as 0": (
            "buffer bytes >= 4097",
            "buffer bytes >= 4097 and bytes >= 100000",
        ),
        "last 32 bytes of an input read as 0": (
            "buffer elements odd",
            "buffer elements odd and buffer bytes mod 64 = 4",
        ),
        "second half of an input read as 0": ("bytes >= 50000",),
        "uniform past 64 bytes read as 0": ("uniform bytes >= 68",),
        "uniform past 1 KiB read as 0": ("uniform bytes >= 1028",),
        "last element of a uniform read as 0": (
            "grid y >= 4",
            "grid y >= 4 and workgroup x odd",
        ),
        "last element of an input written to": (
            "buffers >= 3",
            "buffers >= 3 and buffer elements odd",
        ),
        "last element of a table is zero": ("table bytes >= 50",),
        "private memory not cleared": ("loop nesting >= 2",),
        "last element of private memory lost": (
            "private bytes >= 256",
            "private bytes >= 256 and barriers >= 1",
        ),
        "private memory shared by a workgroup": ("workgroup x >= 16",),
        "load of U8 gives its neighbour": ("workgroup x >= 6",),
        "every fourth store of U16 lost": ("grid x >= 2",),
        "sign of I8 lost": ("loop nesting >= 1",),
        "sign of I16 lost": ("workgroup y >= 2",),
        "length one short": (
            "buffers >= 5",
            "buffers >= 5 and buffer elements = 1",
        ),
    }
)
