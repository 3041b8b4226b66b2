"""What a runtime implements to run programs: one class with a name and two methods.

A backend is handed a program that is valid and holds no `Call` but those of Category C ops, of which it
emits what its hardware has and refuses the rest. It compiles it once and runs it many times. Everything
about arrays (dtypes, lengths, aliasing, zero initialisation, the grid) is settled before `run`, in one place
for all backends (decision 15).

    class Mine:
        name = "mine"
        def describe(self) -> BackendInfo: ...
        def compile(self, program: Program) -> Executable: ...

Everything else is optional. A backend, what it compiles, or its memory has an ability when it has the members
of the protocol; nothing is registered, and what is absent is done without.

    of a backend
      ResidentBackend        makes memory that stays on the device between runs
      ReservingBackend       makes such memory without filling it
      ImportingBackend       takes the device arrays of other libraries (`vyre.backends.device_buffer`)
      ReplayingBackend       launches a captured plan as one (`vyre.backends.capture`)
      ExaminedBackend        tells which canaries its device failed when it was opened
      WaysBackend            lowers float operations in a way that it is asked for
      ClosingBackend         holds something that should be given back at the end
    of a compiled program
      ResidentExecutable     runs on the memory of a ResidentBackend
      AddressedExecutable    runs on arrays by their addresses, with most settled before a call
      LimitedExecutable      ends runs whose loops take too many turns
      SourcedExecutable      shows the source that was generated
      LoweredExecutable      says which way its float operations were lowered
      AssembledExecutable    shows the machine code
    of memory
      ExportedMemory         can be used by other libraries as it is

Register the class in the entry point group `vyre.backends`; it is constructed without arguments. A
constructor that raises `ImportError` says that a package is missing, and the listing says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar, runtime_checkable

from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.ir.limits import U32_MAX
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.ir.outline import Outline
    from vyre.ir.program import Program
    from vyre.lower.ways import Ways


_P = TypeVar("_P")
_able: set[tuple[type, type]] = set()


def able(value: object, ability: type[_P]) -> TypeGuard[_P]:
    """Whether it has the members of an optional protocol.

    The same as `isinstance`, which takes ten microseconds. What was found once holds for the class, unless
    its members may be those of another object.
    """
    kind = type(value)
    if (kind, ability) in _able:
        return True
    found = isinstance(value, ability)
    if found and not hasattr(kind, "__getattr__"):
        _able.add((kind, ability))
    return found


@dataclass(frozen=True, slots=True)
class BackendLimits:
    """What a device refuses; None means no limit of its own. Checked before every run."""

    buffer_bytes: int | None = None
    buffers: int | None = None
    workgroups_per_axis: int = U32_MAX
    workgroup_invocations: int | None = None
    workgroup_size_x: int | None = None
    workgroup_size_y: int | None = None
    workgroup_size_z: int | None = None
    workgroup_bytes: int | None = None
    """Of all workgroup buffers of a program, by their declared counts."""
    uniform_bytes: int | None = None
    """Of each uniform buffer."""

    def require_room(self, nbytes: int, backend: str) -> None:
        """Raises `DispatchError`, which names the limit, for a buffer that is too large."""
        if self.buffer_bytes is not None and nbytes > self.buffer_bytes:
            raise DispatchError(
                f"the buffer takes {nbytes} bytes; the backend {backend} accepts {self.buffer_bytes} each.",
                fix="split the buffer, or choose another backend.",
            )

    def require_workgroup(self, program: Program, backend: str) -> None:
        """Raises `UnsupportedByBackend`, which names the limit, for a workgroup that is too large."""
        size = program.workgroup_size
        axes = (self.workgroup_size_x, self.workgroup_size_y, self.workgroup_size_z)
        for axis, count, most in zip("xyz", size, axes, strict=True):
            if most is not None and count > most:
                raise UnsupportedByBackend(
                    f"a workgroup of {count} invocations along {axis}",
                    backend,
                    why=f"it declares workgroup_size_{axis} = {most}",
                    fix=f"use at most {most} invocations along {axis}.",
                )
        total, limit = size[0] * size[1] * size[2], self.workgroup_invocations
        if limit is not None and total > limit:
            raise UnsupportedByBackend(
                f"a workgroup of {total} invocations",
                backend,
                why=f"it declares workgroup_invocations = {limit}",
                fix=f"use a workgroup of at most {limit} invocations.",
            )
        shared = sum(b.count * b.element.stride for b in program.buffers if b.access.shared)
        if self.workgroup_bytes is not None and shared > self.workgroup_bytes:
            raise UnsupportedByBackend(
                f"{shared} bytes of workgroup memory",
                backend,
                why=f"it declares workgroup_bytes = {self.workgroup_bytes}",
                fix="use smaller workgroup buffers.",
            )


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """The device, driver and toolchain behind a backend: what evidence must name."""

    name: str
    version: str
    device: str
    driver: str = ""
    toolchain: str = ""
    conventions: tuple[str, ...] = ("V1", "V2")
    categories: tuple[str, ...] = ("A",)
    approximate: frozenset[str] = frozenset()
    """Of the operations that are approximate by name (`FSinApprox`, `FReduceApprox`), those that this
    backend does by approximate means. Any other operation is exact, or the backend refuses it."""
    limits: BackendLimits = field(default_factory=BackendLimits)
    hardware: frozenset[str] = frozenset()
    """The hardware ids of the Category C ops that this device has; programs with others are refused."""


@runtime_checkable
class Executable(Protocol):
    """A compiled program."""

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        """Runs the grid and leaves the results in `buffers`.

        `buffers` holds the raw little-endian bytes of every storage and uniform buffer, whole
        elements each. Those of ReadWrite buffers are writable and are changed in place, the others
        are read-only. No two overlap. Every workgroup count is at least 1.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """A runtime. Further abilities are optional protocols, so that this one stays small."""

    @property
    def name(self) -> str: ...

    def describe(self) -> BackendInfo: ...

    def compile(self, program: Program) -> Executable:
        """Raises `UnsupportedByBackend` for an operation that this device cannot do exactly."""
        ...


