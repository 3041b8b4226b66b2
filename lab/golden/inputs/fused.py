"""Operands of the fused multiply-add, and those where two roundings give other bits than one."""

from __future__ import annotations

from lab.golden.inputs.values import D1, DINF, DNZ, INF, MAX, NAN, NINF, NZ, ONE, PAYLOAD, SNAN, TINY

FMA = {
    "F32": [
        (0x40000000, 0x40400000, ONE),
        (0x3F800001, 0x3F800001, 0xBF800002),  # keeps the bits that two roundings lose
        (0x3F800001, 0x3F7FFFFF, 0xBF800000),
        (MAX, 0x40000000, 0xFF7FFFFF),  # the product alone would overflow
        (TINY, TINY, ONE),
        (TINY, 0x3F000000, TINY),
        (0x1E3CE508, 0x1E3CE508, 0x80000001),
        (0, INF, ONE),
        (0, INF, NAN),
        (INF, ONE, NINF),
        (NZ, ONE, 0),
        (NZ, ONE, NZ),
        (ONE, 0xBF800000, ONE),
        (ONE, ONE, 0x33800000),
        (0x3F800001, ONE, 0x33800000),
        (SNAN, ONE, ONE),
        (ONE, ONE, PAYLOAD),
    ],
    "F16": [
        (0x2801, 0x23FE, 0x3C01),  # through F32 it rounds twice, to 0x3C02
        (0x3C01, 0x3C01, 0xBC02),
        (0x7BFF, 0x4000, 0xFBFF),
        (0x0001, 0x0001, 0x3C00),
        (0x0000, 0x7C00, 0x3C00),
        (0x3C00, 0xBC00, 0x3C00),
    ],
    "BF16": [
        (0x3F81, 0x3F81, 0xBF82),
        (0x3F81, 0x3F7F, 0xBF80),
        (0x7F7F, 0x4000, 0xFF7F),
        (0x0001, 0x0001, 0x3F80),
        (0x0000, 0x7F80, 0x3F80),
        (0x4140, 0x3F88, 0x0001),  # a double holds no tie breaker this small
    ],
    "F64": [
        (D1 + 1, D1 + 1, (D1 + 2) | DNZ),
        (0x7FEFFFFFFFFFFFFF, 0x4000000000000000, 0xFFEFFFFFFFFFFFFF),
        (1, 1, D1),
        (0, DINF, D1),
    ],
}
UNFUSED = {
    "F32": [
        (0x3F800001, 0x3F800001, 0xBF800002),
        (0x3F800001, 0x3F7FFFFF, 0xBF800000),
        (MAX, 0x40000000, 0xFF7FFFFF),
        (0x3FC00000, TINY, TINY),  # 1.5 ulp goes to 2, and 3; in one rounding 2.5 goes to 2
    ],
    "F16": [(0x3C01, 0x3C01, 0xBC02), (0x3E00, 1, 1)],
    "BF16": [(0x3F81, 0x3F81, 0xBF82), (0x3FC0, 1, 1)],
    "F64": [(D1 + 1, D1 + 1, (D1 + 2) | DNZ), (0x3FF8000000000000, 1, 1)],
}
