"""Arguments of a traced function: arrays anywhere in tuples, lists and dicts; all else is a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.backends.foreign import host_or_device
from vyre.errors import VyreError
from vyre.tensor.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Leaf:
    """Stands for an array in a structure of arguments; `parameter` is the one that holds it."""

    name: str
    parameter: str = ""


_WHOLE = frozenset({int, bool, str, bytes, type(None)})
"""Constants that are equal only where they are the same, once their types are."""


def is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def holds_value(structure: Any) -> bool:
    """Whether a tensor of a function that is being traced is among the arguments."""
    if isinstance(structure, dict):
        return any(map(holds_value, structure.values()))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(structure, (list, tuple)):
        return any(map(holds_value, structure))  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(structure, Value)


def noted(value: Any, parts: list[Any], arrays: list[Any]) -> None:
    """Notes what a call depends on of an argument, and the arrays in it with what it takes of each.

    Raises `AttributeError` for what is neither an array nor a plain constant nor made of them.
    """
    kind = value.__class__
    if kind is tuple or kind is list:
        parts.append((kind, len(value)))
        for part in value:
            noted(part, parts, arrays)
    elif kind is dict:
        parts.append((kind, *value, *map(type, value)))
        for part in value.values():
            noted(part, parts, arrays)
    elif kind in _WHOLE:
        parts.append((kind, value))
    elif kind is float:
        parts.append((kind, value.hex()))
    else:
        parts.append((kind, value.dtype, value.shape))
        arrays.append(value)


def numbered(value: Any, numbers: Iterator[int]) -> Any:
    """The structure with a leaf for each array, named by its number in the order of `noted`."""
    if is_array(value):
        return Leaf(str(next(numbers)))
    if isinstance(value, dict):
        return {key: numbered(part, numbers) for key, part in value.items()}  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [numbered(part, numbers) for part in value]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    return value


def leaves(structure: Any) -> list[str]:
    """Their names, in order."""
    found: list[str] = []
    replaced(structure, lambda leaf: found.append(leaf.name))
    return found


def flattened(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Leaf, Any]]:
    """The structure with leaves for arrays, and the arrays, with names such as `params_w_0`."""
    arrays: dict[Leaf, Any] = {}
    names: set[str] = set()

    def walk(parameter: str, path: str, value: Any) -> Any:
        if is_array(value):
            name = path
            while name in names:
                name += "_"
            names.add(name)
            leaf = Leaf(name, parameter)
            arrays[leaf] = host_or_device("an argument", value)
            return leaf
        if isinstance(value, dict):
            return {key: walk(parameter, f"{path}_{_part(key)}", part) for key, part in value.items()}  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        if isinstance(value, (list, tuple)):
            parts = [walk(parameter, f"{path}_{i}", part) for i, part in enumerate(value)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
            return sequence_like(value, parts)
        return value

    return {name: walk(name, name, value) for name, value in arguments.items()}, arrays


def _part(key: Any) -> str:
    return "".join(c if c.isalnum() else "_" for c in str(key))


def replaced(structure: Any, of: Callable[[Leaf], Any]) -> Any:
    """The structure with something for each leaf."""
    if isinstance(structure, Leaf):
        return of(structure)
    if isinstance(structure, dict):
        return {key: replaced(part, of) for key, part in structure.items()}  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if isinstance(structure, (list, tuple)):
        return sequence_like(structure, [replaced(part, of) for part in structure])  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    return structure


def sequence_like(value: Any, parts: list[Any]) -> Any:
    """The parts as a list, or as a tuple with the names that `value` gives its places."""
    if not isinstance(value, tuple):
        return parts
    named = getattr(value, "_make", None)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    return tuple(parts) if named is None else named(parts)


def key_of(structure: Any) -> Any:
    """The structure as a key: constants by type and value."""
    if isinstance(structure, dict):
        return ("dict", tuple((key_of(k), key_of(v)) for k, v in structure.items()))  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if isinstance(structure, (list, tuple)):
        return (type(structure), tuple(key_of(v) for v in structure))  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    try:
        hash(structure)
    except TypeError:
        raise VyreError(
            f"an argument of the type {type(structure).__name__} is neither an array nor a constant.",
            fix="pass arrays, numbers, strings, and tuples, lists or dicts of them.",
        ) from None
    # -0.0 equals 0.0 and NaN not even itself, so a float is told by its digits.
    return (type(structure), structure.hex() if isinstance(structure, float) else structure)
