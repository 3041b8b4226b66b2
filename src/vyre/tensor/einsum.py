"""`einsum`: sums of products by the names of axes, made of transposes, reductions and products of matrices.

Operands are taken from the left in pairs. An axis of one operand alone that the result has not is summed
first, by the tree; axes that two operands share and nobody needs later are multiplied as one k, in the order
of the left operand. So the bytes are those of `sum` and `matmul`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vyre.errors import VyreError, boundary
from vyre.graph.sizes import product
from vyre.tensor import elementwise, reductions
from vyre.tensor.products import matmul
from vyre.tensor.shaping import reshape, transpose
from vyre.tensor.value import require

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.tensor.value import V

_FIX = 'write one letter for each axis, as in "bij,bjk->bik".'
_HIDDEN = "0123456789"
"""What stands for the axes of `...`, counted from the last."""


@boundary
def einsum(subscripts: str, *operands: V) -> V:
    """The sum of products that "bij,bjk->bik" describes; `...` stands for axes that operands share."""
    if not isinstance(subscripts, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError("einsum() needs subscripts.", fix=_FIX)
    for operand in operands:
        require(operand, "einsum")
    terms, wanted = _parsed(subscripts, operands)
    _require_sizes(subscripts, terms, operands)
    pairs = list(zip(terms, operands, strict=True))
    have, made = pairs[0]
    for index, (names, operand) in enumerate(pairs[1:], 1):
        needed = set(wanted).union(*(term for term, _ in pairs[index + 1 :]))
        have, made = _joined(have, made, names, operand, needed)
    have, made = _without(have, made, set(wanted))
    return transpose(made, [have.index(name) for name in wanted])


def _parsed(subscripts: str, operands: tuple[V, ...]) -> tuple[list[str], str]:
    """The names of the axes of each operand, and those of the result."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise VyreError(f"{subscripts!r} is for {len(parts)} operands, not {len(operands)}.", fix=_FIX)
    terms = [_term(subscripts, part, x.ndim) for part, x in zip(parts, operands, strict=True)]
    dots = max((sum(name in _HIDDEN for name in term) for term in terms), default=0)
    hidden = _HIDDEN[:dots][::-1]
    if not arrow:
        counts = Counter(name for term in terms for name in term if name not in _HIDDEN)
        return terms, hidden + "".join(sorted(name for name, count in counts.items() if count == 1))
    wanted = right.replace("...", hidden, 1)
    known = {name for term in terms for name in term}
    if len(set(wanted)) < len(wanted) or not set(wanted) <= known:
        raise VyreError(
            f"{subscripts!r}: the result {right!r} names an axis twice or none of them.", fix=_FIX
        )
    return terms, wanted


def _term(subscripts: str, part: str, rank: int) -> str:
    dots = rank - len(part.replace("...", "", 1))
    named = part.replace("...", _HIDDEN[: max(dots, 0)][::-1], 1)
    letters = part.replace("...", "", 1)
    if len(named) != rank or (letters and not letters.isalpha()):
        raise VyreError(f"{subscripts!r}: {part!r} does not name the axes of {rank}.", fix=_FIX)
    if len(set(named)) < rank:
        raise VyreError(
            f"{subscripts!r}: {part!r} takes a diagonal.",
            fix="name each axis of an operand once; multiply by eye(n) to keep a diagonal.",
        )
    return named


def _require_sizes(subscripts: str, terms: list[str], operands: tuple[V, ...]) -> None:
    sizes: dict[str, Size] = {}
    for term, operand in zip(terms, operands, strict=True):
        for name, size in zip(term, operand.type.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                axis = "..." if name in _HIDDEN else name
                raise VyreError(
                    f"{subscripts!r}: the axis {axis} is {sizes[name]} and {size}.",
                    fix="give the axis one size in all operands; nothing broadcasts here.",
                )


def _without(names: str, x: V, kept: set[str]) -> tuple[str, V]:
    """Axes that nobody needs, summed."""
    gone = tuple(i for i, name in enumerate(names) if name not in kept)
    if not gone:
        return names, x
    return "".join(n for n in names if n in kept), reductions.sum(x, gone)


def _joined(left: str, a: V, right: str, b: V, needed: set[str]) -> tuple[str, V]:
    left, a = _without(left, a, needed | set(right))
    right, b = _without(right, b, needed | set(left))
    batch = [n for n in left if n in right and n in needed]
    shared = [n for n in left if n in right and n not in needed]
    rows, columns = [n for n in left if n not in right], [n for n in right if n not in left]
    names = "".join((*batch, *rows, *columns))
    whole = dict(zip(left, a.type.shape, strict=True)) | dict(zip(right, b.type.shape, strict=True))
    front = [whole[n] for n in batch]
    m, k, n = (product(whole[name] for name in group) for group in (rows, shared, columns))
    first = reshape(transpose(a, [left.index(x) for x in (*batch, *rows, *shared)]), (*front, m, k))
    second = reshape(transpose(b, [right.index(x) for x in (*batch, *shared, *columns)]), (*front, k, n))
    made = matmul(first, second) if shared else elementwise.multiply(first, second)
    return names, reshape(made, tuple(whole[name] for name in names))
