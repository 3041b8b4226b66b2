"""Backends that lose, keep or spoil what is in memory, or do not wait."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from tests.wrong.base import Right
from vyre.ir.expr import Atomic, BufLen, Expr, InvocationId, LitU32, Load, Select
from vyre.ir.node import Barrier
from vyre.ir.operators import AtomicOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node
    from vyre.ir.program import Program


class NoBoundsCheck(Right):
    """A load past the end gives the last element."""

    name = "no-bounds-check"

    def fault(self, expr: Expr) -> Expr:
        if not isinstance(expr, Load):
            return expr
        last = BufLen(expr.buffer) - 1
        return Load(expr.buffer, Select(expr.index > last, last, expr.index))


class LostAtomic(Right):
    """An addition that meets others is lost now and then; one alone never is."""

    name = "lost-atomic"

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, Atomic) and expr.op is AtomicOp.Add:
            kept = Select((InvocationId(0) > 200) & (expr.index < 3), LitU32(0), expr.value)
            return Atomic(AtomicOp.Add, expr.buffer, expr.index, kept)
        return expr


class NoBarrier(Right):
    name = "no-barrier"

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(n for n in super().body(body) if not isinstance(n, Barrier))


class TornHalf(Right):
    """Every 64th half of a word is lost, in buffers that are shared by many."""

    name = "torn-half"

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        for decl in program.buffers:
            if decl.access.writable and not decl.access.shared and decl.element.stride == 2:
                np.frombuffer(buffers[decl.name], np.uint16)[63::64] = 0


class Unstable(Right):
    """One result in 100,000 is wrong, never the same."""

    name = "unstable"

    def __init__(self) -> None:
        super().__init__()
        self.random = random.Random()

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        for decl in program.buffers:
            if decl.access.writable and not decl.access.shared and decl.element is DataType.U32:
                words = np.frombuffer(buffers[decl.name], np.uint32)
                for _ in range(
                    len(words) // 100_000 + (self.random.random() < len(words) % 100_000 / 100_000)
                ):
                    words[self.random.randrange(len(words))] ^= np.uint32(1)


class StaleResults(Right):
    """The second run of a kernel does nothing but give the results of the first."""

    name = "stale-results"

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[Program, str], bytes] = {}

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        for name, view in buffers.items():
            key = (program, name)
            if not view.readonly and len(self.kept.get(key, b"")) == view.nbytes:
                view[:] = self.kept[key]
            elif not view.readonly:
                self.kept[key] = bytes(view)


class WrongTogether(Right):
    """Wrong where two threads run at once, and only there."""

    name = "wrong-together"

    def __init__(self) -> None:
        super().__init__()
        self._running = 0
        self._together = False
        self._lock = threading.Lock()

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        with self._lock:
            self._running += 1
            self._together |= self._running > 1
        time.sleep(0.2)

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        time.sleep(0.2)
        with self._lock:
            self._running -= 1
            if self._together:
                np.frombuffer(buffers["out"], np.uint8)[0] ^= 1
            self._together &= self._running > 0
