"""The arguments of a kernel call: which array is which buffer, and the bytes of the scalars."""

from __future__ import annotations

import difflib
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.errors import DispatchError
from vyre.frontend.literals import number_bits, python_float
from vyre.frontend.shapes import settle
from vyre.frontend.signature import OWN
from vyre.frontend.types import Role
from vyre.frontend.values import Refused
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.frontend.signature import Parameter
    from vyre.frontend.translation import Translation


@dataclass(frozen=True, slots=True)
class Bound:
    """Arrays by buffer name, and lengths of the outputs that were left out: numbers, or the inputs of which
    the longest says it."""

    buffers: Mapping[str, Any]
    lengths: Mapping[str, int | tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    """Of outputs that the call makes, where they have more than one dimension."""
    workgroups: Any


def bind_arguments(
    kernel: str,
    translation: Translation,
    arrays: tuple[Any, ...],
    named: Mapping[str, Any],
    workgroups: int | Sequence[int] | None,
) -> Bound:
    """Matches arguments with parameters.

    Positional arguments go to all parameters but Out when that count fits, else to all in order.
    """
    visible = [p for p in translation.parameters if p.role not in OWN]
    given = _match(kernel, visible, arrays, named)
    settled = settle(kernel, translation, given, workgroups)
    buffers: dict[str, Any] = {}
    lengths: dict[str, int | tuple[str, ...]] = {}
    for p in visible:
        value = given.get(p.name)
        if p.role is None:
            continue
        if p.name in settled.lengths:
            lengths[p.name] = settled.lengths[p.name]
        elif p.role is Role.Out and (value is None or _is_length(value)):
            if value is not None:
                lengths[p.name] = _length(kernel, p, value)
            elif not p.count:
                lengths[p.name] = _inputs(kernel, p, visible)
        else:
            buffers[p.name] = value
    for name, scalars in translation.scalars.items():
        numbers = (settled.scalars.get(p.name, given.get(p.name)) for p in scalars)
        buffers[name] = b"".join(_scalar(kernel, p, n) for p, n in zip(scalars, numbers, strict=True))
    return Bound(buffers, lengths, settled.shapes, settled.workgroups)


def _match(
    kernel: str, visible: list[Parameter], arrays: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    known = [p.name for p in visible]
    for name in named:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise DispatchError(
                f"{kernel}() has no parameter {name!r}.", fix=f"{hint}It has {', '.join(known)}."
            )
    open_ones = [p for p in visible if p.name not in named]
    inputs = [p for p in open_ones if p.role is not Role.Out]
    targets = inputs if len(arrays) == len(inputs) else open_ones
    if len(arrays) > len(targets):
        raise DispatchError(
            f"{kernel}() takes {len(targets)} positional arguments and got {len(arrays)}.",
            fix=f"pass {', '.join(p.name for p in open_ones)}.",
        )
    given = {**{p.name: a for p, a in zip(targets, arrays, strict=False)}, **named}
    missing = [p.name for p in visible if p.role is not Role.Out and given.get(p.name) is None]
    if missing:
        raise DispatchError(
            f"{kernel}() got nothing for {', '.join(missing)}.", fix=f"pass {missing[0]}, or {missing[0]}=…."
        )
    return given


def _is_length(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _length(kernel: str, p: Parameter, value: Any) -> int:
    length = int(value)
    if isinstance(value, bool) or length < 0 or (p.count and length != p.count):
        wanted = f"exactly {p.count}" if p.count else "0 or more"
        raise DispatchError(
            f"{value!r} is no length of the output {p.name!r} of {kernel}().", fix=f"use {wanted}."
        )
    return length


def _inputs(kernel: str, out: Parameter, visible: list[Parameter]) -> tuple[str, ...]:
    names = tuple(p.name for p in visible if p.role in (Role.In, Role.InOut))
    if not names:
        raise DispatchError(
            f"{kernel}() cannot know how long {out.name!r} is.", fix=f"pass its length: {out.name}=1024."
        )
    return names


def _scalar(kernel: str, p: Parameter, value: Any) -> bytes:
    try:
        return _bits(p.element, value).to_bytes(p.element.stride, "little")
    except Refused as refusal:
        raise DispatchError(
            f"`{p.name}` of {kernel}() is {p.element.value}: {refusal.message}", fix=refusal.fix
        ) from None


def _bits(element: DataType, value: Any) -> int:
    if element in (DataType.Vec2U32, DataType.Vec4U32):
        lanes: tuple[Any, ...] = tuple(value) if hasattr(value, "__iter__") else ()
        if len(lanes) != element.lanes:
            raise Refused(f"{value!r} has not {element.lanes} lanes.", f"pass {element.lanes} integers.")
        return sum(_bits(DataType.U32, lane) << 32 * i for i, lane in enumerate(lanes))
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's has both names
        return number_bits(bool(value), element)
    if isinstance(value, numbers.Integral):
        return number_bits(int(value), element)
    if isinstance(value, numbers.Real):
        return number_bits(python_float(value), element)
    raise Refused(f"{value!r} is a {type(value).__name__}.", "pass a number.")
