"""What a device must show before it gets subgroup instructions of a declared width, or packed dot products.

WGSL and OpenCL say neither how wide a subgroup is nor which invocations it is made of. `observed_width` asks
the device: in workgroups of several sizes every invocation must report the same width W and the lane that is
its local index modulo W. `working` then runs every instruction of that width on real data, in a row and in a
block, and keeps those whose results are right in all lanes. Instructions of a single invocation are tried
alone. What is left is the device's
`BackendInfo.hardware`; a program that needs more is refused.
"""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Any

from vyre.backends.kernel_cache import kept
from vyre.compose.registry import default_registry
from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.intrinsics import (
    OPENCL_EXTENSIONS,
    WGSL_ENABLE,
    WGSL_HARDWARE,
    cuda_hardware,
    wgsl_helpers,
)
from vyre.lower.packed import OPENCL_EXTENSION, PACKED, wgsl_packed
from vyre.lower.prepare import prepare
from vyre.lower.source import BASE_WORDS, Source
from vyre.reference.subgroups import exchange_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vyre.ir.op import Op

    Size = tuple[int, int, int]
    Run = Callable[[Mapping[str, memoryview], Size], None]

WIDTHS = (4, 8, 16, 32)
GROUPS = 3
ROWS: tuple[Size, ...] = ((32, 1, 1), (128, 1, 1))
"""Workgroups that are asked for their lanes; Naga gives the lane's number in rows only."""

SHAPES: tuple[Size, ...] = ((64, 1, 1), (4, 8, 2))
"""Workgroups in which the instructions are tried: a row and a block."""

_OUT = BufferDecl.read_write("out", 0, DataType.U32)
_DATA = BufferDecl.read("data", 1, DataType.U32)
_WARP = 32

_IDS = """\
@group(0) @binding(0) var<storage, read_write> b_out: array<u32>;
@group(0) @binding(1) var<uniform> hidden: array<vec4<u32>, 1>;
@compute @workgroup_size({x}, {y}, {z})
fn vyre_main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {{
  let at = 2u * ((group.x + hidden[0].x) * {count}u + index);
  b_out[at] = size;
  b_out[at + 1u] = lane;
}}
"""


def all_instructions() -> dict[str, Op]:
    """The registered instructions by hardware id."""
    return {op.hardware: op for op in default_registry() if op.hardware}


def _exchanges(width: int) -> list[Op]:
    """The instructions of subgroups of this width."""
    return [op for op in all_instructions().values() if op.hardware.startswith(f"subgroup{width}.")]


def webgpu_hardware(backend: Any, run: Callable[[Source], Run]) -> frozenset[str]:
    """The instructions that the device of a WebGPU backend was seen to have, kept for the next process.

    `run` makes a kernel of a source.
    """
    facts = backend.device.facts
    key = [backend.name, facts.device, facts.driver, facts.version, facts.toolchain, _IDS]
    key += [*wgsl_helpers(sorted(WGSL_HARDWARE)), *wgsl_packed(sorted(PACKED))]

    def examined(examine: Callable[[str, Callable[[Source], Run]], frozenset[str]]) -> frozenset[str]:
        def ask() -> bytes:
            return " ".join(sorted(examine(backend.name, run))).encode()

        try:
            return frozenset(kept("subgroups", [*key, examine.__name__], ask).decode().split())
        except VyreError:  # a device that refuses the question does not have what it asks for
            return frozenset()

    found = examined(_examine_packed)
    return found | examined(_examine_webgpu) if getattr(backend.device, "subgroups", False) else found


def _examine_packed(name: str, run: Callable[[Source], Run]) -> frozenset[str]:
    from vyre.lower.wgsl import emit

    return working(_packed(), lambda program: run(emit(prepare(program), backend=name)))


def _packed() -> list[Op]:
    return [op for op in all_instructions().values() if op.hardware in PACKED]


def _examine_webgpu(name: str, run: Callable[[Source], Run]) -> frozenset[str]:
    from vyre.lower.wgsl import emit

    width = observed_width(run)
    return working(_exchanges(width), lambda program: run(emit(prepare(program), backend=name)))


