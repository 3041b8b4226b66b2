"""Wrong code out of a right emitter: the LLVM IR of a kernel, with one instruction for another.

The text is that of the `cpu` backend; it is changed before it becomes machine code. Operands at which that
shows are looked for among the op's boundaries, on both kernels; a change that shows nowhere makes no mutant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.mutants.mutant import LOWERING, Mutant
from vyre.backends.cpu.backend import CpuBackend, CpuExecutable
from vyre.backends.execute import execute
from vyre.backends.protocol import BackendInfo
from vyre.conform.generate.cases import of_words
from vyre.conform.oracle.floats.functions import FUNCTIONS
from vyre.conform.registry import primitives
from vyre.conform.registry.float_ import table
from vyre.conform.spec.float_names import short
from vyre.conform.spec.program import OUT, WORKGROUP, application
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.spec.op import OpSpec
    from vyre.ir.program import Program

_TABLE: tuple[tuple[str, str, str], ...] = (
    ("udiv to urem", r"= udiv i32", "= urem i32"),
    ("urem to udiv", r"= urem i32", "= udiv i32"),
    ("lshr to ashr", r"= lshr i32", "= ashr i32"),
    ("shl to lshr", r"= shl i32", "= lshr i32"),
    ("add to sub", r"= add i32", "= sub i32"),
    ("sub to add", r"= sub i32", "= add i32"),
    ("mul to add", r"= mul i32", "= add i32"),
    ("and to or", r"= and i32", "= or i32"),
    ("or to xor", r"= or i32", "= xor i32"),
    ("xor to or", r"= xor i32", "= or i32"),
    ("zext to sext", r"= zext i32 (%t\S*) to i64", r"= sext i32 \1 to i64"),
    ("truth sign-extended", r"= zext i1", "= sext i1"),
    ("mask of 31 to 15", r"(= and i32 %\S+), 31", r"\1, 15"),
    ("ult to slt", r"= icmp ult i32 (%t)", r"= icmp slt i32 \1"),
    ("ult to ule", r"= icmp ult i32 (%t)", r"= icmp ule i32 \1"),
    ("ugt to sgt", r"= icmp ugt i32 (%t)", r"= icmp sgt i32 \1"),
    ("ule to ult", r"= icmp ule i32 (%t)", r"= icmp ult i32 \1"),
    ("uge to ugt", r"= icmp uge i32 (%t)", r"= icmp ugt i32 \1"),
    ("eq to ne", r"= icmp eq i32 (%t\S* %t)", r"= icmp ne i32 \1"),
    ("ne to eq", r"= icmp ne i32 (%t)", r"= icmp eq i32 \1"),
    ("select of the zero divisor", r"i32 0, (i32 %t\S*)$", r"i32 -1, \1"),
    ("select arms exchanged", r"(= select i1 %\S+), (i32 %\S+), (i32 %\S+)$", r"\1, \3, \2"),
    ("ctlz undefined at 0", r"(@llvm\.ct[lt]z\.i32\(i32 %\S+), i1 false", r"\1, i1 true"),
    ("ctpop to bswap", r"llvm\.ctpop\.i32", "llvm.bswap.i32"),
    ("bitreverse to bswap", r"llvm\.bitreverse\.i32", "llvm.bswap.i32"),
    ("high half from bit 31", r"= lshr i64 (%\S+), 32", r"= lshr i64 \1, 31"),
)
"""Name, what is looked for in a line, and what is written instead.

