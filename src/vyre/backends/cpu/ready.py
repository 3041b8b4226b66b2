"""Kernels that are ready: found on the disk by the program itself, with neither lowering nor LLVM loaded.

The first call of a process takes this way. The key is the meaning of the program and all that its code
depends on beside it (`place.py`). Only what a device examined for its program has compiled is kept.

A process that has loaded the lowering uses it: that takes a millisecond a kernel (`vyre.backends.stamps`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vyre.backends.cpu.kernel import LaunchFacts, loaded_kernel, lowered
from vyre.backends.cpu.place import place
from vyre.backends.kernel_cache import default_cache, key_of
from vyre.backends.stamps import lowering_is_loaded
from vyre.ir.expr import Call
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.cpu.kernel import CpuKernel
    from vyre.ir.program import Program
    from vyre.lower.ways import Ways

_KIND = "cpu ready"
_MOST_FACTS = 1 << 16


def ready_kernel(
    program: Program, meaning: str, backend: str, cpu: str, ways: Callable[[], Ways]
) -> CpuKernel | None:
    if lowering_is_loaded():
        return None
    cache, key = default_cache(), _key(program, meaning)
    kept = cache.find(key) if cache is not None and key is not None else None
    if kept is None:
        return None
    return loaded_kernel(LaunchFacts.of_row(json.loads(kept)), cpu, lambda: lowered(program, ways(), backend))


def keep_ready(program: Program, meaning: str, kernel: CpuKernel) -> None:
    cache, key = default_cache(), _key(program, meaning)
    if cache is None or key is None:
        return
    content = json.dumps(kernel.facts.row()).encode()
    if len(content) < _MOST_FACTS:
        cache.keep(key, content)


def _key(program: Program, meaning: str) -> str | None:
    """None where the kernel depends on more: an instruction that a package declares, another system."""
    here = place()
    if here is None or any(isinstance(x, Call) for x in expressions(program.entry)):
        return None
    return key_of(_KIND, [meaning, *here])
