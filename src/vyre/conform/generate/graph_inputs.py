"""Inputs for random graphs: numbers that cancel, ties, edges, specials, and indices partly out of range."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import ordinary_bits, random_bits
from vyre.ir.types import DataType
from vyre.reference.floats import FORMATS, from_integer
from vyre.reference.floats.arithmetic import div
from vyre.reference.tensors import Elements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.graph import Graph

_SPECIALS = (0, 0, 0, 0, 1, 1, 4)
"""Of eight floats of an input, how many are special; NaN and Inf spread, so most inputs have none."""


def random_inputs(graph: Graph, sizes: Mapping[str, int], seed: int) -> dict[str, Elements]:
    """The inputs of a graph for these lengths, a function of the seed."""
    rng = Random(f"vyre inputs of graphs {seed} {sorted(sizes.items())}")
    made: dict[str, Elements] = {}
    for name, kind in graph.inputs.items():
        shape = kind.resolved(sizes)
        count = kind.count.value(sizes)
        draw = _floats if kind.element.is_float else _integers
        made[name] = Elements(shape, draw(rng, kind.element, count))
    return made


def telling_inputs(
    graph: Graph, sizes: Mapping[str, int], seed: int, *, special: str = ""
) -> dict[str, Elements]:
    """Floats with all their bits in use and exponents near 0: every sum of three shows its order.

    In the input `special` one in four is NaN or infinite, which shows where a mask should have hidden it.
    Integers are small, so that they are indices in range more often than not.
    """
    rng = Random(f"vyre telling inputs of graphs {seed} {sorted(sizes.items())}")
    made: dict[str, Elements] = {}
    for name, kind in graph.inputs.items():
        count = kind.count.value(sizes)
        made[name] = Elements(
            kind.resolved(sizes), [_telling(rng, kind.element, name == special) for _ in range(count)]
        )
    return made


def _telling(rng: Random, element: DataType, special: bool) -> int:
    if not element.is_float:
        return rng.randrange(2 if element is DataType.Bool else 5)
    form = FORMATS[element]
    if special and rng.randrange(4) == 0:
        return rng.choice((form.nan, form.infinity, form.infinity | form.sign))
    field = form.bias + rng.randrange(-2, 3)
    bits = field << form.fraction_bits | rng.getrandbits(form.fraction_bits)
    return bits | (form.sign if rng.randrange(2) else 0)


def _floats(rng: Random, element: DataType, count: int) -> list[int]:
    specials, style = rng.choice(_SPECIALS), rng.randrange(6)
    form = FORMATS[element]
    made: list[int] = []
    for _ in range(count):
        if rng.randrange(8) < specials:
            made.append(random_bits(rng, element))
        elif style == 0 and made and rng.randrange(3) == 0:
            made.append(rng.choice(made) ^ form.sign)
        elif style == 1:
            # Multiples of a half, of which many sums are exact and many are ties.
            whole = from_integer(form, DataType.I32, rng.randrange(-20, 20) & 0xFFFF_FFFF)
            made.append(div(form, whole, from_integer(form, DataType.I32, 2)))
        else:
            made.append(ordinary_bits(rng, element, scale=rng.randrange(-6, 7) if style == 2 else 0))
    return made


def _integers(rng: Random, element: DataType, count: int) -> list[int]:
    if element is DataType.Bool:
        return [rng.randrange(2) for _ in range(count)]
    small = rng.randrange(4)
    mask = (1 << element.bits) - 1
    return [
        rng.randrange(-1, 6) & mask if rng.randrange(4) < small else random_bits(rng, element)
        for _ in range(count)
    ]
