"""Runtimes that are wrong around right kernels: caches, uploads, downloads, chance."""

from __future__ import annotations

import ctypes
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.mutants.backend import Mutated
from lab.mutants.caches import FullCache, Late, OneKernel, literals_hidden, sizes_hidden, stale
from lab.mutants.mutant import RUNTIME, Mutant
from vyre.conform.verify.stages import bounds, determinism, dispatches, races
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Loop, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Around, Run
    from vyre.backends.protocol import Backend
    from vyre.ir.buffers import BufferDecl

    Grid = tuple[int, int, int]
    Buffers = Mapping[str, memoryview]


def mutants() -> Iterator[Mutant]:
    yield from _caches()
    yield from _copies()
    yield from _halves()
    yield from _chance()


def _caches() -> Iterator[Mutant]:
    inputs, shape = (dispatches.STAGE.case(s) for s in ("other inputs", "programs of one shape"))
    ids = dispatches.STAGE.case("ids")
    for what, side in (("results", "outputs"), ("inputs", "inputs"), ("lengths", "lengths")):
        yield Mutant(f"stale {what}", "of the first run", RUNTIME, partial(stale, side=side), inputs)
    yield Mutant(
        "stale kernel",
        "with the same buffers",
        RUNTIME,
        partial(OneKernel, key=lambda p: (p.buffers, p.workgroup_size)),
        shape,
    )
    yield Mutant(
        "stale kernel", "with other literals", RUNTIME, partial(OneKernel, key=literals_hidden), shape
    )
    yield Mutant(
        "stale kernel", "with another workgroup size", RUNTIME, partial(OneKernel, key=sizes_hidden), ids
    )
    for size in (4, 8, 16):
        yield Mutant(
            "kernel lost from a full cache",
            f"of {size}",
            RUNTIME,
            partial(FullCache, size=size),
            dispatches.STAGE.case("many programs"),
        )
    for run in (2, 16, 100, 256):
        yield Mutant(
            "wrong after many runs",
            f"from run {run} on",
            RUNTIME,
            partial(Late, first=run),
            dispatches.STAGE.case("many runs"),
        )


def _copies() -> Iterator[Mutant]:
    lengths = dispatches.STAGE.case("primitive.math.add")
    before = dispatches.STAGE.case("what was there before")
    large = dispatches.STAGE.case("large buffer")
    add = "primitive.math.add/inputs/0x1,0x2"
    rules: list[tuple[str, str, Callable[..., None], str]] = [
        ("input buffer overwritten", "with zeros", partial(_overwrite, count=None), lengths),
        ("input buffer overwritten", "its first byte", partial(_overwrite, count=1), lengths),
        ("output added to what was there", "Or", partial(_merge, with_=np.bitwise_or), add),
        ("output added to what was there", "Add", partial(_merge, with_=np.add), add),
        ("buffer not uploaded", "ReadWrite starts as zeros", _cleared, before),
        ("written past the end", "one byte", _spill, lengths),
        ("output not downloaded", "the last 4 bytes", partial(_keep, lo=-4, hi=None), add),
        ("output not downloaded", "the first 4 bytes", partial(_keep, lo=0, hi=4), add),
        ("output not downloaded", "what is beyond 1 KiB", partial(_keep, lo=1024, hi=None), lengths),
        ("output not downloaded", "what is beyond 64 MiB", partial(_keep, lo=1 << 26, hi=None), large),
    ]
    rules += [
        ("wrong at one length", f"{n} elements", partial(_at_length, count=n), lengths)
        for n in (1, 2, 63, 65, 191)
    ]
    for kind, where, hook, witness in rules:
        yield Mutant(kind, where, RUNTIME, partial(_around, hook), witness)
    yield Mutant(
        "workgroup memory not zeroed",
        "Workgroup",
        RUNTIME,
        _dirty,
        dispatches.STAGE.case("zeroed workgroup memory"),
    )


def _halves() -> Iterator[Mutant]:
    for step in (2, 64):
        yield Mutant(
            "torn 16-bit store",
            f"every {step}th half",
            RUNTIME,
            partial(_around, partial(_torn, step=step)),
            races.STAGE.case("adjacent halves"),
        )
    yield Mutant(
        "torn 16-bit store",
        "the last half of an odd length",
        RUNTIME,
        partial(_around, _odd_half),
        bounds.STAGE.case("store F16", 1),
    )


