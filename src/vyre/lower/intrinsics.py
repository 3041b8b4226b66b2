"""Hardware instructions in the target languages: one helper each, around one builtin of the language.

A helper bears the name of its op, so a call is printed like any call. Lane numbers are masked where a
language leaves larger ones undefined. WGSL and OpenCL promise no width: their text is right on devices whose
subgroups are exactly as wide as the op says and consecutive in linear local index, which a backend must know
before it runs it (`backends/subgroups.py`). Instructions of a single invocation are in `lower/packed.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.errors import UnsupportedByBackend
from vyre.lower.packed import CUDA_PRELUDE as CUDA_PACKED
from vyre.lower.packed import PACKED, opencl_packed, wgsl_packed

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from vyre.ir.op import Op
    from vyre.lower.prepare import Prepared
    from vyre.lower.source import Source

_HELPER = re.compile(r"\bintrinsic_(?:subgroup([0-9]+)|mma_\w+)_")
_WIDTHS = (4, 8, 16, 32)
_WARP = 32

_CUDA = {
    "shuffle": ("value, u32 lane", "__shfl_sync(0xffffffffu, value, (int)(lane & 31u))"),
    "shuffle_xor": ("value, u32 mask", "__shfl_xor_sync(0xffffffffu, value, (int)(mask & 31u))"),
    "shuffle_up": ("value, u32 distance", "__shfl_up_sync(0xffffffffu, value, distance & 31u)"),
    "shuffle_down": ("value, u32 distance", "__shfl_down_sync(0xffffffffu, value, distance & 31u)"),
    "ballot": ("condition", "__ballot_sync(0xffffffffu, condition != 0u)"),
    "reduce_add": ("value", "__reduce_add_sync(0xffffffffu, value)"),
    "reduce_min": ("value", "__reduce_min_sync(0xffffffffu, value)"),
    "reduce_max": ("value", "__reduce_max_sync(0xffffffffu, value)"),
    "reduce_and": ("value", "__reduce_and_sync(0xffffffffu, value)"),
    "reduce_or": ("value", "__reduce_or_sync(0xffffffffu, value)"),
    "reduce_xor": ("value", "__reduce_xor_sync(0xffffffffu, value)"),
}

_OWN = "(u32)get_sub_group_local_id()"
_OPENCL = {
    "shuffle": ("value, u32 lane", "sub_group_shuffle(value, lane & {M}u)"),
    "shuffle_xor": ("value, u32 mask", "sub_group_shuffle_xor(value, mask & {M}u)"),
    "shuffle_up": (
        "value, u32 distance",
        f"sub_group_shuffle(value, {_OWN} - ((distance & {{M}}u) <= {_OWN} ? (distance & {{M}}u) : 0u))",
    ),
    "shuffle_down": (
        "value, u32 distance",
        f"sub_group_shuffle(value, {_OWN} + ((distance & {{M}}u) <= {{M}}u - {_OWN}"
        " ? (distance & {M}u) : 0u))",
    ),
    "ballot": ("condition", "sub_group_ballot(condition != 0u).x"),
    "reduce_add": ("value", "sub_group_reduce_add(value)"),
    "reduce_min": ("value", "sub_group_reduce_min(value)"),
    "reduce_max": ("value", "sub_group_reduce_max(value)"),
    "reduce_and": ("value", "sub_group_non_uniform_reduce_and(value)"),
    "reduce_or": ("value", "sub_group_non_uniform_reduce_or(value)"),
    "reduce_xor": ("value", "sub_group_non_uniform_reduce_xor(value)"),
}

OPENCL_EXTENSIONS: Mapping[str, str] = {
    "shuffle": "cl_khr_subgroup_shuffle",
    "shuffle_xor": "cl_khr_subgroup_shuffle",
    "shuffle_up": "cl_khr_subgroup_shuffle",
    "shuffle_down": "cl_khr_subgroup_shuffle",
    "ballot": "cl_khr_subgroup_ballot",
    "reduce_add": "cl_khr_subgroups",
    "reduce_min": "cl_khr_subgroups",
    "reduce_max": "cl_khr_subgroups",
    "reduce_and": "cl_khr_subgroup_non_uniform_arithmetic",
    "reduce_or": "cl_khr_subgroup_non_uniform_arithmetic",
    "reduce_xor": "cl_khr_subgroup_non_uniform_arithmetic",
}
"""What an OpenCL device must list for each instruction, besides `cl_khr_subgroups`."""

_PTX = {
    "shuffle": "shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;",
    "shuffle_xor": "shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;",
    "shuffle_up": "shfl.sync.up.b32 %0, %1, %2, 0x0, 0xffffffff;",
    "shuffle_down": "shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;",
    "ballot": "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }",
    "reduce_add": "redux.sync.add.u32 %0, %1, 0xffffffff;",
    "reduce_min": "redux.sync.min.u32 %0, %1, 0xffffffff;",
    "reduce_max": "redux.sync.max.u32 %0, %1, 0xffffffff;",
    "reduce_and": "redux.sync.and.b32 %0, %1, 0xffffffff;",
    "reduce_or": "redux.sync.or.b32 %0, %1, 0xffffffff;",
    "reduce_xor": "redux.sync.xor.b32 %0, %1, 0xffffffff;",
}
"""The same instructions for NVIDIA's OpenCL, which has warps and inline PTX and no subgroup extension."""

