"""Backends with one fault each, for the verifiers to find.

Each is `cpu` on a program with an operation changed, or with its buffers spoiled after a run. All are
constructed without arguments, so that a child process can.
"""

from __future__ import annotations

import ctypes
import os
import random
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.protocol import BackendInfo
from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import Atomic, BinOp, BufLen, Expr, InvocationId, Lane, LitU32, Load, Select, UnOp
from vyre.ir.node import Barrier, Node
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions, transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX, TOP = 0xFFFF_FFFF, 0x8000_0000


def binary(op: BinaryOp, expr: Expr) -> BinOp | None:
    return expr if isinstance(expr, BinOp) and expr.op is op else None


class Right:
    """No fault at all."""

    name = "right"

    def __init__(self) -> None:
        self.inner = CpuBackend(threads=1)

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a processor with one fault")

    def compile(self, program: Program) -> Any:
        entry = self.body(program.entry)
        changed = Program(program.buffers, program.workgroup_size, entry)
        return Spoiled(self, changed, self.inner.compile(changed))

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            with_parts(n, tuple(transform(x, self.fault) for x in n.exprs), tuple(map(self.body, n.bodies)))
            for n in body
        )

    def fault(self, expr: Expr) -> Expr:
        return expr

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None: ...

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None: ...


class Hoarding(Right):
    """Right, but keeps eight megabytes for everything it compiles."""

    name = "hoarding"

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []

    def compile(self, program: Program) -> Any:
        self.kept.append(np.ones(1 << 20, np.uint64))
        return super().compile(program)


class Spoiled:
    def __init__(self, owner: Right, program: Program, inner: Any) -> None:
        self.owner, self.program, self.compiled = owner, program, inner
        self.source = "the source of a broken backend"

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self.owner.before(self.program, buffers)
        self.compiled.run(buffers, workgroups)
        self.owner.after(self.program, buffers)


class Assembled(Right):
    """Shows the assembly of what it compiles."""

    name = "assembled"

    def compile(self, program: Program) -> Any:
        made = super().compile(program)
        made.assembly = lambda: "the assembly of a broken backend"
        return made


class ShiftBy32(Right):
    name = "shift-by-32"

    def fault(self, expr: Expr) -> Expr:
        shift = binary(BinaryOp.Shl, expr)
        return expr if shift is None else Select(shift.right > 31, LitU32(0), shift)


class SignedCompare(Right):
    name = "signed-compare"

    def fault(self, expr: Expr) -> Expr:
        lt = binary(BinaryOp.Lt, expr)
        return expr if lt is None else (lt.left ^ TOP) < (lt.right ^ TOP)


class DivisionByZero(Right):
    name = "division-by-zero"

    def fault(self, expr: Expr) -> Expr:
        div = binary(BinaryOp.Div, expr)
        return expr if div is None else Select(div.right.eq(0), LitU32(MAX), div)


class WrongAbove(Right):
    """Multiplication, from 2^31 on."""

    name = "wrong-above-2^31"

    def fault(self, expr: Expr) -> Expr:
        mul = binary(BinaryOp.Mul, expr)
        return expr if mul is None else Select(mul.left > TOP - 1, mul + 1, mul)


class OffByOne(Right):
    """Every multiplication."""

    name = "off-by-one"

    def fault(self, expr: Expr) -> Expr:
        mul = binary(BinaryOp.Mul, expr)
        return expr if mul is None else mul + 1


class WrongOnEqual(Right):
    name = "wrong-on-equal"

    def fault(self, expr: Expr) -> Expr:
        sub = binary(BinaryOp.Sub, expr)
        return expr if sub is None else Select(sub.left.eq(sub.right), LitU32(1), sub)


class WrongOnComplement(Right):
    name = "wrong-on-complement"

    def fault(self, expr: Expr) -> Expr:
        xor = binary(BinaryOp.BitXor, expr)
        far = xor is not None and (xor.left > 0xFFFF) & (xor.right > 0xFFFF)
        return expr if xor is None else Select((xor.left + xor.right).eq(MAX) & far, LitU32(0), xor)


