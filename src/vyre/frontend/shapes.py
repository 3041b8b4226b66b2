"""Shapes at a call: what each named dimension is, what the outputs are, and which grid covers them.

A name stands for one number in the whole call. An output that is left out has the shape that its dimensions
say; without declared ones it has that of the longest input.
"""

from __future__ import annotations

import numbers
from math import prod
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import DispatchError, counted
from vyre.frontend.followed import followed
from vyre.frontend.scalars import DIMENSION, WORKGROUPS, Scalars
from vyre.frontend.signature import OWN
from vyre.frontend.translation import GridUse
from vyre.frontend.types import Role
from vyre.ir.grid import Grid, grid_of
from vyre.ir.limits import U32_MAX
from vyre.ir.types import DataType
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.frontend.signature import Parameter
    from vyre.frontend.source import Source
    from vyre.frontend.translation import Translation
    from vyre.ir.program import Program

    Shape = tuple[int, ...]

_LANES = {DataType.Vec2U32: 2, DataType.Vec4U32: 4, DataType.U128: 4}
_OUTPUTS = (Role.Out, Role.InOut)


@dataclass(frozen=True, slots=True)
class Settled:
    """What the shapes of a call say: numbers for the kernel, lengths and shapes of outputs, the grid."""

    scalars: dict[str, int] = field(default_factory=dict[str, int])
    lengths: dict[str, int] = field(default_factory=dict[str, int])
    shapes: dict[str, Shape] = field(default_factory=dict[str, "Shape"])
    workgroups: Any = None
    extent: Shape = ()
    """Elements along each axis that the grid is there for, where it was chosen here."""


_NOTHING = Settled()


def grid_use(program: Program, found: Sequence[Parameter], scalars: Scalars, *, prints: bool) -> GridUse:
    """What a kernel with these parameters asks of each call."""
    shaped_ones = any(p.shape for p in found)
    inputs = tuple(p.name for p in found if p.role in (Role.In, Role.InOut))
    outs = tuple(p.name for p in found if p.role is Role.Out)
    read = {p.name for p in found if p.role is Role.In}
    follows = followed(program, read, {p.name for p in found if p.role in _OUTPUTS})
    settled = scalars.grid or scalars.beyond_x or scalars.asks_host or prints
    plain = not (shaped_ones or settled or follows)
    return GridUse(scalars.grid, scalars.beyond_x, plain, inputs, outs, prints, follows)


def require_grid_fits(source: Source, parameters: Sequence[Parameter], asks: GridUse) -> None:
    """Refuses coordinates that the sole output cannot have."""
    outputs = [p for p in parameters if p.role in _OUTPUTS]
    if not asks.grid or len(outputs) != 1 or len(outputs[0].shape) in (0, asks.grid):
        return
    out, rank = outputs[0], len(outputs[0].shape)
    source.fail(
        out.node,
        f"vyre.grid({asks.grid}) gives {counted(asks.grid, 'coordinate')}, and the output {out.name!r} has "
        f"{counted(rank, 'dimension')}.",
        f"write vyre.grid({rank}).",
    )


def settle(
    kernel: str,
    translation: Translation,
    given: Mapping[str, Any],
    workgroups: int | Sequence[int] | None,
) -> Settled:
    """Checks the shapes of a call. `given` holds arrays by parameter; an Out may be missing, or a shape."""
    if translation.asks.plain and _is_flat(translation.asks, given):
        return _NOTHING if workgroups is None else Settled(workgroups=workgroups)
    found = Settled()
    named: dict[str, tuple[int, str, Shape]] = {}
    known: dict[str, Shape] = {}
    buffers = [p for p in translation.parameters if p.role is not None and p.role not in OWN]
    for p in buffers:
        shape = _given_shape(kernel, p, given.get(p.name))
        if shape is None:
            continue
        known[p.name] = shape
        for wanted, size in zip(p.shape, shape, strict=False):
            if isinstance(wanted, str):
                _agree(kernel, named, wanted, size, p, shape)
    for p in buffers:
        if p.role is not Role.Out or p.name in known or given.get(p.name) is not None:
            continue
        shape = _by_rule(kernel, p, named) if p.shape else _of_longest(buffers, known, p)
        if shape is not None:
            known[p.name] = shape
    for p in buffers:
        if p.role is Role.Out and p.name in known and _is_made(given.get(p.name)):
            _make(kernel, found, p, known[p.name], declared=bool(p.shape) or given.get(p.name) is not None)
    grid, extent = _grid(kernel, translation, buffers, known, workgroups)
    for scalar in (s for scalars in translation.scalars.values() for s in scalars):
        if scalar.name.startswith(DIMENSION):
            found.scalars[scalar.name] = named[scalar.name.removeprefix(DIMENSION)][0]
        elif scalar.name.startswith(WORKGROUPS):
            found.scalars[scalar.name] = _count(kernel, translation, grid, int(scalar.name[-1]))
    return Settled(found.scalars, found.lengths, found.shapes, grid, extent)


