"""LLVM through llvmlite: IR text in, an object file or assembly of this processor out.

Everything LLVM allocates is freed but one thing: every optimisation loses about 1.5 KB inside llvmlite, whose
pass builder never gives its table of callbacks back (0.50; the table cannot be used twice either, it holds
addresses of the run before). `cpu_translator` keeps that loss bounded. llvmlite lets one thread at a time
into LLVM, so this may be called from any.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from vyre.backends.forks import hold_across_fork

OBJECT, ASSEMBLY = "object", "assembly"

EFFORT = ((300_000, 3, 3), (800_000, 1, 1), (3_000_000, 1, 0))
"""Up to how many characters of IR to optimise at which level, and to generate code at which level.

The time of LLVM grows faster than the text; beyond the last row it does as little as it can.
"""


class LlvmRejection(Exception):
    """LLVM does not accept the text; the message is LLVM's own."""


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

    @property
    def architecture(self) -> str:
        return self.triple.partition("-")[0]


@cache
def toolchain() -> Toolchain:
    """Raises `ImportError` without llvmlite."""
    import llvmlite

    llvm = binding()
    hold_across_fork(llvm.ffi.lib._lock)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Toolchain(
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        ".".join(str(n) for n in llvm.llvm_version_info),
        str(llvmlite.__version__),
    )


def translate(text: str, form: str) -> bytes:
    """The module, verified and optimised, as an object file or as assembly. Raises `LlvmRejection`."""
    llvm = binding()
    context = llvm.create_context()
    try:
        try:
            module = llvm.parse_assembly(text, context=context)
            module.verify()
        except RuntimeError as error:
            raise LlvmRejection(str(error)) from None
        module.triple = toolchain().triple
        speed, codegen = next((row[1:] for row in EFFORT if len(text) <= row[0]), (0, 0))
        machine = target_machine(codegen)
        _optimise(module, machine, speed)
        emitted = machine.emit_object(module) if form == OBJECT else machine.emit_assembly(module).encode()
        module.close()
        return bytes(emitted)
    finally:
        context.close()


def _optimise(module: Any, machine: Any, speed: int) -> None:
    llvm = binding()
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


def target_machine(codegen: int) -> Any:
    tools = toolchain()
    target = binding().Target.from_triple(tools.triple)
    return target.create_target_machine(
        cpu=tools.cpu, features=tools.features, opt=codegen, reloc="default", codemodel="jitdefault", jit=True
    )


def binding() -> Any:
    """llvmlite's untyped binding, loaded when a kernel is first compiled."""
    import llvmlite.binding

    return llvmlite.binding
