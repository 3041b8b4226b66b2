"""Kernels that differ in the names of values alone, as those of the layers of a network: written once.

Two kernels are alike when what they compute is: the same nodes of the same types over the same stored values,
in the order in which they are met from the root.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.graph.fields import OPERANDS, fields_of
from vyre.planning.kernels.site import WrittenLater

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from vyre.graph.nodes import GraphNode
    from vyre.planning.draft import Drafted
    from vyre.planning.kernels.site import Site, Variant


class WrittenKernels:
    """The kernels that were written so far, by what they compute."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[tuple[str, ...], tuple[Variant, ...]]] = {}

    def variants(self, site: Site, write: Callable[[Site], tuple[Variant, ...]]) -> tuple[Variant, ...]:
        """Those of one that is alike, reading the values of this one, or what `write` gives."""
        key, names = _pattern(site)
        known = self._known.get(key)
        if known is None:
            made = write(site)
            self._known[key] = names, made
            return made
        others, variants = known
        here = dict(zip(others, names, strict=True))
        return tuple(_renamed(variant, here) for variant in variants)


def _renamed(variant: Variant, names: Mapping[str, str]) -> Variant:
    def renamed() -> Drafted:
        reads = tuple((buffer, names[value]) for buffer, value in variant.drafted.reads)
        return replace(variant.drafted, reads=reads)

    return replace(variant, source=WrittenLater(renamed))


def _pattern(site: Site) -> tuple[Hashable, tuple[str, ...]]:
    """What a kernel computes with numbers for names, and the name behind each number."""
    graph, stored = site.graph, site.stores
    numbers: dict[str, int] = {site.root: 0}
    parts: list[Hashable] = []
    names = [site.root]
    for name in names:  # which grows behind it
        inside = site.fusion.absorbed.get(name) == site.root
        if stored(name) and name != site.root:
            parts.append(graph.types[name])
            continue
        node = graph.nodes[name]
        for operand in node.operands:
            if operand not in numbers:
                numbers[operand] = len(names)
                names.append(operand)
        parts.append((graph.types[name], inside, name == site.core, *_said(node, numbers)))
    return tuple(parts), tuple(names)


def _said(node: GraphNode, numbers: Mapping[str, int]) -> tuple[Hashable, ...]:
    """The fields of a node; operands by their numbers."""
    said: list[Any] = [type(node)]
    for field in fields_of(type(node)):
        value = getattr(node, field.name)
        if field.kind not in OPERANDS or value is None:
            said.append(value)
        else:
            said.append(numbers[value] if isinstance(value, str) else tuple(numbers[v] for v in value))
    return tuple(said)
