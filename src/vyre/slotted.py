"""Dataclasses with slots that are quick to define; what a reader and a type checker see is the standard one.

    from vyre.slotted import dataclass, field

The standard decorator writes and compiles five functions for every class, half a millisecond each time a
process starts; a first call defines some 150 classes. Here only the constructor is written out, and only
where it is called often; everything else is the same few functions for all classes. `fields`,
`replace`, `asdict` and `is_dataclass` of the standard library work on these classes, and either kind may
inherit from the other.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, field
from functools import partial
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType, SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass
else:

    def dataclass(
        *,
        frozen: bool = False,
        slots: bool,
        eq: bool = True,
        repr: bool = True,
        weakref_slot: bool = False,
        kw_only: bool = False,
    ) -> Callable[[type], type]:
        """Like the standard one, for the options that are used here; `slots` is said and always true."""
        if not slots:
            raise TypeError("a class of vyre.slotted has slots")

        def decorate(cls: type) -> type:
            return _defined(cls, frozen, eq, repr, weakref_slot, kw_only)

        return decorate


__all__ = ["dataclass", "field"]

_FIELDS = "__dataclass_fields__"
_set = object.__setattr__


def _defined(cls: Any, frozen: bool, eq: bool, shown: bool, weakref_slot: bool, kw_only: bool) -> type:
    inherited: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= getattr(base, _FIELDS, {}) if _FIELDS in base.__dict__ else {}
    own = _own_fields(cls, kw_only)
    every = inherited | own
    body = dict(cls.__dict__)
    for name in own:
        body.pop(name, None)
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    taken = {name for base in cls.__mro__[1:-1] for name in _slots_of(base)}
    body["__slots__"] = (
        *(name for name in own if name not in taken),
        *(["__weakref__"] if weakref_slot and "__weakref__" not in taken else []),
    )
    body[_FIELDS] = every
    body["__dataclass_params__"] = SimpleNamespace(
        init=True, repr=shown, eq=eq, order=False, unsafe_hash=False, frozen=frozen
    )
    body.setdefault("__match_args__", tuple(f.name for f in every.values() if f.init and not f.kw_only))
    explicit_hash = body.get("__hash__") is not None or ("__hash__" in body and "__eq__" not in body)
    if shown:
        body.setdefault("__repr__", _repr)
    if eq:
        values = _tuple_of([f.name for f in every.values() if f.compare])
        body.setdefault("__eq__", _equality(values))
        if not explicit_hash:
            hashed = [f.name for f in every.values() if (f.compare if f.hash is None else f.hash)]
            body["__hash__"] = _hash(_tuple_of(hashed)) if frozen else None
    if frozen:
        body.setdefault("__getstate__", _getstate)
        body.setdefault("__setstate__", _setstate)
    made: Any = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    if frozen:
        made.__setattr__, made.__delattr__ = _frozen(made, frozenset(every))
    if "__init__" not in body:
        made.__init__ = _Unwritten(made, every, frozen)
    return made


_OFTEN = 12
"""Objects of a class, above which writing its constructor out takes less time than doing without."""


class _Unwritten:
    """A constructor that is written when it has been called often, or when somebody looks at it; most classes
    of a process have few objects or none."""

    __slots__ = ("_arguments", "_calls", "_fields")

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments
        self._calls = 0
        self._fields: list[Field[Any]] | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        self._calls += 1
        if instance is not None and self._calls <= _OFTEN:
            return partial(self._fill, instance)
        return self._written().__get__(instance, owner)

    def _written(self) -> Any:
        cls, every, frozen = self._arguments
        written = cls.__dict__["__init__"]
        if written is self:  # another thread may have been here
            written = cls.__init__ = _constructor(cls, every, frozen)
        return written

    def _fill(self, instance: Any, /, *given: Any, **named: Any) -> None:
        """Does what the written one does; arguments that do not fit are left to that one, which says why."""
        cls, every, _ = self._arguments
        if self._fields is None:
            self._fields = [f for f in every.values() if f.init and not f.kw_only]
        values = {f.name: value for f, value in zip(self._fields, given, strict=False)}
        if len(given) > len(self._fields) or not values.keys().isdisjoint(named):
            return self._written()(instance, *given, **named)
        values |= named
        found = [(name, _value(f, values)) for name, f in every.items()]
        left = [name for name, value in found if value is MISSING and every[name].init]
        if values or left:
            return self._written()(instance, *given, **named)
        for name, value in found:
            if value is not MISSING:
                _set(instance, name, value)
        if hasattr(cls, "__post_init__"):
            instance.__post_init__()
        return None


def _value(found: Field[Any], given: dict[str, Any]) -> Any:
    """What a constructor puts into a field; an argument that is used is taken out."""
    value = given.pop(found.name, MISSING) if found.init else MISSING
    if value is not MISSING:
        return value
    return found.default if found.default_factory is MISSING else found.default_factory()


def _own_fields(cls: Any, kw_only: bool) -> dict[str, Field[Any]]:
    found: dict[str, Field[Any]] = {}
    for name, annotation in get_annotations(cls).items():
        if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = cls.__dict__.get(name, MISSING)
        if isinstance(default, MemberDescriptorType):
            default = MISSING
        made = cast("Any", default if isinstance(default, Field) else field(default=default))
        if made.default.__class__.__hash__ is None:
            raise ValueError(f"the default of {name} can be changed: use a default_factory")
        made.name, made.type, made._field_type = name, annotation, _KIND
        if made.kw_only is MISSING:
            made.kw_only = kw_only
        found[name] = made
    return found


def _kind() -> object:
    """What the standard library marks an ordinary field with."""
    from dataclasses import dataclass as standard

    marked = cast("Any", standard(type("marked", (), {"__annotations__": {"x": int}, "x": 0})))
    return getattr(marked, _FIELDS)["x"]._field_type


_KIND = _kind()


def _slots_of(base: type) -> tuple[str, ...]:
    slots: Any = base.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _constructor(cls: Any, every: Mapping[str, Any], frozen: bool) -> Any:
    names: dict[str, Any] = {"__name__": __name__, "MISSING": MISSING, "_set": _set}
    positional: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for name, found in every.items():
        value = name
        if found.default_factory is not MISSING:
            names[f"_make_{name}"] = found.default_factory
            value = f"_make_{name}() if {name} is MISSING else {name}" if found.init else f"_make_{name}()"
            argument = f"{name}=MISSING"
        elif found.default is not MISSING:
            names[f"_default_{name}"] = found.default
            argument = f"{name}=_default_{name}"
            value = name if found.init else f"_default_{name}"
        elif not found.init:
            continue
        else:
            argument = name
        if found.init:
            (named if found.kw_only else positional).append(argument)
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    given = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    exec(f"def __init__({given}):\n" + ("\n".join(lines) or " pass"), names)
    made = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    return made


def _tuple_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if not names:
        return lambda _: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda self: (get(self),)


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


def _frozen(cls: type, names: frozenset[str]) -> tuple[Any, Any]:
    def assign(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return assign, delete


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in getattr(self, _FIELDS).values() if f.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        _set(self, name, value)
