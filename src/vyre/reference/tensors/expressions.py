"""`ElementWise`: the expression at every place, by the interpreter of programs.

One invocation goes over the elements. Loading and storing extend and cut narrow elements as they do in every
program, and calls of ops are executed by binding their arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Let, Loop, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.reference.interpreter import run
from vyre.reference.tensors.elements import Elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.graph.nodes import ElementWise


def packed(element: DataType, bits: Sequence[int]) -> bytes:
    """The elements as they lie in a buffer."""
    return b"".join(x.to_bytes(element.stride, "little") for x in bits)


def unpacked(element: DataType, data: bytes) -> list[int]:
    """The elements of a buffer; a Bool is 0 or 1 whatever its bytes are."""
    width = element.stride
    words = [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]
    return [int(word != 0) for word in words] if element is DataType.Bool else words


def computed(
    node: ElementWise, of: Sequence[Elements], elements: Sequence[DataType], step_budget: int
) -> tuple[Elements, int]:
    """The result, and the steps that it took. `elements` are the types of the operands."""
    count = of[0].count
    sources = [BufferDecl.read(f"source{i}", i, element) for i, element in enumerate(elements)]
    target = BufferDecl.read_write("target", len(of), node.element, count=count)
    place = Var("place")
    loads = [Let(f"x{i}", source[place]) for i, source in enumerate(sources)]
    loop = Loop("place", LitU32(0), LitU32(count), (*loads, Store("target", place, node.expr)))
    result = run(
        Program([*sources, target], (1, 1, 1), [loop] if count else []),
        {s.name: packed(s.element, x.bits) for s, x in zip(sources, of, strict=True)},
        (1, 1, 1),
        step_budget=step_budget,
        check=False,
    )
    return Elements(of[0].shape, unpacked(node.element, result.buffers["target"])), result.steps
