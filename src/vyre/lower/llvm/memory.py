"""Access to buffers: addresses, guards, loads, stores and atomics as LLVM instructions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp
from vyre.ir.types import SIGNED_TYPES, DataType
from vyre.lower.llvm.addressed import reads_memory
from vyre.lower.llvm.counting import counting
from vyre.lower.llvm.layout import registers
from vyre.lower.llvm.tables import table
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir import expr as e
    from vyre.ir import node as n
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.forms import Affine
    from vyre.lower.llvm.text import FunctionText
    from vyre.lower.llvm.watch import WatchedGuards
    from vyre.lower.prepare import Prepared

Lanes = tuple[str, ...]

_ATOMIC = {
    AtomicOp.Add: "add",
    AtomicOp.Or: "or",
    AtomicOp.And: "and",
    AtomicOp.Xor: "xor",
    AtomicOp.Min: "umin",
    AtomicOp.Max: "umax",
    AtomicOp.Exchange: "xchg",
}
ZERO = {"i32": "0", "double": "0.0"}
_NARROW = {t: f"i{t.bits}" for t in DataType if t.stride < 4}
"""Elements of less than a word, by the type that they have in memory."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Where the code stands: names of the ids that are known there, `wide` ones as i64."""

    names: dict[e.Expr, str]
    invocation: str | None = None
    workgroup: str | None = None
    local: str | None = None
    linear: str = "0"


