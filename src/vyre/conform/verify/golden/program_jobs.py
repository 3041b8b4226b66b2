"""Golden rows that are whole programs: the layout of a literal in memory, and programs in the text form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.oracle.golden.rows import Row, Value, bits_of
from vyre.conform.verify.golden.jobs import GoldenJob, pack, unpack
from vyre.conform.verify.golden.outcome import RowOutcome, Status, show
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitBool, Literal, LitI32, LitU32, MakeVec, lift
from vyre.ir.node import Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vyre.compose.registry import Registry


def layout_jobs(rows: Iterable[Row]) -> Iterator[GoldenJob]:
    """A literal, stored, shows the bytes of its type."""
    for row in rows:
        yield _layout_job(row)


def _layout_job(row: Row) -> GoldenJob:
    of = DataType(row["type"])
    store = Store("out", lift(0), literal(of.loaded, bits_of(row["value"], of, {})))
    program = Program([BufferDecl.read_write("out", 0, of, count=1)], (1,), [store])

    def judge(results: Mapping[str, bytes]) -> list[RowOutcome]:
        got = results["out"].hex()
        if got == row["bytes"]:
            return [RowOutcome(row, Status.Passed, 1)]
        return [RowOutcome(row, Status.Failed, 1, str(row["value"]), row["bytes"], got, str(program))]

    return GoldenJob((row,), program, {"out": bytes(of.stride)}, (1, 1, 1), judge)


def literal(of: DataType, bits: int) -> Expr:
    """The literal expression of some bits."""
    match of:
        case DataType.U32:
            return LitU32(bits)
        case DataType.I32:
            return LitI32(bits - (1 << 32) if bits >> 31 else bits)
        case DataType.Bool:
            return LitBool(bool(bits))
        case DataType.Vec2U32 | DataType.Vec4U32:
            return MakeVec(of, tuple(LitU32(bits >> (32 * k) & 0xFFFF_FFFF) for k in range(of.lanes)))
        case _:
            return Literal(of, bits)


def program_jobs(rows: Iterable[Row]) -> Iterator[GoldenJob]:
    """Rows that are whole programs in the text form."""
    from vyre.compose.registry import default_registry
    from vyre.text import parse_op, parse_program
    from vyre.wire import decode, encode

    for row in rows:
        program = parse_program("\n".join(row["text"]))
        if row.fields.get("through") == "wire":
            program = decode(encode(program))
        ops = [parse_op("\n".join(text)) for text in row.fields.get("ops", ())]
        registry = default_registry().extend(ops) if ops else None
        yield _program_job(row, program, registry)


def _program_job(row: Row, program: Program, registry: Registry | None) -> GoldenJob:
    element = {b.name: DataType.U32 if b.element is DataType.Bytes else b.element for b in program.buffers}

    def encoded(name: str, values: Sequence[Value]) -> bytes:
        of = element[name]
        return pack((bits_of(v, of, {}) for v in values), of)

    def judge(results: Mapping[str, bytes]) -> list[RowOutcome]:
        for name, values in row["expected"].items():
            promised = encoded(name, values)
            if results[name] != promised:
                of = element[name]
                texts = [", ".join(show(v, of) for v in unpack(b, of)) for b in (promised, results[name])]
                return [RowOutcome(row, Status.Failed, 1, name, texts[0], texts[1], str(program))]
        return [RowOutcome(row, Status.Passed, 1)]

    buffers = {name: encoded(name, values) for name, values in row["buffers"].items()}
    x, y, z = row.fields.get("workgroups", (1, 1, 1))
    return GoldenJob((row,), program, buffers, (x, y, z), judge, registry)
