"""The arguments of plain kernel calls, bound by their number and names; all others go to `arguments.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.frontend.translation import Bound, Takes
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.frontend.translation import Translation


class Binder:
    """Binds the calls of one kernel. Which argument is which parameter is found out once for calls alike."""

    __slots__ = ("_forms", "_kernel", "_takes", "_translation")

    def __init__(self, kernel: str, takes: Takes, translation: Callable[[], Translation]) -> None:
        self._kernel = kernel
        self._takes = takes
        self._translation = translation
        self._forms: dict[tuple[Any, ...], _Form] = {}

    def __call__(
        self,
        arrays: tuple[Any, ...],
        named: Mapping[str, Any],
        workgroups: int | Sequence[int] | None,
    ) -> Bound:
        key = (len(arrays), *named)
        form = self._forms.get(key)
        if form is None:
            form = _form_of(self._takes, len(arrays), named)
            if form is None:
                return self._anyhow(arrays, named, workgroups)
            self._forms[key] = form
        given = dict(zip(form.names, (*arrays, *named.values()), strict=True))
        for name, value in given.items():
            # A length or a shape, an output that is left out by None, or a mistake; or outputs take a shape.
            if (
                value is None
                or (name in form.outputs and (type(value) is tuple or not hasattr(value, "__len__")))
                or (form.lengths and getattr(value, "ndim", 1) != 1)
            ):
                return self._anyhow(arrays, named, workgroups)
        if self._takes.scalars:
            from vyre.frontend.arguments import scalar_bytes

            for name, scalars in self._translation().scalars.items():
                given[name] = b"".join([scalar_bytes(self._kernel, p, given.pop(p.name)) for p in scalars])
        return Bound(given, form.lengths, {}, workgroups)

    def lengths(self, positional: int) -> Mapping[str, int | tuple[str, ...]] | None:
        """Of the outputs that a call leaves out which gives so many arguments by position; None where there
        is more to settle in such a call."""
        form = self._forms.get((positional,))
        return None if form is None else form.lengths

    def _anyhow(
        self,
        arrays: tuple[Any, ...],
        named: Mapping[str, Any],
        workgroups: int | Sequence[int] | None,
    ) -> Bound:
        from vyre.frontend.arguments import bind_arguments

        return bind_arguments(self._kernel, self._translation(), arrays, named, workgroups)


@dataclass(frozen=True, slots=True)
class _Form:
    """A call with so many arguments by position and these by name: their parameters, and the lengths of the
    outputs that it leaves out."""

    names: tuple[str, ...]
    outputs: frozenset[str]
    lengths: Mapping[str, int | tuple[str, ...]]


def _form_of(takes: Takes, positional: int, named: Mapping[str, Any]) -> _Form | None:
    """None where more is to be said than which is which: a shape, a default, or a mistake."""
    names = (*takes.names[:positional], *named)
    given = frozenset(names)
    missing = [name for name in takes.names if name not in given]
    lengths = {name: takes.inputs for name in missing if name not in takes.counted}
    if (
        not takes.plain
        or positional > len(takes.names)
        or len(given) != len(names)
        or not given.issubset(takes.names)
        or not set(missing).issubset(takes.outs)
        or (lengths and not takes.inputs)
    ):
        return None
    return _Form(names, given.intersection(takes.outs), lengths)
