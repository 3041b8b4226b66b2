"""Machine code in memory: an object file becomes functions that can be called, freed with what holds them."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING

from vyre.backends.cpu.linking import linked

if TYPE_CHECKING:
    from collections.abc import Callable

_KERNEL = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


class MachineCode:
    """A loaded function at `address`, which lives as long as this object; `call` is for kernels."""

    def __init__(self, image: bytes, entry: str) -> None:
        self._own = linked(image)
        self.function: Callable[[str], int] = (
            _LoadedByLlvm(image) if self._own is None else self._own.functions.__getitem__
        )
        """The address of any function or variable of the image, by its name."""
        self.address = self.function(entry)
        self.call: Callable[..., None] = _KERNEL(self.address)


class _LoadedByLlvm:
    """An object in LLVM's own loader."""

    def __init__(self, image: bytes) -> None:
        from vyre.backends.interrupts import aside

        aside(lambda: self._load(image))

    def _load(self, image: bytes) -> None:
        from vyre.backends.cpu.llvm import binding, target_machine, toolchain

        llvm = binding()
        # An engine wants a module of its own; an empty one, in its own context, costs nothing.
        self._context = llvm.create_context()
        self._engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly("", context=self._context),
            target_machine(0, toolchain(), narrow=False, near=False),
        )
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(image))
        self._engine.finalize_object()

    def __call__(self, name: str) -> int:
        return int(self._engine.get_global_value_address(name))

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            from vyre.backends.interrupts import undisturbed

            with undisturbed():
                for owned in ("_engine", "_context"):
                    if hasattr(self, owned):
                        getattr(self, owned).close()
