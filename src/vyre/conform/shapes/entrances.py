"""The way into a backend that a case takes, wherever the backend lives.

offered(backend, executable)                 the entrances that there are
performed(backend, executable, case)         what each run of the case left, and in which memory
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.process.entrances import Asked
from vyre.conform.process.held import held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.process.entrances import Performed
    from vyre.conform.shapes.build import Case


def offered(backend: Backend, executable: Executable) -> frozenset[str]:
    """The entrances that this backend has for this program."""
    return held(backend).offered(executable)


def performed(backend: Backend, executable: Executable, case: Case) -> Sequence[Performed]:
    """The results of every run of the case, by its entrance and in its pattern."""
    memories = [memory.inputs for memory in case.memories]
    asked = Asked(case.program, memories, case.workgroups, case.entrance, case.dispatch, case.order)
    return held(backend).performed(executable, asked)
