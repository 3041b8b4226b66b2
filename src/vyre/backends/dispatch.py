"""Running a program: check, inline, compile, bind the arrays, choose the grid, run.

The same steps in the same order for every backend. Nothing runs unless everything fits. A call on device
buffers that was made before is not checked again: buffers never change their memory, type or length.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from vyre.backends.agreed import require_named, require_room, require_usable, settled
from vyre.backends.chosen import default_backend
from vyre.backends.forks import LOADING
from vyre.backends.protocol import AddressedExecutable, ResidentExecutable, able
from vyre.backends.recent import recent_of
from vyre.backends.recording import current
from vyre.backends.step_limit import Limited
from vyre.errors import DispatchError, boundary
from vyre.ir.buffers import BufferAccess
from vyre.ir.grid import grid_of, require_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.backends.agreed import Agreed
    from vyre.backends.claim import Claim
    from vyre.backends.host import Lengths
    from vyre.backends.host_plan import PreparedLaunch
    from vyre.backends.protocol import Backend, BackendInfo, BackendLimits, DeviceMemory, Executable
    from vyre.backends.recording import Recording
    from vyre.compose.registry import Registry
    from vyre.ir.grid import Grid
    from vyre.ir.outline import Outline
    from vyre.ir.program import Program
    from vyre.ir.signature import Convention

_KEPT_LAUNCHES = 64
"""Bound calls that a compiled program remembers; a chain uses a few."""


@boundary
def dispatch(
    program: Program,
    buffers: Mapping[str, Any],
    *,
    backend: str | Backend | None = None,
    workgroups: int | Sequence[int] | None = None,
    registry: Registry | None = None,
    copy: bool = False,
    convention: Convention | None = None,
    step_limit: int | None = None,
) -> dict[str, Any]:
    """Runs `program` and gives every ReadWrite buffer after the run, by name.

    `buffers` holds arrays by buffer name (`vyre.backends.host` says which), or buffers on the device
    (`vyre.backends.device_buffer`). Those that are ReadWrite are written and given back, the very objects;
    with `copy` they are left alone, and the results are new. One that is not supplied starts as zeros.
    `workgroups` is one to three numbers; by default the grid covers the longest ReadWrite buffer
    along x. `convention` is the calling contract that the host relies on; a program that does not keep it,
    and a backend that does not declare it, are refused. Without one, the simplest that the program keeps
    is taken (`vyre.ir.convention`), and only the backend is asked. With `step_limit` a run in which one
    invocation begins more turns of its loops ends in `StepLimitExceeded`; `reference` and `cpu` agree on
    whether one does, and other backends refuse it (`vyre.backends.step_limit`).
    """
    compiled = recently_compiled(program, backend, registry, convention)
    return compiled(buffers, workgroups=workgroups, copy=copy, step_limit=step_limit)


@boundary
def compile_program(
    program: Program,
    *,
    backend: str | Backend | None = None,
    registry: Registry | None = None,
    convention: Convention | None = None,
) -> Compiled:
    """The program, validated, inlined and compiled: call it many times. Recent ones are kept for a backend
    that goes by its name; an object is asked to compile each time."""
    require_usable(program, backend)
    if backend is None or isinstance(backend, str):
        return _compile_named(program, backend or default_backend(), registry, convention)
    return _compile(program, backend, registry, convention)


def recently_compiled(
    program: Program,
    backend: str | Backend | None,
    registry: Registry | None = None,
    convention: Convention | None = None,
) -> Compiled:
    """Like `compile_program`; what a backend that is an object compiled lately is not compiled again."""
    kept = None if backend is None or isinstance(backend, str) else recent_of(backend)
    if kept is None:
        return compile_program(program, backend=backend, registry=registry, convention=convention)
    return kept.result(
        (program, registry, convention),
        lambda: compile_program(program, backend=backend, registry=registry, convention=convention),
    )


class Compiled:
    """A program on one backend, ready to run."""

    __slots__ = (
        "_agreed", "_executable", "_launches", "_limits", "_name", "_names", "_outline", "_outputs", "_plain",
        "_written", "backend",
    )  # fmt: skip

    def __init__(
        self,
        outline: Outline,
        backend: Backend,
        executable: Executable,
        name: str,
        limits: BackendLimits,
        agreed: Callable[[], Agreed],
        written: frozenset[str] | None = None,
    ) -> None:
        """`agreed` gives what the steps before came to, which few calls ask for; `written` names the buffers
        that are known to be written from end to end."""
        self.backend = backend
        self._outline = outline
        self._name, self._limits = name, limits
        self._agreed = agreed
        self._executable = executable
        bound = [b for b in outline.buffers if b.access.bound]
        self._names = tuple(b.name for b in bound)
        self._outputs = tuple(b.name for b in bound if b.access is BufferAccess.ReadWrite)
        self._launches: dict[tuple[Any, ...], Callable[[], None]] = {}
        self._plain: Any = None
        if able(executable, AddressedExecutable):
            self._plain = executable.plan(outline, partial(self._prepared, executable))
        self._written = written

    @property
    def executable(self) -> Executable:
        return self._executable

    @property
    def program(self) -> Program:
        return self._agreed().program

    @property
    def info(self) -> BackendInfo:
        return self._agreed().info

    @property
    def convention(self) -> Convention | None:
        """The calling contract that was agreed on; None where the buffers are bound by name alone."""
        return self._agreed().convention

    def call(
        self,
        buffers: Mapping[str, Any],
        *,
        workgroups: int | Sequence[int] | None = None,
        copy: bool = False,
        lengths: Lengths | None = None,
        zeroed: tuple[str, ...] = (),
        step_limit: int | None = None,
    ) -> dict[str, Any]:
        """Like `dispatch`. `lengths` sizes ReadWrite buffers that are not supplied, each by a number or by
        the names of buffers of which the longest counts. `zeroed` names those that start as zeros although
        they are supplied."""
        require_named(buffers, self._names)
        if workgroups is not None and type(workgroups) is not int:
            workgroups = grid_of(workgroups)
        limited = None if step_limit is None else Limited(self._executable, self._name, step_limit)
        recording = current.get()
        if recording is not None:
            return self._recorded(recording, buffers, workgroups, copy=copy, zeroed=zeroed, limited=limited)
        plain = self._plain if limited is None else None
        if plain is not None and plain.before_buffers:
            results = plain(buffers, lengths or {}, workgroups, copy=copy, zeroed=zeroed)
            if results is not None:
                return results
            plain = None
        launch = held = None
        try:
            # Before the key, which changes first when a buffer is closed: memory stays for the whole call.
            given = [buffers[name] for name in self._names]
            held = [v if type(v) is bytes else v._claim for v in given]
            launch = self._launches[_key(buffers, given, workgroups, zeroed)]
        except (AttributeError, KeyError, TypeError):  # an array, a buffer left out, a new call
            pass
        if launch is not None and limited is None and not copy:
            launch()
            del held
            return {name: buffers[name] for name in self._outputs}
        if plain is not None:
            results = plain(buffers, lengths or {}, workgroups, copy=copy, zeroed=zeroed)
            if results is not None:
                return results
        from vyre.backends.resident import any_resident

        if any_resident(buffers):
            return self._on_device(
                buffers, workgroups, copy=copy, lengths=lengths or {}, zeroed=zeroed, limited=limited
            )
        from vyre.backends.host import bind
        from vyre.backends.host_memory import pinned

        bound = bind(self.program, buffers, lengths=lengths or {}, copy=copy, zeroed=zeroed)
        self._require_room({name: view.nbytes for name, view in bound.views.items()})
        grid = self._grid(bound.lengths, workgroups)
        pins = [pinned(view) for view in bound.views.values()]
        for name in self._uncovered(zeroed, bound.lengths, grid):
            if bound.slots[name].given is not None:
                bound.slots[name].clear()
        if all(grid):
            (self._executable if limited is None else limited).run(bound.views, grid)
        del pins
        return bound.results()

    __call__ = boundary(call)

    def short(self, names: tuple[str, ...], given: int, lengths: Lengths, zeroed: tuple[str, ...]) -> Any:
        """As in `CallPlan`."""
        return None if self._plain is None else self._plain.short(names, given, lengths, zeroed)

    def at(self, lengths: tuple[int, ...], workgroups: Grid) -> Callable[[Sequence[int]], None] | None:
        """A launch by addresses alone (`AddressedExecutable`), for who has seen that the memory fits."""
        executable = self._executable
        if not able(executable, AddressedExecutable):
            return None
        return self._prepared(executable, lengths, workgroups).run

    def _recorded(
        self,
        recording: Recording,
        buffers: Mapping[str, Any],
        workgroups: int | Grid | None,
        *,
        copy: bool,
        zeroed: tuple[str, ...],
        limited: Limited | None,
    ) -> dict[str, Any]:
        """Runs a call of a captured block, which is all on device buffers, and notes it."""
        from vyre.backends.resident import any_resident

        again = any_resident(buffers) and not copy
        recording.require(self.backend, repeatable=again, limited=limited is not None)
        return self._on_device(
            buffers, workgroups, copy=copy, lengths={}, zeroed=zeroed, limited=None, recording=recording
        )

    def _prepared(
        self, executable: AddressedExecutable, lengths: tuple[int, ...], workgroups: int | Grid | None
    ) -> PreparedLaunch:
        """The launch for plain arrays of these lengths, once everything fits."""
        from vyre.backends.host_plan import PreparedLaunch

        bound = [b for b in self._outline.buffers if b.access.bound]
        counted = {b.name: length for b, length in zip(bound, lengths, strict=True)}
        self._require_room({b.name: counted[b.name] * b.element.stride for b in bound})
        grid = self._grid(counted, workgroups)
        run = executable.at(lengths, grid) if all(grid) else _nothing_at
        return PreparedLaunch(run, frozenset(self._uncovered(self._outputs, counted, grid)))

    def _on_device(
        self,
        buffers: Mapping[str, Any],
        workgroups: int | Grid | None,
        *,
        copy: bool,
        lengths: Lengths,
        zeroed: tuple[str, ...],
        limited: Limited | None,
        recording: Recording | None = None,
    ) -> dict[str, Any]:
        from vyre.backends.resident import bind_resident, clear_all

        executable = self._executable
        # Of buffers that are open: once held, they may be closed.
        key = self._key_of(buffers, workgroups, zeroed)
        call = bind_resident(self.program, self.backend, buffers, lengths=lengths, copy=copy, zeroed=zeroed)
        try:
            if not able(executable, ResidentExecutable):
                raise DispatchError(
                    f"the backend {self.backend.name!r} does not run programs on device buffers.",
                    fix="pass arrays, such as x.numpy().",
                )
            self._require_room(call.sizes)
            grid = self._grid(call.lengths, workgroups)
            stale = [
                call.supplied[name]
                for name in self._uncovered(zeroed, call.lengths, grid)
                if name in call.supplied
            ]
            if limited is not None:
                clear_all(stale, self.backend)
                if all(grid):
                    limited.run(call.views(), grid)
                return call.results()
            if recording is not None:
                recording.require(self.backend, repeatable=call.repeatable)
            launch = executable.bind(call.memories, grid) if all(grid) else _nothing
            if stale:
                launch = partial(_launch_cleared, launch, stale, self.backend)
            launch()
            if recording is not None:
                recording.add(launch, [*call.held, *call.constants])
            if call.repeatable and key is not None:
                self._keep(launch, call.constants, key)
            return call.results()
        finally:
            call.end()

    def _uncovered(self, zeroed: tuple[str, ...], lengths: Mapping[str, int], grid: Grid) -> list[str]:
        """Of the buffers that start as zeros, those that this grid is not known to write from end to end."""
        if not zeroed:
            return []
        reach = grid[0] * self._outline.workgroup_size[0] if all(grid) else 0
        return [name for name in zeroed if name not in self.covered or lengths[name] > reach]

    @property
    def covered(self) -> frozenset[str]:
        """The buffers that a grid which reaches them writes from end to end."""
        if self._written is None:
            from vyre.obligations.written import fully_written

            self._written = fully_written(self.program)
        return self._written

    def _key_of(
        self, buffers: Mapping[str, Any], workgroups: object, zeroed: tuple[str, ...]
    ) -> tuple[Any, ...] | None:
        """The key of a call, None where it is not one that can be repeated."""
        try:
            return _key(buffers, [buffers[name] for name in self._names], workgroups, zeroed)
        except (AttributeError, KeyError):
            return None

    def _keep(self, launch: Callable[[], None], constants: list[Claim], key: tuple[Any, ...]) -> None:
        if len(self._launches) >= _KEPT_LAUNCHES:
            self._launches = {}
        self._launches[key] = partial(_launch_with, launch, constants) if constants else launch

    def _require_room(self, sizes: Mapping[str, int]) -> None:
        require_room(self._outline, self._limits, self._name, sizes)

    def _grid(self, lengths: Mapping[str, int], workgroups: int | Grid | None) -> Grid:
        size = self._outline.workgroup_size
        if workgroups is None:
            longest = max((lengths[name] for name in self._outputs), default=1)
            grid = (-(-longest // size[0]), 1, 1)
        else:
            grid = grid_of(workgroups)
        limits = self._limits
        require_grid(grid, size, self._name, per_axis=limits.workgroups_per_axis)
        return grid


def _key(
    buffers: Mapping[str, Any], given: list[Any], workgroups: object, zeroed: tuple[str, ...]
) -> tuple[Any, ...]:
    """What a call depends on: its grid, the device buffers, and `bytes`, which never change."""
    return len(buffers), workgroups, zeroed, *[v if type(v) is bytes else v._vyre_serial for v in given]


def _launch_with(launch: Callable[[], None], constants: list[Claim]) -> None:
    """A launch that has memory of its own, which is freed when the launch is forgotten."""
    launch()


def _launch_cleared(launch: Callable[[], None], stale: list[DeviceMemory], backend: Backend) -> None:
    """A launch on outputs that start as zeros. It keeps their handles and not what they hold."""
    from vyre.backends.resident import clear_all

    clear_all(stale, backend)
    launch()


def _nothing() -> None:
    """The launch of an empty grid."""


def _nothing_at(_: Sequence[int]) -> None:
    """The same, for arrays of the host."""


@lru_cache(maxsize=64)
def _compile_named(
    program: Program, backend: str, registry: Registry | None, convention: Convention | None
) -> Compiled:
    from vyre.backends.registry import get

    with LOADING:
        return _compile(program, get(backend), registry, convention)


def _compile(
    program: Program, backend: Backend, registry: Registry | None, convention: Convention | None
) -> Compiled:
    with LOADING:
        agreed = settled(program, backend, registry, convention)
        executable = backend.compile(agreed.program)
    info = agreed.info
    return Compiled(agreed.program, backend, executable, info.name, info.limits, lambda: agreed)
