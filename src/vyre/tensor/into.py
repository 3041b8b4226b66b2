"""Where the results of a function go: buffers in the structure of what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.tensor.arguments import flattened, replaced

if TYPE_CHECKING:
    from vyre.tensor.arguments import Leaf


def named_outputs(result: Any, into: Any) -> dict[str, Any]:
    """The arrays in `into` by the names of the outputs in whose places they are."""
    names: list[str] = []

    def note(leaf: Leaf) -> Leaf:
        names.append(leaf.name)
        return leaf

    replaced(result, note)
    given = list(flattened({"into": _ordered(result, into)})[1].values())
    if len(given) != len(names):
        raise VyreError(
            f"the function returns {len(names)} arrays, and there are buffers for {len(given)}.",
            fix="pass as into= what the function returns, with a device buffer for each array.",
        )
    found = dict(zip(names, given, strict=True))
    if len(found) != len(names):
        raise VyreError(
            "the function returns a value twice, which has one buffer.",
            fix="return it once.",
        )
    return found


def _ordered(result: Any, into: Any) -> Any:
    """`into` with the keys of its dicts in the order of those of the result."""
    if isinstance(result, dict) and isinstance(into, dict):
        unknown = [key for key in into if key not in result]  # pyright: ignore[reportUnknownVariableType]
        if unknown:
            raise VyreError(
                f"there is a buffer for {unknown[0]!r}, which the function does not return.",
                fix=f"use the keys that it returns: {', '.join(map(repr, result))}.",  # pyright: ignore[reportUnknownArgumentType]
            )
        return {key: _ordered(part, into[key]) for key, part in result.items() if key in into}  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if isinstance(result, (list, tuple)) and isinstance(into, (list, tuple)) and len(result) == len(into):  # pyright: ignore[reportUnknownArgumentType]
        return [_ordered(part, given) for part, given in zip(result, into, strict=True)]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return into