def shaped(result: Any, shape: Shape) -> Any:
    """A result in the shape that the call gave it; nobody else has seen it yet."""
    if hasattr(result, "reshape"):
        return result.reshape(shape)
    result.shape = shape
    return result


def _is_flat(asks: GridUse, given: Mapping[str, Any]) -> bool:
    """Whether every output that the call makes has one dimension, as have all inputs then."""
    for name in asks.outs:
        out = given.get(name)
        if isinstance(out, tuple):
            return False
        if out is None and any(getattr(given[i], "ndim", 1) != 1 for i in asks.inputs):
            return False
    return True


def _is_made(value: Any) -> bool:
    return value is None or isinstance(value, tuple)


def _given_shape(kernel: str, p: Parameter, value: Any) -> Shape | None:
    """The dimensions of what is passed, without the lanes of an element; None where it has none to check."""
    if value is None:
        return None
    if p.role is Role.Out and isinstance(value, numbers.Integral) and len(p.shape) < 2:
        return (int(value),)
    if p.role is Role.Out and isinstance(value, tuple):
        shape = _asked(kernel, p, cast("tuple[Any, ...]", value))
    else:
        shape = getattr(value, "shape", None)
        if shape is None:
            if len(p.shape) > 1:
                raise DispatchError(
                    f"`{p.name}` of {kernel}() has {len(p.shape)} dimensions and got a "
                    f"{type(value).__name__}, which has no shape.",
                    fix=f"pass an array of shape ({_shown(p)}).",
                )
            return None
        shape = tuple(int(n) for n in shape)
        if p.element in _LANES:
            shape = shape[:-1]
    if p.shape and len(shape) != len(p.shape):
        raise DispatchError(
            f"`{p.name}` of {kernel}() has {counted(len(p.shape), 'dimension')} and got the shape {shape}.",
            fix=f"pass an array of shape ({_shown(p)}).",
        )
    for wanted, size in zip(p.shape, shape, strict=False):
        if isinstance(wanted, int) and wanted != size:
            raise DispatchError(
                f"`{p.name}` of {kernel}() got the shape {shape}, and {wanted} of its dimensions "
                f"({_shown(p)}) is fixed.",
                fix=f"pass an array of shape ({_shown(p)}).",
            )
    return shape


def _asked(kernel: str, p: Parameter, value: tuple[Any, ...]) -> Shape:
    whole = [int(n) for n in value if isinstance(n, numbers.Integral) and type(n).__name__ != "bool"]
    if len(whole) != len(value) or not value or min(whole) < 0 or prod(whole) > U32_MAX:
        raise DispatchError(
            f"the output {p.name!r} of {kernel}() cannot have the shape {value!r}.",
            fix="write whole numbers of 0 or more whose product is a u32, such as (2, 4).",
        )
    return tuple(whole)


def _agree(
    kernel: str,
    named: dict[str, tuple[int, str, Shape]],
    name: str,
    size: int,
    p: Parameter,
    shape: Shape,
) -> None:
    before, owner, other = named.setdefault(name, (size, p.name, shape))
    if before == size:
        return
    if owner == p.name:
        message = f"{kernel}(): both dimensions {name!r} of {p.name} must be equal, and its shape is {shape}."
    else:
        message = (
            f"{kernel}(): the dimension {name!r} is {before} in {owner}, of shape {other}, and {size} in "
            f"{p.name}, of shape {shape}."
        )
    raise DispatchError(message, fix=f"pass arrays that agree on {name!r}, or name the two differently.")


def _by_rule(kernel: str, p: Parameter, named: Mapping[str, tuple[int, str, Shape]]) -> Shape:
    unknown = [d for d in p.shape if isinstance(d, str) and d not in named]
    if unknown:
        raise DispatchError(
            f"{kernel}() cannot know the dimension {unknown[0]!r} of {p.name!r}.",
            fix=f"pass the shape: {p.name}=({_shown(p)}).",
        )
    return tuple(d if isinstance(d, int) else named[d][0] for d in p.shape)


