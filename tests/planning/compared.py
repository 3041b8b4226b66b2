"""Plans held against the evaluator: the same graph, the same bits in, the same bits out."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE
from vyre.ir.types import DataType
from vyre.planning import plan_graph, run_graph
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.graph import Graph

_SPECIAL = {
    DataType.F32: (0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FA12345, 0xFFC00001,
                   0x3F800000, 0xBF800000, 0x3F800001, 0x7F7FFFFF, 0x00800000, 0x4B000001, 0xCB000001),
    DataType.F16: (0, 0x8000, 1, 0x8001, 0x7C00, 0xFC00, 0x7E00, 0x7D01, 0x3C00, 0xBC00, 0x3C01, 0x7BFF),
    DataType.BF16: (0, 0x8000, 1, 0x7F80, 0xFF80, 0x7FC0, 0x7FA1, 0x3F80, 0xBF80, 0x3F81, 0x7F7F, 0x0080),
    DataType.F64: (0, 1 << 63, 1, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
                   0x7FF0000000000001, 0x3FF0000000000000, 0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF,
                   0x3810000000000000, 0x3E60000000000000, 0x3F00000000000001),
}  # fmt: skip
_EDGES = (0, 1, 2, 3, 5, 127, 128, 255, 0x7FFF, 0x8000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFE)


def random_bits(element: DataType, count: int, rng: np.random.Generator) -> list[int]:
    """Ordinary numbers, with a special one now and then."""
    mask = (1 << element.bits) - 1
    if element is DataType.Bool:
        return [int(b) for b in rng.integers(0, 2, count)]
    if not element.is_float:
        small = rng.integers(-4, 8, count)
        return [
            (_EDGES[int(rng.integers(len(_EDGES)))] if rng.random() < 0.2 else int(x)) & mask for x in small
        ]
    values = rng.normal(size=count) * 2.0 ** rng.integers(-3, 4, count)
    if element is DataType.BF16:
        plain = [int(b) >> 16 for b in values.astype(np.float32).view(np.uint32)]
    else:
        dtype = STORAGE[element]
        plain = [int(b) for b in values.astype(dtype).view(f"<u{dtype.itemsize}")]
    specials = _SPECIAL[element]
    return [specials[int(rng.integers(len(specials)))] if rng.random() < 0.05 else b for b in plain]


def random_elements(graph: Graph, sizes: Mapping[str, int], seed: int) -> dict[str, Elements]:
    rng = np.random.default_rng(seed)
    return {
        name: Elements(shape, random_bits(of.element, prod(shape), rng))
        for name, of in graph.inputs.items()
        for shape in (of.resolved(sizes),)
    }


def as_array(element: DataType, given: Elements) -> NDArray[Any]:
    """The elements as a caller has them."""
    dtype = STORAGE[element]
    words = np.array(given.bits, np.uint64).astype(f"<u{dtype.itemsize}")
    array = words.view(dtype).reshape(given.shape)
    return array != 0 if element is DataType.Bool else array


def bits_of(array: NDArray[Any]) -> list[int]:
    plain = np.ascontiguousarray(array).reshape(-1)
    if plain.dtype == np.bool_:
        return [int(x) for x in plain]
    return [int(x) for x in plain.view(f"<u{plain.dtype.itemsize}")]


def require_agreement(
    graph: Graph, sizes: Mapping[str, int] | None = None, *, backend: str = "cpu", seed: int = 0
) -> None:
    """Fused and unfused, both plans give what the evaluator gives."""
    require_same(graph, random_elements(graph, sizes or {}, seed), backend=backend)


def require_same(graph: Graph, given: Mapping[str, Elements], *, backend: str = "cpu") -> None:
    """The same for these inputs."""
    truth = evaluate(graph, given)
    arrays = {name: as_array(graph.inputs[name].element, value) for name, value in given.items()}
    for fuse in (True, False):
        found = run_graph(plan_graph(graph, fuse=fuse), arrays, backend=backend)
        for name, wanted in truth.items():
            assert found[name].shape == wanted.shape, (name, fuse)
            have = bits_of(found[name])
            wrong = [k for k, (a, b) in enumerate(zip(have, wanted.bits, strict=True)) if a != b]
            assert not wrong, (
                f"{name}[{wrong[0]}] is {have[wrong[0]]:#x}, not {wanted.bits[wrong[0]]:#x}; fuse={fuse}, "
                f"{len(wrong)} of {len(have)} differ"
            )
