"""Statements of one invocation as LLVM basic blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import node as n
from vyre.ir.walk import every_node
from vyre.lower.llvm.addressed import frozen_values
from vyre.lower.llvm.layout import registers
from vyre.lower.llvm.strips import strip_note, strip_width
from vyre.lower.llvm.values import Arrays, Derived, Kept, Slots, ValueEmitter
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.memory import Lanes
    from vyre.lower.llvm.text import FunctionText
    from vyre.lower.llvm.watch import WatchedGuards
    from vyre.lower.prepare import Prepared


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """A loop whose body is being written."""

    value: str
    following: str
    stop: str
    head: str
    latch: str
    after: str


class StatementEmitter(ValueEmitter):
    """Emits statements. `leave` is the label that a `Return` goes to; `breaks` has that of a `Break`, for
    every loop around."""

    def __init__(
        self,
        prepared: Prepared,
        text: FunctionText,
        ranges: Ranges,
        *,
        fast: bool,
        guards: WatchedGuards | None = None,
    ) -> None:
        super().__init__(prepared, text, ranges, fast=fast, guards=guards)
        self.leave = ""
        self.breaks: list[str] = []
        self._assigned = {node.name for node in every_node(prepared.entry) if isinstance(node, n.Assign)}
        self._frozen = frozen_values(prepared.entry)

    def block(self, body: tuple[n.Node, ...]) -> bool:
        """Emits the statements; False when control never reaches their end."""
        return all(self._statement(node) for node in body)

    def _statement(self, node: n.Node) -> bool:
        self.forget()
        self.node = node
        match node:
            case n.Let():
                self.bind(node)
            case n.Assign():
                self.assign(node)
            case n.Store(buffer=buffer, index=index, value=value):
                self.store(self.prepared.buffer(buffer), index, value)
            case n.If():
                return self._if(node)
            case n.Loop():
                self._loop(node)
            case n.Block(body=body):
                return self.block(body)
            case n.Break():
                self.text.jump(self.breaks[-1])
                return False
            case n.Return():
                self.text.jump(self.leave)
                return False
            case _:
                raise AssertionError(node)
        return True

    def bind(self, node: n.Let) -> None:
        name = node.name
        if isinstance(self.places.get(name), Derived):
            return
        lanes = self._kept(node, self.value(node.value, f"v_{name}"))
        place = self.places.get(name)
        if place is None and name in self._assigned:
            kinds = registers(self.prepared, self.prepared.variables[name])
            addresses = tuple(self.text.slot(f"s_{name}", kind) for kind in kinds)
            place = self.places[name] = Slots(addresses, kinds)
        if isinstance(place, Slots | Arrays):
            self.write(place, lanes)
        else:
            self.places[name] = Kept(lanes)

    def assign(self, node: n.Assign) -> None:
        place = self.places[node.name]
        assert isinstance(place, Slots | Arrays)
        self.write(place, self._kept(node, self.value(node.value)))

    def _kept(self, node: n.Let | n.Assign, lanes: Lanes) -> Lanes:
        """A value that is compared and then trusted, as one that no longer depends on memory."""
        if node not in self._frozen:
            return lanes
        name = node.name
        kinds = registers(self.prepared, self.prepared.variables[name])
        return tuple(
            self.text.let(f"v_{name}", f"freeze {kind} {lane}")
            for kind, lane in zip(kinds, lanes, strict=True)
        )

    def _if(self, node: n.If) -> bool:
        text = self.text
        condition = self.condition(node.condition)
        then, after = text.unique("then"), text.unique("endif")
        orelse = text.unique("else") if node.orelse else after
        text.branch(condition, then, orelse)
        reached = not node.orelse
        for label, body in ((then, node.then), (orelse, node.orelse)):
            if label is after:
                continue
            text.start(label)
            if self.block(body):
                text.jump(after)
                reached = True
        if reached:
            text.start(after)
        return reached

    def _loop(self, node: n.Loop) -> None:
        loop = self.begin_loop(node.var, self.scalar(node.start), self.scalar(node.stop))
        self.breaks.append(loop.after)
        if self.block(node.body):
            self.text.jump(loop.latch)
        self.breaks.pop()
        width = strip_width(node, self.prepared)
        self.end_loop(loop, note=strip_note(width) if width else "")

    def begin_loop(self, var: str, start: str, stop: str) -> OpenLoop:
        """Opens `for var in start..stop`; what follows is its body, until a jump to the latch."""
        text = self.text
        head, latch, after = text.unique("loop"), text.unique("latch"), text.unique("endloop")
        before = text.block
        text.branch(text.let("c", f"icmp ult i32 {start}, {stop}"), head, after)
        text.start(head)
        value, following = f"%{text.unique(f'v_{var}')}", f"%{text.unique(f'next_{var}')}"
        text.do(f"{value} = phi i32 [ {start}, %{before} ], [ {following}, %{latch} ]")
        self.places[var] = Kept((value,))
        return OpenLoop(value, following, stop, head, latch, after)

    def end_loop(self, loop: OpenLoop, *, note: str = "") -> None:
        text = self.text
        text.start(loop.latch)
        text.do(f"{loop.following} = add nuw i32 {loop.value}, 1")
        again = text.let("c", f"icmp ult i32 {loop.following}, {loop.stop}")
        text.branch(again, loop.head, loop.after, note=note)
        text.start(loop.after)
