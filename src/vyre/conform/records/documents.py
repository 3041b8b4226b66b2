"""JSON documents from outside: every field is checked for presence, type and range before anybody uses it.

    value = parse(data)                         JSON without NaN, 1e400, endless digits or endless nesting
    plan = decode(RunPlan, value["plan"])       a dataclass, by the types of its fields
    Field(value, "record").field("cases").integer(high=10)
    encode(plan)                                the record that `decode` reads back
    canonical(value)                            the one spelling of a value, as bytes

A dataclass is a record of its fields, a named tuple the list of its own. What is wrong raises `FieldError`,
whose text names the field by its path: `ops[3].parity[0].cases: expected a whole number from 0 to
9223372036854775807, found -1`. A dataclass narrows a type by an annotation:

    status: Annotated[str, Among("passed", "failed")]
    shard: Annotated[tuple[int, int], Rule("i of n with i from 1 to n", lambda s: 1 <= s[0] <= s[1])]

An int without one is a count: from 0 to 2^63 - 1. A field that is `Annotated[… | None, Omitted()]` is left
out where it is None. Where Python reserves a name, the field has an underscore behind it and the record not.
"""

from __future__ import annotations

import json
import math
import re
import types
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

T = TypeVar("T")

COUNT_MAX = (1 << 63) - 1
MAX_NESTING = 64
"""Levels of lists and records inside each other; what we write has fewer than ten."""

_MAX_DIGITS = 40
_SHOWN = 60
_LONE = re.compile("[\ud800-\udfff]")


class FieldError(ValueError):
    """A document that cannot be used, and the field at which that shows."""

    def __init__(self, path: str, what: str) -> None:
        self.path = path
        self.what = what
        super().__init__(f"{path}: {what}" if path else what)


@dataclass(frozen=True, slots=True)
class Within:
    """The range of a whole number."""

    low: int
    high: int


class Among:
    """The strings that a field may be."""

    __slots__ = ("values",)

    def __init__(self, *values: str) -> None:
        self.values = values


@dataclass(frozen=True, slots=True)
class Omitted:
    """A field that a record does not have where it is None."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on a field of the right type, and what it asks for, in words."""

    expected: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a document and its path."""

    value: Any
    path: str = ""

    def expected(self, what: str) -> FieldError:
        return FieldError(self.path, f"expected {what}, found {_shown(self.value)}")

    def integer(self, low: int = 0, high: int = COUNT_MAX) -> int:
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.expected(f"a whole number from {low} to {high}")
        return self.value

    def text(self, among: Collection[str] = ()) -> str:
        if type(self.value) is not str:
            raise self.expected("a string")
        if not self.value.isascii() and _LONE.search(self.value):
            raise FieldError(self.path, "a string with half of a surrogate pair, which is not a character")
        if among and self.value not in among:
            raise self.expected(f"one of {', '.join(map(repr, among))}")
        return self.value

    def items(self, length: int | None = None) -> list[Field]:
        value: object = self.value
        if not isinstance(value, list):
            raise self.expected("a list")
        found = cast("list[Any]", value)
        if length is not None and len(found) != length:
            raise FieldError(self.path, f"expected a list of {length}, found one of {len(found)}")
        return [Field(item, f"{self.path}[{k}]") for k, item in enumerate(found)]

    def record(self) -> dict[str, Any]:
        value: object = self.value
        if not isinstance(value, dict):
            raise self.expected("a record")
        return cast("dict[str, Any]", value)

    def only(self, required: Collection[str], optional: Collection[str] = ()) -> None:
        """That this is a record of these fields and no others."""
        found = self.record()
        missing = [name for name in required if name not in found]
        if missing:
            raise FieldError(self._below(missing[0]), "this field is missing")
        strange = [name for name in found if name not in required and name not in optional]
        if strange:
            raise FieldError(self._below(strange[0]), "no field of this name is known here")

    def field(self, name: str) -> Field:
        found = self.record()
        if name not in found:
            raise FieldError(self._below(name), "this field is missing")
        return Field(found[name], self._below(name))

    def maybe(self, name: str) -> Iterator[Field]:
        """The field where it is there, else nothing."""
        if name in self.record():
            yield self.field(name)

    def _below(self, name: str) -> str:
        safe = printable(name[:_SHOWN])
        return f"{self.path}.{safe}" if self.path else safe


def parse(data: bytes | str) -> Any:
    """The value of a JSON text. Raises `FieldError` for one that nothing of ours can have written."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FieldError("", f"it is not UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_short)
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode("utf-8", "surrogatepass"))
        raise FieldError("", f"it is not JSON at byte {at} ({error.msg})") from None
    except RecursionError:
        raise _too_deep() from None
    _check_nesting(value)
    return value


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces; equal values have equal bytes.

    Half of a surrogate pair, which a driver may have in its name and UTF-8 has not, is written as text:
    a finished run is not lost to a name.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    return _LONE.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text).encode()


