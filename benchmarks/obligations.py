"""What verifying the compiler's own conclusions costs, as a share of compiling for `cpu`.

    python benchmarks/obligations.py [--count 60]

Process time of the checkers (`vyre.obligations`) against that of lowering a program to LLVM IR, and of LLVM
making machine code of it. Programs are the generated ones of the conformance system.
"""

from __future__ import annotations

import argparse
import time
from functools import wraps
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.compiling import kept_image, native_ways
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import generate_program
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare
from vyre.obligations.check import Checker
from vyre.obligations.linear import Lines
from vyre.obligations.order import Order

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRANCES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (Checker, ("__init__", "inside", "adds_up")),
    (Lines, ("__init__", "agrees", "inside", "limited", "told")),
    (Order, ("taken", "parts_apart", "turns_apart", "shifted")),
)


class Meter:
    """Adds up the time of calls, those inside others once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0
        self._inside = False

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return function(*args, **kwargs)
            self._inside = True
            began = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - began
                self.calls += 1
                self._inside = False

        return measured


def main() -> None:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("--count", type=int, default=60)
    count = parser.parse_args().count
    programs = [generate_program(seed, INTEGER_PROGRAMS).program for seed in range(count)]
    meter = Meter()
    for owner, names in ENTRANCES:
        for name in names:
            setattr(owner, name, meter.around(getattr(owner, name)))
    began = time.process_time()
    sources = [emit(prepare(program, ways=native_ways())) for program in programs]
    lowered = time.process_time() - began
    for source in sources:
        kept_image(source)[0]
    compiled = time.process_time() - began
    print(f"{count} programs: lowering {lowered:.2f} s, machine code {compiled - lowered:.2f} s")
    shares = f"{meter.seconds / lowered:.1%} of lowering, {meter.seconds / compiled:.1%} of compiling"
    print(f"checkers: {meter.seconds:.2f} s in {meter.calls:,} calls, {shares}")


if __name__ == "__main__":
    main()
