"""LLVM IR text to machine code of this processor, through llvmlite. Everything LLVM allocates is freed.

The optimised module becomes an object file first, which is then loaded: compiled code is bytes that can be
kept. llvmlite lets one thread at a time into LLVM, so this may be called from any.

A kernel with native floats is entered through a function that puts the thread's floating-point state into
its default, to nearest with subnormals kept and nothing trapped, and puts back what it found at the end: the
state is per thread, and other libraries change it.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.backends.kernel_cache import kept
from vyre.errors import VyreError
from vyre.lower.ways import LLVM_F16_WAYS, LLVM_WAYS, SOFT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from vyre.lower.llvm import LlvmSource
    from vyre.lower.ways import Ways

_EFFORT = ((300_000, 3, 3), (800_000, 1, 1), (3_000_000, 1, 0))
"""Up to how many characters of IR to optimise at which level, and to generate code at which level.

The time of LLVM grows faster than the text; beyond the last row it does as little as it can.
"""

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


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What the machine code depends on besides the program."""

    triple: str
    cpu: str
    features: str
    llvm: str
    llvmlite: str

    @property
    def digest(self) -> str:
        parts = (self.triple, self.cpu, self.features, self.llvm, self.llvmlite)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def toolchain() -> Toolchain:
    """Raises `ImportError` without llvmlite."""
    import llvmlite

    llvm = _binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Toolchain(
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        ".".join(str(n) for n in llvm.llvm_version_info),
        str(llvmlite.__version__),
    )


def native_ways() -> Ways:
    """Which float operations are native here: none on an architecture whose state cannot be set."""
    tools = toolchain()
    if _architecture() not in _STATES:
        return SOFT
    converts = _architecture() != "x86_64" or "+f16c" in tools.features.split(",")
    return LLVM_F16_WAYS if converts else LLVM_WAYS


def _architecture() -> str:
    return toolchain().triple.partition("-")[0]


def _entered(source: LlvmSource) -> tuple[str, str]:
    """The text to compile and the function to call."""
    if "@native_" not in source.text:
        return source.text, source.entry
    return source.text + _STATES[_architecture()], GUARDED_ENTRY


class MachineCode:
    """A loaded kernel. `call` takes the arguments of its entry; the code lives as long as this object."""

    def __init__(self, image: bytes, entry: str) -> None:
        llvm = _binding()
        # An engine wants a module of its own; an empty one, in its own context, costs nothing.
        self._context = llvm.create_context()
        self._engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly("", context=self._context), _target_machine(0)
        )
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(image))
        self._engine.finalize_object()
        address = self._engine.get_function_address(entry)
        i64, pointer = ctypes.c_int64, ctypes.c_void_p
        self.call: Callable[..., None] = ctypes.CFUNCTYPE(None, pointer, pointer, i64, i64, pointer)(address)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            for owned in ("_engine", "_context"):
                if hasattr(self, owned):
                    getattr(self, owned).close()


def compile_source(source: LlvmSource) -> MachineCode:
    """The kernel for this processor, optimised and loaded; from the disk where it was compiled before."""
    text, entry = _entered(source)
    image = kept("cpu", [text, toolchain().digest, repr(_EFFORT)], lambda: object_image(source))
    return MachineCode(image, entry)


def object_image(source: LlvmSource) -> bytes:
    """The kernel as an object file of this processor."""
    with _optimised(source) as (module, machine):
        return bytes(machine.emit_object(module))


def assembly(source: LlvmSource) -> str:
    """What `compile_source` makes, as assembly text for a reader."""
    with _optimised(source) as (module, machine):
        return str(machine.emit_assembly(module))


@contextmanager
def _optimised(source: LlvmSource) -> Generator[tuple[Any, Any]]:
    """The module of a kernel, parsed, verified and optimised, and the target machine to emit it with."""
    llvm = _binding()
    context = llvm.create_context()
    try:
        try:
            module = llvm.parse_assembly(_entered(source)[0], context=context)
            module.verify()
        except RuntimeError as error:
            raise VyreError(
                f"LLVM rejects the kernel: {error}\n{source.text}",
                fix="report it with the source above; it is a fault of the lowering.",
            ) from None
        module.triple = toolchain().triple
        speed, codegen = next((row[1:] for row in _EFFORT if len(source.text) <= row[0]), (0, 0))
        machine = _target_machine(codegen)
        _optimise(module, machine, speed)
        yield module, machine
        module.close()
    finally:
        context.close()


def _optimise(module: Any, machine: Any, speed: int) -> None:
    llvm = _binding()
    options = llvm.create_pipeline_tuning_options(speed_level=speed)
    options.loop_vectorization = options.slp_vectorization = speed > 1
    options.loop_interleaving = options.loop_unrolling = speed > 1
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    # `close` of a pass manager frees nothing in llvmlite 0.50: an empty method of a base class hides it.
    llvm.NewPassManager._dispose(passes)
    passes.detach()
    builder.close()
    options.close()


def _target_machine(codegen: int) -> Any:
    tools = toolchain()
    target = _binding().Target.from_triple(tools.triple)
    return target.create_target_machine(
        cpu=tools.cpu, features=tools.features, opt=codegen, reloc="default", codemodel="jitdefault", jit=True
    )


def _binding() -> Any:
    """llvmlite's untyped binding, loaded when a kernel is first compiled."""
    import llvmlite.binding

    return llvmlite.binding
