"""Kernels that are ready: found on the disk by the program itself, with neither lowering nor LLVM loaded.

The first call of a process takes this way. The key is the meaning of the program and all that its code
depends on beside it (`place.py`). Only what a device examined for its program has compiled is kept.

A process that has loaded the lowering uses it: that takes a millisecond a kernel, and who changes a
definition, to see what comes of it, sees it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.kernel import CpuKernel, LaunchFacts, lowered
from vyre.backends.cpu.loading import MachineCode
from vyre.backends.cpu.place import place
from vyre.backends.cpu.work import Work
from vyre.backends.kernel_cache import default_cache, key_of
from vyre.ir.expr import Call
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.program import Program
    from vyre.lower.ways import Ways

_KIND = "cpu ready"
_LOWERING = ("vyre.lower.prepare", "vyre.numeric", "vyre.optimize")
_MOST_FACTS = 1 << 16


def ready_kernel(
    program: Program, meaning: str, backend: str, cpu: str, ways: Callable[[], Ways]
) -> CpuKernel | None:
    if any(name in sys.modules for name in _LOWERING):
        return None
    cache, key = default_cache(), _key(program, meaning)
    kept = cache.find(key) if cache is not None and key is not None else None
    if cache is None or kept is None:
        return None
    facts = _facts(json.loads(kept))
    image = cache.find(facts.image)
    if image is None:
        return None
    return CpuKernel(facts, MachineCode(image, facts.entry), cpu, lambda: lowered(program, ways(), backend))


def keep_ready(program: Program, meaning: str, kernel: CpuKernel) -> None:
    cache, key = default_cache(), _key(program, meaning)
    if cache is None or key is None:
        return
    facts, work = kernel.facts, kernel.facts.most_work
    bound = [work.fixed, work.looped, work.steps]
    row = [facts.image, facts.entry, facts.scratch_bytes, facts.work_per_invocation, bound]
    content = json.dumps(row).encode()
    if len(content) < _MOST_FACTS:
        cache.keep(key, content)


def _facts(row: Any) -> LaunchFacts:
    image, entry, scratch_bytes, work_per_invocation, (fixed, looped, steps) = row
    loops = tuple((weight, tuple(turns)) for weight, turns in looped)
    bound = Work(fixed, loops, tuple((kind, first, second) for kind, first, second in steps))
    return LaunchFacts(image, entry, scratch_bytes, work_per_invocation, bound)


def _key(program: Program, meaning: str) -> str | None:
    """None where the kernel depends on more: an instruction that a package declares, another system."""
    here = place()
    if here is None or any(isinstance(x, Call) for x in expressions(program.entry)):
        return None
    return key_of(_KIND, [meaning, *here])
