"""LLVM through llvmlite: IR text in, an object file or assembly of this processor, or of a named one, out.

Everything LLVM allocates is freed but one thing: every optimisation loses about 1.5 KB inside llvmlite, whose
pass builder never gives its table of callbacks back (0.50; the table cannot be used twice either, it holds
addresses of the run before). `cpu_translator` keeps that loss bounded. llvmlite lets one thread at a time
into LLVM, so this may be called from any.
"""

from __future__ import annotations

import json
import sys
from dataclasses import astuple
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.effort import effort_for, optimise, waits_for_memory
from vyre.backends.cpu.linking import linked
from vyre.backends.cpu.names import HOST
from vyre.backends.cpu.place import place
from vyre.backends.forks import hold_across_fork
from vyre.backends.kernel_cache import kept
from vyre.errors import BackendUnavailable, DispatchError
from vyre.sha import sha256
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable


OBJECT, ASSEMBLY = "object", "assembly"

_V2 = frozenset({"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}
"""The levels of x86-64 by name, and what a processor must have to run them."""

TUNINGS = ("sapphirerapids", "znver4")
"""Processors for whom LLVM arranges the loops of level 4 otherwise; for a reader, never loaded."""

_NARROW = "+prefer-256-bit"

NEAR = {"reloc": "pic", "codemodel": "small"}
"""Constants at a distance from the code, which `linking.py` lays out beside it: an instruction takes one from
memory by itself. At any address, each would first be fetched to a register, in every turn of a loop.
Only for objects that `linking.py` takes."""
_ANYWHERE = {"reloc": "default", "codemodel": "jitdefault"}

CPUS = (HOST, *LEVELS, *TUNINGS)
_X86 = "x86_64-unknown-linux-gnu"


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
        return sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def architecture(self) -> str:
        return self.triple.partition("-")[0]


@cache
def toolchain(cpu: str = HOST) -> Toolchain:
    """What makes code for one of `CPUS`. Raises `ImportError` without llvmlite."""
    if cpu not in CPUS:
        known = _names((HOST, *LEVELS))
        raise DispatchError(f"unknown processor {cpu!r}.", fix=f"use one of {known}.")
    here = place()
    if cpu != HOST or here is None or "llvmlite.binding" in sys.modules:
        return _asked(cpu)
    # LLVM takes longer to load than a small kernel to run, and says the same every time.
    return Toolchain(
        *json.loads(kept("cpu toolchain", here, lambda: json.dumps(astuple(_asked(HOST))).encode()))
    )


def _asked(cpu: str) -> Toolchain:
    """What LLVM says itself."""
    import llvmlite

    llvm = binding()
    triple, name, features = llvm.get_process_triple(), cpu, ""
    if cpu == HOST:
        name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    else:
        features = ",".join(f"+{x}" for x in sorted(LEVELS.get(cpu, _V4)))
        if not triple.startswith("x86_64"):
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            triple = _X86
    version = ".".join(str(n) for n in llvm.llvm_version_info)
    return Toolchain(triple, name, features, version, str(llvmlite.__version__))


def runs_here(cpu: str) -> bool:
    """Whether code for it can be loaded: what the level needs is here."""
    host = toolchain()
    if cpu == HOST:
        return True
    needs = {f"+{x}" for x in LEVELS[cpu]} if cpu in LEVELS else None
    return needs is not None and host.architecture == "x86_64" and needs <= {*host.features.split(",")}


def refuse_foreign(cpu: str) -> None:
    """Raises `BackendUnavailable` for a processor whose code must not be loaded here."""
    toolchain(cpu)
    if not runs_here(cpu):
        able = _names(x for x in CPUS if runs_here(x))
        raise BackendUnavailable(
            f"code for {cpu} is not for this processor ({toolchain().cpu}).", fix=f"use one of {able}."
        )


def _names(cpus: Iterable[str]) -> str:
    return ", ".join(repr(x) for x in cpus)


def translate(text: str, form: str, cpu: str = HOST) -> bytes:
    """The module, verified and optimised, as an object file or as assembly. Raises `LlvmRejection`."""
    tools = toolchain(cpu)
    near = tools.architecture == "x86_64" and "linux" in tools.triple
    made = _translated(text, form, tools, near=near)
    if near and form == OBJECT and linked(made) is None:
        # LLVM will load it, and may lay code and constants further apart than a distance can say.
        made = _translated(text, form, tools, near=False)
    return made


def _translated(text: str, form: str, tools: Toolchain, *, near: bool) -> bytes:
    llvm = binding()
    context = llvm.create_context()
    try:
        try:
            module = llvm.parse_assembly(text, context=context)
            module.verify()
        except RuntimeError as error:
            raise LlvmRejection(str(error)) from None
        module.triple = tools.triple
        effort = effort_for(text)
        machine = target_machine(effort.codegen, tools, narrow=waits_for_memory(text), near=near)
        optimise(llvm, module, machine, effort.passes)
        emitted = machine.emit_object(module) if form == OBJECT else machine.emit_assembly(module).encode()
        module.close()
        return bytes(emitted)
    finally:
        context.close()


def target_machine(codegen: int, tools: Toolchain, *, narrow: bool, near: bool) -> Any:
    """What generates code; with `narrow`, for registers of 256 bits even where there are wider ones."""
    target = binding().Target.from_triple(tools.triple)
    narrowed = narrow and tools.architecture == "x86_64"
    features = f"{tools.features},{_NARROW}".lstrip(",") if narrowed else tools.features
    placed = NEAR if near else _ANYWHERE
    return target.create_target_machine(cpu=tools.cpu, features=features, opt=codegen, jit=True, **placed)


@cache
def binding() -> Any:
    """llvmlite's untyped binding, loaded when a kernel is first compiled."""
    import llvmlite.binding as llvm

    hold_across_fork(llvm.ffi.lib._lock)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm
