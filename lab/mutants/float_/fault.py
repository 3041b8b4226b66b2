"""A float operation lowered to something else: which expressions are that operation, and what replaces them.

    Fault("flushed", "FAdd F16", build, words)      `build` gets the operands
    mutant(fault)                                   the wrong backend, with `words` as its witness

Operations have the names of `conform/oracle/floats/operations.py`. What an expression is depends on the types
of its operands, so the types of a program are worked out before it is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import Mutated
from lab.mutants.mutant import LOWERING, USUAL_CASES, Mutant
from lab.mutants.rewrite import rewrite
from vyre.conform.oracle.floats.operations import operations
from vyre.conform.spec.float_names import convert_id, name_of, short
from vyre.ir.environment import Types
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, UnOp
from vyre.ir.operators import FLOAT_BINARY_OPS, FLOAT_UNARY_OPS
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lab.mutants.mutant import Make
    from vyre.conform.oracle.floats.operations import Operation
    from vyre.ir.program import Program

Build = Callable[..., Expr]
One = Callable[[Expr], Expr]
Two = Callable[[Expr, Expr], Expr]
Rule = Callable[[Expr, Types], Expr]


@dataclass(frozen=True, slots=True)
class Fault:
    """An operation that is emitted as something else, and operand words at which that shows."""

    kind: str
    operation: str
    build: Build
    witness: tuple[int, ...]
    note: str = ""
    """What tells it apart from others of its kind in the same operation."""
    density: float | None = None
    promised: bool = True
    cases: int = USUAL_CASES


def one(kind: str, operation: str, build: One, witness: tuple[int, ...], *, note: str = "") -> Fault:
    """A fault of an operation of one operand."""
    return Fault(kind, operation, build, witness, note)


def two(kind: str, operation: str, build: Two, witness: tuple[int, ...], *, note: str = "") -> Fault:
    """A fault of an operation of two operands."""
    return Fault(kind, operation, build, witness, note)


@cache
def _known() -> dict[str, Operation]:
    return {o.name: o for o in operations()}


def right(name: str) -> Build:
    """How the operation is written."""
    return _known()[name].build


def op_id(name: str) -> str:
    """The id of the spec of an operation."""
    op, *kinds = name.split()
    if op == "Cast":
        return ".".join(["cast", *(k.lower() for k in kinds)])
    return convert_id(kinds) if op == "Convert" else name_of(short(op), DataType(kinds[0]))


def name_at(x: Expr, types: Types) -> str | None:
    """The name of the operation that an expression is; None where it is not one of floats."""
    match x:
        case BinOp(op=op, left=left) if op in FLOAT_BINARY_OPS:
            return f"{op.value} {types.type(left).value}"
        case UnOp(op=op, operand=operand) if op in FLOAT_UNARY_OPS:
            return f"{op.value} {types.type(operand).value}"
        case FMulAdd(a=a):
            return f"FMulAdd {types.type(a).value}"
        case Convert(target=target, mode=mode, value=value):
            source = types.type(value)
            return f"Convert {source.value} {target.value}" + (f" {mode.value}" if source.is_float else "")
        case Cast(target=target, value=value):
            return f"Cast {types.type(value).value} {target.value}"
        case _:
            return None


def by_rule(rule: Rule) -> Make:
    """A wrong backend in whose programs every expression is what `rule` makes of it."""
    return lambda inner: Mutated(inner, change=partial(_changed, rule))


def _changed(rule: Rule, program: Program) -> Program:
    types = Types.of(program.entry, program.buffers)
    return rewrite(program, expr=lambda x: rule(x, types))


def lowered(name: str, build: Build) -> Make:
    """A wrong backend on which one operation is what `build` makes of its operands."""

    def rule(x: Expr, types: Types) -> Expr:
        return build(*x.children) if name_at(x, types) == name else x

    return by_rule(rule)


def mutant(fault: Fault) -> Mutant:
    found = op_id(fault.operation)
    words = ",".join(f"0x{w:X}" for w in fault.witness)
    more: dict[str, Any] = {"density": fault.density, "promised": fault.promised, "cases": fault.cases}
    return Mutant(
        fault.kind,
        f"{found}, {fault.note}" if fault.note else found,
        LOWERING,
        lowered(fault.operation, fault.build),
        f"{found}/inputs/{words}",
        **more,
    )


def planted(faults: Iterable[Fault]) -> Iterator[Mutant]:
    return map(mutant, faults)
