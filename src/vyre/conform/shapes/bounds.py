"""What the bounds of a loop are for the first invocation, where they come from, and whether they diverge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import BinOp, BufLen, InvocationId, LitU32, Load, LocalId, Select, Var, WorkgroupId
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.expr import Expr
    from vyre.ir.node import Loop
    from vyre.ir.program import Program

    Memory = bytes | bytearray | memoryview

_MASK = 0xFFFF_FFFF
_KNOWN: Mapping[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.Add: lambda a, b: a + b & _MASK,
    BinaryOp.Sub: lambda a, b: a - b & _MASK,
    BinaryOp.Mul: lambda a, b: a * b & _MASK,
    BinaryOp.Div: lambda a, b: a // b if b else 0,
    BinaryOp.Mod: lambda a, b: a % b if b else 0,
    BinaryOp.BitAnd: lambda a, b: a & b,
    BinaryOp.BitOr: lambda a, b: a | b,
    BinaryOp.BitXor: lambda a, b: a ^ b,
    BinaryOp.Lt: lambda a, b: int(a < b),
    BinaryOp.Shl: lambda a, b: a << (b & 31) & _MASK,
    BinaryOp.Shr: lambda a, b: a >> (b & 31),
}
_DEPTH = 64
"""Variables of variables that are followed."""


class Reading(NamedTuple):
    """The turns of a loop for the first invocation, if they can be told, its start and its kind of bound."""

    turns: int | None
    start: int
    kind: str


class BoundValues:
    """Values of expressions for the first invocation; variables are bound in program order."""

    def __init__(self, program: Program, buffers: Mapping[str, Memory], lengths: Mapping[str, int]) -> None:
        self._buffers, self._lengths = buffers, lengths
        self._decls = {b.name: b for b in program.buffers}
        self._values: dict[str, int | None] = {}
        self._definitions: dict[str, Expr] = {}
        self._spread: set[str] = set()

    def bind(self, name: str, value: Expr) -> None:
        self._values[name] = self.value(value)
        self._definitions[name] = value
        self._spread.discard(name)
        if self.divergent(value):
            self._spread.add(name)

    def assign(self, name: str, value: Expr) -> None:
        self._values[name] = None
        if self.divergent(value):
            self._spread.add(name)

    def value(self, root: Expr) -> int | None:
        known: dict[Expr, int | None] = {}
        for expr in postorder(root):
            known[expr] = self._one(expr, known)
        return known[root]

    def _one(self, expr: Expr, known: Mapping[Expr, int | None]) -> int | None:
        match expr:
            case LitU32(value=value):
                return value
            case InvocationId() | LocalId() | WorkgroupId():
                return 0
            case Var(name=name):
                return self._values.get(name)
            case BufLen(buffer=buffer):
                return self._lengths[buffer]
            case BinOp(op=op, left=left, right=right) if op in _KNOWN:
                a, b = known[left], known[right]
                return None if a is None or b is None else _KNOWN[op](a, b)
            case Select(condition=condition, if_true=yes, if_false=no):
                chosen = known[condition]
                return None if chosen is None else known[yes] if chosen else known[no]
            case Load(buffer=buffer, index=index):
                return self._loaded(buffer, known[index])
            case _:
                return None

    def _loaded(self, buffer: str, index: int | None) -> int | None:
        decl = self._decls[buffer]
        if index is None or decl.element is not DataType.U32 or decl.access.writable:
            return None
        held = self._buffers[buffer] if decl.access.bound else decl.data
        data = memoryview(held).cast("B")[4 * index : 4 * index + 4]
        return int.from_bytes(data, "little")

    def span(self, start: Expr, stop: Expr) -> int | None:
        first, last = self.value(start), self.value(stop)
        return None if first is None or last is None else max(0, last - first)

    def loop(self, loop: Loop) -> Reading:
        """Reads a loop, whose variable is then known to begin at its start."""
        first = self.value(loop.start)
        turns, kind = self.span(loop.start, loop.stop), self._kind(loop.stop)
        self.bind(loop.var, loop.start)
        self._values[loop.var] = None
        if kind == "divergent":
            self._spread.add(loop.var)
        return Reading(turns, first or 0, kind)

    def _kind(self, stop: Expr) -> str:
        if self.divergent(stop):
            return "divergent"
        seen = self._sources(stop)
        loads = [self._decls[x.buffer].access for x in seen if isinstance(x, Load)]
        if BufferAccess.Uniform in loads:
            return "uniform"
        if loads:
            return "loaded"
        if any(isinstance(x, BufLen) for x in seen):
            return "length"
        return "literal" if isinstance(stop, LitU32) else "computed"

    def _sources(self, root: Expr) -> set[Expr]:
        """The nodes of an expression and of the variables in it."""
        found: set[Expr] = set()
        pending = [root]
        for _ in range(_DEPTH):
            more = {x for r in pending for x in postorder(r)} - found
            found |= more
            names = {x.name for x in more if isinstance(x, Var)}
            pending = [self._definitions[n] for n in names if n in self._definitions]
            if not pending:
                break
        return found

    def divergent(self, root: Expr) -> bool:
        """Whether invocations of one workgroup may see different values."""
        return any(
            isinstance(x, InvocationId | LocalId)
            or (isinstance(x, Var) and x.name in self._spread)
            or (isinstance(x, Load) and self._decls[x.buffer].access.writable)
            for x in postorder(root)
        )