def _chance() -> Iterator[Mutant]:
    for rate in (100_000, 10_000):
        for op in ("primitive.math.sub", "primitive.bitwise.popcount", "atomic.add"):
            yield Mutant(
                "nondeterministic",
                f"{op}, once in {rate} results",
                RUNTIME,
                partial(_unstable, rate=rate),
                determinism.STAGE.case(op),
                1 / rate,
                cases=1 << 20,
                hunted=op,
            )


def _around(hook: Around, inner: Backend) -> Mutated:
    return Mutated(inner, around=hook)


def outputs(program: Program) -> list[BufferDecl]:
    """The buffers that the host sees and a program may change."""
    return [b for b in program.buffers if b.access.writable and not b.access.shared]


def _overwrite(run: Run, program: Program, buffers: Buffers, grid: Grid, *, count: int | None) -> None:
    """A run that uses its inputs as scratch memory, whatever the caller's view of them allows."""
    run(buffers, grid)
    for view in buffers.values():
        if view.readonly and view.nbytes:
            memory = np.frombuffer(view, np.uint8)
            ctypes.memset(memory.__array_interface__["data"][0], 0, count or view.nbytes)


def _spill(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    """Where the caller's memory goes on after the buffer, its next byte is changed too."""
    run(buffers, grid)
    for decl in outputs(program):
        view = buffers[decl.name]
        if isinstance(view.obj, bytearray) and len(view.obj) > view.nbytes:
            memory = np.frombuffer(view, np.uint8)
            ctypes.memset(memory.__array_interface__["data"][0] + view.nbytes, 0, 1)


def _merge(run: Run, program: Program, buffers: Buffers, grid: Grid, *, with_: Any) -> None:
    before = {d.name: bytes(buffers[d.name]) for d in outputs(program)}
    run(buffers, grid)
    for decl in outputs(program):
        if decl.element is DataType.U32:
            words = np.frombuffer(buffers[decl.name], np.uint32)
            words[:] = with_(words, np.frombuffer(before[decl.name], np.uint32))


def _cleared(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    for decl in outputs(program):
        buffers[decl.name][:] = bytes(buffers[decl.name].nbytes)
    run(buffers, grid)


def _keep(run: Run, program: Program, buffers: Buffers, grid: Grid, *, lo: int, hi: int | None) -> None:
    """A part of each result stays as it was before the run."""
    old = {d.name: bytes(buffers[d.name][lo:hi]) for d in outputs(program)}
    run(buffers, grid)
    for name, data in old.items():
        buffers[name][lo:hi] = data


def _at_length(run: Run, program: Program, buffers: Buffers, grid: Grid, *, count: int) -> None:
    run(buffers, grid)
    for decl in outputs(program):
        if buffers[decl.name].nbytes == count * decl.element.stride:
            buffers[decl.name][0] ^= 1


def _torn(run: Run, program: Program, buffers: Buffers, grid: Grid, *, step: int) -> None:
    run(buffers, grid)
    for decl in outputs(program):
        if decl.element.stride == 2:
            np.frombuffer(buffers[decl.name], np.uint16)[step - 1 :: step] = 0


def _odd_half(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
    run(buffers, grid)
    for decl in outputs(program):
        if decl.element.stride == 2 and buffers[decl.name].nbytes % 4:
            np.frombuffer(buffers[decl.name], np.uint16)[-1:] = 0


def _unstable(inner: Backend, *, rate: int) -> Mutated:
    """One result in so many has a bit turned; which one is left to chance, by a fixed seed."""
    chance = random.Random(rate)

    def around(run: Run, program: Program, buffers: Buffers, grid: Grid) -> None:
        run(buffers, grid)
        for decl in outputs(program):
            if decl.element is DataType.U32:
                words = np.frombuffer(buffers[decl.name], np.uint32)
                whole, rest = divmod(len(words), rate)
                for _ in range(whole + (chance.random() < rest / rate)):
                    words[chance.randrange(len(words))] ^= np.uint32(1)

    return Mutated(inner, around=around)


def _dirty(inner: Backend) -> Mutated:
    """Workgroup memory holds something at the start."""

    def change(program: Program) -> Program:
        shared = [b for b in program.buffers if b.access.shared and b.element is DataType.U32]
        fill = [
            Loop(f"dirt{k}", LitU32(0), LitU32(b.count), (Store(b.name, Var(f"dirt{k}"), LitU32(7)),))
            for k, b in enumerate(shared)
        ]
        entry = (*fill, *program.entry)
        return Program(program.buffers, program.workgroup_size, entry) if fill else program

    return Mutated(inner, change=change)
