"""What a host without Python must know of a kernel's parameters beyond its program: names and places.

A program has its scalars packed into one uniform buffer for each type, and its arrays without shapes.
`told` gives back what the author wrote, as plain data by buffer, for the manifest of an export.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.frontend.arguments import scalar_bytes
from vyre.frontend.scalars import DIMENSION, WORKGROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.frontend.signature import Parameter
    from vyre.frontend.translation import Translation


def told(kernel: str, translation: Translation) -> Mapping[str, Mapping[str, Any]]:
    """By buffer: `scalars`, where each lies in it, and `shape`, the declared dimensions; only what there is.

    A scalar's `default` is the bytes that a call passes where it is left out, in hexadecimal. Numbers that
    the host settles have a `meaning` instead.
    """
    found: dict[str, dict[str, Any]] = {
        p.name: {"shape": list(p.shape)} for p in translation.parameters if p.role and p.shape
    }
    for buffer, scalars in translation.scalars.items():
        stride = scalars[0].element.stride
        rows = [_scalar(kernel, p, k * stride, translation) for k, p in enumerate(scalars)]
        found[buffer] = {"scalars": rows}
    return found


def _scalar(kernel: str, p: Parameter, offset: int, translation: Translation) -> dict[str, Any]:
    place = {"element": p.element.value, "offset": offset}
    if p.name.startswith(DIMENSION):
        dimension = p.name.removeprefix(DIMENSION)
        return {"name": f"dim_{dimension}", **place, "meaning": _where(dimension, translation)}
    if p.name.startswith(WORKGROUPS):
        axis = "xyz"[int(p.name.removeprefix(WORKGROUPS))]
        return {"name": f"grid_{axis}", **place, "meaning": f"workgroups of the grid along {axis}"}
    if p.default is None:
        return {"name": p.name, **place}
    return {"name": p.name, **place, "default": scalar_bytes(kernel, p, p.default).hex()}


def _where(dimension: str, translation: Translation) -> str:
    places = [
        f"axis {axis} of {p.name}"
        for p in translation.parameters
        for axis, size in enumerate(p.shape)
        if p.role and size == dimension
    ]
    return f"elements along {' and '.join(places)}"
