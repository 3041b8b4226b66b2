"""Generated programs as engines of one dispatch: every byte they may write is an item, with its place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.compose.inline import inline
from vyre.conform.generate.programs import ProgramOptions, generate_program
from vyre.conform.registry.engine.withheld import GENERATED
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.plan import Engine, Plan, Shape, Space, Step
from vyre.ir.buffers import BufferAccess
from vyre.ir.types import DataType
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.generate.programs import GeneratedProgram
    from vyre.ir.buffers import BufferDecl

_OPTIONS = ProgramOptions(types=(DataType.U32,))


def _array(decl: BufferDecl, data: bytes) -> Any:
    return np.frombuffer(data, np.uint8 if decl.element is DataType.Bytes else np.uint32)


def program_engine(made: GeneratedProgram, shape: Shape) -> Engine:
    """The program on its own grid; there is nothing that a shape could cut."""
    visible = [b for b in made.program.buffers if b.access.bound]
    read = {b.name: b.element for b in visible if b.access is not BufferAccess.ReadWrite}

    def plan(lengths: Mapping[str, int]) -> Plan:
        outputs: dict[str, Space] = {}
        for decl in visible:
            if decl.name not in read:
                start = _array(decl, made.inputs.get(decl.name, bytes(decl.count * decl.element.stride)))
                outputs[decl.name] = Space(decl.element, start.size, tuple(start.tolist()))
        bindings = {b.name: b.name for b in visible}
        return Plan(outputs, (Step(made.program, 1, bindings, grid=made.workgroups),))

    return Engine("program", read, plan, shape)


def _placed(outputs: Mapping[str, Any]) -> Any:
    """Every byte of every buffer, with its place above it."""
    whole = np.frombuffer(b"".join(outputs[name].tobytes() for name in sorted(outputs)), np.uint8)
    return np.arange(whole.size, dtype=np.int64) << 8 | whole


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    made = generate_program(seed, _OPTIONS)
    made = type(made)(made.seed, inline(made.program), made.inputs, made.workgroups)
    expected = run(made.program, made.inputs, made.workgroups, check=False).buffers
    arrays = {
        b.name: _array(b, made.inputs[b.name])
        for b in made.program.buffers
        if b.access.bound and b.access is not BufferAccess.ReadWrite
    }
    return EngineCase(
        partial(program_engine, made),
        arrays,
        _placed({name: np.frombuffer(data, np.uint8) for name, data in expected.items()}),
        _placed,
        work=0,
        note=f"program {seed}",
    )


SPEC = EngineSpec(
    "program",
    "generated programs, one dispatch each",
    (Inv.Deterministic, Inv.NoOutputLost, Inv.NoDuplicate, Inv.Bounded),
    _case,
    None,
    GENERATED,
)
