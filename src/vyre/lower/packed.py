"""Dot products of packed bytes in the target languages: one helper each, around one builtin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNIT = "packed."

_CUDA = {"dot4_u8": "__dp4a(a, b, 0u)", "dot4_i8": "(u32)__dp4a((int)a, (int)b, 0)"}
_OPENCL = {"dot4_u8": "dot_4x8packed_uu_uint(a, b)", "dot4_i8": "(u32)dot_4x8packed_ss_int(a, b)"}
_PTX = {"dot4_u8": "dp4a.u32.u32", "dot4_i8": "dp4a.s32.s32"}
_WGSL = {"dot4_u8": "dot4U8Packed(a, b)", "dot4_i8": "bitcast<u32>(dot4I8Packed(a, b))"}

PACKED = frozenset(_UNIT + name for name in _CUDA)
"""The hardware ids, which every one of the languages can express."""

OPENCL_EXTENSION = "cl_khr_integer_dot_product"

CUDA_PRELUDE = "".join(
    f"FN u32 intrinsic_packed_{name}(u32 a, u32 b) {{ return {call}; }}\n" for name, call in _CUDA.items()
)


def wgsl_packed(hardware: Iterable[str]) -> list[str]:
    """The helpers of these instructions in WGSL."""
    return [
        f"fn intrinsic_packed_{name}(a: u32, b: u32) -> u32 {{ return {_WGSL[name]}; }}"
        for name in _names(hardware)
    ]


def opencl_packed(hardware: Iterable[str]) -> list[str]:
    """The same in OpenCL C. NVIDIA's has inline PTX and does not list the extension."""
    names = _names(hardware)
    if not names:
        return []
    head = "FN u32 intrinsic_packed_{}(u32 a, u32 b)"
    nvidia = [
        f'{head.format(name)} {{ u32 r; asm volatile("{_PTX[name]} %0, %1, %2, %3;" '
        f': "=r"(r) : "r"(a), "r"(b), "r"(0)); return r; }}'
        for name in names
    ]
    others = [f"{head.format(name)} {{ return {_OPENCL[name]}; }}" for name in names]
    enable = f"#pragma OPENCL EXTENSION {OPENCL_EXTENSION} : enable"
    return ["#ifdef __NV_CL_C_VERSION", *nvidia, "#else", enable, *others, "#endif"]


def _names(hardware: Iterable[str]) -> list[str]:
    return sorted(h.removeprefix(_UNIT) for h in hardware if h in PACKED)
