"""Sizes of dimensions: whole numbers, or polynomials over the names of dynamic ones.

A dimension that a graph takes as it comes has a name, such as `seq`. Sizes that follow from it are written
with it: `seq + 1` after a concatenation, `8*seq` after a reshape. Two shapes agree when their sizes are equal
polynomials, so for every length.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, NoReturn

from vyre.errors import VyreError
from vyre.ir.limits import MAX_SIZE_TERMS, U32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Monomial = tuple[str, ...]
"""Names that are multiplied, in order; none for a plain number."""

_set = object.__setattr__


class UnknownSize(VyreError, TypeError):
    """Something needs the number that a dynamic size will be."""


@dataclass(frozen=True, slots=True, init=False)
class Size:
    """A polynomial with whole coefficients, each monomial once, in order, no coefficient 0."""

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, value: SizeLike) -> None:
        _set(self, "terms", _terms(value))

    @classmethod
    def of(cls, terms: Iterable[tuple[Monomial, int]]) -> Size:
        """The sum of the terms, whatever their order."""
        total: dict[Monomial, int] = {}
        for names, factor in terms:
            key = tuple(sorted(names))
            total[key] = total.get(key, 0) + factor
        kept = sorted((names, factor) for names, factor in total.items() if factor)
        if len(kept) > MAX_SIZE_TERMS:
            raise VyreError(
                f"the size of a dimension has {len(kept)} terms; {MAX_SIZE_TERMS} are allowed.",
                fix="name the dimension anew by making it one of an input.",
            )
        size = cls(0)
        _set(size, "terms", tuple(kept))
        return size

    @property
    def static(self) -> int | None:
        """The number, where no name is in it."""
        match self.terms:
            case ():
                return 0
            case (((), value),):
                return value
            case _:
                return None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for names, _ in self.terms for name in names)

    def value(self, sizes: Mapping[str, int]) -> int:
        """The number for these lengths; negative where it cannot be a size."""
        total = 0
        for names, factor in self.terms:
            for name in names:
                factor *= sizes[name]
            total += factor
        return total

    def __add__(self, other: SizeLike) -> Size:
        if not _is_number(other):  # a tensor, which computes with sizes itself
            return NotImplemented
        return Size.of((*self.terms, *_terms(other)))

    def __sub__(self, other: SizeLike) -> Size:
        if not _is_number(other):
            return NotImplemented
        return Size.of((*self.terms, *((names, -factor) for names, factor in _terms(other))))

    def __mul__(self, other: SizeLike) -> Size:
        if not _is_number(other):
            return NotImplemented
        return Size.of((a + b, x * y) for a, x in self.terms for b, y in _terms(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: SizeLike) -> Size:
        if not _is_number(other):
            return NotImplemented
        return Size(other) - self

    def __neg__(self) -> Size:
        return self * -1

    def __floordiv__(self, other: SizeLike) -> Size:
        """The quotient where it is whole for every length."""
        if not _is_number(other):
            return NotImplemented
        quotient = None if isinstance(other, float) else self.divided(other)
        return quotient if quotient is not None else self._refuse_result("//", other)

    def __mod__(self, other: SizeLike) -> Size:
        """0, where it is that for every length."""
        if not _is_number(other):
            return NotImplemented
        whole = not isinstance(other, float) and self.divided(other) is not None
        return Size(0) if whole else self._refuse_result("%", other)

    def __truediv__(self, other: SizeLike) -> Size:
        return self._refuse_result("/", other) if _is_number(other) else NotImplemented

    def __pow__(self, other: SizeLike) -> Size:
        return self._refuse_result("**", other) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other: SizeLike) -> Size:
        return self._refuse_result("/", other, reflected=True) if _is_number(other) else NotImplemented

    def __rfloordiv__(self, other: SizeLike) -> Size:
        return self._refuse_result("//", other, reflected=True) if _is_number(other) else NotImplemented

    def __rmod__(self, other: SizeLike) -> Size:
        return self._refuse_result("%", other, reflected=True) if _is_number(other) else NotImplemented

    def __rpow__(self, other: SizeLike) -> Size:
        return self._refuse_result("**", other, reflected=True) if _is_number(other) else NotImplemented

    def _refuse_result(self, sign: str, other: object, *, reflected: bool = False) -> NoReturn:
        written = f"{other} {sign} ({self})" if reflected else f"({self}) {sign} {other}"
        raise UnknownSize(
            f"{written} is not a size: the dynamic size {self} is not known while the function is traced.",
            fix="compute with tensors, as x / x.shape[0], or give the axis a fixed size.",
        )

    def __lt__(self, other: SizeLike) -> bool:
        return self._over(other) < 0 if _is_number(other) else NotImplemented

    def __le__(self, other: SizeLike) -> bool:
        return self._over(other) <= 0 if _is_number(other) else NotImplemented

    def __gt__(self, other: SizeLike) -> bool:
        return self._over(other) > 0 if _is_number(other) else NotImplemented

    def __ge__(self, other: SizeLike) -> bool:
        return self._over(other) >= 0 if _is_number(other) else NotImplemented

    def _over(self, other: SizeLike) -> int:
        """The difference, where that is one number for every length."""
        found = (self - other).static
        return self._refuse() if found is None else found

    def __index__(self) -> int:
        return self._refuse() if self.static is None else self.static

    __int__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def __bool__(self) -> bool:
        return int(self) != 0

    def _refuse(self) -> NoReturn:
        raise UnknownSize(
            f"the dynamic size {self} is not known while the function is traced.",
            fix="compute with it as with a number, x * x.shape[0]; a loop or a condition needs a fixed size.",
        )

    def divided(self, other: SizeLike) -> Size | None:
        """The quotient where the division by one term leaves no rest for any length, else None."""
        divisor = _terms(other)
        if len(divisor) != 1:
            return None
        names, factor = divisor[0]
        terms: list[tuple[Monomial, int]] = []
        for have, number in self.terms:
            rest = list(have)
            for name in names:
                if name not in rest:
                    return None
                rest.remove(name)
            if number % factor:
                return None
            terms.append((tuple(rest), number // factor))
        return Size.of(terms)

    def written(self, name: Callable[[str], str]) -> str:
        """As it is read: `8*seq + 1`, each name as `name` writes it."""
        parts: list[str] = []
        for names, factor in self.terms[::-1]:
            number = () if abs(factor) == 1 and names else (str(abs(factor)),)
            body = "*".join((*number, *map(name, names)))
            sign = ("-" if factor < 0 else "") if not parts else (" - " if factor < 0 else " + ")
            parts.append(sign + body)
        return "".join(parts) or "0"

    def __str__(self) -> str:
        return self.written(str)

    __repr__ = __str__


SizeLike = Size | int | str
_NUMBERS = (Size, int, str, float, Integral)


def _is_number(value: object) -> bool:
    return isinstance(value, _NUMBERS)


def _terms(value: SizeLike) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(value, Size):
        return value.terms
    if isinstance(value, str):
        if not value.isidentifier():
            raise VyreError(
                f"dynamic dimension name {value!r} is not an identifier.",
                fix='name it like a variable, for example "seq_len".',
            )
        return (((value,), 1),)
    if isinstance(value, float):
        raise VyreError(
            f"the size {value!r} is not a u32.",
            fix="use whole numbers; beside a tensor multiply one after the other, x * 0.5 * x.shape[0].",
        )
    if isinstance(value, bool) or not -U32_MAX <= value <= U32_MAX:
        raise VyreError(f"the size {value!r} is not a u32.", fix="use a size from 0 to 4294967295.")
    return (((), int(value)),) if value else ()  # numbers of NumPy wrap


def product(sizes: Iterable[Size]) -> Size:
    total = Size(1)
    for size in sizes:
        total = total * size
    return total
