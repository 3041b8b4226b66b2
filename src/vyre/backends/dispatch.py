"""Running a program: check, inline, compile, bind the arrays, choose the grid, run.

The same steps in the same order for every backend. Nothing runs unless everything fits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.ir.buffers import BufferAccess
from vyre.ir.limits import U32_MAX
from vyre.ir.signature import V2

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.host import Bound
    from vyre.backends.protocol import Backend, Executable
    from vyre.compose.registry import Registry
    from vyre.ir.program import Program
    from vyre.ir.signature import Convention


def dispatch(
    program: Program,
    buffers: Mapping[str, Any],
    *,
    backend: str | Backend | None = None,
    workgroups: int | Sequence[int] | None = None,
    registry: Registry | None = None,
    in_place: bool = False,
    convention: Convention | None = None,
) -> dict[str, NDArray[Any]]:
    """Runs `program` and gives every ReadWrite buffer after the run, by name.

    `buffers` holds arrays by buffer name (`vyre.backends.host` says which). They are never changed:
    results are new arrays, unless `in_place` asks for the ReadWrite arrays themselves to be written.
    `workgroups` is one to three numbers; by default the grid covers the longest ReadWrite buffer
    along x. `convention` is the calling contract that the host relies on (decision 23).
    """
    compiled = compile_program(program, backend=backend, registry=registry, convention=convention)
    return compiled(buffers, workgroups=workgroups, in_place=in_place)


def compile_program(
    program: Program,
    *,
    backend: str | Backend | None = None,
    registry: Registry | None = None,
    convention: Convention | None = None,
) -> Compiled:
    """The program, validated, inlined and compiled: call it many times. Recent ones are kept."""
    if backend is None or isinstance(backend, str):
        return _compile_named(program, backend, registry, convention)
    return _compile(program, backend, registry, convention)


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
def _compile_named(
    program: Program, backend: str | None, registry: Registry | None, convention: Convention | None
) -> Compiled:
    from vyre.backends.registry import default_backend, get

    return _compile(program, get(backend or default_backend()), registry, convention)


def _compile(
    program: Program, backend: Backend, registry: Registry | None, convention: Convention | None
) -> Compiled:
    from vyre.compose.inline import inline
    from vyre.validate import check

    if convention is not None:
        _require_convention(program, backend, convention)

    # Programs that were inlined before carry the reserved names of the inliner (decision 19).
    check(program, registry=registry, allow_reserved=True)
    return Compiled(inline(program, registry), backend)


def _require_convention(program: Program, backend: Backend, convention: Convention) -> None:
    """Refuses a contract that the backend does not declare, or that the program does not keep."""
    from vyre.backends.registry import described

    name = type(convention).__name__
    if name not in described(backend).conventions:
        raise UnsupportedByBackend(f"the convention {name}", backend.name)
    if isinstance(convention, V2):
        tables = {b.binding: b for b in program.buffers if b.access is BufferAccess.ReadOnly}
        if convention.lookup_binding not in tables:
            known = ", ".join(map(str, tables)) or "no binding"
            raise DispatchError(
                f"the convention V2 has its lookup table on binding {convention.lookup_binding}, "
                "where the program has no ReadOnly buffer.",
                fix=f"declare one there; ReadOnly buffers are on {known}.",
            )
