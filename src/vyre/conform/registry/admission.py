"""Admission: a spec, ours or a package's, is registered through the six gates and the independence gate.

    admitted(specs)                     the specs, or `OpError` with the op, the gate, the reason and a fix
    admitted(specs, package="acme")     the same for those of a package, which the error names

Every gate runs whenever a registry is built; what gate 3 sees in lowered text is kept on disk by digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.spec import independence
from vyre.conform.spec.gates import ZERO_OVERHEAD, GateFailure, check, rejected
from vyre.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.ir.signature import OpSignature


def admitted(specs: Sequence[OpSpec], *, package: str = "") -> Sequence[OpSpec]:
    """The specs, all of them; the first that a gate turns away is an `OpError`."""
    from vyre.conform.registry.vanishing import overhead

    try:
        for spec in specs:
            failures = check(spec, _signature)
            if failures:
                raise rejected(spec, failures)
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
