"""The functions of the family `collection` give what NumPy gives, for every type and around the tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends import registry
from vyre.conform.registry.engine.collection_cases import in_order, items_of, ordered
from vyre.engines import HashTable, Shape
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES = (np.uint32, np.int32, np.float32, np.uint64, np.int64, np.float64)
SIZES = ((0, 0), (1, 0), (0, 5), (3, 1), (257, 1000), (4097, 300))
WIDE = Shape(32, 2, turns=2, row=3, reverse=True)
rng = np.random.default_rng(11)


def drawn(dtype: Any, count: int, among: Array | None = None) -> Array:
    """Elements of any bits, many of them alike, and some of them among the given ones."""
    made = rng.integers(0, 256, count * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    made = made[rng.integers(0, max(1, count // 4), count)] if count else made
    if among is not None and among.size and count:
        made[::3] = among[rng.integers(0, among.size, made[::3].size)]
    return made


def same(found: Any, wanted: Array) -> None:
    assert type(found) is np.ndarray
    array: Array = found
    assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape)
    assert array.tobytes() == wanted.tobytes()


def by_bits(array: Array, chosen: Array) -> Array:
    """The keys of `array` whose ordered numbers are the chosen ones."""
    table = dict(zip(ordered(array).tolist(), items_of(array).tolist(), strict=True))
    return np.array([table[key] for key in chosen.tolist()], items_of(array).dtype).view(array.dtype)


def check_all(dtype: Any, counts: tuple[int, int], backend: str, shape: Shape | None) -> None:
    """Every function on arrays of these lengths."""
    where: dict[str, Any] = {"backend": backend, "shape": shape}
    one = drawn(dtype, counts[0])
    two = drawn(dtype, counts[1], one)
    count = one.size
    places = np.argsort(ordered(one), kind="stable")
    first, second = in_order(one), in_order(two)
    mapped = ordered(first), ordered(second)
    both = np.concatenate([first, second])
    same(engines.sort(one, **where), first)
    same(engines.argsort(one, **where), places.astype(np.uint32))
    down = np.argsort(~ordered(one), kind="stable")
    values = drawn(np.uint64, count)
    keys, carried = engines.sort_pairs(one, values, descending=True, **where)
    same(keys, one[down])
    same(carried, values[down])
    same(engines.unique(one, **where), by_bits(one, np.unique(ordered(one))))
    left = np.searchsorted(mapped[0], ordered(two)).astype(np.uint32)
    same(engines.searchsorted(first, two, **where), left)
    right = np.searchsorted(mapped[0], ordered(two), "right").astype(np.uint32)
    same(engines.searchsorted(first, two, side="right", **where), right)
    same(engines.merge(first, second, **where), in_order(both))
    same(engines.union(first, second, **where), by_bits(both, np.union1d(*mapped)))
    same(engines.intersection(first, second, **where), by_bits(both, np.intersect1d(*mapped)))
    same(engines.difference(first, second, **where), by_bits(both, np.setdiff1d(*mapped)))
    flags = rng.integers(0, 2, count).astype(bool)
    parted, chosen = engines.partition(one, flags, **where)
    same(parted, np.concatenate([one[flags], one[~flags]]))
    assert chosen == flags.sum()
    same(engines.compact(one, flags, **where), one[flags])
    indices = rng.integers(0, count + 3, two.size).astype(np.uint32)
    longer = np.concatenate([one, np.zeros(3, one.dtype)])
    same(engines.gather(one, indices, **where), longer[indices])
    longer[indices] = two
    same(engines.scatter(two, indices, one, **where), longer[:count])
    numbers: dict[int, int] = {}
    for place, key in enumerate(items_of(one).tolist()):
        numbers.setdefault(key, place)
    found = [numbers.get(key, HashTable.absent) for key in items_of(two).tolist()]
    same(HashTable(one, **where).find(two), np.array(found, np.uint32))
    starts = np.unique(mapped[0], return_index=True)[1]
    sums = np.add.reduceat(values, starts, dtype=values.dtype) if count else values
    keys, joined = engines.reduce_by_key(first, values, **where)
    same(keys, first[starts])
    same(joined, sums)


@pytest.mark.parametrize("shape", [None, WIDE], ids=["walked", "wide"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_on_cpu(dtype: Any, shape: Shape | None) -> None:
    for counts in SIZES:
        check_all(dtype, counts, "cpu", shape)


OTHERS = [s.name for s in registry.available() if s.available and s.name in ("reference", "wgpu", "opencl")]


@pytest.mark.parametrize("backend", OTHERS)
def test_the_other_backends_give_the_same(backend: str) -> None:
    check_all(np.float32, (70, 33), backend, Shape(1, 16) if backend == "reference" else Shape(32, 4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_greatest_are_in_order_and_the_first_of_equals_wins(dtype: Any) -> None:
    for count in (0, 1, 100, 5000):
        array = drawn(dtype, count)
        if array.dtype.kind == "f":
            array[::7] = 0
            array[1::7] = -array.dtype.type(0)
            nan = np.isnan(array)
            places = np.lexsort((np.arange(count), -np.where(nan, 0, array), ~nan))
        else:
            places = np.argsort(~ordered(array), kind="stable")
        for k in (0, 1, 7, 10_000):
            found, indices = engines.top_k(array, k)
            same(indices, places[:k].astype(np.uint32))
            same(found, array[places[:k]])


@pytest.mark.parametrize("shape", [None, WIDE, Shape(1, 16, turns=2)], ids=["cpu", "wide", "short"])
@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
def test_scans_of_every_type_start_anew_at_heads(dtype: Any, shape: Shape | None) -> None:
    ufuncs = {"add": np.add, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor, "mul": np.multiply}
    for count in (0, 1, 65, 3001):
        array = drawn(dtype, count)
        heads = rng.integers(0, 40, count) == 0
        parts = np.split(array, np.flatnonzero(heads))
        for op, ufunc in ufuncs.items():
            wanted = np.concatenate(
                [ufunc.accumulate(part, dtype=dtype) for part in parts if part.size] or [array]
            )
            same(engines.scan(array, op=op, heads=heads, shape=shape), wanted)
            same(engines.scan(array, op=op, shape=shape), ufunc.accumulate(array, dtype=dtype))
        before = np.concatenate([np.zeros(1, dtype), np.cumsum(array, dtype=dtype)])[:count]
        same(engines.scan(array, inclusive=False, shape=shape), before)


@pytest.mark.parametrize("shape", [None, WIDE], ids=["walked", "wide"])
def test_a_scan_of_an_own_operation_keeps_the_order(shape: Shape | None) -> None:
    """Compositions of x -> a * x + b, with 16 bits for each: associative, and not commutative."""

    def composed(p: Any, q: Any) -> Any:
        return ((p >> 16) * (q >> 16)) << 16 | (((p & 0xFFFF) * (q >> 16) + (q & 0xFFFF)) & 0xFFFF)

    array = drawn(np.uint32, 3001)
    running = 1 << 16
    wanted: list[int] = []
    for step in array.tolist():
        running = composed(running, step) & 0xFFFF_FFFF
        wanted.append(running)
    same(engines.scan(array, op=composed, neutral=1 << 16, shape=shape), np.array(wanted, np.uint32))


def test_a_neutral_element_may_be_a_number_of_numpy() -> None:
    def added(a: Any, b: Any) -> Any:
        return a + b + 0

    array = drawn(np.uint32, 300)
    wanted = np.cumsum(array, dtype=np.uint32)
    same(engines.scan(array, op=added, neutral=np.uint32(0)), wanted)  # pyright: ignore[reportArgumentType]
    same(engines.scan(array, op=added, neutral=0), wanted)


@vyre.op
def capped(a: vyre.u32, b: vyre.u32) -> vyre.u32:
    """A sum that stays at the largest number."""
    total = a + b
    return vyre.select(total < a, vyre.u32(0xFFFFFFFF), total)


@vyre.op
def signed(a: vyre.i32, b: vyre.i32) -> vyre.i32:
    return a + b


@pytest.mark.parametrize("shape", [None, WIDE], ids=["walked", "wide"])
def test_a_scan_takes_an_op(shape: Shape | None) -> None:
    array = drawn(np.uint32, 3001) >> np.uint32(8)
    wanted = np.minimum(np.cumsum(array, dtype=np.uint64), 0xFFFF_FFFF).astype(np.uint32)
    assert wanted[-1] == 0xFFFF_FFFF
    same(engines.scan(array, op=capped, neutral=0, shape=shape), wanted)
    same(engines.scan(array, op=capped.op, neutral=0, shape=shape), wanted)
    with pytest.raises(VyreError, match="does not join two U32"):
        engines.scan(array, op=signed, neutral=0)


def test_what_is_on_the_device_stays_there() -> None:
    array = drawn(np.float32, 500)
    held = vyre.to_device(array, backend="cpu")
    flags = vyre.to_device(np.arange(500, dtype=np.uint32) % 3, backend="cpu")
    assert engines.sort(held, backend="cpu").numpy().tobytes() == in_order(array).tobytes()
    kept = engines.compact(held, flags, backend="cpu")
    assert isinstance(kept, vyre.DeviceBuffer)
    assert kept.numpy().tobytes() == array[np.arange(500) % 3 != 0].tobytes()
    unique = engines.unique(held, backend="cpu")
    assert unique.numpy().tobytes() == by_bits(array, np.unique(ordered(array))).tobytes()


U = np.zeros(3, np.uint32)


def three(a: Any, b: Any) -> Any:
    """No expression of its operands."""
    del a, b
    return 3


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (lambda: engines.sort(np.zeros(3, np.uint8)), "convert"),
        (lambda: engines.sort_pairs(U, U[:2]), "one for each"),
        (lambda: engines.merge(U, np.zeros(3, np.int32)), "one type"),
        (lambda: engines.searchsorted(U, U, side="middle"), '"left" or "right"'),
        (lambda: engines.top_k(U, -1), "0 or more"),
        (lambda: engines.top_k(U, 1.5), "whole number"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.histogram(U, bins=2.5), "whole number"),  # pyright: ignore[reportArgumentType, reportCallIssue]
        (lambda: engines.scan(np.zeros(3, np.float32)), "reduce_tree"),
        (lambda: engines.scan(U, op=lambda a, b: a + b), "neutral"),
        (lambda: engines.scan(U, op=three, neutral=0), "lambda a, b"),
        (lambda: engines.scan(U, op=3, neutral=0), "a function of two expressions"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.scan(U, op=lambda a, b: a + b, neutral=0.5), "whole number"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.scan(U, op=lambda a, b: a + b, neutral=1 << 40), "one of the elements"),
        (lambda: Shape(2.0), "powers of two"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.reduce_tree(np.zeros(3, np.float32), element="F32"), "pass float32"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.scan(U, heads=U[:2]), "one head for each"),
        (lambda: engines.reduce_by_key(U, U, op="sub"), "use one of"),
        (lambda: engines.reduce(U, op=["add"]), "use one of"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.reduce(U, shape=3), "engines.Shape"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.sort(U, shape=(1, 64)), "engines.Shape"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.sort(U, descending="no"), "True or False"),  # pyright: ignore[reportArgumentType]
        (lambda: engines.argsort(U, descending=1), "True or False"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_mistakes_are_explained(wrong: Callable[[], object], hint: str) -> None:
    with pytest.raises(VyreError) as caught:
        wrong()
    assert hint in caught.value.fix


@pytest.mark.parametrize("call", [engines.sort, engines.scan])
def test_results_are_written_into_what_is_given(call: Callable[..., Any]) -> None:
    array = drawn(np.uint32, 3000)
    wanted = call(array)
    out = np.empty_like(array)
    assert call(array, out=out) is out
    assert (out == wanted).all()
    held, room = vyre.to_device(array, backend="cpu"), vyre.device_zeros(3000, np.uint32, backend="cpu")
    assert call(held, out=room, backend="cpu") is room
    assert (room.numpy() == wanted).all()
    for misfit in (out[:-1], out.astype(np.int32), out[::-1], room):
        with pytest.raises(VyreError, match="cannot be written into"):
            call(array, out=misfit)
    with pytest.raises(VyreError, match="may not be written"):
        call(array, out=array)
    with pytest.raises(VyreError, match="may not be written"):
        call(held, out=held, backend="cpu")
