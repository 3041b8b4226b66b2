"""Registers of flat code: variables, constants, and temporaries that are used again."""

from __future__ import annotations


class Registers:
    """Hands out registers; `registers` holds what each has at first."""

    def __init__(self) -> None:
        self.registers: list[int] = []
        self.constants: dict[int, int] = {}
        self.free: list[int] = []
        self.temporaries: set[int] = set()

    def new_register(self, initial: int = 0) -> int:
        self.registers.append(initial)
        return len(self.registers) - 1

    def constant(self, value: int) -> int:
        if value not in self.constants:
            self.constants[value] = self.new_register(value)
        return self.constants[value]

    def destination(self, into: int | None) -> int:
        """`into`, or a temporary where it is None."""
        if into is not None:
            return into
        if self.free:
            return self.free.pop()
        register = self.new_register()
        self.temporaries.add(register)
        return register

    def release(self, register: int) -> None:
        if register in self.temporaries:
            self.free.append(register)
