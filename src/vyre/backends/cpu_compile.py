"""LLVM IR text to machine code of this processor, through llvmlite. Everything LLVM allocates is freed.

The optimised module becomes an object file first, which is then loaded; so compiled code can be kept as bytes.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.lower.llvm import LlvmSource

_lock = threading.RLock()
"""LLVM objects of one target machine are not made for two threads at once."""

_LARGE = 200_000
"""Characters of IR from which the optimiser is asked for less: its time grows faster than the text."""


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
    import llvmlite.binding as llvm

    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        version: tuple[int, int, int] = llvm.llvm_version_info
        return Toolchain(
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(),
            ".".join(str(n) for n in version),
            str(llvmlite.__version__),
        )


class MachineCode:
    """A loaded kernel. `call` takes the arguments of `vyre_main`; the code lives as long as this object."""

    def __init__(self, source: LlvmSource, image: bytes) -> None:
        import llvmlite.binding as llvm

        with _lock:
            # An engine wants a module of its own; an empty one, in its own context, costs nothing.
            self._context: Any = llvm.create_context()
            module: Any = llvm.parse_assembly("", context=self._context)
            self._engine: Any = llvm.create_mcjit_compiler(module, _target_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(image))
            self._engine.finalize_object()
            address = self._engine.get_function_address(source.entry)
        i64, pointer = ctypes.c_int64, ctypes.c_void_p
        signature = ctypes.CFUNCTYPE(None, pointer, pointer, i64, i64, pointer)
        self.call: Callable[..., None] = signature(address)

    def __del__(self) -> None:
        engine, context = getattr(self, "_engine", None), getattr(self, "_context", None)
        with _lock:
            if engine is not None:
                engine.close()
            if context is not None:
                context.close()


def compile_source(source: LlvmSource) -> MachineCode:
    """The kernel for this processor, optimised."""
    return MachineCode(source, object_image(source))


def object_image(source: LlvmSource) -> bytes:
    """The kernel as an object file of this processor."""
    with _lock, _Optimised(source) as optimised:
        return bytes(_target_machine().emit_object(optimised.module))


def assembly(source: LlvmSource) -> str:
    """What `compile_source` makes, as assembly text for a reader."""
    with _lock, _Optimised(source) as optimised:
        return str(_target_machine().emit_assembly(optimised.module))


def optimised_ir(source: LlvmSource) -> str:
    """The module after the optimiser, as LLVM IR text."""
    with _lock, _Optimised(source) as optimised:
        return str(optimised.module)


class _Optimised:
    """A module that was parsed, verified and optimised; freed at the end of the `with` block."""

    def __init__(self, source: LlvmSource) -> None:
        import llvmlite.binding as llvm

        self._context: Any = llvm.create_context()
        try:
            self.module: Any = llvm.parse_assembly(source.text, context=self._context)
            self.module.verify()
        except RuntimeError as error:
            raise VyreError(
                f"LLVM rejects the kernel: {error}\n{source.text}",
                fix="report it with the source above; it is a fault of the lowering.",
            ) from None
        self.module.triple = toolchain().triple
        self._optimise(speed=3 if len(source.text) < _LARGE else 1)

    def _optimise(self, speed: int) -> None:
        import llvmlite.binding as llvm

        options: Any = llvm.create_pipeline_tuning_options(speed_level=speed)
        options.loop_vectorization = options.slp_vectorization = speed > 1
        options.loop_interleaving = options.loop_unrolling = speed > 1
        builder: Any = llvm.create_pass_builder(_target_machine(), options)
        passes: Any = builder.getModulePassManager()
        passes.run(self.module, builder)
        # The `close` of a pass manager frees nothing in llvmlite 0.50: a base class hides the method.
        llvm.NewPassManager._dispose(passes)
        passes.detach()
        builder.close()
        options.close()

    def __enter__(self) -> _Optimised:
        return self

    def __exit__(self, *_: object) -> None:
        self.module.close()
        self._context.close()


def _target_machine() -> Any:
    import llvmlite.binding as llvm

    tools = toolchain()
    target: Any = llvm.Target.from_triple(tools.triple)
    return target.create_target_machine(
        cpu=tools.cpu, features=tools.features, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )
