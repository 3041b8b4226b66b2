"""How much LLVM is asked to do for a kernel, chosen by what it would have to work through.

The passes of a full optimisation, and the careful generation of code, take time that grows faster than the
function they work on; a light one grows with it. So a kernel of a usual size gets everything, a large one
less, and the time to compile stays in proportion to the program. The choice depends on the text alone:
the same kernel is the same machine code everywhere, and its results are the same with any effort.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vyre.errors import DispatchError
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL, ROLLED, LIGHT, INLINED, BARE = "full", "loops", "light", "inlined", "bare"
"""LLVM's own third level; its second without unrolling, with vectors of loops alone; functions inlined and
variables in registers; functions inlined; nothing at all.

A loop of a few turns around much is laid out as so many copies of it, each of which is worked through again:
two fifths of the time for a kernel of thousands of lines, which is no faster for it. Looking for vectors
outside of loops takes up to two thirds of the rest, and finds next to none.
Putting variables into registers takes time that grows with their number times that of the blocks, and what
generates code fastest keeps them in memory all the same.
"""

MOST = 1_200_000
"""Lines of IR above which a kernel is not compiled."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What is done for a kernel of up to so many lines as written, and so many after inlining."""

    written: int
    inlined: int
    passes: str
    codegen: int


EFFORTS = (
    Effort(1_000, 40_000, FULL, 3),
    Effort(6_000, 40_000, ROLLED, 3),
    Effort(12_000, 60_000, LIGHT, 1),
    Effort(MOST, 120_000, INLINED, 0),
    Effort(MOST, 1 << 62, BARE, 0),
)


@dataclass(frozen=True, slots=True)
class Size:
    """Lines of IR: as they are written, and with every function that is to be inlined in its place."""

    written: int
    inlined: int


def size_of(text: str) -> Size:
    inlined: dict[str, int] = {}
    small: set[str] = set()
    written = total = 0
    twice = "@workgroups_in_range(" in text
    for name, always, body in _functions(text):
        lines = body.count("\n")
        here = lines
        # What is called stands before its callers, so its own calls are counted in already.
        for called in _CALL.findall(body) if small else ():
            here += inlined[called] if called in small else 0
        inlined[name] = here
        # Of two versions of a workgroup one runs at the edges of the grid only.
        written += 0 if twice and name == "workgroups_guarded" else lines
        if always:
            small.add(name)
        else:
            total += here
    return Size(written, total)


_HEAD = re.compile(r"^define [^@\n]*@([\w.]+)\(([^\n]*)\{$", re.MULTILINE)
_CALL = re.compile(r"call [^@\n]*@([\w.]+)\(")
_ACCESS = re.compile(r"^  (?:%[\w.]+ = load|store) ", re.MULTILINE)


def _functions(text: str) -> Iterator[tuple[str, bool, str]]:
    """Name, whether it is always inlined, and body of each function."""
    for head in _HEAD.finditer(text):
        yield head[1], "alwaysinline" in head[2], text[head.end() : text.index("\n}", head.end())]


def effort_for(text: str) -> Effort:
    size = size_of(text)
    fitting = (x for x in EFFORTS if size.written <= x.written and size.inlined <= x.inlined)
    return next(fitting, EFFORTS[-1])


STREAMING = 12
"""Lines for each access to memory, up to which a kernel waits for memory and not for arithmetic."""

_ROW = "invocations_in_range"
"""The loop that a kernel over whole rows spends its time in."""


def waits_for_memory(text: str) -> bool:
    """Whether a row of the kernel is little more than loads and stores. The widest registers then gain
    nothing, and a Zen 4 moves memory 7 % slower through them."""
    lengths = {name: body.count("\n") for name, _, body in _functions(text)}
    rows = [body for name, _, body in _functions(text) if name == _ROW]
    return bool(rows) and all(
        lengths[_ROW] + sum(lengths.get(name, 0) for name in _CALL.findall(body))
        <= STREAMING * len(_ACCESS.findall(body))
        for body in rows
    )


def refuse_giants(text: str) -> None:
    """Raises `DispatchError` for a kernel that would take minutes to compile."""
    lines = text.count("\n")
    if lines > MOST:
        raise DispatchError(
            f"the kernel has {lines:,} lines of LLVM IR; the backend cpu compiles at most {MOST:,}.",
            fix="write what repeats as a loop, or split the program into several dispatches.",
        )


_LEVELS = {FULL: 3, ROLLED: 2}


def optimise(llvm: Any, module: Any, machine: Any, passes: str) -> None:
    """Runs the passes over a module, in place."""
    full = passes in (FULL, ROLLED)
    options = llvm.create_pipeline_tuning_options(speed_level=_LEVELS.get(passes, 0))
    options.loop_vectorization = options.loop_interleaving = full
    options.loop_unrolling = options.slp_vectorization = passes == FULL
    builder = llvm.create_pass_builder(machine, options)
    manager = builder.getModulePassManager() if full else llvm.create_new_module_pass_manager()
    if passes in (LIGHT, INLINED):
        manager.add_always_inliner_pass()
    if passes == LIGHT:
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
    manager.run(module, builder)
    # `close` of a pass manager frees nothing in llvmlite 0.50: an empty method of a base class hides it.
    llvm.NewPassManager._dispose(manager)
    manager.detach()
    builder.close()
    options.close()
