"""The engines as functions on arrays.

    reduce(x, op="add")               one u32              add mul min max and or xor
    scan(x, op="add")                 as many u32          inclusive, or exclusive on request
    compact(x, flags)                 the elements whose flag is set, in order
    histogram(data)                   256 counts of bytes, or of u32 below a number of bins
    match(data, dfa)                  where matches end, ascending
    reduce_tree(x, op="add")          one float            add mul min max, in the order of a binary tree
    reduce_strict(x, op="add")        one float            the same from left to right

All take `backend=` and `shape=`; the results depend on neither.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.engines.bins import bins_engine, columns_for, histogram_engine
from vyre.engines.collection import (
    count_of,
    cut_for,
    joinable,
    limits_of,
    on_host,
    require_same,
    require_shape,
    walkers,
    words_of,
)
from vyre.engines.compaction import compact_engine
from vyre.engines.dfa import match_engine
from vyre.engines.float_fold import fold_named
from vyre.engines.fold import reduce_engine
from vyre.engines.monoids import monoid, own_monoid, require_named
from vyre.engines.order import element_of
from vyre.engines.pieces import as_bytes, counted, joined, kept, piece_of, scanned, together
from vyre.engines.plan import Shape
from vyre.engines.prefix import scan_engine
from vyre.engines.run import runner_of
from vyre.engines.strict import strict_engine
from vyre.engines.tree import tree_engine
from vyre.errors import DispatchError, boundary, whole
from vyre.ir.limits import U32_MAX
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.engines.automaton import Dfa
    from vyre.engines.monoids import Joins

    Words = NDArray[np.uint32]

_PROCESSOR = Shape(64, 8, turns=4, banks=False)
_COUNTING = Shape(512)
_NARROW = Shape(256, 4)
_ONE_ROW = Shape(banks=False)
_WALK = Shape(1, 1 << 16)
_DTYPES = {
    DataType.F32: np.dtype(np.float32),
    DataType.F16: np.dtype(np.float16),
    DataType.BF16: np.dtype(np.uint16),
}
_FLOATS = {"float32": DataType.F32, "float16": DataType.F16, "bfloat16": DataType.BF16}


@boundary
def reduce(
    array: Any, *, op: str = "add", backend: str | Backend | None = None, shape: Shape | None = None
) -> np.uint32:
    """All elements joined; of none, the neutral element."""
    require_named(op)
    require_shape(shape)
    each = piece_of(backend, array)
    if each:
        return joined(array, each, lambda part: reduce(part, op=op, backend=backend, shape=shape))
    return runner_of(backend).value(reduce_engine(op, shape=shape), {"input": array})[0]


@boundary
def scan(
    array: Any,
    *,
    op: str | Joins = "add",
    neutral: int | None = None,
    inclusive: bool = True,
    heads: Any = None,
    out: Any = None,
    backend: str | Backend | None = None,
    shape: Shape | None = None,
) -> Any:
    """Element i is the join of the elements up to i, or of those before it, since `heads` was last not zero.

    `op` is a name (add mul min max and or xor), or an op or a function of two expressions that is associative
    and for which `neutral` changes nothing. `out` is written in place, and may not be the input.
    """
    element = joinable(array)
    given = (array,) if heads is None else (array, heads)
    each = piece_of(backend, *given)
    if each:

        def scan_part(part: Any, marks: Any, inclusive: bool) -> Any:
            return scan(
                part, op=op, neutral=neutral, inclusive=inclusive, heads=marks, backend=backend, shape=shape
            )

        marks = None if heads is None else _heads_of(heads, array)
        return together(scanned(array, marks, each, scan_part, inclusive=inclusive), out, *given)
    if isinstance(op, str):
        joins = monoid(op, element)
    elif neutral is None:
        raise DispatchError(
            "the operation has no neutral element.",
            fix="pass neutral=, the value that changes no other.",
        )
    else:
        joins = own_monoid(op, element, neutral)
    cut = cut_for(backend, shape, None)
    if shape is None and cut is not None:
        cut = _WALK if walkers(backend) > 1 else Shape(1, 1 << count_of("elements", array).bit_length())
    engine = scan_engine(joins, inclusive=inclusive, segmented=heads is not None, shape=cut)
    inputs = {"input": array}
    if heads is not None:
        inputs["heads"] = _heads_of(heads, array)
    wanted = None if out is None else {"output": out}
    return runner_of(backend).run(engine, inputs, out=wanted)["output"]


def _heads_of(heads: Any, array: Any) -> Any:
    require_same("heads", heads, "elements", array, "pass one head for each.")
    return words_of(heads)


@boundary
def compact(
    array: Any, flags: Any, *, backend: str | Backend | None = None, shape: Shape | None = None
) -> Any:
    """The elements whose flag is not zero, in their order."""
    chosen = words_of(flags)
    require_same("flags", chosen, "elements", array, "pass one flag for each.")
    each = piece_of(backend, array, chosen)
    if each:
        return kept(array, chosen, each, lambda a, b: compact(a, b, backend=backend, shape=shape))
    engine = compact_engine(element_of(array, "elements"), shape=cut_for(backend, shape, _NARROW))
    return runner_of(backend).run(engine, {"input": array, "flags": chosen})["output"]


@boundary
def histogram(
    data: Any,
    *,
    bins: int | None = None,
    backend: str | Backend | None = None,
    shape: Shape | None = None,
) -> Any:
    """How often each byte value occurs; with `bins`, each u32 below it, the others not counted."""
    data = as_bytes(data) if bins is None else data
    each = piece_of(backend, data)
    if each:
        return counted(data, each, lambda part: histogram(part, bins=bins, backend=backend, shape=shape))
    if bins is None:
        cut, limits = cut_for(backend, shape, _COUNTING), limits_of(backend)
        if shape is None and cut is not _COUNTING:
            cut = _ONE_ROW
        elif shape is None and (limits.workgroup_invocations or 0) < _COUNTING.lanes:
            cut = _NARROW
        engine = histogram_engine(shape=cut, columns=columns_for(limits.workgroup_bytes))
        return runner_of(backend).run(engine, {"input": data})["output"]
    bins = whole("bins", bins)
    if not 1 <= bins <= U32_MAX:
        raise DispatchError(f"a histogram has 1 to {U32_MAX} bins, got {bins}.", fix="ask for 1 or more.")
    engine = bins_engine(bins, shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": data})["output"]


@boundary
def match(data: Any, dfa: Dfa, *, backend: str | Backend | None = None, shape: Shape | None = None) -> Words:
    """The places of the bytes with which a match ends, ascending."""
    table = getattr(dfa, "table", None)
    if table is None:
        raise DispatchError(
            f"dfa is {type(dfa).__name__}, not a Dfa.", fix="pass Dfa.finding([…]) with the words to find."
        )
    found = runner_of(backend).run(match_engine(shape=shape), {"input": data, "table": table})
    return on_host(found["output"])


@boundary
def reduce_tree(
    array: Any,
    *,
    op: str = "add",
    element: DataType | None = None,
    backend: str | Backend | None = None,
    shape: Shape | None = None,
) -> Any:
    """`FReduceTreeBinary` over a whole array; uint16 bits are bfloat16 where `element` says so."""
    kind = _float_type(array, element)
    each = piece_of(backend, array)
    if each:
        return joined(
            array, each, lambda x: reduce_tree(x, op=op, element=element, backend=backend, shape=shape)
        )
    if shape is None and cut_for(backend, None, None) is not None:
        shape = _PROCESSOR
    engine = tree_engine(fold_named(op, kind), shape=shape)
    return _scalar(runner_of(backend).value(engine, {"input": array}), array, kind)


@boundary
def reduce_strict(
    array: Any, *, op: str = "add", element: DataType | None = None, backend: str | Backend | None = None
) -> Any:
    """`FReduceStrict` over a whole array, in chunks."""
    kind = _float_type(array, element)
    engine = strict_engine(fold_named(op, kind))
    return _scalar(runner_of(backend).value(engine, {"input": array}), array, kind)


def _float_type(array: Any, element: DataType | None) -> DataType:
    name = _type_name(getattr(array, "dtype", type(array).__name__))
    found = _FLOATS.get(name) if element is None else element
    if not isinstance(found, DataType):
        raise DispatchError(
            f"no engine reduces {name}.",
            fix="pass float32, float16 or bfloat16; for bits of bfloat16 add element=DataType.BF16.",
        )
    return found


@lru_cache(maxsize=64)
def _type_name(dtype: Hashable) -> str:
    return str(dtype).rpartition(".")[2]  # torch says torch.float32


def _scalar(words: Words, array: Any, kind: DataType) -> Any:
    """The value in the caller's own dtype, where NumPy has it."""
    dtype = getattr(array, "dtype", None)
    known: np.dtype[Any] = dtype if isinstance(dtype, np.dtype) else _DTYPES[kind]  # pyright: ignore[reportUnknownVariableType]
    bits = words if kind is DataType.F32 else words.astype(np.uint16)
    return bits.view(known)[0]