class MemoryEmitter(ABC):
    """Emits accesses into a function. `fast` leaves out the guards that `ranges` proves useless."""

    def __init__(
        self,
        prepared: Prepared,
        text: FunctionText,
        ranges: Ranges,
        *,
        fast: bool,
        guards: WatchedGuards | None = None,
    ) -> None:
        self.prepared = prepared
        self.guards = guards
        self.node: n.Node | None = None
        """The statement being written; None for what the workgroup does as a whole."""
        self.text = text
        self.ranges = ranges
        self.fast = fast
        self.ids = Ids({})
        self._counting = counting(prepared.entry)
        self.bases = {b.name: table(b.name) for b in prepared.buffers if b.access is BufferAccess.Constant}
        """The addresses of buffers that are not parameters."""
        self.steps: dict[str, int] = {}
        """Of buffers whose elements do not lie side by side: how many places on the next one is."""

    @abstractmethod
    def value(self, expr: e.Expr, hint: str = "t") -> Lanes:
        """The lanes of an expression."""

    def scalar(self, expr: e.Expr, hint: str = "t") -> str:
        return self.value(expr, hint)[0]

    def cut(self, expr: e.Expr) -> str:
        """The scalar for what drops some of its bits (`counting.py`)."""
        value = self.scalar(expr)
        return self.text.hidden(value) if expr in self._counting else value

    def nonzero(self, lanes: Lanes) -> str:
        """An i1: whether any lane is not zero."""
        merged = lanes[0]
        for lane in lanes[1:]:
            merged = self.text.let("t", f"or i32 {merged}, {lane}")
        return self.text.let("c", f"icmp ne i32 {merged}, 0")

    def load(self, decl: BufferDecl, index: e.Expr, hint: str) -> Lanes:
        text, kinds = self.text, registers(self.prepared, decl.element)
        at, guard = self._index(decl, index)
        before = text.block
        inside, after = text.unique("inside"), text.unique("after")
        if guard is not None:
            text.branch(guard, inside, after)
            text.start(inside)
        loaded: list[str] = []
        for lane, kind in enumerate(kinds):
            address = self._address(decl, at, lane)
            if narrow := _NARROW.get(decl.element):
                part = text.let("h", f"load {narrow}, ptr {address}, align {decl.element.stride}")
                extend = "sext" if decl.element in SIGNED_TYPES else "zext"
                loaded.append(text.let("t", f"{extend} {narrow} {part} to i32"))
            else:
                loaded.append(text.let("t", f"load {kind}, ptr {address}, align 4"))
        if decl.element is DataType.Bool:
            loaded = [text.let("t", f"zext i1 {self.nonzero((loaded[0],))} to i32")]
        if guard is None:
            return tuple(loaded)
        text.jump(after)
        text.start(after)
        return tuple(
            text.let(hint, f"phi {kind} [ {x}, %{inside} ], [ {ZERO[kind]}, %{before} ]")
            for x, kind in zip(loaded, kinds, strict=True)
        )

    def store(self, decl: BufferDecl, index: e.Expr, value: e.Expr) -> None:
        text = self.text
        at, guard = self._index(decl, index)
        lanes = (self.cut(value),) if decl.element in _NARROW else self.value(value)
        inside, after = text.unique("inside"), text.unique("after")
        if guard is not None:
            text.branch(guard, inside, after)
            text.start(inside)
        kinds = registers(self.prepared, decl.element)
        for number, (lane, kind) in enumerate(zip(lanes, kinds, strict=True)):
            address = self._address(decl, at, number)
            if narrow := _NARROW.get(decl.element):
                part = text.let("h", f"trunc i32 {lane} to {narrow}")
                text.do(f"store {narrow} {part}, ptr {address}, align {decl.element.stride}")
            else:
                text.do(f"store {kind} {lane}, ptr {address}, align 4")
        if guard is not None:
            text.jump(after)
            text.start(after)

    def atomic(self, expr: e.Atomic, hint: str) -> str:
        text, decl = self.text, self.prepared.buffer(expr.buffer)
        at, guard = self._index(decl, expr.index)
        operands = [self.scalar(c) for c in expr.children[1:]]
        before = text.block
        inside, after = text.unique("inside"), text.unique("after")
        if guard is not None:
            text.branch(guard, inside, after)
            text.start(inside)
        old = self._exchange(expr.op, decl, self._address(decl, at, 0), operands)
        if guard is None:
            return old
        text.jump(after)
        text.start(after)
        return text.let(hint, f"phi i32 [ {old}, %{inside} ], [ 0, %{before} ]")

    def _exchange(self, op: AtomicOp, decl: BufferDecl, address: str, operands: list[str]) -> str:
        let, value = self.text.let, operands[0]
        if decl.access.shared:
            # One thread runs the whole workgroup, so nobody else can see this memory.
            old = let("old", f"load i32, ptr {address}, align 4")
            self.text.do(f"store i32 {self._changed(op, old, operands)}, ptr {address}, align 4")
            return old
        if op is AtomicOp.CompareExchange:
            swap = f"cmpxchg ptr {address}, i32 {operands[1]}, i32 {value} seq_cst seq_cst, align 4"
            return let("old", f"extractvalue {{ i32, i1 }} {let('x', swap)}, 0")
        return let("old", f"atomicrmw {_ATOMIC[op]} ptr {address}, i32 {value} seq_cst, align 4")

    def _changed(self, op: AtomicOp, old: str, operands: list[str]) -> str:
        let, value = self.text.let, operands[0]
        match op:
            case AtomicOp.Exchange:
                return value
            case AtomicOp.CompareExchange:
                same = let("c", f"icmp eq i32 {old}, {operands[1]}")
                return let("t", f"select i1 {same}, i32 {value}, i32 {old}")
            case AtomicOp.Min | AtomicOp.Max:
                called = self.text.intrinsic(f"@llvm.{_ATOMIC[op]}.i32")
                return let("t", f"call i32 {called}(i32 {old}, i32 {value})")
            case _:
                return let("t", f"{_ATOMIC[op]} i32 {old}, {value}")

    def _index(self, decl: BufferDecl, index: e.Expr) -> tuple[str, str | None]:
        """The element number as i64, and the i1 that says it is in bounds (None: always)."""
        at, guard = self._place(decl, index)
        if guard is None and self.guards is not None and self.guards.watch is not None:
            guard = self.guards.watch.access(self.text, at, length_of(decl, wide=True))
        return at, guard

    def _place(self, decl: BufferDecl, index: e.Expr) -> tuple[str, str | None]:
        let = self.text.let
        form = self.ranges.form(index) if self.ids.invocation else None
        if form is not None and self.ranges.proved(form, decl, fast=self.fast):
            return self._affine(form), None
        needed = self.guards is None or self.guards.needed(self.node, decl.name, index)
        if needed and self.ids.invocation and self.ranges.is_invocation(form):
            return self.ids.invocation, let(
                "ok", f"icmp ult i64 {self.ids.invocation}, {length_of(decl, wide=True)}"
            )
        at = self.scalar(index)
        if needed and reads_memory(index):
            at = let("at", f"freeze i32 {at}")
        ok = let("ok", f"icmp ult i32 {at}, {length_of(decl)}") if needed else None
        return let("at", f"zext i32 {at} to i64"), ok

    def _affine(self, form: Affine) -> str:
        """The index in 64 bits, so that LLVM sees a plain stride along the loop."""
        ids = self.ids
        assert ids.invocation
        if form.group == form.local * self.ranges.width:
            terms = [(form.local, ids.invocation)]
        else:
            terms = [(form.group, ids.workgroup), (form.local, ids.local)]
        for term, factor in form.rest:
            terms.append((factor, self.text.let("w", f"zext i32 {self.scalar(term)} to i64")))
        total = str(form.offset) if form.offset or not any(factor for factor, _ in terms) else ""
        for factor, name in terms:
            if factor:
                part = str(name) if factor == 1 else self.text.let("at", f"mul i64 {name}, {factor}")
                total = self.text.let("at", f"add i64 {part}, {total}") if total else part
        return total

    def _address(self, decl: BufferDecl, at: str, lane: int) -> str:
        kinds = registers(self.prepared, decl.element)
        lanes = len(kinds)
        if step := self.steps.get(decl.name):
            at = self.text.let("at", f"mul i64 {at}, {step}")
        base = f"ptr {self.bases.get(decl.name, f'%b_{decl.name}')}, i64 {at}"
        if lanes > 1:
            return self.text.let("p", f"getelementptr inbounds [{lanes} x i32], {base}, i64 {lane}")
        element = _NARROW.get(decl.element, kinds[0])
        return self.text.let("p", f"getelementptr inbounds {element}, {base}")


def length_of(decl: BufferDecl, *, wide: bool = False) -> str:
    """The length of a buffer in elements, as an i32 or i64 operand."""
    if decl.count:
        return str(decl.count) if wide else literal(decl.count)
    return f"%len_{decl.name}.wide" if wide else f"%len_{decl.name}"


def literal(bits: int) -> str:
    low = bits & 0xFFFFFFFF
    return str(low - (1 << 32) if low >> 31 else low)
