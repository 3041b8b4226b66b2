"""The inputs of the float golden rows, as bits. Append only: the rows' numbers follow this order."""

from __future__ import annotations

_NAN, _INF, _NINF, _NZ, _ONE, _TINY = 0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000, 0x3F800000, 1
_MAX, _NORMAL = 0x7F7FFFFF, 0x00800000
_SNAN, _PAYLOAD = 0x7F800001, 0xFFC12345

_ADD = [
    (_ONE, _ONE),
    (_ONE, 0x33800000),  # half an ulp: the tie goes to even, down
    (0x3F800001, 0x33800000),  # half an ulp: the tie goes to even, up
    (_ONE, 0x33800001),  # just above half
    (_MAX, 0x73000000),  # half an ulp of the largest: overflow
    (_MAX, _MAX),
    (_TINY, _TINY),  # subnormals are kept
    (_TINY, 0x807FFFFF),
    (_NORMAL, 0x80000001),  # normal minus least subnormal
    (0, _NZ),
    (_NZ, _NZ),
    (_ONE, 0xBF800000),  # x - x is +0
    (_INF, _NINF),
    (_INF, _MAX),
    (_NAN, _ONE),
    (_SNAN, _ONE),  # a signalling NaN gives the canonical NaN
    (_ONE, _PAYLOAD),
    (0x3DCCCCCD, 0x3E4CCCCD),  # 0.1 + 0.2
    (_NZ, 0),  # the sum is +0, the difference -0
    (0x00800001, _NORMAL),  # the difference of two normals is subnormal
]
_MUL = [
    (0x40400000, 0x40E00000),
    (0x3F800001, 0x3F800001),
    (0x3F800001, 0x3F7FFFFF),
    (0x3FC00000, 0x00000001),  # 1.5 ulp of a subnormal: tie to even
    (_TINY, 0x3F000000),  # half the least subnormal: to zero
    (_TINY, 0x3F000001),
    (_NORMAL, 0x3F7FFFFF),  # rounds at the edge of the normals
    (_NORMAL, 0x3F000000),
    (0x1E3CE508, 0x1E3CE508),  # deep underflow into subnormals
    (_MAX, 0x40000000),
    (0x7F000000, 0x40000000),
    (0xC0000000, 0x40400000),
    (0, 0xBF800000),
    (_NZ, 0xBF800000),
    (0, _INF),
    (_INF, 0xBF800000),
    (_NAN, 0),
    (_SNAN, _PAYLOAD),
    (_NZ, _NZ),
]
_DIV = [
    (_ONE, 0x40400000),  # 1/3
    (0x40000000, 0x40400000),
    (_ONE, 0),
    (_ONE, _NZ),
    (0xBF800000, 0),
    (0, 0),
    (_INF, _INF),
    (_ONE, _INF),
    (0xBF800000, _INF),
    (_TINY, 0x40000000),
    (_NORMAL, 0x40000000),
    (0x00000003, 0x40000000),  # a subnormal tie
    (_MAX, 0x3F000000),
    (_ONE, _MAX),  # the quotient is subnormal
    (0x3F7FFFFF, 0x3F800001),
    (0x41200000, 0x3DCCCCCD),
    (_PAYLOAD, _ONE),
    (_ONE, _SNAN),
    (0x40400000, 0x40E00000),  # 3/7 by the rounded reciprocal is another float
]
_ORDER = [
    (_ONE, 0x40000000),
    (0x40000000, _ONE),
    (_ONE, _ONE),
    (0, _NZ),
    (_NZ, 0),
    (_NAN, _ONE),
    (_ONE, _SNAN),
    (_NAN, _PAYLOAD),
    (_TINY, 0),
    (0x80000001, _TINY),
    (_NINF, _INF),
    (_INF, _INF),
    (0xC0000000, 0xBF800000),
    (_MAX, _INF),
    (_NZ, _NZ),
]
_ATAN2 = [
    (0, _ONE),
    (_NZ, _ONE),
    (0, 0xBF800000),
    (_NZ, 0xBF800000),
    (0, 0),
    (_NZ, 0),
    (0, _NZ),
    (_NZ, _NZ),
    (_ONE, 0),
    (0xBF800000, 0),
    (_ONE, _ONE),
    (_ONE, 0xBF800000),
    (_INF, _INF),
    (_INF, _NINF),
    (_NINF, _NINF),
    (_ONE, _INF),
    (_ONE, _NINF),
    (_TINY, _MAX),
    (_TINY, _TINY),
    (0x40490FDB, 0x402DF854),
    (_NAN, _ONE),
    (_ONE, _SNAN),
    (_NORMAL, 0x40800000),  # an angle below the normals, of normal operands
]
_POW = [
    (0x40000000, 0x41200000),  # 2^10
    (0x40000000, 0x3F000000),  # sqrt 2
    (0x3DCCCCCD, 0x40400000),
    (0x41200000, 0xC0000000),
    (0xC0000000, 0x40400000),  # -8
    (0xC0000000, 0x3F000000),  # no real value
    (0, 0),
    (_NAN, 0),  # anything to the 0 is 1
    (_ONE, _NAN),  # 1 to anything is 1
    (_ONE, _INF),
    (0xBF800000, _INF),
    (0xBF800000, 0x40400000),
    (0, 0xBF800000),
    (_NZ, 0xBF800000),
    (_NZ, 0x40400000),
    (_NZ, 0x40000000),
    (_INF, 0xBF800000),
    (_NINF, 0x40400000),
    (0x3F000000, _INF),
    (0x40000000, _NINF),
    (0x40000000, 0x43000000),  # overflow
    (0x40000000, 0xC3150000),  # the least subnormal, exactly
    (0x40000000, 0xC3170000),  # below it: zero
    (0x40000000, 0xC30F0000),
    (0x3F800001, 0x4B000000),
    (0x402DF854, 0x40490FDB),
    (_NAN, _ONE),
    (0x40000000, _SNAN),
    (_TINY, _ONE),
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
_D1, _DINF, _DNZ = 0x3FF0000000000000, 0x7FF0000000000000, 0x8000000000000000
_DADD = [
    (_D1, _D1),
    (_D1, 0x3CA0000000000000),
    (_D1 + 1, 0x3CA0000000000000),
    (1, 1),
    (_DINF, _DINF | _DNZ),
    (0x3FB999999999999A, 0x3FC999999999999A),
    (_DNZ, _DNZ),
    (0x7FF0000000000001, _D1),
]
_DMUL = [
    (_D1 + 1, _D1 + 1),
    (1, 0x3FE0000000000000),
    (1, 0x3FF8000000000000),
    (0x7FEFFFFFFFFFFFFF, 0x4000000000000000),
    (0, _DINF),
    (0x0010000000000000, 0x3FEFFFFFFFFFFFFF),
]
_DDIV = [(_D1, 0x4008000000000000), (_D1, 0), (0, 0), (3, 0x4000000000000000), (_D1, 0x7FEFFFFFFFFFFFFF)]
_DORD = [(_D1, _D1 + 1), (0, _DNZ), (0x7FF8000000000000, _D1), (_D1, 0x7FF0000000000001), (1, _DNZ + 1)]

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

_SPECIAL = [0, _NZ, _INF, _NINF, _NAN, _SNAN, _PAYLOAD]
_HSPECIAL = [0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7C01]
_BSPECIAL = [0x0000, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0x7F81]
_DSPECIAL = [0, _DNZ, _DINF, _DINF | _DNZ, 0x7FF8000000000000, 0x7FF0000000000001]
_SIGNS = [_ONE, 0xBF800000, _TINY, 0x80000001, _MAX]
_WHOLE = [
    0x3F000000,
    0x3FC00000,
    0x40200000,
    0xBF000000,
    0xBFC00000,
    0x3EFFFFFF,
    0x3F000001,
    0x4B000001,
    0x4AFFFFFF,
    _TINY,
    0x80000001,
    0xBF7FFFFF,
    _MAX,
]
_HWHOLE = [0x3800, 0x3E00, 0x4100, 0xB800, 0x37FF, 0x3801, 0x0001, 0x8001, 0x63FF]
_BWHOLE = [0x3F00, 0x3FC0, 0x4020, 0xBF00, 0x3EFF, 0x3F01, 0x0001, 0x8001, 0x42FF]
_DWHOLE = [
    0x3FE0000000000000,
    0x4004000000000000,
    0xBFE0000000000000,
    0x3FDFFFFFFFFFFFFF,
    1,
    0x432FFFFFFFFFFFFF,
]
_CIRCLE = [
    _ONE,
    0xBF800000,
    0x3F000000,
    0x40490FDB,
    0x3FC90FDB,
    0x42C80000,
    0x501502F9,
    _MAX,
    _TINY,
    0x807FFFFF,
    0x39800000,
    0x4B000001,
]
_ARC = [
    _ONE,
    0xBF800000,
    0x3F000000,
    0xBF000000,
    0x3F800001,
    0x3F7FFFFF,
    _TINY,
    0x807FFFFF,
    0x39800000,
    0x3F3504F3,
]
_EXPS = [
    _ONE,
    0xBF800000,
    0x3F000000,
    0x40000000,
    0xC0000000,
    0x33000000,
    0xB3000000,
    _TINY,
    0x42000000,
    0xC2000000,
]
_LOGS = [
    _ONE,
    0x40000000,
    0x3F000000,
    0x41200000,
    0x42C80000,
    0x402DF854,
    0xBF800000,
    _TINY,
    _NORMAL,
    _MAX,
    0x3F7FFFFF,
    0x3F800001,
]


def _small(one: int, half: int, two: int, special: list[int], top: int, sign: int) -> dict[str, list[int]]:
    circle = [one, one | sign, half, two, top, 1, *special]
    arc = [one, one | sign, half, half | sign, two, 1, *special]
    exps = [one, one | sign, half, two, top, top | sign, 1, *special]
    logs = [one, two, half, one | sign, 1, top, *special]
    return {
        **dict.fromkeys(("FSin", "FCos", "FTan", "FATan"), circle),
        "FASin": arc,
        "FACos": arc,
        **dict.fromkeys(("FExp", "FExp2", "FExp10"), exps),
        **dict.fromkeys(("FLog", "FLog2", "FLog10"), logs),
    }


_ROUNDINGS = ("FFloor", "FCeil", "FRound", "FTrunc")
UNARY = {
    "F32": {
        "FNeg": _SIGNS + _SPECIAL,
        "FAbs": _SIGNS + _SPECIAL,
        "FSqrt": [
            0x40800000,
            0x40000000,
            0x40400000,
            _ONE + 1,
            0x3F7FFFFF,
            _TINY,
            0x007FFFFF,
            _MAX,
            0xBF800000,
            *_SPECIAL,
        ],
        "FIsNaN": _SIGNS + _SPECIAL,
        "FIsInf": _SIGNS + _SPECIAL,
        **dict.fromkeys(_ROUNDINGS, _WHOLE + _SPECIAL),
        "FSin": _CIRCLE + _SPECIAL,
        "FCos": _CIRCLE + _SPECIAL,
        "FTan": _CIRCLE + _SPECIAL,
        "FASin": _ARC + _SPECIAL,
        "FACos": _ARC + _SPECIAL,
        "FATan": _CIRCLE + _SPECIAL,
        "FExp": [*_EXPS, 0x42B17217, 0x42B17218, 0xC2AEAC50, 0xC2CFF1B4, 0xC2CFF1B5, *_SPECIAL],
        "FLog": _LOGS + _SPECIAL,
        "FExp2": [*_EXPS, 0x42FFFFFF, 0x43000000, 0xC2FC0000, 0xC3150000, 0xC3160000, 0xC3160001, *_SPECIAL],
        "FLog2": _LOGS + _SPECIAL,
        "FExp10": [*_EXPS, 0x421A209A, 0x421A209B, 0xC23369F4, 0xC2349E35, 0xC234A000, 0x40400000, *_SPECIAL],
        "FLog10": _LOGS + _SPECIAL,
    },
    "F16": {
        "FNeg": [0x3C00, 0xBC00, 0x0001, 0x8001, *_HSPECIAL],
        "FAbs": [0x3C00, 0xBC00, 0x0001, 0x8001, *_HSPECIAL],
        "FSqrt": [0x4400, 0x4000, 0x3C01, 0x0001, 0x7BFF, 0xBC00, *_HSPECIAL],
        "FIsNaN": [0x3C00, 0x0001, *_HSPECIAL],
        "FIsInf": [0x3C00, 0x7BFF, *_HSPECIAL],
        **dict.fromkeys(_ROUNDINGS, _HWHOLE + _HSPECIAL),
        **_small(0x3C00, 0x3800, 0x4000, _HSPECIAL, 0x7BFF, 0x8000),
    },
    "BF16": {
        "FNeg": [0x3F80, 0xBF80, 0x0001, 0x8001, *_BSPECIAL],
        "FAbs": [0x3F80, 0xBF80, 0x0001, 0x8001, *_BSPECIAL],
        "FSqrt": [0x4080, 0x4000, 0x3F81, 0x0001, 0x7F7F, 0xBF80, *_BSPECIAL],
        "FIsNaN": [0x3F80, 0x0001, *_BSPECIAL],
        "FIsInf": [0x3F80, 0x7F7F, *_BSPECIAL],
        **dict.fromkeys(_ROUNDINGS, _BWHOLE + _BSPECIAL),
        **_small(0x3F80, 0x3F00, 0x4000, _BSPECIAL, 0x7F7F, 0x8000),
    },
    "F64": {
        "FNeg": [_D1, 1, *_DSPECIAL],
        "FAbs": [_D1 | _DNZ, _DNZ + 1, *_DSPECIAL],
        "FSqrt": [0x4000000000000000, 0x4008000000000000, 1, 0x7FEFFFFFFFFFFFFF, _D1 | _DNZ, *_DSPECIAL],
        "FIsNaN": [_D1, *_DSPECIAL],
        "FIsInf": [_D1, *_DSPECIAL],
        **dict.fromkeys(_ROUNDINGS, _DWHOLE + _DSPECIAL),
    },
}

FMA = {
    "F32": [
        (0x40000000, 0x40400000, _ONE),
        (0x3F800001, 0x3F800001, 0xBF800002),  # keeps the bits that two roundings lose
        (0x3F800001, 0x3F7FFFFF, 0xBF800000),
        (_MAX, 0x40000000, 0xFF7FFFFF),  # the product alone would overflow
        (_TINY, _TINY, _ONE),
        (_TINY, 0x3F000000, _TINY),
        (0x1E3CE508, 0x1E3CE508, 0x80000001),
        (0, _INF, _ONE),
        (0, _INF, _NAN),
        (_INF, _ONE, _NINF),
        (_NZ, _ONE, 0),
        (_NZ, _ONE, _NZ),
        (_ONE, 0xBF800000, _ONE),
        (_ONE, _ONE, 0x33800000),
        (0x3F800001, _ONE, 0x33800000),
        (_SNAN, _ONE, _ONE),
        (_ONE, _ONE, _PAYLOAD),
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
        (_D1 + 1, _D1 + 1, (_D1 + 2) | _DNZ),
        (0x7FEFFFFFFFFFFFFF, 0x4000000000000000, 0xFFEFFFFFFFFFFFFF),
        (1, 1, _D1),
        (0, _DINF, _D1),
    ],
}
UNFUSED = {
    "F32": [
        (0x3F800001, 0x3F800001, 0xBF800002),
        (0x3F800001, 0x3F7FFFFF, 0xBF800000),
        (_MAX, 0x40000000, 0xFF7FFFFF),
        (0x3FC00000, _TINY, _TINY),  # 1.5 ulp goes to 2, and 3; in one rounding 2.5 goes to 2
    ],
    "F16": [(0x3C01, 0x3C01, 0xBC02), (0x3E00, 1, 1)],
    "BF16": [(0x3F81, 0x3F81, 0xBF82), (0x3FC0, 1, 1)],
    "F64": [(_D1 + 1, _D1 + 1, (_D1 + 2) | _DNZ), (0x3FF8000000000000, 1, 1)],
}

WIDTH_CASTS = {
    ("F32", "F16"): [
        _ONE,
        0x3F801000,
        0x3F803000,
        0x3F801001,
        0x477FE000,
        0x477FEFFF,
        0x477FF000,
        _MAX,
        0x33800000,
        0x33000000,
        0x33000001,
        0x38800000,
        0x387FFFFF,
        0x387FC000,
        *_SPECIAL,
    ],
    ("F16", "F32"): [0x3C00, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x8001, *_HSPECIAL, 0xFE01],
    ("F32", "BF16"): [
        _ONE,
        0x3F808000,
        0x3F818000,
        0x3F808001,
        _MAX,
        0x7F7F7FFF,
        0x7F7F8000,
        _TINY,
        0x00008000,
        0x00008001,
        0x00018000,
        0x007FFFFF,
        *_SPECIAL,
    ],
    ("BF16", "F32"): [0x3F80, 0x0001, 0x007F, 0x0080, 0x7F7F, 0x8001, *_BSPECIAL, 0xFFC1],
    ("F32", "F64"): [_ONE, _TINY, 0x007FFFFF, _NORMAL, _MAX, *_SPECIAL],
    ("F64", "F32"): [
        _D1,
        0x3FF0000010000000,
        0x3FF0000030000000,
        0x3FF0000010000001,
        0x47EFFFFFEFFFFFFF,
        0x47EFFFFFF0000000,
        0x36A0000000000000,
        0x3690000000000000,
        0x3690000000000001,
        1,
        *_DSPECIAL,
    ],
}

_INTEGRAL = [
    0x3F000000,
    0x3FC00000,
    0x40200000,
    0xBF000000,
    0xBFC00000,
    0xC0200000,
    0x3EFFFFFF,
    0x4EFFFFFF,
    0x4F000000,
    0x4F7FFFFF,
    0x4F800000,
    0xCF000000,
    0xCF000001,
    _TINY,
    0x80000001,
    _MAX,
    *_SPECIAL,
]
_DINTEGRAL = [
    0x3FE0000000000000,
    0xC004000000000000,
    0x41DFFFFFFFC00000,
    0x41DFFFFFFFE00000,
    0x41E0000000000000,
    0x41EFFFFFFFE00000,
    0x41EFFFFFFFF00000,
    0xC1E0000000100000,
    0xC1E0000000200000,
    *_DSPECIAL,
]
TO_INTEGER = {
    ("F32", "I32"): _INTEGRAL,
    ("F32", "U32"): _INTEGRAL,
    ("F16", "I32"): [0x3800, 0x3E00, 0xC100, 0x7BFF, 0xFBFF, 0x0001, *_HSPECIAL],
    ("F16", "U32"): [0x3800, 0x3E00, 0xC100, 0x7BFF, *_HSPECIAL],
    ("BF16", "I32"): [0x3F00, 0x3FC0, 0xC020, 0x4F00, 0xCF01, 0x0001, *_BSPECIAL],
    ("BF16", "U32"): [0x3F00, 0x3FC0, 0xC020, 0x4F7F, 0x4F80, *_BSPECIAL],
    ("F64", "I32"): _DINTEGRAL,
    ("F64", "U32"): _DINTEGRAL,
}
_SIGNED = [0, 1, -1, 16777215, 16777216, 16777217, 16777219, -16777217, 2147483647, -2147483648]
_UNSIGNED = [0, 1, 16777217, 16777219, 2147483648, 4294967040, 4294967167, 4294967168, 4294967169, 4294967295]
FROM_INTEGER = {
    ("I32", "F32"): _SIGNED,
    ("U32", "F32"): _UNSIGNED,
    ("I32", "F16"): [0, -1, 2048, 2049, 2051, 65504, 65519, 65520, -65520, 2147483647],
    ("U32", "F16"): [1, 2049, 65519, 65520, 4294967295],
    ("I32", "BF16"): [0, -1, 257, 259, -2147483648, 2147483647],
    ("U32", "BF16"): [1, 257, 4278190080, 4294967295],
    ("I32", "F64"): [0, -1, 2147483647, -2147483648],
    ("U32", "F64"): [1, 4294967295],
}

_BIG = 0x4B800000  # 2^24: adding 1 to it is lost
REDUCE = [
    *(("F32", op, []) for op in ("Add", "Mul", "Min", "Max")),
    *(("F32", op, [0x40400000]) for op in ("Add", "Mul", "Min", "Max")),
    *(("F32", op, [0x40400000, 0x40000000]) for op in ("Add", "Mul", "Min", "Max")),
    *(("F32", op, [0x40400000, 0xC0000000, 0x3F000000]) for op in ("Add", "Mul", "Min", "Max")),
    ("F32", "Add", [_BIG, _ONE, _ONE]),
    ("F32", "Add", [_BIG, _ONE, _ONE, _ONE]),  # the two orders differ
    ("F32", "Add", [_BIG, _ONE, _ONE, _ONE, _ONE]),
    ("F32", "Add", [_ONE, _ONE, _ONE, _ONE, _BIG]),
    ("F32", "Mul", [0x7F000000, 0x40000000, 0x3F000000, 0x3F000000]),  # one order overflows
    ("F32", "Mul", [_TINY, 0x3F000000, 0x40000000, 0x40000000, _ONE]),
    ("F32", "Min", [_NAN, 0, _NZ, _ONE, _NAN]),
    ("F32", "Max", [_NAN, _NZ, 0, 0xBF800000, _NAN]),
    ("F32", "Add", [_NZ, _NZ, _NZ]),
    ("F32", "Add", [_INF, _ONE, _NINF]),
    ("F32", "Add", [0x3DCCCCCD] * 11),
    ("F16", "Add", [0x6800, 0x3C00, 0x3C00, 0x3C00, 0x3C00]),
    ("F16", "Mul", []),
    ("F16", "Min", []),
    ("F16", "Max", []),
    ("BF16", "Add", [0x4380, 0x3F80, 0x3F80, 0x3F80, 0x3F80]),
    ("BF16", "Mul", []),
    ("BF16", "Min", []),
    ("BF16", "Max", []),
    ("F64", "Add", [0x4340000000000000, _D1, _D1, _D1, _D1]),
    ("F64", "Mul", []),
    ("F64", "Min", []),
    ("F64", "Max", []),
    *(("F32", op, [_PAYLOAD]) for op in ("Add", "Mul", "Min", "Max")),  # one element moves, bits untouched
    *(("F32", op, [_SNAN, _PAYLOAD]) for op in ("Add", "Mul", "Min", "Max")),
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
    *(("F64", op, [_D1, _D1 + 1, last]) for op, last in (("Min", _D1 | _DNZ), ("Max", _D1 + 2))),
]

_APPROX = [_ONE, 0x3F000000, 0x40490FDB, 0x3DCCCCCD, 0x41200000, _TINY, *_SPECIAL]
APPROX = {
    "F32": _APPROX,
    "F16": [0x3C00, 0x3800, 0x4248, 0x0001, 0x0000, 0x7C00, 0x7E00],
    "BF16": [0x3F80, 0x3F00, 0x4049, 0x0001, 0x0000, 0x7F80, 0x7FC0],
}
TOLERANCE = 4
REDUCE_APPROX = [
    ("F32", "Add", []),
    ("F32", "Mul", []),
    ("F32", "Add", [_BIG, _ONE, _ONE, _ONE, _ONE]),
    ("F32", "Add", [0x3DCCCCCD] * 11),
    ("F32", "Mul", [0x3DCCCCCD] * 5),
    ("F32", "Min", [0x40400000, 0xC0000000, _ONE]),
    ("F32", "Max", [0x40400000, 0xC0000000, _ONE]),
    ("F16", "Add", [0x6800, 0x3C00, 0x3C00, 0x3C00, 0x3C00]),
]
