"""What a decoder gives: the values before the first error, and where that is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from vyre.backends.device_buffer import DeviceBuffer
from vyre.errors import VyreError
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """`values` of all of the input, where `error` is None; else of what comes before the element at `error`.

    `error` is the place of the first element of the input that does not belong; of what is cut short, where
    it begins.
    """

    values: NDArray[Any]
    error: int | None

    def checked(self) -> NDArray[Any]:
        """The values, where there is no error; else `VyreError` says its place."""
        if self.error is not None:
            raise VyreError(
                f"the input cannot be decoded from element {self.error} on.",
                fix="take .values for what comes before it.",
            )
        return self.values


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A value for each text, and in `errors` the place in it of the first byte that does not belong, or -1.

    Where a text ends too early the place is its length. The value of a text with an error is 0.
    """

    values: NDArray[Any]
    errors: NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Unpacked:
    """The bytes of all blocks, block i from `offsets[i]` to `offsets[i + 1]`, and in `errors` the place in
    each of the first byte that does not belong, or -1; the bytes before an error are there."""

    values: NDArray[Any]
    offsets: NDArray[Any]
    errors: NDArray[Any]

    def checked(self) -> list[bytes]:
        """The bytes of each block, where none has an error; else `VyreError` says the first place."""
        wrong = [i for i, place in enumerate(self.errors) if place >= 0]
        if wrong:
            raise VyreError(
                f"block {wrong[0]} cannot be decoded from byte {self.errors[wrong[0]]} on.",
                fix="take .values for what comes before it.",
            )
        ends = self.offsets.tolist()
        return [self.values[a:b].tobytes() for a, b in pairwise(ends)]


def host(made: Any) -> NDArray[Any]:
    """What a kernel made, on the host."""
    return made.numpy() if isinstance(made, DeviceBuffer) else made


def place_of(mark: Any) -> int | None:
    """The place that kernels marked by `atomic_max(error, 0, ~place)`, the first one; 0 is not a mark."""
    found = int(host(mark)[0])
    return None if found == 0 else found ^ 0xFFFFFFFF


def first_of(*places: int | None) -> int | None:
    return min((p for p in places if p is not None), default=None)