Nothing here traps or leaves the buffers: that would end this process, and is for one that is isolated.
"""

_FLOATS: tuple[tuple[str, str, str], ...] = (
    ("fadd to fsub", r"= fadd float", "= fsub float"),
    ("fsub to fadd", r"= fsub float", "= fadd float"),
    ("fmul to fadd", r"= fmul float", "= fadd float"),
    ("fdiv to fmul", r"= fdiv float", "= fmul float"),
    ("equal to unordered or equal", r"= fcmp oeq float %x, %y", "= fcmp ueq float %x, %y"),
    ("unequal to ordered and unequal", r"= fcmp une float", "= fcmp one float"),
    ("less to unordered or less", r"= fcmp olt float", "= fcmp ult float"),
    ("greater to unordered or greater", r"= fcmp ogt float", "= fcmp ugt float"),
    ("less to at most", r"= fcmp olt float", "= fcmp ole float"),
    ("at most to unordered or at most", r"= fcmp ole float", "= fcmp ule float"),
    ("at least to unordered or at least", r"= fcmp oge float", "= fcmp uge float"),
    ("NaN to number", r"= fcmp uno float", "= fcmp ord float"),
    ("ties away from zero", r"llvm\.roundeven\.f32", "llvm.round.f32"),
    ("floor to trunc", r"llvm\.floor\.f32", "llvm.trunc.f32"),
    ("ceil to floor", r"llvm\.ceil\.f32", "llvm.floor.f32"),
    ("trunc to floor", r"llvm\.trunc\.f32", "llvm.floor.f32"),
    ("root to absolute value", r"llvm\.sqrt\.f32", "llvm.fabs.f32"),
    (
        "conversion saturates no more",
        r"call i32 @llvm\.fptosi\.sat\.i32\.f32\((float %\w+)\)",
        r"fptosi \1 to i32",
    ),
    ("unsigned conversion to signed", r"llvm\.fptoui\.sat\.i32\.f32", "llvm.fptosi.sat.i32.f32"),
    ("signed to unsigned", r"= sitofp i32", "= uitofp i32"),
    ("unsigned to signed", r"= uitofp i32", "= sitofp i32"),
    ("NaN not made canonical", r"(= select i1 %\S+), i32 2143289344, (i32 %\S+)$", r"\1, \2, \2"),
    ("canonical NaN with a sign", r"(= select i1 %\S+), i32 2143289344", r"\1, i32 -4194304"),
)
"""The same for the native float operations of F32."""


@dataclass(frozen=True)
class Rewritten:
    """The `cpu` backend with one line of its output replaced by another, everywhere."""

    pattern: str
    becomes: str
    name: str = "mutant"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a processor whose emitter is wrong")

    def compile(self, program: Program) -> CpuExecutable:
        made = right().compile(program)
        text = changed(made.source.text, self.pattern, self.becomes)
        if text == made.source.text:
            return made
        return made.rewritten(text)


@cache
def right() -> CpuBackend:
    """The backend whose text is changed."""
    return CpuBackend(threads=1, keep=4096)


def changed(text: str, pattern: str, becomes: str) -> str:
    """The lines of invocations with every match replaced; the entry that cuts up the grid stays."""
    head, entry, tail = text.partition("define void @vyre_main")
    return re.sub(pattern, becomes, head, flags=re.MULTILINE) + entry + tail


def mutants() -> Iterator[Mutant]:
    """One for each rule and op on which it makes a difference."""
    yield from _of(_TABLE, primitives())
    yield from _of(_FLOATS, [s for s in table.specs() if _is_native(s)])


def _is_native(spec: OpSpec) -> bool:
    """Whether operands and result are single words of F32, and no function takes seconds to compile."""
    types = {*spec.signature.inputs, *spec.outputs}
    words = types <= {DataType.F32, DataType.I32, DataType.U32}
    return words and spec.id.rpartition(".")[2] not in {short(op) for op in FUNCTIONS}


def _of(rules: Sequence[tuple[str, str, str]], specs: Sequence[OpSpec]) -> Iterator[Mutant]:
    for name, pattern, becomes in rules:
        for spec in specs:
            text = right().compile(application(spec).program).source.text
            if changed(text, pattern, becomes) != text:
                yield from _mutant(f"emitted {name}", spec, pattern, becomes)


def _mutant(kind: str, spec: OpSpec, pattern: str, becomes: str) -> Iterator[Mutant]:
    wrong = Rewritten(pattern, becomes)
    try:
        witness = _difference(spec, wrong)
    except Exception:  # the changed text is not a program
        return
    if witness is not None:
        words = ",".join(f"0x{w:X}" for w in witness)
        make = partial(_make, pattern, becomes)
        yield Mutant("another instruction", f"{kind.removeprefix('emitted ')} in {spec.id}", LOWERING, make,
                     f"{spec.id}/inputs/{words}")  # fmt: skip


def _make(pattern: str, becomes: str, inner: Backend) -> Rewritten:
    return Rewritten(pattern, becomes)


def _difference(spec: OpSpec, wrong: Rewritten) -> tuple[int, ...] | None:
    """The first combination of boundaries on which the two kernels differ."""
    kernel = application(spec)
    stream = of_words("boundary", spec, spec.masks, 0)
    words = stream.block(0, stream.length or 0)
    found: list[Any] = []
    for backend in (right(), wrong):
        out = np.zeros(len(words[0]), np.uint32)
        memory = {OUT: out, **{f"x{k}": w for k, w in enumerate(words)}}
        execute(backend.compile(kernel.program), kernel.program, memory, (-(-len(out) // WORKGROUP[0]), 1, 1))
        found.append(out)
    differs = found[0] != found[1]
    return tuple(int(w[np.argmax(differs)]) for w in words) if differs.any() else None
