"""Golden rows about memory: atomics on one element, float reductions over a range."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from vyre.conform.oracle.golden.rows import Row, number
from vyre.conform.verify.golden.jobs import INDEX, GoldenJob, grid_of, one_per_invocation, pack, unpack
from vyre.conform.verify.golden.operations import within
from vyre.conform.verify.golden.outcome import RowOutcome, Status, compared, show
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, BinOp, BufLen, Expr, FReduce, FReduceApprox, Load
from vyre.ir.node import If, Store
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOp, ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_T = DataType


def atomic_jobs(rows: Iterable[Row]) -> Iterator[GoldenJob]:
    """Each case has an element of its own; an out-of-bounds case aims far behind the buffer."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["op"]].append(row)
    for op, group in groups.items():
        yield _atomic_job(AtomicOp(op), group)


def _atomic_job(op: AtomicOp, rows: Sequence[Row]) -> GoldenJob:
    expected = Load("compare", INDEX) if op is AtomicOp.CompareExchange else None
    update = Atomic(op, "data", Load("at", INDEX), Load("value", INDEX), expected)
    in_range = BinOp(BinaryOp.Lt, INDEX, BufLen("out"))  # a surplus invocation would aim at element 0
    reads = ["at", "value"] + (["compare"] if expected is not None else [])
    program = one_per_invocation(
        [BufferDecl.read(name, k, _T.U32) for k, name in enumerate(reads)],
        [BufferDecl.read_write("data", 3, _T.U32), BufferDecl.read_write("out", 4, _T.U32)],
        [If(in_range, (Store("out", INDEX, update),))],
    )

    def column(name: str) -> list[int]:
        return [number(row[name], {}) for row in rows]

    buffers = {
        "at": pack([k if row["in_bounds"] else 0xFFFF_FFF0 for k, row in enumerate(rows)], _T.U32),
        "value": pack(column("value"), _T.U32),
        "data": pack(column("before"), _T.U32),
        "out": bytes(4 * len(rows)),
    }
    if expected is not None:
        buffers["compare"] = pack(column("compare"), _T.U32)

    def judge(results: Mapping[str, bytes]) -> list[RowOutcome]:
        pairs = zip(unpack(results["out"], _T.U32), unpack(results["data"], _T.U32), strict=True)
        return [
            compared(
                row,
                _effect(number(row["returned"], {}), number(row["after"], {})),
                _effect(returned, after),
                program=str(program),
                inputs=f"{row['before']}, {row['value']}",
            )
            for row, (returned, after) in zip(rows, pairs, strict=True)
        ]

    return GoldenJob(tuple(rows), program, buffers, grid_of(len(rows)), judge)


def _effect(returned: int, after: int) -> str:
    return f"returned {show(returned, _T.U32)}, left {show(after, _T.U32)}"


def reduce_jobs(rows: Iterable[Row]) -> Iterator[GoldenJob]:
    """Every row is a range of one buffer, folded by one invocation."""
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        groups[(row["order"], row["op"], row["type"], row.fields.get("tolerance"))].append(row)
    for group in groups.values():
        yield _reduce_job(group)


def _reduce_job(rows: Sequence[Row]) -> GoldenJob:
    head = rows[0]
    of, op = _T(head["type"]), ReduceOp(head["op"])
    bounds = (Load("start", INDEX), Load("stop", INDEX))
    tolerance: int = head.fields.get("tolerance", 0)
    if head["order"] == "Approx":
        fold: Expr = FReduceApprox(op, "data", *bounds, tolerance)
    else:
        fold = FReduce(ReduceOrder(head["order"]), op, "data", *bounds)
    program = one_per_invocation(
        [
            BufferDecl.read("data", 0, of),
            BufferDecl.read("start", 1, _T.U32),
            BufferDecl.read("stop", 2, _T.U32),
        ],
        [BufferDecl.read_write("out", 3, of)],
        [Store("out", INDEX, fold)],
    )
    values = [0]
    ranges: list[tuple[int, int]] = []
    for row in rows:
        ranges.append((len(values), len(values) + len(row["values"])))
        values += [number(v, {}) for v in row["values"]]
    buffers = {
        "data": pack(values, of),
        "start": pack((a for a, _ in ranges), _T.U32),
        "stop": pack((b for _, b in ranges), _T.U32),
        "out": bytes(len(rows) * of.stride),
    }

    def judge(results: Mapping[str, bytes]) -> list[RowOutcome]:
        outcomes: list[RowOutcome] = []
        for row, got in zip(rows, unpack(results["out"], of), strict=True):
            promised = number(row["expected"], {})
            if within(promised, got, of, tolerance):
                outcomes.append(RowOutcome(row, Status.Passed, 1))
            else:
                given, want = ", ".join(map(str, row["values"])), show(promised, of)
                outcomes.append(RowOutcome(row, Status.Failed, 1, given, want, show(got, of), str(program)))
        return outcomes

    return GoldenJob(tuple(rows), program, buffers, grid_of(len(rows)), judge)