class WrongPair(Right):
    """Addition, in one pair of bytes."""

    name = "wrong-pair"

    def fault(self, expr: Expr) -> Expr:
        add = binary(BinaryOp.Add, expr)
        if add is None or isinstance(add.left, InvocationId):
            return expr
        return Select(add.left.eq(57) & add.right.eq(200), LitU32(0), add)


class WrongUnary(Right):
    """Popcount, of one number below 2^16."""

    name = "wrong-unary"

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, UnOp) and expr.op is UnaryOp.Popcount:
            return Select(expr.operand.eq(40_009), LitU32(9), expr)
        return expr


class SwappedLanes(Right):
    name = "swapped-lanes"

    def fault(self, expr: Expr) -> Expr:
        return Lane(expr.value, 1 - expr.index) if isinstance(expr, Lane) and expr.index < 2 else expr


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


class Refusing(Right):
    """Has no division."""

    name = "refusing"

    def compile(self, program: Program) -> Any:
        if any(binary(BinaryOp.Div, x) is not None for x in expressions(program.entry)):
            raise UnsupportedByBackend("Div", self.name, why="it has none")
        return super().compile(program)


class Raising(Right):
    name = "raising"

    def compile(self, program: Program) -> Any:
        if any(binary(BinaryOp.Div, x) is not None for x in expressions(program.entry)):
            raise RuntimeError("the compiler gave up")
        return super().compile(program)


class OnNumber(Right):
    """Does something terrible when a multiplication reads a certain number."""

    number = 200

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        multiplies = any(binary(BinaryOp.Mul, x) is not None for x in expressions(program.entry))
        if multiplies and "x0" in buffers and (np.frombuffer(buffers["x0"], np.uint32) == self.number).any():
            self.terrible()

    def terrible(self) -> None: ...


class Exiting(OnNumber):
    name = "exiting"

    def terrible(self) -> None:
        os._exit(3)


class Segfaulting(OnNumber):
    name = "segfaulting"

    def terrible(self) -> None:
        ctypes.string_at(8)


class Hanging(OnNumber):
    name = "hanging"
    number = 0

    def terrible(self) -> None:
        while True:
            time.sleep(1000)


def _words(program: Program, buffers: Mapping[str, memoryview], op: BinaryOp) -> Any:
    """The first operand of a program that does nothing but this operation."""
    mine = [x for x in expressions(program.entry) if isinstance(x, BinOp) and x.op is op]
    views = [v for n, v in buffers.items() if n in ("x0", "in0") and v.nbytes % 4 == 0]
    return np.frombuffer(views[0], np.uint32) if mine and views else np.zeros(0, np.uint32)


class CrashingOn(Right):
    """Dies of one input of xor in 2^32."""

    name = "crashing-on"
    op = BinaryOp.BitXor
    value = 0x8000_0000

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        if (_words(program, buffers, self.op) == self.value).any():
            self.end()

    def end(self) -> None:
        os.kill(os.getpid(), 11)


class HangingOn(CrashingOn):
    name = "hanging-on"

    def end(self) -> None:
        time.sleep(1000)


class LateOn(CrashingOn):
    """Answers first and dies a little later."""

    name = "late-on"

    def end(self) -> None:
        def soon() -> None:
            time.sleep(0.005)
            os._exit(5)

        threading.Thread(target=soon).start()


class CrashingTogether(Right):
    """Dies where two inputs of xor stand in one dispatch, and of neither alone."""

    name = "crashing-together"

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        words = _words(program, buffers, BinaryOp.BitXor)
        if (words == 0x10).any() and (words == 0xF0).any():
            os._exit(4)


class CrashingLaw(CrashingOn):
    """Dies of one operand of `and`, which laws of `or` apply."""

    name = "crashing-law"
    op = BinaryOp.BitAnd


class CrashingCompiler(Right):
    """Dies when it compiles a division, which a law of `shr` applies."""

    name = "crashing-compiler"

    def compile(self, program: Program) -> Any:
        if any(isinstance(x, BinOp) and x.op is BinaryOp.Div for x in expressions(program.entry)):
            os._exit(6)
        return super().compile(program)
