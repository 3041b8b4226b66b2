"""Operands of the operators of one float."""

from __future__ import annotations

from lab.golden.inputs.values import BSPECIAL, D1, DNZ, DSPECIAL, HSPECIAL, MAX, NORMAL, ONE, SPECIAL, TINY

_SIGNS = [ONE, 0xBF800000, TINY, 0x80000001, MAX]
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
    TINY,
    0x80000001,
    0xBF7FFFFF,
    MAX,
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
    ONE,
    0xBF800000,
    0x3F000000,
    0x40490FDB,
    0x3FC90FDB,
    0x42C80000,
    0x501502F9,
    MAX,
    TINY,
    0x807FFFFF,
    0x39800000,
    0x4B000001,
]
_ARC = [
    ONE,
    0xBF800000,
    0x3F000000,
    0xBF000000,
    0x3F800001,
    0x3F7FFFFF,
    TINY,
    0x807FFFFF,
    0x39800000,
    0x3F3504F3,
]
_EXPS = [
    ONE,
    0xBF800000,
    0x3F000000,
    0x40000000,
    0xC0000000,
    0x33000000,
    0xB3000000,
    TINY,
    0x42000000,
    0xC2000000,
]
_LOGS = [
    ONE,
    0x40000000,
    0x3F000000,
    0x41200000,
    0x42C80000,
    0x402DF854,
    0xBF800000,
    TINY,
    NORMAL,
    MAX,
    0x3F7FFFFF,
    0x3F800001,
]

_GATES = [0x33000000, 0xB2FFFFFF, 0x39800000, 0xB97FFFFF, 0x3A000000]
"""Near 2^-25, 2^-12 and 2^-11: below some of them a function is its argument, or 1."""


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
        **dict.fromkeys(("FErf", "FTanh", "FSinh", "FCosh", "FExpm1"), exps),
        "FLog1p": [*logs, one - 1 | sign],
        "FCbrt": circle,
    }


_ROUNDINGS = ("FFloor", "FCeil", "FRound", "FTrunc")
UNARY = {
    "F32": {
        "FNeg": _SIGNS + SPECIAL,
        "FAbs": _SIGNS + SPECIAL,
        "FSqrt": [
            0x40800000,
            0x40000000,
            0x40400000,
            ONE + 1,
            0x3F7FFFFF,
            TINY,
            0x007FFFFF,
            MAX,
            0xBF800000,
            *SPECIAL,
        ],
        "FIsNaN": _SIGNS + SPECIAL,
        "FIsInf": _SIGNS + SPECIAL,
        **dict.fromkeys(_ROUNDINGS, _WHOLE + SPECIAL),
        "FSin": _CIRCLE + SPECIAL,
        "FCos": _CIRCLE + SPECIAL,
        "FTan": _CIRCLE + SPECIAL,
        "FASin": _ARC + SPECIAL,
        "FACos": _ARC + SPECIAL,
        "FATan": _CIRCLE + SPECIAL,
        "FExp": [*_EXPS, 0x42B17217, 0x42B17218, 0xC2AEAC50, 0xC2CFF1B4, 0xC2CFF1B5, *SPECIAL],
        "FLog": _LOGS + SPECIAL,
        "FExp2": [*_EXPS, 0x42FFFFFF, 0x43000000, 0xC2FC0000, 0xC3150000, 0xC3160000, 0xC3160001, *SPECIAL],
        "FLog2": _LOGS + SPECIAL,
        "FExp10": [*_EXPS, 0x421A209A, 0x421A209B, 0xC23369F4, 0xC2349E35, 0xC234A000, 0x40400000, *SPECIAL],
        "FLog10": _LOGS + SPECIAL,
        "FErf": [*_EXPS, *_GATES, 0x407AD445, 0x407AD446, 0x40800000, *SPECIAL],
        "FTanh": [*_EXPS, *_GATES, 0x41102CB3, 0x41102CB4, 0x41800000, *SPECIAL],
        "FSinh": [*_EXPS, *_GATES, 0x42B2D4FC, 0x42B2D4FD, 0xC2B2D4FD, *SPECIAL],
        "FCosh": [*_EXPS, *_GATES, 0x42B2D4FC, 0x42B2D4FD, 0xC2B2D4FD, *SPECIAL],
        "FExpm1": [*_EXPS, *_GATES, 0x42B17217, 0x42B17218, 0xC18AA122, 0xC18AA123, *SPECIAL],
        "FLog1p": [*_LOGS, *_GATES, 0xBF7FFFFF, 0xBF800001, *SPECIAL],
        "FCbrt": [*_CIRCLE, 0x41000000, 0xC1D80000, 0x3E000000, 0x4B7FFFFF, *SPECIAL],
    },
    "F16": {
        "FNeg": [0x3C00, 0xBC00, 0x0001, 0x8001, *HSPECIAL],
        "FAbs": [0x3C00, 0xBC00, 0x0001, 0x8001, *HSPECIAL],
        "FSqrt": [0x4400, 0x4000, 0x3C01, 0x0001, 0x7BFF, 0xBC00, *HSPECIAL],
        "FIsNaN": [0x3C00, 0x0001, *HSPECIAL],
        "FIsInf": [0x3C00, 0x7BFF, *HSPECIAL],
        **dict.fromkeys(_ROUNDINGS, _HWHOLE + HSPECIAL),
        **_small(0x3C00, 0x3800, 0x4000, HSPECIAL, 0x7BFF, 0x8000),
    },
    "BF16": {
        "FNeg": [0x3F80, 0xBF80, 0x0001, 0x8001, *BSPECIAL],
        "FAbs": [0x3F80, 0xBF80, 0x0001, 0x8001, *BSPECIAL],
        "FSqrt": [0x4080, 0x4000, 0x3F81, 0x0001, 0x7F7F, 0xBF80, *BSPECIAL],
        "FIsNaN": [0x3F80, 0x0001, *BSPECIAL],
        "FIsInf": [0x3F80, 0x7F7F, *BSPECIAL],
        **dict.fromkeys(_ROUNDINGS, _BWHOLE + BSPECIAL),
        **_small(0x3F80, 0x3F00, 0x4000, BSPECIAL, 0x7F7F, 0x8000),
    },
    "F64": {
        "FNeg": [D1, 1, *DSPECIAL],
        "FAbs": [D1 | DNZ, DNZ + 1, *DSPECIAL],
        "FSqrt": [0x4000000000000000, 0x4008000000000000, 1, 0x7FEFFFFFFFFFFFFF, D1 | DNZ, *DSPECIAL],
        "FIsNaN": [D1, *DSPECIAL],
        "FIsInf": [D1, *DSPECIAL],
        **dict.fromkeys(_ROUNDINGS, _DWHOLE + DSPECIAL),
    },
}
