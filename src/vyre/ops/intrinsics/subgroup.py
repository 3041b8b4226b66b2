"""`intrinsic.subgroupW.*`: exchange between the W invocations of a subgroup of declared width.

A subgroup of width W is W invocations of one workgroup that are consecutive in linear local index
(x + X * (y + Y * z)); the lane of an invocation is that index modulo W. All W lanes execute the call
together. Values are U32, so every result is exact. Lane numbers and distances count modulo W: hardware
looks at those bits only, or is given them by one mask.
"""

from __future__ import annotations

from vyre.ir.op import BackendAvailability, Category, Op, Param
from vyre.ir.types import DataType

WIDTHS = (4, 8, 16, 32)
"""Widths of real devices, up to what a ballot can answer in one U32."""

_U32 = DataType.U32
_VALUE = Param("value", _U32)

_INSTRUCTIONS: dict[str, tuple[tuple[Param, ...], str]] = {
    "shuffle": (
        (_VALUE, Param("lane", _U32)),
        "The `value` of the lane numbered `lane` modulo {W}.",
    ),
    "shuffle_xor": (
        (_VALUE, Param("mask", _U32)),
        "The `value` of the lane whose number is this one's, exclusive or `mask` modulo {W}.",
    ),
    "shuffle_up": (
        (_VALUE, Param("distance", _U32)),
        "The `value` of the lane that is `distance` modulo {W} below; the own one where there is none.",
    ),
    "shuffle_down": (
        (_VALUE, Param("distance", _U32)),
        "The `value` of the lane that is `distance` modulo {W} above; the own one where there is none.",
    ),
    "ballot": (
        (Param("condition", _U32),),
        "Bit k is 1 where the `condition` of lane k is not 0; bits from {W} on are 0.",
    ),
    "reduce_add": ((_VALUE,), "The sum of all {W} values, modulo 2^32."),
    "reduce_min": ((_VALUE,), "The least of all {W} values."),
    "reduce_max": ((_VALUE,), "The greatest of all {W} values."),
    "reduce_and": ((_VALUE,), "The bits set in all {W} values."),
    "reduce_or": ((_VALUE,), "The bits set in any of the {W} values."),
    "reduce_xor": ((_VALUE,), "The bits set in an odd number of the {W} values."),
}

NAMES = tuple(_INSTRUCTIONS)
"""What can be done among the lanes, whatever their number."""


def op_id(width: int, name: str) -> str:
    return f"intrinsic.{hardware_id(width, name)}"


def hardware_id(width: int, name: str) -> str:
    return f"subgroup{width}.{name}"


def ops() -> list[Op]:
    return [_op(width, name) for width in WIDTHS for name in NAMES]


def _op(width: int, name: str) -> Op:
    params, doc = _INSTRUCTIONS[name]
    return Op(
        op_id(width, name),
        params,
        _U32,
        None,
        category=Category.C,
        doc=doc.format(W=width),
        hardware=hardware_id(width, name),
        backend_availability=_availability(width),
        lanes=width,
    )


def _availability(width: int) -> BackendAvailability:
    """Warps of CUDA have 32 lanes; the others depend on the device."""
    backends = ("reference", "wgpu", "dawn", "opencl")
    return BackendAvailability(
        ("cuda", *backends) if width == 32 else backends,
        f"subgroups of exactly {width} invocations, consecutive in linear local index",
    )
