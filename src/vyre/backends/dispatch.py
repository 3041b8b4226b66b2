"""Running a program: check, inline, compile, bind the arrays, choose the grid, run.

The same steps in the same order for every backend. Nothing runs unless everything fits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import DispatchError
from vyre.ir.buffers import BufferAccess
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.host import Bound
    from vyre.backends.protocol import Backend, Executable
    from vyre.compose.registry import Registry
    from vyre.ir.program import Program


def dispatch(
    program: Program,
    buffers: Mapping[str, Any],
    *,
    backend: str | Backend | None = None,
    workgroups: int | Sequence[int] | None = None,
    registry: Registry | None = None,
    in_place: bool = False,
) -> dict[str, NDArray[Any]]:
    """Runs `program` and gives every ReadWrite buffer after the run, by name.

    `buffers` holds arrays by buffer name (`vyre.backends.host` says which). They are never changed:
    results are new arrays, unless `in_place` asks for the ReadWrite arrays themselves to be written.
    `workgroups` is one to three numbers; by default the grid covers the longest ReadWrite buffer
    along x.
    """
    compiled = compile_program(program, backend=backend, registry=registry)
    return compiled(buffers, workgroups=workgroups, in_place=in_place)


def compile_program(
    program: Program, *, backend: str | Backend | None = None, registry: Registry | None = None
) -> Compiled:
    """The program, validated, inlined and compiled: call it many times. Recent ones are kept."""
    if backend is None or isinstance(backend, str):
        return _compile_named(program, backend, registry)
    return _compile(program, backend, registry)


class Compiled:
    """A program on one backend, ready to run."""

    __slots__ = ("_executable", "backend", "info", "program")

    def __init__(self, program: Program, backend: Backend) -> None:
        from vyre.backends.registry import described

        self.program = program
        self.backend = backend
        self.info = described(backend)
        self._executable: Executable = backend.compile(program)

    def __call__(
        self,
        buffers: Mapping[str, Any],
        *,
        workgroups: int | Sequence[int] | None = None,
        in_place: bool = False,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Like `dispatch`. `lengths` sizes ReadWrite buffers that are not supplied."""
        from vyre.backends.host import bind

        bound = bind(self.program, buffers, lengths=lengths or {}, in_place=in_place)
        self._require_room(bound)
        grid = self._grid(bound, workgroups)
        if all(grid):
            self._executable.run(bound.views, grid)
        return bound.results()

    def _require_room(self, bound: Bound) -> None:
        limits = self.info.limits
        for name, view in bound.views.items():
            if limits.buffer_bytes is not None and view.nbytes > limits.buffer_bytes:
                raise DispatchError(
                    f"buffer {name!r} takes {view.nbytes} bytes; the backend {self.info.name} accepts "
                    f"{limits.buffer_bytes} per buffer.",
                    fix="split the buffer, or choose another backend.",
                )
        if limits.buffers is not None and len(bound.views) > limits.buffers:
            raise DispatchError(
                f"{len(bound.views)} buffers are bound; the backend {self.info.name} accepts "
                f"{limits.buffers}.",
                fix="pack several buffers into one, or choose another backend.",
            )

    def _grid(self, bound: Bound, workgroups: int | Sequence[int] | None) -> tuple[int, int, int]:
        size = self.program.workgroup_size
        if workgroups is None:
            lengths = [
                bound.lengths[b.name] for b in self.program.buffers if b.access is BufferAccess.ReadWrite
            ]
            grid = (-(-max(lengths, default=1) // size[0]), 1, 1)
        else:
            grid = _grid_of(workgroups)
        for axis, count in zip("xyz", grid, strict=True):
            limit = self.info.limits.workgroups_per_axis
            if count > limit:
                raise DispatchError(
                    f"{count} workgroups along {axis}; the backend {self.info.name} accepts {limit}.",
                    fix="spread the grid over two axes, or choose another backend.",
                )
            if count * size["xyz".index(axis)] > U32_MAX + 1:
                raise DispatchError(
                    f"{count} workgroups along {axis} need invocation ids beyond a u32.",
                    fix="use fewer workgroups, or spread the grid over two axes.",
                )
        return grid


def _grid_of(workgroups: object) -> tuple[int, int, int]:
    given = cast("tuple[Any, ...]", workgroups if isinstance(workgroups, (list, tuple)) else (workgroups,))
    try:
        counts = tuple(n.__index__() for n in given)
    except AttributeError:
        counts = ()
    if not 1 <= len(counts) <= 3 or any(n < 0 for n in counts):
        raise DispatchError(
            f"{workgroups!r} is not a grid.",
            fix="pass workgroups= as one to three counts of 0 or more, such as 64 or (8, 8).",
        )
    x, y, z = (*counts, 1, 1)[:3]
    return x, y, z


@lru_cache(maxsize=64)
def _compile_named(program: Program, backend: str | None, registry: Registry | None) -> Compiled:
    from vyre.backends.registry import default_backend, get

    return _compile(program, get(backend or default_backend()), registry)


def _compile(program: Program, backend: Backend, registry: Registry | None) -> Compiled:
    from vyre.compose.inline import inline
    from vyre.validate import check

    # Programs that were inlined before carry the reserved names of the inliner (decision 19).
    check(program, registry=registry, allow_reserved=True)
    return Compiled(inline(program, registry), backend)
