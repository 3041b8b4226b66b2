"""Differential runs: generated programs on a backend against the reference, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.compose.inline import inline
from vyre.conform.generate.programs import GeneratedProgram, ProgramOptions
from vyre.ir.buffers import BufferAccess
from vyre.ir.types import FLOAT_TYPES, DataType
from vyre.reference import run

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.ir.program import Program

INTEGER_TYPES = tuple(t for t in DataType if t not in FLOAT_TYPES and t is not DataType.Bytes)
INTEGER_PROGRAMS = ProgramOptions(types=INTEGER_TYPES)
"""Programs of the integer track: every integer, lane and Bool type, Bytes buffers, no floats."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first buffer and element in which a backend differs from the reference."""

    seed: int
    buffer: str
    element: int
    expected: int
    actual: int

    def __str__(self) -> str:
        return (
            f"program {self.seed}: {self.buffer}[{self.element}] "
            f"is 0x{self.actual:X}, expected 0x{self.expected:X}"
        )


def compare(generated: GeneratedProgram, backend: Backend) -> Mismatch | None:
    """Runs one generated program on both; None when every ReadWrite byte agrees."""
    program = inline(generated.program)
    expected = run(program, generated.inputs, generated.workgroups, check=False).buffers
    actual = run_on(backend, program, generated)
    for decl in program.buffers:
        if decl.access is not BufferAccess.ReadWrite or expected[decl.name] == actual[decl.name]:
            continue
        stride = decl.element.stride
        for i in range(len(expected[decl.name]) // stride):
            want = int.from_bytes(expected[decl.name][i * stride : (i + 1) * stride], "little")
            got = int.from_bytes(actual[decl.name][i * stride : (i + 1) * stride], "little")
            if want != got:
                return Mismatch(generated.seed, decl.name, i, want, got)
    return None


def run_on(backend: Backend, program: Program, generated: GeneratedProgram) -> dict[str, bytes]:
    """The ReadWrite buffers after running `program`, which holds no calls, on a backend."""
    executable = backend.compile(program)
    memory: dict[str, bytearray] = {}
    views: dict[str, memoryview] = {}
    for decl in program.buffers:
        if decl.access.shared:
            continue
        given = generated.inputs.get(decl.name, bytes(decl.count * decl.element.stride))
        memory[decl.name] = bytearray(given)
        view = memoryview(memory[decl.name])
        views[decl.name] = view if decl.access.writable else view.toreadonly()
    executable.run(views, generated.workgroups)
    return {b.name: bytes(memory[b.name]) for b in program.buffers if b.access is BufferAccess.ReadWrite}
