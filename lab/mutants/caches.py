"""Backends that remember too much: results, inputs, lengths and kernels of another time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import Mutated
from lab.mutants.rewrite import rewrite
from vyre.backends.protocol import BackendInfo
from vyre.ir.expr import Expr, LitU32

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lab.mutants.backend import Run
    from vyre.backends.protocol import Backend, Executable
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]
    Buffers = Mapping[str, memoryview]


def stale(inner: Backend, *, side: str) -> Mutated:
    """After the first run its `outputs` are given again, or its `inputs` or `lengths` used again."""
    kept: dict[tuple[Program, str], bytes] = {}

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        used = dict(buffers)
        for name, view in buffers.items():
            first = kept.setdefault((program, name), bytes(view))
            if side == "inputs" and view.readonly and len(first) == view.nbytes:
                used[name] = memoryview(first)
            elif side == "lengths" and view.readonly and len(first) < view.nbytes:
                used[name] = view[: len(first)]
        run(used, grid)
        for name, view in buffers.items():
            if side == "outputs" and not view.readonly:
                first = kept.setdefault((program, f"{name} after"), bytes(view))
                view[: len(first)] = first[: view.nbytes]

    return Mutated(inner, around=around)


def literals_hidden(program: Program) -> Any:
    """All that a cache looks at which takes one literal for another."""

    def hide(x: Expr) -> Expr:
        return LitU32(0) if isinstance(x, LitU32) else x

    return rewrite(program, expr=hide).entry, program.buffers, program.workgroup_size


def sizes_hidden(program: Program) -> Any:
    return tuple(type(n).__name__ for n in program.entry), program.buffers


@dataclass(frozen=True)
class OneKernel:
    """Compiles one program of each `key`, and takes it for all others."""

    inner: Backend
    key: Callable[[Program], Any]
    name: str = "mutant"
    kept: dict[Any, Executable] = field(default_factory=dict[Any, "Executable"])

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a backend with a careless cache")

    def compile(self, program: Program) -> Executable:
        found = self.kept.get(self.key(program))
        if found is None:
            found = self.kept[self.key(program)] = self.inner.compile(program)
        return found


class FullCache:
    """Keeps so many kernels; one that was dropped is taken for the last that was compiled."""

    name = "mutant"

    def __init__(self, inner: Backend, *, size: int) -> None:
        self.inner = inner
        self.size = size
        self.kept: list[Executable] = []

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a backend with a cache that is too small")

    def compile(self, program: Program) -> _Dropped:
        made = self.inner.compile(program)
        self.kept = [*self.kept, made][-self.size :]
        return _Dropped(self, made)


@dataclass(frozen=True)
class _Dropped:
    owner: FullCache
    made: Executable

    def run(self, buffers: Buffers, workgroups: Grid) -> None:
        kept = any(k is self.made for k in self.owner.kept)
        (self.made if kept else self.owner.kept[-1]).run(buffers, workgroups)


class Late:
    """Each compiled program is right until a certain run of it."""

    name = "mutant"

    def __init__(self, inner: Backend, *, first: int) -> None:
        self.inner = inner
        self.first = first

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a backend that tires")

    def compile(self, program: Program) -> _Tiring:
        return _Tiring(self.inner.compile(program), self.first)


class _Tiring:
    def __init__(self, inner: Executable, first: int) -> None:
        self.inner = inner
        self.left = first - 1

    def run(self, buffers: Buffers, workgroups: Grid) -> None:
        self.inner.run(buffers, workgroups)
        self.left -= 1
        if self.left < 0:
            for view in buffers.values():
                if not view.readonly and view.nbytes:
                    view[0] ^= 1
