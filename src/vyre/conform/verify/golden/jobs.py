"""Executable golden rows as programs: rows of one operation share one program and one dispatch.

Operands come from ReadOnly buffers and results go to a ReadWrite buffer, one invocation a case, so that
no compiler can fold what is to be tested.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.oracle.golden.rows import Row, bits_of, variables
from vyre.conform.oracle.golden.samples import assignments
from vyre.conform.verify.golden.operations import operation_of
from vyre.conform.verify.golden.outcome import RowOutcome, Status, show
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, InvocationId, Load, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from vyre.compose.registry import Registry

_WIDTH = 64
INDEX = Var("i")


@dataclass(frozen=True, slots=True)
class GoldenJob:
    """One dispatch that answers for several rows; `judge` reads the ReadWrite buffers after it."""

    rows: tuple[Row, ...]
    program: Program
    buffers: Mapping[str, bytes]
    workgroups: tuple[int, int, int]
    judge: Callable[[Mapping[str, bytes]], list[RowOutcome]]
    registry: Registry | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    row: Row
    inputs: tuple[int, ...]
    expected: int


def element_jobs(rows: Iterable[Row], *, through_calls: bool = False) -> Iterator[GoldenJob]:
    """Rows that apply one operation; with `through_calls`, the library op of the row's id instead."""
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        groups[operation_of(row).key].append(row)
    for group in groups.values():
        yield _element_job(group, through_calls=through_calls)


def _element_job(rows: Sequence[Row], *, through_calls: bool) -> GoldenJob:
    operation = operation_of(rows[0])
    cases = [case for row in rows for case in _cases(row)]
    names = [f"in{k}" for k in range(len(operation.operands))]
    loads = tuple(Load(name, INDEX) for name in names)
    result: Expr = Call(rows[0].stem, loads) if through_calls else operation.build(loads)
    program = one_per_invocation(
        [BufferDecl.read(n, k, t) for k, (n, t) in enumerate(zip(names, operation.operands, strict=True))],
        [BufferDecl.read_write("out", len(names), operation.result)],
        [Store("out", INDEX, result)],
    )
    buffers = {
        name: pack((case.inputs[k] for case in cases), operation.operands[k]) for k, name in enumerate(names)
    }
    buffers["out"] = bytes(len(cases) * operation.result.stride)

    def judge(results: Mapping[str, bytes]) -> list[RowOutcome]:
        actual = unpack(results["out"], operation.result)
        counts: dict[str, int] = defaultdict(int)
        failures: dict[str, tuple[_Case, int]] = {}
        for case, got in zip(cases, actual, strict=True):
            counts[case.row.id] += 1
            if case.expected != got and not operation.agrees(case.expected, got):
                failures.setdefault(case.row.id, (case, got))
        return [
            _failed(*failures[row.id], counts[row.id], str(program))
            if row.id in failures
            else RowOutcome(row, Status.Passed, counts[row.id])
            for row in rows
        ]

    return GoldenJob(tuple(rows), program, buffers, grid_of(len(cases)), judge)


def _failed(case: _Case, got: int, cases: int, program: str) -> RowOutcome:
    operation = operation_of(case.row)
    inputs = ", ".join(show(v, t) for v, t in zip(case.inputs, operation.operands, strict=True))
    expected, actual = show(case.expected, operation.result), show(got, operation.result)
    return RowOutcome(case.row, Status.Failed, cases, inputs, expected, actual, program)


def _cases(row: Row) -> Iterator[_Case]:
    operation = operation_of(row)
    domains: dict[str, DataType] = {}
    for value, of in zip(row["inputs"], operation.operands, strict=True):
        for name in sorted(variables(value)):
            domains[name] = DataType.U32 if isinstance(value, list) else of
    for bound in assignments(row.id, domains) if domains else ({},):
        inputs = tuple(bits_of(v, t, bound) for v, t in zip(row["inputs"], operation.operands, strict=True))
        yield _Case(row, inputs, bits_of(row["expected"], operation.result, bound))


def pack(values: Iterable[int], of: DataType) -> bytes:
    stride = of.stride
    return b"".join([value.to_bytes(stride, "little") for value in values])


def unpack(data: bytes, of: DataType) -> list[int]:
    stride = of.stride
    return [int.from_bytes(data[k : k + stride], "little") for k in range(0, len(data), stride)]


def one_per_invocation(reads: list[BufferDecl], writes: list[BufferDecl], body: list[Node]) -> Program:
    """A program in which invocation `i` works on case `i`; surplus invocations are out of bounds."""
    return Program([*reads, *writes], (_WIDTH,), [Let("i", InvocationId(0)), *body])


def grid_of(cases: int) -> tuple[int, int, int]:
    return (-(-cases // _WIDTH), 1, 1)
