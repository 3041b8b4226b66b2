"""The arrays, lengths and grid of a call from the options of a command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.files import read_array, split_binding
from vyre.errors import VyreError
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vyre.frontend.kernel import Kernel
    from vyre.ir.program import Program

_NUMBER = re.compile(r"[0-9]{1,10}")

set_option = click.option(
    "--set", "sets", multiple=True, metavar="NAME=VALUE", help="A scalar of FILE.py:KERNEL."
)


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What a compiled program is called with; `sizes` are the lengths that were given."""

    arrays: Mapping[str, Any]
    sizes: Mapping[str, int | tuple[str, ...]]
    grid: Sequence[int] | None
    extent: tuple[int, ...] | None
    """What the grid is there for, as a `Watcher` takes it."""
    shapes: Mapping[str, tuple[int, ...]]
    """Of the outputs that a kernel gives more than one dimension."""

    def lengths(self, program: Program) -> dict[str, int | tuple[str, ...]]:
        """The lengths of all outputs; refuses a program for which something was not given."""
        return _lengths(program, self.arrays, self.sizes)


def read_call(
    program: Program,
    kernel: Kernel | None,
    inputs: tuple[str, ...],
    sets: tuple[str, ...],
    sizes: tuple[str, ...],
    workgroups: str | None,
    *,
    also: Iterable[str] = (),
) -> CallOptions:
    """Reads the files that --input names; `also` are names that must be writable buffers too.

    A call of a kernel is bound as in Python: shapes agree, and dimensions and scalars have their places.
    """
    writable = [b.name for b in program.buffers if b.access is BufferAccess.ReadWrite]
    shaped = {p.name for p in kernel.parameters if len(p.shape) > 1} if kernel is not None else set[str]()
    asked = bindings("--length", sizes)
    shapes = {name: _shape(name, text) for name, text in asked.items() if name in shaped}
    lengths = {name: _count(name, text) for name, text in asked.items() if name not in shaped}
    for name in (*also, *asked):
        if name not in writable:
            raise VyreError(
                f"the program has no writable buffer {name!r}.",
                fix=f"name one of {', '.join(writable) or '(none)'}.",
            )
    grid = grid_option(workgroups)
    arrays = {name: read_array(path) for name, path in bindings("--input", inputs).items()}
    for name in asked.keys() & arrays.keys():
        raise VyreError(f"{name!r} has --length and --input.", fix="keep one of them.")
    settings = settings_of(kernel, sets)
    if kernel is None:
        return CallOptions(arrays, lengths, grid, () if grid is None else None, {})
    from vyre.cli.kernel_call import bound_call

    bound = bound_call(kernel, {**arrays, **lengths, **shapes}, settings, grid)
    extent = bound.extent if grid is None else None
    return CallOptions(bound.buffers, bound.lengths, bound.workgroups, extent, bound.shapes)


def settings_of(kernel: Kernel | None, sets: tuple[str, ...]) -> dict[str, str]:
    """The scalars that --set gives, as text. Raises `VyreError` where there is no kernel to give them to."""
    if sets and kernel is None:
        raise VyreError(
            "a program has no scalars to --set, only buffers.",
            fix="name a kernel, FILE.py:KERNEL, or pass the buffer by --input NAME=FILE.",
        )
    return bindings("--set", sets, "NAME=VALUE", "strength=0.3")


def bindings(
    option: str, given: tuple[str, ...], form: str = "NAME=FILE", example: str = "a=a.npy"
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in (split_binding(text, form, example) for text in given):
        if name in found:
            raise VyreError(f"{option} names {name!r} twice.", fix="keep one of them.")
        found[name] = value
    return found


def _count(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise VyreError(f"{text[:40]!r} is not a length for {name!r}.", fix=f"write it like {name}=1024.")
    return int(text)


def _shape(name: str, text: str) -> tuple[int, ...]:
    sizes = text.split(",")
    if not all(_NUMBER.fullmatch(size) for size in sizes):
        raise VyreError(f"{text[:40]!r} is not a shape for {name!r}.", fix=f"write it like {name}=32,64.")
    return tuple(map(int, sizes))


def _lengths(
    program: Program, arrays: Mapping[str, Any], given: Mapping[str, int | tuple[str, ...]]
) -> dict[str, int | tuple[str, ...]]:
    """The lengths of the outputs that nobody supplies: as given, as declared, or as the longest input."""
    declared = {b.name: b for b in program.buffers}
    inputs = tuple(
        name
        for name in arrays
        if name in declared and declared[name].access in (BufferAccess.ReadOnly, BufferAccess.ReadWrite)
    )
    lengths: dict[str, int | tuple[str, ...]] = {**given}
    for buffer in program.buffers:
        if not buffer.access.writable and buffer.name not in arrays:
            raise VyreError(
                f"the {buffer.access.value} buffer {buffer.name!r} is missing.",
                fix=f"pass --input {buffer.name}=FILE, an .npy file or raw bytes.",
            )
        needs = buffer.access is BufferAccess.ReadWrite and buffer.name not in arrays and not buffer.count
        if needs and inputs:
            lengths.setdefault(buffer.name, inputs)
        elif needs and buffer.name not in lengths:
            raise VyreError(
                f"nothing says how long the buffer {buffer.name!r} is.",
                fix=f"pass --length {buffer.name}=1024, or --input {buffer.name}=FILE.",
            )
    return lengths


def grid_option(option: str | None) -> tuple[int, ...] | None:
    if option is None:
        return None
    parts = option.split(",")
    if not 1 <= len(parts) <= 3 or not all(_NUMBER.fullmatch(p.strip()) for p in parts):
        raise VyreError(
            f"{option[:40]!r} is not a grid.", fix="write up to three numbers, such as 64 or 8,8,1."
        )
    return tuple(int(p) for p in parts)