# Distances and masks of WGSL's own relative shuffles must be uniform; an index need not be.
_WGSL = {
    "shuffle": ("lane: u32", "subgroupShuffle(value, lane & {M}u)"),
    "shuffle_xor": ("mask: u32", "subgroupShuffle(value, subgroup_lane ^ (mask & {M}u))"),
    "shuffle_up": (
        "distance: u32",
        "subgroupShuffle(value, subgroup_lane - "
        "select(0u, distance & {M}u, (distance & {M}u) <= subgroup_lane))",
    ),
    "shuffle_down": (
        "distance: u32",
        "subgroupShuffle(value, subgroup_lane + "
        "select(0u, distance & {M}u, (distance & {M}u) <= {M}u - subgroup_lane))",
    ),
    "ballot": ("", "subgroupBallot(value != 0u).x"),
    "reduce_add": ("", "subgroupAdd(value)"),
    "reduce_min": ("", "subgroupMin(value)"),
    "reduce_max": ("", "subgroupMax(value)"),
    "reduce_and": ("", "subgroupAnd(value)"),
    "reduce_or": ("", "subgroupOr(value)"),
    "reduce_xor": ("", "subgroupXor(value)"),
}

CUDA_HARDWARE = frozenset(f"subgroup{_WARP}.{name}" for name in _CUDA) | PACKED
OPENCL_HARDWARE = frozenset(f"subgroup{width}.{name}" for width in _WIDTHS for name in _OPENCL) | PACKED
WGSL_HARDWARE = frozenset(f"subgroup{width}.{name}" for width in _WIDTHS for name in _WGSL) | PACKED

_DOT, _REDUX = 61, 80
"""The compute capabilities from which CUDA multiplies packed bytes, and reduces over a warp, in one
instruction."""


def cuda_hardware(capability: int) -> frozenset[str]:
    """The instructions of an NVIDIA GPU of this compute capability, such as 90."""
    return frozenset(
        h for h in CUDA_HARDWARE if capability >= (_DOT if h in PACKED else _REDUX if ".reduce_" in h else 0)
    )


CUDA_PRELUDE = CUDA_PACKED + "".join(
    f"FN u32 intrinsic_subgroup{_WARP}_{name}(u32 {params}) {{ return {call}; }}\n"
    for name, (params, call) in _CUDA.items()
)
"""Helpers in CUDA C; an emitter keeps those that are used."""

WGSL_ENABLE = "enable subgroups;"
"""What stands above WGSL that uses subgroups."""


def has_collective(prepared: Prepared) -> bool:
    """Whether some statement waits for other invocations, as a barrier does."""
    return any(op.lanes > 1 for op in prepared.intrinsics.values())


def check_intrinsics(intrinsics: Mapping[str, Op], backend: str, hardware: Container[str]) -> None:
    """Raises `UnsupportedByBackend` for the first instruction that is not in `hardware`."""
    for op in intrinsics.values():
        if op.hardware not in hardware:
            raise refusal(op, backend)
    widths = sorted({op.lanes for op in intrinsics.values() if op.lanes > 1})
    if len(widths) > 1:
        shown = " and ".join(map(str, widths))
        raise UnsupportedByBackend(
            f"a program with subgroups of {shown}",
            backend,
            why="a device has one width",
            fix="use instructions of one width in a program.",
        )


