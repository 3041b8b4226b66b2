"""The backend that defines the truth: the reference interpreter, slow and exact."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.compose.registry import Registry
from vyre.ir.limits import MAX_CALL_INPUT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program


@dataclass(frozen=True, slots=True)
class _Interpreted:
    program: Program

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        from vyre.reference import run

        result = run(self.program, buffers, workgroups, registry=Registry())
        for name, data in result.buffers.items():
            buffers[name][:] = data


class ReferenceBackend:
    """Runs programs in plain Python on exact integers."""

    name = "reference"

    def describe(self) -> BackendInfo:
        from importlib.metadata import version

        return BackendInfo(
            name=self.name,
            version=version("vyre"),
            device="interpreter",
            driver=f"{platform.python_implementation()} {platform.python_version()}",
            limits=BackendLimits(buffer_bytes=MAX_CALL_INPUT_BYTES),
        )

    def compile(self, program: Program) -> _Interpreted:
        return _Interpreted(program)
