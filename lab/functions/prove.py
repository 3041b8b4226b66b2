"""Runs the definitions of the correctly rounded functions and records what that has shown.

Run as `python -m lab.functions.prove` with

    (nothing)                                the definitions whose evidence is missing or out of date
    --all                                    every definition
    --check                                  runs nothing; exit status 1 where something is out of date
    --backend cuda --formats f32 --out FILE  on another machine, into a file
    --merge FILE                             takes over what FILE has about today's definitions

F32 functions of one operand run on all 2^32 inputs, on the backend, against the committed digests of the
truth: seconds each on an H200, minutes on two cores. Those of F16 and BF16 run on all 65,536 inputs, and
those of two operands on 2^22 pairs, half of them hard, against Arb; they need llvmlite and python-flint.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.truth import store
from vyre.conform.oracle.truth.check import EXHAUSTIVE, check
from vyre.conform.oracle.truth.functions import FUNCTIONS
from vyre.conform.oracle.truth.runner import Runner
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.types import DataType
from vyre.lower.native import F64_KEYS
from vyre.numeric import evidence
from vyre.numeric.functions import function_op, undecided_op

if TYPE_CHECKING:
    from vyre.backends.protocol import BackendInfo, DeviceMemory
    from vyre.numeric.evidence import Evidence

BINARY = ("atan2", "pow")
PAIRS = 1 << 22
BLOCK = 1 << 18


class OneWay:
    """A backend that lowers float functions to integers, or to doubles."""

    def __init__(self, backend: Any, *, doubles: bool) -> None:
        self._backend = backend
        self._ways = backend.ways if doubles else backend.ways.without(F64_KEYS)
        self._way = "double" if doubles else "soft"
        self.name = str(backend.name)

    def describe(self) -> BackendInfo:
        return self._backend.describe()

    def allocate(self, nbytes: int) -> DeviceMemory:
        return self._backend.allocate(nbytes)

    def borrow(self, data: memoryview) -> DeviceMemory:
        return self._backend.borrow(data)

    def compile(self, program: Any) -> Any:
        executable = self._backend.compile(program, ways=self._ways)
        assert executable.lowering in (self._way, ""), f"lowered as {executable.lowering}, not {self._way}"
        return executable


def opened(name: str) -> Any:
    """By class, so that a source tree is enough."""
    module = importlib.import_module(f"vyre.backends.{name}.backend")
    return getattr(module, {"cpu": "CpuBackend", "cuda": "CudaBackend", "opencl": "OpenClBackend"}[name])()


def words_of(backend: Any) -> str:
    info = backend.describe()
    return ", ".join(x for x in (info.name, info.device, info.driver, info.toolchain) if x)


def swept(op_id: str, backend: Any) -> Evidence:
    """A function of one F32, on every input."""
    name = op_id.rpartition(".")[2]
    runner = Runner(OneWay(backend, doubles=op_id.startswith("double.")))
    try:
        runner.require_digests()
        verdict = check(runner, FUNCTIONS[name])
    finally:
        runner.close()
    if verdict.status != EXHAUSTIVE:
        sys.exit(f"{op_id}: {verdict.status}, {verdict.differing} chunks differ: {verdict.chunks}")
    against = f"truth of {name}, SHA-256 {store.load(name).sha256[:16]}"
    return made(op_id, evidence.EXHAUSTIVE, verdict.inputs, against, words_of(backend))


def tried(op_id: str) -> Evidence:
    """Every value of a 16-bit format, or many pairs, of a definition on integers."""
    from lab.floats.jit import compiled
    from lab.floats.truth import truth
    from lab.functions.pairs import pairs

    _, kind, name = op_id.split(".")
    fmt = STRICT_FORMATS[DataType(kind.upper())]
    op = function_op(op_id)
    assert op is not None
    run, cases, undecided = compiled(op), 0, 0
    blocks = [(k, k + BLOCK) for k in range(0, PAIRS, BLOCK)] if name in BINARY else [(0, 1 << 16)]
    for start, stop in blocks:
        block = (np.arange(start, stop, dtype=np.uint32),)
        if name in BINARY:
            block = pairs(fmt, name, start, stop)
            undecided += int(compiled(undecided_op(op_id))(*block).sum())
        wrong = np.flatnonzero(run(*block) != truth(name, fmt, *block)[0])
        if wrong.size:
            sys.exit(f"{op_id} is wrong at {[hex(int(x[wrong[0]])) for x in block]}")
        cases += block[0].size
    found = made(op_id, _kind(name), cases, "NumPy's doubles, Arb where these do not decide", "llvmlite")
    return {**found, "open": undecided} if name in BINARY else found


def tried_in_doubles(op_id: str, backend: Any) -> Evidence:
    """Pairs of F32 through the backend, in doubles."""
    from lab.floats.truth import truth
    from lab.functions.pairs import pairs
    from vyre.backends.execute import run_bytes
    from vyre.conform.oracle.floats.operations import operations

    name = op_id.rpartition(".")[2]
    fmt = STRICT_FORMATS[DataType.F32]
    program = next(
        o for o in operations() if o.name == {"pow": "FPow F32", "atan2": "FATan2 F32"}[name]
    ).program()
    executable = OneWay(backend, doubles=True).compile(program)
    for start in range(0, PAIRS, BLOCK):
        block = pairs(fmt, name, start, start + BLOCK)
        given = {k: x.tobytes() for k, x in zip("ab", block, strict=True)} | {"out": bytes(4 * BLOCK)}
        done = run_bytes(executable, program, given, (BLOCK // program.workgroup_size[0], 1, 1))
        wrong = np.flatnonzero(np.frombuffer(done["out"], np.uint32) != truth(name, fmt, *block)[0])
        if wrong.size:
            sys.exit(f"{op_id} is wrong at {[hex(int(x[wrong[0]])) for x in block]}")
    against = "NumPy's doubles, Arb where these do not decide"
    return made(op_id, evidence.WITNESSED, PAIRS, against, words_of(backend))


def _kind(name: str) -> str:
    return evidence.WITNESSED if name in BINARY else evidence.EXHAUSTIVE


def made(op_id: str, kind: str, cases: int, against: str, by: str) -> Evidence:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    digest = evidence.digest(op_id)
    return {"digest": digest, "kind": kind, "cases": cases, "against": against, "by": by, "date": today}


def shown(op_id: str, backend: Any) -> Evidence:
    way, kind, name = op_id.split(".")
    if kind == "f32" and name not in BINARY:
        return swept(op_id, backend)
    return tried_in_doubles(op_id, backend) if way == "double" else tried(op_id)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--backend", choices=["cpu", "cuda", "opencl"], default="cpu")
    parser.add_argument("--formats", default="f32,f16,bf16")
    parser.add_argument("--unary", action="store_true", help="functions of one operand only")
    parser.add_argument("--out", type=Path, default=evidence.RECORD)
    parser.add_argument("--merge", type=Path)
    options = parser.parse_args()
    record = dict(evidence.load(options.out))
    if options.merge is not None:
        for op_id, found in evidence.load(options.merge).items():
            if found["digest"] == evidence.digest(op_id):
                record[op_id] = found
            else:
                print(f"{op_id}: another definition was run; left out")
        evidence.save(record, options.out)
    stale = evidence.unverified(record)
    if options.check or options.merge is not None:
        print("\n".join(f"{op_id}: {why}" for op_id, why in stale.items()) or "every definition was run")
        return 1 if stale else 0
    backend = opened(options.backend)
    for op_id in evidence.definitions() if options.all else stale:
        _, kind, name = op_id.split(".")
        if kind not in options.formats.split(",") or (options.unary and name in BINARY):
            continue
        record[op_id] = shown(op_id, backend)
        evidence.save(record, options.out)
        print(f"{op_id}: {record[op_id]['kind']}, {record[op_id]['cases']} cases", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
