"""Memory that goes wrong: many bindings, empty buffers, tails, narrow and wide elements, shared, private."""

from __future__ import annotations

from lab.mutants.shaped.held_out.table import mutants

MUTANTS = mutants(
    {
        "last element wrong": (
            "output elements mod 4 = 3",
            "buffer elements = 0",
            "output elements >= 65537",
            "element type = U8",
            "buffer bytes mod 16 = 12 and buffers >= 4",
            "output elements odd and element type = F16",
            "output fit = short and workgroup x >= 32",
        ),
        "first element wrong": (
            "buffers >= 9",
            "output elements = 1",
            "buffer elements = 0 and buffers >= 3",
            "element type = U128 and grid >= 2",
        ),
        "middle element wrong": (
            "buffer bytes >= 1048576",
            "output elements = 17",
            "bytes >= 100000 and workgroup x >= 64",
        ),
        "last byte kept": (
            "element type = I8",
            "output elements mod 2 = 1 and element type = U16",
            "buffer bytes mod 4 = 1",
        ),
        "last 16 bytes kept": ("element type = Vec4U32", "buffer bytes mod 64 = 48 and entrance = run"),
        "second half kept": ("buffer bytes >= 65536", "output elements >= 1000 and output fit = exact"),
        "bytes past 4 KiB kept": (
            "output elements >= 1025",
            "output elements >= 2000 and element type = U32",
        ),
        "bytes past 64 KiB kept": (
            "output elements >= 16385",
            "output elements >= 20000 and output elements odd",
        ),
        "bytes past 1 MiB kept": ("output elements >= 262145",),
        "tail of a remainder by 4 words kept": (
            "output elements mod 4 = 1",
            "output elements = 7 and buffers = 1",
        ),
        "bytes past the last word kept": (
            "buffer bytes odd",
            "element type = BF16",
            "element type = U8 and output elements mod 4 = 3",
        ),
        "tail past 256 bytes kept": ("output elements = 65", "output elements odd and workgroup x = 64"),
        "last element kept": (
            "output fit = exact",
            "output elements = 3",
            "output elements = 31 and workgroup x = 32",
            "element type = I64",
        ),
        "first element kept": ("output fit = long", "output elements = 2 and buffers >= 2"),
        "middle element kept": ("output elements = 5", "output elements >= 100 and element type = I16"),
        "last output not written back": ("buffers >= 6", "buffers odd and workgroup bytes >= 4"),
        "first output gets the second": ("buffers = 4", "buffers >= 3 and output fit = exact"),
        "last element of an input read as 0": (
            "buffer elements mod 4 = 3",
            "element type = F16",
            "buffer elements odd and element type = I8",
            "buffers = 2 and buffer elements = 13",
        ),
        "first element of an input read as 0": ("buffers >= 16", "buffer elements = 1 and buffers >= 2"),
        "tail of an input past 16 bytes read as 0": (
            "buffer bytes mod 16 = 4",
            "element type = U16 and buffer elements odd",
        ),
        "bytes of an input past its last word read as 0": (
            "element type = U8",
            "element type = I16 and buffer elements odd",
        ),
        "input past 64 KiB read as 0": ("buffer bytes >= 65537", "bytes >= 200000"),
        "input past 256 bytes read as 0": ("buffer elements = 100", "buffer elements >= 65 and buffers >= 5"),
        "two inputs of one size exchanged": ("buffers >= 12", "buffers >= 20"),
        "last input is the one before": ("buffers >= 8", "buffers = 3", "buffers = 5 and access = Uniform"),
        "outputs start as zeros": ("output fit = long", "output elements odd and stores = 1"),
        "outputs filled with ones before": ("output fit = long", "buffers = 3 and output fit = long"),
        "uniform read as 0": (
            "uniform bytes = 4",
            "uniform bytes >= 256",
            "uniform bytes mod 16 = 8 and grid >= 2",
        ),
        "uniform past 16 bytes read as 0": ("uniform bytes >= 20", "uniform bytes = 32 and buffers >= 3"),
        "last element of a uniform read as 0": ("uniform bytes mod 16 = 12", "uniform bytes >= 16384"),
        "uniform loads the element before": (
            "uniform bytes >= 64",
            "access = Uniform and loop bound = uniform",
        ),
        "uniform loads its first element": ("uniform bytes = 16", "uniform bytes >= 8 and workgroup y >= 2"),
        "uniform read at rows of 16 bytes": (
            "uniform bytes >= 48",
            "uniform bytes mod 16 = 4 and element type = U32",
        ),
        "load of the element before": (
            "loads >= 8",
            "buffer elements mod 8 = 5",
            "buffers >= 7 and loads >= 7",
            "access = Workgroup and loop nesting >= 1",
        ),
        "loads at places of 8 bits": ("buffer elements >= 257", "buffer elements >= 300 and buffers >= 3"),
        "loads at places of 16 bits": ("buffer elements >= 65537",),
        "loads past the end wrap around": (
            "output fit = short",
            "output fit = short and branch nesting >= 1",
        ),
        "load past the end gives the last": ("output fit = short", "output fit = short and workgroup x odd"),
        "load of the last element gives the one before": (
            "buffer elements mod 4 = 3",
            "buffer elements = 9 and loads >= 2",
        ),
        "loads in groups of 4 reversed": (
            "buffer elements mod 4 = 0",
            "loads = 4",
            "loads >= 3 and buffer bytes >= 1024",
        ),
        "length one short": ("loop bound = length", "loop bound = length and buffer elements odd"),
        "stores past place 255 lost": ("output elements >= 257", "output elements >= 500 and stores >= 2"),
        "stores past place 65,535 lost": (
            "output elements >= 65537",
            "output elements >= 70000 and workgroup x >= 128",
        ),
        "stores past the end go to the last element": (
            "output fit = short",
            "output fit = short and grid x >= 4",
        ),
        "last store at a place of 8 bits": (
            "output elements >= 1024",
            "output elements >= 257 and branch nesting >= 1",
        ),
        "last store one place on": ("stores >= 5", "stores = 2 and loop nesting >= 1"),
        "sign of I8 lost": ("element type = I8", "element type = I8 and loop nesting >= 1"),
        "sign of I16 lost": ("element type = I16", "element type = I16 and buffer elements odd"),
        "last lane of U64 lost": ("element type = U64", "element type = U64 and workgroup y >= 2"),
        "lanes of U64 reversed": ("element type = U64 and output elements >= 33",),
        "last lane of U128 lost": ("element type = U128", "element type = U128 and buffers >= 4"),
        "lanes of U128 reversed": ("element type = U128 and output elements odd",),
        "last lane of Vec2U32 lost": ("element type = Vec2U32", "element type = Vec2U32 and barriers >= 1"),
        "lanes of Vec2U32 reversed": ("element type = Vec2U32 and loop nesting >= 1",),
        "last lane of Vec4U32 lost": (
            "element type = Vec4U32",
            "element type = Vec4U32 and output elements odd",
        ),
        "lanes of Vec4U32 reversed": ("element type = Vec4U32 and grid x >= 3",),
        "workgroup memory reads a neighbour": (
            "workgroup bytes >= 16384",
            "workgroup bytes = 128",
            "barriers >= 3",
            "workgroup bytes >= 1024 and workgroup x odd",
        ),
        "shared memory repeats after 4096 elements": (
            "workgroup bytes >= 16388",
            "workgroup bytes >= 32768 and barriers >= 2",
        ),
        "shared memory reads a bank on": (
            "workgroup bytes >= 8192",
            "workgroup bytes >= 256 and workgroup x >= 33",
        ),
        "private memory of 4 elements": ("access = Private", "access = Private and loop turns >= 8"),
        "private memory read at 0": (
            "access = Private and branch = divergent",
            "access = Private and variables >= 10",
        ),
        "constant table read one on": ("access = Constant", "access = Constant and workgroup x >= 32"),
        "constant table past 64 elements read as 0": (
            "access = Constant",
            "access = Constant and loop nesting >= 1",
        ),
    }
)
