"""A program while it is written: its statements, its buffers, and the sizes that the host tells it.

Sizes that are known now are literals. The others are words of the uniform buffer `params`, which the host
fills from the lengths of a call; so one program serves every length.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from vyre.engines.kernels import U32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, InvocationId, LitBool, Literal, LitI32, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import If, Let, Loop, Store
from vyre.ir.program import Program
from vyre.planning.numbers import plus, times

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Iterator

    from vyre.graph.sizes import Size
    from vyre.ir.node import Node
    from vyre.ir.types import DataType

ROW = 1 << 14
"""Workgroups along x, after which a grid is folded onto y."""
OUTPUT = "out"
_ATOMS = (Var, LitU32, LitI32, LitBool, Literal)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a shape: by coordinates, or by the number of the element in row-major order."""

    shape: tuple[Size, ...]
    coords: tuple[Expr, ...] | None = None
    flat: Expr | None = None


@dataclass(slots=True)
class Draft:
    """Collects statements. What was named once in a block, or in one around it, is not computed again."""

    _blocks: list[list[Node]] = field(default_factory=lambda: [[]])
    _known: list[dict[Hashable, Expr]] = field(default_factory=lambda: [{}])
    _numbers: Iterator[int] = field(default_factory=count)
    _words: dict[Size, int] = field(default_factory=dict["Size", int])
    _reads: dict[tuple[str, DataType], BufferDecl] = field(
        default_factory=dict[tuple[str, "DataType"], BufferDecl]
    )
    _own: list[BufferDecl] = field(default_factory=list[BufferDecl])

    def emit(self, *nodes: Node) -> None:
        self._blocks[-1].extend(nodes)

    def fresh(self, hint: str) -> str:
        return f"{hint}{next(self._numbers)}"

    def let(self, value: Expr, hint: str = "v") -> Expr:
        """A name for the value, unless it is one or a literal."""
        if isinstance(value, _ATOMS):
            return value
        found = self.recall(value)
        if found is None:
            found = Var(self.fresh(hint))
            self.emit(Let(found.name, value))
            self.note(value, found)
        return found

    def variable(self, value: Expr, hint: str) -> Var:
        """A variable of its own, which is assigned to later."""
        made = Var(self.fresh(hint))
        self.emit(Let(made.name, value))
        return made

    def note(self, key: Hashable, value: Expr) -> None:
        self._known[-1][key] = value

    def recall(self, key: Hashable) -> Expr | None:
        for known in reversed(self._known):
            if key in known:
                return known[key]
        return None

    @contextmanager
    def block(self) -> Generator[list[Node]]:
        """What is emitted inside goes to the list; its names end with it."""
        body: list[Node] = []
        self._blocks.append(body)
        self._known.append({})
        try:
            yield body
        finally:
            self._blocks.pop()
            self._known.pop()

    def size(self, size: Size) -> Expr:
        """A size as an expression: a literal, or a word of `params` behind the number of workgroups."""
        static = size.static
        if static is not None:
            return LitU32(static)
        word = self._words.setdefault(size, 1 + len(self._words))
        return BufferDecl.uniform("params", 0, U32)[LitU32(word)]

    def coords(self, place: Place) -> tuple[Expr, ...]:
        """The coordinates of a place."""
        if place.coords is not None:
            return place.coords
        assert place.flat is not None
        return self.parted(place.flat, place.shape)

    def parted(self, flat: Expr, shape: tuple[Size, ...]) -> tuple[Expr, ...]:
        """The coordinates of an element by its number."""
        wide = [axis for axis, size in enumerate(shape) if size.static != 1]
        found: list[Expr] = [LitU32(0)] * len(shape)
        rest = flat
        for axis in reversed(wide):
            if axis == wide[0]:
                found[axis] = rest
            else:
                size = self.size(shape[axis])
                found[axis] = self.let(rest % size, "c")
                rest = self.let(rest // size, "q")
        return tuple(found)

    def flat(self, place: Place) -> Expr:
        """The number of the element in row-major order."""
        if place.flat is not None:
            return place.flat
        assert place.coords is not None
        return self.let(self.joined(place.coords, place.shape), "i")

    def joined(self, coords: tuple[Expr, ...], shape: tuple[Size, ...]) -> Expr:
        total: Expr = LitU32(0)
        for coord, size in zip(coords, shape, strict=True):
            outer = total if total is LitU32(0) else times(total, self.size(size))
            total = plus(outer, coord)
        return total

    def read(self, name: str, element: DataType) -> BufferDecl:
        """The buffer in which a stored value is read, as elements of this type."""
        key = (name, element)
        if key not in self._reads:
            self._reads[key] = BufferDecl.read(f"a{len(self._reads)}", len(self._reads), element)
        return self._reads[key]

    def own(self, buffer: BufferDecl) -> BufferDecl:
        """Adds memory of a workgroup or an invocation."""
        self._own.append(buffer)
        return buffer

    def store(self, index: Expr, value: Expr) -> None:
        self.emit(Store(OUTPUT, index, value))

    def group(self, row: int = ROW) -> Expr:
        """The number of the workgroup in a grid that is folded onto y."""
        return self.let(plus(WorkgroupId(0), times(WorkgroupId(1), LitU32(row))), "g")

    def invocation(self, lanes: int, total: Size) -> Expr:
        """The number of the invocation, of `total`, in such a grid."""
        static = total.static
        if static is not None and static <= ROW * lanes:
            return self.let(InvocationId(0), "i")
        return self.let(plus(times(self.group(), LitU32(lanes)), LocalId(0)), "i")

    @contextmanager
    def where(self, condition: Expr) -> Generator[None]:
        with self.block() as body:
            yield
        self.emit(If(condition, body))

    @contextmanager
    def loop(self, hint: str, stop: Expr) -> Generator[Var]:
        """A loop from 0 to before `stop`, with what is emitted inside; gives its counter."""
        var = Var(self.fresh(hint))
        with self.block() as body:
            yield var
        self.emit(Loop(var.name, LitU32(0), stop, body))

    def finished(self, element: DataType, lanes: int) -> Drafted:
        """The program, whose output holds elements of this type."""
        reads = tuple(self._reads.values())
        buffers = [*reads, BufferDecl.read_write(OUTPUT, len(reads), element)]
        if self._words:
            buffers.append(BufferDecl.uniform("params", len(buffers), U32, count=1 + len(self._words)))
        program = Program((*buffers, *self._own), (lanes, 1, 1), self._blocks[0])
        names = tuple((buffer.name, value) for (value, _), buffer in self._reads.items())
        return Drafted(program, names, tuple(self._words))


@dataclass(frozen=True, slots=True)
class Drafted:
    """A program, the values behind the buffers that it reads, and the sizes in its `params`."""

    program: Program
    reads: tuple[tuple[str, str], ...]
    words: tuple[Size, ...]
