"""Kernels as machine code: LLVM IR text to a function that can be called, or to what a reader wants to see.

`cpu` names the processor that the code is for (`cpu_llvm.CPUS`); by default it is this one, with all it has.

The optimised module becomes an object file first, which is then loaded: compiled code is bytes that can be
kept.

A kernel with native floats is entered through a function that puts the thread's floating-point state into
its default, to nearest with subnormals kept and nothing trapped, and puts back what it found at the end: the
state is per thread, and other libraries change it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.cpu.effort import EFFORTS, STREAMING, refuse_giants
from vyre.backends.cpu.llvm import (
    ASSEMBLY,
    HOST,
    NEAR,
    OBJECT,
    LlvmRejection,
    refuse_foreign,
    toolchain,
)
from vyre.backends.cpu.loading import MachineCode
from vyre.backends.cpu.translator import translator
from vyre.backends.kernel_cache import kept, key_of
from vyre.errors import SourceRejected
from vyre.lower.ways import LLVM_F16_WAYS, LLVM_WAYS, SOFT

if TYPE_CHECKING:
    from vyre.lower.llvm import LlvmSource
    from vyre.lower.ways import Ways

GUARDED_ENTRY = "vyre_guarded"

_X86_STATE = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @vyre_guarded(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch) nounwind {
  %found = alloca i32, align 4
  %default = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %found)
  store i32 8064, ptr %default, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %default)
  call void @vyre_main(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch)
  call void @llvm.x86.sse.ldmxcsr(ptr %found)
  ret void
}
"""
_ARM_STATE = """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define void @vyre_guarded(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch) nounwind {
  %found = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  call void @vyre_main(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch)
  call void @llvm.aarch64.set.fpcr(i64 %found)
  ret void
}
"""
_STATES = {"x86_64": _X86_STATE, "aarch64": _ARM_STATE, "arm64": _ARM_STATE}
"""Per architecture. 8064 is MXCSR after a reset: all exceptions masked, to nearest, nothing flushed."""


def native_ways(cpu: str = HOST) -> Ways:
    """Which float operations are native there: none on an architecture whose state cannot be set."""
    tools = toolchain(cpu)
    if tools.architecture not in _STATES:
        return SOFT
    converts = tools.architecture != "x86_64" or "+f16c" in tools.features.split(",")
    return LLVM_F16_WAYS if converts else LLVM_WAYS


def entered(source: LlvmSource, cpu: str) -> tuple[str, str]:
    """The text to compile and the function to call."""
    if "@native_" not in source.text:
        return source.text, source.entry
    return source.text + _STATES[toolchain(cpu).architecture], GUARDED_ENTRY


def compile_source(source: LlvmSource, cpu: str = HOST) -> MachineCode:
    """The kernel, optimised and loaded; from the disk where it was compiled before.

    Raises `BackendUnavailable` where code for this `cpu` does not run here.
    """
    refuse_foreign(cpu)
    image, _ = kept_image(source, cpu)
    return MachineCode(image, entered(source, cpu)[1])


def kept_image(source: LlvmSource, cpu: str = HOST) -> tuple[bytes, bool]:
    """The kernel as the disk has it or will have it from now on, and whether it was compiled just now."""
    fresh: list[bytes] = []

    def build() -> bytes:
        fresh.append(_translated(source, OBJECT, cpu))
        return fresh[0]

    image = kept("cpu", _key(source, OBJECT, cpu), build)
    return image, bool(fresh)


def image_key(source: LlvmSource, cpu: str = HOST) -> str:
    """What the disk keeps it under."""
    return key_of("cpu", _key(source, OBJECT, cpu))


def assembly(source: LlvmSource, cpu: str = HOST) -> str:
    """What `compile_source` makes, as assembly text for a reader."""
    parts = _key(source, ASSEMBLY, cpu)
    return kept("cpu", parts, lambda: _translated(source, ASSEMBLY, cpu)).decode()


def _key(source: LlvmSource, form: str, cpu: str) -> list[str]:
    return [entered(source, cpu)[0], toolchain(cpu).digest, repr((EFFORTS, STREAMING, NEAR)), form]


def _translated(source: LlvmSource, form: str, cpu: str) -> bytes:
    refuse_giants(source.text)
    try:
        return translator()(entered(source, cpu)[0], form, cpu)
    except LlvmRejection as error:
        raise SourceRejected("LLVM", str(error), source.text) from None
