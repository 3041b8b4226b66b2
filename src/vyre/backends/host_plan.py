"""Calls on plain arrays of NumPy, with everything settled beforehand that does not depend on their contents.

What a program asks of an array is written down once. A call then looks at each array (its class, dtype,
layout, length and address), makes the outputs that were left out, sees that no written memory is bound twice,
and starts the launch that was prepared for these lengths. Whatever is not plain is left to
`vyre.backends.host`, which binds it or says what is wrong with it: nothing is refused here.
"""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np
from numpy import ndarray

from vyre.backends import recycled
from vyre.backends.host_memory import address_of, pinned
from vyre.backends.recording import current
from vyre.backends.storage import LANES, STORAGE
from vyre.ir.buffers import BufferAccess
from vyre.ir.limits import MAX_UNIFORM_BYTES, U32_MAX
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.host import Lengths
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.grid import Grid
    from vyre.ir.outline import Outline

    Prepare = Callable[[tuple[int, ...], int | Grid | None], "PreparedLaunch"]

_MOST_LAUNCHES = 64
_BYTES = c_char * 0


class Wanted(NamedTuple):
    """What a buffer has to be. A tuple, because a call takes all of it apart."""

    name: str
    dtype: np.dtype[Any]
    lanes: int
    """The last axis of an array of vectors; 0 for other elements."""
    stride: int
    fixed: int
    most: int
    """Elements that it may have at most; `fixed` is how many it must have, 0 for any."""
    misaligned: int
    """Bits of an address that must be 0."""
    written: bool


def _wanted(decl: BufferDecl) -> Wanted:
    stride = decl.element.stride
    return Wanted(
        decl.name,
        STORAGE[decl.element],
        LANES.get(decl.element, 0),
        stride,
        decl.count,
        MAX_UNIFORM_BYTES // stride if decl.access is BufferAccess.Uniform else U32_MAX,
        min(4, stride) - 1,
        decl.access is BufferAccess.ReadWrite,
    )


class PreparedLaunch(NamedTuple):
    """What is ready for buffers of certain lengths."""

    run: Callable[[Sequence[int]], None]
    """Runs on buffers at these addresses, in the order of the program."""
    uncovered: frozenset[str]
    """The outputs that the run is not known to write from end to end."""


class CallPlan:
    """What is settled for the calls of one program. `prepare` makes the launch for a grid and as many
    elements of each buffer."""

    before_buffers = False
    """Whether arrays are likelier than device buffers, whose calls have a short way of their own."""

    __slots__ = ("_launches", "_prepare", "wanted", "written")

    def __init__(self, program: Outline, prepare: Prepare) -> None:
        self.wanted = tuple(_wanted(b) for b in program.buffers if b.access.bound)
        self.written = tuple((k, w.name) for k, w in enumerate(self.wanted) if w.written)
        self._prepare = prepare
        self._launches: dict[Any, PreparedLaunch] = {}

    def short(
        self, names: tuple[str, ...], given: int, lengths: Lengths, zeroed: tuple[str, ...]
    ) -> Callable[[tuple[Any, ...]], Any] | None:
        """Calls of a kernel, whose parameters have these names, by the first `given` of them and nothing else
        that a call may have: what the kernel gives back, or None with nothing done.

        None where a call cannot take it: a parameter is not a buffer, or an output left out cannot be made.
        """
        made = self.wanted[given:]
        plain = names == tuple(w.name for w in self.wanted) and all(w.written for w in made)
        return (
            self._short(given, lengths, zeroed) if plain and not any(w.lanes for w in self.wanted) else None
        )

    def _short(
        self, given: int, lengths: Lengths, zeroed: tuple[str, ...]
    ) -> Callable[[tuple[Any, ...]], Any] | None:
        return None

    def launch(self, workgroups: int | Grid | None, counts: Sequence[int]) -> PreparedLaunch:
        key = (workgroups, *counts)
        found = self._launches.get(key)
        if found is None:
            found = self._prepare(tuple(counts), workgroups)
            if len(self._launches) >= _MOST_LAUNCHES:
                self._launches = {}
            self._launches[key] = found
        return found

    def length(self, k: int, lengths: Lengths, counts: list[int]) -> int | None:
        """Elements of an output that was left out, where they can be known; noted in `counts`."""
        name, _, _, _, fixed, most, _, _ = self.wanted[k]
        length = lengths.get(name)
        if isinstance(length, tuple):
            length = max([c for w, c in zip(self.wanted, counts, strict=True) if w.name in length])
        count = fixed if length is None else length
        if count < 1 or (fixed and count != fixed) or count > most:
            return None
        counts[k] = count
        return count

    def overlaps(self, k: int, places: Sequence[int], counts: Sequence[int]) -> bool:
        """Whether memory that is written may be bound twice; all of it is contiguous."""
        start = places[k]
        end = start + counts[k] * self.wanted[k].stride
        for other, wanted in enumerate(self.wanted):
            first = places[other]
            if other != k and first < end and start < first + counts[other] * wanted.stride:
                return True
        return False


