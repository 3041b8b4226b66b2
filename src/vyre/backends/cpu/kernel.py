"""A kernel of this processor: machine code with what is needed to call it.

It is made from a program, or read from the disk, where the code was kept with those facts (`ready.py`).
Lowering is loaded for the first, and for a reader who wants to see the source.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.loading import MachineCode
from vyre.backends.cpu.work import Guess, Work
from vyre.backends.kernel_cache import default_cache
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.program import Program
    from vyre.lower.llvm import LlvmSource
    from vyre.lower.ways import Ways


Row = list[Any]


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What a call has to know of a kernel. `image` is the key under which the disk has the code."""

    image: str
    entry: str
    scratch_bytes: int
    rough_work: Guess
    most_work: Work

    def row(self) -> Row:
        """Lists, texts and numbers, which the disk keeps."""
        work = self.most_work
        rough = [self.rough_work.fixed, self.rough_work.looped]
        bound = [work.fixed, work.looped, work.steps]
        return [self.image, self.entry, self.scratch_bytes, rough, bound]

    @staticmethod
    def of_row(row: Row) -> LaunchFacts:
        image, entry, scratch_bytes, rough, (fixed, looped, steps) = row
        loops = tuple((weight, tuple(turns)) for weight, turns in looped)
        bound = Work(fixed, loops, tuple((kind, first, second) for kind, first, second in steps))
        return LaunchFacts(image, entry, scratch_bytes, Guess(*rough), bound)


class CpuKernel:
    """Programs that differ in names only share one."""

    def __init__(
        self, facts: LaunchFacts, code: MachineCode, cpu: str, make_source: Callable[[], LlvmSource]
    ) -> None:
        self.facts = facts
        self.code = code
        self.cpu = cpu
        self._make_source = make_source

    @cached_property
    def source(self) -> LlvmSource:
        return self._make_source()

    def rewritten(self, text: str) -> CpuKernel:
        """A kernel of another text that is called the same way."""
        from dataclasses import replace

        from vyre.backends.cpu.compiling import compile_source

        made = copy(self)
        made.source = replace(self.source, text=text)
        made.code = compile_source(made.source, made.cpu)
        return made


def loaded_kernel(facts: LaunchFacts, cpu: str, make_source: Callable[[], LlvmSource]) -> CpuKernel | None:
    """A kernel whose code is on the disk; None where it is not, or no more."""
    cache = default_cache()
    image = None if cache is None else cache.find(facts.image)
    return None if image is None else CpuKernel(facts, MachineCode(image, facts.entry), cpu, make_source)


def lowered(program: Program, ways: Ways, backend: str) -> LlvmSource:
    from vyre.lower.llvm import emit
    from vyre.lower.prepare import prepare

    return emit(prepare(program, ways=ways), backend=backend)


class Lowering:
    """A program on its way to LLVM: done once, when it is asked for."""

    def __init__(self, program: Program, ways: Ways, backend: str) -> None:
        self._asked = program, ways, backend
        self._done: tuple[LlvmSource, Guess, Work] | None = None

    def done(self) -> tuple[LlvmSource, Guess, Work]:
        """The source, what an invocation takes by a rough count, and the most that it can take."""
        if self._done is None:  # no cached property: its lock may be held in a fork
            self._done = self._lowered()
        return self._done

    def _lowered(self) -> tuple[LlvmSource, Guess, Work]:
        from vyre.backends.cpu.estimate import most_work, rough_work
        from vyre.lower.llvm import emit
        from vyre.lower.prepare import prepare

        program, ways, backend = self._asked
        prepared = prepare(program, ways=ways)
        return emit(prepared, backend=backend), rough_work(program), most_work(prepared)


def made_kernel(lowering: Lowering, cpu: str) -> CpuKernel:
    """The kernel, lowered and compiled, or taken from the disk where this source was compiled before."""
    from vyre.backends.cpu.compiling import entered, image_key, kept_image, refuse_foreign

    refuse_foreign(cpu)
    source, rough, most = lowering.done()
    image, _ = kept_image(source, cpu)
    entry = entered(source, cpu)[1]
    facts = LaunchFacts(image_key(source, cpu), entry, source.scratch_bytes, rough, most)
    return CpuKernel(facts, MachineCode(image, entry), cpu, lambda: source)
