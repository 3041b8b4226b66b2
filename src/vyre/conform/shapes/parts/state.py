"""What the parts of a case share while it is built: buffers, statements, the values of all invocations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.shapes.constraints import bins, number
from vyre.conform.shapes.history import others
from vyre.conform.shapes.layout import Layout
from vyre.conform.shapes.payload import CLASSES, ODD, Payload
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import Assign
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.conform.shapes.features import Level
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

    Words = NDArray[np.uint32]

U32 = DataType.U32
S, C, ID, L, W, G = Var("s"), Var("c"), Var("i"), Var("l"), Var("w"), Var("g")


class State:
    """`classes` holds the word of each class in each kind of workgroup; after `spread`, `words` holds that of
    each invocation.

    The kinds of workgroups, whose numbers are in the column `workgroups`, are any even one (-2), any odd one
    (-1), and one by one those that take the other sides of uniform branches. With `whole` False only the
    program is wanted, and nothing costly is computed. `which` says for which memory of the case.
    """

    def __init__(
        self, row: Mapping[str, Level], seed: int, variables: int, *, memory: int, whole: bool
    ) -> None:
        self.row, self.seed, self.variables, self.whole = row, seed, variables, whole
        self.which = memory
        self.layout = Layout.of(row)
        self.random = np.random.default_rng(seed)
        self.payload = Payload(str(row["payload"]), str(row["literal"]), number(row, "float chain"))
        self.buffers: list[BufferDecl] = []
        self.inputs: dict[str, bytes] = {}
        self.memory: dict[str, Any] = {}
        self.tables: dict[str, bytes] = {}
        self.entry: list[Node] = []
        self.numbers = np.arange(CLASSES, dtype=np.uint32)
        self.kept: list[Words] = []
        size = self.layout.count if whole else 1
        self.ids = np.arange(size, dtype=np.uint32)
        self.of_class = self.ids % np.uint32(CLASSES)
        self.slots = self.layout.slots() if whole else np.zeros(1, np.int64)
        self.groups = self.slots // self.layout.local_count
        self.first_apart = self._first_apart()
        self.workgroups, self.of_kind = self._kinds()
        self.classes: Words = np.zeros((len(self.workgroups), CLASSES), np.uint32)
        self.words: Words = self.classes
        self.held: tuple[Words, Words] = self.classes, self.classes
        self.turns = self._turns()
        self.bins = bins(row) if row["atomic memory"] == "workgroup" else 0
        self.tile = number(row, "workgroup bytes") // 4 - self.bins

    def number(self, name: str) -> int:
        return number(self.row, name)

    def _first_apart(self) -> int:
        """The first of the last workgroups, one a branch, without which there still are all classes."""
        if not self.whole:
            return self.layout.groups
        first = np.full(CLASSES, 0, np.int64)
        first[self.of_class[: len(first)]] = self.layout.groups
        np.minimum.at(first, self.of_class, self.groups)
        return max(int(first.max()) + 1, self.layout.groups - self.number("branch nesting"))

    def _kinds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The column of workgroups, and the kind of that of each invocation."""
        common = [-2, -1][: self.layout.groups]
        apart = range(self.first_apart, self.layout.groups)
        behind = self.groups - self.first_apart
        kinds = np.where(behind < 0, self.groups & 1, behind + len(common))
        return np.array([*common, *apart], np.int64)[:, None], kinds

    def _turns(self) -> NDArray[np.int64]:
        """Of each class in the innermost loop: up to two more where bounds diverge."""
        turns = self.number("turns")
        more = self.numbers % 3 if turns and self.row["loop bounds"] == "divergent" else 0
        return np.full(CLASSES, turns, np.int64) + more

    def apart(self, level: int, levels: int) -> int:
        """The workgroup that takes the other side of a uniform branch at this of so many levels; where there
        are too few workgroups some levels have a number that none has, others from row to row."""
        return self.first_apart + (level + self.seed) % levels

    @property
    def staying(self) -> int:
        """The last workgroup, which stays in loops that others leave, or a number that none has."""
        return self.layout.groups - (self.first_apart < self.layout.groups)

    def slot(self, lane: Expr) -> Expr:
        """The place in the tile of an invocation of a workgroup: the last one has the last element, the
        others are powers of two apart, so that places whose upper bits are lost meet."""
        last = self.layout.local_count - 1
        if not last:
            return lane + (self.tile - 1)
        apart = 1 << ((self.tile - 1) // last).bit_length() - 1
        return Select(lane.eq(last), LitU32(self.tile - 1), lane * apart)

    def gap(self, lane: Expr) -> Expr:
        """A place in the tile that no invocation has: next to its own, or past the end."""
        last = self.layout.local_count - 1
        return self.slot(lane) + (1 if last and (self.tile - 1) // last > 1 else self.tile)

    def add(self, *nodes: Node) -> None:
        self.entry += nodes

    def random_words(self, count: int) -> Words:
        """The same in every memory."""
        return self.random.integers(0, 1 << 32, count, dtype=np.uint32)

    def given_words(self, count: int, *, few: bool = False) -> Words:
        """Of this memory, `few` of them other where classes read them (`vyre.conform.shapes.history`)."""
        return others(self.random_words(count), self.which, few=few)

    def bind(self, name: str, access: BufferAccess, data: Any, element: DataType = U32) -> BufferDecl:
        """A bound buffer with these contents; one that is written is expected to hold `memory` of it."""
        decl = BufferDecl(name, sum(b.binding is not None for b in self.buffers), access, element, 0)
        self.buffers.append(decl)
        self.inputs[name] = data.tobytes()
        if access is BufferAccess.ReadWrite:
            self.memory[name] = data.copy()
        return decl

    def read(self, name: str, data: Any, element: DataType = U32) -> BufferDecl:
        return self.bind(name, BufferAccess.ReadOnly, data, element)

    def written(self, name: str, data: Any, element: DataType = U32) -> BufferDecl:
        return self.bind(name, BufferAccess.ReadWrite, data, element)

    def mix_classes(self, value: Expr, found: Any) -> None:
        """Takes a value into the word of every class."""
        self.add(mixed(value))
        self.classes = self.classes * np.uint32(ODD) + np.asarray(found).astype(np.uint32)

    def mix(self, value: Expr, found: Any) -> Node:
        """The statement that takes a value into the word of every invocation."""
        self.take(found)
        return mixed(value)

    def take(self, found: Any) -> None:
        if self.whole:
            self.words = self.words * np.uint32(ODD) + np.asarray(found).astype(np.uint32)

    def spread(self) -> None:
        """From classes to invocations."""
        self.words = self.each(self.classes)

    def each(self, classes: Words) -> Words:
        """What a value of classes is for every invocation."""
        return classes[self.of_kind, self.of_class] if self.whole else classes[0, :1]

    def results(self) -> dict[str, bytes]:
        return {name: data.tobytes() for name, data in self.memory.items()} if self.whole else {}


def mixed(value: Expr) -> Node:
    return Assign("s", S * LitU32(ODD) + value)


def loaded(table: Any, index: Any) -> Any:
    """Elements of a buffer of words, zero past its end."""
    places: Any = np.asarray(index, np.int64)
    longer: Any = np.append(table, np.uint32(0))
    return longer[np.minimum(places, len(table))]


def store(table: Any, index: Any, values: Any) -> None:
    """Stores that lie inside."""
    inside = np.asarray(index) < len(table)
    table[np.asarray(index)[inside]] = np.asarray(values)[inside]
