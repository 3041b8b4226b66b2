"""The arguments of any kernel call: which array is which buffer, and the bytes of the scalars.

Plain calls are bound without this module (`binder.py`).
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.errors import DispatchError, counted
from vyre.frontend.literals import number_bits, python_float
from vyre.frontend.printing import DEBUG_WORDS
from vyre.frontend.shapes import settle
from vyre.frontend.signature import OWN
from vyre.frontend.translation import Bound, Takes
from vyre.frontend.types import Role
from vyre.frontend.values import Refused
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.frontend.signature import Parameter
    from vyre.frontend.translation import Translation


def bind_arguments(
    kernel: str,
    translation: Translation,
    arrays: tuple[Any, ...],
    named: Mapping[str, Any],
    workgroups: int | Sequence[int] | None,
) -> Bound:
    """Matches arguments with parameters as Python does: by position, then by name.

    An Out may be left out, which is what None says too, or be given as a length.
    """
    visible = visible_parameters(translation)
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
        buffers[name] = b"".join(scalar_bytes(kernel, p, n) for p, n in zip(scalars, numbers, strict=True))
    if translation.prints is not None:
        lengths[translation.prints.buffer] = DEBUG_WORDS
    return Bound(buffers, lengths, settled.shapes, settled.workgroups, settled.extent)


def takes_of(translation: Translation) -> Takes:
    """What plain calls have to know of the parameters."""
    visible = visible_parameters(translation)
    outs = [p for p in visible if p.role is Role.Out]
    return Takes(
        tuple(p.name for p in visible),
        tuple(p.name for p in visible if p.role in (Role.In, Role.InOut)),
        tuple(p.name for p in outs),
        tuple(p.name for p in outs if p.count),
        tuple(p.name for p in visible if p.role is None),
        translation.asks.plain,
        translation.prints is not None,
    )


def visible_parameters(translation: Translation) -> list[Parameter]:
    """Those that a call gives arguments for."""
    return [p for p in translation.parameters if p.role not in OWN]


def outputs_left_out(translation: Translation, given: Mapping[str, Any]) -> Translation:
    """With each InOut for which there is no array as an Out, which a call may leave out or give a length."""
    absent = {
        p.name
        for p in translation.parameters
        if p.role is Role.InOut and isinstance(given.get(p.name), int | tuple | None)
    }
    if not absent:
        return translation
    asks = translation.asks
    return replace(
        translation,
        parameters=tuple(
            replace(p, role=Role.Out) if p.name in absent else p for p in translation.parameters
        ),
        asks=replace(
            asks, inputs=tuple(n for n in asks.inputs if n not in absent), outs=(*asks.outs, *sorted(absent))
        ),
    )


def _match(
    kernel: str, visible: list[Parameter], arrays: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    known = [p.name for p in visible]
    for name in named:
        if name not in known:
            import difflib

            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise DispatchError(
                f"{kernel}() has no parameter {name!r}.", fix=f"{hint}Choose one of {', '.join(known)}."
            )
    given = dict(zip(known, arrays, strict=False))
    twice = next((name for name in given if name in named), None)
    if len(arrays) > len(known):
        problem = f"{kernel}() takes {counted(len(known), 'argument')} and got {len(arrays) + len(named)}"
    elif twice is not None:
        problem = f"{kernel}() got two values for {twice!r}, one by position and one by name"
    else:
        given = {**{p.name: p.default for p in visible if p.default is not None}, **given, **named}
        missing = [p.name for p in visible if p.role is not Role.Out and given.get(p.name) is None]
        if not missing:
            return given
        noun = "argument" if len(missing) == 1 else "arguments"
        problem = f"{kernel}() is missing the {noun} {', '.join(map(repr, missing))}"
    raise DispatchError(f"{problem}.", fix=f"write {_call(kernel, visible, arrays, named)}.")


def _call(kernel: str, visible: list[Parameter], arrays: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """The call to write. Where the arguments are as many as the inputs, they are meant for the inputs."""
    inputs = [p for p in visible if p.role is not Role.Out and p.name not in named]
    meant = {p.name: v for p, v in zip(inputs, arrays, strict=False)} if len(arrays) == len(inputs) else {}
    values = {**meant, **named}
    every = len(arrays) >= len(visible)
    shown: list[str] = []
    by_name = False
    for p in visible:
        if p.role is Role.Out and values.get(p.name) is None and not every:
            by_name = True
            continue
        text = _shown(p, values.get(p.name))
        by_name = by_name or p.name in named
        shown.append(f"{p.name}={text}" if by_name else text)
    return f"{kernel}({', '.join(shown)})"


def _shown(p: Parameter, value: Any) -> str:
    """A number as it is, and anything else by the name of its parameter."""
    return repr(value) if type(value) in (int, float, bool, tuple) else p.name


def _is_length(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _length(kernel: str, p: Parameter, value: Any) -> int:
    length = int(value)
    if isinstance(value, bool) or length < 0 or (p.count and length != p.count):
        wanted = f"exactly {p.count}" if p.count else "0 or more"
        raise DispatchError(
            f"the output {p.name!r} of {kernel}() cannot have the length {value!r}.", fix=f"use {wanted}."
        )
    return length


def _inputs(kernel: str, out: Parameter, visible: list[Parameter]) -> tuple[str, ...]:
    names = tuple(p.name for p in visible if p.role in (Role.In, Role.InOut))
    if not names:
        raise DispatchError(
            f"{kernel}() cannot know how long {out.name!r} is.", fix=f"pass its length: {out.name}=1024."
        )
    return names


def scalar_bytes(kernel: str, p: Parameter, value: Any) -> bytes:
    try:
        return _bits(p.element, value).to_bytes(p.element.stride, "little")
    except Refused as refusal:
        whole = isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)
        whole = whole and not p.element.is_float
        fix = f"pass a whole number, or annotate it {p.name}: f32." if whole else refusal.fix()
        raise DispatchError(
            f"`{p.name}` of {kernel}() is {p.element.value}: {refusal.message}", fix=fix
        ) from None


def _bits(element: DataType, value: Any) -> int:
    if element in (DataType.Vec2U32, DataType.Vec4U32):
        lanes: tuple[Any, ...] = tuple(value) if hasattr(value, "__iter__") else ()
        if len(lanes) != element.lanes:
            raise Refused(
                f"{value!r} does not have {element.lanes} lanes.", f"pass {element.lanes} integers."
            )
        return sum(_bits(DataType.U32, lane) << 32 * i for i, lane in enumerate(lanes))
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's has both names
        return number_bits(bool(value), element)
    if isinstance(value, numbers.Integral):
        return number_bits(int(value), element)
    if isinstance(value, numbers.Real):
        return number_bits(python_float(value), element)
    raise Refused(f"{value!r} is a {type(value).__name__}.", "pass a number.")