@runtime_checkable
class DeviceMemory(Protocol):
    """Bytes on a device. Runs, reads and writes happen in the order in which they were asked for."""

    @property
    def nbytes(self) -> int: ...

    @property
    def span(self) -> tuple[object, int, int]:
        """Where it lies, to see overlaps: an address space, the first byte, and the byte after the last."""
        ...

    def read(self, target: memoryview) -> None:
        """Copies all bytes to the host, after everything that was asked for before."""
        ...

    def write(self, source: memoryview) -> None:
        """Copies all bytes from the host; `source` may be changed afterwards."""
        ...

    def copy(self, source: Any) -> None:
        """Copies all bytes from other memory of this backend, which is of the same class."""
        ...

    def free(self) -> None:
        """Gives the memory back. Called once; any thread may do it."""
        ...


@runtime_checkable
class ClearedMemory(DeviceMemory, Protocol):
    """Optional: memory that becomes zeros by itself; other memory is cleared by a copy of zeros."""

    def clear(self) -> None:
        """Makes all bytes zero, in the order of runs, reads and writes."""
        ...


@runtime_checkable
class ExportedMemory(DeviceMemory, Protocol):
    """Optional: memory of a GPU that other libraries can use as it is."""

    @property
    def stream(self) -> int:
        """The stream on which our work is queued, as CUDA numbers it."""
        ...

    @property
    def dlpack_device(self) -> tuple[int, int]: ...

    def order_before(self, stream: int | None) -> None:
        """Makes a consumer's stream, as DLPack numbers it, wait for what is queued so far."""
        ...


@runtime_checkable
class ResidentBackend(Backend, Protocol):
    """Optional: a backend whose memory can be held between runs."""

    def allocate(self, nbytes: int) -> DeviceMemory:
        """Memory of zeros; `nbytes` may be 0. Raises `DispatchError` past a limit, `DeviceOutOfMemory`."""
        ...

    def borrow(self, data: memoryview) -> DeviceMemory:
        """Memory that holds `data`, for one run; that of `data` itself where the device can use it."""
        ...


