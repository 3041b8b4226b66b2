"""The doors of the package that the pins look through: the one file to mend when a module moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.cli import main as command_line
from vyre.compose import default_registry
from vyre.errors import VyreError
from vyre.ir import DataType, Program
from vyre.ir.types import VALUE_TYPES
from vyre.lower.languages import LANGUAGES, lower
from vyre.text import parse_program, print_program
from vyre.validate import check
from vyre.wire import decode, encode, meaning_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "LANGUAGES",
    "DataType",
    "Program",
    "VyreError",
    "check",
    "command_line",
    "decode",
    "default_registry",
    "edge_programs",
    "encode",
    "engine_programs",
    "generated",
    "lower",
    "meaning_digest",
    "parse_program",
    "print_program",
    "registry_digests",
]

_INTEGERS = tuple(t for t in VALUE_TYPES if not t.is_float)


def generated(kind: str, seed: int, *, statements: int) -> Program:
    """The program of a seed: `integer`, `float`, `function` (float functions as well) or `approximate`."""
    from vyre.conform.generate.programs import ProgramOptions, generate_program

    match kind:
        case "integer":
            options = ProgramOptions(types=_INTEGERS, functions=False, statements=statements)
        case "float":
            options = ProgramOptions(functions=False, statements=statements)
        case "function":
            options = ProgramOptions(statements=statements)
        case _:
            options = ProgramOptions(functions=False, approximate=True, statements=statements)
    return generate_program(seed, options).program


def edge_programs() -> Mapping[str, Program]:
    """The programs that every backend must get right, by the promise they keep."""
    from lab.exactness import exactness_programs

    return {name: made.program for name, made in exactness_programs().items()}


def engine_programs() -> Mapping[str, Program]:
    """What the engines dispatch for arrays of a million elements, cut for GPUs and for processors."""
    from vyre.engines import Shape
    from vyre.engines.bins import histogram_engine
    from vyre.engines.compaction import compact_engine
    from vyre.engines.dfa import match_engine
    from vyre.engines.float_fold import fold_named
    from vyre.engines.fold import reduce_engine
    from vyre.engines.prefix import scan_engine
    from vyre.engines.strict import strict_engine
    from vyre.engines.tree import tree_engine

    lengths = {"input": 1 << 20, "flags": 1 << 20, "table": 256 * 5, "accepting": 5}
    found: dict[str, Program] = {}
    for cut, shape in {"wide": Shape(), "narrow": Shape(64, 8, turns=4, banks=False)}.items():
        sums = fold_named("add", DataType.F32)
        engines = {
            "reduce add": reduce_engine("add", shape=shape),
            "reduce max": reduce_engine("max", shape=shape),
            "scan add": scan_engine("add", shape=shape),
            "scan exclusive": scan_engine("add", inclusive=False, shape=shape),
            "compact": compact_engine(shape=shape),
            "histogram": histogram_engine(shape=shape),
            "match": match_engine(shape=shape),
            "tree": tree_engine(sums, shape=shape),
            "strict": strict_engine(sums, shape=shape),
        }
        for name, engine in engines.items():
            for number, (step, _) in enumerate(engine.plan(lengths).dispatches):
                if step.program not in found.values():
                    found[f"{name} {cut} {number}"] = step.program
    return found


def registry_digests() -> Mapping[str, str]:
    """What each registered op of this package promises, and `registry`, the digest of a certificate."""
    from vyre.conform.certify.promises import promises, registry_now
    from vyre.conform.registry import own_specs

    ours = {s.id for s in own_specs()}
    made = promises([op for op in registry_now().ops if op.id in ours])
    return {"registry": made.digest, **{op.id: op.digest for op in made.ops}}
