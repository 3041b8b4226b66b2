"""Numbers: literals that are special to a compiler, shifts, quotients, swaps, float chains, reductions."""

from __future__ import annotations

from lab.mutants.shaped.held_out.unseen.table import mutants

MUTANTS = mutants(
    {
        "literal 1 taken for 3": (
            "expression depth >= 9",
            "literal = 1 and workgroup x odd",
        ),
        "literal 2 taken for 1": (
            "literal = 2",
            "literal = 2 and loop nesting >= 2",
        ),
        "literal 31 taken for 32": ("literal = 31",),
        "literal 32 taken for 0": ("literal = 32",),
        "literal 127 taken for 128": ("literal = 127",),
        "literal 128 taken for 4294967168": ("literal = 128",),
        "literal 255 taken for 4294967295": (
            "literal = 255",
            "literal = 255 and loop nesting >= 1",
        ),
        "literal 256 taken for 0": ("literal = 256",),
        "literal 32768 taken for 4294934528": ("literal = 32768",),
        "literal 65535 taken for 4294967295": (
            "literal = 65535",
            "literal = 65535 and workgroup x >= 2",
        ),
        "literal 65536 taken for 0": (
            "literal = 65536",
            "literal = 65536 and barriers >= 1",
        ),
        "literal 2147483647 taken for 2147483648": ("literal = 2147483647",),
        "literal 2147483648 taken for 0": (
            "literal = 2147483648",
            "literal = 2147483648 and grid x >= 2",
        ),
        "literal 4294967295 taken for 2147483647": ("literal = 4294967295",),
        "left shift by 4 bits of the amount": ("loop turns >= 5",),
        "right shift by 4 bits of the amount": (
            "variables >= 7",
            "variables >= 7 and grid x >= 3",
        ),
        "left shift by 0 gives 0": ("operator = Shl",),
        "right shift by 31 gives 0": ("operator = Shr",),
        "quotient of a large dividend one less": (
            "operator = Div",
            "operator = Div and literal = 3",
        ),
        "remainder 0 gives the divisor": ("operator = Mod",),
        "quotient rounded to nearest": (
            "workgroup x odd",
            "workgroup x odd and variables >= 12",
        ),
        "product of 16 bits": ("expression nodes >= 30",),
        "high product one less": ("operator = MulHi",),
        "sum without its top bit": ("expression depth >= 14",),
        "difference of the other sign": ("operator = Sub",),
        "equality with 0 false": ("branch nesting >= 1",),
        "above is signed": ("operator = Gt",),
        "at most is signed": ("operator = Le",),
        "Gt done as Ge": ("workgroup x odd",),
        "Le done as Lt": ("variables >= 15",),
        "Eq done as Ge": ("operator = Eq",),
        "Ne done as Lt": ("operator = Ne",),
        "BitOr done as BitXor": ("grid x >= 2",),
        "Shl done as Shr": ("buffers >= 3",),
        "Mul done as MulHi": (
            "loop turns >= 33",
            "loop turns >= 33 and workgroup z >= 2",
        ),
        "Negate done as BitNot": ("operator = Negate",),
        "Ctz done as Clz": ("grid x >= 2",),
        "FGt done as FGe": ("operator = FGt",),
        "FMax done as FMin": (
            "workgroup x >= 5",
            "workgroup x >= 5 and loop nesting >= 1",
        ),
        "FFloor done as FTrunc": ("operator = FFloor",),
        "FCeil done as FRound": (
            "operator = FCeil",
            "operator = FCeil and barriers >= 1",
        ),
        "FRound done as FFloor": ("variables >= 10",),
        "FSin done as FCos": (
            "operator = FSin",
            "operator = FSin and workgroup x odd",
        ),
        "FExp done as FExp2": ("operator = FExp",),
        "operands of FMul kept in 19 bits": (
            "float chain >= 4",
            "float chain >= 4 and loop turns >= 16",
        ),
        "operands of FMul kept in 16 bits": (
            "element type = BF16",
            "element type = BF16 and variables >= 24",
        ),
        "operands of FAdd kept in 19 bits": ("float chain >= 10",),
        "operands of FAdd kept in 16 bits": ("element type = F16",),
        "difference of equal floats folded": (
            "operator = FSub",
            "operator = FSub and float chain >= 3",
        ),
        "quotient of an approximate reciprocal": ("float chain >= 6",),
        "float sum rounded towards 0": ("float chain >= 12",),
        "float product rounded towards 0": (
            "float chain >= 8",
            "float loop = FMul and loop turns >= 4",
        ),
        "float difference rounded towards 0": ("float chain >= 5",),
        "negation of a float is a difference": ("operator = FNeg",),
        "addend of a fused product dropped": ("operator = FMulAdd",),
        "sums of three rounded once": (
            "float chain >= 3",
            "float chain >= 16",
        ),
        "products of three rounded once": ("float chain >= 4",),
        "sum of a loop in two halves": ("loop turns >= 8",),
        "product of a loop kept in 19 bits": ("loop turns >= 12",),
        "reduction ends after 32": (
            "reduction length >= 33",
            "reduction length >= 40 and workgroup x >= 2",
        ),
        "reduction ends after 256": ("reduction length >= 257",),
        "reduction ends after 1,000": ("reduction length >= 1001",),
        "reduction without what 2 leave over": ("reduction length odd",),
        "reduction without what 8 leave over": (
            "reduction length mod 8 = 1",
            "reduction length >= 100",
        ),
        "reduction without what 64 leave over": (
            "reduction length >= 65",
            "reduction length >= 65 and reduction = Strict Max",
        ),
        "reduction starts at place 0": ("reduction length >= 5",),
        "reduction takes one past its end": ("reduction length = 1",),
        "reduction Add done as Max": ("reduction length >= 3",),
        "reduction Mul done as Add": ("reduction length >= 2",),
        "reduction one element short": ("reduction length mod 16 = 0",),
        "sum in another order": ("reduction length >= 500",),
        "tiny results of FMul flushed": (
            "entrance = bind",
            "entrance = bind and float chain >= 3",
        ),
        "tiny operands of FAdd flushed": ("float chain >= 20",),
        "tiny sums of a loop flushed": (
            "loop turns >= 25",
            "loop turns >= 2 and workgroup x odd",
        ),
        "product and sum fused": ("variables >= 5",),
        "difference and product fused": ("workgroup x >= 3",),
        "sums reassociated": ("float chain odd",),
        "FDiv off in the last place": ("uniform bytes >= 4",),
        "FSub off in the last place": ("loop turns >= 45",),
        "fused product taken apart": ("workgroup x >= 2",),
        "root off in the last place": ("loop nesting >= 1",),
        "conversions truncate": (
            "workgroup x >= 4",
            "workgroup x >= 4 and loop turns >= 2",
        ),
    }
)
