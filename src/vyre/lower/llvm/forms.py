"""Affine indices: sums of ids and loop variables, each times a constant.

Along x the grid is walked, so the workgroup and the position in it have factors of their own; everything else
that an index may depend on is a term of `rest`: ids along y and z, and the variables of loops.
"""

from __future__ import annotations

from dataclasses import replace

from vyre.ir import expr as e
from vyre.slotted import dataclass

_LIMIT = 1 << 31
_REST_LIMIT = 1 << 29
"""Times an id, which is below 2^32, two such terms still fit a signed 64-bit number."""

Term = e.WorkgroupId | e.LocalId | e.Var


@dataclass(frozen=True, slots=True)
class Affine:
    """`group * workgroup_x + local * local_x + offset` plus `rest`; factors are never negative."""

    group: int
    local: int
    offset: int
    rest: tuple[tuple[Term, int], ...] = ()

    @property
    def rows(self) -> tuple[tuple[Term, int], ...]:
        """The terms that are fixed within a row of workgroups and differ between rows."""
        return tuple(pair for pair in self.rest if isinstance(pair[0], e.WorkgroupId))

    @property
    def constant(self) -> bool:
        return self.group == 0 and self.local == 0 and not self.rest

    def factor(self, variable: str) -> int:
        """How far the index moves with each step of a loop."""
        return dict(self.rest).get(e.Var(variable), 0)

    def without(self, variable: str) -> Affine:
        """The index where the variable of a loop is zero."""
        return replace(self, rest=tuple(pair for pair in self.rest if pair[0] is not e.Var(variable)))

    def scaled(self, factor: int) -> Affine | None:
        """None where the factors become too large."""
        rest = tuple((term, times * factor) for term, times in self.rest) if factor else ()
        return _checked(Affine(self.group * factor, self.local * factor, self.offset * factor, rest))

    def plus(self, other: Affine) -> Affine | None:
        """None where the factors become too large."""
        rest = dict(self.rest)
        for term, times in other.rest:
            rest[term] = rest.get(term, 0) + times
        return _checked(
            Affine(
                self.group + other.group,
                self.local + other.local,
                self.offset + other.offset,
                tuple(sorted(rest.items(), key=_order)),
            )
        )


def _order(pair: tuple[Term, int]) -> str:
    return repr(pair[0])


def _checked(form: Affine) -> Affine | None:
    fits = max(form.group, form.local, abs(form.offset)) < _LIMIT
    return form if fits and all(times < _REST_LIMIT for _, times in form.rest) else None
