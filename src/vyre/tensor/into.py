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
    given = list(flattened({"into": into})[1].values())
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
