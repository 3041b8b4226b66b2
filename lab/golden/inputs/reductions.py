"""Arrays that are reduced, strictly and within a tolerance, and the inputs of approximate functions."""

from __future__ import annotations

from lab.golden.inputs.values import BIG, D1, DNZ, INF, NAN, NINF, NZ, ONE, PAYLOAD, SNAN, SPECIAL, TINY

REDUCE: list[tuple[str, str, list[int]]] = [
    *(("F32", op, []) for op in ("Add", "Mul", "Min", "Max")),
    *(("F32", op, [0x40400000]) for op in ("Add", "Mul", "Min", "Max")),
    *(("F32", op, [0x40400000, 0x40000000]) for op in ("Add", "Mul", "Min", "Max")),
    *(("F32", op, [0x40400000, 0xC0000000, 0x3F000000]) for op in ("Add", "Mul", "Min", "Max")),
    ("F32", "Add", [BIG, ONE, ONE]),
    ("F32", "Add", [BIG, ONE, ONE, ONE]),  # the two orders differ
    ("F32", "Add", [BIG, ONE, ONE, ONE, ONE]),
    ("F32", "Add", [ONE, ONE, ONE, ONE, BIG]),
    ("F32", "Mul", [0x7F000000, 0x40000000, 0x3F000000, 0x3F000000]),  # one order overflows
    ("F32", "Mul", [TINY, 0x3F000000, 0x40000000, 0x40000000, ONE]),
    ("F32", "Min", [NAN, 0, NZ, ONE, NAN]),
    ("F32", "Max", [NAN, NZ, 0, 0xBF800000, NAN]),
    ("F32", "Add", [NZ, NZ, NZ]),
    ("F32", "Add", [INF, ONE, NINF]),
    ("F32", "Add", [0x3DCCCCCD] * 11),
    ("F16", "Add", [0x6800, 0x3C00, 0x3C00, 0x3C00, 0x3C00]),
    ("F16", "Mul", []),
    ("F16", "Min", []),
    ("F16", "Max", []),
    ("BF16", "Add", [0x4380, 0x3F80, 0x3F80, 0x3F80, 0x3F80]),
    ("BF16", "Mul", []),
    ("BF16", "Min", []),
    ("BF16", "Max", []),
    ("F64", "Add", [0x4340000000000000, D1, D1, D1, D1]),
    ("F64", "Mul", []),
    ("F64", "Min", []),
    ("F64", "Max", []),
    *(("F32", op, [PAYLOAD]) for op in ("Add", "Mul", "Min", "Max")),  # one element moves, bits untouched
    *(("F32", op, [SNAN, PAYLOAD]) for op in ("Add", "Mul", "Min", "Max")),
    # Six values of which every order makes another sum or product: 4 + 2 is not 3 + 3, nor is it backwards.
    ("F32", "Add", [0x40E1C0F4, 0x40380CB3, 0x4278369F, 0x403F76C6, 0x4146C41A, 0x409DD5B6]),
    ("F32", "Mul", [0x3FBFEB18, 0x3FEC5032, 0x3FF86FDA, 0x3FC0AD23, 0x3FB25969, 0x3FCB646D]),
    ("F16", "Add", [0x51D7, 0x4CAF, 0x4F4F, 0x3F78, 0x4B7A, 0x43E5]),
    ("F16", "Mul", [0x3F8C, 0x3DF4, 0x3C8A, 0x3E51, 0x3E34, 0x3F14]),
    ("BF16", "Add", [0x3FE7, 0x4020, 0x41D0, 0x420C, 0x4222, 0x425E]),
    ("BF16", "Mul", [0x3FB7, 0x3FCC, 0x3FC4, 0x3FB4, 0x3FF4, 0x3F8F]),
    (
        "F64",
        "Add",
        [
            *(0x400C028260BDADCE, 0x402F93332B2935F2, 0x4043C5933B51D375),
            *(0x401489CBD1F559AF, 0x4018C097766B5E3C, 0x40263BC6947678F5),
        ],
    ),
    (
        "F64",
        "Mul",
        [
            *(0x3FF37A64D9C2B0CF, 0x3FFD6987A4AB4EEC, 0x3FF82F012C61CBEC),
            *(0x3FF6E9D7DCA1284F, 0x3FF9721C0597EBC1, 0x3FFE66745E3C1D96),
        ],
    ),
    # The least and the greatest stand last.
    *(("F16", op, [0x3C00, 0x4000, last]) for op, last in (("Min", 0xC000), ("Max", 0x4200))),
    *(("BF16", op, [0x3F80, 0x4000, last]) for op, last in (("Min", 0xC000), ("Max", 0x4040))),
    *(("F64", op, [D1, D1 + 1, last]) for op, last in (("Min", D1 | DNZ), ("Max", D1 + 2))),
]

_APPROX = [ONE, 0x3F000000, 0x40490FDB, 0x3DCCCCCD, 0x41200000, TINY, *SPECIAL]
APPROX = {
    "F32": _APPROX,
    "F16": [0x3C00, 0x3800, 0x4248, 0x0001, 0x0000, 0x7C00, 0x7E00],
    "BF16": [0x3F80, 0x3F00, 0x4049, 0x0001, 0x0000, 0x7F80, 0x7FC0],
}
TOLERANCE = 4
REDUCE_APPROX: list[tuple[str, str, list[int]]] = [
    ("F32", "Add", []),
    ("F32", "Mul", []),
    ("F32", "Add", [BIG, ONE, ONE, ONE, ONE]),
    ("F32", "Add", [0x3DCCCCCD] * 11),
    ("F32", "Mul", [0x3DCCCCCD] * 5),
    ("F32", "Min", [0x40400000, 0xC0000000, ONE]),
    ("F32", "Max", [0x40400000, 0xC0000000, ONE]),
    ("F16", "Add", [0x6800, 0x3C00, 0x3C00, 0x3C00, 0x3C00]),
]