def refusal(op: Op, backend: str) -> UnsupportedByBackend:
    """There is no software fallback, so the refusal names who has the instruction."""
    availability = op.backend_availability
    known = ", ".join(availability.backends) if availability is not None else "no backend"
    needs = f" where there are {availability.guarantee}" if availability and availability.guarantee else ""
    instead = "the exchange over workgroup memory" if op.lanes > 1 else "what it computes from other ops"
    return UnsupportedByBackend(
        op.id,
        backend,
        why=f"it has no instruction {op.hardware}",
        fix=f"choose a backend that has it ({known}{needs}), or compose {instead}.",
    )


def opencl_lines(prepared: Prepared) -> list[str]:
    """The extensions and helpers of the instructions that a program uses, in OpenCL C."""
    return [*opencl_packed(_used(prepared)), *_opencl_subgroups(prepared)]


def _opencl_subgroups(prepared: Prepared) -> list[str]:
    used = [_split(hardware) for hardware in _used(prepared) if hardware not in PACKED]
    if not used:
        return []
    extensions = {"cl_khr_subgroups", *(OPENCL_EXTENSIONS[name] for _, name in used)}
    lines = [f"#pragma OPENCL EXTENSION {extension} : enable" for extension in sorted(extensions)]
    for width, name in used:
        params, call = _OPENCL[name]
        body = call.format(M=width - 1)
        lines.append(f"FN u32 intrinsic_subgroup{width}_{name}(u32 {params}) {{ return {body}; }}")
    if any(width != _WARP for width, _ in used):
        return lines
    nvidia = [ptx_helper(name) for _, name in used]
    return ["#ifdef __NV_CL_C_VERSION", *nvidia, "#else", *lines, "#endif"]


def ptx_helper(name: str) -> str:
    """A helper around inline PTX, in C; nothing may move or merge what is `volatile`."""
    params, _ = _OPENCL[name]
    inputs = ", ".join(f'"r"({param.split()[-1]})' for param in f"u32 {params}".split(", "))
    asm = f'asm volatile("{_PTX[name]}" : "=r"(r) : {inputs});'
    return f"FN u32 intrinsic_subgroup{_WARP}_{name}(u32 {params}) {{ u32 r; {asm} return r; }}"


def opencl_attribute(prepared: Prepared) -> list[str]:
    """Asks for the width where a device has several."""
    width = next((op.lanes for op in prepared.intrinsics.values() if op.lanes > 1), 0)
    attribute = f"__attribute__((intel_reqd_sub_group_size({width})))"
    return ["#ifdef cl_intel_required_subgroup_size", attribute, "#endif"] if width else []


def wgsl_lines(prepared: Prepared) -> list[str]:
    """The helpers of the instructions that a program uses, and the variable they share, in WGSL."""
    used = _used(prepared)
    lane = ["var<private> subgroup_lane: u32;"] if has_collective(prepared) else []
    return [*lane, *wgsl_helpers(used), *wgsl_packed(used)]


def wgsl_helpers(hardware: Iterable[str]) -> list[str]:
    """The helpers of those of these instructions that need subgroups."""
    lines: list[str] = []
    for wanted in hardware:
        if wanted in PACKED:
            continue
        width, name = _split(wanted)
        more, call = _WGSL[name]
        params = f"value: u32, {more}" if more else "value: u32"
        body = call.format(M=width - 1)
        lines.append(f"fn intrinsic_subgroup{width}_{name}({params}) -> u32 {{ return {body}; }}")
    return lines


def wgsl_start(prepared: Prepared) -> list[str]:
    """The first statements of a WGSL kernel that uses subgroups."""
    width = next((op.lanes for op in prepared.intrinsics.values() if op.lanes > 1), 0)
    x, y, _ = prepared.workgroup_size
    linear = f"local_x + {x}u * (local_y + {y}u * local_z)"
    return [f"  subgroup_lane = ({linear}) & {width - 1}u;"] if width else []


def subgroup_width(source: Source) -> int:
    """The width that a kernel needs of the device's subgroups; 0 where it uses none."""
    found = _HELPER.search(source.text)
    return int(found[1] or _WARP) if found else 0


def _used(prepared: Prepared) -> list[str]:
    return sorted({op.hardware for op in prepared.intrinsics.values()})


def _split(hardware: str) -> tuple[int, str]:
    unit, _, name = hardware.partition(".")
    return int(unit.removeprefix("subgroup")), name
