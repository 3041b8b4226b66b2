"""A call of a kernel from the options of a command: arrays, scalars, and what is drawn from a seed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import DispatchError, VyreError
from vyre.frontend.types import Role
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.frontend.kernel import Kernel
    from vyre.frontend.signature import Parameter
    from vyre.frontend.translation import Bound

LARGEST_DRAWN = 16
"""Of a dimension that nothing given says: more than one workgroup along an axis, and soon interpreted."""

_TRUTHS = {"true": True, "false": False, "1": True, "0": False}


def bound_call(
    kernel: Kernel, given: Mapping[str, Any], settings: Mapping[str, str], grid: Sequence[int] | None
) -> Bound:
    """Binds a call. `given` are arrays, and lengths of outputs; `settings` are scalars as text."""
    scalars = scalar_values(kernel, settings)
    dims = known_dimensions(kernel, given)
    inputs = any(p.role in (Role.In, Role.InOut) and p.name in given for p in kernel.parameters)
    for p in kernel.parameters:
        if p.name not in given and p.name not in scalars:
            _require(kernel, p, dims, inputs=inputs)
    return _bound(kernel, {**given, **scalars}, grid)


def drawn_call(
    kernel: Kernel,
    given: Mapping[str, Any],
    settings: Mapping[str, str],
    grid: Sequence[int] | None,
    *,
    seed: int,
    length: int,
) -> Bound:
    """Binds a call like one of the kernel's users: what is not given is drawn, and shapes agree."""
    from vyre.conform.diff.host_data import drawing, value_of
    from vyre.conform.generate.buffers import random_bits

    arguments = {**given, **scalar_values(kernel, settings)}
    dims = known_dimensions(kernel, given)
    for name in (d for p in kernel.parameters for d in p.shape if isinstance(d, str)):
        dims.setdefault(name, drawing(seed, f"dimension {name}").randrange(1, LARGEST_DRAWN + 1))
    inputs = any(p.role in (Role.In, Role.InOut) for p in kernel.parameters)
    for p in kernel.parameters:
        if p.name in arguments:
            continue
        shape = tuple(dims[d] if isinstance(d, str) else d for d in p.shape)
        if p.role is None:
            if p.default is None:
                arguments[p.name] = value_of(random_bits(drawing(seed, p.name), p.element), p.element)
        elif p.role is not Role.Out:
            arguments[p.name] = _drawn(p, shape or (p.count or length,), seed)
        elif shape:
            arguments[p.name] = shape
        elif not p.count and not inputs:
            arguments[p.name] = length
    return _bound(kernel, arguments, grid)


def known_dimensions(kernel: Kernel, given: Mapping[str, Any]) -> dict[str, int]:
    """The named dimensions that the given arrays, and shapes of outputs, say."""
    found: dict[str, int] = {}
    for p in kernel.parameters:
        value = given.get(p.name)
        shape = cast("Sequence[Any]", value if isinstance(value, tuple) else getattr(value, "shape", ()))
        for name, size in zip(p.shape, shape, strict=False):
            if isinstance(name, str):
                found.setdefault(name, int(size))
    return found


def scalar_values(kernel: Kernel, settings: Mapping[str, str]) -> dict[str, Any]:
    """The values of --set, each read as its parameter's type is written."""
    scalars = {p.name: p for p in kernel.parameters if p.role is None}
    for name in settings:
        if name not in scalars:
            known = f"name one of {', '.join(scalars)}." if scalars else "leave out --set."
            buffer = any(p.name == name for p in kernel.parameters)
            what = f"{name!r} is a buffer of {kernel.__name__}()" if buffer else None
            raise VyreError(
                f"{what or f'{kernel.__name__}() has no scalar {name!r}'}.",
                fix=f"pass it by --input {name}=FILE." if buffer else known,
            )
    return {name: _value(scalars[name], text) for name, text in settings.items()}


def _value(p: Parameter, text: str) -> Any:
    try:
        if p.element.is_float:
            return float(text)
        if p.element is DataType.Bool:
            return _TRUTHS[text.lower()]
        if p.element in (DataType.Vec2U32, DataType.Vec4U32):
            return tuple(int(lane, 0) for lane in text.split(","))
        return int(text, 0)
    except (KeyError, ValueError):
        raise VyreError(
            f"{text[:40]!r} is not a {p.element.value}, which {p.name!r} is.",
            fix=f"write it like --set {p.name}={_example(p)}.",
        ) from None


def _example(p: Parameter) -> str:
    if p.element.is_float:
        return "0.5"
    if p.element is DataType.Bool:
        return "true"
    return ",".join(str(k + 1) for k in range(p.element.lanes))


def _require(kernel: Kernel, p: Parameter, dims: Mapping[str, int], *, inputs: bool) -> None:
    """Refuses a call that leaves out what nothing else says."""
    match p.role:
        case None:
            if p.default is None:
                raise VyreError(
                    f"the scalar {p.name!r} of {kernel.__name__}() is missing.",
                    fix=f"pass --set {p.name}={_example(p)}, with your own value.",
                )
        case Role.Out | Role.InOut:
            if any(isinstance(d, str) and d not in dims for d in p.shape):
                sizes = [str(d) for d in p.shape]
                raise VyreError(
                    f"nothing says what the shape ({', '.join(sizes)}) of {p.name!r} is.",
                    fix=f"pass --length {p.name}={','.join(sizes)} with numbers for names, or --input"
                    f" {p.name}=FILE, an .npy file.",
                )
            if not p.shape and not p.count and not inputs:
                raise VyreError(
                    f"nothing says how long the buffer {p.name!r} is.",
                    fix=f"pass --length {p.name}=1024, or --input {p.name}=FILE.",
                )
        case _:
            access = "Uniform" if p.role is Role.Uniform else "ReadOnly"
            raise VyreError(
                f"the {access} buffer {p.name!r} is missing.",
                fix=f"pass --input {p.name}=FILE, an .npy file or raw bytes.",
            )


def _bound(kernel: Kernel, arguments: Mapping[str, Any], grid: Sequence[int] | None) -> Bound:
    try:
        return kernel.bound(arguments, grid)
    except DispatchError as error:
        if grid is None and "workgroups=" in (error.fix or ""):
            raise VyreError(error.message, fix="pass --workgroups, such as 8,8.") from None
        raise


def _drawn(p: Parameter, shape: tuple[int, ...], seed: int) -> Any:
    import numpy as np

    from vyre.backends.storage import LANES, STORAGE
    from vyre.conform.diff.host_data import drawing
    from vyre.conform.generate.buffers import random_buffer

    flat = np.frombuffer(random_buffer(drawing(seed, p.name), p.element, prod(shape)), STORAGE[p.element])
    if p.element is DataType.Bytes:
        return flat
    return flat.reshape(*shape, LANES[p.element]) if p.element in LANES else flat.reshape(shape)
