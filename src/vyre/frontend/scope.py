"""The local names of a kernel: Python's spelling, the language's lifetimes.

A name lives from its first assignment to the end of the block that holds it. Python would let it live on;
a kernel refuses that, because on the other path it would have no value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from vyre.frontend.values import Operand, Refused, Value
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["variable", "loop", "buffer", "scalar", "function"]


@dataclass(frozen=True, slots=True)
class Local:
    """What a live name stands for."""

    kind: Kind
    operand: Operand


class Scope:
    """The live names, block by block, and those that are gone."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._frames: list[dict[str, Local]] = [{}]
        self._blocks: list[str] = []
        self._gone: dict[str, str] = {}
        self._taken = set(taken)
        self._renamed = False
        self._outside = 0

    def expanded(self) -> Scope:
        """The scope of a function that is written out here: no name of it meets one of this scope."""
        inner = Scope(())
        inner._taken = self._taken
        inner._renamed = True
        inner._outside = self.nesting
        return inner

    @property
    def nesting(self) -> int:
        return self._outside + len(self._blocks)

    def name_in_program(self, name: str) -> str:
        """What a new variable is called in the program."""
        return self.fresh(name) if self._renamed else name

    def enter(self, block: str) -> None:
        """Opens a block; `block` is its keyword and line, for messages."""
        self._frames.append({})
        self._blocks.append(block)

    def leave(self) -> None:
        block = self._blocks.pop()
        self._gone.update(dict.fromkeys(self._frames.pop(), block))

    def find(self, name: str) -> Local | None:
        return next((frame[name] for frame in reversed(self._frames) if name in frame), None)

    def declare(self, name: str, local: Local) -> None:
        self._taken.add(name)
        self._frames[-1][name] = local

    def settle(self, name: str) -> None:
        """The variable got a value that has a type: it no longer has its own from plain numbers alone."""
        self._change(name, untyped="")

    def doubt(self, name: str) -> None:
        """The variable got a value that may be neither 0 nor 1."""
        self._change(name, logical=False)

    def _change(self, name: str, **changes: Any) -> None:
        frame = next(frame for frame in reversed(self._frames) if name in frame)
        local = frame[name]
        assert isinstance(local.operand, Value)
        frame[name] = replace(local, operand=replace(local.operand, **changes))

    def fresh(self, stem: str) -> str:
        """A name that the function does not use."""
        name, number = stem, 1
        between = "" if stem == "_" else "_"  # two of them begin the names that inlining makes
        while name in self._taken:
            number += 1
            name = f"{stem}{between}{number}"
        self._taken.add(name)
        return name

    def missing(self, name: str) -> Refused:
        """Why a local name has no value here."""
        block = self._gone.get(name)
        if block is None:
            return Refused(f"{name!r} is used before it is assigned.", f"assign {name} above this line.")
        keyword = block.partition(" ")[0]
        return Refused(
            f"{name!r} was first assigned inside the {block} and is gone after it.",
            f"assign {name} before the `{keyword}`.",
        )