@runtime_checkable
class ReservingBackend(ResidentBackend, Protocol):
    """Optional: a backend that makes memory which holds anything, for a run that writes all of it."""

    def reserve(self, nbytes: int) -> DeviceMemory: ...


@runtime_checkable
class TogetherBackend(Backend, Protocol):
    """Optional: a backend whose compiler works on several programs at once, each in a thread of its own."""

    @property
    def compilers(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CanaryVerdict:
    """What a device failed: details by canary name. `fresh` is False for a verdict from the cache.

    `lasting` is False where a canary could not be run: the next time it may be.
    """

    failures: dict[str, str]
    fresh: bool = True
    lasting: bool = True


@runtime_checkable
class ExaminedBackend(Backend, Protocol):
    """Optional: a backend whose device is examined (`vyre.backends.canaries`)."""

    @property
    def verdict(self) -> CanaryVerdict | None:
        """None for a device that is not examined."""
        ...


@runtime_checkable
class WaysBackend(Protocol):
    """Optional: a backend that can be asked to lower float operations in a way that is not its own."""

    @property
    def name(self) -> str: ...

    @property
    def ways(self) -> Ways: ...

    def describe(self) -> BackendInfo: ...

    def compile(self, program: Program, *, ways: Ways | None = None) -> Executable: ...


@runtime_checkable
class ClosingBackend(Backend, Protocol):
    """Optional: a backend that holds something to be given back, such as a process."""

    def close(self) -> None: ...


@runtime_checkable
class ReplayingBackend(ResidentBackend, Protocol):
    """Optional: a backend that launches a whole row of launches faster than one by one."""

    def replayed(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """What calling all of them in this order does; they were made by `bind` of its own executables."""
        ...


@runtime_checkable
class ResidentExecutable(Protocol):
    """Optional: a compiled program that runs on device memory."""

    def bind(self, memories: Sequence[DeviceMemory], workgroups: tuple[int, int, int]) -> Callable[[], None]:
        """A launch that may be called again and again, as long as the memories live.

        `memories` come in the order of the program's storage and uniform buffers, whole elements each,
        and are what this backend allocated or borrowed. The launch may return before the work is done,
        and must not keep the memories alive.
        """
        ...


@runtime_checkable
class AddressedExecutable(Protocol):
    """Optional: a compiled program that runs wherever memory lies that the backend can use as it is."""

    def at(
        self, lengths: tuple[int, ...], workgroups: tuple[int, int, int]
    ) -> Callable[[Sequence[int]], None]:
        """A launch for buffers of so many elements each, which is called with their addresses.

        Both come in the order of the program's storage and uniform buffers. The memory is as `run` wants
        it, each address a multiple of 4 or of the size of an element, and stays until the launch returns.
        """
        ...

    def plan(self, program: Outline, prepare: Callable[..., Any]) -> Any:
        """Knows such memory: a `CallPlan` of `vyre.backends.host_plan`, which is tried first in a call."""
        ...


@runtime_checkable
class LimitedExecutable(Protocol):
    """Optional: a compiled program that can count the turns of its loops (`vyre.backends.step_limit`)."""

    def run_limited(
        self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int], step_limit: int
    ) -> None:
        """Like `run`. Raises `StepLimitExceeded` where an invocation begins more than `step_limit` turns."""
        ...


class SourceText(Protocol):
    """Generated source as an object that knows more than its text."""

    @property
    def text(self) -> str: ...


@runtime_checkable
class SourcedExecutable(Protocol):
    """Optional: a compiled program that shows the source that was generated for it."""

    @property
    def source(self) -> str | SourceText: ...


@runtime_checkable
class LoweredExecutable(Protocol):
    """Optional: a compiled program that says how its float operations were lowered."""

    @property
    def lowering(self) -> str:
        """`native`, `soft` or `mixed`; empty where it has none."""
        ...


@runtime_checkable
class AssembledExecutable(Protocol):
    """Optional: a compiled program that shows its machine code, for which it may compile again."""

    def assembly(self) -> str: ...