def opencl_hardware(device: Any, build: Callable[[Program], Run]) -> frozenset[str]:
    """The instructions that an OpenCL device lists the extensions for, or the warps, and was seen to have."""
    extensions = set(str(device.extensions).split())
    if "cl_nv_device_attribute_query" in extensions and int(device.warp_size_nv) == _WARP:
        own = cuda_hardware(10 * int(device.compute_capability_major_nv))
        warps = [op for op in all_instructions().values() if op.hardware in own - PACKED]
        return _tried(warps, build) | _tried(_packed() if own & PACKED else [], build)
    found = _tried(_packed(), build) if OPENCL_EXTENSION in extensions else frozenset[str]()
    if "cl_khr_subgroups" not in extensions:
        return found
    for width in WIDTHS:
        listed = [
            op for op in _exchanges(width) if OPENCL_EXTENSIONS[op.hardware.partition(".")[2]] in extensions
        ]
        found |= _tried(listed, build)
    return found


def _tried(ops: Sequence[Op], build: Callable[[Program], Run]) -> frozenset[str]:
    try:
        return working(ops, build)
    except VyreError:  # what the compiler refuses
        return frozenset()


def observed_width(run: Callable[[Source], Run], *, shapes: Sequence[Size] = ROWS) -> int:
    """The width of the device's subgroups, or 0 where it is not one, or their lanes are not consecutive."""
    widths: set[int] = set()
    for shape in shapes:
        count = prod(shape)
        x, y, z = shape
        text = WGSL_ENABLE + "\n" + _IDS.format(x=x, y=y, z=z, count=count)
        source = Source("wgsl", "vyre_main", text, shape, (_OUT,), BASE_WORDS)
        out = bytearray(8 * count * GROUPS)
        run(source)({"out": memoryview(out)}, (GROUPS, 1, 1))
        pairs = list(struct.iter_unpack("<II", out))
        width = pairs[0][0]
        if width not in WIDTHS or any(p != (width, k % width) for k, p in enumerate(pairs)):
            return 0
        widths.add(width)
    return widths.pop() if len(widths) == 1 else 0


def working(ops: Iterable[Op], build: Callable[[Program], Run]) -> frozenset[str]:
    """Those of the instructions, all of one width, whose results are right in every shape of workgroup."""
    asked = list(ops)
    good = {op.hardware for op in asked}
    if not asked:
        return frozenset()
    for shape in SHAPES:
        count = prod(shape) * GROUPS
        program = trial_program(asked, shape)
        data = trial_data(count)
        out = bytearray(4 * count * len(asked))
        views = {"out": memoryview(out), "data": memoryview(_words(data)).toreadonly()}
        build(program)(views, (GROUPS, 1, 1))
        results = memoryview(out).cast("I")
        for number, op in enumerate(asked):
            if list(results[number * count : (number + 1) * count]) != expected(op, data):
                good.discard(op.hardware)
    return frozenset(good)


def trial_program(ops: Sequence[Op], shape: Size) -> Program:
    """Each op on `data`, its results in a part of `out` of its own; invocations in linear order."""
    x, y, _ = shape
    count = prod(shape)
    linear = LocalId(0) + LocalId(1) * x + LocalId(2) * (x * y)
    total = LitU32(count * GROUPS)
    entry: list[Node] = [
        Let("i", WorkgroupId(0) * count + linear),
        Let("value", _DATA[Var("i")]),
        Let("other", _DATA[Var("i") + total]),
    ]
    for number, op in enumerate(ops):
        operands: list[Expr] = [Var("value"), Var("other")]
        entry.append(Store("out", Var("i") + number * total, Call(op.id, operands[: len(op.params)])))
    return Program([_OUT, _DATA], shape, entry)


def trial_data(count: int) -> list[int]:
    """Words that differ from lane to lane, some 0, and second operands inside and outside of every width."""
    values = [0 if k % 7 == 3 else (k * 0x9E3779B1 ^ k << 7) & 0xFFFF_FFFF for k in range(count)]
    others = [(k * 5 + k // 16) % 40 if k % 11 else 0xFFFF_FFF0 + k % 16 for k in range(count)]
    # Words of four different bytes, some of them the least and the greatest.
    others[1::3] = [(k * 0x85EB_CA6B ^ 0x8000_7FFF) & 0xFFFF_FFFF for k in range(len(others[1::3]))]
    return values + others


def expected(op: Op, data: Sequence[int]) -> list[int]:
    """What `op` gives in every lane, by definition."""
    exchange = exchange_of(op.hardware)
    assert exchange is not None, op.hardware
    count = len(data) // 2
    operands = list(zip(*(data[n * count : (n + 1) * count] for n in range(len(op.params))), strict=True))
    return [
        result
        for start in range(0, count, op.lanes)
        for result in exchange(operands[start : start + op.lanes])
    ]


def _words(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)
