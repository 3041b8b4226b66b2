"""Operands of the operators of two floats."""

from __future__ import annotations

from lab.golden.inputs.values import D1, DINF, DNZ, INF, MAX, NAN, NINF, NORMAL, NZ, ONE, PAYLOAD, SNAN, TINY

_ADD = [
    (ONE, ONE),
    (ONE, 0x33800000),  # half an ulp: the tie goes to even, down
    (0x3F800001, 0x33800000),  # half an ulp: the tie goes to even, up
    (ONE, 0x33800001),  # just above half
    (MAX, 0x73000000),  # half an ulp of the largest: overflow
    (MAX, MAX),
    (TINY, TINY),  # subnormals are kept
    (TINY, 0x807FFFFF),
    (NORMAL, 0x80000001),  # normal minus least subnormal
    (0, NZ),
    (NZ, NZ),
    (ONE, 0xBF800000),  # x - x is +0
    (INF, NINF),
    (INF, MAX),
    (NAN, ONE),
    (SNAN, ONE),  # a signalling NaN gives the canonical NaN
    (ONE, PAYLOAD),
    (0x3DCCCCCD, 0x3E4CCCCD),  # 0.1 + 0.2
    (NZ, 0),  # the sum is +0, the difference -0
    (0x00800001, NORMAL),  # the difference of two normals is subnormal
]
_MUL = [
    (0x40400000, 0x40E00000),
    (0x3F800001, 0x3F800001),
    (0x3F800001, 0x3F7FFFFF),
    (0x3FC00000, 0x00000001),  # 1.5 ulp of a subnormal: tie to even
    (TINY, 0x3F000000),  # half the least subnormal: to zero
    (TINY, 0x3F000001),
    (NORMAL, 0x3F7FFFFF),  # rounds at the edge of the normals
    (NORMAL, 0x3F000000),
    (0x1E3CE508, 0x1E3CE508),  # deep underflow into subnormals
    (MAX, 0x40000000),
    (0x7F000000, 0x40000000),
    (0xC0000000, 0x40400000),
    (0, 0xBF800000),
    (NZ, 0xBF800000),
    (0, INF),
    (INF, 0xBF800000),
    (NAN, 0),
    (SNAN, PAYLOAD),
    (NZ, NZ),
]
_DIV = [
    (ONE, 0x40400000),  # 1/3
    (0x40000000, 0x40400000),
    (ONE, 0),
    (ONE, NZ),
    (0xBF800000, 0),
    (0, 0),
    (INF, INF),
    (ONE, INF),
    (0xBF800000, INF),
    (TINY, 0x40000000),
    (NORMAL, 0x40000000),
    (0x00000003, 0x40000000),  # a subnormal tie
    (MAX, 0x3F000000),
    (ONE, MAX),  # the quotient is subnormal
    (0x3F7FFFFF, 0x3F800001),
    (0x41200000, 0x3DCCCCCD),
    (PAYLOAD, ONE),
    (ONE, SNAN),
    (0x40400000, 0x40E00000),  # 3/7 by the rounded reciprocal is another float
]
_ORDER = [
    (ONE, 0x40000000),
    (0x40000000, ONE),
    (ONE, ONE),
    (0, NZ),
    (NZ, 0),
    (NAN, ONE),
    (ONE, SNAN),
    (NAN, PAYLOAD),
    (TINY, 0),
    (0x80000001, TINY),
    (NINF, INF),
    (INF, INF),
    (0xC0000000, 0xBF800000),
    (MAX, INF),
    (NZ, NZ),
]
_ATAN2 = [
    (0, ONE),
    (NZ, ONE),
    (0, 0xBF800000),
    (NZ, 0xBF800000),
    (0, 0),
    (NZ, 0),
    (0, NZ),
    (NZ, NZ),
    (ONE, 0),
    (0xBF800000, 0),
    (ONE, ONE),
    (ONE, 0xBF800000),
    (INF, INF),
    (INF, NINF),
    (NINF, NINF),
    (ONE, INF),
    (ONE, NINF),
    (TINY, MAX),
    (TINY, TINY),
    (0x40490FDB, 0x402DF854),
    (NAN, ONE),
    (ONE, SNAN),
    (NORMAL, 0x40800000),  # an angle below the normals, of normal operands
]
_POW = [
    (0x40000000, 0x41200000),  # 2^10
    (0x40000000, 0x3F000000),  # sqrt 2
    (0x3DCCCCCD, 0x40400000),
    (0x41200000, 0xC0000000),
    (0xC0000000, 0x40400000),  # -8
    (0xC0000000, 0x3F000000),  # no real value
    (0, 0),
    (NAN, 0),  # anything to the 0 is 1
    (ONE, NAN),  # 1 to anything is 1
    (ONE, INF),
    (0xBF800000, INF),
    (0xBF800000, 0x40400000),
    (0, 0xBF800000),
    (NZ, 0xBF800000),
    (NZ, 0x40400000),
    (NZ, 0x40000000),
    (INF, 0xBF800000),
    (NINF, 0x40400000),
    (0x3F000000, INF),
    (0x40000000, NINF),
    (0x40000000, 0x43000000),  # overflow
    (0x40000000, 0xC3150000),  # the least subnormal, exactly
    (0x40000000, 0xC3170000),  # below it: zero
    (0x40000000, 0xC30F0000),
    (0x3F800001, 0x4B000000),
    (0x402DF854, 0x40490FDB),
    (NAN, ONE),
    (0x40000000, SNAN),
    (TINY, ONE),
]

