"""The backend that defines the truth: the reference interpreter, slow and exact."""

from __future__ import annotations

import platform
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from vyre.backends import host_memory
from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.ir.limits import MAX_CALL_INPUT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.backends.host_memory import HostMemory
    from vyre.backends.protocol import DeviceMemory
    from vyre.ir.program import Program


@dataclass(frozen=True, slots=True)
class _Interpreted:
    program: Program

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._run(buffers, workgroups, None)

    def run_limited(
        self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int], step_limit: int
    ) -> None:
        self._run(buffers, workgroups, step_limit)

    def _run(
        self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int], step_limit: int | None
    ) -> None:
        from vyre.reference import run

        result = run(self.program, buffers, workgroups, step_limit=step_limit)
        for name, data in result.buffers.items():
            buffers[name][:] = data

    def bind(self, memories: Sequence[DeviceMemory], workgroups: tuple[int, int, int]) -> Callable[[], None]:
        # Weak, because a launch is kept longer than its memories.
        held = [weakref.ref(cast("HostMemory", memory)) for memory in memories]
        bound = [b for b in self.program.buffers if b.access.bound]

        def launch() -> None:
            views: dict[str, memoryview] = {}
            for decl, reference in zip(bound, held, strict=True):
                memory = reference()
                assert memory is not None, "a launch was called after its memory was freed"
                view = memory.array.data
                views[decl.name] = view if decl.access.writable else view.toreadonly()
            self.run(views, workgroups)

        return launch


class ReferenceBackend:
    """Runs programs in plain Python on exact integers."""

    name = "reference"

    def describe(self) -> BackendInfo:
        from importlib.metadata import version

        from vyre.backends.subgroups import all_instructions

        return BackendInfo(
            name=self.name,
            version=version("vyre"),
            device="interpreter",
            driver=f"{platform.python_implementation()} {platform.python_version()}",
            limits=BackendLimits(buffer_bytes=MAX_CALL_INPUT_BYTES),
            categories=("A", "C"),
            hardware=frozenset(all_instructions()),
        )

    def compile(self, program: Program) -> _Interpreted:
        return _Interpreted(program)

    def allocate(self, nbytes: int) -> HostMemory:
        BackendLimits(buffer_bytes=MAX_CALL_INPUT_BYTES).require_room(nbytes, self.name)
        return host_memory.allocate(nbytes)

    def borrow(self, data: memoryview) -> HostMemory:
        return host_memory.borrow(data)
