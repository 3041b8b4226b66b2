"""Shaped mutants of a second fresh reader, to be run once; each module here has its `MUTANTS`."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.mutants.shaped.fault import ShapedMutant


def unseen() -> list[ShapedMutant]:
    """The mutants of every module here, in the order of their names."""
    found: list[ShapedMutant] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        found += getattr(import_module(f"{__name__}.{module.name}"), "MUTANTS", [])
    return found