_HADD = [
    (0x3C00, 0x3C00),
    (0x3C00, 0x1000),
    (0x3C01, 0x1000),
    (0x7BFF, 0x4C00),
    (0x0001, 0x0001),
    (0x0400, 0x8001),
    (0x7C00, 0xFC00),
    (0x7C01, 0x3C00),
    (0x8000, 0x8000),
    (0x3C00, 0xBC00),
    (0x8000, 0x0000),
]
_HMUL = [
    (0x4200, 0x4700),
    (0x3C01, 0x3C01),
    (0x0001, 0x3800),
    (0x0001, 0x3E00),
    (0x7BFF, 0x4000),
    (0x0400, 0x3BFF),
    (0x0000, 0x7C00),
    (0xFE01, 0x3C00),
]
_HDIV = [
    (0x3C00, 0x4200),
    (0x3C00, 0x0000),
    (0x3C00, 0x8000),
    (0x0000, 0x0000),
    (0x0003, 0x4000),
    (0x7BFF, 0x3800),
    (0x3C00, 0x7BFF),
    (0x3C00, 0x7C01),
]
_HORD = [
    (0x3C00, 0x4000),
    (0x4000, 0x3C00),
    (0x0000, 0x8000),
    (0x8000, 0x0000),
    (0x7E00, 0x3C00),
    (0x3C00, 0x7C01),
    (0x7E01, 0xFE00),
    (0x0001, 0x8001),
]
_BADD = [
    (0x3F80, 0x3F80),
    (0x3F80, 0x3B80),
    (0x3F81, 0x3B80),
    (0x7F7F, 0x7B00),
    (0x0001, 0x0001),
    (0x0080, 0x8001),
    (0x7F80, 0xFF80),
    (0x7F81, 0x3F80),
    (0x8000, 0x8000),
    (0x3F80, 0xBF80),
    (0x8000, 0x0000),
]
_BMUL = [
    (0x4040, 0x40E0),
    (0x3F81, 0x3F81),
    (0x0001, 0x3F00),
    (0x0001, 0x3FC0),
    (0x7F7F, 0x4000),
    (0x0080, 0x3F7F),
    (0x0000, 0x7F80),
    (0xFFC1, 0x3F80),
]
_BDIV = [
    (0x3F80, 0x4040),
    (0x3F80, 0x0000),
    (0x3F80, 0x8000),
    (0x0000, 0x0000),
    (0x0003, 0x4000),
    (0x7F7F, 0x3F00),
    (0x3F80, 0x7F7F),
    (0x3F80, 0x7F81),
]
_BORD = [
    (0x3F80, 0x4000),
    (0x4000, 0x3F80),
    (0x0000, 0x8000),
    (0x8000, 0x0000),
    (0x7FC0, 0x3F80),
    (0x3F80, 0x7F81),
    (0x7FC1, 0xFFC0),
    (0x0001, 0x8001),
]

_DADD = [
    (D1, D1),
    (D1, 0x3CA0000000000000),
    (D1 + 1, 0x3CA0000000000000),
    (1, 1),
    (DINF, DINF | DNZ),
    (0x3FB999999999999A, 0x3FC999999999999A),
    (DNZ, DNZ),
    (0x7FF0000000000001, D1),
]
_DMUL = [
    (D1 + 1, D1 + 1),
    (1, 0x3FE0000000000000),
    (1, 0x3FF8000000000000),
    (0x7FEFFFFFFFFFFFFF, 0x4000000000000000),
    (0, DINF),
    (0x0010000000000000, 0x3FEFFFFFFFFFFFFF),
]
_DDIV = [(D1, 0x4008000000000000), (D1, 0), (0, 0), (3, 0x4000000000000000), (D1, 0x7FEFFFFFFFFFFFFF)]
_DORD = [(D1, D1 + 1), (0, DNZ), (0x7FF8000000000000, D1), (D1, 0x7FF0000000000001), (1, DNZ + 1)]

_COMPARES = ("FEq", "FNe", "FLt", "FGt", "FLe", "FGe")


_Pairs = list[tuple[int, int]]


def _binary(add: _Pairs, mul: _Pairs, div: _Pairs, order: _Pairs) -> dict[str, _Pairs]:
    return {
        "FAdd": add,
        "FSub": add,
        "FMul": mul,
        "FDiv": div,
        "FMin": order,
        "FMax": order,
        **dict.fromkeys(_COMPARES, order),
    }


BINARY = {
    "F32": {**_binary(_ADD, _MUL, _DIV, _ORDER), "FATan2": _ATAN2, "FPow": _POW},
    "F16": {
        **_binary(_HADD, _HMUL, _HDIV, _HORD),
        "FATan2": [(0x0000, 0xBC00), (0x3C00, 0x3C00), (0x7C00, 0xFC00), (0x0001, 0x7BFF), (0x4248, 0x4170)],
        "FPow": [(0x4000, 0x4500), (0x4000, 0x3800), (0x7E00, 0x0000), (0x4000, 0x4C00), (0x4000, 0xCE00)],
    },
    "BF16": {
        **_binary(_BADD, _BMUL, _BDIV, _BORD),
        "FATan2": [(0x0000, 0xBF80), (0x3F80, 0x3F80), (0x7F80, 0xFF80), (0x0001, 0x7F7F), (0x4049, 0x402E)],
        "FPow": [(0x4000, 0x40A0), (0x4000, 0x3F00), (0x7FC0, 0x0000), (0x4000, 0x4300), (0x4000, 0xC305)],
    },
    "F64": _binary(_DADD, _DMUL, _DDIV, _DORD),
}