def _of_longest(buffers: Sequence[Parameter], known: Mapping[str, Shape], out: Parameter) -> Shape | None:
    """The shape of the longest input, the first of several; None where it has one dimension or none."""
    if out.count:
        return (out.count,)
    if out.element is DataType.Bytes:
        return None
    inputs = [p for p in buffers if p.role in (Role.In, Role.InOut) and p.element is not DataType.Bytes]
    if not inputs or any(p.name not in known for p in inputs):
        return None
    return known[max(inputs, key=lambda p: prod(known[p.name])).name]


def _make(kernel: str, found: Settled, p: Parameter, shape: Shape, *, declared: bool) -> None:
    if prod(shape) > U32_MAX:
        raise DispatchError(
            f"the output {p.name!r} of {kernel}() would have the shape {shape}, more than a u32 counts.",
            fix="split the work over several calls.",
        )
    if declared:
        found.lengths[p.name] = prod(shape)
    if len(shape) > 1:
        lanes = _LANES.get(p.element)
        found.shapes[p.name] = (*shape, lanes) if lanes else shape


def _grid(
    kernel: str,
    translation: Translation,
    buffers: Sequence[Parameter],
    known: Mapping[str, Shape],
    workgroups: int | Sequence[int] | None,
) -> tuple[Any, Shape]:
    """The grid and what it covers; None and nothing where the outputs alone say it."""
    asks, size = translation.asks, translation.program.workgroup_size
    if workgroups is not None:
        return workgroups, ()
    outputs = [p for p in buffers if p.role in _OUTPUTS]
    shapes = {p.name: known[p.name] for p in outputs if p.name in known}
    if asks.grid:
        if len(shapes) < len(outputs) or len(set(shapes.values())) != 1:
            listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise DispatchError(
                f"vyre.grid in {kernel}() covers one shape, and the outputs have {listed or 'none'}.",
                fix="pass workgroups=, one to three numbers.",
            )
        shape = next(iter(shapes.values()))
        if len(shape) != asks.grid:
            raise DispatchError(
                f"vyre.grid({asks.grid}) in {kernel}() has {counted(asks.grid, 'coordinate')}, and the "
                f"output has the shape {shape}.",
                fix=f"pass an output with {counted(asks.grid, 'dimension')}, or workgroups=.",
            )
        counts = [-(-n // width) for n, width in zip(reversed(shape), size, strict=False)]
        return tuple((*counts, 1, 1)[:3]), shape[::-1]
    if asks.beyond_x:
        raise DispatchError(
            f"{kernel}() reads ids along y or z, and the default grid covers the outputs along x alone.",
            fix="pass workgroups=(x, y), or take the coordinates from vyre.grid: i, j = vyre.grid(2).",
        )
    if len(shapes) == len(outputs):
        _require_covered(kernel, asks, size[0], shapes, known)
    numbers = (s.name for scalars in translation.scalars.values() for s in scalars)
    if not asks.prints and not any(name.startswith(WORKGROUPS) for name in numbers):
        return None, ()
    if len(shapes) < len(outputs):
        raise DispatchError(
            f"{kernel}() counts its workgroups or prints, and nothing says how many there are.",
            fix="pass workgroups=.",
        )
    longest = max(prod(shape) for shape in shapes.values())
    return (-(-longest // size[0]), 1, 1), (longest,)


def _require_covered(
    kernel: str, asks: GridUse, width: int, shapes: Mapping[str, Shape], known: Mapping[str, Shape]
) -> None:
    """Refuses a default grid that sees only a part of an input, where the work follows the input."""
    covered = -(-max(map(prod, shapes.values())) // width) * width
    for name in asks.follows:
        length = prod(known[name])
        if length > covered:
            raise DispatchError(
                f"{kernel}() reads {name!r} at the invocation's id and writes its outputs elsewhere. The "
                f"default grid covers the outputs with {counted(covered, 'invocation')}, and {name!r} has "
                f"{counted(length, 'element')}: the rest would not be seen.",
                fix=f"pass workgroups={-(-length // width)}, and begin the kernel with "
                f"`if i < len({name}):`, because the last workgroup may reach past the end.",
            )


def _count(kernel: str, translation: Translation, workgroups: Any, axis: int) -> int:
    grid: Grid = grid_of(workgroups)
    if grid[axis] * translation.program.workgroup_size[axis] > U32_MAX:
        raise DispatchError(
            f"{kernel}() counts its invocations, and along {'xyz'[axis]} a u32 cannot.",
            fix="use fewer workgroups.",
        )
    return grid[axis]


def _shown(p: Parameter) -> str:
    return ", ".join(str(d) for d in p.shape)
