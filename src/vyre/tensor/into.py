"""Where the results of a function go: buffers in the structure of what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

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
        made, given = cast("dict[Any, Any]", result), cast("dict[Any, Any]", into)
        unknown = [key for key in given if key not in made]
        if unknown:
            raise VyreError(
                f"there is a buffer for {unknown[0]!r}, which the function does not return.",
                fix=f"use the keys that it returns: {', '.join(map(repr, made))}.",
            )
        return {key: _ordered(part, given[key]) for key, part in made.items() if key in given}
    if isinstance(result, (list, tuple)) and isinstance(into, (list, tuple)):
        parts, places = cast("list[Any]", result), cast("list[Any]", into)
        if len(parts) == len(places):
            return [_ordered(part, place) for part, place in zip(parts, places, strict=True)]
    return into  # pyright: ignore[reportUnknownVariableType]
