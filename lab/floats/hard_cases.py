"""The hardest cases of F32 + - * / and fma, by class: soft formulas against hardware, bit for bit.

Run as `python -m lab.floats.hard_cases` with

    run COUNT [--record]   numeric/jit against this processor's instructions, all cores
    device BACKEND COUNT   a backend's soft way against its native way, same cases
    case OPERATION NUMBER  one case again, by the reference and the soft formula
    classes                what is aimed at

COUNT is per operation, rounded up to whole blocks of 65,536. `--only add,fma` chooses operations, `--seed`
other cases. `--record` keeps the result beside the definitions (`src/vyre/numeric/proofs`), bound to the code
it covered. `--plant "rounds twice"` tests a wrong version, which must be caught. A run ends with status 1
when anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.floats.hardest import ARITHMETIC, classes
from lab.floats.mutants import mutants
from lab.floats.sweep import soft_op
from lab.floats.witness import BLOCK, BLOCK_BITS, ClassCount, Witness, case, evidence, seed_word, witness
from lab.floats.witness_programs import WORKGROUP, applied, compared, made
from vyre.errors import VyreError
from vyre.lower.ways import SOFT, Ways

if TYPE_CHECKING:
    from vyre.ir.op import Op


def show(found: Witness, sides: str) -> bool:
    rate = found.cases / found.seconds
    print(f"{found.op_id}: {sides}, seed {found.seed}: {found.failures} of {found.cases:,} differ, "
          f"{found.seconds:.1f} s, {rate:.2e}/s")  # fmt: skip
    for count in found.counts:
        first = "" if count.first is None else f", first: case {count.first}"
        print(f"  {count.name:28} {count.cases:14,} {count.failures:8,}{first}", flush=True)
    return found.failures == 0


def op_under_test(name: str, given: argparse.Namespace) -> Op:
    op = soft_op(f"soft.f32.{name}")
    return op if given.plant is None else dict(mutants(op))[given.plant]


def run(given: argparse.Namespace) -> bool:
    from lab.floats.prove import keep, processor

    good = True
    for name in given.only:
        op = op_under_test(name, given)
        found = witness(op, given.count, seed=given.seed, threads=given.threads)
        good &= show(found, "soft against the processor")
        if given.record and not found.failures:
            keep(op, evidence(found, f"float instructions of {processor()}"))
    return good


def device(given: argparse.Namespace) -> bool:
    """Operands, both results and the comparison stay on the device."""
    from vyre.backends import get

    backend: Any = get(given.backend)
    info = backend.describe()
    print(f"{info.name} on {info.device}, {info.driver}, {info.toolchain}", flush=True)
    good = True
    for name in given.only:
        good &= show(on_device(backend, name, given), "soft against native")
    return good


def on_device(backend: Any, name: str, given: argparse.Namespace) -> Witness:
    kinds, size = classes(name), 1 << given.log2
    operands = [backend.allocate(4 * size) for _ in range(kinds[0].arity)]
    results = [backend.allocate(4 * size) for _ in range(2)]
    start, found = backend.allocate(8), backend.allocate(8)
    groups = (size // WORKGROUP, 1, 1)
    compute = [
        side.bind([*operands, out], groups)
        for side, out in zip(both_sides(backend, name, given), results, strict=True)
    ]
    compare = backend.compile(compared()).bind([*results, found], groups)
    makes = [backend.compile(made(name, k)).bind([start, *operands], groups) for k in range(len(kinds))]
    turns = -(-given.count // (BLOCK * len(kinds)))
    began = time.monotonic()
    counts: list[ClassCount] = []
    for index, make in enumerate(makes):
        failures, first, cases = 0, None, 0
        for turn in range(0, turns, size >> BLOCK_BITS):
            write(start, [turn, seed_word(given.seed, 0)])
            write(found, [0, 0xFFFFFFFF])
            for launch in (make, *compute, compare):
                launch()
            differing, least = read(found)
            cases += size
            failures += differing
            if differing and first is None:
                block = (turn + (least >> BLOCK_BITS)) * len(kinds) + index
                first = (block << BLOCK_BITS) + (least & (BLOCK - 1))
        counts.append(ClassCount(kinds[index].name, cases, failures, first))
    seconds = time.monotonic() - began
    for memory in (*operands, *results, start, found):
        memory.free()
    return Witness(f"soft.f32.{name}", given.seed, tuple(counts), seconds)


def both_sides(backend: Any, name: str, given: argparse.Namespace) -> list[Any]:
    """The operation in integers only, and as the device's own instruction; checked to be just that."""
    own: Ways = backend.ways
    native = Ways(own.native | {f"f32.{name}"})
    if native != own and not given.admit:
        raise VyreError(
            f"{backend.name} takes no native {name} that could be compared with.",
            fix="take another backend, or --admit to see what its device would give.",
        )
    wrong = None if given.plant is None else op_under_test(name, given)
    sides = [
        backend.compile(applied(name, by=wrong), ways=SOFT),
        backend.compile(applied(name), ways=native),
    ]
    shown = [side.lowering for side in sides]
    if shown != ["soft" if wrong is None else "", "native"]:
        raise VyreError(f"the two sides were lowered as {shown}.", fix="repair the choice of ways.")
    return sides


def write(memory: Any, words: list[int]) -> None:
    memory.write(np.array(words, dtype="<u4").view(np.uint8).data)


def read(memory: Any) -> tuple[int, int]:
    words = np.zeros(2, dtype="<u4")
    memory.read(words.view(np.uint8).data)
    return int(words[0]), int(words[1])


def replay(given: argparse.Namespace) -> bool:
    from vyre.numeric.vector import evaluate

    kind, operands = case(given.operation, given.number, seed=given.seed)
    op = soft_op(f"soft.f32.{given.operation}")
    result = int(evaluate(op, *(np.array([x], dtype=np.uint32) for x in operands))[0])
    shown = ", ".join(f"{x:#010x} ({np.uint32(x).view(np.float32)!s})" for x in operands)
    print(f"{given.operation}({shown}) = {result:#010x}: class {kind.name!r}")
    return True


def listing(_: argparse.Namespace) -> bool:
    for name in ARITHMETIC:
        print(f"{name}: {', '.join(kind.name for kind in classes(name))}")
    return True


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    ways = parser.add_subparsers(required=True)
    here, there, again, names = (ways.add_parser(w) for w in ("run", "device", "case", "classes"))
    there.add_argument("backend")
    there.add_argument("--log2", type=int, default=24, help="cases per dispatch, 16 or more")
    there.add_argument("--admit", action="store_true", help="try a native way that the backend does not take")
    again.add_argument("operation", choices=ARITHMETIC)
    again.add_argument("number", type=int)
    for way in (here, there):
        way.add_argument("count", type=lambda text: int(float(text)))
        way.add_argument("--plant", metavar="MISTAKE", help="test a wrong version, by its name in mutants.py")
        way.add_argument("--only", type=lambda text: text.split(","), default=list(ARITHMETIC))
    for way in (here, there, again):
        way.add_argument("--seed", type=int, default=1)
    here.add_argument("--threads", type=int)
    here.add_argument("--record", action="store_true")
    for way, job in ((here, run), (there, device), (again, replay), (names, listing)):
        way.set_defaults(job=job)
    given = parser.parse_args()
    sys.exit(0 if given.job(given) else 1)


if __name__ == "__main__":
    main()
