"""Admission: a spec, ours or a package's, is registered through the six gates and the independence gate.

    admitted(specs)                     the specs, or `OpError` with the op, the gate, the reason and a fix
    admitted(specs, package="acme", known=known)
                                        the same for those of a package, which the error names; its laws
                                        may apply what has a spec in `known`, and each other

Every gate runs whenever a registry is built; what gate 3 sees in lowered text is kept on disk by digest.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from vyre.conform.registry.promised import unsound
from vyre.conform.spec import independence
from vyre.conform.spec.gates import ZERO_OVERHEAD, GateFailure, check, rejected
from vyre.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.ir.signature import OpSignature


def admitted(
    specs: Sequence[OpSpec], *, package: str = "", known: Mapping[str, OpSpec] = MappingProxyType({})
) -> Sequence[OpSpec]:
    """The specs, all of them; the first that a gate turns away is an `OpError`."""
    from vyre.compose.registry import default_registry
    from vyre.conform.registry.vanishing import overhead

    # A package whose ops cannot be used says so itself, rather than through the gate of the first spec.
    default_registry()
    try:
        for spec in specs:
            failures = check(spec, _signature)
            if failures:
                raise rejected(spec, failures)
            fault = unsound(spec, {**known, **{s.id: s for s in specs}}) if package else None
            if fault is not None:
                raise OpError(f"{spec.id} is rejected: {fault[0]}.", fix=f"{fault[1]}.")
            independence.require_independent_spec(spec)
        left = overhead(specs)
        if left is not None:
            raise rejected(left[0], [GateFailure(3, ZERO_OVERHEAD, left[1])])
    except OpError as error:
        if not package:
            raise
        raise OpError(
            f"the package {package} cannot be used: {error.message}",
            fix=f"{error.fix.removesuffix('.')}, or uninstall {package}.",
        ) from error
    return specs


def _signature(op_id: str) -> OpSignature | None:
    from vyre.compose.registry import default_registry

    found = default_registry().get(op_id)
    return None if found is None else found.signature
