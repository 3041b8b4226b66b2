"""Ops and engines on a backend, through its protocol alone.

    dispatch_op(backend, spec, operands)         one case per element
    dispatch_engine(backend, engine, inputs)     all dispatches of an engine

Both rely on the convention that their programs keep, and a backend that does not declare it refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.dispatch import compile_program
from vyre.backends.storage import STORAGE
from vyre.conform.spec.program import WORKGROUP, application
from vyre.conform.spec.term import Variable
from vyre.engines.run import Runner
from vyre.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.conform.spec.op import OpSpec
    from vyre.engines.memory import Memory
    from vyre.engines.plan import Engine
    from vyre.ir.signature import Convention


def dispatch_op(
    backend: Backend,
    spec: OpSpec,
    operands: Sequence[NDArray[Any]],
    *,
    convention: Convention | None = None,
) -> tuple[NDArray[Any], ...]:
    """The results of the op on every case, in the order of its outputs."""
    if len(operands) != len(spec.signature.inputs) or len({len(x) for x in operands}) > 1:
        raise OpError(
            f"{spec.id} takes {len(spec.signature.inputs)} arrays of one length, not {len(operands)}.",
            fix="pass one array for each operand, with one element for each case.",
        )
    kernel = application(spec)
    count = len(operands[0]) if operands else 0
    buffers: dict[str, NDArray[Any]] = {}
    for entry in kernel.inputs:
        assert isinstance(entry.source, Variable)
        buffers[entry.buffer] = np.array(operands[entry.source.index], STORAGE[entry.type])
    lengths = dict.fromkeys(kernel.results, count)
    compiled = compile_program(kernel.program, backend=backend, convention=convention)
    grid = -(-count // WORKGROUP[0])
    found = compiled(buffers, workgroups=grid, lengths=lengths)
    return tuple(found[name] for name in kernel.results)


def dispatch_engine(
    backend: Backend | Runner,
    engine: Engine,
    inputs: Mapping[str, Any],
    *,
    memory: Memory | None = None,
) -> dict[str, NDArray[Any]]:
    """The outputs of the engine. A `Runner` in place of the backend keeps what it has compiled."""
    runner = backend if isinstance(backend, Runner) else Runner(backend)
    return runner.run(engine, inputs, memory=memory)
