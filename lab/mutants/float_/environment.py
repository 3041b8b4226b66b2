"""A processor whose floating-point state is not the default: subnormals flushed, another rounding mode.

The kernels are those of the `cpu` backend, right in every instruction; its entry loads another control word,
as a library in the same process does, or a driver with its fast mode on. For x86; elsewhere there is none.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lab.mutants.emitted import right
from lab.mutants.float_ import doubles
from lab.mutants.float_.format import F32
from lab.mutants.mutant import RUNTIME, Mutant
from vyre.backends.protocol import BackendInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.cpu.backend import CpuExecutable
    from vyre.backends.protocol import Backend
    from vyre.ir.program import Program

_DEFAULT = 0x1F80
_FLUSH_RESULTS, _FLUSH_OPERANDS, _DOWN, _UP = 0x8000, 0x0040, 0x2000, 0x4000

_OPENING = "@vyre_main(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch) #0 {\nentry:\n"
_LOADED = """\
  %state = alloca i32, align 4
  store i32 {word}, ptr %state, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %state)
"""
"""Declared by the entry that puts the state in order, which every kernel with native floats has."""


@dataclass(frozen=True)
class OtherState:
    """The `cpu` backend under a control word with more bits set."""

    bits: int
    name: str = "mutant"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a processor in another floating-point state")

    def compile(self, program: Program) -> CpuExecutable:
        made = right().compile(program)
        head, opening, body = made.source.text.partition(_OPENING)
        if not opening or "@native_" not in head:
            return made
        text = head + opening + _LOADED.format(word=_DEFAULT | self.bits) + body
        return made.rewritten(text)


def _make(bits: int, inner: Backend) -> OtherState:
    return OtherState(bits)


def mutants() -> Iterator[Mutant]:
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    flushed, mode = "subnormals flushed by the processor's state", "rounding mode of the processor's state"
    for kind, where, bits, op, words in _STATES:
        case = f"float.{op}/inputs/{','.join(f'0x{w:X}' for w in words)}"
        yield Mutant(flushed if kind else mode, where, RUNTIME, partial(_make, bits), case)
    both = partial(_make, _FLUSH_OPERANDS | _FLUSH_RESULTS)
    for case in ("canaries/float products", "probe/FMul F32"):
        yield Mutant(flushed, f"both, by the {case.partition('/')[0]}", RUNTIME, both, case)


_STATES: tuple[tuple[bool, str, int, str, tuple[int, ...]], ...] = (
    (True, "results", _FLUSH_RESULTS, "mul", F32.words("least", 0.5)),
    (True, "operands", _FLUSH_OPERANDS, "add", F32.words("tiny", "zero")),
    (True, "both", _FLUSH_RESULTS | _FLUSH_OPERANDS, "sub", F32.words("least", "tiny")),
    (True, "results of F64", _FLUSH_RESULTS, "f64.mul", doubles.words(2.0**-1022, 0.5)),
    (True, "operands of F64", _FLUSH_OPERANDS, "f64.add", doubles.words(2.0**-1074, 0.0)),
    (False, "down", _DOWN, "add", F32.words("one", "-one")),
    (False, "up", _UP, "div", F32.words(5.0, 3.0)),
    (False, "toward zero", _DOWN | _UP, "sqrt", F32.words(5.0)),
    (False, "up, of F64", _UP, "f64.div", doubles.words(1.0, 3.0)),
)
