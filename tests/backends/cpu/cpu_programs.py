"""Short ways to run a program on the cpu backend and on the reference, and to compare."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.backends.cpu.backend import CpuBackend
from vyre.ir import BufferAccess, BufferDecl, DataType, Expr, Node, Program
from vyre.reference import run
from vyre.validate import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

U32 = DataType.U32
EDGES = (0, 1, 2, 3, 5, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xAAAAAAAA, 0xFFFFFFFE, 0xFFFFFFFF)


@cache
def backend() -> CpuBackend:
    return CpuBackend(threads=2)


def words(*values: int) -> bytes:
    return b"".join((v & 0xFFFFFFFF).to_bytes(4, "little") for v in values)


def numbers(data: bytes, stride: int = 4) -> list[int]:
    return [int.from_bytes(data[i : i + stride], "little") for i in range(0, len(data), stride)]


def on_cpu(
    program: Program,
    buffers: Mapping[str, bytes],
    workgroups: tuple[int, int, int] = (1, 1, 1),
    *,
    on: CpuBackend | None = None,
) -> dict[str, bytes]:
    """Every ReadWrite buffer after the run; those not supplied start as zeros."""
    executable = (on or backend()).compile(program)
    memory: dict[str, bytearray] = {}
    views: dict[str, memoryview] = {}
    for decl in program.buffers:
        if decl.access.shared:
            continue
        memory[decl.name] = bytearray(buffers.get(decl.name, bytes(decl.count * decl.element.stride)))
        view = memoryview(memory[decl.name])
        views[decl.name] = view if decl.access.writable else view.toreadonly()
    executable.run(views, workgroups)
    return {b.name: bytes(memory[b.name]) for b in program.buffers if b.access is BufferAccess.ReadWrite}


def agree(
    program: Program,
    buffers: Mapping[str, bytes] | None = None,
    workgroups: tuple[int, int, int] = (1, 1, 1),
) -> dict[str, bytes]:
    """The result on the cpu, which is the reference's too, byte for byte."""
    check(program)
    given = dict(buffers or {})
    actual = on_cpu(program, given, workgroups)
    assert actual == run(program, given, workgroups).buffers
    return actual


def each(
    reads: Mapping[str, tuple[DataType, bytes]], values: Sequence[tuple[Expr, DataType]], count: int
) -> list[list[int]]:
    """Evaluates expressions over the index `InvocationId(0)` for `count` invocations, on both."""
    from vyre.ir import InvocationId

    decls = [BufferDecl.read(name, k, t) for k, (name, (t, _)) in enumerate(reads.items())]
    outs = [BufferDecl.read_write(f"out{k}", len(decls) + k, t) for k, (_, t) in enumerate(values)]
    body: list[Node] = [
        out.store(InvocationId(0), value) for out, (value, _) in zip(outs, values, strict=True)
    ]
    program = Program([*decls, *outs], (8,), body)
    buffers = {name: data for name, (_, data) in reads.items()}
    buffers |= {out.name: bytes(count * out.element.stride) for out in outs}
    result = agree(program, buffers, (-(-count // 8), 1, 1))
    return [numbers(result[out.name], out.element.stride) for out in outs]


def kernel(
    entry: Iterable[Node],
    *buffers: BufferDecl,
    size: Sequence[int] = (8,),
    out: DataType = U32,
    count: int = 8,
) -> Program:
    """A program with a ReadWrite buffer `out` besides the given ones."""
    return Program([BufferDecl.read_write("out", 0, out, count=count), *buffers], size, entry)
