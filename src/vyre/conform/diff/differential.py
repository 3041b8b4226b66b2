"""Differential runs: generated programs on a backend against the reference, byte for byte.

A program that a backend gets wrong is kept as text with its inputs, named after its content, and is
replayed for ever.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from vyre.backends.execute import run_bytes
from vyre.compose.inline import inline
from vyre.conform.generate.programs import GeneratedProgram, ProgramOptions
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.ir.buffers import BufferAccess
from vyre.ir.program import Program
from vyre.ir.types import FLOAT_TYPES, VALUE_TYPES, DataType
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from vyre.backends.protocol import Backend

INTEGER_TYPES = tuple(t for t in VALUE_TYPES if t not in FLOAT_TYPES)
INTEGER_PROGRAMS = ProgramOptions(types=INTEGER_TYPES, statements=5, stored=True)
"""Programs of the integer track: every integer, lane and Bool type, Bytes buffers, no floats."""
_WORDS = (DataType.U32, DataType.I32, DataType.Bool)
_FLOATS = (*(DataType.F32,) * 4, DataType.F16, DataType.BF16)
FLOAT_PROGRAMS = ProgramOptions(types=(*_WORDS, *_FLOATS), functions=False, statements=5)
"""Programs of the float track: mostly F32, with the words that steer them."""
DOUBLE_PROGRAMS = replace(FLOAT_PROGRAMS, types=(*_WORDS, *_FLOATS, DataType.F64, DataType.F64))
FUNCTION_PROGRAMS = replace(FLOAT_PROGRAMS, functions=True, statements=2)
"""Short: a correctly rounded function is long code, and slow in the reference."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first buffer and element in which a backend differs from the reference."""

    seed: int
    buffer: str
    element: int
    expected: int
    actual: int

    def __str__(self) -> str:
        return (
            f"program {self.seed}: {self.buffer}[{self.element}] "
            f"is 0x{self.actual:X}, expected 0x{self.expected:X}"
        )


def reference_bytes(generated: GeneratedProgram) -> dict[str, bytes]:
    """The ReadWrite buffers as the reference leaves them."""
    return run(inline(generated.program), generated.inputs, generated.workgroups, check=False).buffers


def compare(
    generated: GeneratedProgram, backend: Backend, *, expected: Mapping[str, bytes] | None = None
) -> Mismatch | None:
    """Runs one generated program on both; None when every ReadWrite byte agrees.

    `expected` are the reference's bytes where they are known already.
    """
    program = inline(generated.program)
    expected = reference_bytes(generated) if expected is None else expected
    actual = run_on(backend, program, generated)
    found = first_difference(program, expected, actual)
    return None if found is None else Mismatch(generated.seed, *found)


def first_difference(
    program: Program, expected: Mapping[str, bytes], actual: Mapping[str, bytes]
) -> tuple[str, int, int, int] | None:
    """Buffer, element, and the bits on both sides, for the first ReadWrite element that differs."""
    for decl in program.buffers:
        if decl.access is not BufferAccess.ReadWrite or expected[decl.name] == actual[decl.name]:
            continue
        stride = decl.element.stride
        for i in range(len(expected[decl.name]) // stride):
            want = int.from_bytes(expected[decl.name][i * stride : (i + 1) * stride], "little")
            got = int.from_bytes(actual[decl.name][i * stride : (i + 1) * stride], "little")
            if want != got:
                return decl.name, i, want, got
    return None


def run_on(backend: Backend, program: Program, generated: GeneratedProgram) -> dict[str, bytes]:
    """The ReadWrite buffers after running `program`, which holds no calls, on a backend."""
    return run_bytes(backend.compile(program), program, generated.inputs, generated.workgroups)


class Agreement(Enum):
    """What came of one program on one backend."""

    Agrees = "agrees"
    Differs = "differs"
    Refused = "refused"
    Failed = "failed"
    """The backend raised an error other than a refusal."""


def judge(
    generated: GeneratedProgram, backend: Backend, *, expected: Mapping[str, bytes] | None = None
) -> tuple[Agreement, str]:
    """The verdict with its detail: the mismatch, the refusal or the error in words."""
    try:
        mismatch = compare(generated, backend, expected=expected)
    except UnsupportedByBackend as refusal:
        return Agreement.Refused, str(refusal)
    except VyreError as error:
        return Agreement.Failed, f"{type(error).__name__}: {error}"
    if mismatch is None:
        return Agreement.Agrees, ""
    return Agreement.Differs, str(mismatch)


def fails_like(verdict: Agreement, backend: Backend) -> Callable[[GeneratedProgram], bool]:
    """The question for `shrink_program`: does this program still come to the same verdict?"""
    return lambda generated: judge(generated, backend)[0] is verdict


@dataclass(frozen=True, slots=True)
class KeptCase:
    """A program that some backend once got wrong; `expected` are the reference's bytes."""

    generated: GeneratedProgram
    expected: dict[str, bytes]
    found: str


def keep_case(folder: Path, generated: GeneratedProgram, found: str) -> Path:
    """Writes the program as text and its inputs as JSON; equal programs get equal names."""
    text = generated.program.to_text()
    result = run(generated.program, generated.inputs, generated.workgroups)
    facts: dict[str, Any] = {
        "workgroups": list(generated.workgroups),
        "inputs": {name: data.hex() for name, data in sorted(generated.inputs.items())},
        "expected": {name: data.hex() for name, data in sorted(result.buffers.items())},
    }
    content = text + json.dumps(facts, sort_keys=True)
    name = hashlib.sha256(content.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    record = {"found": found, "seed": generated.seed, **facts}
    path = folder / f"{name}.vyre"
    (folder / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
    path.write_text(text)
    return path


def kept_cases(folder: Path) -> Iterator[tuple[str, KeptCase]]:
    """Every kept program by name, in order."""
    for path in sorted(folder.glob("*.vyre")):
        record = json.loads(path.with_suffix(".json").read_text())
        x, y, z = record["workgroups"]
        generated = GeneratedProgram(
            record["seed"],
            Program.from_text(path.read_text(), file=path.name),
            {name: bytes.fromhex(data) for name, data in record["inputs"].items()},
            (x, y, z),
        )
        expected = {name: bytes.fromhex(data) for name, data in record["expected"].items()}
        yield path.stem, KeptCase(generated, expected, record["found"])
