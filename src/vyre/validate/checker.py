"""The entry points of validation. Nothing here recurses, whatever the program looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import ValidationError, boundary
from vyre.ir.limits import MAX_NODES
from vyre.ir.program import require_program
from vyre.validate.collectives import check_subgroups
from vyre.validate.context import Context, Ops, buffer_table
from vyre.validate.declarations import check_declarations
from vyre.validate.gathered import Report
from vyre.validate.op_bodies import check_called_ops, check_op
from vyre.validate.oversized import check_oversized
from vyre.validate.statements import StatementChecker
from vyre.validate.uniformity import divergences

if TYPE_CHECKING:
    from vyre.compose.registry import Registry
    from vyre.errors import Diagnostic
    from vyre.ir.op import Op
    from vyre.ir.program import Program


@boundary
def validate(
    program: Program, *, registry: Registry | None = None, allow_reserved: bool = False
) -> list[Diagnostic]:
    """Every independent error of a program: declarations, statements in order, uniform control flow, ops.

    `registry` None is the default one. `allow_reserved` accepts names with the `__` prefix, which
    inlining makes. At most `MAX_DIAGNOSTICS` are reported, and a program over the node limit (V019)
    is checked for its other limits only.
    """
    require_program(program)
    report = Report(program.locations)
    check_declarations(program, report, allow_reserved=allow_reserved)
    size = program.size
    if size > MAX_NODES:
        check_oversized(program.entry, size, "entry", report)
        return report.diagnostics
    ops = Ops(registry)
    context = Context(buffer_table(program.buffers), ops)
    StatementChecker(context, report, allow_reserved=allow_reserved).run(program.entry, "entry")
    collectives = ops.collectives.among(context.calls)
    check_subgroups(program.workgroup_size, collectives, context.calls, report)
    steered = context.has_barrier or collectives
    if steered and not any(d.code == "V018" for d in report.diagnostics):
        for found in divergences(program.entry, context.buffers, collectives=collectives):
            report.add(found.code, found.message, found.fix, found.path)
    check_called_ops(program.entry, context.calls, ops, report)
    return report.diagnostics


@boundary
def check(program: Program, *, registry: Registry | None = None, allow_reserved: bool = False) -> None:
    """Raises one `ValidationError` that holds everything `validate` reports."""
    diagnostics = validate(program, registry=registry, allow_reserved=allow_reserved)
    if diagnostics:
        raise ValidationError(diagnostics)


def validate_op(op: Op, *, registry: Registry | None = None) -> list[Diagnostic]:
    """Every independent error of an op and of the ops it reaches; `op` need not be registered."""
    report = Report({})
    check_op(op, Ops(registry, (op,)), report)
    return report.diagnostics