def printable(text: str) -> str:
    """The text with control characters and halves of surrogate pairs written out: `\\u{1B}`."""
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):X}}}" for c in text)


def encode(value: Any) -> Any:
    """A value as JSON has it: dataclasses as records, tuples as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        found = ((m, getattr(value, m.name)) for m in _members(type(value)))
        return {m.key: encode(v) for m, v in found if v is not None or not m.omitted}
    if isinstance(value, tuple | list):
        return [encode(item) for item in cast("tuple[Any, ...]", value)]
    if isinstance(value, dict):
        return {name: encode(item) for name, item in cast("dict[str, Any]", value).items()}
    return value


def decode(cls: type[T], value: Any, path: str = "") -> T:
    """The value of type `cls` that `encode` made `value` of. Raises `FieldError`."""
    return _decoded(cls, Field(value, path))


def reread(value: T) -> T:
    """A record as it will be read back from a file, so that it makes no difference whether it was."""
    return decode(type(value), parse(canonical(encode(value))))


def _decoded(cls: Any, field: Field) -> Any:
    origin, args = get_origin(cls), get_args(cls)
    if origin is Annotated:
        return _narrowed(args[0], args[1:], field)
    if is_dataclass(cls):
        members = _members(cls)
        required = tuple(m.key for m in members if not m.omitted)
        field.only(required, tuple(m.key for m in members if m.omitted))
        found = {m.name: _decoded(m.hint, f) for m in members for f in field.maybe(m.key)}
        return cast("Any", cls)(**found)
    if isinstance(cls, type) and hasattr(cls, "_fields"):
        hints = get_type_hints(cls, include_extras=True)
        items = field.items(len(hints))
        return cls(*(_decoded(h, item) for h, item in zip(hints.values(), items, strict=True)))
    if origin is tuple:
        items = field.items(None if args[-1] is Ellipsis else len(args))
        kinds = [args[0]] * len(items) if args[-1] is Ellipsis else args
        return tuple(_decoded(kind, item) for kind, item in zip(kinds, items, strict=True))
    if origin in (Union, types.UnionType):
        some = [a for a in args if a is not type(None)]
        if field.value is None and len(some) < len(args):
            return None
        return _decoded(next((a for a in some if _looks_like(a, field)), some[-1]), field)
    if origin is dict:
        found = field.record()
        return {name: _decoded(args[1], field.field(name)) for name in found}
    if cls is Any:
        return field.value
    if cls is int:
        return field.integer()
    if cls is str:
        return field.text()
    if type(field.value) is not cls:
        raise field.expected("true or false" if cls is bool else f"a {cls.__name__}")
    return field.value


def _narrowed(cls: Any, rules: tuple[Any, ...], field: Field) -> Any:
    ranges = [r for r in rules if isinstance(r, Within)]
    value = field.integer(ranges[0].low, ranges[0].high) if ranges else _decoded(cls, field)
    for rule in rules:
        if isinstance(rule, Among):
            field.text(rule.values)
        elif isinstance(rule, Rule) and not rule.holds(value):
            raise field.expected(rule.expected)
    return value


@dataclass(frozen=True, slots=True)
class _Member:
    """A field of a dataclass, and what it is in a record."""

    name: str
    key: str
    hint: Any
    omitted: bool


@cache
def _members(cls: Any) -> tuple[_Member, ...]:
    known = get_type_hints(cls, include_extras=True)
    return tuple(
        _Member(f.name, f.name.rstrip("_"), known[f.name], _omitted(known[f.name])) for f in fields(cls)
    )


def _omitted(hint: Any) -> bool:
    return any(isinstance(rule, Omitted) for rule in get_args(hint))


def _looks_like(cls: Any, field: Field) -> bool:
    """Whether a value has the fields that tell one of several dataclasses from the others."""
    found: object = field.value
    if not is_dataclass(cls) or not isinstance(found, dict):
        return False
    return all(m.key in cast("dict[str, Any]", found) for m in _members(cls) if not m.omitted)


def _no_constant(name: str) -> Any:
    raise FieldError("", f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise FieldError("", f"the number {_clipped(text)} is too large")
    return value


def _short(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise FieldError("", f"a number of {len(text)} digits")
    return int(text)


def _check_nesting(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_NESTING):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += cast("dict[str, Any]", item).values()
            elif isinstance(item, list):
                below += cast("list[Any]", item)
        level = below
        if not level:
            return
    raise _too_deep()


def _too_deep() -> FieldError:
    return FieldError("", f"its lists and records are nested more than {MAX_NESTING} levels deep")


def _shown(value: Any) -> str:
    match value:
        case dict():
            return f"a record of {len(cast('dict[str, Any]', value))} fields"
        case list():
            return f"a list of {len(cast('list[Any]', value))}"
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case int() if abs(value) >> 128:
            return f"a number of {value.bit_length()} bits"
        case _:
            return _clipped(repr(value))


def _clipped(text: str) -> str:
    text = printable(text[: 2 * _SHOWN])
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
