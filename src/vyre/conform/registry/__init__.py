"""Every registered spec, one small file per op; those of installed packages come after ours.

specs() -> tuple[OpSpec, ...]     all of them, in a fixed order: primitives first, the library's last of ours
own_specs()                       ours alone
collectives()                     ours of exchange between lanes, in no plan of ops; `spec` has them
spec(op_id) -> OpSpec             one of them; `OpError` for an unknown id
lookup                            `spec`, under the name under which terms take it

A package offers specs through the entry point group `vyre.specs`. Whatever is registered, ours too, has
passed the gates (`admission.py`).
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.registry.admission import admitted
from vyre.conform.spec.float_names import is_float
from vyre.errors import OpError
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.op import OpSpec

ATOMICS = ("add", "bit_or", "bit_and", "bit_xor", "min", "max", "exchange", "compare_exchange")


GROUP = "vyre.specs"


@cache
def own_specs() -> tuple[OpSpec, ...]:
    """The specs of this package."""
    from vyre.conform.registry import primitive
    from vyre.conform.registry.cast import table
    from vyre.conform.registry.float_ import table as floats
    from vyre.conform.registry.intrinsic import packed
    from vyre.conform.registry.library import table as library
    from vyre.conform.registry.memory import load, store
    from vyre.conform.registry.value import lanes, select

    here = __name__
    found: list[OpSpec] = [
        *primitive.specs(),
        *(importlib.import_module(f"{here}.atomic.{name}").SPEC for name in ATOMICS),
        select.SPEC,
        *lanes.specs(),
        *table.specs(),
        load.SPEC,
        load.BOOL_SPEC,
        store.SPEC,
        *floats.specs(),
        *library.specs(),
        *packed.specs(),
    ]
    return tuple(admitted(found))


@cache
def collectives() -> tuple[OpSpec, ...]:
    """The instructions that the lanes of a subgroup execute together."""
    from vyre.conform.registry.intrinsic import matrices, subgroup

    return tuple(admitted([*subgroup.specs(), *matrices.specs()]))


def every_own_spec() -> tuple[OpSpec, ...]:
    """Ours, however they are run."""
    return (*own_specs(), *collectives())


@cache
def _by_id() -> Mapping[str, OpSpec]:
    from vyre.compose.plugins import offered
    from vyre.conform.spec.op import OpSpec

    known = {made.id: made for made in own_specs()}
    for package, found in offered(GROUP, OpSpec, "specs"):
        twice = next((s.id for k, s in enumerate(found) if s.id in known or s in found[:k]), None)
        if twice is not None:
            raise OpError(
                f"the package {package} cannot be used: {twice} has a spec already.",
                fix=f"give the new meaning a new version, such as {twice.partition('@')[0]}@2, or uninstall "
                f"{package}.",
            )
        may_apply = {**{made.id: made for made in collectives()}, **known}
        known |= {made.id: made for made in admitted(found, package=package, known=may_apply)}
    return known


def specs() -> tuple[OpSpec, ...]:
    """Every registered spec."""
    return tuple(_by_id().values())


def primitives() -> tuple[OpSpec, ...]:
    """The specs of the integer operators, binary ones first."""
    return specs()[: len(INTEGER_BINARY_OPS) + len(INTEGER_UNARY_OPS)]


def floats() -> tuple[OpSpec, ...]:
    """The strict float operations."""
    return tuple(s for s in specs() if is_float(s.id))


def spec(op_id: str) -> OpSpec:
    """The spec of an op id."""
    found = _by_id().get(op_id)
    if found is None and op_id.startswith("intrinsic."):
        found = next((s for s in collectives() if s.id == op_id), None)
    if found is None:
        raise OpError(
            f"no spec is registered as {op_id!r}.", fix="run `vyre laws` for the ids that have one."
        )
    return found


lookup: Lookup = spec


def replaced(*changed: OpSpec) -> Lookup:
    """A look-up in which these specs stand in for those of the same id."""
    known = {made.id: made for made in changed}
    return lambda op_id: known.get(op_id) or spec(op_id)
