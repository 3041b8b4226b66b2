"""The languages a program can be lowered to: one table for the commands, the exporter and the tests."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.lower.prepare import prepare
from vyre.lower.ways import FLOATS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.compose import Registry
    from vyre.ir.program import Program
    from vyre.lower.prepare import Prepared
    from vyre.lower.source import Source


@dataclass(frozen=True, slots=True)
class Language:
    """One target: where its `emit` lives, how its files end, and how a host hands over the hidden words."""

    name: str
    title: str
    module: str
    suffix: str
    hidden: str
    """`arguments`: trailing u32 arguments. `uniform`: the last binding. `block`: an array by address."""

    def emit(self, prepared: Prepared) -> Source:
        return importlib.import_module(self.module).emit(prepared)


LANGUAGES: Mapping[str, Language] = {
    language.name: language
    for language in (
        Language("llvm", "LLVM IR", "vyre.lower.llvm", ".ll", "block"),
        Language("wgsl", "WGSL", "vyre.lower.wgsl", ".wgsl", "uniform"),
        Language("cuda", "CUDA C", "vyre.lower.cuda", ".cu", "arguments"),
        Language("opencl", "OpenCL C 1.2", "vyre.lower.opencl", ".cl", "arguments"),
    )
}
"""Every language by its name; a module is loaded when it is asked to emit."""


def language_of(name: str) -> Language:
    """The language of that name. Raises `VyreError` for a name that is none."""
    found = LANGUAGES.get(name)
    if found is None:
        close = difflib.get_close_matches(name, LANGUAGES, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise VyreError(
            f"no lowering is called {name!r}.", fix=f"{hint}Choose one of {', '.join(LANGUAGES)}."
        )
    return found


def floats_of(language: str, name: str | None) -> str:
    """The way to write floats that is meant: `name`, or the language's own. Raises `VyreError`."""
    target = language_of(language)
    choices = FLOATS[language]
    if name is None:
        return next(iter(choices))
    if name not in choices:
        raise VyreError(
            f"{target.title} has no way to write floats that is called {name!r}.",
            fix=f"choose one of {', '.join(choices)}; `soft` is exact on every device.",
        )
    return name


def lower(
    program: Program, language: str, *, registry: Registry | None = None, floats: str | None = None
) -> Source:
    """A valid program as source in one language; `floats` names a way of `vyre.lower.ways.FLOATS`."""
    target = language_of(language)
    ways = FLOATS[language][floats_of(language, floats)].ways
    return target.emit(prepare(program, registry=registry, ways=ways))