def fresh_shape(wanted: Wanted, count: int | None) -> tuple[int, ...] | None:
    """The shape of an array of `count` elements."""
    if count is None:
        return None
    return (count, wanted.lanes) if wanted.lanes else (count * wanted.stride // wanted.dtype.itemsize,)


class Made(NamedTuple):
    """An output that a call makes."""

    nbytes: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    cleared: bool


class Ready(NamedTuple):
    """What is ready for arrays of certain sizes."""

    run: Callable[[Sequence[int]], None]
    made: tuple[Made, ...]
    cleared: tuple[int, ...]
    """Which of the arrays that were passed start as zeros."""


class PositionalCall:
    """Calls with an array for each of the first buffers of a program; the outputs after those are made.

    What follows from how many bytes each array has is worked out once: whether they fit, the launch, and the
    outputs to make. What is left for a call is to look at each array, and at whether they overlap.
    """

    __slots__ = ("_lengths", "_plan", "_zeroed", "asked", "flat", "ready", "written")

    def __init__(self, plan: CallPlan, given: int, lengths: Lengths, zeroed: tuple[str, ...]) -> None:
        passed = plan.wanted[:given]
        self._plan = plan
        self._lengths = lengths
        self._zeroed = tuple(k for k, w in enumerate(passed) if w.name in zeroed)
        self.asked = tuple((w.dtype, w.misaligned, w.written) for w in passed)
        self.written = tuple(k for k, w in enumerate(passed) if w.written)
        self.flat = given < len(plan.wanted)
        """Whether outputs are made, which take their shape from inputs that have more than one dimension."""
        self.ready: dict[tuple[int, ...], Ready] = {}

    def overlap(self, places: Sequence[int], sizes: Sequence[int]) -> bool:
        """Whether memory that is written may be bound twice."""
        for k in self.written:
            start, end = places[k], places[k] + sizes[k]
            for other, first in enumerate(places):
                if first < end and start < first + sizes[other] and other != k:
                    return True
        return False

    def prepare(self, sizes: tuple[int, ...]) -> Ready | None:
        """What `ready` has for these sizes from now on; None where they do not fit."""
        plan = self._plan
        counts: list[int] = []
        for size, wanted in zip(sizes, plan.wanted, strict=False):
            count, rest = divmod(size, wanted.stride)
            if rest or count > wanted.most or (wanted.fixed and count != wanted.fixed):
                return None
            counts.append(count)
        counts += [-1] * (len(plan.wanted) - len(sizes))
        shapes: list[tuple[int, ...]] = []
        for k in range(len(sizes), len(counts)):
            shape = fresh_shape(plan.wanted[k], plan.length(k, self._lengths, counts))
            if shape is None:
                return None
            shapes.append(shape)
        launch = plan.launch(None, counts)
        made: list[Made] = []
        for k, shape in enumerate(shapes, len(sizes)):
            name, dtype, _, stride, *_ = plan.wanted[k]
            made.append(Made(counts[k] * stride, dtype, shape, name in launch.uncovered))
        cleared = tuple(k for k in self._zeroed if plan.wanted[k].name in launch.uncovered)
        if len(self.ready) >= _MOST_LAUNCHES:
            self.ready = {}
        self.ready[sizes] = found = Ready(launch.run, tuple(made), cleared)
        return found


class HostCall(PositionalCall):
    """Such calls on arrays of NumPy."""

    __slots__ = ()

    def __call__(self, arrays: tuple[Any, ...]) -> Any:
        """The output, or a tuple of several; None, with nothing done, for a call that is not plain."""
        if current.get() is not None:
            return None
        flat = self.flat
        places: list[int] = []
        sizes: list[int] = []
        held: list[Any] = []  # until the launch is over
        for value, (dtype, misaligned, written) in zip(arrays, self.asked, strict=True):
            if value.__class__ is not ndarray or value.dtype is not dtype:
                return None
            flags, dimensions = value.flags, value.ndim
            if not flags.c_contiguous or not dimensions or (flat and dimensions != 1):
                return None
            if flags.writeable:
                place = addressof(_BYTES.from_buffer(value))
            elif written:
                return None
            else:
                place = address_of(value)
            if place & misaligned:
                return None
            held.append(ref(value) if value.base is None else pinned(value.data))
            places.append(place)
            sizes.append(value.nbytes)
        key = tuple(sizes)
        ready = self.ready.get(key) or self.prepare(key)
        if ready is None or (self.written and self.overlap(places, sizes)):
            return None
        results: list[Any] = [arrays[k] for k in self.written]
        try:
            for _, dtype, shape, cleared in ready.made:
                made: Any = np.zeros(shape, dtype) if cleared else np.empty(shape, dtype)
                results.append(made)
                places.append(addressof(_BYTES.from_buffer(made)))
        except MemoryError:  # the ordinary way says of what
            return None
        for k in ready.cleared:
            arrays[k].fill(0)
        ready.run(places)
        return results[0] if len(results) == 1 else tuple(results)


class HostPlan(CallPlan):
    """The calls on arrays of NumPy."""

    before_buffers = True

    __slots__ = ("_booleans",)

    def __init__(self, program: Outline, prepare: Prepare) -> None:
        super().__init__(program, prepare)
        # A bool is a word in memory and comes back as NumPy's, which the ordinary way knows how to do.
        self._booleans = frozenset(b.name for b in program.buffers if b.element is DataType.Bool)

    def __call__(
        self,
        buffers: Mapping[str, Any],
        lengths: Lengths,
        workgroups: int | Grid | None,
        *,
        copy: bool,
        zeroed: tuple[str, ...],
    ) -> dict[str, NDArray[Any]] | None:
        """Like `Compiled`; None, with nothing done, for a call that is not plain."""
        counts: list[int] = []
        places: list[int] = []
        held: list[Any] = []  # until the launch is over
        for name, dtype, lanes, stride, fixed, most, misaligned, written in self.wanted:
            value = buffers.get(name)
            if type(value) is ndarray:
                if value.dtype is not dtype or not value.flags.c_contiguous:
                    return None
                if not value.ndim or (lanes and value.shape[-1] != lanes):
                    return None
                held.append(ref(value) if value.base is None else pinned(value.data))
            elif value is None and written:
                counts.append(-1)
                places.append(0)
                continue
            elif type(value) is bytes and value and not written:
                held.append(value := np.frombuffer(value, np.uint8))
            else:
                return None
            size = value.nbytes
            count = size // stride
            place = _address(value)
            if count * stride != size or count > most or (fixed and count != fixed) or place & misaligned:
                return None
            counts.append(count)
            places.append(place)
        if len(held) != len(buffers):  # a name that the program does not have, or a None
            return None
        for k, _ in self.written:
            if counts[k] < 0:
                if self.length(k, lengths, counts) is None:
                    return None
            elif self.overlaps(k, places, counts):
                return None
        launch = self.launch(workgroups, counts)
        results: dict[str, NDArray[Any]] = {}
        for k, name in self.written:
            made = buffers.get(name)
            if made is None:
                made = self._fresh(k, counts[k], zeros=name in launch.uncovered)
            elif copy:
                made = np.zeros_like(made) if name in zeroed else made.copy()
            elif not made.flags.writeable:
                return None
            if made is None:
                return None
            results[name] = made
            places[k] = _address(made)
        if not copy:
            for name in zeroed:
                if name in launch.uncovered and name in buffers:
                    results[name].fill(0)
        launch.run(places)
        return results

    def _short(
        self, given: int, lengths: Lengths, zeroed: tuple[str, ...]
    ) -> Callable[[tuple[Any, ...]], Any] | None:
        if any(w.name in self._booleans for w in self.wanted):
            return None
        return HostCall(self, given, lengths, zeroed)

    def _fresh(self, k: int, count: int, *, zeros: bool) -> NDArray[Any] | None:
        """An output that was left out. Memory that is written whole is not cleared first: what was freed a
        moment ago is used again as it is."""
        wanted = self.wanted[k]
        shape = fresh_shape(wanted, count)
        if shape is None or wanted.name in self._booleans:
            return None
        try:
            return np.zeros(shape, wanted.dtype) if zeros else recycled.empty(shape, wanted.dtype)
        except MemoryError:  # the ordinary way says of what
            return None


def _address(array: Any) -> int:
    """The same as `address_of`, which makes a dictionary to find out."""
    return addressof(_BYTES.from_buffer(array)) if array.flags.writeable else address_of(array)
