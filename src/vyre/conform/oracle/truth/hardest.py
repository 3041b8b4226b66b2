"""The hardest inputs of each correctly rounded function, with their results: no data of ours.

    index()                  the lists by name, such as `f32.sin` and `f16.pow`, and how each was made
    load("f32.sin")          -> Hardest: operand words by column, and the words of the results

An exact result next to a midpoint between two floats is where a small error shows. For a function of one F32
the list has every input, of all 2^32, whose result is within `reach` of one, relative to the result; so an
error below that size which changes any result at all changes one of these. Functions of one F16 or BF16 need
no list: every run tries all their inputs. `lab/truth/hardest.py` finds them with the libraries of others;
MPFR and Arb decide them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

FOLDER = Path(__file__).parent / "data"
LISTS, INDEX = FOLDER / "hardest.npz", FOLDER / "hardest.json"

ODD = ("sin", "tan", "asin", "atan", "erf", "tanh", "sinh", "cbrt")
EVEN = ("cos", "cosh")
SYMMETRIC = (*ODD, *EVEN)
"""Functions whose list has inputs without sign; they are tried with both signs."""

_SIGN = np.uint32(1 << 31)


@dataclass(frozen=True, slots=True)
class Hardest:
    """The cases of one function in one format."""

    name: str
    operands: tuple[Words, ...]
    results: Words

    @property
    def count(self) -> int:
        return len(self.results)


@cache
def index() -> Mapping[str, Mapping[str, Any]]:
    """How each list was made, by its name."""
    if not INDEX.exists() or not LISTS.exists():
        raise VyreError(
            "the lists of hard inputs are not part of this installation.", fix="install vyre again."
        )
    return json.loads(INDEX.read_bytes())


@cache
def load(name: str) -> Hardest:
    """The list of a name, checked against the index."""
    with np.load(LISTS, allow_pickle=False) as lists:
        table: Words = lists[name]
    if hashlib.sha256(table.tobytes()).hexdigest() != index()[name]["sha256"]:
        raise VyreError(f"the list {name} in {LISTS} is damaged.", fix="install vyre again.")
    *operands, results = (np.ascontiguousarray(column) for column in table.T)
    function = name.partition(".")[2]
    if function in SYMMETRIC:
        flipped = results ^ _SIGN if function in ODD else results
        usual = (results & ~_SIGN) <= np.uint32(0x7F80_0000)  # a NaN has no sign
        operands = [np.concatenate([operands[0], operands[0] | _SIGN])]
        results = np.concatenate([results, np.where(usual, flipped, results)])
    return Hardest(name, tuple(operands), results)
