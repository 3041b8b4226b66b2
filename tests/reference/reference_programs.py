"""Short ways to build and run the programs of these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import Block, BufferDecl, DataType, Expr, If, LitU32, LocalId, Loop, Node, Program
from vyre.reference import Report, Schedule, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LID = LocalId(0)


def words(*values: int) -> bytes:
    """U32 elements as the host sees them."""
    return b"".join((v & 0xFFFFFFFF).to_bytes(4, "little") for v in values)


def elements(data: bytes, stride: int = 4) -> list[int]:
    return [int.from_bytes(data[i : i + stride], "little") for i in range(0, len(data), stride)]


def when(condition: Expr, then: Sequence[Node], orelse: Sequence[Node] = ()) -> If:
    return If(condition, tuple(then), tuple(orelse))


def loop(var: str, start: Expr, stop: Expr, body: Sequence[Node]) -> Loop:
    return Loop(var, start, stop, tuple(body))


def block(body: Sequence[Node]) -> Block:
    return Block(tuple(body))


def evaluate(
    expr: Expr,
    kind: DataType = DataType.U32,
    *,
    lets: Sequence[Node] = (),
    inputs: Sequence[BufferDecl] = (),
    buffers: Mapping[str, bytes] | None = None,
    check: bool = True,
) -> int:
    """The bits of one expression, stored to a buffer of its type."""
    out = BufferDecl.read_write("out", 0, kind, count=1)
    program = Program([out, *inputs], (1,), [*lets, out.store(0, expr)])
    result = run(program, buffers or {}, (1, 1, 1), check=check)
    return int.from_bytes(result.buffers["out"], "little")


def outputs(
    entry: Iterable[Node],
    *,
    count: int = 8,
    size: int = 8,
    groups: int = 1,
    shared: Sequence[BufferDecl] = (),
    schedule: Schedule | None = None,
    check: bool = True,
) -> list[int]:
    """The U32 buffer `out` after a run of `groups` workgroups of `size` invocations."""
    program = Program([*buffers(count), *shared], (size,), entry)
    result = run(program, {}, (groups, 1, 1), schedule=schedule, check=check)
    return elements(result.buffers["out"])


def detected(
    entry: Iterable[Node],
    *,
    count: int = 64,
    size: int = 4,
    groups: int = 1,
    shared: Sequence[BufferDecl] = (),
    schedule: Schedule | None = None,
    check: bool = True,
) -> Report:
    program = Program([*buffers(count), *shared], (size,), entry)
    return run(program, {}, (groups, 1, 1), schedule=schedule, detect=True, check=check).report


def buffers(count: int) -> list[BufferDecl]:
    return [BufferDecl.read_write("out", 0, DataType.U32, count=count)]


OUT = BufferDecl.read_write("out", 0, DataType.U32)
TILE = BufferDecl.workgroup("tile", DataType.U32, 8)
BINS = BufferDecl.workgroup("bins", DataType.U32, 8, atomic=True)
ZERO = LitU32(0)
