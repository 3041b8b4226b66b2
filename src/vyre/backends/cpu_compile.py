"""LLVM IR text to machine code of this processor, through llvmlite. Everything LLVM allocates is freed.

The optimised module becomes an object file first, which is then loaded: compiled code is bytes that can be
kept. llvmlite lets one thread at a time into LLVM, so this may be called from any.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from vyre.lower.llvm import LlvmSource

_EFFORT = ((300_000, 3, 3), (800_000, 1, 1), (3_000_000, 1, 0))
"""Up to how many characters of IR to optimise at which level, and to generate code at which level.

The time of LLVM grows faster than the text; beyond the last row it does as little as it can.
"""


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
    """The kernel for this processor, optimised and loaded."""
    return MachineCode(object_image(source), source.entry)


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
            module = llvm.parse_assembly(source.text, context=context)
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
