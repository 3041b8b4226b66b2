"""`vyre.debug_print`: values of a running kernel, printed after the call in the order of the invocations.

A kernel that prints has one more buffer. Each print takes room in it by an atomic and stores which print it
is, the ids of the invocation, and the bits of the values; what no longer fits is not stored and only counted.
So it works on every backend, and prints the same there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vyre.errors import counted
from vyre.frontend.values import Const, PyObject, Refused, Value, describe
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, Cast, Expr, InvocationId, Lane, LitU32, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.types import LANE_TYPES, DataType
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.frontend.scope import Scope
    from vyre.frontend.values import Operand

DEBUG_WORDS: Final = 1 << 18
"""Words of the buffer: about 40,000 prints of two numbers. The first one counts the words that were taken."""

_HEAD = 4


@dataclass(frozen=True, slots=True)
class Prints:
    """The prints of a kernel: its buffer, and of each print the words and the types of values in order."""

    buffer: str
    sites: tuple[tuple[str | DataType, ...], ...]


@dataclass(slots=True)
class Printing:
    """Collects the prints of a kernel while it is translated."""

    buffer: str = ""
    sites: list[tuple[str | DataType, ...]] = field(default_factory=list[tuple["str | DataType", ...]])

    def statements(self, scope: Scope, values: Sequence[Operand]) -> list[Node]:
        """The statements of one print."""
        if not self.buffer:
            self.buffer = scope.fresh("debug")
        slot = scope.fresh("printed")
        parts: list[str | DataType] = []
        body: list[Node] = []
        words: list[Expr] = [LitU32(len(self.sites)), *(InvocationId(axis) for axis in range(3))]
        for value in values:
            match value:
                case PyObject(value=text) if isinstance(text, str):
                    parts.append(text)
                case Const(value=number):
                    parts.append(str(number))
                case Value(expr=expr, type=kind) if kind is not DataType.F64:
                    name = scope.fresh("shown")
                    body.append(Let(name, expr))
                    parts.append(kind)
                    words += _words(Var(name), kind)
                case Value():
                    raise Refused("an f64 cannot be printed.", "print vyre.cast(x, f32).")
                case _:
                    raise Refused(f"{describe(value)} cannot be printed.", "print text and scalar values.")
        self.sites.append(tuple(parts))
        body.append(Let(slot, Atomic(AtomicOp.Add, self.buffer, LitU32(0), LitU32(len(words)))))
        body += [Store(self.buffer, Var(slot) + (k + 1), word) for k, word in enumerate(words)]
        return body

    def declarations(self, binding: int) -> list[BufferDecl]:
        return [BufferDecl.read_write(self.buffer, binding, DataType.U32)] if self.buffer else []

    def made(self) -> Prints | None:
        return Prints(self.buffer, tuple(self.sites)) if self.buffer else None


def _words(value: Expr, kind: DataType) -> list[Expr]:
    if kind is DataType.U32:
        return [value]
    if kind in LANE_TYPES:
        return [Lane(value, lane) for lane in range(kind.lanes)]
    return [Cast(DataType.U32, value)]


def printed(prints: Prints, result: Any) -> list[str]:
    """The lines of a run, from its buffer: by invocation, and in the order of the program for each."""
    found = result.numpy() if hasattr(result, "numpy") else result
    words: list[int] = [int(word) for word in found[: 1 + min(int(found[0]), len(found) - 1)]]
    taken, at, lost = int(found[0]), 1, 0
    lines: list[tuple[tuple[int, int, int], int, str]] = []
    while at <= taken:
        if at + _HEAD > len(words):
            lost = taken + 1 - at
            break
        site = prints.sites[words[at]]
        size = _HEAD + sum(kind.lanes for kind in site if isinstance(kind, DataType))
        if at + size > len(words):
            lost = taken + 1 - at
            break
        x, y, z = words[at + 1 : at + 4]
        lines.append(((z, y, x), at, f"({x}, {y}, {z}): {_line(site, words[at + _HEAD : at + size])}"))
        at += size
    shown = [text for _, _, text in sorted(lines)]
    if lost:
        shown.append(f"… debug_print ran out of room: {counted(lost, 'more word')} did not fit.")
    return shown


def _line(site: tuple[str | DataType, ...], words: Sequence[int]) -> str:
    from vyre.watch.values import shown

    parts: list[str] = []
    at = 0
    for part in site:
        if isinstance(part, str):
            parts.append(part)
            continue
        bits = sum(word << 32 * lane for lane, word in enumerate(words[at : at + part.lanes]))
        parts.append(shown(part, bits & ((1 << part.bits) - 1)))
        at += part.lanes
    return " ".join(parts)
