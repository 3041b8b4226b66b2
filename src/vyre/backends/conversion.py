"""`vyre.array`: numbers as an array that a buffer takes, with nothing lost on the way.

    vyre.array(np.arange(4), vyre.u32)                      int64 becomes uint32; -1 or 2**32 would be refused
    vyre.array([0.5, 2.0], vyre.f32)                        float64 becomes float32
    vyre.array([0.1, 0.2], vyre.f32, rounded=True)          no f32 is 0.1: to the nearest, ties to even

A value that the type does not hold raises `DispatchError`, which names the first one. `rounded` is for floats
only, and never makes an infinity of a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.foreign import from_dlpack, is_on_device, not_handed_over, plain_array
from vyre.backends.storage import BOOL, LANES, STORAGE, holds, public_name
from vyre.errors import DispatchError, boundary
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Loss:
    """The first value that a type does not hold; `rounding` says whether rounding would do."""

    index: tuple[int, ...]
    value: Any
    element: DataType
    rounding: bool

    def __str__(self) -> str:
        where = ", ".join(map(str, self.index))
        exactly = " exactly" if self.rounding else ""
        return f"element [{where}] is {self.value}, which {self.element.value} cannot hold{exactly}"


@boundary
def array(values: Any, element: Any, *, rounded: bool = False) -> Array:
    """The values as a NumPy array of the dtype that holds `element`, such as `vyre.u32`.

    An array that has it already comes back as it is. A value that would change is refused; with `rounded`,
    floats may change to the nearest value that the type has.
    """
    kind = getattr(element, "__vyre_type__", element)
    if not isinstance(kind, DataType):
        raise DispatchError(
            f"{element!r} is not a type that a buffer can have.", fix="pass one such as vyre.u32 or vyre.f32."
        )
    source = _source(values)
    if kind in LANES and source.shape[-1:] != (LANES[kind],):
        raise DispatchError(
            f"{kind.value} takes an array of shape (…, {LANES[kind]}) and got {source.shape}.",
            fix=f"put the {LANES[kind]} lanes of each element, lane 0 first, along the last axis.",
        )
    found = converted(source, kind, rounded=rounded)
    if not isinstance(found, Loss):
        return found
    if found.rounding:
        fix = "pass rounded=True to take the nearest value that it has, or use a wider type."
    else:
        fix = "correct the value, or use a type that holds it."
    raise DispatchError(f"{found}.", fix=fix)


def converted(source: Array, element: DataType, *, rounded: bool) -> Array | Loss:
    """The conversion itself: an array, or the first value that stands in the way."""
    if holds(element, source.dtype):
        return source
    if element is DataType.BF16:
        return _to_bfloat16(source, rounded=rounded)
    target = BOOL if element is DataType.Bool else STORAGE[element]
    if target.kind == "b":
        return _judged(source, source.astype(BOOL), (source == 0) | (source == 1), element)
    if target.kind in "iu":
        return _to_integers(source, target, element)
    with np.errstate(all="ignore"):
        made = source.astype(target)
    # Processors differ on the payload of a NaN that they convert, so it is made the canonical one.
    made[np.isnan(made)] = np.nan
    exact = _same(source, made)
    return _judged(
        source, made, exact | (_near(source, made) & rounded), element, exact | _near(source, made)
    )


def _to_integers(source: Array, target: np.dtype[Any], element: DataType) -> Array | Loss:
    bounds = np.iinfo(target)
    if source.dtype.kind == "f":
        # Compared as floats: the bound after the last integer is a power of two, which every format has.
        with np.errstate(all="ignore"):
            wide = source.astype(np.promote_types(source.dtype, np.float64))
            fits = (wide >= float(bounds.min)) & (wide < float(bounds.max + 1)) & (np.trunc(wide) == wide)
            made = np.where(fits, wide, 0).astype(target)
    else:
        have = np.iinfo(np.uint8 if source.dtype == BOOL else source.dtype)
        low, high = max(bounds.min, have.min), min(bounds.max, have.max)
        numbers = source.astype(np.uint8) if source.dtype == BOOL else source
        fits = (numbers >= low) & (numbers <= high)
        made = numbers.astype(target)
    return _judged(source, made, fits, element)


def _to_bfloat16(source: Array, *, rounded: bool) -> Array | Loss:
    """The bits as uint16: an F32 that loses no bit in its lower half, else the nearest."""
    with np.errstate(all="ignore"):
        single = source.astype(np.float32)
        away = np.abs(single.astype(np.float64)) > np.abs(source.astype(np.float64))
        toward_zero = np.where(away, np.nextafter(single, np.float32(0)), single)
    bits = toward_zero.astype(np.float32).view(np.uint32)
    # Rounded to odd first, so that the second rounding sees that something was lost.
    bits = bits | (~_same(source, single)).astype(np.uint32)
    nearest = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    made = np.where(np.isnan(single), np.uint16(0x7FC0), nearest)
    back = (made.astype(np.uint32) << 16).view(np.float32)
    exact = _same(source, back)
    near = _near(source, back)
    return _judged(source, made, exact | (near & rounded), DataType.BF16, exact | near)


def _judged(
    source: Array, made: Array, kept: Truths, element: DataType, roundable: Truths | None = None
) -> Array | Loss:
    if bool(kept.all()):
        return made
    index = tuple(int(n) for n in np.argwhere(~kept)[0])
    value = source[index].item()
    return Loss(index, value, element, roundable is not None and bool(roundable.all()))


def _same(source: Array, made: Array) -> Truths:
    """Where a float is exactly the number, or the NaN, that it was made of."""
    if source.dtype.kind == "f":
        wide = np.promote_types(source.dtype, made.dtype)
        with np.errstate(invalid="ignore"):  # a signalling NaN
            a, b = source.astype(wide), made.astype(wide)
        return (a == b) | (np.isnan(a) & np.isnan(b))
    size = _magnitude(source)
    lowest = size & (~size + np.uint64(1))
    digits = size // np.maximum(lowest, np.uint64(1))
    return (digits < np.uint64(1 << (np.finfo(made.dtype).nmant + 1))) & np.isfinite(made)


def _magnitude(source: Array) -> NDArray[np.uint64]:
    if source.dtype.kind != "i":
        return source.astype(np.uint64)
    wide = source.astype(np.int64)
    return np.where(wide < 0, ~wide.view(np.uint64) + np.uint64(1), wide.view(np.uint64))


def _near(source: Array, made: Array) -> Truths:
    """Where rounding made no infinity of a number."""
    return np.isfinite(made) | ~np.isfinite(source)


def _source(values: Any) -> Array:
    if isinstance(values, np.ndarray):
        found = plain_array("the array", values)
    elif is_on_device(values):
        raise DispatchError(
            "the array is memory of a GPU.", fix="copy it to the host first, such as x.cpu() or x.numpy()."
        )
    elif hasattr(values, "__dlpack__"):
        try:
            found = from_dlpack(values, written=False)
        except Exception as error:  # every library has errors of its own
            raise not_handed_over("the array", values, error) from None
    else:
        found = _of_numbers(values)
    found = _plain(found)
    if found.dtype.kind not in "biuf":
        raise DispatchError(
            f"values of {found.dtype.name} are not numbers of at most 64 bits.",
            fix="pass integers, floats or truth values.",
        )
    return found


def _plain(source: Array) -> Array:
    """Floats of ml_dtypes as F32, which holds them all."""
    return source.astype(np.float32) if source.dtype.name == "bfloat16" else source


def _of_numbers(values: Any) -> Array:
    try:
        found = np.asarray(values)
    except ValueError as error:  # a list of lists of different lengths
        raise DispatchError(f"this is not an array: {error}.", fix="pass rows of one length.") from None
    if found.dtype.kind != "f" or not isinstance(values, list | tuple):
        return found
    before = np.array(values, dtype=object)
    if all(isinstance(v, int) for v in before.flat) and all(0 <= v < 1 << 64 for v in before.flat):
        return before.astype(np.uint64)  # of which NumPy makes floats by itself
    # Integers beside floats became floats, and large ones changed.
    changed = [i for i in np.ndindex(before.shape) if before[i] == before[i] and before[i] != found[i].item()]
    if changed:
        raise DispatchError(
            f"{before[changed[0]]!r} stands beside floats, and no float has this value.",
            fix="pass a list of integers or a list of floats.",
        )
    return found


def conversion(name: str, source: Array, element: DataType) -> str:
    """What to write to get `source` into a buffer of `element`; it works at the first try."""
    call = f"vyre.array({name}, {public_name(element)}"
    numbers = _plain(source)
    if numbers.dtype.kind not in "biuf":
        return f"pass numbers: {public_name(element)} is held by {STORAGE[element].name}."
    found = converted(numbers, element, rounded=False)
    if not isinstance(found, Loss):
        return f"pass {call}), which changes the dtype and no value."
    if found.rounding:
        return f"pass {call}, rounded=True), which rounds each value to the nearest {element.value}."
    return (
        f"{found}; correct the values, or declare the buffer with a type that holds them. "
        f"{call}) converts values that fit and refuses others."
    )
