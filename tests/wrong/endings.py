"""Backends that give no result: they refuse, raise, die, hang, or keep memory for ever."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.wrong.base import Right, applies
from vyre.errors import UnsupportedByBackend
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program


class Hoarding(Right):
    """Right, but keeps eight megabytes for everything it compiles."""

    name = "hoarding"

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []

    def compile(self, program: Program) -> Any:
        self.kept.append(np.ones(1 << 20, np.uint64))
        return super().compile(program)


class Refusing(Right):
    """Has no division."""

    name = "refusing"

    def compile(self, program: Program) -> Any:
        if applies(BinaryOp.Div, program):
            raise UnsupportedByBackend("Div", self.name, why="it has none")
        return super().compile(program)


class Raising(Right):
    name = "raising"

    def compile(self, program: Program) -> Any:
        if applies(BinaryOp.Div, program):
            raise RuntimeError("the compiler gave up")
        return super().compile(program)


class OnNumber(Right):
    """Does something terrible when a multiplication reads a certain number."""

    number = 200

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        multiplies = applies(BinaryOp.Mul, program)
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
    views = [v for n, v in buffers.items() if n in ("x0", "in0") and v.nbytes % 4 == 0]
    return np.frombuffer(views[0], np.uint32) if views and applies(op, program) else np.zeros(0, np.uint32)


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
        if applies(BinaryOp.Div, program):
            os._exit(6)
        return super().compile(program)
