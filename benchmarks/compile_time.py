"""Times a cold compile for the processor: `python benchmarks/compile_time.py [--nodes 20000] [SHAPE ...]`.

Each shape is a program of about so many nodes after inlining, made to be hard for one stage: straight lines
of stores, branches, selects, sums of loads, chains, variables in a loop, barriers, early returns, divisions,
calls of functions, conditions of many parts, and programs as a generator makes them. Times are seconds of
processor time, so a loaded machine shows what a quiet one does; `lines` is what LLVM is given.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from vyre import Program
from vyre.backends.cpu.compiling import compile_source, native_ways
from vyre.backends.cpu.effort import effort_for
from vyre.compose.inline import inline
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import generate_program
from vyre.errors import VyreError
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Callable

NODES = 20_000
_HEAD = "vyre 1\nworkgroup 64 1 1\n"
_WORDS = _HEAD + "buffer a: readonly U32 @0\nbuffer out: readwrite U32 @1\nentry {\n let i = invocation.x\n"
_FLOATS = _HEAD + "buffer a: readonly F32 @0\nbuffer out: readwrite F32 @1\nentry {\n let i = invocation.x\n"
_WIDE = _HEAD + "buffer out: readwrite U128 @0\nentry {\n let i = invocation.x\n"
_TILE = _HEAD + "buffer out: readwrite U32 @0\nbuffer t: workgroup U32[64]\nentry {\n let i = invocation.x\n"
_GROUP = 200
"""Parts of one expression, whose depth is limited."""


def _chain(step: Callable[[int], str], count: int, *, head: str = _WORDS, first: str = "a[i]") -> str:
    lines = "".join(f" let x{k + 1} = {step(k)}\n" for k in range(count))
    return f"{head} let x0 = {first}\n{lines} out[i] = x{count}\n}}"


def stores(nodes: int) -> str:
    return _WORDS + "".join(f" out[i + {k}] = a[i] + {k}\n" for k in range(nodes // 8)) + "}"


def branches(nodes: int) -> str:
    both = (f" if a[i + {k}] > s {{ s := s + {k} }} else {{ s := s ^ {k} }}\n" for k in range(nodes // 15))
    return f"{_WORDS} let s = 0\n{''.join(both)} out[i] = s }}"


def selects(nodes: int) -> str:
    return _chain(lambda k: f"select(x{k} < {k}, x{k} + 1, x{k} * 3)", nodes // 11)


def sums(nodes: int) -> str:
    parts = range(nodes // (5 * _GROUP + 4))
    sums = (" + ".join(f"a[i + {p * _GROUP + k}]" for k in range(_GROUP)) for p in parts)
    lines = "".join(f" let s{p} = {x}\n" for p, x in enumerate(sums))
    return f"{_WORDS}{lines} out[i] = {' ^ '.join(f's{p}' for p in parts) or '0'} }}"


def chain(nodes: int) -> str:
    return _chain(lambda k: f"(x{k} ^ (x{k} >> 3)) * x{k}", nodes // 8)


def variables(nodes: int) -> str:
    count = nodes // 11
    lets = "".join(f" let m{k} = a[i + {k}]\n" for k in range(count))
    turns = "".join(f" m{k} := m{k} * m{(k + 1) % count}\n" for k in range(count))
    used = " ^ ".join(f"m{k}" for k in range(min(count, _GROUP)))
    return f"{_WORDS}{lets} for j in 0..3 {{{turns}}}\n out[i] = {used} }}"


def barriers(nodes: int) -> str:
    steps = (
        f" barrier\n let v{k} = t[(local.x + {k}) & 63]\n barrier\n t[local.x] = v{k} + {k}\n"
        for k in range(nodes // 14)
    )
    return f"{_TILE}{''.join(steps)} barrier\n out[i] = t[local.x] }}"


def returns(nodes: int) -> str:
    leaves = (f" if a[i + {k}] == {k} {{ out[i] = {k} return }}\n" for k in range(nodes // 11))
    return f"{_WORDS}{''.join(leaves)} out[i] = 99 }}"


def divisions(nodes: int) -> str:
    return _chain(lambda k: f"(x{k} / a[i + {k}]) % (x{k} + {k})", nodes // 11)


def functions(nodes: int) -> str:
    names = ("fsin", "fcos", "fexp", "flog", "ftan", "fatan")
    return _chain(lambda k: f"{names[k % 6]}(x{k})", nodes // 3, head=_FLOATS)


def floats(nodes: int) -> str:
    names = ("fadd", "fmul", "fdiv")
    return _chain(lambda k: f"{names[k % 3]}(x{k}, x0)", nodes // 4, head=_FLOATS)


def vectors(nodes: int) -> str:
    lanes = "x{0}.3, x{0}.2, x{0}.0 + x{0}.1, x{0}.0"
    return _chain(lambda k: f"make<U128>({lanes.format(k)})", nodes // 13, head=_WIDE, first="out[i]")


def conditions(nodes: int) -> str:
    parts = (
        " && ".join(f"(a[i] > {p + k})" for k in range(_GROUP)) for p in range(nodes // (5 * _GROUP + 4))
    )
    lines = "".join(f" if {x} {{ out[i + {p}] = {p} }}\n" for p, x in enumerate(parts))
    return f"{_WORDS}{lines} }}"


def reductions(nodes: int) -> str:
    """Seven nodes each, that are loops of forty when they are written out."""
    folds = (f" out[i + {k}] = freduce_strict<Add>(a, {k}..4294967295)\n" for k in range(nodes // 7))
    return f"{_FLOATS}{''.join(folds)} }}"


def _parsed(text: Callable[[int], str]) -> Callable[[int], Program]:
    return lambda nodes: Program.from_text(text(nodes))


def generated(seed: int) -> Callable[[int], Program]:
    """Statements of every kind: the longest of a few programs that is not too large."""

    def made(nodes: int) -> Program:
        best = generate_program(seed, INTEGER_PROGRAMS).program
        statements = 7
        while True:
            statements = statements * 3 // 2
            found = generate_program(seed, replace(INTEGER_PROGRAMS, statements=statements)).program
            if inline(found).size > nodes:
                return best
            best = found

    return made


_NAMED = (
    *(stores, branches, selects, sums, chain, variables, barriers, returns, divisions, functions, floats),
    *(vectors, conditions, reductions),
)
SHAPES: dict[str, Callable[[int], Program]] = {
    **{text.__name__: _parsed(text) for text in _NAMED},
    **{f"random {seed}": generated(seed) for seed in range(3)},
}


def timed(program: Program) -> tuple[float, float, str]:
    """Seconds to lower and to compile and load, nothing cached, and what was done."""
    start = time.process_time()
    source = emit(prepare(program, ways=native_ways()))
    lowered = time.process_time()
    compile_source(source)
    done = time.process_time()
    effort = effort_for(source.text)
    lines = source.text.count("\n")
    return lowered - start, done - lowered, f"{lines:9,}  {effort.passes} {effort.codegen}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", default=[*SHAPES])
    parser.add_argument("--nodes", type=int, default=NODES)
    arguments = parser.parse_args()
    os.environ["VYRE_CACHE"] = "off"
    print(f"{'shape':12} {'nodes':>8} {'lower s':>8} {'LLVM s':>8} {'all s':>8} {'lines':>9}  effort")
    for name in arguments.shapes:
        program = SHAPES[name](arguments.nodes)
        try:
            lower, llvm, what = timed(program)
        except VyreError as error:
            print(f"{name:12} {inline(program).size:8,} refused: {error}")
            continue
        size = inline(program).size
        print(f"{name:12} {size:8,} {lower:8.2f} {llvm:8.2f} {lower + llvm:8.2f} {what}", flush=True)


if __name__ == "__main__":
    main()
